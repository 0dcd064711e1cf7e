package accuracy

import (
	"fmt"
	"io"
	"math"
	"time"

	"github.com/tokamak-bench/tokamak/catalog"
	"github.com/tokamak-bench/tokamak/clock"
	"github.com/tokamak-bench/tokamak/sim"
)

// Run is a measured run of a real engine that is replayed request by request.
type Run struct {
	Name, Target string
	Blocks       int64 // KV blocks that the engine reported; 0: unknown
	Requests     []request
	Series       []state
}

// request is one request of a run; times in ms from the first one's queueing.
type request struct {
	queued, first, last float64
	input, output       int64
}

// state is the engine's load at t seconds; kv in percent, below 0: not logged.
type state struct {
	t                    float64
	running, waiting, kv float64
}

// Runs returns the embedded runs: vLLM 0.19, Llama-3.1-8B, 300 requests at 10 a
// second, derived from LLMServingSim's examples (data/README.md).
func Runs() ([]Run, error) {
	runs := []Run{
		{Name: "rtx4090", Blocks: 2588, Target: "sim://llama3.1-8b@rtx4090?max_num_seqs=256&max_num_batched_tokens=2048&gpu_memory_utilization=0.9&max_model_len=32768&num_gpu_blocks=2588"},
		{Name: "rtxpro6000", Target: "sim://llama3.1-8b@rtxpro6000?max_num_seqs=128&max_num_batched_tokens=2048&gpu_memory_utilization=0.9"},
	}
	for i := range runs {
		r := &runs[i]
		var err error
		if r.Requests, err = embedded("run_"+r.Name+".csv", readRequests); err != nil {
			return nil, err
		}
		if r.Series, err = embedded("series_"+r.Name+".csv", readSeries); err != nil {
			return nil, err
		}
	}
	return runs, nil
}

func readRequests(r io.Reader) ([]request, error) {
	t, err := newTable(r)
	if err != nil {
		return nil, err
	}
	var list []request
	for t.next() {
		list = append(list, request{t.number("queued_ms"), t.number("first_ms"), t.number("last_ms"), t.integer("input"), t.integer("output")})
		if t.err != nil {
			break
		}
	}
	return list, t.err
}

func readSeries(r io.Reader) ([]state, error) {
	t, err := newTable(r)
	if err != nil {
		return nil, err
	}
	var list []state
	for t.next() {
		s := state{t.number("t"), t.number("running"), t.number("waiting"), -1}
		if t.text("kv") != "" {
			s.kv = t.number("kv")
		}
		if t.err != nil {
			break
		}
		list = append(list, s)
	}
	return list, t.err
}

// Replayed is how a replay differs from its run: means in percent, series as
// mean absolute differences (requests, and points of KV usage), beside the
// means of the run's own series.
type Replayed struct {
	Run                              string
	Fitted                           bool
	TTFT, TPOT, E2E                  float64
	Running, Waiting, KV             float64
	MeanRunning, MeanWaiting, MeanKV float64
	Samples                          int // of the series
	Preemptions                      int64
	Blocks                           int64 // computed for the run's memory
	BlocksMeasured                   int64
}

type silent struct{}

func (silent) Tokens(int64, int64)                   {}
func (silent) Finished(sim.Finish, sim.Usage, int64) {}

// Replay runs the engine in virtual time on a run's arrivals, with the shipped
// efficiencies or with those of a device that nobody fitted.
func (r *Run) Replay(fitted bool) (Replayed, error) {
	o, err := sim.ParseTarget(r.Target)
	if err != nil {
		return Replayed{}, err
	}
	out := Replayed{Run: r.Name, Fitted: fitted, BlocksMeasured: r.Blocks, Samples: len(r.Series)}
	if !fitted {
		o.GPU.Efficiency = catalog.Unfitted()
	}
	o.GPU.Efficiency.APIMicros = 0 // the times count from the queue
	own := o
	own.Blocks = 0
	cfg, err := own.Config()
	if err != nil {
		return Replayed{}, err
	}
	out.Blocks = cfg.Blocks
	v := clock.NewVirtual(time.Unix(0, 0))
	e, err := sim.NewEngine(o, v)
	if err != nil {
		return Replayed{}, err
	}
	reqs := make([]*sim.Request, len(r.Requests))
	next := 0
	sample := func(until float64) { // ms
		for ; next < len(r.Series) && r.Series[next].t*1e3 <= until; next++ {
			s := r.Series[next]
			v.Wait(int64(s.t * 1e9))
			out.add(&s, e.State(), float64(len(r.Series)))
		}
	}
	for i, q := range r.Requests {
		sample(q.queued)
		v.Wait(int64(q.queued * 1e6))
		reqs[i] = &sim.Request{Prompt: []sim.Span{{ID: uint64(i) + 1, Tokens: q.input}}, MaxTokens: q.output, Listener: silent{}}
		if err := e.Submit(reqs[i]); err != nil {
			return Replayed{}, fmt.Errorf("request %d: %w", i, err)
		}
	}
	sample(math.Inf(1))
	v.Wait(clock.Forever)
	out.means(r.Requests, reqs)
	out.Preemptions = e.State().Counts.Preemptions
	return out, nil
}

func (r *Replayed) add(s *state, got sim.State, n float64) {
	r.Running += math.Abs(float64(got.Running)-s.running) / n
	r.Waiting += math.Abs(float64(got.Waiting)-s.waiting) / n
	r.MeanRunning += s.running / n
	r.MeanWaiting += s.waiting / n
	if s.kv >= 0 {
		r.KV += math.Abs(100*got.KVUsage-s.kv) / n
		r.MeanKV += s.kv / n
	}
}

// means compares the runs' means: of E2E and TTFT over all requests, of TPOT
// over those with more than one token.
func (r *Replayed) means(want []request, got []*sim.Request) {
	var m, s [3]float64
	for i, q := range want {
		st := &got[i].Stats
		m[0] += q.first - q.queued
		s[0] += float64(st.FirstToken-st.Queued) / 1e6
		m[2] += q.last - q.queued
		s[2] += float64(st.LastToken-st.Queued) / 1e6
		if q.output > 1 {
			m[1] += (q.last - q.first) / float64(q.output-1)
			s[1] += float64(st.LastToken-st.FirstToken) / 1e6 / float64(q.output-1)
		}
	}
	r.TTFT, r.TPOT, r.E2E = 100*(s[0]/m[0]-1), 100*(s[1]/m[1]-1), 100*(s[2]/m[2]-1)
}
