package fit

import (
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/tokamak-bench/tokamak/workload/trace"
	"github.com/tokamak-bench/tokamak/workload/traffic"
)

// publicTrace returns the path of a public trace, or skips.
func publicTrace(t testing.TB, name string) string {
	t.Helper()
	path := filepath.Join("..", "..", "..", "shared", "traces", name)
	if _, err := os.Stat(path); err != nil {
		t.Skipf("the trace is not here: %v", err)
	}
	return path
}

// fitTrace fits a public trace.
func fitTrace(t testing.TB, name string, o Options) (*traffic.Model, *Report) {
	t.Helper()
	path := publicTrace(t, name)
	r, err := trace.Open(name, func() (io.ReadCloser, error) { return os.Open(path) }, trace.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = r.Close() }()
	m, report, err := Fit(t.Context(), r, o)
	if err != nil {
		t.Fatal(err)
	}
	return m, report
}
