package portrait_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tokamak-bench/tokamak/portrait"
	"github.com/tokamak-bench/tokamak/stat"
	"github.com/tokamak-bench/tokamak/workload/trace"
	"github.com/tokamak-bench/tokamak/workload/traffic"
)

var update = flag.Bool("update", false, "write the goldens anew")

// rows is a log in memory.
type rows struct {
	of      []trace.Row
	skipped []*trace.LineError
}

func (r *rows) Next() (*trace.Row, error) {
	if len(r.of) == 0 {
		return nil, io.EOF
	}
	row := r.of[0]
	r.of = r.of[1:]
	return &row, nil
}

func (r *rows) Format() string                       { return "test" }
func (r *rows) Skipped() (int64, []*trace.LineError) { return int64(len(r.skipped)), r.skipped }
func (r *rows) Ignored() int64                       { return 2 }

// at makes rows at moments in seconds.
func at(seconds ...float64) []trace.Row {
	var out []trace.Row
	for _, s := range seconds {
		out = append(out, trace.Row{Timed: true, At: int64(math.Round(s * 1e9))})
	}
	return out
}

func show(t *testing.T, r *rows, o portrait.Options) (*portrait.Facts, *portrait.Page) {
	t.Helper()
	f, p, err := portrait.Log(t.Context(), r, o)
	if err != nil {
		t.Fatal(err)
	}
	return f, p
}

// TestHeadline holds the figures against values worked out by hand.
func TestHeadline(t *testing.T) {
	// Gaps 1, 1, 1, 1, 116 s, then 80 of 0.01 s: the last 60 s hold the last 81.
	log := at(0, 1, 2, 3, 4, 120)
	for k := range 80 {
		log = append(log, at(120+0.01*float64(k+1))...)
	}
	for i := range log {
		log[i].Input = int64(i + 1) // 1..86
		log[i].Output = 7
		log[i].Tenant = []string{"a", "a", "b"}[i%3]
		log[i].Session = []string{"x", "y"}[i%2]
	}
	log[5].Failed, log[5].Output = true, 0
	f, _ := show(t, &rows{of: log}, portrait.Options{})
	near := func(name string, got interface{ Get() (float64, bool) }, want float64) {
		t.Helper()
		if x, ok := got.Get(); !ok || math.Abs(x-want) > 1e-9*math.Abs(want) {
			t.Errorf("%s: got %v, want %v", name, x, want)
		}
	}
	near("span", f.Span, 120.8)
	near("mean rate", f.MeanRate, 86/120.8)
	near("peak rate", f.PeakRate, 81.0/60)
	near("peak at", f.PeakAt, 60.8)
	mean := 120.8 / 85
	near("CV", f.CV, math.Sqrt((4*(1-mean)*(1-mean)+(116-mean)*(116-mean)+80*(0.01-mean)*(0.01-mean))/84)/mean)
	// Windows of 1 s, 120 whole ones: five of 1, the rest 0.
	near("dispersion 1 s", f.Dispersion1, (5*math.Pow(1-5.0/120, 2)+115*math.Pow(5.0/120, 2))/119/(5.0/120))
	if f.Dispersion10.Valid() || f.Dispersion60.Valid() {
		t.Error("twelve windows of 10 s are too few for an index of dispersion")
	}
	near("input p50", f.Input.P50, 43)
	near("input p95", f.Input.P95, 82) // 0.95·86 = 81.7
	near("input p99", f.Input.P99, 86)
	near("input sd", f.Input.SD, math.Sqrt(86.0*87/12))
	if f.Output.Count != 85 || *f.Failed != 1 || f.FailedOf != 1 {
		t.Errorf("outputs %d, failed %d of %d", f.Output.Count, *f.Failed, f.FailedOf)
	}
	if *f.Sessions != 2 || *f.Tenants != 2 {
		t.Errorf("sessions %d, tenants %d", *f.Sessions, *f.Tenants)
	}
	near("turns", f.MeanTurns, 43)
	near("busiest", f.BusiestShare, 58.0/86)
}

// TestSharedPrefix: of 160 prompt tokens 80 stand in leading blocks sent before
// (package fit's test goes through them), and the third prompt goes on with the
// first. What holds new text alone is left out and said.
func TestSharedPrefix(t *testing.T) {
	log := at(0, 1, 2, 3)
	log[0] = trace.Row{Input: 48, Blocks: []uint64{1, 2, 3}, BlockTokens: 16}
	log[1] = trace.Row{Input: 48, Blocks: []uint64{1, 2, 4}, BlockTokens: 16}
	log[2] = trace.Row{Input: 64, Blocks: []uint64{1, 2, 3, 5}, BlockTokens: 16}
	log[3] = trace.Row{Input: 5, Blocks: []uint64{9}, BlockTokens: 16, Delta: true}
	f, p := show(t, &rows{of: log}, portrait.Options{})
	if x, _ := f.SharedPrefix.Get(); x != 0.5 {
		t.Errorf("shared prefix %v, want 0.5", f.SharedPrefix)
	}
	if f.Sessions == nil || *f.Sessions != 3 {
		t.Errorf("conversations: %v, want 3", f.Sessions)
	}
	if x, _ := f.MaxTurns.Get(); x != 2 {
		t.Errorf("at most %v turns, want 2", f.MaxTurns)
	}
	if text := page(t, p, portrait.TextOptions{}); !strings.Contains(text, "1 row of the new text of a turn alone") {
		t.Errorf("the row of new text is not said:\n%s", text)
	}
}

