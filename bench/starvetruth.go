package main

import (
	"cmp"
	"math"
	"slices"

	"github.com/tokamak-bench/tokamak/measure"
	"github.com/tokamak-bench/tokamak/record"
	"github.com/tokamak-bench/tokamak/stat"
)

// starveSummary is what is read of summary.json.
type starveSummary struct {
	Metrics map[string]struct {
		P99   *float64 `json:"p99"`
		Value *float64 `json:"value"`
	} `json:"metrics"`
	Client struct {
		Validity map[string]struct {
			Trust  string            `json:"trust"`
			Bound  measure.Value     `json:"bound"`
			ByStat map[string]string `json:"by_stat"`
		} `json:"validity"`
	} `json:"client"`
}

// judge holds the summary's figures against the truth. Trust is that of the
// p99 where the figure is one.
func (t *starvation) judge(sum *starveSummary, log, runDir string) ([]starveLine, error) {
	truth, services, err := serverTruth(log)
	if err != nil {
		return nil, err
	}
	if truth["request_rate"], truth["output_token_rate"], err = t.trueRates(runDir, services); err != nil {
		return nil, err
	}
	var lines []starveLine
	for _, name := range []string{"ttft", "ttft_send", "itl", "e2e", "request_rate", "output_token_rate"} {
		l := starveLine{metric: name, truth: truth[name], reported: math.NaN(), least: 0.3}
		v := sum.Client.Validity[name]
		l.trust, l.bound = v.Trust, v.Bound.Or(0)
		m := sum.Metrics[name]
		if m.P99 != nil {
			l.reported = *m.P99
			if l.trust != "valid" { // the worst of the statistics; here the p99 counts
				l.trust = cmp.Or(v.ByStat["p99"], "valid")
			}
		} else if m.Value != nil {
			l.reported = *m.Value
			l.least = 1.0 / starveSeconds // one request more or less at the window's edge
			if name == "output_token_rate" {
				l.least *= starveTokens
			}
		}
		lines = append(lines, l)
	}
	return lines, nil
}

// service is how the server served a request: its arrival, and from there its
// first event and its last, in ns.
type service struct{ began, first, long int64 }

// serverTruth reads the server's log: p99 of what each response really was, in
// ms, and the services in order of arrival, in ns.
func serverTruth(log string) (map[string]float64, []service, error) {
	events, err := readLog(log)
	if err != nil {
		return nil, nil, err
	}
	var first, whole, gaps []float64
	var services []service
	for k, at := range events {
		if k.index == sent {
			end, ok := events[event{k.stream, starveTokens - 1}]
			if !ok {
				continue
			}
			first = append(first, ms(events[event{k.stream, 0}]-at))
			whole = append(whole, ms(end-at))
			services = append(services, service{at, events[event{k.stream, 0}] - at, end - at})
			continue
		}
		if before, ok := events[event{k.stream, k.index - 1}]; ok && k.index > 0 {
			gaps = append(gaps, ms(at-before))
		}
	}
	p99 := func(v []float64) float64 {
		if len(v) == 0 {
			return math.NaN()
		}
		slices.Sort(v)
		return stat.Quantile(v, 0.99)
	}
	slices.SortFunc(services, func(a, b service) int { return cmp.Compare(a.began, b.began) })
	ttft := p99(first)
	return map[string]float64{"ttft": ttft, "ttft_send": ttft, "itl": p99(gaps), "e2e": p99(whole)}, services, nil
}

// trueRates are the requests completed, and the tokens sent, a second in the
// window, had the client been in time: of an open loop each request from its
// intended time on, of a closed one each as soon as its user's last was over.
func (t *starvation) trueRates(runDir string, services []service) (requests, tokens float64, err error) {
	run, err := record.Open(runDir)
	if err != nil {
		return 0, 0, err
	}
	start := int64(0)
	for e, err := range run.Events() {
		if err == nil && e.Kind == "load" {
			start = e.At
		}
	}
	type request struct{ sent, intended, user int64 }
	var all []request
	for a, err := range run.Attempts() {
		if err != nil {
			return 0, 0, err
		}
		if a.Sent.Valid() {
			all = append(all, request{a.Sent.Or(0), a.Intended.Or(0), a.User.Or(0)})
		}
	}
	slices.SortFunc(all, func(a, b request) int { return cmp.Compare(a.sent, b.sent) })
	end := start + starveSeconds*1e9
	add := func(at int64, s service) {
		if at+s.long <= end {
			requests++
		}
		if in := min(at+s.long, end) - at - s.first; in > 0 {
			tokens += starveTokens * float64(in) / float64(s.long-s.first)
		}
	}
	free := map[int64]int64{} // closed: when the user's last was over
	served := min(len(all), len(services))
	for i, r := range all[:served] {
		if !t.closed {
			add(r.intended, services[i])
			continue
		}
		at := max(free[r.user], start)
		add(at, services[i])
		free[r.user] = at + services[i].long
	}
	k := 0
	for _, at := range free { // what a user would have had besides
		for ; at < end && served > 0; k++ {
			s := services[k%served]
			add(at, s)
			at += s.long
		}
	}
	return requests / starveSeconds, tokens / starveSeconds, nil
}
