package template

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/tokamak-bench/tokamak/token"
	"github.com/tokamak-bench/tokamak/token/template/jinja"
)

// The files of a model's folder that hold its chat template.
const (
	configFile   = "tokenizer_config.json"
	jinjaFile    = "chat_template.jinja"
	jsonFile     = "chat_template.json"
	furtherFiles = "additional_chat_templates"
)

// maxFile bounds a file; a tokenizer_config.json lists added tokens.
const maxFile = 32 << 20

// ErrNone says that there is no chat template.
var ErrNone = errors.New("no chat template")

func read(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err == nil && len(b) > maxFile {
		err = fmt.Errorf("%s: longer than %d MiB", path, maxFile>>20)
	}
	return string(b), err
}

// Beside returns the chat template in the folder of a tokenizer's file, as
// transformers finds it: chat_template.jinja (and further ones in
// additional_chat_templates), else chat_template.json, else the chat_template of
// tokenizer_config.json; special tokens are those of tokenizer_config.json. The
// error is [ErrNone] where there is none.
//
// Of a GGUF model it is the one in the model itself, in the dialect of llama.cpp.
func Beside(tokenizer string) (*Template, error) {
	if token.IsGGUF(tokenizer) {
		return inGGUF(tokenizer)
	}
	dir := filepath.Dir(tokenizer)
	config, err := readConfig(filepath.Join(dir, configFile))
	if err != nil {
		return nil, err
	}
	path := filepath.Join(dir, jinjaFile)
	switch src, err := read(path); {
	case err == nil:
		sources := map[string]string{defaultName: src}
		further(sources, filepath.Join(dir, furtherFiles))
		return newTemplate("file "+jinjaFile, sources, config.special)
	case !errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("chat template: %w", err)
	}
	inJSON, err := readConfig(filepath.Join(dir, jsonFile))
	if err != nil {
		return nil, err
	}
	if len(inJSON.sources) > 0 {
		return newTemplate("file "+jsonFile, inJSON.sources, config.special)
	}
	if len(config.sources) == 0 {
		return nil, ErrNone
	}
	return newTemplate("file "+configFile, config.sources, config.special)
}

func inGGUF(path string) (*Template, error) {
	g, err := token.ReadGGUF(path)
	if err != nil {
		return nil, err
	}
	if g.ChatTemplate == "" {
		return nil, ErrNone
	}
	t, err := New("file "+filepath.Base(path), g.ChatTemplate, map[string]string{"bos_token": g.BOS, "eos_token": g.EOS})
	if err != nil {
		return nil, err
	}
	t.Dialect, t.AddBOS = LlamaCPP, g.AddBOS
	return t, nil
}

// further adds the templates of a folder by their names.
func further(sources map[string]string, dir string) {
	files, _ := filepath.Glob(filepath.Join(dir, "*.jinja")) // the pattern is good
	for _, f := range files {
		if src, err := read(f); err == nil {
			sources[strings.TrimSuffix(filepath.Base(f), ".jinja")] = src
		}
	}
}

// OpenFile returns the chat template in a file: a tokenizer_config.json or
// chat_template.json by its content, else Jinja. Special tokens are those of the
// file, else of a tokenizer_config.json beside it or beside the tokenizer's file,
// or of a GGUF model that is the tokenizer, whose server is llama.cpp.
func OpenFile(path, tokenizer string) (*Template, error) {
	src, err := read(path)
	if err != nil {
		return nil, fmt.Errorf("chat template: %w", err)
	}
	c, err := parseConfig(src)
	if err != nil {
		c = config{sources: map[string]string{defaultName: src}}
	}
	if len(c.sources) == 0 {
		return nil, fmt.Errorf("chat template %s: it has no chat_template", path)
	}
	for _, dir := range []string{filepath.Dir(path), filepath.Dir(tokenizer)} {
		if len(c.special) > 0 {
			break
		}
		beside, err := readConfig(filepath.Join(dir, configFile))
		if err != nil {
			return nil, err
		}
		c.special = beside.special
	}
	name := "file " + filepath.Base(path)
	if !token.IsGGUF(tokenizer) {
		return newTemplate(name, c.sources, c.special)
	}
	g, err := token.ReadGGUF(tokenizer)
	if err != nil {
		return nil, err
	}
	t, err := newTemplate(name, c.sources, map[string]string{"bos_token": g.BOS, "eos_token": g.EOS})
	if err == nil {
		t.Dialect, t.AddBOS = LlamaCPP, g.AddBOS
	}
	return t, err
}

// config is what a tokenizer_config.json says about chats.
type config struct {
	sources map[string]string // by name
	special map[string]string
}

// readConfig reads a configuration that may be absent.
func readConfig(path string) (config, error) {
	src, err := read(path)
	if errors.Is(err, fs.ErrNotExist) {
		return config{}, nil
	}
	if err != nil {
		return config{}, fmt.Errorf("chat template: %w", err)
	}
	c, err := parseConfig(src)
	if err != nil {
		return c, fmt.Errorf("chat template %s: %w", path, err)
	}
	return c, nil
}

// specialTokens are those that transformers gives to templates.
var specialTokens = []string{"bos_token", "eos_token", "unk_token", "sep_token", "pad_token", "cls_token", "mask_token"}

func parseConfig(src string) (config, error) {
	v, err := jinja.FromJSON([]byte(src))
	if err != nil {
		return config{}, err
	}
	d, ok := v.(*jinja.Dict)
	if !ok {
		return config{}, errors.New("expected a JSON object")
	}
	c := config{sources: map[string]string{}, special: map[string]string{}}
	for _, name := range specialTokens {
		switch t := get(d, name).(type) {
		case string:
			c.special[name] = t
		case *jinja.Dict:
			if s, ok := get(t, "content").(string); ok {
				c.special[name] = s
			}
		}
	}
	switch t := get(d, "chat_template").(type) {
	case nil:
	case string:
		c.sources[defaultName] = t
	case *jinja.List:
		for i := range t.Len() {
			one, _ := t.At(i).(*jinja.Dict)
			if one == nil {
				return c, fmt.Errorf("chat_template[%d]: expected an object with name and template", i)
			}
			name, ok1 := get(one, "name").(string)
			text, ok2 := get(one, "template").(string)
			if !ok1 || !ok2 {
				return c, fmt.Errorf("chat_template[%d]: expected an object with name and template", i)
			}
			c.sources[name] = text
		}
	default:
		return c, errors.New("chat_template: expected a text or a list of named ones")
	}
	return c, nil
}
