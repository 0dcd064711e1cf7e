package fit

import (
	"cmp"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tokamak-bench/tokamak/stat"
	"github.com/tokamak-bench/tokamak/workload/traffic"
)

// ServeGenFormat is how a model learnt from client windows names its source.
const ServeGenFormat = "servegen-windows"

// windowRow is a client's window of a ServeGen table.
type windowRow struct {
	client, start int64
	rate, cv      float64
	weibull       bool
}

// TableError is what is wrong with a table: its line and column from 1.
type TableError struct {
	Name         string
	Line, Column int
	Expected     string
}

// Error names file, line, column and what was expected there.
func (e *TableError) Error() string {
	return fmt.Sprintf("%s:%d:%d: expected %s", e.Name, e.Line, e.Column, e.Expected)
}

// table reads the columns of a CSV by their names.
type csvTable struct {
	name   string
	reader *csv.Reader
	column map[string]int
	row    []string
	line   int
}

func openTable(name string, r io.Reader, columns ...string) (*csvTable, error) {
	t := &csvTable{name: name, reader: csv.NewReader(r), column: map[string]int{}}
	t.reader.ReuseRecord = true
	if err := t.next(); err != nil {
		if errors.Is(err, io.EOF) {
			err = &TableError{name, 1, 1, "the columns " + strings.Join(columns, ", ") + ", found nothing"}
		}
		return nil, err
	}
	for i, c := range t.row {
		t.column[strings.TrimSpace(c)] = i
	}
	for _, c := range columns {
		if _, ok := t.column[c]; !ok {
			return nil, &TableError{name, 1, 1, "the columns " + strings.Join(columns, ", ") + ": there is no " + c}
		}
	}
	return t, nil
}

// next reads a row; io.EOF after the last.
func (t *csvTable) next() error {
	row, err := t.reader.Read()
	var bad *csv.ParseError
	switch {
	case errors.As(err, &bad):
		return &TableError{t.name, bad.Line, max(bad.Column, 1), "a row of comma-separated values"}
	case err != nil:
		return err
	}
	t.row = row
	t.line, _ = t.reader.FieldPos(0)
	return nil
}

// number reads a column of the row, from low to high.
func (t *csvTable) number(column string, low, high float64) (float64, error) {
	i := t.column[column]
	x, err := strconv.ParseFloat(t.row[i], 64)
	if err != nil || !(x >= low && x <= high) {
		_, at := t.reader.FieldPos(i)
		return 0, &TableError{t.name, t.line, at, fmt.Sprintf("%s to be a number from %g to %g", column, low, high)}
	}
	return x, nil
}

// Windows reads ServeGen's table of client windows (client, window_start_s,
// rate_rps, cv, pattern) into a model: each client's rate and coefficient of
// variation window by window, as they stand. lengths is its table of length
// quantiles, plain; nil: lengths are made up. names are for messages.
func Windows(name string, windows io.Reader, lengthsName string, lengths io.Reader) (*traffic.Model, error) {
	rows, err := readWindows(name, windows)
	if err != nil {
		return nil, err
	}
	width := windowWidth(rows)
	end := int64(0)
	for _, r := range rows {
		end = max(end, r.start+width)
	}
	first := rows[0].start
	for _, r := range rows {
		first = min(first, r.start)
	}
	wild := 0
	for i := range rows {
		if rows[i].cv > mostCV {
			rows[i].cv = mostCV
			wild++
		}
	}
	m := &traffic.Model{Source: traffic.Source{Format: ServeGenFormat, Rows: int64(len(rows))}, Duration: time.Duration(end-first) * time.Second}
	for from := 0; from < len(rows); {
		to := from
		for to < len(rows) && rows[to].client == rows[from].client {
			to++
		}
		m.Clients = append(m.Clients, windowClient(rows[from:to], first, width, int((end-first)/width)))
		from = to
	}
	if wild > 0 {
		m.Findings = append(m.Findings, fmt.Sprintf("%d windows have a coefficient of variation above %d, which they are given", wild, mostCV))
	}
	if lengths == nil {
		m.Findings = append(m.Findings, fmt.Sprintf("client windows tell no lengths: %d tokens in and %d out are made up", madeUpInput, madeUpOutput))
	} else if err := readLengths(m, rows, first, lengthsName, lengths); err != nil {
		return nil, err
	}
	return m, m.Check()
}

