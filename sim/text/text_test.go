package text

import (
	"strings"
	"testing"
)

func TestAnswersAreOneTokenAWord(t *testing.T) {
	a := NewAnswers(func(w string) uint32 { return uint32(len(w)) })
	for seed := range uint64(50) {
		w := a.Start(seed)
		var b strings.Builder
		for range 200 {
			next := w.Next()
			b.WriteString(next.Text)
			if string(next.JSON) != next.Text {
				t.Fatalf("%q needs escaping", next.Text)
			}
		}
		ids, err := Pieces{}.Encode(nil, b.String())
		if err != nil || len(ids) != 200 {
			t.Fatalf("%d tokens in %q", len(ids), b.String())
		}
		if strings.HasPrefix(b.String(), " ") || strings.Contains(b.String(), "  ") {
			t.Errorf("spaces in %q", b.String())
		}
	}
	first, again, other := a.Start(1), a.Start(1), a.Start(2)
	same, differ := true, false
	for range 100 {
		w := first.Next()
		same = same && w == again.Next()
		differ = differ || w != other.Next()
	}
	if !same || !differ {
		t.Error("an answer must follow from its seed alone")
	}
}

func TestLengths(t *testing.T) {
	sum, longest := int64(0), int64(0)
	for seed := range uint64(20000) {
		n := Length(seed, 240)
		if n < 1 {
			t.Fatal(n)
		}
		sum += n
		longest = max(longest, n)
	}
	if mean := float64(sum) / 20000; mean < 235 || mean > 245 || longest < 900 {
		t.Errorf("mean %.1f, longest %d", mean, longest)
	}
	if Length(3, 1e-9) != 1 {
		t.Error("an answer has at least one token")
	}
}

func TestPieces(t *testing.T) {
	for s, want := range map[string]int{"": 0, "hello world": 2, "Hello, world!": 4, "12345": 2, "a\n\nb": 3, " ": 1, "  x": 2, "naïve 東京": 2,
		strings.Repeat("x", 40): 3} {
		ids, err := Pieces{}.Encode(nil, s)
		if err != nil || len(ids) != want {
			t.Errorf("%q has %d pieces, want %d", s, len(ids), want)
		}
	}
}

func FuzzPieces(f *testing.F) {
	f.Add("a \xff b\xf0\x9f")
	f.Fuzz(func(t *testing.T, s string) {
		ids, err := Pieces{}.Encode(nil, s)
		if err != nil || len(ids) > len(s) || s != "" && len(ids) == 0 {
			t.Errorf("%d ids for %d bytes, %v", len(ids), len(s), err)
		}
	})
}
