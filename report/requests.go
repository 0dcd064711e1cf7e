package report

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/tokamak-bench/tokamak/measure"
	"github.com/tokamak-bench/tokamak/record"
)

// overs is how many requests count as over every limit.
func (p *page) overs() int { return p.s.Requests.Failed + p.s.Requests.Unsent }

// errorRate returns the share of requests that failed or were never sent, in
// words.
func (p *page) errorRate() string {
	r := &p.s.Requests
	return share(p.overs(), r.OK+p.overs())
}

func (p *page) requests() {
	p.blank()
	r := &p.s.Requests
	parts := []string{count(r.Due) + " due", count(r.OK) + " ok", count(r.Failed) + " failed"}
	if r.Cut > 0 {
		parts = append(parts, count(r.Cut)+" cut by us at the end")
	}
	if r.Unsent > 0 {
		parts = append(parts, count(r.Unsent)+" never sent")
	}
	if n := r.ByOutcome["cancelled"]; n > 0 {
		parts = append(parts, count(n)+" given up by their users")
	}
	text := strings.Join(parts, ", ")
	if r.OK+p.overs() > 0 {
		text += ", error rate " + p.errorRate()
	}
	colour := ""
	if p.overs() > 0 {
		colour = red
	}
	p.painted("requests", colour, text, "")
	p.failures()
	p.notes()
}

// failures names why requests failed, and the deadlines that struck.
func (p *page) failures() {
	r := &p.s.Requests
	var outcomes []string
	for _, o := range byCount(r.ByOutcome) {
		if o != "ok" && o != "cut" && o != "cancelled" && o != "unsent" {
			outcomes = append(outcomes, fmt.Sprintf("%s %s", count(r.ByOutcome[o]), o))
		}
	}
	if len(outcomes) > 0 {
		p.line("failed", strings.Join(outcomes, ", "))
	}
	p.why()
	if extra := r.Attempts.Total - r.Sent; extra > 0 {
		p.line("", count(r.Attempts.Total)+" attempts in all, repeated ones included")
	}
}

// mostReasons is how many error classes get a line with an example.
const mostReasons = 4

// why names the error classes, each with the first text that came with it.
func (p *page) why() {
	label, shown := "why", 0
	var bare []string
	for _, c := range byCount(p.s.Requests.Attempts.ByErrorClass) {
		if slices.Contains(ours, c) {
			continue
		}
		text := fmt.Sprintf("%s %s", count(p.s.Requests.Attempts.ByErrorClass[c]), c)
		if limit, ok := p.s.Run.Timeouts[c]; ok {
			text += fmt.Sprintf(" (the limit is %s)", figure(measure.Some(limit), "ms"))
		}
		example := p.s.Requests.Attempts.Examples[c]
		// Of a deadline the text says no more than the class.
		if example == "" || strings.HasSuffix(example, c) || shown == mostReasons {
			bare = append(bare, text)
			continue
		}
		p.line(label, clip(text+": "+example, p.width-labelWidth))
		label, shown = "", shown+1
	}
	if len(bare) > 0 {
		p.line(label, strings.Join(bare, ", "))
	}
}

// mostNotes is how many kinds of notes are shown.
const mostNotes = 4

// notes counts what was odd about answers that were whole, with what it does
// to the figures; what does nothing to them stands last.
func (p *page) notes() {
	all := p.s.Requests.Attempts.ByNote
	words := byCount(all)
	shaping := slices.DeleteFunc(slices.Clone(words), func(n string) bool { return meaning(n) == "" })
	words = append(shaping, slices.DeleteFunc(words, func(n string) bool { return meaning(n) != "" })...)
	var parts []string
	for _, n := range words[:min(len(words), mostNotes)] {
		text := count(all[n]) + " " + n
		if m := meaning(n); m != "" {
			text += " (" + m + ")"
		}
		parts = append(parts, text)
	}
	if more := len(words) - len(parts); more > 0 {
		parts = append(parts, fmt.Sprintf("and %d more in summary.json", more))
	}
	if len(parts) > 0 {
		p.line("notes", strings.Join(parts, ", "))
	}
}

// meaning says what a note does to the figures, empty where it does nothing.
// docs/responses.md has them all.
func meaning(note string) string {
	switch note {
	case "buffered":
		return "content came in bursts: ttft and itl are not the engine's"
	case emptyAnswer:
		return "not one byte of content came"
	case "empty_length":
		return "the length was used up before any text"
	case "not_streamed":
		return "came whole: ttft is when all of it came"
	case "over_max_tokens":
		return "more tokens than asked for: rates are the server's word"
	case "under_max_tokens":
		return "shorter than asked for"
	case "usage_below_chunks":
		return "more chunks than the server counted tokens"
	case "usage_implausible":
		return "counts that cannot be"
	case "usage_missing":
		return "the server counted no tokens"
	case "usage_unlike_count":
		return "the server's count is unlike ours"
	case "usage_zero":
		return "the server counted 0 tokens"
	}
	return ""
}

// emptyAnswer is the note of an answer without content.
const emptyAnswer = "empty_answer"

// ours are the error classes of what was ended by us or by the workload.
var ours = []string{"cut", "cancelled", record.CrashClass}

// byCount returns keys by falling count, then by name.
func byCount(m map[string]int) []string {
	keys := slices.Sorted(maps.Keys(m))
	slices.SortStableFunc(keys, func(a, b string) int { return m[b] - m[a] })
	return keys
}
