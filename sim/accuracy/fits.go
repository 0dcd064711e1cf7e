package accuracy

import (
	"encoding/csv"
	"io"
	"strconv"

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
	if err := out.Write(head); err != nil {
		return err
	}
	for i := range fits {
		f := &fits[i]
		line := []string{f.GPU, f.Engine, f.Model, string(f.DType), f.Family, f.Kind, f.Left, string(f.KV), strconv.Itoa(f.Rows)}
		for _, k := range ks {
			line = append(line, strconv.FormatFloat(*k.at(&f.Efficiency), 'g', 4, 64))
		}
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
			Kind: t.text("kind"), Left: t.text("left"), KV: hardware.Precision(t.text("kv_dtype")), Rows: int(t.integer("rows")), Efficiency: catalog.Unfitted()}
		for _, k := range ks {
			*k.at(&f.Efficiency) = t.number(k.name)
		}
		if t.err != nil {
			break
		}
		fits = append(fits, f)
	}
	return fits, t.err
}
