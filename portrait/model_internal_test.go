package portrait

import (
	"bytes"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/tokamak-bench/tokamak/measure"
	"github.com/tokamak-bench/tokamak/stat"
	"github.com/tokamak-bench/tokamak/workload/trace"
	"github.com/tokamak-bench/tokamak/workload/traffic"
)

// chats is a model of 2 sessions a second for 5 of 10 min, of 1 to 5 turns, half
// of them with one of three fronts.
func chats() *traffic.Model {
	one := func(x float64) stat.Distribution { return stat.Constant(x) }
	return &traffic.Model{Duration: 10 * time.Minute, Clients: []traffic.Client{{
		Name: "chat", Rate: traffic.Curve{Window: 5 * time.Minute, Rate: []float64{2, 0}}, Arrival: traffic.Arrival{Process: traffic.Poisson},
		Lengths:  []traffic.Lengths{{Input: one(100), Output: one(70)}},
		Sessions: &traffic.Sessions{Turns: stat.Uniform{Low: 1, High: 5}, Think: one(10), Input: one(64), Jump: 1},
		Prefix:   &traffic.Prefix{Share: 0.5, Count: 3, Tokens: one(192)}}}}
}

// TestSampleShowsAsItsModel: a sample that was written to a file has the figures
// of the model.
func TestSampleShowsAsItsModel(t *testing.T) {
	m := chats()
	m.Clients[0].Reasoning = stat.Uniform{Low: 0, High: 1} // none or all
	want, _, err := Model(t.Context(), m, 1, Options{})
	if err != nil {
		t.Fatal(err)
	}
	s, err := m.Sampler(traffic.SampleOptions{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	var file bytes.Buffer
	if _, err := s.WriteRows(&file, func(int64, int64) error { return nil }); err != nil {
		t.Fatal(err)
	}
	r, err := trace.Open("sample", func() (io.ReadCloser, error) { return io.NopCloser(&file), nil }, trace.Options{})
	if err != nil {
		t.Fatal(err)
	}
	got, _, err := Log(t.Context(), r, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if got.ReasoningOf != got.Requests { // those that say 0 too
		t.Errorf("reasoning is known of %d of %d requests", got.ReasoningOf, got.Requests)
	}
	if want.Requests < 1000 || !want.SharedPrefix.Valid() || want.Planned == 0 {
		t.Fatalf("too little: %+v", want)
	}
	if d := cmp.Diff(want, got, cmpopts.IgnoreUnexported(Facts{}), cmpopts.IgnoreFields(Facts{}, "Name", "Format", "Sampled", "Notes"),
		cmpopts.EquateApprox(1e-12, 0), cmp.Comparer(func(a, b measure.Value) bool { x, y := a.Or(-1), b.Or(-1); return x-y < 1e-9 && y-x < 1e-9 })); d != "" {
		t.Errorf("(-model +sample):\n%s", d)
	}
}

// TestPartOfAModel: where not all of a model's time is drawn, the figures say so.
func TestPartOfAModel(t *testing.T) {
	f, p, err := model(t.Context(), chats(), 1, Options{}, 400)
	if err != nil {
		t.Fatal(err)
	}
	if f.Requests != 400 || !strings.Contains(p.First[0].Meaning, " alone, of 10 min") {
		t.Errorf("%d requests: %s", f.Requests, p.First[0].Meaning)
	}
	if f, p, _ = model(t.Context(), chats(), 1, Options{}, 4e6); strings.Contains(p.First[0].Meaning, "alone") {
		t.Errorf("%d requests: %s", f.Requests, p.First[0].Meaning)
	}
}
