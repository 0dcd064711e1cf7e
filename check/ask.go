package check

import (
	"context"
	"fmt"

	"github.com/tokamak-bench/tokamak/engine"
	"github.com/tokamak-bench/tokamak/engine/openai"
	"github.com/tokamak-bench/tokamak/wire"
)

// Ask sends one call and returns its whole answer. Fields that the server
// refuses and that the driver added by itself are left out and the call sent
// again. What is no whole answer is an error that says why, without the call's
// or the answer's text.
func Ask(ctx context.Context, t wire.Transport, d *openai.Driver, c *engine.Call) (*engine.Answer, error) {
	for try := 0; ; try++ {
		r, err := call(ctx, t, d, c, 0)
		if err != nil {
			return nil, err
		}
		a := r.answer
		switch {
		case r.x.Cause != wire.Completed:
			return nil, fmt.Errorf("the request failed: %s", r.cause())
		case a.RefusedField != "" && try < maxAdaptions && d.Refuse(a.RefusedField):
			continue
		case a.Failure != engine.Whole:
			return nil, fmt.Errorf("status %d, %s: %s", r.x.Status, a.ErrorClass, a.ErrorText)
		}
		return a, nil
	}
}
