package verify

import (
	"fmt"

	"github.com/tokamak-bench/tokamak/exit"
	"github.com/tokamak-bench/tokamak/measure"
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

// Code returns the exit code of a verdict alone.
func (v Verdict) Code(inconclusiveOK bool) exit.Code {
	switch v {
	case Invalid:
		return exit.Invalid
	case Fail:
		return exit.Failed
	case Inconclusive, Unmeasured:
		if !inconclusiveOK {
			return exit.Inconclusive
		}
	}
	return exit.OK
}

// Ending is how a run ended, and so its exit code.
type Ending struct {
	Interrupted    bool
	Aborted        bool // a rule of the scenario ended it
	Unusable       bool // the target could not be used; see [Unusable]
	Verdict        Verdict
	InconclusiveOK bool
}

// ExitCode returns the exit code; where several hold, [exit.Worst] decides.
func (e Ending) ExitCode() int {
	codes := []exit.Code{e.Verdict.Code(e.InconclusiveOK)}
	if e.Interrupted {
		codes = append(codes, exit.Interrupted)
	}
	if e.Unusable {
		codes = append(codes, exit.Target)
	}
	if e.Aborted {
		codes = append(codes, exit.Failed)
	}
	return int(exit.Worst(codes...))
}

// Unusable tells whether a run got not one success from its target although it
// asked and was refused or failed. What we cut ourselves says nothing about it.
func Unusable(r measure.Requests) bool { return r.OK == 0 && r.Failed > 0 }

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
