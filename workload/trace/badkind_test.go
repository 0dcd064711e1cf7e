package trace

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// Bad lines are counted by their reasons, all of them, and what is said of a
// kind is true of each of its lines.
func TestBadKinds(t *testing.T) {
	var b strings.Builder
	b.WriteString("TIMESTAMP,ContextTokens,GeneratedTokens\n")
	for i := range 120 { // lines 2 to 121
		switch {
		case i%4 == 1:
			fmt.Fprintf(&b, "2024-05-10 00:00:00,0,%d\n", i)
		case i%12 == 2:
			fmt.Fprintf(&b, "2024-05-10 00:00:00,7,-%d\n", i)
		case i == 50:
			b.WriteString("2024-05-10 00:00:00,some words\n")
		default:
			b.WriteString("2024-05-10 00:00:00,7,8\n")
		}
	}
	rows, r := all(t, b.String(), Options{MaxBad: 1})
	// i = 50 is no case of the second: 50 mod 12 is 2.
	want := []BadKind{
		{"data", unitLine, `field 2: expected a number of tokens from 1 to 10000000, found "0"`, 30, []int64{3, 7, 11}},
		{"data", unitLine, "field 3: expected a number of tokens from 0 to 10000000, found …", 10, []int64{4, 16, 28}},
	}
	if diff := cmp.Diff(want, r.BadKinds()); diff != "" || len(rows) != 80 {
		t.Errorf("%d rows: %s", len(rows), diff)
	}
	if n, _ := r.Skipped(); n != 40 {
		t.Errorf("%d skipped", n)
	}
}

// Kinds are of JSON lines, of entries and of what no decoder saw, too.
func TestBadKindsOfPieces(t *testing.T) {
	for text, want := range map[string][]string{
		`{"prompt":"a"}` + "\n{\"x\n{\"prompt\":\"b\n{\"prompt\":7}\n" + `{"prompt":"b"}` + "\n{\"prompt\":\"" + strings.Repeat("x", maxLine) + "\"}\n": {
			"2 lines of data cannot be used: column …: not JSON (lines 2, 3)",
			"1 line of data cannot be used: prompt is of the wrong type: expected a text, found a number (line 4)",
			"1 line of data cannot be used: is longer than 16 MiB (line 6)",
		},
		`[{"prompt":"a"},{"prompt":1},{"input_tokens":1},{"prompt":2},{"prompt":3},{"prompt":4},{"input_tokens":-1},{"input_tokens":"1.5"},{"hash_ids":[1],"input_tokens":1}]`: {
			"4 entries of data cannot be used: prompt is of the wrong type: expected a text, found a number (entries 2, 4, 5, …)",
			"1 entry of data cannot be used: expected input_tokens from 1 to 10000000, found -1 (entry 7)",
			"1 entry of data cannot be used: expected input_tokens from 1 to 10000000, found a text (entry 8)",
		},
	} {
		_, r := all(t, text, Options{MaxBad: 1})
		var got []string
		for _, k := range r.BadKinds() {
			got = append(got, k.String())
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	}
}

// However many reasons there are, the kinds are few and every line is in one.
func TestBadKindsAreBounded(t *testing.T) {
	var k kinds
	for i := range 10_000 {
		k.add(&LineError{"data", unitLine, int64(i + 1), fmt.Errorf("reason %s", strings.Repeat("x", i%500))})
	}
	list, sum := k.list(), int64(0)
	for _, b := range list {
		sum += b.Lines
	}
	if len(list) != mostKinds+1 || sum != 10_000 || list[mostKinds].Reason != otherReasons || list[mostKinds].Lines != 480*20 || list[0].Lines != 20 {
		t.Errorf("%d kinds of %d lines: %+v", len(list), sum, list)
	}
}

// Lines, entries and records are different kinds.
func TestBadKindsByUnit(t *testing.T) {
	var k kinds
	for i, unit := range []string{unitLine, unitEntry, unitLine} {
		k.add(&LineError{"data", unit, int64(i + 1), errNotJSON})
	}
	want := []BadKind{{"data", unitLine, "not JSON", 2, []int64{1, 3}}, {"data", unitEntry, "not JSON", 1, []int64{2}}}
	if diff := cmp.Diff(want, k.list()); diff != "" {
		t.Error(diff)
	}
}

// The words of a reason and what stands between them are the reason, and the
// same words with other numbers are the same kind.
func TestTemplate(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		reason := rapid.StringMatching(`([a-z ",.:0-9eE+\-\[\]]|field [0-9]{1,2}|…){0,20}`).Draw(t, "reason")
		words, between := template(reason)
		var b strings.Builder
		for i, w := range words {
			b.WriteString(w)
			if i < len(between) {
				b.WriteString(between[i])
			}
		}
		if b.String() != reason || len(words) != len(between)+1 {
			t.Fatalf("%q: %q and %q", reason, words, between)
		}
	})
	for reason, want := range map[string]string{
		"column 12: not JSON":                    "column #: not JSON",
		`field 3: expected a, found "1.5e9, x"`:  "field 3: expected a, found #",
		"expected k8s_2 from -1 to 10, found -5": "expected k8s_2 from # to #, found #",
		"found 1.5e+3, 1e9 and 2.":               "found #, # and #.",
		`turns[12].x, "no end 7`:                 `turns[#].x, "no end #`,
		"":                                       "",
		"-":                                      "-",
	} {
		words, _ := template(reason)
		if got := strings.Join(words, "#"); got != want {
			t.Errorf("%q: %q", reason, got)
		}
	}
}