const (
	mostCV           = 100 // that a model can have
	mostClientNumber = 1e9
	mostSeconds      = 10 * 365 * 24 * 3600
)

func readWindows(name string, r io.Reader) ([]windowRow, error) {
	t, err := openTable(name, r, "client", "window_start_s", "rate_rps", "cv", "pattern")
	if err != nil {
		return nil, err
	}
	var rows []windowRow
	for {
		err := t.next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		row, err := t.window()
		if err != nil {
			return nil, err
		}
		rows = append(rows, row)
	}
	if len(rows) == 0 {
		return nil, &TableError{name, 2, 1, "a client's window, found none"}
	}
	slices.SortStableFunc(rows, func(a, b windowRow) int {
		return cmp.Or(cmp.Compare(a.client, b.client), cmp.Compare(a.start, b.start))
	})
	return rows, nil
}

// window reads a row.
func (t *csvTable) window() (w windowRow, err error) {
	var client, start float64
	for _, c := range []struct {
		name      string
		to        *float64
		low, high float64
	}{{"client", &client, 0, mostClientNumber}, {"window_start_s", &start, 0, mostSeconds}, {"rate_rps", &w.rate, 0, 1e6}, {"cv", &w.cv, 0, 1e6}} {
		if *c.to, err = t.number(c.name, c.low, c.high); err != nil {
			return w, err
		}
	}
	w.client, w.start = int64(client), int64(start)
	switch i := t.column["pattern"]; t.row[i] {
	case "Weibull":
		w.weibull = true
	case "Gamma", "":
	default:
		_, at := t.reader.FieldPos(i)
		return w, &TableError{t.name, t.line, at, "pattern to be Gamma or Weibull"}
	}
	return w, nil
}

// windowWidth is the step that all windows start on.
func windowWidth(rows []windowRow) int64 {
	width := int64(0)
	for i := 1; i < len(rows); i++ {
		if rows[i].client == rows[i-1].client {
			width = divisor(width, rows[i].start-rows[i-1].start)
		}
	}
	if width == 0 {
		width = 600
	}
	return width
}

// windowClient makes a client of its windows. A client has one process: the
// one that carries more of its requests, with the CV of each window.
func windowClient(rows []windowRow, first, width int64, n int) traffic.Client {
	rate, cv := make([]float64, n), make([]float64, n)
	gamma, weibull := 0.0, 0.0
	for i := range cv {
		cv[i] = 1
	}
	for _, r := range rows {
		i := (r.start - first) / width
		rate[i], cv[i] = r.rate, max(r.cv, 0.01)
		if r.weibull {
			weibull += r.rate
		} else {
			gamma += r.rate
		}
	}
	process := traffic.Gamma
	if weibull > gamma {
		process = traffic.Weibull
	}
	c := traffic.Client{Name: fmt.Sprintf("client-%d", rows[0].client+1), Rate: traffic.Curve{Window: time.Duration(width) * time.Second, Rate: rate},
		Arrival: traffic.Arrival{Process: process, CV: cv},
		Lengths: []traffic.Lengths{{Input: stat.Constant(madeUpInput), Output: stat.Constant(madeUpOutput)}}}
	if n == 1 {
		c.Rate.Window = 0
	}
	return c
}

// lengthRow is one field's quantiles in a client's window.
type lengthRow struct {
	client, start int64
	field         string
	quantiles     stat.Quantiles
}

