package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/tokamak-bench/tokamak/exit"
)

// main runs the command. The first interrupt ends it cleanly, with what it
// has; the second at once.
func main() {
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan exit.Code, 1)
	go func() { done <- command(ctx, os.Args[1:], streams{os.Stdin, os.Stdout, os.Stderr}) }()
	interrupted := false
	for {
		select {
		case code := <-done:
			os.Exit(int(code))
		case <-signals:
			if interrupted {
				os.Exit(int(exit.Interrupted))
			}
			interrupted = true
			cancel()
		}
	}
}
