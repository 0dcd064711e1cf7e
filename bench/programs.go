package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
)

// buildC compiles the C programs into dir.
func buildC(dir string) error {
	_, file, _, ok := runtime.Caller(0)
	src := filepath.Join(filepath.Dir(file), "c")
	if _, err := os.Stat(src); !ok || err != nil {
		src = filepath.Join("bench", "c") // built with -trimpath: from the repository's root
	}
	out, err := exec.Command("make", "-s", "-C", src, "OUT="+dir).CombinedOutput()
	if err != nil {
		return fmt.Errorf("building the C programs: %w\n%s", err, out)
	}
	return nil
}

// server is a running pacedserver.
type server struct {
	cmd  *exec.Cmd
	port string
	log  string
}

// startServer starts a server: times in ms; log "" keeps none.
func startServer(dir string, ttft, gap, tokens int, log string) (*server, error) {
	s := &server{log: "-"}
	if log != "" {
		s.log = filepath.Join(dir, log)
	}
	s.cmd = exec.Command(filepath.Join(dir, "pacedserver"), strconv.Itoa(ttft*1000), strconv.Itoa(gap*1000), strconv.Itoa(tokens), s.log)
	s.cmd.Stderr = os.Stderr
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := s.cmd.Start(); err != nil {
		return nil, err
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		return nil, errors.Join(err, s.stop())
	}
	s.port = strings.TrimSpace(line)
	return s, nil
}

func (s *server) stop() error {
	_ = s.cmd.Process.Signal(syscall.SIGTERM)
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
