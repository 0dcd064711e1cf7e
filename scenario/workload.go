package scenario

import (
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tokamak-bench/tokamak/stat"
	"github.com/tokamak-bench/tokamak/token"
	"github.com/tokamak-bench/tokamak/workload"
)

// The defaults of a synthetic workload, in tokens.
const (
	defaultInput  = 256
	defaultOutput = 128
	// mostTemperature is beyond what any server takes.
	mostTemperature = 100
)

// Tokenizers with a name; any other word is a file.
var tokenizers = []string{"builtin", "server", "estimate"}

func (r *resolver) workload(s *Scenario) {
	w := &s.Workload
	w.Config.Traffic = r.traffic()
	if !r.has("workload.traffic") {
		w.Config.Dataset = r.dataset()
		w.Config.Classes = r.classes(w.Config.Dataset != nil)
	}
	w.OutputMode = OutputMode(r.oneOf("workload.output-mode", string(Exact), string(Exact), string(Cap)))
	if r.has("workload.temperature") {
		t := r.between("workload.temperature", "a number", 0, 0, mostTemperature)
		w.Temperature = &t
	}
	w.Reasoning = r.reasoningSwitch(s)
	w.Tokenizer = r.tokenizer()
	w.ChatTemplate = r.chatTemplate()
	w.Body = r.body()
}

func (r *resolver) tokenizer() string {
	t := r.text("workload.tokenizer", "builtin, tiktoken:NAME, server, estimate, or a tokenizer.json or SentencePiece model")
	switch {
	case t == "":
		return tokenizers[0]
	case slices.Contains(tokenizers, t):
		return t
	case strings.HasPrefix(t, "tiktoken:"):
		known := token.Encodings()
		name, _, ranks := strings.Cut(strings.TrimPrefix(t, "tiktoken:"), "=")
		if ranks {
			known = token.Patterns()
		}
		if !slices.Contains(known, name) {
			r.fail(r.set["workload.tokenizer"].errorf("tokenizer %s: expected behind tiktoken: one of %s", t, strings.Join(known, ", ")))
		}
		return t
	}
	return r.file("workload.tokenizer")
}

func (r *resolver) chatTemplate() string {
	switch t := r.text("workload.chat-template", "auto, none, or a chat template"); t {
	case "":
		return "auto"
	case "auto", "none":
		return t
	}
	if t := r.set["workload.tokenizer"].text; t == "" || slices.Contains(tokenizers, t) {
		r.fail(r.set["workload.chat-template"].errorf("a chat template counts by the model's own tokenizer: give its file with %s", word("workload.tokenizer")))
	}
	return r.file("workload.chat-template")
}

// ofDataset refuses what says how a dataset is read and sent where there is
// none.
func (r *resolver) ofDataset() {
	for _, id := range []string{"conversations", "repeat", "salt", "keep-names", "jitter", "dataset-format", "dataset-map", "dataset-turns", "block-tokens", "max-bad"} {
		r.needs("workload."+id, "workload.dataset")
	}
}

func (r *resolver) dataset() *workload.Dataset {
	r.ofDataset()
	if !r.has("workload.dataset") {
		return nil
	}
	for _, id := range []string{"workload.input-tokens", "workload.prefix-tokens", "workload.turns", "workload.images", "workload.audio", "workload.tools", "workload.tool-tokens"} {
		if v, ok := r.set[id]; ok {
			r.fail(v.errorf("%s does not go with dataset: its texts are sent as they are", word(id)))
		}
	}
	d := &workload.Dataset{
		Repeat:        r.boolean("workload.repeat"),
		Salt:          r.boolean("workload.salt"),
		KeepNames:     r.boolean("workload.keep-names"),
		Conversations: r.boolean("workload.conversations"),
		Jitter:        r.duration("workload.jitter", 0, true),
		Reading:       r.reading(),
		Image:         r.madeImage(),
	}
	if api, ok := r.set["target.api"]; ok {
		d.NoMedia = api.text == "openai-completions"
	}
	if d.Name = r.set["workload.dataset"].text; d.Name == "-" {
		d.Open, d.Once = func() (io.ReadCloser, error) { return io.NopCloser(os.Stdin), nil }, true
		return d
	}
	name := r.file("workload.dataset")
	d.Dir = filepath.Dir(name)
	d.Open = func() (io.ReadCloser, error) { return os.Open(name) }
	return d
}

