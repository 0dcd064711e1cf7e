package check

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tokamak-bench/tokamak/clock"
	"github.com/tokamak-bench/tokamak/engine/openai"
	"github.com/tokamak-bench/tokamak/exit"
	"github.com/tokamak-bench/tokamak/wire"
)

// against is a transport to a handler that gets only what is no list of models.
func against(t *testing.T, h http.HandlerFunc) (wire.Transport, openai.Options) {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/v1/models" {
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprint(w, `{"data":[{"id":"m"}]}`)
			return
		}
		_, _ = io.Copy(io.Discard, r.Body) // only then does the server see that a client went away
		h(w, r)
	}))
	c := clock.NewPortable()
	tr, err := wire.New(wire.Config{Clock: c})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { tr.Close(); server.Close(); c.Close() })
	base, err := url.Parse(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	return tr, openai.Options{Base: base}
}

func lineOf(r *Report, name string) Line {
	i := slices.IndexFunc(r.Lines, func(l Line) bool { return l.Name == name })
	return r.Lines[i]
}

// A stream without end is cut off after so many events, and named.
func TestAnEndlessStreamIsCut(t *testing.T) {
	tr, o := against(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		for {
			if _, err := fmt.Fprint(w, "data: {\"object\":\"chat.completion.chunk\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"x\"}}]}\n\n"); err != nil {
				return
			}
		}
	})
	r, err := Run(t.Context(), Options{Transport: tr, OpenAI: o})
	if err != nil {
		t.Fatal(err)
	}
	if l := lineOf(r, lineStreaming); r.Usable || l.State != Fail || !strings.Contains(l.Text, "16 tokens asked, and after") {
		t.Errorf("%+v", l)
	}
}

// Looking ends with the time for it, and with the user's: either way what was
// seen stands in the report.
func TestLookingEnds(t *testing.T) {
	hang := func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }
	tr, o := against(t, hang)
	var asking []string
	r, err := Run(t.Context(), Options{Transport: tr, OpenAI: o, All: 50 * time.Millisecond, Asking: func(what string) { asking = append(asking, what) }})
	if err != nil || r.Usable {
		t.Fatalf("%v, %+v", err, r)
	}
	if l := lineOf(r, lineStreaming); l.State != Fail || !strings.Contains(l.Text, "time for looking was up") {
		t.Errorf("%+v", l)
	}
	if l := lineOf(r, lineUsage); !strings.Contains(l.Text, "ended before") {
		t.Errorf("%+v", l)
	}
	if len(asking) < 2 || asking[0] != "the list of models" || asking[1] != "an answer of 16 tokens" {
		t.Errorf("said %q", asking)
	}

	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	r, err = Run(ctx, Options{Transport: tr, OpenAI: o})
	if exit.Of(err) != exit.Interrupted || r == nil || lineOf(r, lineModel).State != OK {
		t.Errorf("%v, %+v", err, r)
	}
}
