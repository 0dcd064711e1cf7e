package runner

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/tokamak-bench/tokamak/check"
	"github.com/tokamak-bench/tokamak/engine"
	"github.com/tokamak-bench/tokamak/engine/openai"
	"github.com/tokamak-bench/tokamak/wire"
	"github.com/tokamak-bench/tokamak/workload/corpus"
)

// The texts that a model writes ahead of a run.
const (
	defaultTexts = 24
	mostTexts    = 10_000
	textTokens   = 500 // asked for, each
	textWriters  = 4   // requests at a time
	textWarmth   = 0.9 // temperature
	maxText      = 1 << 20
)

const (
	// textKeyVariable holds the key of an endpoint that writes texts and is not
	// the target.
	textKeyVariable = "TOKAMAK_TEXT_API_KEY"
	// textCacheVariable says where written texts are kept: a folder, or off.
	textCacheVariable = "TOKAMAK_TEXT_CACHE"
)

// author has texts written by a model behind an OpenAI-compatible
// endpoint, llm:URL?model=NAME&texts=N, and keeps them.
type author struct {
	transport wire.Transport
	driver    *openai.Driver
	model     string
	texts     int
	cache     string // folder; empty: nothing is kept
	writing   func(texts int) (wrote, end func())
}

// written returns the corpus of texts that the endpoint of a spec writes. Those
// in the cache are not asked for again.
func (r *Run) written(ctx context.Context, spec string) (*corpus.Corpus, error) {
	a, err := r.author(ctx, strings.TrimPrefix(spec, "llm:"))
	if err != nil {
		return nil, err
	}
	defer a.transport.Close()
	texts, err := a.write(ctx)
	if err != nil {
		return nil, fmt.Errorf("texts by %s: %w", a.model, err)
	}
	return corpus.New("llm", texts...)
}

// author connects to an endpoint and finds out its model.
func (r *Run) author(ctx context.Context, address string) (*author, error) {
	base, err := url.Parse(address)
	if err != nil {
		return nil, errors.New("llm: no URL")
	}
	q := base.Query()
	base.RawQuery = ""
	a := &author{texts: defaultTexts, cache: textCache(), model: q.Get("model"), writing: r.opt.Writing}
	if n := q.Get("texts"); n != "" {
		if a.texts, err = strconv.Atoi(n); err != nil || a.texts < 1 || a.texts > mostTexts {
			return nil, fmt.Errorf("llm: expected texts from 1 to %d, found %.20q", mostTexts, n)
		}
	}
	for k := range q {
		if k != "model" && k != "texts" {
			return nil, fmt.Errorf("llm: expected model and texts behind the ?, found %.40q", k)
		}
	}
	temperature := textWarmth
	t := r.scenario.Target.Timeouts
	o := openai.Options{Base: base, OutputMode: openai.Cap, Temperature: &temperature, Auth: r.authorKey(base),
		Limits: wire.Limits{Connect: t.Connect, FirstByte: t.FirstByte, FirstToken: t.FirstToken, Stall: t.Stall, Total: t.Total}}
	if a.transport, err = wire.New(wire.Config{Clock: r.real}); err != nil {
		return nil, err
	}
	if a.model == "" {
		if a.model, err = check.DefaultModel(ctx, a.transport, o); err != nil {
			a.transport.Close()
			return nil, fmt.Errorf("llm: %w", err)
		}
	}
	o.Model = a.model
	if a.driver, err = openai.New(openai.APIChat, o); err != nil {
		a.transport.Close()
		return nil, fmt.Errorf("llm: %w", err)
	}
	return a, nil
}

// authorKey is the credential of an endpoint that writes texts: the target's
// where it is the target's host, else that of the environment, if there is one.
func (r *Run) authorKey(base *url.URL) wire.Field {
	for _, u := range r.scenario.Target.URLs {
		if u.Host == base.Host && u.Scheme == base.Scheme && !r.auth.Value.Empty() {
			return wire.Field{Name: r.auth.Name, Value: r.auth.Value.Reveal()}
		}
	}
	key := os.Getenv(textKeyVariable)
	if key == "" {
		return wire.Field{}
	}
	r.keepSecret("Bearer " + key)
	return wire.Field{Name: "Authorization", Value: "Bearer " + key}
}

