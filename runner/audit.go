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
	var c report.Client
	if lag, ok := res.Metrics["schedule_lag"]; ok {
		c.LagP99, c.LagMax = lag.P99, lag.Max
	}
	return c
}
