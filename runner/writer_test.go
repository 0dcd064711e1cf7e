package runner

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tokamak-bench/tokamak/clock"
	"github.com/tokamak-bench/tokamak/scenario"
	"github.com/tokamak-bench/tokamak/workload/corpus"
)

// model is an endpoint that writes a text for each seed.
type model struct {
	asked  atomic.Int64
	status int
	key    atomic.Value
}

func (m *model) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	if q.URL.Path == "/v1/models" {
		fmt.Fprint(w, `{"data":[{"id":"small"}]}`)
		return
	}
	m.asked.Add(1)
	m.key.Store(q.Header.Get("Authorization"))
	if m.status != 0 {
		w.WriteHeader(m.status)
		return
	}
	b, _ := io.ReadAll(q.Body)
	var body struct {
		Seed     int
		Messages []struct{ Content string }
	}
	if json.Unmarshal(b, &body) != nil || !strings.HasPrefix(body.Messages[0].Content, "Write ") {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	fmt.Fprintf(w, "data: {\"id\":\"x\",\"object\":\"chat.completion.chunk\",\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\",\"content\":\"Text %d says a lot.\\n\\nIn two paragraphs.\"},\"finish_reason\":null}]}\n\n", body.Seed)
	fmt.Fprint(w, "data: {\"id\":\"x\",\"object\":\"chat.completion.chunk\",\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n")
}

func writing(t *testing.T, m *model) (*Run, string) {
	t.Helper()
	s := httptest.NewServer(m)
	t.Cleanup(s.Close)
	r := &Run{scenario: &scenario.Scenario{}, real: clock.NewReal()}
	t.Cleanup(r.real.Close)
	r.scenario.Target.URLs = []*url.URL{{Scheme: "http", Host: "elsewhere"}}
	const d = 10 * time.Second
	r.scenario.Target.Timeouts = scenario.Timeouts{Connect: d, FirstByte: d, FirstToken: d, Stall: d, Total: d}
	return r, "llm:" + s.URL + "?texts=5"
}

// Texts are asked for once, each by a prompt of its own, and then come from
// the cache.
func TestWrittenTexts(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "texts")
	t.Setenv(textCacheVariable, dir)
	t.Setenv(textKeyVariable, "sesame-open")
	m := &model{}
	r, spec := writing(t, m)
	var there, ended atomic.Int64
	r.opt.Writing = func(texts int) (wrote, end func()) {
		if there.Store(0); texts != 5 {
			t.Errorf("%d texts", texts)
		}
		return func() { there.Add(1) }, func() { ended.Add(there.Load()) }
	}
	for range 2 {
		c, err := r.written(t.Context(), spec)
		if err != nil {
			t.Fatal(err)
		}
		all := ""
		for _, p := range c.Pieces {
			all += p.Text
		}
		for n := range 5 {
			if !strings.Contains(all, fmt.Sprintf("Text %d says a lot.\n\n", n)) {
				t.Errorf("text %d is not in %q", n, all)
			}
		}
		if m.asked.Load() != 5 || m.key.Load() != "Bearer sesame-open" {
			t.Errorf("%d requests, key %v", m.asked.Load(), m.key.Load())
		}
	}
	if ended.Load() != 2*5 {
		t.Errorf("%d texts were told of by the end, twice 5 are there", ended.Load())
	}
	files, err := os.ReadDir(dir)
	if err != nil || len(files) != 5 {
		t.Fatalf("%v, %v", files, err)
	}
	if err := os.WriteFile(filepath.Join(dir, files[0].Name()), []byte("\xff"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := r.written(t.Context(), spec); err != nil || m.asked.Load() != 6 {
		t.Errorf("a damaged text is asked for again: %d requests, %v", m.asked.Load(), err)
	}
	if _, err := r.written(t.Context(), spec+"&model=other"); err != nil || m.asked.Load() != 11 {
		t.Errorf("another model writes its own: %d requests, %v", m.asked.Load(), err)
	}
}

func TestWrittenTextsFail(t *testing.T) {
	t.Setenv(textCacheVariable, "off")
	r, spec := writing(t, &model{status: 401})
	if _, err := r.written(t.Context(), spec); err == nil || !strings.Contains(err.Error(), "401") {
		t.Error(err)
	}
	for _, bad := range []string{"llm:http://h?texts=0", "llm:http://h?texts=x", "llm:http://h?other=1"} {
		if _, err := r.written(t.Context(), bad); err == nil {
			t.Errorf("%s is taken", bad)
		}
	}
}

// Assignments differ and ask for texts of many kinds.
func TestAssignments(t *testing.T) {
	seen := map[string]bool{}
	for n := range uint64(100) {
		seen[corpus.Assignment(n)] = true
	}
	if len(seen) != 100 || corpus.Assignment(3) != corpus.Assignment(3) {
		t.Errorf("%d different assignments of 100", len(seen))
	}
}