// classKeys are the keys of an entry of classes; those that a workload has
// too are inherited from it.
var classKeys = []string{"name", "tenant", "weight", "input-tokens", "output-tokens", "prefix-tokens", "prefixes",
	"turns", "think", "patience", "reuse", "text",
	"images", "image-size", "image-format", "image-bytes", "audio", "tools", "tool-tokens"}

// recordedKeys are those that a class beside a dataset has.
var recordedKeys = []string{"name", "tenant", "output-tokens", "patience", "text"}

// classes returns the kinds of traffic: those of the list, or the one that
// the workload's own settings describe.
func (r *resolver) classes(dataset bool) []workload.Class {
	v, ok := r.set["workload.classes"]
	if !ok {
		c := r.class(dataset)
		if dataset && c.Output == nil && c.Text == "" && c.Patience == nil {
			return nil
		}
		return []workload.Class{c}
	}
	if v.kind != listValue || len(v.items) == 0 {
		r.fail(v.expected("a list of at least one class"))
		return nil
	}
	known := classKeys
	if dataset {
		known = recordedKeys
		if len(v.items) > 1 {
			r.fail(v.items[1].errorf("expected one class beside dataset, which says what its rows leave open"))
		}
	}
	var all []workload.Class
	for i, item := range v.items {
		if item.kind != mapValue {
			r.fail(item.expected("a mapping with the keys " + strings.Join(known, ", ")))
			continue
		}
		sub := &resolver{set: maps.Clone(r.set), env: r.env}
		for _, e := range item.entries {
			switch {
			case !slices.Contains(classKeys, e.key):
				sub.fail(unknownWord(e, "a class", known))
				continue
			case !slices.Contains(known, e.key):
				sub.fail(&Error{e.pos, e.key + " does not go with dataset: expected " + strings.Join(known, ", ")})
				continue
			}
			if own, ok := r.set["workload."+e.key]; ok && own.pos.Flag != "" {
				continue // a flag wins over the file
			}
			sub.set["workload."+e.key] = e.value
			r.places[classPlace("workload."+e.key, i)] = e.value.pos
		}
		all = append(all, sub.class(dataset))
		r.errs = append(r.errs, sub.errs...)
	}
	return all
}

// class reads one kind of traffic from the settings.
func (r *resolver) class(dataset bool) workload.Class {
	c := workload.Class{
		Name:         r.text("workload.name", "the name of a class"),
		Tenant:       r.text("workload.tenant", "the name of a tenant"),
		Weight:       r.number("workload.weight", "a weight from 0 on", 1, true),
		Input:        r.lengths("workload.input-tokens", "token", workload.MaxTokens),
		Output:       r.lengths("workload.output-tokens", "token", workload.MaxTokens),
		PrefixTokens: r.within("workload.prefix-tokens", 0, 0, workload.MaxTokens),
		Prefixes:     r.whole("workload.prefixes", 1, 1),
		Turns:        r.lengths("workload.turns", "turn", workload.MaxTurns),
		Think:        r.pause("workload.think"),
		Patience:     r.patience(),
		Reuse:        r.boolean("workload.reuse"),
		Text:         r.corpus(),
		Media:        r.media(),
	}
	if !dataset {
		r.needs("workload.think", "workload.turns")
		r.needsSome("workload.prefixes", "workload.prefix-tokens")
		if c.Input == nil {
			c.Input = stat.Constant(defaultInput)
		}
		if c.Output == nil {
			c.Output = stat.Constant(defaultOutput)
		}
	}
	return c
}

// body reads a JSON object, from text or as a mapping. Errors do not repeat
// it: it may hold secrets.
func (r *resolver) body() json.RawMessage {
	v, ok := r.set["workload.body"]
	if !ok {
		return nil
	}
	b := []byte(v.text)
	if v.kind == mapValue {
		var err error
		if b, err = v.appendJSON(nil); err != nil {
			if e, ok := errors.AsType[*Error](err); ok {
				r.fail(e)
			}
			return nil
		}
	}
	var object map[string]json.RawMessage
	if err := json.Unmarshal(b, &object); err != nil || object == nil {
		r.fail(v.errorf("expected a JSON object such as {\"top_p\": 0.9}"))
		return nil
	}
	return b
}

// cause drops the path from an error of the file system.
func cause(err error) error {
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		return p.Err
	}
	return err
}
