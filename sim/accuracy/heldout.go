package accuracy

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/tokamak-bench/tokamak/catalog"
	"github.com/tokamak-bench/tokamak/sim/hardware"
)

// What sets a measurement apart from those that its preset was fitted on: the
// nearest first.
const (
	ofConfiguration = "configuration"   // GPU, engine, model, precision, TP and lengths were each fitted, not together under this load
	ofTP            = "TP"              // no row of the fit had this degree of tensor parallelism
	ofLengths       = "lengths"         // none had these lengths
	ofModel         = "model"           // the preset is of other models or precisions
	ofEngine        = "engine"          // the preset is of another engine
	ofDevice        = "no preset"       // no end-to-end measurement at all
	ofVersion       = "version"         // the very configuration and load were fitted, measured with another version of the engine
	ofAll           = "all not fitted"  // the above together
	isFitted        = "nothing: fitted" // the very configuration, lengths and load were fitted
	isApart         = "contradicts itself"
)

// Fresh is a measurement with what was predicted of it.
type Fresh struct {
	Line        int      `json:"line"`
	What        string   `json:"what"`
	GPU         string   `json:"gpu"`
	Engine      string   `json:"engine"`
	Family      string   `json:"family,omitempty"`  // dense or moe; empty: model unknown
	Differs     string   `json:"differs,omitempty"` // from what its preset was fitted on; empty: not predicted
	Why         string   `json:"why,omitempty"`     // it lies apart, or was not predicted
	TPOT        float64  `json:"tpot_ms,omitempty"` // measured
	Predicted   float64  `json:"predicted_tpot_ms,omitempty"`
	Error       float64  `json:"tpot_error_percent"`                 // of the measured, signed
	TTFTError   *float64 `json:"ttft_error_percent,omitempty"`       // null: not measured
	OutputError *float64 `json:"throughput_error_percent,omitempty"` // null: not measured
}

// Group is the score of measurements of one GPU, engine and family that differ
// from the fit in the same way.
type Group struct {
	GPU        string   `json:"gpu"`
	Engine     string   `json:"engine"`
	Family     string   `json:"family"`
	Differs    string   `json:"differs"`
	Rows       int      `json:"rows"`
	MAPE       float64  `json:"tpot_mape_percent"`
	Median     float64  `json:"tpot_median_percent"` // of the absolute errors
	Bias       float64  `json:"tpot_bias_percent"`   // mean signed error; above 0: predicted too slow
	TTFT       *float64 `json:"ttft_median_percent"` // null: no row has one
	Throughput *float64 `json:"throughput_median_percent"`
	TargetMAPE *float64 `json:"target_mape_percent"` // null: no target
	TargetMid  *float64 `json:"target_median_percent"`
	Holds      *bool    `json:"holds"`
}

// HeldOut is what presets are worth on measurements from outside.
type HeldOut struct {
	File   string  `json:"file"`
	Fit    string  `json:"fit"` // whose presets
	Groups []Group `json:"groups"`
	Apart  []Fresh `json:"apart"`         // contradict themselves: predicted, scored in groups of their own
	Left   []Fresh `json:"not_predicted"` // with the reason
	Rows   []Fresh `json:"rows"`          // predicted and not apart
}

// presetFinder returns the preset for a model in a precision on a device under an engine.
type presetFinder func(gpu, engine, dtype string, m *catalog.Model) (catalog.Preset, bool)

// NewHeldOut holds the catalogue's presets, as they are, against measurements.
func NewHeldOut(list []Measured) (*HeldOut, error) {
	basis, err := Sample()
	if err != nil {
		return nil, err
	}
	return heldOut(list, basis, catalog.FindPreset, "the presets of the catalogue, as they are"), nil
}

// RefitWithout takes the configurations of the measurements out of the sample,
// fits the rest again, and holds that against the measurements: how the fit
// does on rows of the sample that it has not seen.
func RefitWithout(list []Measured) (*HeldOut, error) {
	sample, err := Sample()
	if err != nil {
		return nil, err
	}
	out := map[string]bool{}
	for i := range list {
		out[list[i].unversioned()] = true
	}
	basis := slices.DeleteFunc(slices.Clone(sample), func(r Row) bool { return out[r.unversioned()] })
	fits, err := refits(basis, func(f *Fitted) bool { return f.Kind == all })
	if err != nil {
		return nil, err
	}
	var presets []catalog.Preset
	for _, f := range fits {
		presets = append(presets, catalog.Preset{GPU: f.GPU, Engine: f.Engine, Model: f.Model, DType: string(f.DType), Family: f.Family,
			KVDType: string(f.KV), Efficiency: f.Efficiency, Rows: f.Rows, Versions: f.Versions})
	}
	find := func(gpu, engine, dtype string, m *catalog.Model) (catalog.Preset, bool) {
		return catalog.ChoosePreset(presets, gpu, engine, dtype, m)
	}
	return heldOut(list, basis, find, fmt.Sprintf("fits made again on the %d of %d rows of the sample that are not in the file", len(basis), len(sample))), nil
}

