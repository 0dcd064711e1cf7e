package main

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// or returns n, or other where n is 0.
func or(n, other int) int {
	if n != 0 {
		return n
	}
	return other
}

// counts reads a list of numbers.
func counts(list, other string) ([]int, error) {
	if list == "" {
		list = other
	}
	var all []int
	for s := range strings.SplitSeq(list, ",") {
		n, err := strconv.Atoi(s)
		if err != nil {
			return nil, err
		}
		all = append(all, n)
	}
	return all, nil
}

const warmupMS = 1500

// compareCPU runs the C reader and ours in turn at each number of streams.
func compareCPU(dir string, o options) error {
	sizes, err := counts(o.streams, "64,512,2000")
	if err != nil {
		return err
	}
	gap := or(o.gap, 20)
	tokens := (warmupMS+o.window)/gap + 200
	fmt.Printf("CPU µs a chunk, %d ms between chunks, %d ms measured after %d ms; records and stamps kept by ours\n\n", gap, o.window, warmupMS)
	fmt.Println("streams  C reader  ours   ratio  allocs/chunk  coalesced  unstamped  read after p50/p99 ms  server late p50/p99 ms")
	for _, n := range sizes {
		for range o.repeat {
			s, err := startServer(dir, 50, gap, tokens, "")
			if err != nil {
				return err
			}
			bare, err := runBare(dir, s.port, n, o.window)
			if err != nil {
				return err
			}
			time.Sleep(300 * time.Millisecond)
			r, err := runChild(childPlan{Way: o.way, Port: s.port, Streams: n, Tokens: tokens, WarmupMS: warmupMS, WindowMS: o.window, Profile: o.profile})
			if err != nil {
				return err
			}
			if err := s.stop(); err != nil {
				return err
			}
			ours := float64(r.CPU) / float64(r.Chunks) / 1e3
			fmt.Printf("%7d  %8.1f  %5.1f  %5.2f  %12.5f  %8.2f%%  %8.3f%%  %10.1f / %-10.1f %.2f / %.2f\n", n, bare, ours, ours/bare,
				float64(r.Allocs)/float64(r.Chunks), 100*float64(r.Coalesced)/float64(r.Chunks), 100*float64(r.Unstamped)/float64(r.Chunks),
				float64(r.DelayP50NS)/1e6, float64(r.DelayP99NS)/1e6, float64(s.lateP50)/1e6, float64(s.lateP99)/1e6)
		}
	}
	return nil
}

// runBare returns the C reader's CPU µs a chunk.
func runBare(dir, port string, streams, window int) (float64, error) {
	out, err := exec.Command(filepath.Join(dir, "barereader"), port, strconv.Itoa(streams), strconv.Itoa(warmupMS), strconv.Itoa(window)).Output()
	if err != nil {
		return 0, fmt.Errorf("the C reader: %w", err)
	}
	var cpu, chunks, reads float64
	if _, err := fmt.Sscan(string(out), &cpu, &chunks, &reads); err != nil {
		return 0, err
	}
	return cpu / chunks / 1e3, nil
}

// measureMemory holds streams open and divides what the process grew by.
func measureMemory(dir string, o options) error {
	sizes, err := counts(o.streams, "500")
	if err != nil {
		return err
	}
	gap, tokens := or(o.gap, 10), or(o.tokens, 2000)
	for _, n := range sizes {
		s, err := startServer(dir, 50, gap, tokens, "")
		if err != nil {
			return err
		}
		r, err := runChild(childPlan{Way: o.way, Port: s.port, Streams: n, Tokens: tokens})
		if err != nil {
			return err
		}
		_ = s.stop()
		fmt.Printf("%d streams of %d chunks: %.1f KiB a stream at the peak (%.1f MiB over %.1f MiB), %d complete, %d wrong %s\n",
			n, tokens, float64(r.PeakKB-r.BaseKB)/float64(n), float64(r.PeakKB-r.BaseKB)/1024, float64(r.BaseKB)/1024, r.Completed, r.Wrong, r.FirstError)
	}
	return nil
}

// countMany counts chunks of very many streams.
func countMany(dir string, o options) error {
	sizes, err := counts(o.streams, "5000")
	if err != nil {
		return err
	}
	gap, tokens := or(o.gap, 100), or(o.tokens, 100)
	for _, n := range sizes {
		s, err := startServer(dir, 500, gap, tokens, "")
		if err != nil {
			return err
		}
		r, err := runChild(childPlan{Way: o.way, Port: s.port, Streams: n, Tokens: tokens})
		if err != nil {
			return err
		}
		_ = s.stop()
		fmt.Printf("%d streams at once, %d chunks each, %d ms apart: %d complete, %d wrong %s, %d of %d chunks kept, %.2f%% coalesced, %d unstamped, %d of %d sends stamped by the kernel\n",
			n, tokens, gap, r.Completed, r.Wrong, r.FirstError, r.ChunksKept, n*tokens, 100*float64(r.Coalesced)/float64(max(r.Chunks, 1)), r.Unstamped, r.SentKernel, n)
	}
	return nil
}
