package fault

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParse(t *testing.T) {
	f, err := Parse("nccl-stall: at=5s, for=1.5, restart=200ms,seed=7")
	if err != nil {
		t.Fatal(err)
	}
	got := []any{f.Definition.Name, f.Share, f.Count, f.At, f.For, f.Seed, f.seconds("restart")}
	if d := cmp.Diff([]any{"nccl_stall", 1.0, int64(0), int64(5e9), int64(15e8), uint64(7), int64(2e8)}, got); d != "" {
		t.Error(d)
	}
	j, err := ReadJSON(strings.NewReader(`{"fault":"nccl_stall","at":"5s","for":1.5,"restart":0.2,"seed":7}`))
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(f, j); d != "" {
		t.Error(d)
	}
}

func TestParseErrors(t *testing.T) {
	for in, want := range map[string]string{
		"":                         "unknown fault",
		"no_ends":                  "known: usage_wrong",
		"no_end:share":             "key=value",
		"no_end:share=1,share=1":   "each key once",
		"no_end:share=1.5":         "from 0 to 1",
		"no_end:count=-1":          "number from 0",
		"no_end:at=soon":           "duration",
		"no_end:for=-3s":           "duration",
		"no_end:rate=3":            "share, count, at, for, seed",
		"leak:share=0.5":           "rate, restart, at, for, seed",
		"leak:rate=NaN":            "number from",
		"cut:after=-1":             "number from 0",
		"no_end:seed=x":            "whole number",
		"neighbour:period=0":       "number from 0.001",
		"rate_limit:burst=999999s": "number from 1 to 3600",
	} {
		if _, err := Parse(in); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", in, err, want)
		}
	}
	if _, err := ParseList(strings.Repeat("no_end;", 1000)); err == nil {
		t.Error("a thousand faults in a header")
	}
}

func FuzzParse(f *testing.F) {
	f.Add("usage_wrong:by=3,share=0.5;cut")
	f.Add("rate_limit:rpm=1,tpm=1e12,burst=1h,hint=0")
	f.Fuzz(func(t *testing.T, s string) {
		list, err := ParseList(s)
		if err != nil {
			return
		}
		for _, x := range list {
			if !(x.Share >= 0 && x.Share <= 1) || x.At < 0 || x.For < 0 || x.Count < 0 {
				t.Fatalf("%+v", x)
			}
		}
	})
}

// The share is kept, and what is struck follows from the seed alone.
func TestShareCountAndSeed(t *testing.T) {
	struck := func(spec string) (list []int) {
		s := NewSet(parsed(t, spec), nil, 1)
		for _, a := range s.active {
			a.base = 0
		}
		s.begun = 0
		for i := range 10000 {
			hits, err := s.Arrive(Arrival{At: int64(i) * 1e6})
			if err != nil {
				t.Fatal(err)
			}
			if len(hits) > 0 {
				list = append(list, i)
			}
		}
		return list
	}
	a := struck("no_end:share=0.1")
	if n := len(a); n < 900 || n > 1100 { // three standard deviations are 90
		t.Errorf("struck %d of 10,000", n)
	}
	if d := cmp.Diff(a, struck("no_end:share=0.1")); d != "" {
		t.Error("the same seed strikes others:", d)
	}
	if cmp.Equal(a, struck("no_end:share=0.1,seed=2")) {
		t.Error("another seed strikes the same")
	}
	if got := struck("no_end:count=3,at=1s"); !cmp.Equal(got, []int{1000, 1001, 1002}) {
		t.Error(got)
	}
	if got := struck("no_end:at=1s,for=2ms"); !cmp.Equal(got, []int{1000, 1001}) {
		t.Error(got)
	}
}

func parsed(t *testing.T, s string) []Fault {
	t.Helper()
	list, err := ParseList(s)
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// The document lists every fault as the table does.
func TestDocumented(t *testing.T) {
	doc, err := os.ReadFile(filepath.Join("..", "..", "docs", "simulated-engine.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range Table() {
		if row := Row(d); !strings.Contains(string(doc), row) {
			t.Errorf("docs/simulated-engine.md lacks:\n%s", row)
		}
	}
}
