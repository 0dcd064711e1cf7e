package report

import (
	"fmt"
	"math"
	"strings"

	"github.com/tokamak-bench/tokamak/measure"
)

// columns are the statistics of the latency table.
var columns = []string{"p50", "p90", "p95", "p99", "max"}

// cellWidth is the width of a column of the table.
const cellWidth = 11

// row is one line of the latency table.
type row struct {
	name   string
	metric measure.Metric
}

// latency writes the table of latencies. Its title says of which requests it
// is made; where some failed, each row has beside it the one in which they
// count as infinite.
func (p *page) latency() {
	rows := p.latencyRows()
	p.blank()
	switch {
	case p.s.Requests.OK == 0 && p.s.Requests.Failed == 0 && p.s.Requests.Cut > 0:
		p.line("latency", fmt.Sprintf("no request ended: the %s that we cut are left out", count(p.s.Requests.Cut)))
		return
	case len(rows) == 0:
		p.line("latency", "no request brought a token: there is nothing to show")
		return
	case p.s.Requests.OK == 0:
		p.painted("latency", red, "not one request succeeded: with failures counted as inf, every percentile is inf", "")
		return
	}
	title, colour := p.latencyTitle()
	p.painted("latency", colour, title, "")
	fmt.Fprintf(&p.b, "%-*s", labelWidth, "")
	for _, c := range columns {
		fmt.Fprintf(&p.b, "%*s", cellWidth, c)
	}
	fmt.Fprintf(&p.b, "%*s\n", cellWidth, "count")
	for _, r := range rows {
		fmt.Fprintf(&p.b, "%-*s", labelWidth, r.name)
		for _, c := range columns {
			v, _ := r.metric.Stat(c)
			p.b.WriteString(p.cell(v, r.metric.Unit))
		}
		fmt.Fprintf(&p.b, "%*s\n", cellWidth, count(r.metric.Count))
	}
}

func (p *page) cell(v measure.Value, unit string) string {
	text := figure(v, unit)
	padding := strings.Repeat(" ", max(cellWidth-len([]rune(text)), 1))
	if x, _ := v.Get(); math.IsInf(x, 0) {
		text = p.paint(red, text)
	}
	return padding + text
}

// latencyTitle says which share of the requests the plain rows stand for.
func (p *page) latencyTitle() (title, colour string) {
	r := &p.s.Requests
	switch over := p.overs(); {
	case over == 0 && r.Cut > 0:
		return fmt.Sprintf("of %s requests that succeeded; the %s cut by us are left out", count(r.OK), count(r.Cut)), ""
	case over == 0:
		return "of all " + count(r.OK) + " requests that ended", ""
	case over > r.OK:
		return fmt.Sprintf("ONLY of %s requests that succeeded; error rate %s; _adj counts failures as inf",
			count(r.OK), p.errorRate()), red
	default:
		return fmt.Sprintf("of %s requests that succeeded; error rate %s; _adj counts failures as inf", count(r.OK), p.errorRate()), ""
	}
}

func (p *page) latencyRows() []row {
	var rows []row
	for _, name := range []string{"ttft", "itl", "tpot", "e2e"} {
		m, ok := p.s.Metrics[name]
		if !ok || m.Count == 0 && p.s.Metrics[name+measure.Adj].Count == 0 {
			continue
		}
		rows = append(rows, row{name, m})
		for _, variant := range []string{name + "_send", name + "_answer"} {
			if v, ok := p.s.Metrics[variant]; ok && differs(m, v) {
				rows = append(rows, row{variant, v})
			}
		}
		if adj := p.s.Metrics[name+measure.Adj]; p.overs() > 0 && adj.Count > 0 {
			rows = append(rows, row{name + measure.Adj, adj})
		}
	}
	return rows
}

// differs tells whether a variant of a metric says something else to the
// reader: by a tenth and a millisecond in any column.
func differs(a, b measure.Metric) bool {
	if b.Count == 0 {
		return false
	}
	for _, c := range columns {
		x, okX := a.Stat(c)
		y, okY := b.Stat(c)
		u, v := x.Or(0), y.Or(0)
		if okX && okY && x.Valid() && y.Valid() && math.Abs(u-v) > max(1, 0.1*math.Abs(u)) {
			return true
		}
	}
	return false
}
