package jsonstream

import (
	"bytes"
	"encoding/json"
	"io"
	"math"
	"math/big"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"testing/iotest"

	"pgregory.net/rapid"
)

// tree builds what a file holds, for comparison with encoding/json.
func tree(r *Reader) (v any, err error) {
	switch r.Kind() {
	case '{':
		m := map[string]any{}
		return m, r.Object(func(name string) error {
			m[name], err = tree(r)
			return err
		})
	case '[':
		list := []any{}
		err := r.Array(func(int) error {
			e, err := tree(r)
			list = append(list, e)
			return err
		})
		return list, err
	case '"':
		s, _, err := r.Text(math.MaxInt)
		return s, err
	case '0':
		x, _, err := r.Float()
		return x, err
	case 't', 'f':
		b, _, err := r.Bool()
		return b, err
	}
	return nil, r.Skip()
}

func values(depth int) *rapid.Generator[any] {
	scalars := []*rapid.Generator[any]{
		rapid.Map(rapid.Float64Range(-1e9, 1e9), func(x float64) any { return x }),
		rapid.Map(rapid.StringN(0, 12, -1), func(s string) any { return s }),
		rapid.Map(rapid.Bool(), func(b bool) any { return b }),
		rapid.Just[any](nil),
	}
	if depth > 0 {
		scalars = append(scalars,
			rapid.Map(rapid.SliceOfN(values(depth-1), 0, 5), func(l []any) any { return l }),
			rapid.Map(rapid.MapOfN(rapid.StringN(0, 8, -1), values(depth-1), 0, 5), func(m map[string]any) any { return m }))
	}
	return rapid.OneOf(scalars...)
}

// TestAsEncodingJSON: any file reads as the standard library reads it, however
// the reads fall.
func TestAsEncodingJSON(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b, err := json.Marshal(values(4).Draw(t, "value"))
		if err != nil {
			t.Skip()
		}
		var want any
		if err := json.Unmarshal(b, &want); err != nil {
			t.Fatal(err)
		}
		got, err := tree(New("f", iotest.OneByteReader(bytes.NewReader(b))))
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Fatalf("%s: %v, %v", b, got, err)
		}
		if err := New("f", bytes.NewReader(b)).Skip(); err != nil {
			t.Fatal(err)
		}
	})
}

func TestNoNumbersAreMissing(t *testing.T) {
	r := New("f", iotest.OneByteReader(strings.NewReader(`{"a NaN \" Infinity": [NaN, 1, Infinity, null]}`)))
	var got []any
	err := r.Object(func(name string) error {
		if name != `a NaN " Infinity` {
			t.Errorf("name %q", name)
		}
		return r.Array(func(int) error {
			x, ok, err := r.Float()
			if ok {
				got = append(got, x)
			} else {
				got = append(got, nil)
			}
			return err
		})
	})
	if err != nil || !reflect.DeepEqual(got, []any{nil, 1.0, nil, nil}) {
		t.Errorf("%v, %v", got, err)
	}
}

func TestErrorsSayWhere(t *testing.T) {
	for _, c := range []struct{ file, want string }{
		{`{"a": {"b": ["x"]}}`, `f: byte 16 (/a/b/0): expected a number, got a text`},
		{`{"a": {"b": [1, {}]}}`, `f: byte 14 (/a/b/1): expected a number, got an object`},
		{`{"a": {"b": [1,`, `f: byte 14 (/a/b/0): the file ends in the middle of a value: it was cut short`},
		{`{"a" 1}`, `f: byte 5 (/a): not JSON: invalid character '1' after object name (expecting ':')`},
		{`[1]`, `f: byte 0: expected an object, got an array`},
		{``, `f: byte 0: the file ends in the middle of a value: it was cut short`},
		{`{"a": {"b": [1e999]}}`, `f: byte 18 (/a/b/0): expected a number that fits, got 1e999`},
		{`{"a": {"b": [Nope]}}`, `f: byte 13 (/a/b): the file ends in the middle of a value: it was cut short`},
	} {
		r := New("f", strings.NewReader(c.file))
		err := r.Object(func(string) error {
			return r.Object(func(string) error {
				return r.Array(func(int) error {
					_, _, err := r.Float()
					return err
				})
			})
		})
		if err == nil || err.Error() != c.want {
			t.Errorf("%s:\n got %v\nwant %s", c.file, err, c.want)
		}
	}
}

