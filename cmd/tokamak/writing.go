package main

import (
	"context"
	"fmt"
	"io"
	"sync/atomic"
	"time"
)

// writing shows how many of the texts that a model writes ahead of a run are
// there: what runner.Options.Writing is told.
func writing(ctx context.Context, w io.Writer, width int) func(texts int) (wrote, end func()) {
	return func(texts int) (wrote, end func()) {
		var there atomic.Int64
		start := time.Now()
		line := func() string {
			return fmt.Sprintf("%4.0fs  %d of %d texts written", time.Since(start).Seconds(), there.Load(), texts)
		}
		return func() { there.Add(1) }, ticking{w, width, line}.start(ctx)
	}
}
