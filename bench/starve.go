package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"time"
)

// The load of a trial: modest, so that only the starvation can be the limit.
const (
	starveSeconds = 6
	starveTokens  = 40
	starveGapMS   = 20
	starveTTFTMS  = 60
	starveJitter  = 50 // percent
)

// starveAll starves tokamak's client in ways drawn from a seed and holds its
// verdicts against the server's own log.
func starveAll(dir string, o options, out io.Writer) (starveCount, error) {
	var c starveCount
	binary := filepath.Join(dir, "tokamak")
	if b, err := exec.Command("go", "build", "-o", binary, "github.com/tokamak-bench/tokamak/cmd/tokamak").CombinedOutput(); err != nil {
		return c, fmt.Errorf("building tokamak: %w\n%s", err, b)
	}
	fmt.Fprintln(out, "    starvation                                          metric       verdict     reported      truth      error      bound")
	for i := o.from; i < o.from+o.count; i++ {
		t := newStarvation(o.seed, i)
		lines, err := t.run(dir, binary)
		if err != nil {
			return c, fmt.Errorf("starvation %d (%s): %w", i, t.name, err)
		}
		for k, l := range lines {
			name := ""
			if k == 0 {
				name = t.name
			}
			fmt.Fprintf(out, "%3d %-51s %s\n", i, name, l.text())
			c.add(l)
		}
	}
	fmt.Fprintln(out, c.text())
	return c, nil
}

// starveCount is what the trials came to.
type starveCount struct {
	valid, degraded, invalid             int
	falseValid, falseBound, falseInvalid int
}

func (c *starveCount) add(l starveLine) {
	switch l.trust {
	case "valid":
		c.valid++
	case "degraded":
		c.degraded++
	default:
		c.invalid++
	}
	switch l.judgement() {
	case falseValid:
		c.falseValid++
	case falseBound:
		c.falseBound++
	case falseInvalid:
		c.falseInvalid++
	}
}

func (c *starveCount) text() string {
	all := c.valid + c.degraded + c.invalid
	return fmt.Sprintf("%d verdicts: %d valid, of which %d FALSE; %d degraded, of which %d beyond their bound; %d invalid, of which %d false (%.1f%% of the invalid, %.1f%% of all)",
		all, c.valid, c.falseValid, c.degraded, c.falseBound, c.invalid, c.falseInvalid,
		100*float64(c.falseInvalid)/float64(max(c.invalid, 1)), 100*float64(c.falseInvalid)/float64(max(all, 1)))
}

// starveLine is one metric of one trial.
type starveLine struct {
	metric, trust          string
	reported, truth, bound float64
	least                  float64 // error that valid allows at least
}

// stated is by how much a valid figure may be off: 1 % or the least.
func (l *starveLine) stated() float64 { return max(0.01*math.Abs(l.truth), l.least) }

const (
	right        = "ok"
	falseValid   = "FALSE VALID"
	falseBound   = "BEYOND BOUND"
	falseInvalid = "false invalid"
)

func (l *starveLine) judgement() string {
	off := math.Abs(l.reported - l.truth)
	switch {
	case math.IsNaN(off):
		return right // nothing was reported
	case l.trust == "valid" && off > l.stated():
		return falseValid
	case l.trust == "degraded" && off > l.bound+l.stated():
		return falseBound
	case l.trust == "invalid" && off <= l.stated():
		return falseInvalid
	}
	return right
}

func (l *starveLine) text() string {
	return fmt.Sprintf("%-12s %-9s %10.3f %10.3f %+10.3f %10.3f  %s", l.metric, l.trust, l.reported, l.truth, l.reported-l.truth, l.bound, l.judgement())
}

// starvation is one way to take from the client what it needs.
type starvation struct {
	name   string
	env    []string
	before []string // words in front of the client's command line
	closed bool
	// during begins to starve the process with the given id and returns what ends that.
	during []func(dir string, pid int, stop <-chan struct{}) error
}

// run drives one load against a paced server while the client starves.
func (t *starvation) run(dir, binary string) ([]starveLine, error) {
	s, err := startServer(dir, starveTTFTMS, starveGapMS, starveTokens, "starve.log", strconv.Itoa(starveJitter))
	if err != nil {
		return nil, err
	}
	runDir := filepath.Join(dir, "run")
	_ = os.RemoveAll(runDir)
	words := append(append([]string{}, t.before...), binary, "run", "--url", "http://127.0.0.1:"+s.port, "--model", "paced", "--input-tokens", "16",
		"--output-tokens", strconv.Itoa(starveTokens), "--duration", strconv.Itoa(starveSeconds)+"s", "--out", runDir, "-o", "json", "--quiet")
	if t.closed {
		words = append(words, "--concurrency", "40")
	} else {
		words = append(words, "--rate", "40")
	}
	cmd := exec.Command(words[0], words[1:]...)
	cmd.Env = append(os.Environ(), t.env...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Start(); err != nil {
		return nil, errors.Join(err, s.stop())
	}
	stop, ended := make(chan struct{}), make(chan error, len(t.during))
	for _, f := range t.during {
		go func() { ended <- f(dir, cmd.Process.Pid, stop) }()
	}
	runErr := cmd.Wait()
	close(stop)
	for range t.during {
		err = errors.Join(err, <-ended)
	}
	if err = errors.Join(err, s.stop()); err != nil {
		return nil, err
	}
	var sum starveSummary
	if err := json.Unmarshal(stdout.Bytes(), &sum); err != nil {
		return nil, fmt.Errorf("tokamak printed no summary: %w: %w\n%s", err, runErr, stderr.Bytes())
	}
	return t.judge(&sum, s.log, runDir)
}

// pick returns a number of a range.
func pick(r *rand.Rand, from, to int) int { return from + r.IntN(to-from+1) }

// pause waits, or returns false where the trial is over.
func pause(stop <-chan struct{}, d time.Duration) bool {
	select {
	case <-stop:
		return false
	case <-time.After(d):
		return true
	}
}
