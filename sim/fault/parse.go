package fault

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Fault is one fault with its numbers.
type Fault struct {
	Definition Definition
	Share      float64 // of the requests in the window, for faults of requests
	Count      int64   // most requests struck; 0: no limit
	// At and For are the window, in ns: At after the first request arrived (for
	// a fault that is added later, after that moment), For long; For 0: for good.
	At, For int64
	Seed    uint64 // 0: the engine's
	Values  map[string]float64
}

// Parse reads NAME or NAME:key=value,…: share, count, at, for, seed and the
// fault's own parameters.
func Parse(s string) (Fault, error) {
	name, rest, more := strings.Cut(s, ":")
	f, err := newFault(strings.TrimSpace(name))
	if err != nil || !more {
		return f, err
	}
	given := map[string]bool{}
	for pair := range strings.SplitSeq(rest, ",") {
		key, value, ok := strings.Cut(pair, "=")
		key = strings.ReplaceAll(strings.TrimSpace(key), "-", "_")
		if !ok || given[key] {
			return f, fmt.Errorf("fault %s: %q: expected key=value, each key once", f.Definition.Name, pair)
		}
		given[key] = true
		if err := f.set(key, strings.TrimSpace(value)); err != nil {
			return f, err
		}
	}
	return f, nil
}

// ParseList reads faults separated by semicolons, as in a header.
func ParseList(s string) ([]Fault, error) {
	var list []Fault
	for one := range strings.SplitSeq(s, ";") {
		if strings.TrimSpace(one) == "" {
			continue
		}
		if len(list) == maxFaults {
			return nil, fmt.Errorf("more than %d faults", maxFaults)
		}
		f, err := Parse(one)
		if err != nil {
			return nil, err
		}
		list = append(list, f)
	}
	return list, nil
}

// ReadJSON reads {"fault":NAME,"key":value,…} with the keys of Parse.
func ReadJSON(r io.Reader) (Fault, error) {
	var in map[string]any
	d := json.NewDecoder(r)
	d.UseNumber()
	if err := d.Decode(&in); err != nil {
		return Fault{}, fmt.Errorf(`expected a JSON object such as {"fault":"no_end","share":0.1}: %w`, err)
	}
	name, ok := in["fault"].(string)
	if !ok {
		return Fault{}, errors.New(`"fault" is missing: the name of a fault`)
	}
	f, err := newFault(name)
	if err != nil {
		return f, err
	}
	delete(in, "fault")
	keys := make([]string, 0, len(in))
	for k := range in {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	for _, k := range keys {
		switch in[k].(type) {
		case string, json.Number:
		default:
			return f, fmt.Errorf("fault %s: %s: expected a number or a string", name, k)
		}
		if err := f.set(k, fmt.Sprint(in[k])); err != nil {
			return f, err
		}
	}
	return f, nil
}

func newFault(name string) (Fault, error) {
	d, ok := find(strings.ReplaceAll(name, "-", "_"))
	if !ok {
		var names []string
		for _, d := range Table() {
			names = append(names, d.Name)
		}
		return Fault{}, fmt.Errorf("unknown fault %q; known: %s", name, strings.Join(names, ", "))
	}
	f := Fault{Definition: d, Share: 1, Values: map[string]float64{}}
	for _, p := range d.Parameters {
		f.Values[p.Name] = p.Default
	}
	return f, nil
}

func (f *Fault) set(key, value string) error {
	err := f.assign(key, value)
	if err != nil {
		return fmt.Errorf("fault %s: %s=%s: %w", f.Definition.Name, key, value, err)
	}
	return nil
}

func (f *Fault) assign(key, value string) (err error) {
	request := f.Definition.Kind == OnRequest
	switch {
	case key == "at":
		f.At, err = nanoseconds(value)
	case key == "for":
		f.For, err = nanoseconds(value)
	case key == "seed":
		if f.Seed, err = strconv.ParseUint(value, 10, 64); err != nil {
			err = errors.New("expected a whole number from 0")
		}
	case key == "share" && request:
		f.Share, err = number(value, 0, 1)
	case key == "count" && request:
		var n float64
		n, err = number(value, 0, 1e15)
		f.Count = int64(n)
	default:
		return f.assignOwn(key, value)
	}
	return err
}

func (f *Fault) assignOwn(key, value string) error {
	var names []string
	for _, p := range f.Definition.Parameters {
		if p.Name == key {
			v, err := p.read(value)
			if err == nil {
				f.Values[key] = v
			}
			return err
		}
		names = append(names, p.Name)
	}
	if f.Definition.Kind == OnRequest {
		names = append(names, "share", "count")
	}
	return fmt.Errorf("no such parameter; this fault has %s", strings.Join(append(names, "at", "for", "seed"), ", "))
}

func (p Parameter) read(value string) (float64, error) {
	if p.Seconds {
		n, err := nanoseconds(value)
		if err != nil {
			return 0, err
		}
		value = strconv.FormatFloat(float64(n)/1e9, 'g', -1, 64)
	}
	return number(value, p.Low, p.High)
}

func number(s string, low, high float64) (float64, error) {
	v, err := strconv.ParseFloat(s, 64)
	if err != nil || !(v >= low && v <= high) {
		return 0, fmt.Errorf("expected a number from %v to %v", low, high)
	}
	return v, nil
}

// nanoseconds reads a duration with units, or a number of seconds.
func nanoseconds(s string) (int64, error) {
	if v, err := strconv.ParseFloat(s, 64); err == nil && v >= 0 && v <= 1e6 {
		return int64(v*1e9 + 0.5), nil
	}
	d, err := time.ParseDuration(s)
	if err != nil || d < 0 || d > 1e6*time.Second {
		return 0, errors.New("expected a duration such as 5s or 200ms")
	}
	return int64(d), nil
}

// value is a parameter of the fault; seconds is the same in ns.
func (f *Fault) value(name string) float64 { return f.Values[name] }
func (f *Fault) seconds(name string) int64 { return int64(f.Values[name]*1e9 + 0.5) }
