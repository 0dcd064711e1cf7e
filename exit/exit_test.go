package exit_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/tokamak-bench/tokamak/exit"
)

func TestWorst(t *testing.T) {
	for _, c := range []struct {
		codes []exit.Code
		want  exit.Code
	}{
		{nil, exit.OK},
		{[]exit.Code{exit.OK, exit.Inconclusive}, exit.Inconclusive},
		{[]exit.Code{exit.Inconclusive, exit.Failed}, exit.Failed},
		{[]exit.Code{exit.Failed, exit.Invalid}, exit.Invalid},
		{[]exit.Code{exit.Invalid, exit.Target}, exit.Target},
		{[]exit.Code{exit.Target, exit.Interrupted}, exit.Interrupted},
		{[]exit.Code{exit.Interrupted, exit.Usage}, exit.Usage},
	} {
		if got := exit.Worst(c.codes...); got != c.want {
			t.Errorf("Worst(%v) = %d, want %d", c.codes, got, c.want)
		}
	}
}

func TestFirstCodeStays(t *testing.T) {
	err := fmt.Errorf("while sending: %w", exit.Hint(exit.Target, errors.New("refused"), "is it up?"))
	err = exit.With(exit.Usage, err)
	if exit.Of(err) != exit.Target || exit.HintOf(err) != "is it up?" || err.Error() != "while sending: refused" {
		t.Errorf("got code %d, hint %q, text %q", exit.Of(err), exit.HintOf(err), err)
	}
	if exit.With(exit.Usage, nil) != nil || exit.Of(nil) != exit.OK || exit.Of(errors.New("x")) != exit.Failed {
		t.Error("nil must stay nil, and an error without a code counts as failed")
	}
}
