package main

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"
)

// compareTruth holds the reader up by busy processes and compares its arrivals
// with the moments at which the server wrote.
func compareTruth(dir string, o options) error {
	sizes, err := counts(o.streams, "32")
	if err != nil {
		return err
	}
	gap, tokens := or(o.gap, 50), or(o.tokens, 100)
	for _, n := range sizes {
		for _, busy := range []bool{false, true} {
			if err := truth(dir, o.way, n, gap, tokens, busy); err != nil {
				return err
			}
		}
	}
	return nil
}

func truth(dir, way string, streams, gap, tokens int, busy bool) error {
	s, err := startServer(dir, 50, gap, tokens, "server.log")
	if err != nil {
		return err
	}
	if busy {
		stop, err := takeProcessors(dir)
		if err != nil {
			return err
		}
		defer stop()
	}
	arrivals := filepath.Join(dir, "arrivals")
	r, err := runChild(childPlan{Way: way, Port: s.port, Streams: streams, Tokens: tokens, Arrivals: arrivals})
	if err != nil {
		return err
	}
	if err := s.stop(); err != nil {
		return err
	}
	server, err := readLog(s.log)
	if err != nil {
		return err
	}
	client, err := readLog(arrivals)
	if err != nil {
		return err
	}
	name := "idle processors"
	if busy {
		name = "busy processes take every processor for 20 of 33 ms"
	}
	fmt.Printf("%s: %d streams, %d ms between chunks; %d complete, %d wrong; %d of %d sends stamped by the kernel, %d unstamped; read p50/p99 %.2f/%.2f ms after arrival\n",
		name, streams, gap, r.Completed, r.Wrong, r.SentKernel, streams, r.Unstamped, float64(r.DelayP50NS)/1e6, float64(r.DelayP99NS)/1e6)
	var ttft, arrival, gaps []float64
	for k, at := range client {
		wrote, ok := server[k]
		if !ok {
			continue
		}
		if k.index == sent {
			first := event{k.stream, 0}
			ttft = append(ttft, ms((client[first]-at)-(server[first]-wrote)))
			continue
		}
		arrival = append(arrival, ms(at-wrote))
		if before := (event{k.stream, k.index - 1}); k.index > 0 {
			gaps = append(gaps, ms((at-client[before])-(wrote-server[before])))
		}
	}
	show("TTFT, ours less the server's", ttft)
	show("arrival less the server's write", arrival)
	show("gap, ours less the server's", gaps)
	return nil
}

// takeProcessors lets hogs take every processor for 20 of 33 ms, until stop.
func takeProcessors(dir string) (stop func(), err error) {
	var hogs []*exec.Cmd
	stop = func() {
		for _, h := range hogs {
			_ = h.Process.Kill()
			_ = h.Wait()
		}
	}
	for cpu := range runtime.NumCPU() {
		h := exec.Command(filepath.Join(dir, "hog"), strconv.Itoa(cpu), "20", "13")
		if err := h.Start(); err != nil {
			stop()
			return nil, err
		}
		hogs = append(hogs, h)
	}
	time.Sleep(50 * time.Millisecond)
	return stop, nil
}

func ms(ns int64) float64 { return float64(ns) / 1e6 }

func show(what string, v []float64) {
	if len(v) == 0 {
		fmt.Printf("  %-32s none\n", what)
		return
	}
	slices.Sort(v)
	at := func(q float64) float64 { return v[min(int(q*float64(len(v))), len(v)-1)] }
	fmt.Printf("  %-32s n %5d  min %+.3f  p50 %+.3f  p99 %+.3f  max %+.3f ms\n", what, len(v), v[0], at(0.5), at(0.99), v[len(v)-1])
}

// event names one event of a stream; index sent is the request itself.
type event struct{ stream, index int }

const sent = -1

// readLog reads lines "STREAM INDEX|request|sent NS ...".
func readLog(name string) (map[event]int64, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	all := map[event]int64{}
	for in := bufio.NewScanner(f); in.Scan(); {
		fields := strings.Fields(in.Text())
		stream, err := strconv.Atoi(fields[0])
		if err != nil {
			return nil, err
		}
		index := sent
		if fields[1] != "request" && fields[1] != "sent" {
			if index, err = strconv.Atoi(fields[1]); err != nil {
				return nil, err
			}
		}
		if all[event{stream, index}], err = strconv.ParseInt(fields[2], 10, 64); err != nil {
			return nil, err
		}
	}
	return all, nil
}
