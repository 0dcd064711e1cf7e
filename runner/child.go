package runner

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os/exec"
	"strings"
	"time"
)

// childStart is how long the simulated engine may take to listen.
const childStart = 10 * time.Second

// Child is a simulated engine in a process of its own, so that the client's
// audit is the client's alone.
type Child struct {
	URL    *url.URL // base URL with /v1
	cmd    *exec.Cmd
	stdin  io.Closer
	stderr *strings.Builder
}

// StartChild starts the given executable as `sim --child` for a sim:// target
// and waits until it listens. The child ends when its standard input closes,
// and so also when this process dies.
func StartChild(ctx context.Context, executable, target string, args ...string) (*Child, error) {
	cmd := exec.Command(executable, append([]string{"sim", "--child", "--listen", "127.0.0.1:0", "--target", target}, args...)...)
	detach(cmd)
	var stderr strings.Builder
	cmd.Stderr = &limitedWriter{b: &stderr, left: 4096}
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start the simulated engine: %w", err)
	}
	c := &Child{cmd: cmd, stdin: stdin, stderr: &stderr}
	ctx, cancel := context.WithTimeout(ctx, childStart)
	defer cancel()
	if c.URL, err = readAddress(ctx, stdout); err != nil {
		return nil, errors.Join(fmt.Errorf("the simulated engine did not start: %w", err), c.Close())
	}
	return c, nil
}

// readAddress reads the child's first line, {"url": "http://..."}.
func readAddress(ctx context.Context, r io.Reader) (*url.URL, error) {
	type result struct {
		url *url.URL
		err error
	}
	done := make(chan result, 1)
	go func() {
		line, err := bufio.NewReader(r).ReadBytes('\n')
		var hello struct {
			URL string `json:"url"`
		}
		if err == nil {
			err = json.Unmarshal(line, &hello)
		}
		if err != nil {
			done <- result{nil, err}
			return
		}
		u, err := url.Parse(hello.URL)
		done <- result{u, err}
	}()
	select {
	case r := <-done:
		return r.url, r.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Close ends the child and says what it wrote to standard error if it failed.
func (c *Child) Close() error {
	_ = c.stdin.Close()
	done := make(chan error, 1)
	go func() { done <- c.cmd.Wait() }()
	select {
	case err := <-done:
		if err != nil {
			return fmt.Errorf("the simulated engine ended with %w: %s", err, strings.TrimSpace(c.stderr.String()))
		}
		return nil
	case <-time.After(3 * time.Second):
		err := c.cmd.Process.Kill()
		<-done //nolint:errcheck // killed, so how it ended says nothing
		return err
	}
}

type limitedWriter struct {
	b    *strings.Builder
	left int
}

func (w *limitedWriter) Write(p []byte) (int, error) {
	n := min(len(p), w.left)
	w.b.Write(p[:n])
	w.left -= n
	return len(p), nil
}
