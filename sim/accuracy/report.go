package accuracy

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/tokamak-bench/tokamak/catalog"
)

// Line is a row of the table: what was held against what, over how many rows,
// whether they were fitted, the errors, the target and whether it is met.
type Line struct {
	What   string `json:"what"`
	Rows   int    `json:"rows"`
	Fitted string `json:"fitted"` // "no", "yes", "–"
	Error  string `json:"error"`
	Median string `json:"median"`
	TTFT   string `json:"ttft_median"` // median error of the time to first token
	Target string `json:"target"`
	Met    string `json:"met"` // yes, NO, or empty where there is no target
}

// Section is a part of the table.
type Section struct {
	Title string `json:"title"`
	Note  string `json:"note,omitempty"`
	Lines []Line `json:"lines"`
}

// Report is the whole table.
type Report struct {
	From     string    `json:"from"`
	Cache    string    `json:"cache"` // whether the hit rates were computed now
	Sections []Section `json:"sections"`
	Apart    []string  `json:"apart"`
}

// target is the greatest held-out TPOT error, mean and median in percent, of a pool.
func target(r *Result) (mape, mid float64) {
	switch {
	case r.Family == "dense" && r.Engine == "trtllm":
		return 10, 4
	case r.Family == "dense" && (r.GPU == "h100" || r.GPU == "h200"):
		return 6, 4
	case r.Family == "moe" && r.Engine == "vllm":
		return 8, 5
	}
	return 0, 0
}

func percent(v float64) string { return fmt.Sprintf("%.1f %%", v) }

func signed(v float64) string { return fmt.Sprintf("%+.1f %%", v) }

func met(ok bool) string {
	if ok {
		return "yes"
	}
	return "NO"
}

func line(what, fitted string, s Score, mape, mid float64) Line {
	l := Line{What: what, Rows: s.Rows, Fitted: fitted, Error: percent(s.MAPE), Median: percent(s.Median), TTFT: percent(s.TTFT)}
	if mape > 0 {
		l.Target = fmt.Sprintf("%.0f %%", mape)
		ok := s.MAPE <= mape
		if mid > 0 {
			l.Target += fmt.Sprintf(", median %.0f %%", mid)
			ok = ok && s.Median <= mid
		}
		l.Met = met(ok)
	}
	return l
}

// pooled names a pool as people say it.
func (r *Result) pooled() string { return r.Engine + " on " + r.GPU + ", " + r.Family }

func sorted(list []Result) []Result {
	list = slices.Clone(list)
	rank := map[string]string{"vllm": "0", "sglang": "1", "trtllm": "2"}
	key := func(r Result) string { return rank[r.Engine] + r.Family + r.GPU + r.Model + string(r.DType) }
	slices.SortFunc(list, func(a, b Result) int { return strings.Compare(key(a), key(b)) })
	return list
}

// NewReport makes the whole table of fits on a basis.
func NewReport(src Source, basis []Row, fits []Fitted) (*Report, error) {
	st, err := NewStudy(src.Rows, basis, fits)
	if err != nil {
		return nil, err
	}
	splits, err := OtherSplits()
	if err != nil {
		return nil, err
	}
	rep := &Report{From: src.From, Sections: slices.Insert(st.closed(), 1, otherSplits(splits))}
	runs, err := replays()
	if err != nil {
		return nil, err
	}
	cache, replayed, err := caches(src.Dir)
	if err != nil {
		return nil, err
	}
	rep.Sections = append(rep.Sections, runs, cache, unmeasured())
	rep.Cache = "recorded: the trace is not there"
	if replayed {
		rep.Cache = "computed now"
	}
	for _, a := range st.Apart {
		p := "no fit"
		if a.Predicted > 0 {
			p = fmt.Sprintf("%.1f ms", a.Predicted)
		}
		rep.Apart = append(rep.Apart, fmt.Sprintf("%s on %s, %s %s, TP %d, %d/%d, concurrency %d: TPOT %.1f ms, predicted %s: %s",
			engine(a.Engine, a.Version), a.GPU, a.Model, a.DType, a.TP, a.ISL, a.OSL, a.Concurrency, a.TPOT, p, a.Why))
	}
	return rep, nil
}

func engine(name, version string) string {
	if version == "" {
		return name
	}
	return name + " " + version
}

