//go:build !linux

package rivals

import (
	"context"
	"errors"
	"fmt"
)

func runTree(context.Context, string, []string, []string) (spent, error) {
	return spent{}, fmt.Errorf("charging a process tree: %w outside Linux", errors.ErrUnsupported)
}
