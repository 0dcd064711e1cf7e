package traffic

import (
	"bufio"
	"encoding/json"
	"io"
	"math"
	"strconv"
	"time"

	"github.com/tokamak-bench/tokamak/stat"
)

// AppendRow appends a session that Next returned and its turns as a line of
// JSON, which the dataset reader of workload replays as the same requests: at
// in seconds, class and tenant, the lengths of the first prompt (prefix
// included) and answer, the prefix as a block id of the session's own block
// length, and further turns as lengths with their think times. Of a client whose
// reasoning is known each answer with a length tells it, also where it is 0.
func (s *Sampler) AppendRow(b []byte, d *Draw, turns []Turn) []byte {
	reasons := s.model.Clients[d.Client].Reasoning != nil
	b = append(b, `{"at":`...)
	b = appendSeconds(b, d.At)
	b = append(b, `,"class":`...)
	b = appendText(b, s.model.Clients[d.Client].Name)
	b = append(b, `,"tenant":`...)
	b = appendText(b, s.Name(d))
	if len(turns) > 1 {
		b = append(b, `,"session_id":`...)
		b = appendText(b, s.SessionName(d))
	}
	b = appendLengths(append(b, ','), d.PrefixTokens+d.Input, &turns[0], reasons)
	if d.Prefix > 0 {
		b = append(b, `,"hash_ids":[`...)
		b = strconv.AppendUint(b, s.PrefixName(d), 10)
		b = append(b, `],"block_tokens":`...)
		b = strconv.AppendInt(b, d.PrefixTokens, 10)
	}
	for i := range turns[1:] {
		t := &turns[i+1]
		if i == 0 {
			b = append(b, `,"turns":[{`...)
		} else {
			b = append(b, `,{`...)
		}
		b = appendLengths(b, t.Input, t, reasons)
		if t.Think > 0 {
			b = appendSeconds(append(b, `,"think":`...), int64(t.Think))
		}
		b = append(b, '}')
	}
	if len(turns) > 1 {
		b = append(b, ']')
	}
	return append(b, "}\n"...)
}

// appendLengths appends those of a turn: what is not known is left out.
func appendLengths(b []byte, input int64, t *Turn, reasons bool) []byte {
	b = strconv.AppendInt(append(b, `"input_tokens":`...), input, 10)
	for _, n := range []struct {
		key   string
		value int64
		known bool
	}{{`,"output_tokens":`, t.Output, t.Output > 0}, {`,"reasoning_tokens":`, t.Reasoning, t.Reasoning > 0 || reasons && t.Output > 0}, {`,"images":`, t.Images, t.Images > 0}} {
		if n.known {
			b = strconv.AppendInt(append(b, n.key...), n.value, 10)
		}
	}
	return b
}

// appendSeconds appends nanoseconds as seconds, exactly and as short as that
// goes.
func appendSeconds(b []byte, ns int64) []byte {
	b = strconv.AppendInt(b, ns/1e9, 10)
	rest := ns % 1e9
	if rest == 0 {
		return b
	}
	b = append(b, '.')
	for unit := int64(1e8); rest > 0; unit /= 10 {
		b = append(b, byte('0'+rest/unit))
		rest %= unit
	}
	return b
}

func appendText(b []byte, s string) []byte {
	text, err := json.Marshal(s)
	if err != nil { // no text has one
		return append(b, `""`...)
	}
	return append(b, text...)
}

// Summary is what a sample came to. What cannot be told from so few is null.
type Summary struct {
	Sessions int64 `json:"sessions"`
	Requests int64 `json:"requests"` // turns of all sessions
	// InputTokens are of all prompts: prefix, history with answers as long as
	// asked less their reasoning, new text. PrefixTokens of them are of shared prefixes.
	InputTokens  int64 `json:"input_tokens"`
	PrefixTokens int64 `json:"prefix_tokens"`
	OutputTokens int64 `json:"output_tokens"`
	// Duration is the sample's in seconds, Rate the sessions begun a second,
	// PeakRate the most of them in any one second.
	Duration float64 `json:"duration_s"`
	Rate     float64 `json:"rate"`
	PeakRate int64   `json:"peak_rate"`
	// CV is the coefficient of variation of the gaps between session starts.
	CV *float64 `json:"gap_cv"`
	// Dispersion is the index of dispersion of the session starts in whole
	// stretches of a second, ten seconds and a minute.
	Dispersion Dispersion `json:"index_of_dispersion"`
}

