package accuracy

import (
	"fmt"
)

// The limits beyond which a row is scored apart. They look at the measurements
// alone, never at a prediction.
const (
	maxTTFT   = 10_000 // ms: the stated load did not run as stated
	maxSpread = 1.25   // largest over smallest TPOT of repeats of one configuration
	minRise   = 0.85   // TPOT over that of the same configuration under less load
	maxPeak   = 0.55   // share of the dense compute peak over the whole run
)

// apart tells for each row why it contradicts itself or another one; empty: it
// does not.
func apart(rows []Row) []string {
	why := make([]string, len(rows))
	configs := map[string][]int{}
	for i := range rows {
		r := &rows[i]
		configs[r.config()] = append(configs[r.config()], i)
		switch used := impliedPeak(r); {
		case r.TTFT > maxTTFT:
			why[i] = fmt.Sprintf("TTFT of %.0f s", r.TTFT/1e3)
		case r.Spread > maxSpread:
			why[i] = fmt.Sprintf("%d measurements differ by a factor of %.2f", r.Repeats, r.Spread)
		case used > maxPeak:
			why[i] = fmt.Sprintf("its times imply %.0f %% of the compute peak", used*100)
		}
	}
	for _, list := range configs {
		for _, i := range list {
			for _, j := range list {
				a, b := &rows[i], &rows[j]
				if a.Concurrency < b.Concurrency && b.TPOT < minRise*a.TPOT && why[i] == "" && why[j] == "" {
					why[i] = fmt.Sprintf("slower than under a load of %d", b.Concurrency)
					why[j] = fmt.Sprintf("faster than under a load of %d", a.Concurrency)
				}
			}
		}
	}
	return why
}

// impliedPeak is the share of the dense compute peak that a row's own times
// imply: the arithmetic of all clients' prompts and answers over one round.
func impliedPeak(r *Row) float64 {
	s, err := r.Setup()
	if err != nil {
		return 0
	}
	isl, osl := float64(r.ISL), float64(r.OSL)
	if r.ragged() {
		isl, osl = 0.9*isl, 0.9*osl
	}
	if l := r.loop(); l.Unique > 0 && l.Unique < l.Requests {
		isl *= float64(l.Unique) / float64(l.Requests) // the rest is cached
	}
	m, w := &s.Model, s.Model.Weights()
	flop := 2*float64(w.Layers+w.Active)*(isl+osl)/s.Peak() + 2*float64(m.Layers*m.Heads*m.HeadDim)*isl*isl/(s.GPU.BF16*1e12)
	round := (r.TTFT + (osl-1)*r.TPOT) / 1e3
	return float64(r.Concurrency) * flop / float64(s.TP) / round
}
