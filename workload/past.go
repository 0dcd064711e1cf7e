package workload

import (
	"fmt"

	"github.com/tokamak-bench/tokamak/workload/media"
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
	blocks          int64 // rows that name blocks
	reasoned        int64 // rows with an answer that had reasoning
	untold          int64 // rows that do not tell of every answer whether it had
	failed          int64
	without         int64 // rows whose images, sounds and videos are left out
	made            int64 // rows with made-up ones
	pictured        int64 // rows with made-up images
	lost            int64 // rows with made-up ones for what the log cut out
	linked          int64 // rows with URLs
	videos, more    int64 // rows with videos by number, with more than a message may hold
}

func (o *odd) count(w *trace.Row, d *Dataset) {
	if w.Failed && w.Asked() == 0 {
		o.failed++
	}
	if len(w.Blocks) > 0 {
		o.blocks++
	}
	o.reasoning(w)
	images := w.Images
	for i := range w.Turns {
		images += w.Turns[i].Images
	}
	switch {
	case images+w.Audios+w.Videos == 0:
	case d.NoMedia:
		if w.Body == nil {
			o.without++
		}
	case referred(w):
		o.held(w)
	default:
		if images+w.Audios > 0 {
			o.made++
		}
		if images > 0 {
			o.pictured++
		}
		if w.Videos > 0 {
			o.videos++
		}
		if max(w.Images, w.Audios) > MaxImages {
			o.more++
		}
	}
}

// reasoning counts whether a row tells of reasoning, and any.
func (o *odd) reasoning(w *trace.Row) {
	told, any := tells(w), w.Reasoning > 0
	if lengths(w) {
		for i := range w.Turns {
			told = told && w.Turns[i].ReasoningTold
			any = any || w.Turns[i].Reasoning > 0
		}
	}
	if any {
		o.reasoned++
	}
	if !told {
		o.untold++
	}
}

// tells tells whether it is known if a row's answer had reasoning: a row that
// failed had no answer.
func tells(w *trace.Row) bool { return w.ReasoningTold && (!w.Failed || w.Reasoning > 0) }

// lengths tells whether a row's turns are lengths without texts.
func lengths(w *trace.Row) bool { return len(w.Turns) > 1 && w.Turns[0].Messages == nil }

// held counts a row that holds or names its images, sounds and videos.
func (o *odd) held(w *trace.Row) {
	q := Request{Held: w.Held}
	for i := range w.Turns {
		for j := range w.Turns[i].Messages {
			q.Held = append(q.Held, w.Turns[i].Messages[j].Held...)
		}
	}
	a := q.Attached()
	if a.Linked > 0 {
		o.linked++
	}
	if a.Made > 0 {
		o.lost++
	}
}

// unsaid is how many rows with reasoning were sent to a target that is not told.
func (r *recorded) unsaid() int64 {
	if r.Dataset.Reasoning {
		return 0
	}
	return r.odd.reasoned
}

// unswitched is how many rows do not tell what a target is to be told.
func (r *recorded) unswitched() int64 {
	if !r.Dataset.Reasoning {
		return 0
	}
	return r.odd.untold
}

// Notes says what was left out of rows that were sent, and how many could not
// be sent.
func (r *recorded) Notes() []string {
	n, ignored, said := r.names.notes(), r.ignored, r.said
	if r.rows != nil {
		ignored += r.rows.Ignored()
		said = r.rows.Notes()
	}
	n = append(n, said...)
	for _, c := range []struct {
		rows int64
		one  string
		says string
	}{
		{ignored, "line", "of the dataset with no request to be sent, such as other paths and spans: passed over"},
		{r.odd.failed, "row", "of the dataset failed when recorded: sent without a length to ask for"},
		{r.odd.without, "row", "of the dataset with images, audio or video: sent without them, which completions do not take"},
		{r.odd.made, "row", "of the dataset with images or sound known by number alone: sent with made-up ones of that number, " + r.Dataset.madeLike()},
		{r.odd.lost, "row", "of the dataset with images or sound that the log cut out: sent with made-up ones in their place, " + r.Dataset.madeLike()},
		{r.odd.linked, "row", "of the dataset with URLs of images, sound or video: sent as they are, for the server to fetch; tokamak fetches none"},
		{r.odd.videos, "row", "of the dataset with videos known by number alone: sent without them"},
		{r.odd.more, "row", fmt.Sprintf("of the dataset with more than %d images or sounds: sent with %d", MaxImages, MaxImages)},
		{r.unsaid(), "row", "of the dataset with reasoning, which is not sent: the target decides (--reasoning says which field asks for it)"},
		{r.unswitched(), "row", "of the dataset not telling whether its answer had reasoning: sent without the field of --reasoning"},
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
	if r.session > 0 {
		n = append(n, r.unused()...)
	}
	return n
}

// unused says which settings no row had a use for.
func (r *recorded) unused() (n []string) {
	d := r.Dataset
	if d.Reading.BlockTokens > 0 && r.odd.blocks == 0 {
		n = append(n, "the dataset names no blocks: block-tokens was not used")
	}
	if d.Reading.Turns != "" && !r.later && (r.rows == nil || !r.rows.TurnsUsed()) {
		n = append(n, "the dataset has no rows of which a session's later ones may hold new text or whole prompts: dataset-turns was not used")
	}
	if d.Image != (media.Image{}) && r.odd.pictured+r.odd.lost == 0 {
		n = append(n, "the dataset has no images known by number alone: what made-up ones are to be like was not used")
	}
	return n
}
