package traffic

import (
	"github.com/goccy/go-yaml/ast"
)

// model reads the top of the file.
func (d *decoder) model(n ast.Node) *Model {
	m := &Model{}
	f := d.mapping(n, "", "a traffic model", "schema", "source", "duration", "text", "findings", "clients")
	if f == nil {
		return m
	}
	switch s := d.text(f, "schema", Schema); {
	case f["schema"] == nil:
		d.fail(d.placeOf(""), "expected schema: %s", Schema)
	case s != Schema:
		d.fail(d.placeOf("schema"), "expected schema %s, got %s", Schema, got(f["schema"]))
	}
	if s := f["source"]; s != nil {
		g := d.mapping(s, "source", "source", "format", "rows", "skipped", "begin")
		m.Source.Format = d.text(g, "format", "the name of a format")
		m.Source.Rows = d.whole(g, "rows", "a number of rows")
		m.Source.Skipped = d.whole(g, "skipped", "a number of rows")
		m.Source.Begin = d.moment(g, "begin")
	}
	m.Duration = d.duration(f, "duration")
	m.Text = d.text(f, "text", "the name of a file of words")
	if n := f["findings"]; n != nil {
		d.list(n, "findings", "sentences", func(item ast.Node, _ string) {
			s, _, ok := scalar(item)
			if !ok {
				d.fail(at(item), "expected a sentence, got %s", got(item))
			}
			m.Findings = append(m.Findings, s)
		})
	}
	if n := f["clients"]; n != nil {
		d.list(n, "clients", "clients", func(item ast.Node, path string) { m.Clients = append(m.Clients, d.client(item, path)) })
	}
	return m
}

func (d *decoder) client(n ast.Node, path string) Client {
	f := d.mapping(n, path, "a client", "name", "window", "rate", "arrival", "cv", "markov", "lengths", "sessions", "prefix",
		"reasoning", "images", "output-limit", "errors")
	c := Client{Name: d.text(f, "name", "the name of a client")}
	c.Rate.Window = d.duration(f, "window")
	if r := f["rate"]; r != nil {
		c.Rate.Rate = d.numbers(r, path+".rate", "sessions begun a second")
	}
	c.Arrival.Process = oneOf(d, f, "arrival", Poisson, Constant, Poisson, Gamma, Weibull, MarkovGaps)
	if v := f["cv"]; v != nil {
		c.Arrival.CV = d.numbers(v, path+".cv", "a coefficient of variation of gaps")
	}
	if k := f["markov"]; k != nil {
		c.Arrival.Markov = d.markov(k, path+".markov")
	}
	if l := f["lengths"]; l != nil {
		c.Lengths = d.lengths(l, path+".lengths")
	}
	if s := f["sessions"]; s != nil {
		g := d.mapping(s, path+".sessions", "sessions", "turns", "goes-on-first", "goes-on", "think", "input-tokens", "input-alike", "output-alike", "jump")
		c.Sessions = &Sessions{Turns: d.distribution(g, "turns", false), Think: d.distribution(g, "think", true),
			Input: d.distribution(g, "input-tokens", false), Jump: d.number(g, "jump", "a chance from 0 to 1"),
			InputAlike: d.number(g, "input-alike", "a correlation"), OutputAlike: d.number(g, "output-alike", "a correlation")}
		c.Sessions.GoesOnFirst = d.odds(g, path+".sessions", "goes-on-first")
		c.Sessions.GoesOn = d.odds(g, path+".sessions", "goes-on")
	}
	if p := f["prefix"]; p != nil {
		g := d.mapping(p, path+".prefix", "prefix", "share", "top", "count", "exponent", "tokens")
		c.Prefix = &Prefix{Share: d.number(g, "share", "a share from 0 to 1"), Count: d.whole(g, "count", "a number of prefixes"),
			Exponent: d.number(g, "exponent", "an exponent from 0 on"), Tokens: d.distribution(g, "tokens", false)}
		if t := g["top"]; t != nil {
			d.list(t, path+".prefix.top", "prefixes", func(item ast.Node, path string) {
				h := d.mapping(item, path, "a prefix", "share", "tokens")
				c.Prefix.Top = append(c.Prefix.Top, Front{Share: d.number(h, "share", "a share from 0 to 1"), Tokens: d.whole(h, "tokens", "a length in tokens")})
			})
		}
	}
	c.Reasoning = d.distribution(f, "reasoning", false)
	c.Images = d.distribution(f, "images", false)
	c.Limit = d.distribution(f, "output-limit", false)
	c.Errors = d.number(f, "errors", "a share from 0 to 1")
	return c
}

func (d *decoder) odds(f fields, path, key string) (odds []float64) {
	if n := f[key]; n != nil {
		odds = []float64{}
		d.list(n, path+"."+key, "relative odds", func(item ast.Node, _ string) { odds = append(odds, d.value(item, "relative odds")) })
	}
	return odds
}

func (d *decoder) markov(n ast.Node, path string) *Markov {
	f := d.mapping(n, path, "markov", "gaps", "next")
	k := &Markov{}
	if g := f["gaps"]; g != nil {
		d.list(g, path+".gaps", "distributions", func(item ast.Node, _ string) { k.Gaps = append(k.Gaps, d.distributionOf(item, false)) })
	}
	if t := f["next"]; t != nil {
		k.Next = d.table(t, path+".next")
	}
	return k
}

// lengths reads one entry of lengths, or a list of such.
func (d *decoder) lengths(n ast.Node, path string) []Lengths {
	if _, ok := n.(*ast.SequenceNode); !ok {
		return []Lengths{d.lengthsOf(n, path)}
	}
	var list []Lengths
	d.list(n, path, "lengths", func(item ast.Node, path string) { list = append(list, d.lengthsOf(item, path)) })
	return list
}

func (d *decoder) lengthsOf(n ast.Node, path string) Lengths {
	f := d.mapping(n, path, "lengths", "from", "input-tokens", "output-tokens", "ranks")
	l := Lengths{From: d.duration(f, "from"), Input: d.distribution(f, "input-tokens", false), Output: d.distribution(f, "output-tokens", false)}
	if r := f["ranks"]; r != nil {
		l.Ranks = d.table(r, path+".ranks")
	}
	return l
}

// table reads a list of rows of numbers.
func (d *decoder) table(n ast.Node, path string) [][]float64 {
	rows := [][]float64{}
	d.list(n, path, "rows of chances", func(item ast.Node, path string) {
		var row []float64
		d.list(item, path, "chances", func(x ast.Node, _ string) { row = append(row, d.value(x, "a chance from 0 to 1")) })
		rows = append(rows, row)
	})
	return rows
}
