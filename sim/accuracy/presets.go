package accuracy

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml"

	"github.com/tokamak-bench/tokamak/catalog"
)

// Presets makes the catalogue's presets of fits and of what they are worth.
func (st *Study) Presets(rows []Row) []catalog.Preset {
	var out []catalog.Preset
	for _, r := range st.Sets {
		p := catalog.Preset{GPU: r.GPU, Engine: r.Engine, Model: r.Model, DType: string(r.DType), KVDType: string(r.KV), Efficiency: r.Efficiency,
			Rows: r.Rows, Versions: r.Versions, HeldOut: published(r.HeldOut), InSample: published(r.InSample)}
		p.Efficiency.Fitted = fmt.Sprintf("%d closed-loop rows of aiconfigurator's silicon sample (%s); TPOT error on rows not fitted %.1f %%, median %.1f %%",
			r.Rows, r.coverage(rows), r.HeldOut.MAPE, r.HeldOut.Median)
		out = append(out, p)
	}
	for _, r := range st.Pools {
		p := catalog.Preset{GPU: r.GPU, Engine: r.Engine, Family: r.Family, KVDType: string(r.KV), Efficiency: r.Efficiency, Rows: r.Rows, InSample: published(r.InSample)}
		other := "nothing else to hold it against"
		if r.Models.Rows > 0 {
			p.HeldOut = published(r.Models)
			other = fmt.Sprintf("TPOT error on a model not fitted %.1f %%", r.Models.MAPE)
		}
		p.Efficiency.Fitted = fmt.Sprintf("%d closed-loop rows of aiconfigurator's silicon sample, of other models or precisions (%s); %s", r.Rows, r.coverage(rows), other)
		out = append(out, p)
	}
	return out
}

func published(s Score) *catalog.Error {
	return &catalog.Error{Rows: s.Rows, MAPE: round(s.MAPE), Median: round(s.Median), TTFT: round(s.TTFT)}
}

func round(v float64) float64 {
	v, _ = strconv.ParseFloat(strconv.FormatFloat(v, 'f', 2, 64), 64)
	return v
}

// coverage tells which models, versions and degrees of tensor parallelism a fit saw.
func (r *Result) coverage(rows []Row) string {
	var models, versions, tps []string
	note := func(to *[]string, v string) {
		if !slices.Contains(*to, v) {
			*to = append(*to, v)
		}
	}
	for i := range rows {
		q := &rows[i]
		if q.GPU != r.GPU || q.Engine != r.Engine || r.Model != "" && q.Set() != r.Set || r.Model == "" && q.Set().Family() != r.Family {
			continue
		}
		v := q.Version
		if v == "" {
			v = "version not stated"
		}
		note(&models, q.Model+" "+string(q.DType))
		note(&versions, v)
		note(&tps, strconv.FormatInt(q.TP, 10))
	}
	slices.Sort(tps)
	return fmt.Sprintf("%s; %s %s; TP %s", strings.Join(models, ", "), r.Engine, strings.Join(versions, ", "), strings.Join(tps, ", "))
}

// WritePresets writes presets as the catalogue's file.
func WritePresets(w io.Writer, list []catalog.Preset) error {
	b, err := yaml.Marshal(list)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, "# Made by go test ./sim/accuracy -run Refit -refit; do not edit.\n%s", b)
	return err
}
