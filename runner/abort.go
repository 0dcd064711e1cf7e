package runner

import (
	"github.com/tokamak-bench/tokamak/load"
	"github.com/tokamak-bench/tokamak/record"
)

// abortRules feeds a load's abort rules with what ends.
type abortRules struct{ rules *load.Abort }

var _ Aborter = (*abortRules)(nil)

// Observe takes an ended attempt.
func (a *abortRules) Observe(*record.Attempt) string { return "" }
