package jsonstream

import (
	"math"
	"strconv"
	"strings"
)

// number reads the next value, a number; false: null, or none (NaN).
func (r *Reader) number() (string, bool, error) {
	switch k := r.Kind(); k {
	case '0':
		t, err := r.token()
		return t.String(), err == nil, err
	case 'n':
		_, err := r.token()
		return "", false, err
	case '"':
		t, err := r.token()
		if err == nil && !isNoNumber(t.String()) {
			err = r.Errorf("expected a number, got a text")
		}
		return "", false, err
	default:
		return "", false, r.mismatch("a number", k)
	}
}

// Float reads a number; false: it is null or NaN.
func (r *Reader) Float() (float64, bool, error) {
	s, ok, err := r.number()
	if !ok || err != nil {
		return 0, false, err
	}
	x, err := strconv.ParseFloat(s, 64)
	if err != nil {
		return 0, false, r.Errorf("expected a number that fits, got %.40s", s)
	}
	return x, true, nil
}

// Int reads a whole number; 12.0 is one too. False: it is null or NaN.
func (r *Reader) Int() (int64, bool, error) {
	s, ok, err := r.number()
	if !ok || err != nil {
		return 0, false, err
	}
	if n, err := strconv.ParseInt(s, 10, 64); err == nil {
		return n, true, nil
	}
	x, err := strconv.ParseFloat(s, 64)
	if err != nil || x != math.Trunc(x) || math.Abs(x) > 1<<53 {
		return 0, false, r.Errorf("expected a whole number, got %.40s", s)
	}
	return int64(x), true, nil
}

// Count reads a whole number that is not negative and at most 2^31-1.
func (r *Reader) Count() (int64, bool, error) {
	n, ok, err := r.Int()
	if ok && (n < 0 || n > math.MaxInt32) {
		return 0, false, r.Errorf("expected a count from 0 to %d, got %d", math.MaxInt32, n)
	}
	return n, ok, err
}

// Nanoseconds reads a moment or duration in units of unit ns (1e9 for seconds,
// 1e6 for milliseconds) and returns it in whole ns, exactly as written up to
// the ns: a time since 1970 in seconds keeps what a float64 would lose.
func (r *Reader) Nanoseconds(unit int64) (int64, bool, error) {
	s, ok, err := r.number()
	if !ok || err != nil {
		return 0, false, err
	}
	ns, ok := scaled(s, unit)
	if !ok {
		return 0, false, r.Errorf("expected a time, got %.40s", s)
	}
	return ns, true, nil
}

// scaled returns s times a power of ten, rounded half away from zero.
func scaled(s string, unit int64) (int64, bool) {
	const most = 1 << 62
	if strings.ContainsAny(s, "eE") {
		x, err := strconv.ParseFloat(s, 64)
		x = math.Round(x * float64(unit))
		return int64(x), err == nil && math.Abs(x) < most
	}
	digits, negative := strings.CutPrefix(s, "-")
	whole, part, _ := strings.Cut(digits, ".")
	n, err := strconv.ParseInt(whole, 10, 64)
	if err != nil || n > most/unit {
		return 0, false
	}
	n *= unit
	for rest := unit / 10; part != ""; rest /= 10 {
		d := int64(part[0] - '0')
		if rest == 0 { // the first digit below 1 ns
			if d >= 5 {
				n++
			}
			break
		}
		n += d * rest
		part = part[1:]
	}
	if negative {
		n = -n
	}
	return n, true
}

// Text reads a text of any length and returns its first most bytes; false: null.
func (r *Reader) Text(most int) (string, bool, error) {
	switch k := r.Kind(); k {
	case '"':
		t, err := r.token()
		if err != nil {
			return "", false, err
		}
		s := t.String()
		if len(s) > most {
			s = strings.ToValidUTF8(s[:most], "")
		}
		return strings.Clone(s), true, nil
	case 'n':
		_, err := r.token()
		return "", false, err
	default:
		return "", false, r.mismatch("a text", k)
	}
}

// TextLen reads a text and returns its length in bytes alone; false: null.
func (r *Reader) TextLen() (int, bool, error) {
	switch k := r.Kind(); k {
	case '"':
		t, err := r.token()
		return len(t.String()), err == nil, err
	case 'n':
		_, err := r.token()
		return 0, false, err
	default:
		return 0, false, r.mismatch("a text", k)
	}
}

// Bool reads true or false; the second is false where it is null.
func (r *Reader) Bool() (value, ok bool, err error) {
	switch k := r.Kind(); k {
	case 't', 'f':
		_, err := r.token()
		return k == 't', true, err
	case 'n':
		_, err := r.token()
		return false, false, err
	default:
		return false, false, r.mismatch("true or false", k)
	}
}
