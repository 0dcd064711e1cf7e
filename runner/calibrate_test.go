package runner

import (
	"testing"

	"github.com/tokamak-bench/tokamak/scenario"
)

// TestAsks: what a load asks of the client, by hand.
func TestAsks(t *testing.T) {
	for text, want := range map[string]float64{
		"workload: {output-tokens: 100}\nload: {rate: 20, duration: 10s}\n":                                         2000,
		"workload: {output-tokens: 100}\nload: {rate: 20, duration: 10s}\ntarget: {no-stream: true}\n":              20,
		"workload: {output-tokens: 10}\nload: {concurrency: 30, duration: 10s}\n":                                   3000,
		"workload: {output-tokens: 10}\nload: {stages: 'rate=5:10s,rate=50:10s'}\n":                                 500,
		"workload: {output-tokens: 10}\nload: {concurrency: 30, duration: 10s}\ntarget: {no-stream: true}\n":        0,
		"workload: {output-tokens: 10, turns: 2}\nload: {rate: 5, duration: 10s}\ntarget: {url: 'http://h:1/v1'}\n": 50,
	} {
		s, err := scenario.Parse("t.yaml", []byte(text), scenario.Flags{})
		if err != nil {
			t.Fatal(err)
		}
		p, ok := asks(s)
		if p.EventsPerS != want || ok != (want > 0) {
			t.Errorf("%s: %v (%v), want %v", text, p.EventsPerS, ok, want)
		}
	}
}
