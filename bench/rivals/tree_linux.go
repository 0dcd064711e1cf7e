package rivals

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// runTree runs a command to its end in dir, its output in dir/log, and charges
// it for all of its descendants, also those that it left behind.
func runTree(ctx context.Context, dir string, env, argv []string) (spent, error) {
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return spent{}, err
	}
	log, err := os.Create(filepath.Join(dir, "log"))
	if err != nil {
		return spent{}, err
	}
	defer log.Close()
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, log, log
	cmd.Env = append(os.Environ(), env...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	s := spent{Started: monotonic()}
	began := time.Now()
	if err := cmd.Start(); err != nil {
		return s, err
	}
	stop := context.AfterFunc(ctx, func() { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) })
	defer stop()
	peak := watchMemory(cmd.Process.Pid)
	err = cmd.Wait()
	s.Wall = time.Since(began)
	s.PeakMB = peak()
	_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
	s.CPU = cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime() + reap(cmd.Process.Pid)
	if ctx.Err() != nil {
		err = fmt.Errorf("stopped after %v: %w", s.Wall.Round(time.Second), ctx.Err())
	}
	if err != nil {
		err = fmt.Errorf("%s: %w; its last words: %s", filepath.Base(argv[0]), err, tail(log.Name()))
	}
	return s, err
}

// reap waits for the orphans of a process group and returns what they used.
func reap(group int) time.Duration {
	var cpu time.Duration
	for range 50 {
		var use syscall.Rusage
		pid, err := syscall.Wait4(-group, nil, syscall.WNOHANG, &use)
		switch {
		case errors.Is(err, syscall.ECHILD):
			return cpu
		case pid > 0:
			cpu += time.Duration(use.Utime.Nano() + use.Stime.Nano())
		default:
			time.Sleep(20 * time.Millisecond)
		}
	}
	return cpu
}

func monotonic() int64 {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &t); err != nil {
		return 0
	}
	return t.Nano()
}

// watchMemory samples a process tree until the returned function is called,
// which gives its peak in MB.
func watchMemory(root int) func() float64 {
	var done sync.WaitGroup
	stop, peak := make(chan struct{}), 0.0
	done.Go(func() {
		for tick := time.NewTicker(500 * time.Millisecond); ; {
			peak = max(peak, treeMB(root))
			select {
			case <-stop:
				tick.Stop()
				return
			case <-tick.C:
			}
		}
	})
	return func() float64 {
		close(stop)
		done.Wait()
		return peak
	}
}

func treeMB(root int) float64 {
	children := map[int][]int{}
	dirs, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, d := range dirs {
		b, err := os.ReadFile(d)
		if err != nil {
			continue
		}
		rest := strings.Fields(string(b[bytes.LastIndexByte(b, ')')+1:]))
		pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(d)))
		if parent, err := strconv.Atoi(rest[1]); err == nil {
			children[parent] = append(children[parent], pid)
		}
	}
	total := 0.0
	for queue := []int{root}; len(queue) > 0; queue = queue[1:] {
		total += proportionalMB(queue[0])
		queue = append(queue, children[queue[0]]...)
	}
	return total
}

func proportionalMB(pid int) float64 {
	f, err := os.Open(fmt.Sprintf("/proc/%d/smaps_rollup", pid))
	if err != nil {
		return 0
	}
	defer f.Close()
	for in := bufio.NewScanner(f); in.Scan(); {
		if kb, ok := strings.CutPrefix(in.Text(), "Pss:"); ok {
			n, _ := strconv.ParseFloat(strings.Fields(kb)[0], 64)
			return n / 1024
		}
	}
	return 0
}

// tail returns the end of a log in one line.
func tail(name string) string {
	b, err := os.ReadFile(name)
	if err != nil {
		return err.Error()
	}
	b = bytes.TrimSpace(b[max(0, len(b)-600):])
	return strings.Join(strings.Fields(string(b)), " ")
}
