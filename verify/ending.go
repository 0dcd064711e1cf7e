package verify

import (
	"fmt"

	"github.com/tokamak-bench/tokamak/measure"
)

// Exit codes.
const (
	ExitPass         = 0
	ExitFail         = 1
	ExitUsage        = 2
	ExitTarget       = 3
	ExitInvalid      = 4
	ExitInconclusive = 5
	ExitInterrupted  = 130
)

// Overall returns the verdict of all objectives: invalid before fail before
// inconclusive, and an unmeasured one is inconclusive. No objective at all
// is a pass.
func Overall(slos []SLO) Verdict {
	worst := Pass
	for i := range slos {
		if v := slos[i].Verdict; severity(v) > severity(worst) {
			worst = v
		}
	}
	if worst == Unmeasured {
		return Inconclusive
	}
	return worst
}

func severity(v Verdict) int {
	switch v {
	case Unmeasured:
		return 1
	case Inconclusive:
		return 2
	case Fail:
		return 3
	case Invalid:
		return 4
	}
	return 0
}

// Ending is how a run ended, and so its exit code.
type Ending struct {
	Usage          bool // it could not begin: what was asked for is wrong
	Interrupted    bool
	Unusable       bool // the target could not be used; see [Unusable]
	Verdict        Verdict
	InconclusiveOK bool
}

// ExitCode returns the exit code; where several hold: 2, 130, 3, 4, 1, 5.
func (e Ending) ExitCode() int {
	switch {
	case e.Usage:
		return ExitUsage
	case e.Interrupted:
		return ExitInterrupted
	case e.Unusable:
		return ExitTarget
	}
	switch e.Verdict {
	case Invalid:
		return ExitInvalid
	case Fail:
		return ExitFail
	case Inconclusive, Unmeasured:
		if !e.InconclusiveOK {
			return ExitInconclusive
		}
	}
	return ExitPass
}

// Unusable tells whether a run got not one success from its target although it
// asked.
func Unusable(r measure.Requests) bool { return r.Sent > 0 && r.OK == 0 }

// Reason is the run's verdict in one sentence: that of the first objective with
// the worst verdict.
func Reason(slos []SLO) string {
	for _, want := range []Verdict{Invalid, Fail, Inconclusive, Unmeasured} {
		for i := range slos {
			if s := &slos[i]; s.Verdict == want {
				return fmt.Sprintf("%s: %s: %s", s.Expr, s.Verdict, s.Reason)
			}
		}
	}
	switch len(slos) {
	case 0:
		return "nothing was asked for"
	case 1:
		return slos[0].Expr + " holds"
	}
	return fmt.Sprintf("all %d objectives hold", len(slos))
}
