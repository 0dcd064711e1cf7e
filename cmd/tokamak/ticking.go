package main

import (
	"context"
	"io"
	"os"
	"sync"
	"time"
)

// How often progress is shown: a line that is written over on a terminal, a
// new line elsewhere.
const (
	refresh = 200 * time.Millisecond
	period  = 5 * time.Second
)

// ticking shows on standard error how something gets on.
type ticking struct {
	w     io.Writer
	width int           // of the terminal; 0: not a terminal
	line  func() string // ASCII, so that it may be cut anywhere
}

// lineWidth is how wide a line is that is written over; 0 where none can be,
// such as on a dumb terminal.
func lineWidth(w io.Writer) int {
	if os.Getenv("TERM") == "dumb" {
		return 0
	}
	width, _ := terminal(w)
	return width
}

// start shows the line again and again until the returned function is called.
func (t ticking) start(ctx context.Context) (stop func()) {
	every := period
	if t.width > 0 {
		every = refresh
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	var done sync.WaitGroup
	done.Go(func() {
		ticks := time.NewTicker(every)
		defer ticks.Stop()
		for {
			select {
			case <-ctx.Done():
				if t.width > 0 {
					t.write("\r\x1b[K")
				}
				return
			case <-ticks.C:
				t.show(t.line())
			}
		}
	})
	return func() { cancel(); done.Wait() }
}

func (t ticking) show(line string) {
	if t.width == 0 {
		t.write(line + "\n")
		return
	}
	if len(line) >= t.width {
		line = line[:t.width-1]
	}
	t.write("\r" + line + "\x1b[K")
}

// write writes; there is nobody to tell that it failed.
func (t ticking) write(s string) { _, _ = io.WriteString(t.w, s) }
