package runner

import (
	"errors"
	"fmt"
	"strings"
	"sync/atomic"

	"github.com/tokamak-bench/tokamak/engine/openai"
	"github.com/tokamak-bench/tokamak/record"
	"github.com/tokamak-bench/tokamak/token"
	"github.com/tokamak-bench/tokamak/token/template"
)

// Where prompt_counted is from; the words of prompt_source.
const (
	promptContent  = "content"
	promptTemplate = "template"
	promptServer   = "server"
)

// Prompts counts the whole prompt of a chat, as the server's usage does, from
// the request's body.
type Prompts interface {
	Name() string   // of what counts, for people
	Source() string // the word of prompt_source
	Count(body []byte) (int, error)
}

// countPrompt says in the row how many tokens the prompt has. content is the
// count of texts that were written, 0 where there are none: then those of the
// body count. The whole prompt is counted where something can.
func (h *HTTP) countPrompt(row *record.Attempt, body []byte, content int64) {
	if h.Counter == nil {
		return
	}
	if content > 0 {
		row.PromptCounted, row.PromptSource = record.Some(content), promptContent
	}
	if h.Driver.Name() != openai.APIChat {
		return
	}
	if h.Prompts != nil {
		if n, err := h.Prompts.Count(body); err == nil {
			row.PromptCounted, row.PromptSource = record.Some(int64(n)), h.Prompts.Source()
			return
		}
	}
	if content > 0 {
		return
	}
	chat, err := template.ParseChat(body)
	if err != nil {
		return
	}
	total := 0
	for _, text := range chat.Texts() {
		n, err := h.Counter.Count(text)
		if err != nil {
			return
		}
		total += n
	}
	row.PromptCounted, row.PromptSource = record.Some(int64(total)), promptContent
}

// templated counts by a chat template and the model's own tokenizer.
type templated struct {
	template  *template.Template
	tokenizer token.Tokenizer
}

func (t *templated) Name() string { return "chat template " + t.template.Name() }

func (*templated) Source() string { return promptTemplate }

func (t *templated) Count(body []byte) (int, error) {
	chat, err := template.ParseChat(body)
	if err != nil {
		return 0, err
	}
	if chat.Media() {
		return 0, errMedia
	}
	return t.template.Count(t.tokenizer, chat)
}

var errMedia = errors.New("only the server knows how many tokens an image is")

// asked counts by asking the server, until that has failed too often.
type asked struct {
	server  *token.Server
	failed  atomic.Int64 // in a row
	counted atomic.Bool  // it counted once
}

// maxUnasked is after how many failures in a row the server is not asked again:
// each may have taken its whole deadline.
const maxUnasked = 3

func (a *asked) Name() string { return a.server.Name() + " with its chat template" }

func (*asked) Source() string { return promptServer }

func (a *asked) Count(body []byte) (int, error) {
	if a.failed.Load() >= maxUnasked {
		return 0, token.ErrNoChatCount
	}
	n, err := a.server.CountChat(body)
	switch {
	case err == nil:
		a.failed.Store(0)
		a.counted.Store(true)
	case errors.Is(err, token.ErrChatRefused) && a.counted.Load():
		// This chat is refused, the next may not be.
	default:
		a.failed.Add(1)
	}
	return n, err
}

// openPrompts finds what counts whole prompts: the template that was asked for,
// else that beside the tokenizer's file, else the server. A tokenizer that is
// not the model's own counts no special tokens, so that there is none.
func (r *Run) openPrompts() error {
	w := &r.scenario.Workload
	switch spec := w.ChatTemplate; {
	case spec == "none" || r.scenario.Target.Sim() || r.scenario.Target.API != openai.APIChat:
		return nil
	case spec != "auto" && spec != "":
		beside := spec
		if tokenizerFile(w.Tokenizer) {
			beside = w.Tokenizer
		}
		t, err := template.OpenFile(spec, beside)
		if err != nil {
			return err
		}
		r.useTemplate(t)
		return nil
	}
	if s, ok := r.counter.(*token.Server); ok {
		r.prompts = &asked{server: s}
		return nil
	}
	if !tokenizerFile(w.Tokenizer) {
		return nil
	}
	t, err := template.Beside(w.Tokenizer)
	if errors.Is(err, template.ErrNone) {
		t, err = r.servedTemplate()
	}
	if err != nil || t == nil {
		return err
	}
	r.useTemplate(t)
	return nil
}

// useTemplate counts by a template. One that nothing says the server of is
// rendered as vLLM and SGLang do.
func (r *Run) useTemplate(t *template.Template) {
	if t.Dialect == template.Plain {
		t.Dialect = template.VLLM
	}
	r.prompts = &templated{t, r.counter}
}

// tokenizerFile tells whether a tokenizer is a file of the model's.
func tokenizerFile(spec string) bool {
	switch spec {
	case "", "builtin", "server", "estimate":
		return false
	}
	return !strings.HasPrefix(spec, "tiktoken:")
}

// servedTemplate returns the chat template of a server that tells it; nil: none does.
func (r *Run) servedTemplate() (*template.Template, error) {
	if r.opt.DryRun {
		return nil, nil
	}
	s, err := r.serverTokenizer()
	if err != nil {
		return nil, err
	}
	p, err := s.Props()
	if err != nil {
		return nil, nil //nolint:nilerr // a server that does not tell is no failure
	}
	t, err := template.New("of the server", p.ChatTemplate, map[string]string{"bos_token": p.BOS, "eos_token": p.EOS})
	if err != nil {
		r.scenario.Notices = append(r.scenario.Notices, fmt.Sprintf("prompts are counted without what the chat template adds: %v", err))
		return nil, nil
	}
	t.Dialect, t.AddBOS, t.Parts = template.LlamaCPP, p.AddBOS, p.Caps.Parts
	return t, nil
}

// overhead is what the template adds to a message of one token; 0: not known.
func overhead(p *templated) int {
	n, err := p.template.Count(p.tokenizer, template.NewChat(template.Message{Role: "user", Text: "a"}))
	if err != nil {
		return 0
	}
	alone, err := p.tokenizer.Count("a")
	if err != nil {
		return 0
	}
	return n - alone
}

// promptWords says how whole prompts are counted; empty: they are not.
func (r *Run) promptWords() string {
	if r.prompts == nil {
		return ""
	}
	words := r.prompts.Name()
	if t, ok := r.prompts.(*templated); ok {
		if n := overhead(t); n > 0 {
			words += fmt.Sprintf(": %d tokens around one message, on top of those asked for", n)
		}
	}
	return words
}
