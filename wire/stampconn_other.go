//go:build !linux

package wire

import (
	"net"

	"github.com/tokamak-bench/tokamak/clock"
)

// stamper makes connections that stamp with the user's clock.
type stamper struct {
	clock    *clock.Real
	counters *netCounters
}

// stampSocket is what reads kernel stamps; here there is none.
type stampSocket struct{}

func newStamper(c *clock.Real, counters *netCounters) *stamper { return &stamper{c, counters} }

func (s *stamper) close() {}

func (s *stamper) clockError() int64 { return 0 }

func (s *stamper) steps() int64 { return 0 }

func (s *stamper) wrap(c net.Conn) *stampConn {
	s.counters.open.Add(1)
	return &stampConn{Conn: c, clock: s.clock, counters: s.counters}
}

func (c *stampConn) readStamped(b []byte) (int, error) { return c.Conn.Read(b) }

// waiting and dead need a poll without waiting: here nothing is known, and the
// age of an idle connection decides alone.
func (c *stampConn) waiting() bool { return false }

func (c *stampConn) dead() bool { return false }