func (st *Study) closed() []Section {
	gate := Section{Title: "Closed loops, engine by engine: mean absolute TPOT error on rows that were not fitted",
		Note: "Five folds by configuration, every length regime on both sides; all models of the family together, each with its own preset."}
	sets := Section{Title: "Closed loops, preset by preset: TPOT"}
	far := Section{Title: "Further away: TPOT error on what no row of the fit was like"}
	for _, r := range sorted(st.Pools) {
		mape, mid := target(&r)
		gate.Lines = append(gate.Lines, line(r.pooled(), "no", r.HeldOut, mape, mid))
	}
	for _, r := range sorted(st.Sets) {
		name := r.Engine + " on " + r.GPU + ", " + r.Model + " " + string(r.DType)
		sets.Lines = append(sets.Lines, line(name, "no", r.HeldOut, 0, 0), line(name, "yes", r.InSample, 0, 0))
		if r.TP.Rows > 0 {
			far.Lines = append(far.Lines, line(name+": a TP left out", "no", r.TP, 8, 0))
		}
		for _, s := range r.Sibling {
			if s.From != "b200" && r.GPU != "b200" {
				far.Lines = append(far.Lines, line(name+": with the fit of "+s.From, "no", s.Score, 8, 0))
			}
		}
		if r.Lengths.Rows > 0 {
			far.Lines = append(far.Lines, line(name+": a length regime left out", "no", r.Lengths, 0, 0))
		}
		if r.Apart.Rows > 0 {
			sets.Lines = append(sets.Lines, line(name+": rows apart", "no", r.Apart, 0, 0))
		}
	}
	for _, r := range sorted(st.Pools) {
		if r.Models.Rows > 0 {
			far.Lines = append(far.Lines, line(r.pooled()+": a model left out", "no", r.Models, 0, 0))
		}
	}
	for _, r := range sorted(st.Unknown) {
		name := r.Engine + " on " + r.GPU + ", " + r.Model + " " + string(r.DType)
		if r.HeldOut.Rows > 0 {
			far.Lines = append(far.Lines, line(name+": too few rows, by the other models", "no", r.HeldOut, 0, 0))
		}
		if r.InSample.Rows > 0 {
			far.Lines = append(far.Lines, line(name+": too few rows, by the pool with them", "yes", r.InSample, 0, 0))
		}
	}
	return []Section{gate, sets, far}
}

func replays() (Section, error) {
	s := Section{Title: "Replays of two runs of vLLM 0.19 (Llama-3.1-8B, 300 requests at 10/s): error of the means",
		Note: "The fitted rows are in-sample: these very runs were fitted. Series: mean absolute difference from the engine's log, beside the log's mean."}
	runs, err := Runs()
	if err != nil {
		return s, err
	}
	for i := range runs {
		for _, fitted := range []bool{true, false} {
			r, err := runs[i].Replay(fitted)
			if err != nil {
				return s, err
			}
			s.Lines = append(s.Lines, r.lines()...)
		}
	}
	return s, nil
}

func (r *Replayed) lines() []Line {
	fitted := "no"
	if r.Fitted {
		fitted = "yes"
	}
	mean := func(what string, v, limit float64) Line {
		l := Line{What: r.Run + ": mean " + what, Rows: 300, Fitted: fitted, Error: signed(v)}
		if r.Fitted {
			l.Target, l.Met = fmt.Sprintf("%.0f %%", limit), met(v <= limit && v >= -limit)
		}
		return l
	}
	series := func(what string, v, m float64) Line {
		return Line{What: r.Run + ": " + what, Rows: r.Samples, Fitted: fitted, Error: fmt.Sprintf("%.1f of %.1f", v, m)}
	}
	out := []Line{mean("TTFT", r.TTFT, 5), mean("TPOT", r.TPOT, 2), mean("E2E", r.E2E, 2),
		series("running requests", r.Running, r.MeanRunning), series("waiting requests", r.Waiting, r.MeanWaiting)}
	if r.MeanKV > 0 {
		out = append(out, series("KV usage, points", r.KV, r.MeanKV))
	}
	return out
}

