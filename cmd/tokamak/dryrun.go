package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"

	"github.com/tokamak-bench/tokamak/report"
	"github.com/tokamak-bench/tokamak/runner"
	"github.com/tokamak-bench/tokamak/scenario"
	"github.com/tokamak-bench/tokamak/wire"
)

// dryPlan is what -o json prints of a dry run.
type dryPlan struct {
	Scenario json.RawMessage `json:"scenario"`
	Request  json.RawMessage `json:"request,omitempty"` // first body
	Curl     string          `json:"curl,omitempty"`
}

// dryRun prints what would be done.
func (c *runCommand) dryRun(std streams, s *scenario.Scenario, r *runner.Run) error {
	first, err := r.First()
	if err != nil {
		return err
	}
	if c.json() {
		frozen, err := s.Frozen()
		if err != nil {
			return err
		}
		p := dryPlan{Scenario: frozen}
		if first != nil {
			p.Request, p.Curl = first.Body, curl(s, first)
		}
		return printJSON(std.out, p)
	}
	request := "virtual time: requests have no bodies"
	if first != nil {
		request = fmt.Sprintf("first body\n%s\n\nthe same as curl%s\n%s", first.Body, unsaid(s, r.Plan().Model, first), curl(s, first))
	}
	_, err = io.WriteString(std.out, report.Clean(planText(s, r.Plan())+"\n\n"+request)+"\n")
	return err
}

// unsaid says, in brackets, what a dry run cannot know or must not show.
func unsaid(s *scenario.Scenario, model string, r *wire.Request) string {
	t := &s.Target
	var parts []string
	if model == "" {
		parts = append(parts, "a run asks the target for its only model and names it in each body")
	}
	if t.Sim() {
		parts = append(parts, "the simulated engine has its address only once it runs")
	}
	secrets := "secrets are variables"
	if basic(t, r) {
		secrets += ", $USERINFO the URL's user:password"
	}
	if r.URL.RawQuery != "" {
		secrets += ", and values of the query are left out"
	}
	return " (" + strings.Join(append(parts, secrets), "; ") + ")"
}

// basic tells whether the URL's user info is the request's credential.
func basic(t *scenario.Target, r *wire.Request) bool {
	return slices.ContainsFunc(r.Header, func(f wire.Field) bool {
		given := slices.ContainsFunc(t.Header, func(h scenario.Header) bool { return strings.EqualFold(h.Name, f.Name) })
		return !given && strings.EqualFold(f.Name, "Authorization") && strings.HasPrefix(f.Value, "Basic ")
	})
}

// curl writes a request as a command of curl. Secrets are variables of the
// shell.
func curl(s *scenario.Scenario, r *wire.Request) string {
	t := &s.Target
	args := []string{"curl -N " + quote(scenario.Redacted(r.URL))}
	add := func(flag, v string) {
		if v != "" {
			args = append(args, flag+" "+quote(v))
		}
	}
	if r.Method != http.MethodPost {
		add("-X", r.Method)
	}
	add("--unix-socket", t.UnixSocket)
	add("--cacert", t.TLS.CA)
	add("--cert", t.TLS.Cert)
	add("--key", t.TLS.Key)
	if t.TLS.Insecure {
		args = append(args, "-k")
	}
	if t.HTTP2 {
		args = append(args, "--http2-prior-knowledge")
	}
	if p := t.Proxy.URL; p != nil {
		add("--proxy", scenario.Redacted(p))
	}
	user := basic(t, r)
	for _, f := range r.Header {
		if user && strings.EqualFold(f.Name, "Authorization") {
			args = append(args, `-u "$USERINFO"`)
			continue
		}
		if text, secret := secretField(t, f.Name); secret {
			args = append(args, `-H "`+f.Name+": "+text+`"`)
			continue
		}
		add("-H", f.Name+": "+f.Value)
	}
	add("--data-binary", string(r.Body))
	return strings.Join(args, " \\\n  ")
}

// secretField returns what stands for the value of a field that the user gave.
func secretField(t *scenario.Target, name string) (string, bool) {
	i := slices.IndexFunc(t.Header, func(h scenario.Header) bool { return strings.EqualFold(h.Name, name) })
	switch {
	case i >= 0 && t.Header[i].Env != "":
		return "$" + t.Header[i].Env, true
	case i >= 0:
		return "$" + strings.ToUpper(strings.ReplaceAll(name, "-", "_")), true
	case !strings.EqualFold(name, t.Auth.Header):
		return "", false
	}
	key := "$API_KEY"
	if strings.HasPrefix(t.Auth.From, "$") {
		key = t.Auth.From
	}
	if strings.EqualFold(name, "Authorization") {
		key = "Bearer " + key
	}
	return key, true
}

// quote quotes text for the shell.
func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }
