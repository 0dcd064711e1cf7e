package fit

import (
	"fmt"
	"math"
	"slices"

	"github.com/tokamak-bench/tokamak/stat"
	"github.com/tokamak-bench/tokamak/workload/count"
	"github.com/tokamak-bench/tokamak/workload/trace"
)

// lengths are a request's: as its log says or, where it does not and a tokenizer
// is given, as its texts are long; 0 where nothing tells.
func (l *log) lengths(r *trace.Row) (input, output int64, err error) {
	l.texted = l.texted || r.Body != nil
	switch {
	case r.Input > 0:
	case len(r.Turns) == 1:
		return l.turn(&r.Turns[0], r.Output)
	case r.Body != nil && l.options.Tokenizer == nil:
		l.uncounted++
	case r.Body != nil:
		input, err = count.Body(r.Body, l.options.Tokenizer)
		if input > 0 {
			l.counted++
		}
		return input, r.Output, err
	}
	return r.Input, r.Output, nil
}

// turn is the same of a turn, whose answer is of the length said where it is.
func (l *log) turn(t *trace.Turn, said int64) (input, output int64, err error) {
	text := hasText(t)
	l.texted = l.texted || text
	if t.Input > 0 || !text {
		return t.Input, said, nil
	}
	if l.options.Tokenizer == nil {
		l.uncounted++
		return 0, said, nil
	}
	l.counted++
	input, output, err = count.Turn(t, l.options.Tokenizer)
	if said > 0 {
		output = said
	}
	return input, output, err
}

func hasText(t *trace.Turn) bool {
	return t.Answer != "" || slices.ContainsFunc(t.Messages, func(m trace.Message) bool { return m.Text != "" })
}

// conversation appends the turns of a row that holds several.
func (l *log) conversation(r *trace.Row) error {
	session := l.sessions.next(sessionRows)
	for i := range r.Turns {
		t := &r.Turns[i]
		input, output, err := l.turn(t, t.Output)
		if err != nil {
			return err
		}
		if i > 0 && t.Think > 0 {
			l.thinks = append(l.thinks, t.Think.Seconds())
		}
		l.request(r, input, output, session, 0)
		l.share = append(l.share, reasoningShare(t.Reasoning, output, t.ReasoningTold))
		flags := &l.flags[len(l.flags)-1]
		*flags |= flagDelta
		if i > 0 {
			*flags |= flagNoTime
		}
	}
	return nil
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
	if l.texted && l.blocks.distinct == 0 {
		l.say("prefixes: the log names no blocks, so that what prompts share at their front, such as a system prompt, is not in the model")
	}
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
