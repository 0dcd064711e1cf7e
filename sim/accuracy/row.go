package accuracy

import (
	"bufio"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"

	"github.com/tokamak-bench/tokamak/catalog"
	"github.com/tokamak-bench/tokamak/sim/hardware"
)

// Row is one measured point of a closed loop: a configuration, its load and what
// was measured. Measurements of one configuration are one row, their medians.
type Row struct {
	GPU         string // catalogue name
	Engine      string // vllm, sglang, trtllm
	Version     string // of the engine; empty: not stated
	Model       string // catalogue name
	DType       hardware.Precision
	TP          int64
	ISL, OSL    int64 // nominal tokens of prompt and answer
	Concurrency int64
	TTFT, TPOT  float64 // ms; 0: not measured
	Repeats     int     // measurements behind the row
	Spread      float64 // largest TPOT over smallest among the repeats
}

func (r *Row) key() string {
	return fmt.Sprintf("%s %s %s %s %s %d %d %d %d", r.GPU, r.Engine, r.Version, r.Model, r.DType, r.TP, r.ISL, r.OSL, r.Concurrency)
}

// unversioned is the key without the version of the engine: the folds hold one
// configuration together, whatever versions it was measured with.
func (r *Row) unversioned() string {
	u := *r
	u.Version = ""
	return u.key()
}

// config is the key without the load: rows of one configuration.
func (r *Row) config() string {
	return fmt.Sprintf("%s %s %s %s %s %d %d %d", r.GPU, r.Engine, r.Version, r.Model, r.DType, r.TP, r.ISL, r.OSL)
}

// Regime is a row's length regime: prompt and answer.
func (r *Row) Regime() string { return fmt.Sprintf("%d/%d", r.ISL, r.OSL) }

// Setup returns the model on its devices, or an error where the catalogue does
// not know one of them.
func (r *Row) Setup() (hardware.Setup, error) {
	m, err := catalog.FindModel(r.Model)
	if err != nil {
		return hardware.Setup{}, err
	}
	g, err := catalog.FindAccelerator(r.GPU)
	if err != nil {
		return hardware.Setup{}, err
	}
	return hardware.Setup{Model: m, GPU: g, TP: max(r.TP, 1), Weights: r.DType, KV: hardware.BF16}, nil
}

// Set names the rows that share a preset.
type Set struct {
	GPU, Engine, Model string
	DType              hardware.Precision
}

// String names the set.
func (s Set) String() string {
	return fmt.Sprintf("%s %s %s %s", s.GPU, s.Engine, s.Model, s.DType)
}

// Set is the set a row belongs to.
func (r *Row) Set() Set { return Set{r.GPU, r.Engine, r.Model, r.DType} }

// Family is dense or moe.
func (s Set) Family() string {
	m, err := catalog.FindModel(s.Model)
	if err != nil {
		return ""
	}
	return m.Family()
}

var header = []string{"gpu", "engine", "version", "model", "dtype", "tp", "isl", "osl", "concurrency", "ttft_ms", "tpot_ms", "repeats", "spread"}

