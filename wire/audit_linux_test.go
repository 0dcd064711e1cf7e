package wire

import (
	"context"
	"io"
	"net"
	"net/url"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tokamak-bench/tokamak/clock"
)

// TestLooks: a round that comes late is a pause only if events met in it, it
// begins with the look before the last, and a round that did not see what the
// eager reader holds is none.
func TestLooks(t *testing.T) {
	const every = int64(4 * time.Millisecond)
	synctest.Test(t, func(t *testing.T) {
		p := &poller{clock: clock.NewPortable()}
		var l looks
		l.restart(p)
		round := func(after time.Duration, met int64) {
			time.Sleep(after)
			p.stats.coalesced.Add(met)
			l.round(p, p.clock.Now(), every)
		}
		ms := func(n int64) int64 { return n * int64(time.Millisecond) }
		round(4*time.Millisecond, 0)
		round(100*time.Millisecond, 0) // at 104: nobody met
		round(8*time.Millisecond, 5)   // at 112: met, but soon enough
		if got := p.Pauses(); len(got) != 0 {
			t.Errorf("pauses %v", got)
		}
		round(20*time.Millisecond, 1) // at 132
		if d := cmp.Diff([]Pause{{ms(104), ms(132)}}, p.Pauses()); d != "" {
			t.Error(d)
		}
		p.eagerTurn.Store(7)
		round(4*time.Millisecond, 0)  // at 136: it has just begun
		round(4*time.Millisecond, 0)  // at 140: it still holds the same
		round(20*time.Millisecond, 0) // at 160: and still
		p.eagerTurn.Store(8)
		round(4*time.Millisecond, 2) // at 164: it has read; the last look at all was at 136
		if d := cmp.Diff([]Pause{{ms(132), ms(164)}}, p.Pauses()); d != "" {
			t.Error(d)
		}
		if got := p.Pauses(); len(got) != 0 {
			t.Errorf("told twice: %v", got)
		}
	})
}

// TestPausesAreBounded: those that overlap stay two, since somebody looked in
// between; too many become long ones.
func TestPausesAreBounded(t *testing.T) {
	var l pauseList
	l.add(Pause{10, 20})
	l.add(Pause{15, 40})
	if d := cmp.Diff([]Pause{{10, 20}, {15, 40}}, l.take()); d != "" {
		t.Error(d)
	}
	for i := range int64(2 * pausesKept) {
		l.add(Pause{10 * i, 10*i + 5})
	}
	all := l.take()
	if len(all) != pausesKept || all[0].From != 0 || all[len(all)-1].To != 10*(2*pausesKept-1)+5 {
		t.Errorf("%d pauses from %d to %d", len(all), all[0].From, all[len(all)-1].To)
	}
}

// TestSockets: the kernel tells the round trip and what lies unread.
func TestSockets(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	accepted := make(chan net.Conn, 1)
	go func() {
		if c, err := l.Accept(); err == nil {
			accepted <- c
		}
	}()
	run := clock.NewReal()
	defer run.Close()
	tr, err := New(Config{Clock: run})
	if err != nil {
		t.Fatal(err)
	}
	defer tr.Close()
	u := &url.URL{Scheme: "http", Host: l.Addr().String()}
	if err := tr.(Warmer).Warm(context.Background(), u, 1); err != nil {
		t.Fatal(err)
	}
	server := <-accepted
	defer server.Close()
	all := tr.(Auditor).Sockets(10)
	if len(all) != 1 || all[0].RTT <= 0 || all[0].Unread != 0 || all[0].Retransmits != 0 {
		t.Errorf("%+v", all)
	}
	if got := tr.(Auditor).Sockets(0); len(got) != 0 {
		t.Errorf("asked for none: %+v", got)
	}
}

// TestReadyByTheHandshake: a connection is ready when the handshake was over,
// not when this process came to hear of it.
func TestReadyByTheHandshake(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() {
		if c, err := l.Accept(); err == nil {
			_, _ = io.Copy(io.Discard, c)
			_ = c.Close()
		}
	}()
	run := clock.NewReal()
	defer run.Close()
	tr, err := New(Config{Clock: run})
	if err != nil {
		t.Fatal(err)
	}
	defer tr.Close()
	u := &url.URL{Scheme: "http", Host: l.Addr().String()}
	if err := tr.(Warmer).Warm(context.Background(), u, 1); err != nil {
		t.Fatal(err)
	}
	p := tr.(*split).plain.(*poller)
	for c := range p.open {
		c.mu.Lock()
		heard := c.dialled + int64(time.Hour)
		if at := c.handshakeEnd(heard); at <= c.dialled || at > c.dialled+int64(time.Minute) {
			t.Errorf("ready %d ns after the dial", at-c.dialled)
		}
		if at := c.handshakeEnd(c.dialled); at != c.dialled {
			t.Error("ready later than it was heard of")
		}
		c.mu.Unlock()
	}
}
