package acceptance

import (
	"bytes"
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
)

// clientsPython is a Python with the client libraries of the engines' users;
// the test is skipped where it is not there.
func clientsPython(t *testing.T) string {
	t.Helper()
	python := os.Getenv("TOKAMAK_CLIENTS_PYTHON")
	if python == "" {
		python, _ = filepath.Abs("../../.cache/clients/bin/python")
	}
	if _, err := os.Stat(python); err != nil {
		t.Skipf("no client libraries: scripts/test prepares them (%v)", err)
	}
	return python
}

// sums returns counters and histograms' sums of a page of metrics by name,
// added up over labels.
func sums(t *testing.T, url string) map[string]float64 {
	t.Helper()
	resp, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	p := expfmt.NewTextParser(model.UTF8Validation)
	families, err := p.TextToMetricFamilies(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]float64{}
	for name, f := range families {
		for _, m := range f.Metric {
			out[name] += m.GetCounter().GetValue() + m.GetHistogram().GetSampleSum()
		}
	}
	return out
}

// Each face answers the unmodified client libraries of its engine's users, and
// its counters and its log equal what they were told.
func TestClients(t *testing.T) {
	python := clientsPython(t)
	for face, names := range map[string][3]string{
		"vllm":   {"vllm:prompt_tokens_total", "vllm:generation_tokens_total"},
		"sglang": {"sglang:prompt_tokens_total", "sglang:generation_tokens_total"},
		"tgi":    {"tgi_request_input_length", "tgi_request_generated_tokens"},
		// The one leaves cached tokens out, which the third counts.
		"llamacpp": {"llamacpp:prompt_tokens_total", "llamacpp:tokens_predicted_total", "llamacpp:prompt_tokens_cached_total"},
		"ollama":   {},
	} {
		t.Run(face, func(t *testing.T) {
			e := startEngine(t, "sim://llama3-8b@h100?engine="+face)
			base := strings.TrimSuffix(e.url, "/v1")
			cmd := exec.Command(python, "testdata/clients.py", face, base, "llama3-8b")
			// The libraries are to speak to the engine alone.
			cmd.Env = append(os.Environ(), "NO_PROXY=*", "HF_HUB_OFFLINE=0", "HF_HUB_DISABLE_TELEMETRY=1", "HF_TOKEN=")
			var stderr bytes.Buffer
			cmd.Stderr = &stderr
			out, err := cmd.Output()
			if err != nil {
				t.Fatalf("%v\n%s", err, stderr.String())
			}
			var told struct{ Requests, Prompt, Output float64 }
			if err := json.Unmarshal(out, &told); err != nil {
				t.Fatal(err)
			}
			if names[0] != "" {
				got := sums(t, base+"/metrics")
				if told.Output < 50 || got[names[0]]+got[names[2]] != told.Prompt || got[names[1]] != told.Output {
					t.Errorf("clients were told %+v, metrics say %v and %v", told, got[names[0]]+got[names[2]], got[names[1]])
				}
			}
			prompt := 0.0
			for _, r := range e.requests(t, 1) {
				prompt += float64(r.Prompt)
			}
			if prompt != told.Prompt {
				t.Errorf("clients were told of %v prompt tokens, the log has %v", told.Prompt, prompt)
			}
		})
	}
}
