package wire

import (
	"bufio"
	"bytes"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tokamak-bench/tokamak/clock"
)

// keepSink keeps the data of segments and counts the calls.
type keepSink struct {
	data  []byte
	ended int
	done  chan struct{}
}

func (k *keepSink) Segment(_ *Exchange, s *Segment) {
	for _, e := range s.Events {
		k.data = append(k.data, s.Data[e.Start:e.End]...)
	}
}

func (k *keepSink) Ended(*Exchange) {
	if k.ended++; k.ended == 1 {
		close(k.done)
	}
}

// FuzzResponse gives the transport any bytes for a response, in any pieces, and
// compares what it calls complete with what net/http reads.
func FuzzResponse(f *testing.F) {
	for _, s := range []string{
		streamHead + "data: a\n\ndata: b\n\n",
		"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
		"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 204 No Content\r\n\r\n",
		"HTTP/1.0 500 X\r\nContent-Encoding: gzip\r\n\r\nnot gzip",
		"SSH-2.0\r\n",
	} {
		f.Add([]byte(s), uint64(3), true)
		f.Add([]byte(s), uint64(4), false)
	}
	f.Fuzz(func(t *testing.T, response []byte, seed uint64, closes bool) {
		synctest.Test(t, func(t *testing.T) { tryResponse(t, response, seed, closes) })
	})
}

func tryResponse(t *testing.T, response []byte, seed uint64, closes bool) {
	pieces := cuts(response, rand.New(rand.NewPCG(seed, 0)))
	tr := newNetHTTP(Config{Clock: clock.NewPortable(), MaxEvent: 1 << 16, MaxBody: 1 << 16}, pipes(0, func(c net.Conn) {
		for _, p := range pieces {
			if _, err := c.Write(p); err != nil {
				return
			}
		}
		if !closes {
			_, _ = io.Copy(io.Discard, c)
		}
		_ = c.Close()
	}))
	defer tr.Close()
	sink := &keepSink{done: make(chan struct{})}
	x := startOn(t, tr, Limits{Total: time.Second})
	<-x.Sink.(endSink)
	x.Reset(x.Request, sink)
	tr.Start(x)
	<-sink.done
	tr.Close()
	if sink.ended != 1 || (x.Cause == Completed) != (x.Err == nil) || x.Cause == TimeoutTotal && closes {
		t.Fatalf("%q: %d ends, %v (%v)", response, sink.ended, x.Cause, x.Err)
	}
	if x.Cause != Completed || x.HeaderValue("Content-Encoding") != "" || x.BodyTruncatedAt > 0 {
		return
	}
	want, ok := readByNetHTTP(response)
	if !ok {
		t.Fatalf("%q: complete with %q, net/http refuses it", response, sink.data)
	}
	if got := trimEnds(sink.data); !bytes.Equal(got, trimEnds(want)) {
		t.Fatalf("%q: body %q, net/http reads %q", response, got, want)
	}
}

// trimEnds leaves out the line ends, some of which framing drops.
func trimEnds(b []byte) []byte {
	return bytes.ReplaceAll(bytes.ReplaceAll(b, []byte("\r"), nil), []byte("\n"), nil)
}

func readByNetHTTP(response []byte) ([]byte, bool) {
	br := bufio.NewReader(bytes.NewReader(response))
	for {
		resp, err := http.ReadResponse(br, nil)
		if err != nil {
			return nil, false
		}
		if resp.StatusCode >= 100 && resp.StatusCode < 200 {
			continue
		}
		body, err := io.ReadAll(resp.Body)
		return body, err == nil
	}
}
