package runner

import (
	"context"
	"strings"
	"sync"

	"github.com/tokamak-bench/tokamak/exit"
	"github.com/tokamak-bench/tokamak/token"
	"github.com/tokamak-bench/tokamak/token/template"
	"github.com/tokamak-bench/tokamak/workload/corpus"
)

// noClass stands for the number of a class where a setting is none's.
const noClass = -1

// wrong is the error of what a setting names: exit 2, at the setting's place.
func (r *Run) wrong(id string, class int, err error) error {
	return exit.With(exit.Usage, r.scenario.Wrong(id, class, err))
}

// openContent opens everything that the workload's settings name, so that what
// is wrong with it is said before the load.
func (r *Run) openContent(ctx context.Context) error {
	if err := r.openTokenizer(); err != nil {
		return err
	}
	if err := r.openPrompts(); err != nil {
		return r.wrong(r.promptSetting(), noClass, err)
	}
	if err := r.openTexts(ctx); err != nil {
		return err
	}
	return r.makeTools(r.counter, mostTools)
}

// checkContent looks at the same where virtual time has no use for it.
func (r *Run) checkContent(context.Context) error {
	w := &r.scenario.Workload
	counter, err := token.Open("builtin")
	if err != nil {
		return err
	}
	if w.Tokenizer != "" && w.Tokenizer != "server" {
		if counter, err = r.tokenizer(w.Tokenizer); err != nil {
			return r.wrong("workload.tokenizer", noClass, err)
		}
	}
	if tokenizerFile(w.Tokenizer) && w.ChatTemplate != "auto" && w.ChatTemplate != "none" {
		if _, err := template.OpenFile(w.ChatTemplate, w.Tokenizer); err != nil {
			return r.wrong(r.promptSetting(), noClass, err)
		}
	}
	for _, t := range r.namedTexts() {
		if strings.HasPrefix(t.text, "llm:") {
			continue
		}
		if _, err := corpus.Open(t.text); err != nil {
			return r.wrong(t.setting, t.class, err)
		}
	}
	return r.makeTools(counter, someTools)
}

// promptSetting is the setting that chose the chat template.
func (r *Run) promptSetting() string {
	if t := r.scenario.Workload.ChatTemplate; t != "" && t != "auto" && t != "none" {
		return "workload.chat-template"
	}
	return "workload.tokenizer"
}

// namedText is what a setting says that texts are written of.
type namedText struct {
	text, setting string
	class         int
}

// namedTexts are the corpora that the workload names.
func (r *Run) namedTexts() []namedText {
	var list []namedText
	cfg := &r.scenario.Workload.Config
	for i, c := range cfg.Classes {
		if c.Text != "" {
			list = append(list, namedText{c.Text, "workload.text", i})
		}
	}
	if t := cfg.Traffic; t != nil && t.Text != "" {
		n := namedText{t.Text, "workload.traffic", noClass}
		if r.scenario.Given("workload.text") {
			n.setting = "workload.text"
		}
		list = append(list, n)
	}
	return list
}

// openTexts makes ready the corpora that the workload names.
func (r *Run) openTexts(ctx context.Context) error {
	var prepared sync.Map // of *corpus.Corpus by text, those that a model writes
	r.texts.Open = func(text string) (*corpus.Corpus, error) {
		if c, ok := prepared.Load(text); ok {
			return c.(*corpus.Corpus), nil
		}
		return corpus.Open(text)
	}
	for _, t := range r.namedTexts() {
		if strings.HasPrefix(t.text, "llm:") {
			if r.opt.DryRun {
				r.scenario.Notices = append(r.scenario.Notices, "a dry run has no texts written: those shown are plain")
				prepared.Store(t.text, plainText())
			} else if _, ok := prepared.Load(t.text); !ok {
				text, err := r.written(ctx, t.text)
				if err != nil {
					return exit.With(exit.Target, err)
				}
				prepared.Store(t.text, text)
			}
		}
		if _, err := r.texts.of(t.text); err != nil {
			return r.wrong(t.setting, t.class, err)
		}
	}
	return nil
}

// How many definitions of tools are made beforehand: all that will be sent,
// or a few where none is.
const (
	mostTools = 1 << 30
	someTools = 16
)

// makeTools makes the definitions that classes bring along: a tokenizer may
// need more than the length asked for.
func (r *Run) makeTools(counter token.Tokenizer, most int64) error {
	cfg := r.scenario.Workload.Config
	cfg.Salt = r.salt
	for i := range cfg.Classes {
		t := cfg.Tools(&cfg.Classes[i], r.scenario.Seed)
		if t.Count == 0 || t.Tokens == 0 {
			continue
		}
		t.Count = min(t.Count, most)
		if _, _, err := t.JSON(func(s string) (int64, error) { n, err := counter.Count(s); return int64(n), err }); err != nil {
			return r.wrong("workload.tool-tokens", i, err)
		}
	}
	return nil
}
