package workload

import (
	"fmt"

	"github.com/tokamak-bench/tokamak/workload/trace"
)

// past is what recorded sessions said so far, for rows that hold their new
// text alone. The sessions heard of longest ago are forgotten, in two
// generations, so that it stays small.
type past struct {
	young, old map[string][]Message
	messages   int // of young
}

// mostPast is how many messages a generation keeps.
const mostPast = 1 << 18

func (p *past) of(session string) []Message {
	if m, ok := p.young[session]; ok {
		return m
	}
	return p.old[session]
}

func (p *past) keep(session string, m []Message) {
	if p.young == nil || p.messages > mostPast {
		p.old, p.young, p.messages = p.young, map[string][]Message{}, 0
	}
	p.messages += len(m) - len(p.young[session])
	p.young[session] = m
}

// Noter is a source that says how what it sends differs from what was
// recorded.
type Noter interface {
	// Notes are sentences for the report.
	Notes() []string
}

// odd counts rows that are not sent as they were recorded.
type odd struct {
	sendable, empty int64
	failed, media   int64
}

func (o *odd) count(w *trace.Row) {
	if w.Failed && w.Output == 0 {
		o.failed++
	}
	if w.Body == nil && w.Images+w.Audios+w.Videos > 0 {
		o.media++
	}
}

// Notes says what was left out of rows that were sent, and how many could not
// be sent.
func (r *recorded) Notes() []string {
	var n []string
	ignored := r.ignored
	if r.rows != nil {
		ignored += r.rows.Ignored()
	}
	for _, c := range []struct {
		rows int64
		one  string
		says string
	}{
		{ignored, "line", "of the dataset with no request to be sent, such as other paths and spans: passed over"},
		{r.odd.failed, "row", "of the dataset failed when recorded: sent without a length to ask for"},
		{r.odd.media, "row", "of the dataset with images, audio or video: sent without them"},
		{r.odd.empty, "row", "of the dataset with neither content nor a length: not sent"},
	} {
		switch c.rows {
		case 0:
		case 1:
			n = append(n, "1 "+c.one+" "+c.says)
		default:
			n = append(n, fmt.Sprintf("%d %ss %s", c.rows, c.one, c.says))
		}
	}
	return n
}
