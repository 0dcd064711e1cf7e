//go:build !unix

package record

// lock does nothing where the system has no advisory locks.
func lock(string) (unlock func(), err error) { return func() {}, nil }