// basisOf knows what the presets were fitted on.
type basisOf struct {
	apart   map[string]string   // by key: why a row of the basis was not fitted
	rows    map[string][]string // by unversioned key: the versions fitted
	covered map[string]bool     // by set, and degree of tensor parallelism or lengths
}

func newBasis(rows []Row) basisOf {
	b := basisOf{map[string]string{}, map[string][]string{}, map[string]bool{}}
	for i, why := range apart(rows) {
		r := &rows[i]
		if why != "" {
			b.apart[r.key()] = why
			continue
		}
		b.rows[r.unversioned()] = append(b.rows[r.unversioned()], r.Version)
		b.covered[fmt.Sprint(r.Set(), " tp ", r.TP)] = true
		b.covered[fmt.Sprint(r.Set(), " lengths ", r.Regime())] = true
	}
	return b
}

// differs tells how a row differs from what its preset was fitted on.
func (b *basisOf) differs(r *Row, p *catalog.Preset, ok bool) string {
	set := Set{p.GPU, p.Engine, p.Model, hardware.Precision(p.DType)}
	same := *r
	if p.Model != "" {
		same.Model = p.Model // another name of the same layers
	}
	versions := b.rows[same.unversioned()]
	switch {
	case !ok:
		return ofDevice
	case p.Engine != r.Engine:
		return ofEngine
	case slices.Contains(versions, r.Version), slices.Contains(versions, ""), r.Version == "" && len(versions) > 0:
		return isFitted // where a version is not stated, it may be the same
	case len(versions) > 0:
		return ofVersion
	case p.Model == "" || p.DType != string(r.DType):
		return ofModel
	case !b.covered[fmt.Sprint(set, " lengths ", r.Regime())]:
		return ofLengths
	case !b.covered[fmt.Sprint(set, " tp ", r.TP)]:
		return ofTP
	}
	return ofConfiguration
}

// heldOut scores measurements with presets that were fitted on a basis.
func heldOut(list []Measured, basis []Row, find presetFinder, fit string) *HeldOut {
	h := &HeldOut{Fit: fit}
	b := newBasis(basis)
	why := contradictions(list)
	fresh := make([]Fresh, len(list))
	parallel(len(list), func(i int) { fresh[i] = predict(&list[i], &b, find) })
	for i := range fresh {
		f := &fresh[i]
		if w := why[i]; w != "" && f.Why == "" {
			f.Why = w
		}
		switch {
		case f.Differs == "":
			h.Left = append(h.Left, *f)
		case f.Why != "":
			f.Differs = isApart
			h.Apart = append(h.Apart, *f)
		default:
			h.Rows = append(h.Rows, *f)
		}
	}
	h.groups()
	return h
}

// contradictions tells for each line why it contradicts itself or another one.
// Measurements of one configuration are not merged here: their spread counts.
func contradictions(list []Measured) []string {
	type span struct {
		low, high float64
		n         int
	}
	spans := map[string]span{}
	for i := range list {
		if m := &list[i]; m.Why == "" {
			s, ok := spans[m.key()]
			if !ok {
				s = span{low: m.TPOT}
			}
			spans[m.key()] = span{min(s.low, m.TPOT), max(s.high, m.TPOT), s.n + 1}
		}
	}
	var rows []Row
	var at []int
	for i := range list {
		if m := &list[i]; m.Why == "" {
			s := spans[m.key()]
			m.Repeats, m.Spread = s.n, s.high/s.low
			rows, at = append(rows, m.Row), append(at, i)
		}
	}
	out := make([]string, len(list))
	for i, w := range apart(rows) {
		out[at[i]] = w
	}
	return out
}

