package main

import (
	"os"
	"testing"

	"github.com/tokamak-bench/tokamak/exit"
)

func TestFirstInterruptEndsCleanly(t *testing.T) {
	done, signals := make(chan exit.Code, 1), make(chan os.Signal, 2)
	signals <- os.Interrupt
	ended := 0
	code := await(done, signals, func() { ended++; done <- exit.Failed })
	if code != exit.Failed || ended != 1 {
		t.Errorf("code %d after %d ends: the command's own code must stand", code, ended)
	}
}

func TestSecondInterruptEndsAtOnce(t *testing.T) {
	done, signals := make(chan exit.Code, 1), make(chan os.Signal, 2)
	signals <- os.Interrupt
	signals <- os.Interrupt
	if code := await(done, signals, func() {}); code != exit.Interrupted {
		t.Errorf("code %d, with a command that does not end", code)
	}
}
