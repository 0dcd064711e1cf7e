package compare

import (
	"fmt"
	"strings"

	"github.com/tokamak-bench/tokamak/measure"
)

// decide gives the figure its word, once its p-value was adjusted within a
// family of so many.
func (d *Figured) decide(family int) {
	if !d.Change.Valid() {
		return
	}
	shown := d.Adjusted.Or(1) <= DefaultAlpha
	same := d.PSame.Or(1) <= DefaultAlpha
	direction := d.direction()
	switch {
	case same && shown && direction != "":
		d.Word, d.Reason = Same, fmt.Sprintf("%s, but by less than %s", direction, d.amount(d.Margin))
	case same:
		d.Word = Same
	case shown && direction != "":
		d.Word = direction
	case shown:
		d.Reason = "it differs, but neither more nor less of it is better"
	case d.P.Or(1) <= DefaultAlpha:
		d.Reason = fmt.Sprintf("%s by itself, not among %d figures tested together; %s", direction, family, d.takes())
	default:
		d.Reason = d.takes()
	}
}

// direction is the word for the change that was seen; empty where there is none.
func (d *Figured) direction() Word {
	switch x := d.Change.Or(0) * float64(d.figure.direction()); {
	case x > 0:
		return Better
	case x < 0:
		return Worse
	}
	return ""
}

// amount writes a change of the figure.
func (d *Figured) amount(v measure.Value) string {
	if d.Relative {
		return measure.Figure(v, "%")
	}
	if d.Unit == "%" {
		return measure.Digits(v.Or(0)) + " points"
	}
	return measure.Figure(v, d.Unit)
}

// takes says what a word takes.
func (d *Figured) takes() string {
	seen := "this sees " + d.amount(d.Detectable) + " and more"
	var ways []string
	if n := d.NeededPairs; n != nil {
		ways = append(ways, measure.Count(*n)+" pairs")
	}
	if n := d.NeededRequests; n != nil {
		ways = append(ways, measure.Count(*n)+" requests a run")
	}
	if len(ways) == 0 {
		return seen
	}
	return fmt.Sprintf("%s; %s takes about %s", seen, d.amount(d.Margin), strings.Join(ways, " or "))
}

// sum puts the primary figures into one word.
func (t *Contrast) sum() {
	by := map[Word][]string{}
	primary := 0
	for i := range t.Figures {
		if d := &t.Figures[i]; d.Primary {
			by[d.Word] = append(by[d.Word], d.Figure)
			primary++
		}
	}
	names := func(w Word) string { return string(w) + " in " + strings.Join(by[w], ", ") }
	var parts []string
	for _, w := range []Word{Worse, Better, CannotTell, Same} {
		if len(by[w]) > 0 {
			parts = append(parts, names(w))
		}
	}
	t.Reason = strings.Join(parts, "; ")
	switch {
	case len(by[Worse]) > 0:
		t.Word = Worse
	case len(by[Better]) > 0:
		t.Word = Better
	case len(by[Same]) == primary && primary > 0:
		t.Word, t.Reason = Same, fmt.Sprintf("same in all %d primary figures", primary)
	default:
		t.Word = CannotTell
	}
	if len(by[CannotTell]) == primary {
		t.Reason = fmt.Sprintf("cannot tell in any of %d primary figures", primary)
	}
}
