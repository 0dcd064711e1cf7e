package main

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// newStarvation draws number i.
func newStarvation(seed uint64, i int) *starvation {
	r := rand.New(rand.NewPCG(seed, uint64(i)))
	t := &starvation{closed: r.IntN(3) == 0}
	load := "open"
	if t.closed {
		load = "closed"
	}
	kinds := []func(*starvation, *rand.Rand) string{stopped, hogged, outrun, onOneCore, throttled, shortOfMemory}
	words := []string{kinds[i%len(kinds)](t, r)}
	if r.IntN(4) == 0 {
		words = append(words, kinds[r.IntN(2)](t, r))
	}
	t.name = load + ", " + strings.Join(words, " and ")
	return t
}

// stopped halts the process with SIGSTOP now and then.
func stopped(t *starvation, r *rand.Rand) string {
	n := pick(r, 1, 4)
	type halt struct{ after, long time.Duration }
	var all []halt
	total := time.Duration(0)
	for range n {
		h := halt{time.Duration(pick(r, 200, 1500)) * time.Millisecond, time.Duration(pick(r, 5, 60)*pick(r, 1, 20)) * time.Millisecond}
		all, total = append(all, h), total+h.long
	}
	t.during = append(t.during, func(_ string, pid int, stop <-chan struct{}) error {
		for _, h := range all {
			if !pause(stop, h.after) {
				return nil
			}
			if syscall.Kill(pid, syscall.SIGSTOP) != nil {
				return nil // it has ended
			}
			pause(stop, h.long)
			_ = syscall.Kill(pid, syscall.SIGCONT)
		}
		return nil
	})
	return fmt.Sprintf("%d SIGSTOPs, %d ms", n, total.Milliseconds())
}

// hogged takes processors away, above every ordinary process, for a part of the time.
func hogged(t *starvation, r *rand.Rand) string {
	busy, free, cpus := pick(r, 2, 60), pick(r, 3, 40), pick(r, 1, runtime.NumCPU())
	for cpu := range cpus {
		t.during = append(t.during, func(dir string, _ int, stop <-chan struct{}) error {
			return whileRunning(stop, filepath.Join(dir, "hog"), strconv.Itoa(cpu), strconv.Itoa(busy), strconv.Itoa(free))
		})
	}
	return fmt.Sprintf("%d cores taken %d of %d ms", cpus, busy, busy+free)
}

// outrun lets busy loops compete for the cores.
func outrun(t *starvation, r *rand.Rand) string {
	n, nice := pick(r, 2, 12), pick(r, -20, 10)
	for i := range n {
		t.during = append(t.during, func(_ string, _ int, stop <-chan struct{}) error {
			return whileRunning(stop, "nice", "-n", strconv.Itoa(nice), "taskset", "-c", strconv.Itoa(i%runtime.NumCPU()), "sh", "-c", "while :; do :; done")
		})
	}
	return fmt.Sprintf("%d busy loops, nice %d", n, nice)
}

// onOneCore confines the client to a core that busy loops use too.
func onOneCore(t *starvation, r *rand.Rand) string {
	n, nice := pick(r, 1, 6), pick(r, -10, 5)
	cpu := strconv.Itoa(runtime.NumCPU() - 1)
	t.before = append(t.before, "taskset", "-c", cpu)
	for range n {
		t.during = append(t.during, func(_ string, _ int, stop <-chan struct{}) error {
			return whileRunning(stop, "nice", "-n", strconv.Itoa(nice), "taskset", "-c", cpu, "sh", "-c", "while :; do :; done")
		})
	}
	return fmt.Sprintf("one core with %d busy loops, nice %d", n, nice)
}

// throttled gives the client a CPU quota, in a cgroup of its own.
func throttled(t *starvation, r *rand.Rand) string {
	percent, period := pick(r, 3, 40), pick(r, 10, 100)
	t.during = append(t.during, func(_ string, pid int, stop <-chan struct{}) error {
		group, err := newQuota(percent, period)
		if err != nil {
			return err
		}
		err = os.WriteFile(filepath.Join(group, "cgroup.procs"), []byte(strconv.Itoa(pid)), 0o600)
		if errors.Is(err, syscall.ESRCH) {
			err = nil // it has ended
		}
		<-stop
		for range 50 { // it is empty when the process is gone
			if os.Remove(group) == nil {
				return err
			}
			time.Sleep(20 * time.Millisecond)
		}
		return err
	})
	return fmt.Sprintf("quota of %d%% in %d ms", percent, period)
}

// newQuota makes a cgroup of either version that allows a share of one CPU.
func newQuota(percent, periodMS int) (string, error) {
	quota, period := strconv.Itoa(percent*periodMS*10), strconv.Itoa(periodMS*1000)
	name := "tokamak-starve-" + strconv.Itoa(os.Getpid())
	one := filepath.Join("/sys/fs/cgroup/cpu", name)
	if err := os.Mkdir(one, 0o755); err == nil {
		return one, errors.Join(os.WriteFile(filepath.Join(one, "cpu.cfs_period_us"), []byte(period), 0o600),
			os.WriteFile(filepath.Join(one, "cpu.cfs_quota_us"), []byte(quota), 0o600))
	}
	two := filepath.Join("/sys/fs/cgroup", name)
	if err := os.Mkdir(two, 0o755); err != nil {
		return "", fmt.Errorf("no cgroup can be made here: %w", err)
	}
	return two, os.WriteFile(filepath.Join(two, "cpu.max"), []byte(quota+" "+period), 0o600)
}

// shortOfMemory lets the collector run without end.
func shortOfMemory(t *starvation, r *rand.Rand) string {
	mib := pick(r, 4, 24)
	t.env = append(t.env, fmt.Sprintf("GOMEMLIMIT=%dMiB", mib), fmt.Sprintf("GOMAXPROCS=%d", pick(r, 1, runtime.NumCPU())))
	return fmt.Sprintf("memory limit %d MiB", mib)
}

// whileRunning runs a command until the trial is over.
func whileRunning(stop <-chan struct{}, words ...string) error {
	cmd := exec.Command(words[0], words[1:]...)
	if err := cmd.Start(); err != nil {
		return err
	}
	<-stop
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	return nil
}
