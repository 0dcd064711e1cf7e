//go:build unix

package record

import (
	"errors"
	"os"
	"syscall"
)

// lock marks dir as being written by this process; the system takes the mark
// away when the process ends, however it ends. A file system without locks
// has none.
func lock(dir string) (unlock func(), err error) {
	f, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return nil, errors.Join(ErrRunning, f.Close())
	}
	return func() { _ = f.Close() }, nil
}