// readLengths gives the model's clients the lengths of a ServeGen table of
// quantiles (client, window_start_s, field, q0.001 … q1); a client that is not
// in it gets those of the first one that is.
func readLengths(m *traffic.Model, rows []windowRow, first int64, name string, r io.Reader) error {
	t, err := openTable(name, r, "client", "window_start_s", "field", "q1")
	if err != nil {
		return err
	}
	shares, err := t.shares()
	if err != nil {
		return err
	}
	byClient := map[int64][]lengthRow{}
	var order []int64
	for {
		err := t.next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		row, err := t.lengths(shares)
		if err != nil {
			return err
		}
		if _, ok := byClient[row.client]; !ok {
			order = append(order, row.client)
		}
		byClient[row.client] = append(byClient[row.client], row)
	}
	if len(order) == 0 {
		return &TableError{name, 2, 1, "a client's quantiles, found none"}
	}
	missing := 0
	for i, id := range clientNumbers(rows) {
		list, ok := byClient[id]
		if !ok {
			missing++
			list = byClient[order[0]]
		}
		setLengths(&m.Clients[i], list, first)
	}
	if missing > 0 {
		m.Findings = append(m.Findings, fmt.Sprintf("the table of lengths lacks %d of %d clients: they get those of its first", missing, len(m.Clients)))
	}
	return nil
}

func clientNumbers(rows []windowRow) []int64 {
	var out []int64
	for i, r := range rows {
		if i == 0 || r.client != rows[i-1].client {
			out = append(out, r.client)
		}
	}
	return out
}

// share of a column q0.5, and its name.
type shareColumn struct {
	name  string
	share float64
}

// shares are the columns of quantiles, in their order.
func (t *csvTable) shares() ([]shareColumn, error) {
	var list []shareColumn
	for name := range t.column {
		if p, err := strconv.ParseFloat(strings.TrimPrefix(name, "q"), 64); err == nil && name[0] == 'q' && p > 0 && p <= 1 {
			list = append(list, shareColumn{name, p})
		}
	}
	slices.SortFunc(list, func(a, b shareColumn) int { return cmp.Compare(a.share, b.share) })
	if len(list) < 2 {
		return nil, &TableError{t.name, 1, 1, "columns of quantiles such as q0.5"}
	}
	return list, nil
}

func (t *csvTable) lengths(shares []shareColumn) (row lengthRow, err error) {
	client, err := t.number("client", 0, mostClientNumber)
	if err != nil {
		return row, err
	}
	start, err := t.number("window_start_s", 0, mostSeconds)
	if err != nil {
		return row, err
	}
	row = lengthRow{client: int64(client), start: int64(start), field: t.row[t.column["field"]]}
	before := 0.0
	for i, c := range shares {
		v, err := t.number(c.name, 0, 1e9)
		if err != nil {
			return row, err
		}
		if i == 0 {
			row.quantiles = stat.Quantiles{Share: []float64{0}, Value: []float64{v}}
			before = v
		}
		before = max(before, v)
		row.quantiles.Share, row.quantiles.Value = append(row.quantiles.Share, c.share), append(row.quantiles.Value, before)
	}
	return row, nil
}

// setLengths sets a client's lengths window by window.
func setLengths(c *traffic.Client, list []lengthRow, first int64) {
	byStart := map[int64]*traffic.Lengths{}
	var starts []int64
	for _, row := range list {
		if row.field == "reason_ratio" {
			c.Reasoning = row.quantiles
			continue
		}
		if row.field == "image_count" {
			c.Images = row.quantiles
			continue
		}
		l := byStart[row.start]
		if l == nil {
			l = &traffic.Lengths{From: time.Duration(max(row.start-first, 0)) * time.Second}
			byStart[row.start] = l
			starts = append(starts, row.start)
		}
		switch row.field {
		case "input_tokens", "text_tokens":
			l.Input = row.quantiles
		case "output_tokens":
			l.Output = row.quantiles
		}
	}
	slices.Sort(starts)
	var out []traffic.Lengths
	for _, s := range starts {
		l := *byStart[s]
		if l.Input == nil || l.Output == nil {
			continue
		}
		if len(out) == 0 {
			l.From = 0
		}
		if n := len(out); n > 0 && out[n-1].From == l.From {
			continue
		}
		out = append(out, l)
	}
	if len(out) > 0 {
		c.Lengths = out
	}
}
