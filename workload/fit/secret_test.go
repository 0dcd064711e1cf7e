package fit

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/tokamak-bench/tokamak/workload/trace"
)

// canaries are what must never come out.
const (
	canaryText   = "XyzzyPlughCanary"
	canaryTenant = "TenantCanary-7731"
)

// canaryLog is a log of chats in which every text, tenant, session and id
// holds a canary.
func canaryLog(lines int) string {
	var b strings.Builder
	for i := range lines {
		fmt.Fprintf(&b, `{"at": %.3f, "tenant": "%s-%d", "session_id": "%s-s%d", "id": "%s-i%d", "messages": [{"role": "user", "content": "%s number %d"}], "output_tokens": %d}`+"\n",
			float64(i)*1.7, canaryTenant, i%3, canaryTenant, i/2, canaryTenant, i, canaryText, i, 10+i%50)
	}
	return b.String()
}

func openText(name, text string) (*trace.Reader, error) {
	return trace.Open(name, func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(text)), nil }, trace.Options{MaxBad: .5})
}

// Neither texts nor names reach the model, the report or an error.
func TestNothingLeaks(t *testing.T) {
	log := canaryLog(700) + `{"tenant": "` + canaryTenant + `", "messages": ` + canaryText + "}\n"
	for _, by := range []By{ByAny, ByTenant, BySession, ByModel, ByNone} {
		r, err := openText("log.jsonl", log)
		if err != nil {
			t.Fatal(err)
		}
		m, report, err := Fit(t.Context(), r, Options{By: by})
		if err != nil {
			t.Fatal(err)
		}
		var file bytes.Buffer
		if err := m.Write(&file); err != nil {
			t.Fatal(err)
		}
		asJSON, err := json.Marshal(report)
		if err != nil {
			t.Fatal(err)
		}
		for what, text := range map[string]string{"model": file.String(), "JSON": string(asJSON), "text": report.Text()} {
			if strings.Contains(text, "anary") {
				t.Errorf("by %q: the %s holds a canary", by, what)
			}
		}
		if report.Skipped != 1 || report.Rows != 700 || !strings.Contains(report.Text(), "1 line could not be read") {
			t.Errorf("%d rows, %d skipped: %s", report.Rows, report.Skipped, report.Text())
		}
	}
	r, err := openText("log.jsonl", canaryLog(5))
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err = Fit(t.Context(), r, Options{}); err == nil || strings.Contains(err.Error(), "anary") {
		t.Errorf("five rows: %v", err)
	}
}

// Names are kept where the user asks for it, and texts learnt from handed on.
func TestNamesOnRequest(t *testing.T) {
	r, err := openText("log.jsonl", canaryLog(700))
	if err != nil {
		t.Fatal(err)
	}
	texts := map[string]int{}
	m, _, err := Fit(t.Context(), r, Options{KeepNames: true, Texts: func(owner, text string) { texts[owner]++ }})
	if err != nil {
		t.Fatal(err)
	}
	if len(m.Clients) != 3 || m.Clients[0].Name != canaryTenant+"-0" {
		t.Errorf("%d clients, the first %q", len(m.Clients), m.Clients[0].Name)
	}
	if len(texts) != 700 {
		t.Errorf("texts of %d owners, want one a tenant and session", len(texts))
	}
}
