package runner

import (
	"sync"

	"github.com/tokamak-bench/tokamak/token"
	"github.com/tokamak-bench/tokamak/workload"
	"github.com/tokamak-bench/tokamak/workload/corpus"
)

// Texts writes requests as text. What that takes is made ready at the first
// use of a corpus, so that a run of literal requests never pays for it.
type Texts struct {
	Tokenizer token.Tokenizer
	// Open returns the corpus that a request's Text names; nil: corpus.Open.
	Open func(text string) (*corpus.Corpus, error)

	writers sync.Map // of *textWriter by text
}

// textWriter is the renderer of one corpus.
type textWriter struct {
	once     sync.Once
	renderer *workload.Renderer
	err      error
}

// Render returns a request's messages and the tokens of those that were
// written, 0 where all content is literal.
func (t *Texts) Render(q *workload.Request) ([]workload.RenderedMessage, int64, error) {
	r, err := t.of(q.Text)
	if err != nil {
		return nil, 0, err
	}
	return r.Render(q)
}

// Tools returns the definitions of tools of a request and their tokens.
func (t *Texts) Tools(q *workload.Request) ([]byte, int64, error) {
	if q.Tools.Count == 0 {
		return nil, 0, nil
	}
	r, err := t.of(q.Text)
	if err != nil {
		return nil, 0, err
	}
	return r.Tools(q)
}

// of returns the renderer of a corpus.
func (t *Texts) of(text string) (*workload.Renderer, error) {
	found, ok := t.writers.Load(text)
	if !ok {
		found, _ = t.writers.LoadOrStore(text, &textWriter{})
	}
	w := found.(*textWriter)
	w.once.Do(func() {
		open := corpus.Open
		if t.Open != nil {
			open = t.Open
		}
		var c *corpus.Corpus
		if c, w.err = open(text); w.err == nil {
			w.renderer, w.err = workload.NewRenderer(t.Tokenizer, c)
		}
	})
	return w.renderer, w.err
}
