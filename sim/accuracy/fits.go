package accuracy

import (
	"encoding/csv"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/tokamak-bench/tokamak/catalog"
	"github.com/tokamak-bench/tokamak/sim/hardware"
)

// WriteFits writes fits as CSV, a line each.
func WriteFits(w io.Writer, fits []Fitted) error {
	out := csv.NewWriter(w)
	ks := knobs(true, true)
	head := []string{"gpu", "engine", "model", "dtype", "family", "kind", "left", "kv_dtype", "rows"}
	for _, k := range ks {
		head = append(head, k.name)
	}
	head = append(head, "versions")
	if err := out.Write(head); err != nil {
		return err
	}
	for i := range fits {
		f := &fits[i]
		line := []string{f.GPU, f.Engine, f.Model, string(f.DType), f.Family, f.Kind, f.Left, string(f.KV), strconv.Itoa(f.Rows)}
		for _, k := range ks {
			line = append(line, strconv.FormatFloat(*k.at(&f.Efficiency), 'g', 4, 64))
		}
		line = append(line, versionsText(f.Versions))
		if err := out.Write(line); err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}

// ReadFits reads what WriteFits wrote.
func ReadFits(r io.Reader) ([]Fitted, error) {
	t, err := newTable(r)
	if err != nil {
		return nil, err
	}
	ks := knobs(true, true)
	var fits []Fitted
	for t.next() {
		f := Fitted{Set: Set{t.text("gpu"), t.text("engine"), t.text("model"), hardware.Precision(t.text("dtype"))}, Family: t.text("family"),
			Kind: t.text("kind"), Left: t.text("left"), KV: hardware.Precision(t.text("kv_dtype")), Rows: int(t.integer("rows")), Efficiency: Start(t.text("engine"))}
		for _, k := range ks {
			*k.at(&f.Efficiency) = t.number(k.name)
		}
		f.Versions = t.versions("versions")
		if t.err != nil {
			break
		}
		fits = append(fits, f)
	}
	return fits, t.err
}

// versionsText is versions as VERSION=PACE/ROWS, separated by spaces.
func versionsText(list []catalog.Version) string {
	var words []string
	for _, v := range list {
		words = append(words, fmt.Sprintf("%s=%g/%d", v.Name, v.Pace, v.Rows))
	}
	return strings.Join(words, " ")
}

// versions reads what versionsText wrote.
func (t *table) versions(column string) []catalog.Version {
	var list []catalog.Version
	for _, word := range strings.Fields(t.text(column)) {
		name, rest, _ := strings.Cut(word, "=")
		pace, rows, _ := strings.Cut(rest, "/")
		p, err1 := strconv.ParseFloat(pace, 64)
		n, err2 := strconv.Atoi(rows)
		if (err1 != nil || err2 != nil) && t.err == nil {
			t.err = t.wrong(column, "VERSION=PACE/ROWS")
		}
		list = append(list, catalog.Version{Name: name, Pace: p, Rows: n})
	}
	return list
}
