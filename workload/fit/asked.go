package fit

import "github.com/tokamak-bench/tokamak/workload/trace"

const (
	// fewNamed is which share of the prompt tokens their blocks hold at least not
	// to be said, and manyNamed how many times as many they hold at most.
	fewNamed, manyNamed = 0.8, 1.5
)

// findBlocks says where blocks do not go with the lengths of their prompts.
func (l *log) findBlocks() {
	b := l.blocks
	if b.inBlocks == 0 {
		return
	}
	share := float64(b.inNames) / float64(b.inBlocks)
	length := grouped(b.byPrompts()[0].Tokens)
	switch {
	case share < fewNamed && len(b.lengths) == 1:
		l.say("blocks of %s tokens name %.0f %% of the tokens of their prompts: the rest is taken to be shared with nobody, unless --block-tokens is longer", length, 100*share)
	case share > manyNamed && len(b.lengths) == 1:
		l.say("blocks of %s tokens name %.1f times the tokens of their prompts: expected --block-tokens to be shorter", length, share)
	}
}

// findAsked says which of the user's wishes the log could not follow.
func (l *log) findAsked() {
	o := &l.options
	for _, c := range []struct {
		by    By
		names int
		what  string
	}{{ByTenant, len(l.tenants.ids), "tenant"}, {ByModel, len(l.models.ids), "model"}, {BySession, int(l.history.sessions), "session"}} {
		if o.By == c.by && c.names == 0 {
			l.say("--by %s: the log names no %s, and is taken as one client", c.by, c.what)
		}
	}
	if h := &l.history; o.Turns != "" && h.judged >= toldTurns {
		share := float64(h.grown) / float64(h.judged)
		if grows := !(turnsOf{int32(h.judged), int32(h.grown)}).alone(); grows != (o.Turns == trace.CumulativeTurns) {
			kind := "no history"
			if grows {
				kind = "their history"
			}
			l.say("--turns %s was asked for, although %.0f %% of the later prompts are longer than the one before, as of prompts that hold %s", o.Turns, 100*share, kind)
		}
	}
	if o.Turns != "" && l.history.later == 0 {
		l.say("--turns %s has no effect: the log does not tell which requests belong together", o.Turns)
	}
	if o.Window > 0 && l.span < 2*o.Window.Seconds() && !l.madeUp {
		below := ", and one rate was learnt"
		if o.Bursts > 0 {
			below = "; bursts are kept around one rate"
		}
		l.say("--window %s: the log of %s holds no two of them%s", shortDuration(o.Window.Seconds()), shortDuration(l.span), below)
	}
	if l.relative && l.files > 1 {
		l.say("the moments of %d files count from beginnings of their own: the files are laid over each other, as if they had begun together", l.files)
	}
}

// files is a reader of several of them.
type files interface{ Opened() int }

var _ files = (*Logs)(nil)
