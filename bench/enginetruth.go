package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"github.com/tokamak-bench/tokamak/record"
)

// engineTarget is an engine that gives each of a thousand streams some 30 tokens/s.
const engineTarget = "sim://llama3-8b@h100?max_num_seqs=1024&max_num_batched_tokens=8192&dp=3"

// compareEngineTruth runs tokamak against the simulated engine and compares
// every arrival with the moment at which the engine wrote the token.
func compareEngineTruth(dir string, o options) error {
	binary := filepath.Join(dir, "tokamak")
	if b, err := exec.Command("go", "build", "-o", binary, "github.com/tokamak-bench/tokamak/cmd/tokamak").CombinedOutput(); err != nil {
		return fmt.Errorf("building tokamak: %w\n%s", err, b)
	}
	sizes, err := counts(o.streams, "1000")
	if err != nil {
		return err
	}
	for _, n := range sizes {
		for _, busy := range []bool{false, true} {
			if err := engineTruth(dir, binary, n, or(o.tokens, 150), busy); err != nil {
				return err
			}
		}
	}
	return nil
}

func engineTruth(dir, binary string, streams, tokens int, busy bool) error {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	address := l.Addr().String()
	if err := l.Close(); err != nil {
		return err
	}
	log, runDir := filepath.Join(dir, "engine.log"), filepath.Join(dir, "run")
	_ = os.RemoveAll(runDir)
	// The engine keeps its pace while others take the processors.
	server := exec.Command("chrt", "-f", "50", binary, "sim", "--listen", address, "--target", engineTarget, "--log", log, "--log-tokens")
	server.Stderr = os.Stderr
	if err := server.Start(); err != nil {
		return err
	}
	for range 100 {
		c, err := net.Dial("tcp", address)
		if err == nil {
			_ = c.Close()
			break
		}
		time.Sleep(20 * time.Millisecond)
	}
	if busy {
		stop, err := takeProcessors(dir)
		if err != nil {
			return err
		}
		defer stop()
	}
	client := exec.Command(binary, "run", "--url", "http://"+address, "--model", "llama3-8b", "--concurrency", strconv.Itoa(streams),
		"--requests", strconv.Itoa(streams), "--input-tokens", "32", "--output-tokens", strconv.Itoa(tokens), "--out", runDir, "--quiet")
	var text bytes.Buffer
	client.Stdout, client.Stderr = &text, &text
	runErr := client.Run()
	err = errors.Join(server.Process.Signal(syscall.SIGTERM), server.Wait())
	written, logErr := readEngineLog(log)
	if logErr != nil {
		return errors.Join(logErr, err, runErr, errors.New(text.String()))
	}
	name := "idle processors"
	if busy {
		name = "busy processes take every processor for 20 of 33 ms"
	}
	fmt.Printf("%s: %d streams of the simulated engine, %d tokens each\n", name, streams, tokens)
	return showEngineTruth(runDir, written)
}

// readEngineLog returns when each token of each request was written, in ns of
// the civil clock.
func readEngineLog(name string) (map[string][]int64, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	all := map[string][]int64{}
	in := bufio.NewScanner(f)
	in.Buffer(nil, 1<<24)
	for in.Scan() {
		var line struct {
			ID      string  `json:"request_id"`
			Written []int64 `json:"token_written_at"`
		}
		if err := json.Unmarshal(in.Bytes(), &line); err != nil {
			return nil, err
		}
		all[line.ID] = line.Written
	}
	return all, in.Err()
}

// showEngineTruth compares a run's arrivals with the engine's moments.
func showEngineTruth(runDir string, written map[string][]int64) error {
	run, err := record.Open(runDir)
	if err != nil {
		return err
	}
	epoch := run.Manifest().Epoch.UnixNano()
	var first, arrival, gaps, step []float64
	met, missing := 0, 0
	for a, err := range run.Attempts() {
		if err != nil {
			return err
		}
		truth := written[run.Manifest().Run+"-"+strconv.FormatInt(a.RequestID, 10)]
		if len(truth) == 0 || len(truth) != a.Chunks.Len() {
			missing++
			continue
		}
		for i, at := range a.Chunks.At {
			off := ms(at + epoch - truth[i])
			if a.Chunks.Flags[i]&record.Coalesced != 0 {
				met++
			}
			arrival = append(arrival, off)
			if i == 0 {
				first = append(first, off)
				continue
			}
			gaps = append(gaps, ms((at-a.Chunks.At[i-1])-(truth[i]-truth[i-1])))
			step = append(step, ms(truth[i]-truth[i-1]))
		}
	}
	fmt.Printf("  %d tokens met another in one read, %d answers are not in the log whole\n", met, missing)
	show("gap at the engine", step)
	show("first token less its writing", first)
	show("arrival less the writing", arrival)
	show("gap, ours less the engine's", gaps)
	return nil
}
