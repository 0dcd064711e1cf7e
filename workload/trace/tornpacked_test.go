package trace

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// readable reads a content that breaks off: the rows before, and the error.
func readable(text string) (rows []*Row, r *Reader, err error) {
	if r, err = Open("cut", content(text), Options{MaxBad: 1}); err != nil {
		return nil, nil, err
	}
	for {
		row, err := r.Next()
		if err != nil {
			return rows, r, err
		}
		rows = append(rows, row.Clone())
	}
}

// Each sample packed in two parts of which the second is torn, wherever that is:
// the rows of the first part are read as they were, those of the second as far
// as they go, no line is bad, and the error says where it broke off.
func TestTornLastMember(t *testing.T) {
	place := regexp.MustCompile(`^cut(?::| has no line.*data:|: (?:entry|record) )(\d+): `)
	// What a trace's other spans, or the turns behind, were is not known of what breaks off.
	known := cmpopts.IgnoreFields(Row{}, "Session", "Turn", "Traced")
	for _, path := range samples(t) {
		text := read(t, path)
		want, _ := all(t, text, Options{})
		// The first part ends with a line, or entry, in the middle.
		half := strings.LastIndexByte(text[:len(text)*2/3], '\n') + 1
		least := 0
		if !strings.HasSuffix(path, ".json") && !strings.HasSuffix(path, ".gor") {
			first, _, _ := readable(text[:half])
			least = len(first)
		}
		for _, kind := range []string{"gzip", "zstd"} {
			front, rest := packed(t, kind, text[:half]), packed(t, kind, text[half:])
			for _, keep := range []int{1, 3, 9, len(rest) / 2, len(rest) - 5, len(rest) - 1} {
				if keep >= len(rest) {
					continue
				}
				got, r, err := readable(string(front) + string(rest[:keep]))
				if err == nil || errors.Is(err, io.EOF) || !strings.Contains(err.Error(), kind+": ") && !strings.Contains(err.Error(), "other bytes") {
					t.Errorf("%s, %s, %d of %d: %v", path, kind, keep, len(rest), err)
					continue
				}
				if m := place.FindStringSubmatch(err.Error()); m == nil {
					t.Errorf("%s, %s, %d of %d: no place: %v", path, kind, keep, len(rest), err)
				}
				if len(got) < least || len(got) > len(want) {
					t.Errorf("%s, %s, %d of %d: %d rows of %d, at least %d are whole: %v", path, kind, keep, len(rest), len(got), len(want), least, err)
					continue
				}
				if diff := cmp.Diff(want[:len(got)], got, cmpopts.EquateEmpty(), known); diff != "" {
					t.Errorf("%s, %s, %d of %d: %s", path, kind, keep, len(rest), diff)
				}
				if r == nil {
					continue
				}
				if n, bad := r.Skipped(); n != 0 {
					t.Errorf("%s, %s, %d of %d: bad lines: %v", path, kind, keep, len(rest), bad)
				}
			}
		}
	}
}

// Of a long content most of what stands before the tear is read, also within
// the last member, and the error names the line.
func TestTornLongMember(t *testing.T) {
	var b strings.Builder
	b.WriteString("TIMESTAMP,ContextTokens,GeneratedTokens\n")
	const rows = 50_000
	random := rand.New(rand.NewPCG(1, 2))
	for i := range rows {
		fmt.Fprintf(&b, "2024-05-10 00:%02d:%02d.%06d,%d,%d\n", i/60%60, i%60, random.IntN(1_000_000), 1+random.IntN(4000), random.IntN(900))
	}
	for _, kind := range []string{"gzip", "zstd"} {
		whole := packed(t, kind, b.String())
		for _, share := range []float64{.25, .5, .9} {
			got, r, err := readable(string(whole[:int(share*float64(len(whole)))]))
			if n := float64(len(got)) / rows; n < share-.15 || n > share+.15 {
				t.Errorf("%s: of %.0f%% are %d rows read", kind, 100*share, len(got))
			}
			want := "cut:" + strconv.Itoa(len(got)+2) + ": " + kind + ": the packed content breaks off (unexpected EOF)"
			if err == nil || !strings.HasPrefix(err.Error(), want) {
				t.Errorf("want %s, got %v", want, err)
			}
			if n, _ := r.Skipped(); n != 0 {
				t.Errorf("%s: %d skipped", kind, n)
			}
		}
	}
}
