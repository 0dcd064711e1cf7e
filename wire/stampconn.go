package wire

import (
	"net"
	"sync"

	"github.com/tokamak-bench/tokamak/clock"
)

// arrival says when the bytes of a read came.
type arrival struct {
	at   int64  // run's clock
	read uint64 // number of the read on its connection
	// flags is Unstamped where the kernel should have given a stamp.
	flags uint8
}

// stampConn is a connection that remembers when what it last read arrived: by
// the kernel's stamp where it can (Linux, TCP), else by the clock after the
// read. It lies under TLS, so that a record's stamp is that of the read which
// completed it. One goroutine reads at a time.
type stampConn struct {
	net.Conn
	clock *clock.Real
	last  arrival
	// good counts reads with a kernel stamp.
	good     int
	socket   *stampSocket // nil: stamps are the user's
	counters *netCounters
	shut     sync.Once
}

// Read reads and stamps.
func (c *stampConn) Read(b []byte) (int, error) {
	if c.socket != nil && len(b) > 0 {
		return c.readStamped(b)
	}
	n, err := c.Conn.Read(b)
	if n > 0 {
		c.counters.read(-1)
		c.last = arrival{at: c.clock.Now(), read: c.last.read + 1}
	}
	return n, err
}

// Close closes the connection and counts it once.
func (c *stampConn) Close() error {
	c.shut.Do(func() { c.counters.open.Add(-1) })
	return c.Conn.Close()
}
