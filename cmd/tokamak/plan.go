package main

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/tokamak-bench/tokamak/measure"
	"github.com/tokamak-bench/tokamak/report"
	"github.com/tokamak-bench/tokamak/runner"
	"github.com/tokamak-bench/tokamak/scenario"
)

// planText says before a run what it will send.
func planText(s *scenario.Scenario, p runner.Plan) string {
	var lines []string
	line := func(label, text string) { lines = append(lines, fmt.Sprintf("%-10s %s", label, report.Line(text))) }
	line("target", targetWords(&s.Target, p.Model))
	line("load", s.Load.String())
	line("workload", s.Workload.String())
	line("sends", forecastWords(s))
	line("in flight", peakWords(s))
	line("limits", s.Target.Timeouts.String()+", drain "+scenario.Short(s.Load.Drain))
	line("judged by", sloWords(s))
	seed := "seed " + strconv.FormatUint(s.Seed, 10)
	if s.Target.Retries > 0 {
		seed += fmt.Sprintf(", up to %d retries a request (%s) after %s", s.Target.Retries, strings.Join(s.Target.RetryOn, ", "), s.Target.Backoff)
	}
	line("draws", seed)
	if p.Tokenizer != "" {
		line("counted by", p.Tokenizer)
	}
	if p.Prompts != "" {
		line("prompts by", p.Prompts)
	}
	if p.RunDir != "" {
		line("written to", p.RunDir)
	}
	for _, n := range p.Notices {
		line("note", n)
	}
	return strings.Join(lines, "\n")
}

func targetWords(t *scenario.Target, model string) string {
	urls := make([]string, len(t.URLs))
	for i, u := range t.URLs {
		urls[i] = scenario.Redacted(u)
		if p, err := t.Proxy.For(u); err == nil && p != nil {
			urls[i] += " through the proxy " + scenario.Redacted(p)
		}
	}
	if t.UnixSocket != "" {
		urls = []string{"unix://" + t.UnixSocket}
	}
	words := []string{strings.Join(urls, " and "), t.API}
	if model != "" {
		words = append(words, "model "+model)
	}
	if !t.Stream {
		words = append(words, "whole answers")
	}
	if t.Auth.From != "" {
		words = append(words, "key from "+t.Auth.From)
	}
	if t.TLS.Insecure {
		words = append(words, "certificate not checked")
	}
	if t.Virtual {
		words = append(words, "virtual time")
	}
	return strings.Join(words, ", ")
}

func forecastWords(s *scenario.Scenario) string {
	f, ok := s.Forecast()
	bound := ""
	if s.Load.MaxTotalTokens > 0 {
		bound = fmt.Sprintf(", stops before %s tokens", grouped(float64(s.Load.MaxTotalTokens)))
	}
	switch {
	case !ok:
		return "what the dataset holds" + bound
	case f.Known:
		return fmt.Sprintf("about %s requests, %s tokens in, %s out%s", grouped(f.Requests), grouped(f.InputTokens), grouped(f.OutputTokens), bound)
	}
	return fmt.Sprintf("as many requests as the target answers, each about %s tokens in, %s out%s",
		grouped(f.InputTokens/f.Requests), grouped(f.OutputTokens/f.Requests), bound)
}

func peakWords(s *scenario.Scenario) string {
	if s.Load.MaxInFlight > 0 {
		return "at most " + measure.Count(s.Load.MaxInFlight)
	}
	if s.Load.Kind == scenario.ModelTiming {
		return fmt.Sprintf("no cap: up to %s sessions/s by the model's rates, times the seconds that they take (--max-in-flight sets one)",
			number(s.Load.Plan.Describe().PeakRate))
	}
	if len(s.Load.Plan.Stages) == 0 || s.Load.Kind == scenario.OwnTiming {
		return "no cap"
	}
	d := s.Load.Plan.Describe()
	if d.PeakRate == 0 {
		return "at most " + measure.Count(d.PeakUsers)
	}
	return fmt.Sprintf("no cap: %s/s times the seconds that an answer takes (--max-in-flight sets one)", number(d.PeakRate))
}

func sloWords(s *scenario.Scenario) string {
	words := make([]string, len(s.SLO))
	for i := range s.SLO {
		words[i] = s.SLO[i].Expr
	}
	return strings.Join(words, ", ")
}

func number(f float64) string { return strconv.FormatFloat(f, 'g', 4, 64) }

// grouped writes a whole number with commas.
func grouped(f float64) string { return measure.Count(int64(math.Round(f))) }