// write returns all texts, a few at a time.
func (a *author) write(ctx context.Context) ([]string, error) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	wrote := func() {}
	if a.writing != nil {
		var end func()
		wrote, end = a.writing(a.texts)
		defer end()
	}
	texts, errs := make([]string, a.texts), make([]error, a.texts)
	next := make(chan int)
	var wg sync.WaitGroup
	for range min(textWriters, a.texts) {
		wg.Go(func() {
			for n := range next {
				if texts[n], errs[n] = a.text(ctx, uint64(n)); errs[n] != nil {
					stop()
				} else {
					wrote()
				}
			}
		})
	}
	for n := range a.texts {
		if ctx.Err() != nil {
			break
		}
		next <- n
	}
	close(next)
	wg.Wait()
	for n, err := range errs { // the first that failed, not those stopped for it
		if err != nil && !errors.Is(err, context.Canceled) {
			return nil, fmt.Errorf("text %d of %d: %w", n+1, a.texts, err)
		}
	}
	return texts, cmp.Or(errors.Join(errs...), ctx.Err())
}

// text returns text number n, from the cache or the model.
func (a *author) text(ctx context.Context, n uint64) (string, error) {
	prompt := corpus.Assignment(n)
	if text, ok := a.kept(prompt, n); ok {
		return text, nil
	}
	if ctx.Err() != nil {
		return "", ctx.Err()
	}
	body, err := json.Marshal(map[string]any{"seed": n, "messages": []map[string]string{{"role": "user", "content": prompt}}})
	if err != nil {
		return "", err
	}
	answer, err := check.Ask(ctx, a.transport, a.driver, &engine.Call{Body: body, Open: true, MaxTokens: textTokens})
	switch {
	case err != nil && ctx.Err() != nil:
		return "", ctx.Err()
	case err != nil:
		return "", err
	}
	text := strings.TrimSpace(string(answer.Text(0)))
	if text == "" {
		return "", errors.New("the model wrote none")
	}
	a.keep(prompt, n, text)
	return text, nil
}

// textCache is the folder of written texts.
func textCache() string {
	switch dir := os.Getenv(textCacheVariable); dir {
	case "":
	case "off":
		return ""
	default:
		return dir
	}
	dir, err := os.UserCacheDir()
	if err != nil {
		return ""
	}
	return filepath.Join(dir, "tokamak", "texts")
}

// path names a text by model, prompt and seed.
func (a *author) path(prompt string, seed uint64) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "tokamak text 1\n%q\n%q\n%d\n%d", a.model, prompt, seed, textTokens))
	return filepath.Join(a.cache, hex.EncodeToString(sum[:16])+".txt")
}

// kept returns a text that was written before.
func (a *author) kept(prompt string, seed uint64) (string, bool) {
	if a.cache == "" {
		return "", false
	}
	name := a.path(prompt, seed)
	info, err := os.Stat(name)
	if err != nil || info.Size() == 0 || info.Size() > maxText {
		return "", false
	}
	b, err := os.ReadFile(name)
	return string(b), err == nil && utf8.Valid(b)
}

// keep keeps a text. That it cannot be kept costs a request in the next run.
func (a *author) keep(prompt string, seed uint64, text string) {
	if a.cache == "" || os.MkdirAll(a.cache, 0o700) != nil {
		return
	}
	f, err := os.CreateTemp(a.cache, "new")
	if err != nil {
		return
	}
	_, err = f.WriteString(text)
	if errors.Join(err, f.Close()) != nil || os.Rename(f.Name(), a.path(prompt, seed)) != nil {
		_ = os.Remove(f.Name())
	}
}