// The kinds are among the notes, unless the first lines say as much.
func TestBadKindsAreNoted(t *testing.T) {
	for text, want := range map[string][]string{
		`{"prompt":7}` + "\n":                          nil,
		strings.Repeat(`{"prompt":7}`+"\n", 3):         nil,
		strings.Repeat(`{"prompt":7}`+"\n", 4):         {"4 lines of data cannot be used: prompt is of the wrong type: expected a text, found a number (lines 2, 3, 4, …)"},
		`{"prompt":7}` + "\n{" + `"prompt":{}}` + "\n": {"1 line of data cannot be used: prompt is of the wrong type: expected a text, found a number (line 2)", "1 line of data cannot be used: prompt is of the wrong type: expected a text, found an object (line 3)"},
	} {
		_, r := all(t, `{"prompt":"a"}`+"\n"+text, Options{MaxBad: 1})
		if diff := cmp.Diff(want, r.Notes()); diff != "" {
			t.Error(diff)
		}
	}
}

// Where too many lines are bad the error says of what kinds they are.
func TestBadShareNamesKinds(t *testing.T) {
	read := func(text string) error {
		r, err := Open("data", content(text), Options{})
		for err == nil {
			_, err = r.Next()
		}
		return err
	}
	err := read(`{"prompt":"a"}` + "\n{x\n{\"y\n{\"prompt\":7}\n")
	const want = `data: 3 of 4 lines cannot be used, more than 1% (--max-bad allows more); the first: data:2: column 2: not JSON
  2 lines of data cannot be used: column …: not JSON (lines 2, 3)
  1 line of data cannot be used: prompt is of the wrong type: expected a text, found a number (line 4)`
	if err.Error() != want {
		t.Error(err)
	}
	if err := read(`{"prompt":"a"}` + "\n{x\n"); strings.Contains(err.Error(), "\n") {
		t.Error(err)
	}
	var e BadShareError
	e.Bad, e.First = 7, &LineError{"data", unitLine, 1, errors.New("x")}
	for range 7 {
		e.Kinds = append(e.Kinds, BadKind{Name: "data", Unit: unitLine, Reason: "x", Lines: 1, First: []int64{1}})
	}
	if s := e.Error(); strings.Count(s, "\n") != 6 || !strings.HasSuffix(s, "\n  and lines of 2 more reasons") {
		t.Error(s)
	}
}
