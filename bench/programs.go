package main

import (
	"bufio"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

//go:embed c
var sources embed.FS

// buildC compiles the C programs into dir.
func buildC(dir string) error {
	if err := os.CopyFS(dir, sources); err != nil {
		return err
	}
	out, err := exec.Command("make", "-s", "-C", filepath.Join(dir, "c"), "OUT="+dir).CombinedOutput()
	if err != nil {
		return fmt.Errorf("building the C programs: %w\n%s", err, out)
	}
	return nil
}

// server is a running pacedserver.
type server struct {
	cmd  *exec.Cmd
	out  *bufio.Reader
	port string
	log  string
	// After stop: events written, and the lateness of writing them, ns.
	written, lateP50, lateP99 int64
}

// startServer starts a server: times in ms; log "" keeps none.
func startServer(dir string, ttft, gap, tokens int, log string, more ...string) (*server, error) {
	s := &server{log: "-"}
	if log != "" {
		s.log = filepath.Join(dir, log)
	}
	s.cmd = exec.Command(filepath.Join(dir, "pacedserver"), strconv.Itoa(ttft*1000), strconv.Itoa(gap*1000), strconv.Itoa(tokens), s.log)
	s.cmd.Args = append(s.cmd.Args, more...)
	s.cmd.Stderr = os.Stderr
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := s.cmd.Start(); err != nil {
		return nil, err
	}
	s.out = bufio.NewReader(out)
	line, err := s.out.ReadString('\n')
	if err != nil {
		return nil, errors.Join(err, s.stop())
	}
	s.port = strings.TrimSpace(line)
	return s, nil
}

func (s *server) stop() error {
	_ = s.cmd.Process.Signal(syscall.SIGTERM)
	if _, err := fmt.Fscan(s.out, &s.written, &s.lateP50, &s.lateP99); err != nil {
		return fmt.Errorf("the server's last words: %w", errors.Join(err, s.cmd.Wait()))
	}
	return s.cmd.Wait()
}

// childPlan is what a child is to do; it reads the streams in a process of its
// own, whose CPU and memory are then the reader's alone.
type childPlan struct {
	Way      string
	Port     string
	Streams  int
	Tokens   int
	WarmupMS int
	WindowMS int    // 0: until all streams have ended
	Profile  string // file for a CPU profile of the window
	Arrivals string // file to write every arrival to
}

// childResult is what it found.
type childResult struct {
	CPU              int64 // ns in the window
	Chunks           int64 // in the window
	Reads            int64
	Allocs           uint64
	Completed, Wrong int
	ChunksKept       int64 // that reached the sinks
	Coalesced        int64
	Unstamped        int64
	BaseKB, PeakKB   int64
	HeapPeakKB       int64
	DelayP50NS       int64
	DelayP99NS       int64
	SentKernel       int
	FirstError       string
}

// runChild runs this program again as a reader.
func runChild(p childPlan) (*childResult, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	plan, err := json.Marshal(p)
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(self, "child", string(plan))
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("reader: %w", err)
	}
	var r childResult
	return &r, json.Unmarshal(out, &r)
}
