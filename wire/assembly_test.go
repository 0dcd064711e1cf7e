package wire

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// gather runs the pieces, each a read of its own, through an assembly and
// returns the segments.
func gather(framing Framing, maxEvent, maxBody int, isToken func([]byte) bool, pieces [][]byte) (segs []*Segment, x *Exchange, err error) {
	x = &Exchange{}
	x.Reset(&Request{IsToken: isToken}, nil)
	x.ContentFraming = framing
	a := &assembly{maxEvent: maxEvent, maxBody: maxBody, newest: NotReached, spare: &segments{}, hand: func(s *Segment) { segs = append(segs, s) }}
	a.begin(x)
	st := arrival{}
	for i, p := range pieces {
		st = arrival{at: int64(i + 1), read: uint64(i + 1)}
		if err = a.add(p, st); err != nil {
			break
		}
	}
	if err == nil {
		a.end(st)
	}
	if s := a.take(); s != nil {
		segs = append(segs, s)
	}
	return segs, x, err
}

// TestAssemblyLaws draws events and reads: every event comes once, in order,
// with the stamp of the read that ended it, and is flagged exactly when that
// read also brought bytes of another.
func TestAssemblyLaws(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		events := rapid.SliceOfN(rapid.Map(rapid.IntRange(0, 3000), func(n int) string { return "data: " + strings.Repeat("x", n) + "\n\n" }), 1, 60).Draw(t, "events")
		stream := []byte(strings.Join(events, ""))
		var pieces [][]byte
		for rest := stream; len(rest) > 0; {
			n := min(rapid.IntRange(1, 5000).Draw(t, "read"), len(rest))
			pieces = append(pieces, rest[:n])
			rest = rest[n:]
		}
		segs, _, err := gather(SSE, 1<<20, 0, nil, pieces)
		if err != nil {
			t.Fatal(err)
		}
		i, end, read, readEnd := 0, 0, 0, 0
		for _, s := range segs {
			if len(s.Data) > segmentSize+5000+3100 || len(s.Events) > 2*segmentEvents {
				t.Fatalf("a segment of %d bytes and %d events", len(s.Data), len(s.Events))
			}
			for _, e := range s.Events {
				if i == len(events) || string(s.Data[e.Start:e.End]) != events[i] {
					t.Fatalf("event %d differs", i)
				}
				begin := end
				end += len(events[i])
				for readEnd < end {
					readEnd += len(pieces[read])
					read++
				}
				readStart := readEnd - len(pieces[read-1])
				met := readEnd > end || i > 0 && begin > readStart
				if e.At != int64(read) || (e.Flags&Coalesced != 0) != met {
					t.Fatalf("event %d ends in read %d, stamped %d; met another %v, flags %d", i, read, e.At, met, e.Flags)
				}
				i++
			}
		}
		if i != len(events) {
			t.Fatalf("%d of %d events", i, len(events))
		}
	})
}

func TestEventLimit(t *testing.T) {
	for size, want := range map[int]error{100: nil, 101: errTooLong} {
		event := []byte(strings.Repeat("x", size-2) + "\n\n")
		for _, pieces := range [][][]byte{{event}, {event[:50], event[50:]}} {
			if _, _, err := gather(SSE, 100, 0, nil, pieces); !errors.Is(err, want) {
				t.Errorf("%d bytes in %d reads: %v, want %v", size, len(pieces), err, want)
			}
		}
	}
	if _, _, err := gather(SSE, 100, 0, nil, [][]byte{bytes.Repeat([]byte("x"), 101)}); !errors.Is(err, errTooLong) {
		t.Errorf("without an end: %v", err)
	}
}

// TestIsTokenIsAskedUntilYes holds the promise of Request.IsToken.
func TestIsTokenIsAskedUntilYes(t *testing.T) {
	var asked []string
	is := func(e []byte) bool { asked = append(asked, string(e)); return string(e) == "data: 2\n\n" }
	var pieces [][]byte
	for i := range 5 {
		pieces = append(pieces, fmt.Appendf(nil, "data: %d\n\n", i))
	}
	if _, _, err := gather(SSE, 1000, 0, is, pieces); err != nil || len(asked) != 3 {
		t.Errorf("asked about %q (%v)", asked, err)
	}
}

func TestAssemblyDoesNotAllocate(t *testing.T) {
	x := &Exchange{}
	x.Reset(&Request{}, nil)
	x.ContentFraming = SSE
	spare := &segments{}
	a := &assembly{maxEvent: 1 << 20, spare: spare, hand: spare.put}
	a.begin(x)
	event := []byte("data: {\"choices\":[{\"delta\":{\"content\":\"word\"}}]}\n\n")
	read := uint64(0)
	add := func() {
		for range 1000 {
			read++
			if err := a.add(event, arrival{at: int64(read), read: read}); err != nil {
				t.Fatal(err)
			}
		}
	}
	add() // the first segments are made
	if n := testing.AllocsPerRun(50, add); n != 0 {
		t.Errorf("%v allocations for 1000 events", n)
	}
}
