package acceptance

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tokamak-bench/tokamak/conformance"
	"github.com/tokamak-bench/tokamak/record"
)

// battery runs the conformance battery and returns its report and what does
// not pass.
func battery(t *testing.T, url string, args ...string) (*conformance.Report, []string) {
	t.Helper()
	o := tokamak(t, append([]string{"verify", "conformance", "-o", "json", "--url", url}, args...)...)
	var reports []*conformance.Report
	if err := json.Unmarshal([]byte(o.stdout), &reports); err != nil || len(reports) != 1 {
		t.Fatalf("exit %d, %v\n%s%s", o.exit, err, o.stdout, o.stderr)
	}
	var found []string
	for _, x := range reports[0].Results {
		if x.Verdict == conformance.Fail || x.Verdict == conformance.Note {
			found = append(found, x.Rule+" "+string(x.Verdict))
			t.Logf("%s %s: %s", x.Verdict, x.Rule, x.Seen)
		}
	}
	if want := min(reports[0].Fail, 1); o.exit != want {
		t.Errorf("exit %d with %d failed rules", o.exit, reports[0].Fail)
	}
	return reports[0], found
}

// TestConformanceThroughNginx: nginx holds streams back unless it is told not
// to, and changes nothing else. A run names the same in its notes.
func TestConformanceThroughNginx(t *testing.T) {
	e := startEngine(t, "sim://llama3-8b@a100-80g")
	buffers, passes := nginx(t, e.url)
	if r, found := battery(t, buffers); !slices.Equal(found, []string{"STREAM-12 fail"}) || !strings.Contains(r.Result("STREAM-12").Seen, "buffer") {
		t.Errorf("with buffering: %v", found)
	}
	if _, found := battery(t, passes); len(found) > 0 {
		t.Errorf("without: %v", found)
	}
	o := run(t, "--url", buffers, "--concurrency", "4", "--requests", "8", "--output-tokens", "64")
	o.wantExit(t, 0)
	for _, a := range attempts(t, o.dir) {
		if a.Outcome != record.OK || !slices.Contains(a.Notes, "buffered") {
			t.Errorf("request %d: %s, notes %v", a.RequestID, a.Outcome, a.Notes)
		}
	}
}

// nginx puts a real nginx before a server, and returns the base URLs of one
// place that buffers, as it does by itself, and one that does not.
func nginx(t *testing.T, base string) (buffers, passes string) {
	t.Helper()
	bin, err := script(t, "nginx")
	if err != nil {
		t.Skipf("nginx cannot be unpacked here: %v", err)
	}
	dir, ports := t.TempDir(), [2]int{freePort(t), freePort(t)}
	upstream := strings.TrimSuffix(strings.TrimPrefix(base, "http://"), "/v1")
	config := filepath.Join(dir, "nginx.conf")
	if err := os.WriteFile(config, fmt.Appendf(nil, nginxConfig, ports[0], upstream, ports[1], upstream), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(bin, "-p", dir, "-c", config, "-e", "stderr")
	var log bytes.Buffer
	cmd.Stderr = &log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Signal(os.Interrupt)
		_ = cmd.Wait()
	})
	for _, p := range ports {
		if err := listens(fmt.Sprintf("127.0.0.1:%d", p), 20*time.Second); err != nil {
			t.Fatalf("nginx: %v: %s", err, log.String())
		}
	}
	return fmt.Sprintf("http://127.0.0.1:%d", ports[0]), fmt.Sprintf("http://127.0.0.1:%d", ports[1])
}

// listens waits until something listens.
func listens(address string, limit time.Duration) error {
	for deadline := time.Now().Add(limit); ; time.Sleep(50 * time.Millisecond) {
		c, err := net.Dial("tcp", address)
		if err == nil {
			return c.Close()
		}
		if time.Now().After(deadline) {
			return err
		}
	}
}

const nginxConfig = `
daemon off;
pid nginx.pid;
error_log stderr warn;
worker_processes 1;
events { worker_connections 64; }
http {
  access_log off;
  client_body_buffer_size 1m; # its worker may be a user who cannot write here
  proxy_max_temp_file_size 0;
  client_body_temp_path body;
  proxy_temp_path proxy;
  fastcgi_temp_path fastcgi;
  uwsgi_temp_path uwsgi;
  scgi_temp_path scgi;
  server {
    listen 127.0.0.1:%d;
    location / { proxy_pass http://%s; }
  }
  server {
    listen 127.0.0.1:%d;
    location / { proxy_pass http://%s; proxy_buffering off; proxy_http_version 1.1; proxy_set_header Connection ""; }
  }
}
`

// TestConformanceThroughLiteLLM: LiteLLM ends only one of two choices, and puts the
// usage into a chunk that has choices. It is installed by scripts/litellm
// install, which takes minutes.
func TestConformanceThroughLiteLLM(t *testing.T) {
	dir := os.Getenv("LITELLM_DIR")
	if dir == "" {
		dir = "../../.cache/litellm"
	}
	if _, err := os.Stat(filepath.Join(dir, "complete")); err != nil {
		t.Skipf("no LiteLLM: scripts/litellm install prepares it (%v)", err)
	}
	e := startEngine(t, "sim://llama3-8b@a100-80g")
	port := freePort(t)
	cmd := exec.Command("../../scripts/litellm", fmt.Sprint(port), strings.TrimSuffix(e.url, "/v1")+"/v1", "llama3-8b")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // the script's children end with it
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM)
		_ = cmd.Wait()
	})
	url := fmt.Sprintf("http://127.0.0.1:%d", port)
	if err := listens(strings.TrimPrefix(url, "http://"), 3*time.Minute); err != nil {
		t.Fatal(err)
	}
	if resp, err := http.Get(url + "/v1/models"); err != nil || resp.StatusCode != http.StatusOK {
		t.Fatal(resp, err)
	}
	_, found := battery(t, url)
	if d := cmp.Diff([]string{"STREAM-07 note", "STREAM-08 fail", "USAGE-02 note"}, found); d != "" {
		t.Errorf("findings (-want +got):\n%s", d)
	}
}

// TestConformanceOfARealEngine: what llama.cpp's server does unlike the API, and
// no more.
func TestConformanceOfARealEngine(t *testing.T) {
	base := realEngine(t)
	known := []string{
		"STREAM-06 note",               // created is each chunk's own
		"STREAM-07 note",               // no role where the first token is a part of a character
		"STREAM-12 note",               // the engine takes the cores that the client needs
		"USAGE-02 note",                // n 2: a usage for each choice
		"USAGE-06 fail",                // and none for both
		"TOOL-01 note", "TOOL-02 note", // the model's template knows no tools
		"ERROR-02 note", // any model's name
		"ERROR-07 note", // no param
	}
	_, found := battery(t, base)
	for _, f := range found {
		if !slices.Contains(known, f) {
			t.Errorf("%s is new", f)
		}
	}
	if !slices.Contains(found, "USAGE-06 fail") {
		t.Errorf("the usage of two choices is not named: %v", found)
	}
}
