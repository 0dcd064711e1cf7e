package interop

import "github.com/tokamak-bench/tokamak/measure/dialect"

// moments of statistics that a dialect does not print: least and spread.
type spread struct {
	n        int
	mean, m2 float64
	min, max float64
	sum      float64
}

func (s *spread) add(x float64) {
	if s.n == 0 || x < s.min {
		s.min = x
	}
	if s.n == 0 || x > s.max {
		s.max = x
	}
	s.n++
	s.sum += x
	d := x - s.mean
	s.mean += d / float64(s.n)
	s.m2 += d * (x - s.mean)
}

// variance is that of the population (divisor n), as numpy's std has it.
func (s *spread) variance() float64 { return s.m2 / float64(s.n) }

// spreads walks the successes once: ttft, e2e, tpot (the latency after the first
// token by the tokens after it) and gaps in ns, input and output in tokens. Each
// is there, with n of 0 where no success has it.
func (r *outRun) spreads() map[string]*spread {
	out := map[string]*spread{"ttft": {}, "e2e": {}, "tpot": {}, "gaps": {}, "input": {}, "output": {}}
	r.trace.Each(&r.dialect, func(l *dialect.Look) {
		if !l.OK {
			return
		}
		ttft, streamed := between(l.Start, l.First)
		latency, whole := between(l.Start, l.End)
		if streamed {
			out["ttft"].add(float64(ttft))
		}
		if whole {
			out["e2e"].add(float64(latency))
		}
		n, counted := l.Output.Get()
		if streamed && whole && n > 1 {
			out["tpot"].add(float64(latency-ttft) / float64(n-1))
		}
		for _, g := range l.Gaps {
			out["gaps"].add(g)
		}
		if counted {
			out["output"].add(float64(n))
		}
		if n, ok := l.Input.Get(); ok {
			out["input"].add(float64(n))
		}
	})
	return out
}
