package calibration

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"strings"
)

// child is the server in its process.
type child struct {
	cmd  *exec.Cmd
	quit io.Closer // its standard input: closed, it ends, as it does if we die
	base url.URL
}

// startChild runs a command that calls [Serve] and ends with its standard input.
func startChild(ctx context.Context, command []string) (*child, error) {
	c := &child{cmd: exec.CommandContext(ctx, command[0], command[1:]...)}
	c.cmd.Stderr = os.Stderr
	var err error
	if c.quit, err = c.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := c.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := c.cmd.Start(); err != nil {
		return nil, fmt.Errorf("the paced server: %w", err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		_ = c.close()
		return nil, fmt.Errorf("the paced server did not start: %w", err)
	}
	c.base = url.URL{Scheme: "http", Host: strings.TrimSpace(line), Path: "/"}
	return c, nil
}

func (c *child) close() error {
	_ = c.quit.Close()
	return c.cmd.Wait()
}

// late asks how late the server sent since the last asking.
func (c *child) late(ctx context.Context) (Spread, error) {
	var s Spread
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, c.base.JoinPath("late").String(), http.NoBody)
	if err != nil {
		return s, err
	}
	answer, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(r)
	if err != nil {
		return s, err
	}
	defer func() { _ = answer.Body.Close() }()
	return s, json.NewDecoder(answer.Body).Decode(&s)
}
