package runner

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/tokamak-bench/tokamak/exit"
	"github.com/tokamak-bench/tokamak/load"
	"github.com/tokamak-bench/tokamak/scenario"
	"github.com/tokamak-bench/tokamak/token"
	"github.com/tokamak-bench/tokamak/wire"
	"github.com/tokamak-bench/tokamak/workload"
	"github.com/tokamak-bench/tokamak/workload/corpus"
)

// openDataset opens the dataset, if there is one. It comes before the load,
// which may need its moments, and before the workload, which uses up one that
// can be read only once.
func (r *Run) openDataset(context.Context) error {
	d := r.scenario.Workload.Config.Dataset
	if d == nil {
		return nil
	}
	set := *d
	if set.Name == "-" && set.Open == nil {
		set = *workload.OpenDataset("-", r.opt.Stdin)
	}
	r.dataset = &set
	return nil
}

// buildWorkload prepares what is sent, and the tokenizer that counts it.
func (r *Run) buildWorkload(ctx context.Context) error {
	cfg := r.scenario.Workload.Config
	cfg.Dataset = r.dataset
	if !r.scenario.Target.Sim() {
		// A server that was driven before knows the texts of the same seed:
		// lengths and order stay, the words differ from run to run.
		r.salt = uint64(time.Now().UnixNano())
		cfg.Salt = r.salt
	}
	open := r.openContent
	if r.scenario.Target.Virtual {
		open = r.checkContent
	}
	if err := open(ctx); err != nil {
		return err
	}
	if cfg.Dataset != nil {
		cfg.Dataset.Count = r.counter
	}
	var err error
	if r.work, err = workload.New(cfg, r.scenario.Seed); err != nil {
		return exit.With(exit.Usage, err)
	}
	return nil
}

// openTokenizer opens what counts and writes text. A tokenizer of a server
// needs its address, which a simulated engine has only once it runs: there the
// built-in one counts the same.
func (r *Run) openTokenizer() error {
	spec := r.scenario.Workload.Tokenizer
	if spec == "" || spec == "server" && r.scenario.Target.Sim() {
		spec = "builtin"
	}
	t, err := r.tokenizer(spec)
	if err != nil {
		return r.wrong("workload.tokenizer", noClass, err)
	}
	r.counter, r.texts = t, &Texts{Tokenizer: t}
	r.ownTokens = r.scenario.Target.Sim() || spec != "builtin" && spec != "estimate"
	return nil
}

func plainText() *corpus.Corpus {
	c, _ := corpus.Open(corpus.Plain) // built in
	return c
}

func (r *Run) tokenizer(spec string) (token.Tokenizer, error) {
	switch spec {
	case "server":
	case "builtin", "estimate":
		return token.Open(spec)
	default:
		if strings.HasPrefix(spec, "tiktoken:") {
			return token.Open(spec)
		}
		return token.OpenFile(spec)
	}
	return r.serverTokenizer()
}

// serverTokenizer returns what asks the target, as the run's requests do.
func (r *Run) serverTokenizer() (*token.Server, error) {
	cfg, err := r.wireConfig()
	if err != nil {
		return nil, err
	}
	transport := &http.Transport{TLSClientConfig: cfg.TLS, DisableCompression: true}
	if cfg.Proxy != nil {
		transport.Proxy = func(q *http.Request) (*url.URL, error) { return cfg.Proxy(q.URL) }
	}
	t, err := token.NewServer(r.scenario.Target.URLs[0].String(), &http.Client{Transport: transport, Timeout: tokenizerTimeout})
	if err != nil {
		return nil, err
	}
	t.Header = http.Header{}
	for _, f := range r.fields() {
		t.Header.Add(f.Name, f.Value)
	}
	if !r.auth.Value.Empty() {
		t.Header.Set(r.auth.Name, r.auth.Value.Reveal())
	}
	return t, nil
}

// tokenizerTimeout bounds one question to a server's tokenizer.
const tokenizerTimeout = 30 * time.Second

// fields are the header fields that the scenario adds to each request.
func (r *Run) fields() []wire.Field {
	var f []wire.Field
	for _, h := range r.scenario.Target.Header {
		f = append(f, wire.Field{Name: h.Name, Value: h.Value.Reveal()})
	}
	return f
}

// buildLoad completes the plan of moments.
func (r *Run) buildLoad(context.Context) error {
	r.plan = r.scenario.Load.Plan
	if r.scenario.Load.Kind == scenario.OwnTiming {
		if err := r.ownTiming(); err != nil {
			return exit.With(exit.Usage, err)
		}
	}
	if _, err := load.New(r.plan); err != nil {
		return exit.With(exit.Usage, fmt.Errorf("load: %w", err))
	}
	return nil
}

// ownTiming takes the dataset's own moments; one that has none is sent by the
// plan's stages where it has any.
func (r *Run) ownTiming() error {
	limit := r.plan.MaxRequests
	if limit == scenario.Unbounded {
		limit = 0
	}
	times, err := workload.Schedule(r.dataset, limit, r.scenario.Seed)
	if errors.Is(err, workload.ErrNoTiming) && len(r.plan.Stages) > 0 {
		s := r.scenario
		s.Load.Kind = scenario.ClosedLoop
		s.Notices = append(s.Notices, "no load given, and the dataset has no moments: "+s.Load.String())
		return nil
	}
	if err != nil {
		return err
	}
	if r.dataset.Repeat {
		return r.wrong("workload.repeat", noClass, errors.New("repeat needs rate, concurrency or stages: the dataset's own timing ends with it"))
	}
	if d := r.scenario.Load.Duration; d > 0 {
		end, _ := slices.BinarySearch(times, int64(float64(d)*r.plan.Speed))
		times = times[:end]
	}
	if len(times) == 0 {
		return errors.New("the dataset has nothing due in the time asked for")
	}
	r.plan.Stages, r.plan.Schedule = nil, times
	return nil
}

// skippedRows says how many rows of the dataset could not be used.
func (r *Run) skippedRows() (n int64, first error) {
	s, ok := r.work.(workload.Skipper)
	if !ok {
		return 0, nil
	}
	n, lines := s.Skipped()
	if len(lines) > 0 {
		first = lines[0]
	}
	return n, first
}
