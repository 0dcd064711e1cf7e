package runner

import (
	"github.com/tokamak-bench/tokamak/measure"
	"github.com/tokamak-bench/tokamak/record"
	"github.com/tokamak-bench/tokamak/report"
)

// audit watches the client itself while it sends.
type audit struct{}

func (r *Run) startAudit(*recorder) *audit { return &audit{} }

func (a *audit) stop() {}

func (a *audit) stops() []measure.Stop { return nil }

func (a *audit) schedLatency() record.Int { return record.Int{} }

// client is what the client says about itself.
func (a *audit) client(res *measure.Result) report.Client {
	c := report.Client{Verdict: measure.Valid, Validity: res.Validity}
	for _, v := range res.Validity {
		if worse(v.Trust, c.Verdict) {
			c.Verdict = v.Trust
		}
	}
	if lag, ok := res.Metrics["schedule_lag"]; ok {
		c.LagP99, c.LagMax = lag.P99, lag.Max
	}
	return c
}

func worse(a, b measure.Trust) bool {
	rank := map[measure.Trust]int{measure.Valid: 0, measure.Degraded: 1, measure.Invalid: 2}
	return rank[a] > rank[b]
}
