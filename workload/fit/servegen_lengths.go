package fit

import (
	"cmp"
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