func caches(dir string) (s Section, replayed bool, err error) {
	s = Section{Title: "Memory: block count, and prefix-cache hit rates of the Mooncake conversation trace (blocks of 512 tokens)",
		Note: "The trace is replayed where it lies beside the repository; else the rates are those recorded with it."}
	runs, err := Runs()
	if err != nil {
		return s, false, err
	}
	for i := range runs {
		if runs[i].Blocks == 0 {
			continue
		}
		r, err := runs[i].Replay(true)
		if err != nil {
			return s, false, err
		}
		e := 100 * (float64(r.Blocks)/float64(r.BlocksMeasured) - 1)
		s.Lines = append(s.Lines, Line{What: fmt.Sprintf("%s: %d KV blocks, the engine had %d", r.Run, r.Blocks, r.BlocksMeasured), Rows: 1, Fitted: "yes",
			Error: signed(e), Target: "3 %", Met: met(e < 3 && e > -3)})
	}
	rates, err := HitRates(dir)
	if err != nil {
		return s, false, err
	}
	for _, h := range rates {
		replayed = replayed || h.Measured
		name := fmt.Sprintf("%d blocks", h.Blocks)
		if h.Blocks >= 400_000 {
			name = "unlimited blocks"
		}
		for _, c := range []struct {
			what       string
			got, limit float64
		}{{"the cache alone", h.Alone, 0.3}, {"in the engine, answers cached too", h.Engine, 1}} {
			d := math.Abs(c.got - h.Expected)
			s.Lines = append(s.Lines, Line{What: fmt.Sprintf("hit rate, %s, %s: %.1f %%, expected %.1f %%", name, c.what, c.got, h.Expected), Rows: 12031, Fitted: "no",
				Error: fmt.Sprintf("%.2f points", d), Target: fmt.Sprintf("%v points", c.limit), Met: met(d <= c.limit)})
		}
	}
	return s, replayed, nil
}

// unmeasured lists the catalogue's devices that no end-to-end measurement backs.
func unmeasured() Section {
	s := Section{Title: "Not measured end to end", Note: "Step times of these devices follow from data sheets with guessed efficiencies or operator profiles; an accelerator or a config.json of your own has no measurement either."}
	backed := map[string]bool{}
	for _, p := range catalog.Presets() {
		backed[p.GPU] = true
	}
	for _, a := range catalog.Accelerators() {
		if !backed[a.Name] {
			s.Lines = append(s.Lines, Line{What: a.Name, Fitted: "–", Error: "unknown", Median: "", Target: ""})
		}
	}
	return s
}

// Text writes the report for a terminal.
func (r *Report) Text(to io.Writer) error {
	w := &bytes.Buffer{}
	fmt.Fprintf(w, "closed loops from %s; hit rates %s\n", r.From, r.Cache)
	for _, s := range r.Sections {
		fmt.Fprintf(w, "\n%s\n", s.Title)
		t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
		_, _ = fmt.Fprintln(t, "  what\trows\tfitted\terror\tmedian\tTTFT\ttarget\tmet")
		for _, l := range s.Lines {
			_, _ = fmt.Fprintf(t, "  %s\t%d\t%s\t%s\t%s\t%s\t%s\t%s\n", l.What, l.Rows, l.Fitted, l.Error, l.Median, l.TTFT, l.Target, l.Met)
		}
		if err := t.Flush(); err != nil {
			return err
		}
		if s.Note != "" {
			fmt.Fprintf(w, "  %s\n", s.Note)
		}
	}
	fmt.Fprintf(w, "\n%d rows contradict themselves and are scored apart\n", len(r.Apart))
	for _, a := range r.Apart {
		fmt.Fprintf(w, "  %s\n", a)
	}
	_, err := w.WriteTo(to)
	return err
}

// Markdown writes the report as the tables of docs/accuracy.md. They are the
// same wherever the rows came from.
func (r *Report) Markdown(to io.Writer) error {
	w := &bytes.Buffer{}
	for _, s := range r.Sections {
		fmt.Fprintf(w, "### %s\n\n", s.Title)
		if s.Note != "" {
			fmt.Fprintf(w, "%s\n\n", s.Note)
		}
		fmt.Fprint(w, "| what | rows | fitted | error | median | TTFT, median | target | met |\n|---|---|---|---|---|---|---|---|\n")
		for _, l := range s.Lines {
			fmt.Fprintf(w, "| %s | %d | %s | %s | %s | %s | %s | %s |\n", l.What, l.Rows, l.Fitted, l.Error, l.Median, l.TTFT, l.Target, l.Met)
		}
		fmt.Fprintln(w)
	}
	fmt.Fprintf(w, "### Rows that contradict themselves, scored apart\n\n")
	for _, a := range r.Apart {
		fmt.Fprintf(w, "- %s\n", a)
	}
	_, err := w.WriteTo(to)
	return err
}
