package main

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/tokamak-bench/tokamak/exit"
)

type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, errors.New("no space left on device") }

func TestAResultThatCouldNotBeWrittenIsAnError(t *testing.T) {
	var said bytes.Buffer
	code := command(context.Background(), []string{"version"}, streams{strings.NewReader(""), fullDisk{}, &said})
	if code != exit.Usage || !strings.Contains(said.String(), "no space left") {
		t.Errorf("code %d, said %q", code, said.String())
	}
}
