package acceptance

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// Triton's face answers its own unmodified client library, over HTTP and gRPC,
// and its counters and its log equal what the client was told.
func TestTritonClient(t *testing.T) {
	python := os.Getenv("TOKAMAK_TRITONCLIENT_PYTHON")
	if python == "" {
		python, _ = filepath.Abs("../../.cache/tritonclient/bin/python")
	}
	if _, err := os.Stat(python); err != nil {
		t.Skipf("no tritonclient: scripts/test prepares it (%v)", err)
	}
	e := startEngine(t, "sim://llama3-8b@h100?engine=triton", "--grpc-listen", "127.0.0.1:0", "--metrics-listen", "127.0.0.1:0")
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, python, "testdata/triton.py", strings.TrimPrefix(e.url, "http://"), e.hello["grpc"], "llama3-8b")
	cmd.Env = append(os.Environ(), "NO_PROXY=*", "no_proxy=*")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, stderr.String())
	}
	var told struct{ Requests, Output float64 }
	if err := json.Unmarshal(out, &told); err != nil {
		t.Fatal(err)
	}
	got := sums(t, e.hello["metrics"])
	if told.Requests == 0 || got["nv_inference_request_success"] != told.Requests || got["nv_llm_output_token_len"] != told.Output {
		t.Errorf("the client was told %+v, metrics say %v requests and %v tokens", told, got["nv_inference_request_success"], got["nv_llm_output_token_len"])
	}
	output := 0.0
	for _, r := range e.requests(t, int(told.Requests)) {
		output += float64(r.Output)
	}
	if output != told.Output {
		t.Errorf("the client was told of %v tokens, the log has %v", told.Output, output)
	}
}
