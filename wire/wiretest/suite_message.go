package wiretest

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/tokamak-bench/tokamak/wire"
)

// serveOnce answers every connection with what answer returns for its first
// request, and closes it.
func serveOnce(t *testing.T, answer func(r *http.Request, body string) string) *url.URL {
	t.Helper()
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			if r, err := http.ReadRequest(bufio.NewReader(c)); err == nil {
				body, _ := io.ReadAll(r.Body)
				_, _ = io.WriteString(c, answer(r, string(body)))
			}
			_ = c.Close()
		}
	}()
	t.Cleanup(func() { _ = l.Close(); <-done })
	u, err := url.Parse("http://user:secret@" + l.Addr().String() + "/a%2Fb/v1?key=value&x=%20")
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// request checks what goes over the wire.
func (s *suite) request(t *testing.T) {
	for _, method := range []string{"POST", "GET"} {
		var mu sync.Mutex
		var got, host string
		u := serveOnce(t, func(r *http.Request, body string) string {
			mu.Lock() // a transport with sockets of its own gives no order that the race detector knows
			defer mu.Unlock()
			host = r.Host
			got = fmt.Sprintf("%s %s %s length %d %v auth %q custom %q accept-encoding %q body %q", r.Method, r.RequestURI, r.Proto, r.ContentLength,
				r.TransferEncoding, r.Header.Get("Authorization"), r.Header["X-Custom"], strings.TrimPrefix(r.Header.Get("Accept-Encoding"), "identity"), body)
			return "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nX-Two: a\r\nX-Two: b\r\n\r\nok"
		})
		tr := s.open(t, wire.Config{})
		r := &wire.Request{Method: method, URL: u, Header: []wire.Field{{Name: "Authorization", Value: "Bearer k"}, {Name: "X-Custom", Value: "1"}, {Name: "X-Custom", Value: "2"}}}
		want := method + ` /a%2Fb/v1?key=value&x=%20 HTTP/1.1 length 0 [] auth "Bearer k" custom ["1" "2"] accept-encoding "" body ""`
		if method == "POST" {
			r.Body = []byte("{}")
			want = strings.NewReplacer("length 0", "length 2", `body ""`, `body "{}"`).Replace(want)
		}
		rec := Start(tr, r)
		rec.Wait(t)
		rec.Check(t)
		mu.Lock()
		if got != want || host != u.Host {
			t.Errorf("sent\n%s to %s\nwant\n%s to %s", got, host, want, u.Host)
		}
		mu.Unlock()
		x := &rec.X
		var two []string
		for _, f := range x.Header {
			if strings.EqualFold(f.Name, "X-Two") {
				two = append(two, f.Value)
			}
		}
		if len(rec.Events) != 1 || string(rec.Events[0].Data) != "ok" || x.Protocol != "http/1.1" || fmt.Sprint(two) != "[a b]" || x.ContentFraming != wire.Whole {
			t.Errorf("got %d events, %q %v framing %v (%v)", len(rec.Events), x.Protocol, two, x.ContentFraming, x.Err)
		}
		if x.BytesIn < 2 || x.BytesOut < int64(len(r.Body)) {
			t.Errorf("bytes in %d, out %d", x.BytesIn, x.BytesOut)
		}
	}
}

// whole checks bodies that are one event, and that long ones are cut short.
func (s *suite) whole(t *testing.T) {
	for _, test := range []struct {
		name  string
		size  int
		keep  int
		trunc int64
	}{{"empty", 0, 0, 0}, {"small", 10, 10, 0}, {"at the limit", 1 << 20, 1 << 20, 0}, {"over the limit", 3 << 20, 1 << 20, 1 << 20}} {
		t.Run(test.name, func(t *testing.T) {
			u := serveOnce(t, func(*http.Request, string) string {
				return fmt.Sprintf("HTTP/1.1 500 Oh\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", test.size, strings.Repeat("x", test.size))
			})
			tr := s.open(t, wire.Config{MaxBody: 1 << 20})
			rec := Start(tr, &wire.Request{Method: "GET", URL: u, Framing: wire.SSE})
			rec.Wait(t)
			rec.Check(t)
			x := &rec.X
			kept := 0
			for _, e := range rec.Events {
				kept += len(e.Data)
			}
			if x.Cause != wire.Completed || x.Status != 500 || kept != test.keep || len(rec.Events) > 1 || x.BodyTruncatedAt != test.trunc || x.BytesIn < int64(test.size) {
				t.Errorf("%v (%v), status %d, %d events of %d bytes, truncated at %d, %d bytes in", x.Cause, x.Err, x.Status, len(rec.Events), kept, x.BodyTruncatedAt, x.BytesIn)
			}
		})
	}
}

func (s *suite) ndjson(t *testing.T) {
	u := serveOnce(t, func(*http.Request, string) string {
		return "HTTP/1.1 200 OK\r\nContent-Type: application/x-ndjson\r\n\r\n{\"a\":1}\n{\"b\":2}\r\n{\"c\":3}"
	})
	tr := s.open(t, wire.Config{})
	rec := Start(tr, &wire.Request{Method: "GET", URL: u})
	rec.Wait(t)
	rec.Check(t)
	var got []string
	for _, e := range rec.Events {
		got = append(got, strings.TrimSpace(string(e.Data)))
	}
	if want := `[{"a":1} {"b":2} {"c":3}]`; fmt.Sprint(got) != want || rec.X.ContentFraming != wire.NDJSON {
		t.Errorf("got %v, want %v", got, want)
	}
}