func TestValuesWithoutEndAreRefused(t *testing.T) {
	for name, r := range map[string]io.Reader{
		"text":  io.MultiReader(strings.NewReader(`{"a":"`), endless('x')),
		"depth": io.MultiReader(strings.NewReader(`{"a":`), endless('[')),
		"spare": io.MultiReader(strings.NewReader(`{"a":`), endless(' ')),
	} {
		if err := New("f", r).Object(func(string) error { return nil }); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

type endless byte

func (e endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = byte(e)
	}
	return len(p), nil
}

// TestNanosecondsAreExact: the written decimal, to the ns, whatever its size.
func TestNanosecondsAreExact(t *testing.T) {
	for s, want := range map[string]int64{"1764640000.123456789": 1764640000123456789, "-0.5": -500000000, "0.0000000005": 1, "0.00000000049": 0, "7": 7e9, "1.5e-3": 1500000, "0.05": 5e7} {
		if got, ok := scaled(s, 1e9); !ok || got != want {
			t.Errorf("%s: %d %v, want %d", s, got, ok, want)
		}
	}
	for _, s := range []string{"1e300", "99999999999999999999", "9999999999999"} {
		if got, ok := scaled(s, 1e9); ok {
			t.Errorf("%s: %d", s, got)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		ns := rapid.Int64Range(0, 1<<61).Draw(t, "ns")
		unit := rapid.SampledFrom([]int64{1e9, 1e6, 1}).Draw(t, "unit")
		s := new(big.Rat).SetFrac64(ns, unit).FloatString(9)
		if got, ok := scaled(s, unit); !ok || got != ns {
			t.Fatalf("%s: %d, want %d", s, got, ns)
		}
		if x := float64(ns) / float64(unit); ns < 1<<52 {
			if got, _ := scaled(strconv.FormatFloat(x, 'f', -1, 64), unit); got != ns {
				t.Fatalf("%v: %d, want %d", x, got, ns)
			}
		}
	})
}

func TestIntegers(t *testing.T) {
	for s, want := range map[string]int64{"12": 12, "12.0": 12, "1e3": 1000, "-4": -4} {
		if n, ok, err := New("f", strings.NewReader(s)).Int(); !ok || err != nil || n != want {
			t.Errorf("%s: %d %v %v", s, n, ok, err)
		}
	}
	for _, s := range []string{"1.5", `"1"`, "true", "1e300"} {
		if n, _, err := New("f", strings.NewReader(s)).Int(); err == nil {
			t.Errorf("%s: %d", s, n)
		}
	}
	if _, _, err := New("f", strings.NewReader("-1")).Count(); err == nil {
		t.Error("-1 is no count")
	}
}

func FuzzReader(f *testing.F) {
	for _, s := range []string{`{"a":[1,NaN,"x\u00e4\ud800"],"b":{"c":null}}`, `[Infinity,-Infinity]`, `{"a":1}` + "\n" + `{"a":2}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		r := New("f", bytes.NewReader(b))
		for {
			more, err := r.More()
			if err != nil || !more {
				break
			}
			if _, err := tree(r); err != nil {
				break
			}
		}
	})
}

func TestPlace(t *testing.T) {
	for offset, want := range map[int64][2]int{0: {1, 1}, 2: {1, 3}, 3: {2, 1}, 4: {2, 2}} {
		line, column, ok := Place(strings.NewReader("ab\ncd"), offset)
		if !ok || line != want[0] || column != want[1] {
			t.Errorf("%d: %d:%d %v", offset, line, column, ok)
		}
	}
	if _, _, ok := Place(strings.NewReader("ab"), 3); ok {
		t.Error("beyond the end")
	}
}
