package fit

import (
	"bufio"
	"cmp"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"slices"
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

// WindowFiles is Windows for files, plain or gzip, that open opens; lengths is
// "" where there are none. The report says what the model holds: there is no
// log to hold it against.
func WindowFiles(windows, lengths string, open func(name string) (io.ReadCloser, error)) (*traffic.Model, *Report, error) {
	w, err := unpacked(windows, open)
	if err != nil {
		return nil, nil, err
	}
	defer func() { _ = w.Close() }() // only read
	var l io.Reader
	if lengths != "" {
		f, err := unpacked(lengths, open)
		if err != nil {
			return nil, nil, err
		}
		defer func() { _ = f.Close() }() // only read
		l = f
	}
	m, err := Windows(windows, w, lengths, l)
	if err != nil {
		return nil, nil, err
	}
	return m, windowReport(m), nil
}

// packed is a file that is unpacked on the way.
type packed struct {
	io.Reader
	io.Closer
}

// unpacked opens a file and unpacks it where it begins as gzip does.
func unpacked(name string, open func(name string) (io.ReadCloser, error)) (io.ReadCloser, error) {
	f, err := open(name)
	if err != nil {
		return nil, err
	}
	b := bufio.NewReader(f)
	if magic, err := b.Peek(2); err != nil || magic[0] != 0x1f || magic[1] != 0x8b {
		return packed{b, f}, nil
	}
	z, err := gzip.NewReader(b)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", name, err), f.Close())
	}
	return packed{z, f}, nil
}

// windowReport is what client windows tell.
func windowReport(m *traffic.Model) *Report {
	r := &Report{Schema: ReportSchema, Format: m.Source.Format, Rows: m.Source.Rows, Span: m.Duration.Seconds(), Findings: m.Findings}
	total := 0.0
	for i := range m.Clients {
		c := &m.Clients[i]
		mean := 0.0
		for _, x := range c.Rate.Rate {
			mean += x / float64(len(c.Rate.Rate))
		}
		total += mean
		r.Clients = append(r.Clients, ClientReport{Name: c.Name, Members: 1, Rate: mean, Window: c.Rate.Window.Seconds(),
			Process: string(c.Arrival.Process), Why: "as the windows say"})
	}
	for i := range r.Clients {
		r.Clients[i].Share = r.Clients[i].Rate / total
	}
	slices.SortStableFunc(r.Clients, func(a, b ClientReport) int { return cmp.Compare(b.Rate, a.Rate) })
	return r
}
