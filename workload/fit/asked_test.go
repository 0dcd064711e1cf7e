package fit

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tokamak-bench/tokamak/workload/trace"
)

// twoFiles is a log of two files.
type twoFiles struct{ listed }

func (*twoFiles) Opened() int { return 2 }

// What the log cannot follow of the user's wishes is said.
func TestWishesThatCannotBe(t *testing.T) {
	plain := func() []trace.Row {
		var rows []trace.Row
		for i := range 60 {
			rows = append(rows, trace.Row{Timed: true, At: int64(i)*2e9 + int64(i*i), Input: 100, Output: 5})
		}
		return rows
	}
	blocks := func(n int, size int64) []trace.Row {
		rows := plain()
		for i := range rows {
			for k := range n {
				rows[i].Blocks = append(rows[i].Blocks, uint64(i*100+k))
			}
			rows[i].BlockTokens = size
		}
		return rows
	}
	grown := blocks(6, 16)
	for i := range grown[1:] {
		if i%2 == 0 {
			grown[i+1].Blocks, grown[i+1].Input = append(slices.Clone(grown[i].Blocks), 9_999_999), 112
		}
	}
	for _, c := range []struct {
		name string
		rows Rows
		o    Options
		want string
	}{
		{"no tenants", &listed{plain()}, Options{By: ByTenant}, "--by tenant: the log names no tenant, and is taken as one client"},
		{"no models", &listed{plain()}, Options{By: ByModel}, "--by model: the log names no model"},
		{"no sessions", &listed{plain()}, Options{By: BySession}, "--by session: the log names no session"},
		{"no turns", &listed{plain()}, Options{Turns: trace.CumulativeTurns}, "--turns cumulative has no effect: the log does not tell which requests belong together"},
		{"a short log", &listed{plain()}, Options{Window: 3 * time.Hour}, "--window 3 h: the log of 118 s holds no two of them, and one rate was learnt"},
		{"a short log with bursts", &listed{plain()}, Options{Window: 3 * time.Hour, Bursts: time.Second}, "--window 3 h: the log of 118 s holds no two of them; bursts are kept around one rate"},
		{"two beginnings", &twoFiles{listed{plain()}}, Options{}, "the moments of 2 files count from beginnings of their own: the files are laid over each other"},
		{"short blocks", &listed{blocks(1, 16)}, Options{}, "blocks of 16 tokens name 16 % of the tokens of their prompts"},
		{"long blocks", &listed{blocks(6, 64)}, Options{}, "blocks of 64 tokens name 3.8 times the tokens of their prompts: expected --block-tokens to be shorter"},
		{"blocks and delta", &listed{grown}, Options{Turns: trace.DeltaTurns}, ""},
	} {
		_, r, err := Fit(t.Context(), c.rows, c.o)
		if err != nil {
			t.Fatal(c.name, err)
		}
		if c.want != "" && !strings.Contains(strings.Join(r.Findings, "\n"), c.want) {
			t.Errorf("%s: the findings lack %q: %q", c.name, c.want, r.Findings)
		}
		if c.name == "blocks and delta" && (r.Sessions.History != string(trace.CumulativeTurns) || r.Sessions.HistoryWhy != "told by blocks, which hold what came before, although delta was asked for") {
			t.Errorf("%+v", r.Sessions)
		}
	}
	// Of a log that goes with all wishes nothing is said.
	_, r, err := Fit(t.Context(), &listed{blocks(7, 16)}, Options{})
	if err != nil || len(r.Findings) > 0 {
		t.Errorf("%q, %v", r.Findings, err)
	}
}
