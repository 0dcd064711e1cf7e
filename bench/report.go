package main

import (
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"github.com/tokamak-bench/tokamak/record"
)

// measureReport makes a run directory of many requests and measures what
// `tokamak recover` takes of it: once when only its summary is missing, and
// once as after a crash, when its tables are too.
func measureReport(dir string, o options) error {
	bin := filepath.Join(dir, "tokamak")
	if out, err := exec.Command("go", "build", "-o", bin, "./cmd/tokamak").CombinedOutput(); err != nil {
		return fmt.Errorf("go build: %w\n%s", err, out)
	}
	small, large := filepath.Join(dir, "small"), filepath.Join(dir, "large")
	seed := exec.Command(bin, "run", "--virtual", "--url", "sim://llama3-8b@a100-80g", "--rate", "5", "--requests", "2", "--quiet", "--inconclusive-ok", "--out", small)
	if out, err := seed.CombinedOutput(); err != nil {
		return fmt.Errorf("tokamak run: %w\n%s", err, out)
	}
	r, err := record.Open(small)
	if err != nil {
		return err
	}
	if err := writeMany(large, r.Manifest(), o); err != nil {
		return err
	}
	if err := recoverOnce(bin, large, "summary"); err != nil {
		return err
	}
	for _, name := range []string{record.SummaryFile, record.RequestsTable, record.SamplesTable} {
		if err := os.Remove(filepath.Join(large, name)); err != nil {
			return err
		}
	}
	return recoverOnce(bin, large, "tables and summary")
}

// writeMany writes a run of answers with chunks 20 ms apart, a thousand due a
// second; a share of -several arrivals holds two tokens.
func writeMany(dir string, m *record.Manifest, o options) error {
	w, err := record.Create(dir, m, record.Options{})
	if err != nil {
		return err
	}
	random := rand.New(rand.NewPCG(1, 1))
	for i := range o.requests {
		if err := w.Ended(answer(int64(i), o, random)); err != nil {
			return err
		}
	}
	start, before := time.Now(), usage(syscall.RUSAGE_SELF)
	if err := w.Finish(); err != nil {
		return err
	}
	after := usage(syscall.RUSAGE_SELF)
	fmt.Printf("%d requests of %d chunks\n%-22s %6.1f s, %6.1f s of CPU\n", o.requests, o.chunks, "the writer's finish:",
		time.Since(start).Seconds(), cpuSeconds(after)-cpuSeconds(before))
	return nil
}

func answer(id int64, o options, random *rand.Rand) *record.Attempt {
	at := id * 1e6
	a := &record.Attempt{}
	a.RequestID, a.Attempt, a.Class, a.Protocol, a.ConnReused = id, 1, "chat", "http/1.1", true
	a.TraceID, a.ServerID = fmt.Sprintf("%016x%016x", random.Uint64(), random.Uint64()), fmt.Sprintf("chatcmpl-%x", random.Uint64())
	a.Intended, a.Dispatched, a.WriteStart, a.Sent = record.Some(at), record.Some(at+10e3), record.Some(at+20e3), record.Some(at+40e3)
	a.SentSource, a.StampSource = record.SourceKernel, record.SourceKernel
	at += 100e6 + random.Int64N(50e6)
	a.FirstByte, a.FirstChunk, a.FirstToken, a.FirstAnswer = record.Some(at), record.Some(at), record.Some(at), record.Some(at)
	k, total := &a.Chunks, int64(0)
	for range o.chunks {
		n := int32(1)
		if random.Float64() < o.several {
			n = 2
		}
		total += int64(n)
		k.At, k.Tokens, k.Bytes = append(k.At, at), append(k.Tokens, n), append(k.Bytes, 3+random.Int32N(6))
		k.Kind, k.Choice, k.Flags = append(k.Kind, record.TextChunk), append(k.Choice, 0), append(k.Flags, 0)
		at += 19e6 + random.Int64N(2e6)
	}
	last := k.At[len(k.At)-1]
	a.LastToken, a.Moments.Ended = record.Some(last), record.Some(last+100e3)
	a.PromptUsage, a.OutputUsage, a.TokenSource = record.Some(262), record.Some(total), "usage_delta"
	a.Outcome, a.HTTPStatus, a.FinishReason = record.OK, record.Some(200), "length"
	a.Bytes.Request, a.Bytes.Response = 1500, 220*int64(o.chunks)
	return a
}

// recoverOnce runs `tokamak recover` and prints what it took.
func recoverOnce(bin, dir, what string) error {
	if err := os.Remove(filepath.Join(dir, record.SummaryFile)); err != nil && !os.IsNotExist(err) {
		return err
	}
	cmd := exec.Command(bin, "recover", dir)
	cmd.Stdout, cmd.Stderr = io.Discard, os.Stderr
	start := time.Now()
	err := cmd.Run()
	if cmd.ProcessState == nil || cmd.ProcessState.ExitCode() < 0 {
		return fmt.Errorf("tokamak recover: %w", err)
	}
	wall := time.Since(start)
	if _, err := os.Stat(filepath.Join(dir, record.SummaryFile)); err != nil {
		return fmt.Errorf("tokamak recover made no summary: %w", err)
	}
	u := cmd.ProcessState.SysUsage().(*syscall.Rusage)
	fmt.Printf("%-22s %6.1f s, %6.1f s of CPU, %d MiB at the peak\n", what+":", wall.Seconds(), cpuSeconds(*u), u.Maxrss>>10)
	return nil
}

func usage(who int) syscall.Rusage {
	var u syscall.Rusage
	_ = syscall.Getrusage(who, &u)
	return u
}

func cpuSeconds(u syscall.Rusage) float64 {
	return time.Duration(u.Utime.Nano() + u.Stime.Nano()).Seconds()
}
