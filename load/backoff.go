package load

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/tokamak-bench/tokamak/stat"
)

// Backoff says how long a user waits before a failed request is sent again.
// The k-th pause, from k = 0, is
//
//	x = min(Cap, First · Factor^k)
//
// of which the share Jitter is drawn evenly: the pause lies in
// [(1 − Jitter) · x, x]. Where the server says when to come back and the user
// heeds it, the pause is that and the drawn part, Jitter · x at most, so that
// not all come back at once.
type Backoff struct {
	First, Cap time.Duration
	Factor     float64 // at least 1
	Jitter     float64 // a share in [0, 1]
	// Heedless users ignore Retry-After.
	Heedless bool
}

// DefaultBackoff doubles from half a second to 30 s without jitter.
func DefaultBackoff() Backoff {
	return Backoff{First: 500 * time.Millisecond, Cap: 30 * time.Second, Factor: 2}
}

// ParseBackoff reads a pause, or its first and its longest, with options
// behind commas:
//
//	1s                                           always so
//	500ms..30s                                   doubled each time
//	500ms..30s,factor=3,jitter=0.5,heedless
//
// Errors are *stat.SyntaxError and name the column.
func ParseBackoff(s string) (Backoff, error) {
	p := parser{input: s}
	b := Backoff{Factor: 1}
	head, options, more := strings.Cut(s, ",")
	first, last, grows := strings.Cut(head, "..")
	var err error
	if b.First, err = p.duration(0, first, true); err != nil {
		return b, err
	}
	b.Cap = b.First
	if grows {
		b.Factor = 2
		if b.Cap, err = p.duration(len(first)+2, last, false); err != nil {
			return b, err
		}
		if b.Cap < b.First || b.First == 0 {
			return b, p.fail(0, "expected a first pause above 0 and a longest of at least that, found %q", head)
		}
	}
	if !more {
		return b, nil
	}
	return b, p.backoffOptions(&b, grows, len(head)+1, options)
}

func (p parser) backoffOptions(b *Backoff, grows bool, at int, options string) error {
	known := map[string]func(at int, text string) error{
		"jitter": func(at int, text string) (err error) {
			const share = "a jitter from 0 to 1"
			if b.Jitter, err = p.number(at, text, share); err == nil && b.Jitter > 1 {
				err = p.fail(at, "expected %s, found %q", share, text)
			}
			return err
		},
		"heedless": func(at int, text string) error {
			if text != "" {
				return p.fail(at, "expected nothing after heedless, found %q", text)
			}
			b.Heedless = true
			return nil
		},
	}
	if grows {
		known["factor"] = func(at int, text string) (err error) {
			const factor = "a factor from 1 to 100"
			if b.Factor, err = p.number(at, text, factor); err == nil && (b.Factor < 1 || b.Factor > 100) {
				err = p.fail(at, "expected %s, found %q", factor, text)
			}
			return err
		}
	}
	return p.options(at, options, known)
}

// String is the form that ParseBackoff reads.
func (b Backoff) String() string {
	s := b.First.String()
	if b.Cap != b.First || b.Factor != 1 {
		s += ".." + b.Cap.String()
		if b.Factor != 2 {
			s += ",factor=" + strconv.FormatFloat(b.Factor, 'g', -1, 64)
		}
	}
	if b.Jitter > 0 {
		s += fmt.Sprintf(",jitter=%s", strconv.FormatFloat(b.Jitter, 'g', -1, 64))
	}
	if b.Heedless {
		s += ",heedless"
	}
	return s
}

// Pause returns the pause in ns before the attempt after the k-th (from 0) of
// a request. hint is what the server asked for, in ns; below 0: nothing.
func (b *Backoff) Pause(seed uint64, request int64, k int, hint int64) int64 {
	x := float64(b.First)
	for range min(k, 64) {
		if x = float64(x * b.Factor); x >= float64(b.Cap) {
			break
		}
	}
	x = min(x, float64(b.Cap))
	drawn := 0.0
	if b.Jitter > 0 {
		drawn = float64(x * float64(b.Jitter*stat.Random(seed, "backoff", uint64(request)<<8|uint64(min(k, 255))).Float64()))
	}
	if hint >= 0 && !b.Heedless {
		return hint + int64(drawn)
	}
	return int64(x - drawn)
}
