//go:build !linux

package wire

// newPoller returns none: the poller needs epoll and the kernel's stamps.
func newPoller(Config) (warmTransport, error) { return nil, nil }
