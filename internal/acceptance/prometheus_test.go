package acceptance

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// prometheus starts a real Prometheus that scrapes an engine each second and
// returns its base URL; the test is skipped where it is not installed.
func prometheus(t *testing.T, engine string) string {
	t.Helper()
	bin, err := exec.LookPath("prometheus")
	if err != nil {
		if bin, err = filepath.Abs("../../.cache/prometheus/usr/bin/prometheus"); err == nil {
			_, err = os.Stat(bin)
		}
	}
	if err != nil {
		t.Skipf("no Prometheus: scripts/test prepares it on Debian (%v)", err)
	}
	u, err := url.Parse(engine)
	if err != nil {
		t.Fatal(err)
	}
	dir, address := t.TempDir(), fmt.Sprintf("127.0.0.1:%d", freePort(t))
	config := fmt.Sprintf("global: {scrape_interval: 1s}\nscrape_configs: [{job_name: vllm, static_configs: [{targets: ['%s']}]}]\n", u.Host)
	if err := os.WriteFile(filepath.Join(dir, "prometheus.yml"), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(bin, "--config.file="+filepath.Join(dir, "prometheus.yml"), "--storage.tsdb.path="+filepath.Join(dir, "data"), "--web.listen-address="+address)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	return "http://" + address
}

// dashboard are the queries of vLLM's own Grafana dashboard, with its variables
// filled in.
func dashboard() []string {
	const of = `{model_name="llama3-8b"}`
	queries := []string{
		"rate(vllm:prompt_tokens_total" + of + "[30s])", "rate(vllm:generation_tokens_total" + of + "[30s])",
		"vllm:num_requests_running" + of, "vllm:num_requests_waiting" + of, "vllm:kv_cache_usage_perc" + of,
		"sum by(finished_reason) (increase(vllm:request_success_total" + of + "[30s]))",
	}
	for _, h := range []string{"e2e_request_latency", "inter_token_latency", "request_time_per_output_token", "time_to_first_token"} {
		for _, q := range []string{"0.99", "0.95", "0.9", "0.5"} {
			queries = append(queries, "histogram_quantile("+q+", sum by(le) (rate(vllm:"+h+"_seconds_bucket"+of+"[30s])))")
		}
		queries = append(queries, "rate(vllm:"+h+"_seconds_sum"+of+"[30s])\n/\nrate(vllm:"+h+"_seconds_count"+of+"[30s])")
	}
	for _, h := range []string{"request_prompt_tokens", "request_generation_tokens"} {
		queries = append(queries, "sum by(le) (increase(vllm:"+h+"_bucket"+of+"[30s]))")
	}
	for _, h := range []string{"request_queue_time_seconds", "request_prefill_time_seconds", "request_decode_time_seconds", "request_max_num_generation_tokens"} {
		queries = append(queries, "rate(vllm:"+h+"_sum"+of+"[30s])")
	}
	return queries
}

// instant returns the values that a query has now.
func instant(base, query string) ([]string, error) {
	resp, err := http.Get(base + "/api/v1/query?query=" + url.QueryEscape(query))
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	var a struct {
		Status, Error string
		Data          struct{ Result []struct{ Value [2]any } }
	}
	if err := json.NewDecoder(resp.Body).Decode(&a); err != nil || a.Status != "success" {
		return nil, fmt.Errorf("%w %s", err, a.Error)
	}
	var values []string
	for _, r := range a.Data.Result {
		values = append(values, fmt.Sprint(r.Value[1]))
	}
	return values, nil
}

// Every query of vLLM's own dashboard returns numbers in a real Prometheus.
func TestDashboardInPrometheus(t *testing.T) {
	e := startEngine(t, "sim://llama3-8b@h100")
	base := prometheus(t, e.url)
	scraped := "count_over_time(vllm:generation_tokens_total[30s])"
	wait := func(what string, ready func() bool) {
		for deadline := time.Now().Add(30 * time.Second); !ready(); time.Sleep(200 * time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatal("Prometheus did not get ready: ", what)
			}
		}
	}
	// A counter's growth shows from its second scrape on.
	wait(scraped, func() bool { v, err := instant(base, scraped); return err == nil && len(v) == 1 })
	o := run(t, "--url", e.url, "--concurrency", "4", "--requests", "12", "--input-tokens", "20", "--output-tokens", "20", "--inconclusive-ok")
	if o.summary.Requests.Failed != 0 {
		t.Fatalf("%+v", o.summary.Requests)
	}
	grown := `increase(vllm:request_success_total{finished_reason="length"}[30s])`
	wait(grown, func() bool { v, err := instant(base, grown); return err == nil && len(v) == 1 && v[0] != "0" })
	for _, q := range dashboard() {
		values, err := instant(base, q)
		if err != nil || len(values) == 0 || strings.Contains(strings.Join(values, " "), "NaN") {
			t.Errorf("%s: %v, %v", q, values, err)
		}
	}
}