// Dispersion is the index of dispersion of counts over three time scales.
type Dispersion struct {
	Second    *float64 `json:"1s"`
	TenSecond *float64 `json:"10s"`
	Minute    *float64 `json:"60s"`
}

// Meter adds up what a sample comes to.
type Meter struct {
	s        Summary
	duration time.Duration
	counts   []int64 // of whole seconds; nil where there are too many
	recent   []int64 // moments within a second of the last
	last     int64
	gaps     int64
	mean, m2 float64 // of gaps
}

// mostSeconds bounds the memory of a meter: about four months.
const mostSeconds = 10_000_000

// NewMeter returns a meter of a sample of a duration.
func NewMeter(d time.Duration) *Meter {
	m := &Meter{duration: d}
	if n := int64(d / time.Second); n <= mostSeconds {
		m.counts = make([]int64, n)
	}
	return m
}

// Add takes the next session and its turns.
func (m *Meter) Add(d *Draw, turns []Turn) {
	s := &m.s
	history := d.PrefixTokens
	for i := range turns {
		history += turns[i].Input
		s.InputTokens += history
		s.PrefixTokens += d.PrefixTokens
		s.OutputTokens += turns[i].Output
		history += turns[i].Output - turns[i].Reasoning
	}
	s.Requests += int64(len(turns))
	m.moment(d.At)
	s.Sessions++
}

func (m *Meter) moment(at int64) {
	if i := at / 1e9; i < int64(len(m.counts)) {
		m.counts[i]++
	}
	first := 0
	for first < len(m.recent) && at-m.recent[first] >= 1e9 {
		first++
	}
	if first > len(m.recent)/2 {
		m.recent = append(m.recent[:0], m.recent[first:]...)
	} else {
		m.recent = m.recent[first:]
	}
	m.recent = append(m.recent, at)
	m.s.PeakRate = max(m.s.PeakRate, int64(len(m.recent)))
	if m.s.Sessions > 0 { // Welford's running moments
		m.gaps++
		gap := float64(at - m.last)
		off := gap - m.mean
		m.mean += off / float64(m.gaps)
		m.m2 += float64(off * (gap - m.mean))
	}
	m.last = at
}

// Summary returns what the sample came to.
func (m *Meter) Summary() Summary {
	s := m.s
	s.Duration = m.duration.Seconds()
	if s.Duration > 0 {
		s.Rate = float64(s.Sessions) / s.Duration
	}
	if m.gaps > 1 {
		s.CV = known(math.Sqrt(m.m2/float64(m.gaps-1)) / m.mean)
	}
	s.Dispersion = Dispersion{m.dispersion(1), m.dispersion(10), m.dispersion(60)}
	return s
}

// dispersion is over stretches of some seconds.
func (m *Meter) dispersion(seconds int) *float64 {
	return known(stat.IndexOfDispersion(stat.Coarser(m.counts, seconds)))
}

// known returns a number, or nil where it is none.
func known(x float64) *float64 {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return nil
	}
	return &x
}

// WriteRows writes all further sessions as lines of JSON, and returns what they
// came to. Now and then it tells how far it is, in ns of the sample's time; an
// error of told ends it.
func (s *Sampler) WriteRows(w io.Writer, told func(sessions, at int64) error) (Summary, error) {
	const often = 1 << 13
	b := bufio.NewWriterSize(w, 1<<16)
	m := NewMeter(s.duration)
	var row []byte
	var turns []Turn
	for n := int64(1); ; n++ {
		d, ok := s.Next()
		if !ok {
			break
		}
		turns = s.Turns(&d, turns[:0])
		row = s.AppendRow(row[:0], &d, turns)
		if _, err := b.Write(row); err != nil {
			return m.Summary(), err
		}
		m.Add(&d, turns)
		if n%often == 0 {
			if err := told(n, d.At); err != nil {
				return m.Summary(), err
			}
		}
	}
	return m.Summary(), b.Flush()
}
