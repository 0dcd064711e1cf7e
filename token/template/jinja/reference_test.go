package jinja

import (
	"bufio"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// moment is what strftime_now writes in tests.
var moment = time.Date(2024, 7, 26, 9, 5, 3, 42000, time.UTC)

// reference returns a Python with jinja2 and a folder of real chat templates,
// as scripts/jinja makes them; the test is skipped where there is none.
func reference(t testing.TB) (python, templates string) {
	t.Helper()
	dir := os.Getenv("TOKAMAK_JINJA")
	if dir == "" {
		dir = filepath.Join("..", "..", "..", ".cache", "jinja")
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		t.Fatal(err)
	}
	python = filepath.Join(dir, "venv", "bin", "python")
	if _, err := os.Stat(python); err != nil {
		t.Skip("no Python with jinja2: scripts/jinja makes one")
	}
	return python, filepath.Join(dir, "templates")
}

type conversation struct {
	Name      string          `json:"name"`
	Variables json.RawMessage `json:"variables"`
}

// TestTemplatesEqualReference renders real chat templates over conversations
// and holds every text against Python's Jinja; what fails there fails here. It
// takes a twelfth of the conversations, others for each template, or with
// TOKAMAK_JINJA_ALL=1 all of them.
func TestTemplatesEqualReference(t *testing.T) {
	python, dir := reference(t)
	files, err := filepath.Glob(filepath.Join(dir, "*.jinja"))
	if err != nil || len(files) == 0 {
		t.Skipf("no templates in %s", dir)
	}
	share := 12
	if os.Getenv("TOKAMAK_JINJA_ALL") == "1" {
		share = 1
	}
	cases := filepath.Join(t.TempDir(), "cases.json")
	b, err := exec.Command(python, "testdata/conversations.py").Output()
	if err != nil {
		t.Fatal(err)
	}
	var chats []conversation
	if err := json.Unmarshal(b, &chats); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(cases, b, 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(python, append([]string{"testdata/reference.py", cases, strconv.Itoa(share)}, files...)...)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewReader(out)
	total, texts := 0, 0
	for n, file := range files {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			t.Fatal(err)
		}
		var want []*string
		if err := json.Unmarshal(line, &want); err != nil {
			t.Fatal(err)
		}
		t.Run(filepath.Base(file), func(t *testing.T) { texts += hold(t, file, every(chats, share, n), want) })
		total += len(want)
	}
	if err := cmd.Wait(); err != nil {
		t.Fatal(err)
	}
	t.Logf("%d templates, %d conversations: %d renderings, %d of them refused by the template or Python", len(files), len(chats), total, total-texts)
}

// every returns each share-th conversation, from another one on for each n.
func every(chats []conversation, share, n int) (out []conversation) {
	for i := n % share; i < len(chats); i += share {
		out = append(out, chats[i])
	}
	return out
}

// hold returns how many conversations the reference rendered.
func hold(t *testing.T, file string, chats []conversation, want []*string) (texts int) {
	src, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	tpl, parseErr := Parse(string(src))
	bad := 0
	for i, c := range chats {
		var got string
		err := parseErr
		if err == nil {
			got, err = tpl.Render(variables(t, c.Variables), Options{Now: moment})
		}
		if want[i] != nil {
			texts++
		}
		switch {
		case want[i] == nil && err != nil, want[i] != nil && err == nil && *want[i] == got:
			continue
		case want[i] == nil:
			t.Errorf("%s: rendered, though Python fails:\n%.300s", c.Name, got)
		case err != nil:
			t.Errorf("%s: %v", c.Name, err)
		default:
			t.Errorf("%s: (-Python +ours)\n%s", c.Name, cmp.Diff(*want[i], got))
		}
		if bad++; bad == 3 {
			t.Fatal("and perhaps more")
		}
	}
	return texts
}

func variables(t testing.TB, raw []byte) map[string]any {
	t.Helper()
	v, err := FromJSON(raw)
	if err != nil {
		t.Fatal(err)
	}
	d := v.(*Dict)
	out := map[string]any{}
	for i, k := range d.keys {
		out[k.(string)] = d.values[i]
	}
	return out
}