// WriteRows writes rows as CSV.
func WriteRows(w io.Writer, rows []Row) error {
	out := csv.NewWriter(w)
	if err := out.Write(header); err != nil {
		return err
	}
	number := func(v float64) string { return strconv.FormatFloat(v, 'g', 5, 64) }
	for _, r := range rows {
		if err := out.Write([]string{r.GPU, r.Engine, r.Version, r.Model, string(r.DType), strconv.FormatInt(r.TP, 10), strconv.FormatInt(r.ISL, 10),
			strconv.FormatInt(r.OSL, 10), strconv.FormatInt(r.Concurrency, 10), number(r.TTFT), number(r.TPOT), strconv.Itoa(r.Repeats), number(r.Spread)}); err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}

// table reads a CSV file with a header; its get returns a column of the current line.
type table struct {
	csv     *csv.Reader
	columns []string
	line    []string
	err     error
}

func newTable(r io.Reader) (*table, error) {
	t := &table{csv: csv.NewReader(bufio.NewReader(r))}
	t.csv.ReuseRecord = true
	head, err := t.csv.Read()
	if err != nil {
		return nil, fmt.Errorf("line 1: no header: %w", err)
	}
	t.columns = slices.Clone(head)
	return t, nil
}

func (t *table) next() bool {
	t.line, t.err = t.csv.Read()
	if errors.Is(t.err, io.EOF) {
		t.err = nil
		return false
	}
	var p *csv.ParseError
	switch {
	case errors.As(t.err, &p) && errors.Is(p.Err, csv.ErrFieldCount):
		t.err = fmt.Errorf("line %d: %d columns: expected %d, as in the header", p.Line, len(t.line), len(t.columns))
	case errors.As(t.err, &p):
		t.err = fmt.Errorf("line %d: column %d: %w: expected CSV", p.Line, p.Column, p.Err)
	}
	return t.err == nil
}

func (t *table) has(name string) bool { return slices.Contains(t.columns, name) }

func (t *table) text(name string) string {
	if i := slices.Index(t.columns, name); i >= 0 && i < len(t.line) {
		return t.line[i]
	}
	return ""
}

func (t *table) wrong(name, want string) error {
	line, _ := t.csv.FieldPos(0)
	return fmt.Errorf("line %d: column %s is %q: expected %s", line, name, t.text(name), want)
}

// integer returns a column; empty is 0.
func (t *table) integer(name string) int64 {
	s := t.text(name)
	if s == "" || t.err != nil {
		return 0
	}
	v, err := strconv.ParseInt(s, 10, 64)
	if err != nil || v < 0 || v > 1<<40 {
		t.err = t.wrong(name, "a whole number")
	}
	return v
}

// number returns a column; empty is 0.
func (t *table) number(name string) float64 {
	s := t.text(name)
	if s == "" || t.err != nil {
		return 0
	}
	v, err := strconv.ParseFloat(s, 64)
	if err != nil || !(v >= 0 && v < 1e15) {
		t.err = t.wrong(name, "a number from 0")
	}
	return v
}

// ReadTable reads a table of one's own: the columns isl, osl, concurrency and
// tpot_ms, and where they are there ttft_ms, tp and dtype.
func ReadTable(r io.Reader) ([]Row, error) {
	t, err := newTable(r)
	if err != nil {
		return nil, err
	}
	for _, name := range []string{"isl", "osl", "concurrency", "tpot_ms"} {
		if !t.has(name) {
			return nil, fmt.Errorf("line 1: no column %s: expected isl, osl, concurrency, tpot_ms, and where known ttft_ms, tp, dtype", name)
		}
	}
	var rows []Row
	for t.next() {
		row := Row{TP: t.integer("tp"), DType: hardware.Precision(t.text("dtype")), ISL: t.integer("isl"), OSL: t.integer("osl"),
			Concurrency: t.integer("concurrency"), TTFT: t.number("ttft_ms"), TPOT: t.number("tpot_ms")}
		for name, v := range map[string]int64{"isl": row.ISL, "osl": row.OSL, "concurrency": row.Concurrency} {
			if t.err == nil && (v < 1 || v > 1<<20) {
				t.err = t.wrong(name, "a number from 1 to 1048576")
			}
		}
		if t.err == nil && row.TPOT <= 0 {
			t.err = t.wrong("tpot_ms", "a number above 0")
		}
		if t.err != nil {
			break
		}
		rows = append(rows, row)
	}
	return rows, t.err
}

// ReadRows reads what WriteRows wrote.
func ReadRows(r io.Reader) ([]Row, error) {
	t, err := newTable(r)
	if err != nil {
		return nil, err
	}
	var rows []Row
	for t.next() {
		rows = append(rows, Row{GPU: t.text("gpu"), Engine: t.text("engine"), Version: t.text("version"), Model: t.text("model"),
			DType: hardware.Precision(t.text("dtype")), TP: t.integer("tp"), ISL: t.integer("isl"), OSL: t.integer("osl"), Concurrency: t.integer("concurrency"),
			TTFT: t.number("ttft_ms"), TPOT: t.number("tpot_ms"), Repeats: int(t.integer("repeats")), Spread: t.number("spread")})
		if t.err != nil {
			break
		}
	}
	return rows, t.err
}

// order sorts rows by configuration, then load.
func order(r *Row) string {
	return fmt.Sprintf("%s %s %s %s %s %02d %06d %06d %06d", r.GPU, r.Engine, r.Model, r.DType, r.Version, r.TP, r.ISL, r.OSL, r.Concurrency)
}
