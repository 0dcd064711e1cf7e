package trace

import (
	"fmt"
	"slices"
	"strings"
)

// Place names the line, entry or record that the last row came from, as
// errors do.
func (r *Reader) Place() string {
	if r.unit == unitLine {
		return fmt.Sprintf("%s:%d", r.name, r.line)
	}
	return fmt.Sprintf("%s: %s %d", r.name, r.unit, r.line)
}

// Notes are sentences about what was read so far that no line shows: the reasons
// of bad lines where [Reader.Skipped] may not show all, dates without a zone, and
// paths of the mapping that no line has.
func (r *Reader) Notes() []string {
	var n []string
	if kinds := r.BadKinds(); len(kinds) > 1 || r.bad > firstOfKind {
		n = listed(kinds)
	}
	if r.turns.late > 0 {
		n = append(n, fmt.Sprintf("%s so far behind the one before of the same trace that this one was taken for a lone request", counted(r.turns.late, "request")))
	}
	if r.zoneless > 0 {
		n = append(n, fmt.Sprintf("%s without a zone: taken as UTC", counted(r.zoneless, "moment")))
	}
	if m, ok := r.decoder.(*mapped); ok && r.good > 0 {
		for _, word := range m.missing() {
			n = append(n, fmt.Sprintf("of %s none has %s, which %s names for %s", counted(r.good, "row"), m.m.fields[word], m.m.name, word))
		}
	}
	return n
}

func counted(n int64, one string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %ss", n, one)
}

// missing are the words of a mapping whose fields no line has had yet, in
// order.
func (d *mapped) missing() []string {
	var list []string
	for _, word := range mappingWords() {
		if d.m.fields[word] != "" && slices.Contains(d.unseen, word) {
			list = append(list, word)
		}
	}
	return list
}

// look strikes out the words whose fields an object has.
func (d *mapped) look(o object) {
	if !d.looked {
		d.looked = true
		for word := range d.m.fields {
			d.unseen = append(d.unseen, word)
		}
	}
	d.unseen = slices.DeleteFunc(d.unseen, func(word string) bool { return o.get(d.m.fields[word]) != nil })
}

// conditions says which conditions no line has met, where none has met all.
func (d *mapped) conditions() string {
	var list []string
	for i, c := range d.m.where {
		switch {
		case !d.met[i].there:
			list = append(list, fmt.Sprintf("no line has %s", c.path))
		case !d.met[i].holds:
			list = append(list, fmt.Sprintf("%s has no value of those asked for", c.path))
		}
	}
	if len(list) == 0 {
		list = append(list, "no line meets all of where")
	}
	return d.m.name + ": " + strings.Join(list, ", ")
}

// unmapped says that a mapping names moments that no line has.
func (r *Reader) unmapped() error {
	m, ok := r.decoder.(*mapped)
	if !ok || r.good == 0 || !slices.Contains(m.missing(), "at") {
		return nil
	}
	return fmt.Errorf("%s: of %s none has %s, which %s names for at: expected the path of the moment of arrival, or no at where there is none",
		r.name, counted(r.good, "row"), m.m.fields["at"], m.m.name)
}