// predict predicts a measurement with the preset that a target would take.
func predict(m *Measured, b *basisOf, find presetFinder) Fresh {
	f := Fresh{Line: m.Line, GPU: m.GPU, Engine: m.Engine, TPOT: m.TPOT, Why: m.Why,
		What: fmt.Sprintf("%s on %s, %s %s, TP %d, %d/%d, concurrency %d", engine(m.Engine, m.Version), m.GPU, m.Model, m.DType, m.TP, m.ISL, m.OSL, m.Concurrency)}
	if m.Why != "" {
		f.What = fmt.Sprintf("%s on %s, %s", engine(m.Engine, m.Version), m.GPU, m.Model)
		return f
	}
	s, err := m.Setup()
	if err != nil {
		f.Why = err.Error()
		return f
	}
	f.Family = s.Model.Family()
	p, ok := find(m.GPU, m.Engine, string(m.DType), &s.Model)
	kv, e := hardware.Precision(p.KVDType), s.GPU.Efficiency
	if ok {
		e, _ = p.At(m.Version)
	}
	if kv == "" {
		kv = hardware.BF16
	}
	c, err := NewCase(m.Row, kv)
	if err != nil {
		f.Why = err.Error()
		return f
	}
	f.Differs, f.Why = b.differs(&m.Row, &p, ok), b.apart[m.key()]
	tpot, ttft := c.Predict(&e)
	f.Predicted, f.Error = tpot, 100*(tpot/m.TPOT-1)
	if m.TTFT >= leastMillis {
		v := 100 * (ttft/m.TTFT - 1)
		f.TTFTError = &v
	}
	if m.Throughput >= leastMillis {
		v := 100 * (m.output(tpot, ttft)/m.Throughput - 1)
		f.OutputError = &v
	}
	return f
}

// output is the throughput of a closed loop in tokens/s: clients × answer
// length ÷ mean duration of a request, which is TTFT + (length − 1) × TPOT.
func (r *Row) output(tpot, ttft float64) float64 {
	osl := float64(r.OSL)
	if r.ragged() {
		osl *= 0.9
	}
	return float64(r.Concurrency) * osl / ((ttft + (osl-1)*tpot) / 1e3)
}

// groups scores the rows per GPU, engine, family and difference.
func (h *HeldOut) groups() {
	members := map[Group][]Fresh{}
	classes := map[Group]map[string]bool{}
	add := func(f Fresh, differs string) {
		k := Group{GPU: f.GPU, Engine: f.Engine, Family: f.Family, Differs: differs}
		members[k] = append(members[k], f)
	}
	for _, f := range slices.Concat(h.Rows, h.Apart) {
		add(f, f.Differs)
		if f.Differs != isFitted && f.Differs != isApart {
			add(f, ofAll)
			k := Group{GPU: f.GPU, Engine: f.Engine, Family: f.Family}
			if classes[k] == nil {
				classes[k] = map[string]bool{}
			}
			classes[k][f.Differs] = true
		}
	}
	for k, list := range members {
		if k.Differs == ofAll && len(classes[Group{GPU: k.GPU, Engine: k.Engine, Family: k.Family}]) < 2 {
			continue
		}
		k.score(list)
		h.Groups = append(h.Groups, k)
	}
	rank := []string{ofConfiguration, ofVersion, ofTP, ofLengths, ofModel, ofEngine, ofDevice, ofAll, isFitted, isApart}
	place := func(g *Group) string {
		return fmt.Sprint(slices.Index([]string{"vllm", "sglang", "trtllm"}, g.Engine), g.Family, " ", g.GPU, " ", slices.Index(rank, g.Differs))
	}
	slices.SortFunc(h.Groups, func(a, b Group) int { return strings.Compare(place(&a), place(&b)) })
}

func (g *Group) score(list []Fresh) {
	var tpot, ttft, output []float64
	for _, f := range list {
		tpot = append(tpot, math.Abs(f.Error))
		g.Bias += f.Error / float64(len(list))
		g.MAPE += math.Abs(f.Error) / float64(len(list))
		if f.TTFTError != nil {
			ttft = append(ttft, math.Abs(*f.TTFTError))
		}
		if f.OutputError != nil {
			output = append(output, math.Abs(*f.OutputError))
		}
	}
	g.Rows, g.Median = len(list), median(tpot)
	if len(ttft) > 0 {
		v := median(ttft)
		g.TTFT = &v
	}
	if len(output) > 0 {
		v := median(output)
		g.Throughput = &v
	}
	mape, mid := g.target()
	if mape > 0 {
		ok := g.MAPE <= mape && (mid == 0 || g.Median <= mid)
		g.TargetMAPE, g.Holds = &mape, &ok
		if mid > 0 {
			g.TargetMid = &mid
		}
	}
}

// target is the greatest error, mean and median in percent; 0: none is claimed.
func (g *Group) target() (mape, mid float64) {
	switch g.Differs {
	case ofConfiguration:
		return target(&Result{Fitted: Fitted{Set: Set{GPU: g.GPU, Engine: g.Engine}, Family: g.Family}})
	case ofTP:
		return 8, 0
	}
	return 0, 0
}
