package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// emission is what /sim/emission tells.
type emission struct {
	Tokens, Writes, Held int64
	Late                 *struct{ P50, P90, P99, P999, Max float64 } `json:"late_ms"`
}

// load is how many streams get a token each so many µs.
type load struct{ streams, step int }

// loads reads STREAMS:STEP_US, comma separated.
func loads(list string) (all []load, err error) {
	for s := range strings.SplitSeq(list, ",") {
		var l load
		if _, err := fmt.Sscanf(s, "%d:%d", &l.streams, &l.step); err != nil {
			return nil, fmt.Errorf("-streams %q: want STREAMS:STEP_US, …", s)
		}
		all = append(all, l)
	}
	return all, nil
}

// measureServing drives `tokamak sim` with steps of a set length.
func measureServing(dir string, o options) error {
	list := o.streams
	if list == "" {
		list = "250:2500,500:5000,1000:10000,2000:10000,2000:8000"
	}
	all, err := loads(list)
	if err != nil {
		return err
	}
	bin := filepath.Join(dir, "tokamak")
	if out, err := exec.Command("go", "build", "-o", bin, "./cmd/tokamak").CombinedOutput(); err != nil {
		return fmt.Errorf("building tokamak: %w\n%s", err, out)
	}
	fmt.Printf("streams of one token a step, %d ms measured after %d ms; the reader has the same processors\n\n", o.window, warmupMS)
	fmt.Println("streams  step ms  asked/s    got/s  tokens/write  server µs/token  two cores/s  reader µs/token  late p50/p99/p99.9/max ms         held  KiB/stream")
	for _, l := range all {
		for range o.repeat {
			if err := serveOnce(dir, bin, l, o); err != nil {
				return err
			}
		}
	}
	return nil
}

// device is an accelerator on which every step takes its fixed time.
const device = `name: paced
bf16_tflops: 1000000
memory_tb_per_s: 10000
memory_bytes: 1099511627776
link_gb_per_s: 1000
efficiency: {matmul: 1, weights: 1, kv: 1, attention: 1, step_us: %d, sequence_us: 0.000001, api_us: 1}
`

func serveOnce(dir, bin string, l load, o options) error {
	gpu := filepath.Join(dir, "paced.yaml")
	if err := os.WriteFile(gpu, fmt.Appendf(nil, device, l.step), 0o600); err != nil {
		return err
	}
	cmd := exec.Command(bin, "sim", "--gpu", gpu, "--listen", "127.0.0.1:0", "-o", "json", "--max-num-seqs", strconv.Itoa(l.streams),
		"--max-num-batched-tokens", "65536", "--num-gpu-blocks", "1000000")
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	defer func() { _ = cmd.Process.Signal(syscall.SIGTERM); _ = cmd.Wait() }()
	var hello struct{ URL string }
	if err := json.NewDecoder(out).Decode(&hello); err != nil {
		return fmt.Errorf("tokamak sim: %w", err)
	}
	base := strings.TrimSuffix(hello.URL, "/v1")
	if _, err := ask(http.MethodPost, base+"/tokenize", `{"prompt":"warm"}`); err != nil {
		return err
	}
	before := residentKB(cmd.Process.Pid)
	var e emission
	if err := read(dir, base, cmd.Process.Pid, l, o, func(line string) error {
		body, err := ask(http.MethodGet, base+"/sim/emission", "")
		if err == nil {
			err = json.Unmarshal(body, &e)
		}
		if err != nil || e.Late == nil {
			return fmt.Errorf("no lateness: %w", err)
		}
		var took, cpu, own, events float64
		if _, err := fmt.Sscan(line, &took, &cpu, &own, &events); err != nil {
			return err
		}
		us := cpu / events / 1e3
		fmt.Printf("%7d  %7.1f  %7.0f  %7.0f  %12.2f  %15.2f  %11.0f  %15.2f  %7.2f / %5.2f / %5.2f / %6.2f  %7d  %10.1f\n", l.streams, float64(l.step)/1e3,
			float64(l.streams)*1e6/float64(l.step), events/took*1e9, float64(e.Tokens)/float64(e.Writes), us, 2e6/us, own/events/1e3,
			e.Late.P50, e.Late.P99, e.Late.P999, e.Late.Max, e.Held, float64(residentKB(cmd.Process.Pid)-before)/float64(l.streams))
		return nil
	}); err != nil {
		return err
	}
	return nil
}

// read runs the C reader; then is called with its result while streams are open.
func read(dir, base string, pid int, l load, o options, then func(string) error) error {
	tokens := min((warmupMS+o.window+3000)*1000/l.step, 8000)
	reader := exec.Command(filepath.Join(dir, "chatreader"), base[strings.LastIndexByte(base, ':')+1:], strconv.Itoa(l.streams), strconv.Itoa(tokens),
		strconv.Itoa(warmupMS), strconv.Itoa(o.window), "1000", strconv.Itoa(pid))
	reader.Stderr = os.Stderr
	out, err := reader.StdoutPipe()
	if err != nil {
		return err
	}
	if err := reader.Start(); err != nil {
		return err
	}
	defer func() { _ = reader.Wait() }()
	lines := bufio.NewScanner(out)
	if !lines.Scan() {
		return fmt.Errorf("the reader said nothing")
	}
	if _, err := ask(http.MethodDelete, base+"/sim/emission", ""); err != nil {
		return err
	}
	if !lines.Scan() {
		return fmt.Errorf("the reader ended early")
	}
	return then(lines.Text())
}

func ask(method, url, body string) ([]byte, error) {
	r, err := http.NewRequest(method, url, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	client := http.Client{Timeout: 10 * time.Second}
	resp, err := client.Do(r)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	return io.ReadAll(resp.Body)
}

// residentKB is the resident memory of a process.
func residentKB(pid int) int64 {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", pid))
	if err != nil {
		return 0
	}
	var size, pages int64
	if _, err := fmt.Sscan(string(b), &size, &pages); err != nil {
		return 0
	}
	return pages * int64(os.Getpagesize()) / 1024
}
