package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/tokamak-bench/tokamak/exit"
)

func main() {
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	if !signal.Ignored(syscall.SIGHUP) { // a terminal that went away, unless under nohup
		signal.Notify(signals, syscall.SIGHUP)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan exit.Code, 1)
	go func() { done <- command(ctx, os.Args[1:], streams{os.Stdin, os.Stdout, os.Stderr}) }()
	os.Exit(int(await(done, signals, cancel)))
}

// await returns the command's exit code. The first signal ends the command
// cleanly, with what it has; the second at once.
func await(done <-chan exit.Code, signals <-chan os.Signal, end func()) exit.Code {
	for interrupted := false; ; interrupted = true {
		select {
		case code := <-done:
			return code
		case <-signals:
			if interrupted {
				return exit.Interrupted
			}
			end()
		}
	}
}