// TestModel samples a model whose figures follow from it: 2 sessions a second
// of 3 turns each, every prompt the prefix of 128 tokens, the turns and answers
// before, and 64 new tokens.
func TestModel(t *testing.T) {
	one := func(x float64) stat.Distribution { return stat.Constant(x) }
	m := &traffic.Model{Duration: 10 * time.Minute, Findings: []string{"a finding"}, Clients: []traffic.Client{{
		Name: "chat", Rate: traffic.Curve{Rate: []float64{2}}, Arrival: traffic.Arrival{Process: traffic.Constant},
		Lengths:  []traffic.Lengths{{Input: one(64), Output: one(64)}},
		Sessions: &traffic.Sessions{Turns: one(3), Think: one(10), Input: one(64), Jump: 1},
		Prefix:   &traffic.Prefix{Share: 1, Count: 1, Tokens: one(128)}}}}
	f, p, err := portrait.Model(t.Context(), m, 1, portrait.Options{Name: "model"})
	if err != nil {
		t.Fatal(err)
	}
	if f.Requests != 1200+1180+1160 || *f.Sessions != 1200 || *f.Tenants != 1 {
		t.Errorf("%d requests, %d sessions, %d clients", f.Requests, *f.Sessions, *f.Tenants)
	}
	// Prompts of 192, 320 and 448 tokens; found are the prefix of 128, the 192
	// of the turn before, and its 320; the first of all prompts finds nothing.
	// What begins in the last 10 or 20 s has no second or third turn.
	if x, _ := f.SharedPrefix.Get(); math.Abs(x-(1200*128+1180*192+1160*320-128)/(1200*192+1180*320+1160*448.0)) > 1e-12 {
		t.Errorf("shared prefix %v", x)
	}
	if x, _ := f.Input.P50.Get(); x != 320 {
		t.Errorf("input p50 %v, want 320", x)
	}
	text := page(t, p, portrait.TextOptions{})
	for _, want := range []string{"note: a finding", "note: 60 later turns would come after", "Clients of the model", "chat", "100% of 1 × 128"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
}

// words counts one token a word.
type words struct{}

func (words) Name() string                   { return "words" }
func (words) Count(text string) (int, error) { return len(strings.Fields(text)), nil }

// TestCountedTexts: a conversation of 3, 2 and 1 words with answers of 4 and 5
// has prompts of 3, 3+4+2 and 9+5+1 tokens; without a tokenizer none is known.
func TestCountedTexts(t *testing.T) {
	say := func(said, answer string) trace.Turn {
		return trace.Turn{Messages: []trace.Message{{Role: "user", Text: said}}, Answer: answer}
	}
	row := trace.Row{Turns: []trace.Turn{say("a b c", "1 2 3 4"), say("d e", "1 2 3 4 5"), say("f", "")}}
	f, p := show(t, &rows{of: []trace.Row{row}}, portrait.Options{Tokenizer: words{}})
	if f.Input.Sum != 3+9+15 || f.Output.Sum != 9 || f.Output.Count != 2 || f.Requests != 3 || f.Rows != 1 {
		t.Errorf("%+v %+v", f.Input, f.Output)
	}
	if text := page(t, p, portrait.TextOptions{}); !strings.Contains(text, "with words") {
		t.Errorf("the tokenizer is not named:\n%s", text)
	}
	if f, _ := show(t, &rows{of: []trace.Row{row}}, portrait.Options{}); f.Input.Count != 0 || f.Output.Count != 0 {
		t.Errorf("lengths of nowhere: %+v", f.Input)
	}
}

// TestInterrupted: a reading that nobody waits for ends.
func TestInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := portrait.Log(ctx, &rows{of: bursts()}, portrait.Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

// TestMissing: what the log does not say is null and a sentence, never zero.
func TestMissing(t *testing.T) {
	f, p := show(t, &rows{of: []trace.Row{{Output: 3}, {Output: 4}}}, portrait.Options{Name: "lengths"})
	b, err := json.Marshal(f)
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"span_s", "mean_rate", "peak_rate", "interarrival_cv", "dispersion_60s", "shared_prefix", "sessions", "tenants", "begin"} {
		if !strings.Contains(string(b), `"`+key+`":null`) {
			t.Errorf("%s is not null in %s", key, b)
		}
	}
	text := page(t, p, portrait.TextOptions{})
	for _, want := range []string{"the log has no moments", "the log has no input lengths", "the log does not name the blocks"} {
		if !strings.Contains(strings.Join(strings.Fields(text), " "), want) {
			t.Errorf("the page does not say %q:\n%s", want, text)
		}
	}
}

// TestHostileNames: nothing of a log steers a terminal or becomes markup.
func TestHostileNames(t *testing.T) {
	const name = "\x1b]0;title\x07<script>alert(1)</script>\u202e&\"'\r\nnext"
	log := at(0, 1, 2, 3)
	for i := range log {
		log[i].Tenant = name
	}
	log[0].Tenant = "other"
	r := &rows{of: log, skipped: []*trace.LineError{{Name: name, Unit: "line", Line: 3, Err: io.ErrUnexpectedEOF}}}
	_, p := show(t, r, portrait.Options{Name: name, Tenants: true})
	var html bytes.Buffer
	if err := p.HTML(&html); err != nil {
		t.Fatal(err)
	}
	if s := html.String(); strings.Contains(s, "<script") || strings.Contains(s, "\x1b") {
		t.Error("a name of the log is markup in the page")
	}
	if n := strings.Count(html.String(), `viewBox="0 0 360 `); n < 9 {
		t.Errorf("%d pictures for narrow windows", n)
	}
	if !strings.Contains(html.String(), "&lt;script&gt;") {
		t.Error("the name is not there")
	}
	text := page(t, p, portrait.TextOptions{Width: 100})
	for _, r := range text {
		if r != '\n' && (r < ' ' || r == 0x7f || r == '\u202e') {
			t.Fatalf("%q in the page steers a terminal", r)
		}
	}
	if !strings.Contains(text, "?]0;title?<script>") {
		t.Errorf("the name is not there:\n%s", text)
	}
}

// TestNamesOnlyWhereAsked: without it no tenant's name is on the page.
func TestNamesOnlyWhereAsked(t *testing.T) {
	log := at(0, 1, 2)
	log[0].Tenant, log[1].Tenant = "canary-1", "canary-2"
	_, p := show(t, &rows{of: log}, portrait.Options{})
	var html bytes.Buffer
	if err := p.HTML(&html); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(page(t, p, portrait.TextOptions{})+html.String(), "canary") {
		t.Error("a tenant's name is on the page")
	}
}

func page(t *testing.T, p *portrait.Page, o portrait.TextOptions) string {
	t.Helper()
	var b bytes.Buffer
	if err := p.Text(&b, o); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// bursts is a fixed log: bursts of one to five requests, with lengths.
func bursts() []trace.Row {
	var log []trace.Row
	begin := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC).UnixNano()
	x := uint64(1)
	next := func(n uint64) uint64 { x = x*6364136223846793005 + 1442695040888963407; return x >> 33 % n }
	now := int64(0)
	for len(log) < 3000 {
		now += int64(next(4e9))
		for range 1 + next(5) {
			now += int64(next(2e6))
			log = append(log, trace.Row{Timed: true, Absolute: true, At: begin + now, Input: int64(10 + next(90)*next(90)), Output: int64(1 + next(300)),
				Tenant: string(rune('a' + next(3)*next(3))), Session: string(rune('a' + next(26)*next(26)))})
		}
	}
	return log
}

// TestGoldens holds the page against the files in testdata.
func TestGoldens(t *testing.T) {
	f, p := show(t, &rows{of: bursts()}, portrait.Options{Name: "bursts", Tenants: true})
	golden(t, "bursts.80.txt", page(t, p, portrait.TextOptions{Width: 80}))
	golden(t, "bursts.120.txt", page(t, p, portrait.TextOptions{Width: 120}))
	golden(t, "bursts.60.ascii.txt", page(t, p, portrait.TextOptions{Width: 60, ASCII: true, Colour: true}))
	b, err := json.MarshalIndent(f, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "bursts.json", string(b)+"\n")
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), got); d != "" {
		t.Errorf("%s (-want +got; go test ./portrait -update writes it anew):\n%s", name, d)
	}
}

// TestDocumented: docs/metrics.md defines every figure by its name.
func TestDocumented(t *testing.T) {
	doc, err := os.ReadFile("../docs/metrics.md")
	if err != nil {
		t.Fatal(err)
	}
	f, _ := show(t, &rows{of: bursts()}, portrait.Options{})
	b, err := json.Marshal(f)
	if err != nil {
		t.Fatal(err)
	}
	var keys map[string]any
	if err := json.Unmarshal(b, &keys); err != nil {
		t.Fatal(err)
	}
	for k := range keys {
		switch k {
		case "schema", "name", "format", "sampled", "notes":
			continue
		}
		if !strings.Contains(string(doc), "`"+k+"`") {
			t.Errorf("docs/metrics.md does not define %s", k)
		}
	}
}
