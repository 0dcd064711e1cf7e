package main

import (
	"bytes"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestURLSecretsAreNotSaidBack: what stands in the query and before the @ of the
// target's URL shows nowhere, though the server echoes it in each form.
func TestURLSecretsAreNotSaidBack(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		user, password, _ := r.BasicAuth()
		http.Error(w, r.Method+" "+r.RequestURI+" "+r.URL.Query().Get("token")+" of "+user+" "+password, http.StatusInternalServerError)
	}))
	defer server.Close()
	target := strings.Replace(server.URL, "http://", "http://usrCANARY:pwCANARY@", 1) + "/v1?token=QCANARY%20two%2F2"
	for _, command := range []string{
		"run --requests 2 --concurrency 1 --model m --out DIR/run",
		"check --model m",
		"verify conformance --model m --out DIR/report.json --junit DIR/report.xml",
	} {
		dir := t.TempDir()
		said := everything(t, dir, append(strings.Fields(strings.ReplaceAll(command, "DIR", dir)), "--url", target))
		if !strings.Contains(said, "redacted]") {
			t.Errorf("%s: the answer does not show:\n%s", command, said)
		}
		if at := strings.Index(said, "CANARY"); at >= 0 {
			t.Errorf("%s shows a secret: %q", command, said[max(at-80, 0):min(at+40, len(said))])
		}
	}
}

// everything is what a command printed and wrote into a directory.
func everything(t *testing.T, dir string, args []string) string {
	t.Helper()
	var out bytes.Buffer
	command(t.Context(), args, streams{strings.NewReader(""), &out, &out})
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		out.Write(b)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out.String()
}
