package fit

import (
	"fmt"
	"math"

	"github.com/tokamak-bench/tokamak/stat"
	"github.com/tokamak-bench/tokamak/workload/count"
	"github.com/tokamak-bench/tokamak/workload/trace"
)

// lengths are a request's: as its log says or, where it does not and a tokenizer
// is given, as its texts are long; 0 where nothing tells.
func (l *log) lengths(r *trace.Row, said []count.Prompt) (input, output int64) {
	switch {
	case len(said) == 1:
		return l.ofText(&said[0])
	case r.Input == 0 && len(r.Turns) == 1:
		return r.Turns[0].Input, r.Output
	}
	return r.Input, r.Output
}

// ofText returns the same of a prompt that is a text, and counts it.
func (l *log) ofText(q *count.Prompt) (input, output int64) {
	l.texted++
	switch {
	case q.Counted:
		l.counted++
	case q.Said == 0 && l.options.Tokenizer == nil:
		l.uncounted++
	}
	return q.Said, q.Answer
}

// conversation appends the turns of a row that holds several.
func (l *log) conversation(r *trace.Row, said []count.Prompt) {
	session := l.sessions.next(sessionRows)
	first := int32(len(l.at))
	for i := range r.Turns {
		t := &r.Turns[i]
		input, output := t.Input, t.Output
		if i > 0 && t.Think > 0 {
			l.thinks = append(l.thinks, t.Think.Seconds())
		}
		front := int32(0)
		if len(said) > 0 {
			input, output = l.ofText(&said[i])
			front = l.turn(&said[i], r.At, first)
		}
		l.request(r, input, output, session, front)
		l.share = append(l.share, reasoningShare(t.Reasoning, output, t.ReasoningTold))
		flags := &l.flags[len(l.flags)-1]
		*flags |= flagDelta
		if i > 0 {
			*flags |= flagNoTime
		}
	}
}

// turn follows the prompt of a turn of the conversation that a request began,
// and returns the front of the first.
func (l *log) turn(q *count.Prompt, at int64, first int32) int32 {
	p := written(q, at)
	if p == nil {
		return 0
	}
	row := int32(len(l.at))
	if row > first {
		p.of = first
	}
	_, front := l.blocks.add(p, row)
	return front
}

// Limits are the most tokens that requests let their answers have.
type Limits struct {
	Rows int64   `json:"rows"` // that say one
	P50  float64 `json:"p50"`
	P90  float64 `json:"p90"`
	Max  float64 `json:"max"`
}

// limits are those of rows; nil where none says one.
func (l *log) limits(rows []int32) (*Limits, stat.Distribution) {
	if l.limit == nil {
		return nil, nil
	}
	list := values(l.limit, rows)
	if len(list) == 0 {
		return nil, nil
	}
	return &Limits{int64(len(list)), stat.Quantile(list, .5), stat.Quantile(list, .9), list[len(list)-1]}, table(list)
}

// madeUpAnswer is the length of answers of a log that tells none: the median of
// the limits where that is less.
func madeUpAnswer(of *Limits) float64 {
	if of == nil {
		return madeUpOutput
	}
	return min(madeUpOutput, math.Max(of.P50, 1))
}

// findTexts says what was done about texts.
func (l *log) findTexts() {
	if l.counted > 0 {
		l.say("the lengths of %s requests were counted from their texts with %s; what a chat template adds is not in them", grouped(l.counted), l.options.Tokenizer.Name())
	}
	if l.uncounted > 0 {
		l.say("%s of %s requests have texts but no lengths in tokens, which are unknown and in no figure: --tokenizer counts them", grouped(l.uncounted), grouped(int64(len(l.at))))
	}
	l.findPrefixes()
}

// answersMadeUp says what stands for the lengths of answers of clients of which
// the log tells none.
func answersMadeUp(clients []*ClientReport) string {
	least, most := math.Inf(1), 0.0
	var limits *Limits
	for _, c := range clients {
		n := madeUpAnswer(c.Limits)
		least, most = min(least, n), max(most, n)
		if c.Limits != nil && (limits == nil || c.Limits.Rows > limits.Rows) {
			limits = c.Limits
		}
	}
	tokens := fmt.Sprintf("%.0f tokens are made up", least)
	if least < most {
		tokens = fmt.Sprintf("%.0f to %.0f tokens are made up", least, most)
	}
	if limits == nil {
		return tokens
	}
	return fmt.Sprintf("max_tokens of its requests (p50 %s, at most %s) is a limit and no length, so %s, the median limit where that is below %d", grouped(int64(limits.P50)),
		grouped(int64(limits.Max)), tokens, madeUpOutput)
}
