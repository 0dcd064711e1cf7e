package runner

import (
	"sync"

	"github.com/tokamak-bench/tokamak/token"
	"github.com/tokamak-bench/tokamak/workload"
)

// Texts writes requests as text. What that takes is made ready at the first
// use, so that a run of literal requests never pays for it.
type Texts struct {
	Tokenizer token.Tokenizer

	once     sync.Once
	renderer *workload.Renderer
	err      error
}

// Render returns a request's messages and the tokens of those that were
// written, 0 where all content is literal.
func (t *Texts) Render(q *workload.Request) ([]workload.RenderedMessage, int64, error) {
	t.once.Do(func() { t.renderer, t.err = workload.NewRenderer(t.Tokenizer, workload.Prose) })
	if t.err != nil {
		return nil, 0, t.err
	}
	return t.renderer.Render(q)
}
