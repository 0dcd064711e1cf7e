package main

import (
	"flag"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
)

var starvations = flag.Int("starvations", 0, "how many starvations of the client to try; eight seconds each")

// TestFiftyStarvations: a figure called valid is within 1 % or 0.3 ms of what
// the server sent, whatever was done to the client, and a degraded one within
// its bound; fewer than one in five that are called invalid was right.
//
//	go test ./bench -run TestFiftyStarvations -starvations 50 -timeout 20m -v
func TestFiftyStarvations(t *testing.T) {
	if *starvations == 0 {
		t.Skip("it takes eight seconds a starvation: ask for them with -starvations N")
	}
	if runtime.GOOS != "linux" || os.Getuid() != 0 {
		t.Skip("it takes processors away and makes cgroups: Linux and root")
	}
	if _, err := exec.LookPath("cc"); err != nil {
		t.Skip("no C compiler")
	}
	dir := t.TempDir()
	if err := buildC(dir); err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	c, err := starveAll(dir, options{count: *starvations, seed: 1}, &out)
	t.Log("\n" + out.String())
	if err != nil {
		t.Fatal(err)
	}
	if c.falseValid > 0 || c.falseBound > 0 {
		t.Errorf("%d valid figures are not, %d degraded ones are beyond their bound", c.falseValid, c.falseBound)
	}
	if 5*c.falseInvalid >= max(c.invalid, 5) {
		t.Errorf("%d of %d invalid figures were right", c.falseInvalid, c.invalid)
	}
}

func TestJudgement(t *testing.T) {
	for _, c := range []struct {
		line starveLine
		want string
	}{
		{starveLine{trust: "valid", reported: 101, truth: 100, least: 0.3}, right},
		{starveLine{trust: "valid", reported: 101.1, truth: 100, least: 0.3}, falseValid},
		{starveLine{trust: "valid", reported: 10.25, truth: 10, least: 0.3}, right},
		{starveLine{trust: "degraded", reported: 94, truth: 100, bound: 5}, right},
		{starveLine{trust: "degraded", reported: 93.9, truth: 100, bound: 5}, falseBound},
		{starveLine{trust: "invalid", reported: 100.9, truth: 100}, falseInvalid},
		{starveLine{trust: "invalid", reported: 150, truth: 100}, right},
		{starveLine{trust: "valid", reported: math.NaN(), truth: 100}, right},
	} {
		if got := c.line.judgement(); got != c.want {
			t.Errorf("%+v: %s, want %s", c.line, got, c.want)
		}
	}
}

// TestServerTruth: one answer of 40 events, 10 ms apart but for one gap of
// 30, 50 ms after its request.
func TestServerTruth(t *testing.T) {
	var log strings.Builder
	at := int64(1_000_000_000)
	write := func(what string, at int64) {
		log.WriteString("7 " + what + " " + strconv.FormatInt(at, 10) + " 0\n")
	}
	write("request", at)
	at += 50e6
	for i := range int64(starveTokens) {
		write(strconv.FormatInt(i, 10), at)
		at += 10e6
		if i == 20 {
			at += 20e6
		}
	}
	name := filepath.Join(t.TempDir(), "log")
	if err := os.WriteFile(name, []byte(log.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	truth, services, err := serverTruth(name)
	if err != nil {
		t.Fatal(err)
	}
	for metric, want := range map[string]float64{"ttft": 50, "ttft_send": 50, "itl": 30, "e2e": 50 + 39*10 + 20} {
		if truth[metric] != want {
			t.Errorf("%s: %v, want %v", metric, truth[metric], want)
		}
	}
	if len(services) != 1 || services[0] != (service{1e9, 50e6, 460e6}) {
		t.Errorf("%+v", services)
	}
}
