package rivals

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
)

// server is a running scriptserver; bin is where the C programs are.
type server struct {
	cmd *exec.Cmd
	out *bufio.Reader
	log string
	url string
}

func serve(bin, dir string, plans func(dialect) []plan) (*server, error) {
	name := filepath.Join(dir, "script")
	f, err := os.Create(name)
	if err != nil {
		return nil, err
	}
	if err := errors.Join(write(f, plans), f.Close()); err != nil {
		return nil, err
	}
	s := &server{log: filepath.Join(dir, "truth.log")}
	s.cmd = exec.Command(filepath.Join(bin, "scriptserver"), name, s.log)
	s.cmd.Stderr = os.Stderr
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := s.cmd.Start(); err != nil {
		return nil, err
	}
	s.out = bufio.NewReader(out)
	port, err := s.out.ReadString('\n')
	if err != nil {
		return nil, errors.Join(err, s.cmd.Wait())
	}
	s.url = "http://127.0.0.1:" + strings.TrimSpace(port)
	return s, nil
}

// stop ends the server and reads what truly happened.
func (s *server) stop() (*truth, error) {
	if err := s.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		return nil, err
	}
	if err := s.cmd.Wait(); err != nil {
		return nil, err
	}
	return readTruth(s.log)
}

// truth is the server's log. Moments are ns of CLOCK_MONOTONIC.
type truth struct {
	Requests []int64 // when each came, in order
	TTFT     []float64
	Gaps     []float64 // ms, pooled
	Events   int
	First    int64 // the first request
	Last     int64 // the last event
	LateP99  float64
}

func readTruth(name string) (*truth, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	t := &truth{}
	came, before := map[int]int64{}, map[int]int64{}
	var late []float64
	for in := bufio.NewScanner(f); in.Scan(); {
		fields := strings.Fields(in.Text())
		id, err1 := strconv.Atoi(fields[0])
		at, err2 := strconv.ParseInt(fields[2], 10, 64)
		if err := errors.Join(err1, err2); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		if fields[1] == "request" {
			came[id] = at
			t.Requests = append(t.Requests, at)
			continue
		}
		if last, ok := before[id]; ok {
			t.Gaps = append(t.Gaps, float64(at-last)/1e6)
		} else {
			t.TTFT = append(t.TTFT, float64(at-came[id])/1e6)
		}
		l, err := strconv.ParseFloat(fields[3], 64)
		if err != nil {
			return nil, err
		}
		late = append(late, l/1e6)
		before[id] = at
		t.Events++
		t.Last = max(t.Last, at)
	}
	slices.Sort(t.Requests)
	slices.Sort(t.TTFT)
	slices.Sort(t.Gaps)
	if len(t.Requests) > 0 {
		t.First = t.Requests[0]
	}
	t.LateP99 = rank(late, 0.99)
	return t, nil
}
