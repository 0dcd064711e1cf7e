package scenario

import (
	"net/url"
	"os"
	"slices"
	"strings"

	"github.com/tokamak-bench/tokamak/workload/corpus"
)

// corpus reads what texts are written of: a built-in word, a file, markov:FILE
// or llm:URL. Files must be there; what is in them the run finds out.
func (r *resolver) corpus() string {
	const id = "workload.text"
	what := "one of " + strings.Join(corpus.Names(), ", ") + ", a text file, markov:FILE or llm:URL"
	t := r.text(id, what)
	if t == "" || slices.Contains(corpus.Names(), t) {
		return t
	}
	if address, ok := strings.CutPrefix(t, "llm:"); ok {
		if u, err := url.Parse(address); err != nil || u.User != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
			r.fail(r.set[id].errorf("expected llm:http://HOST or llm:https://HOST, without a password")) // what is there may hold a password
			return ""
		}
		return t
	}
	f, err := os.Open(strings.TrimPrefix(t, "markov:"))
	if err != nil {
		if near, ok := nearest(t, corpus.Names()); ok {
			what += " (" + near + "?)"
		}
		r.fail(r.set[id].expected(what))
		return ""
	}
	_ = f.Close() // nothing was read
	return t
}
