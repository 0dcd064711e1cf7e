//go:build unix

package runner

import (
	"os/exec"
	"syscall"
)

// detach puts the child into a process group of its own: Ctrl-C on the
// terminal is for the run, which ends the child itself.
func detach(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }
