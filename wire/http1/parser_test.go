package http1

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// outcome is all that a parser says of some bytes followed by the end of the connection.
type outcome struct {
	Head      *Head
	Body      string
	Used      int
	Done      bool
	KeepAlive bool
	Err       string // class of the error
}

// run gives input to a parser in pieces of the sizes that next returns.
func run(method string, input []byte, next func() int) outcome {
	var p Parser
	p.Reset(method)
	o := outcome{}
	var body bytes.Buffer
	err := error(nil)
	for rest := input; len(rest) > 0 && !p.Done() && err == nil; {
		piece := rest[:min(max(next(), 1), len(rest))]
		rest = rest[len(piece):]
		for len(piece) > 0 && !p.Done() && err == nil {
			var used int
			var data []byte
			used, data, err = p.Next(piece)
			if used == 0 && err == nil {
				panic("no progress")
			}
			body.Write(data)
			o.Used += used
			piece = piece[used:]
			if len(p.head) > MaxHead {
				panic("head over its limit")
			}
		}
	}
	if err == nil {
		err = p.Close()
	}
	o.Done, o.KeepAlive, o.Body = p.Done(), p.KeepAlive(), body.String()
	if h := p.Head(); h != nil && !errors.Is(err, ErrHead) {
		o.Head = h
	}
	for _, class := range []error{ErrHead, ErrHeadLong, ErrBody, io.ErrUnexpectedEOF} {
		if errors.Is(err, class) {
			o.Err = class.Error()
		}
	}
	if err != nil {
		o.Used = 0
	}
	return o
}

func whole(method, input string) outcome {
	return run(method, []byte(input), func() int { return len(input) })
}

func TestResponses(t *testing.T) {
	for _, c := range []struct {
		name, method, in string
		status           int
		body             string
		keep             bool
		err              error
		rest             string
	}{
		{name: "length", in: "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhelloX", status: 200, body: "hello", keep: true, rest: "X"},
		{name: "no reason", in: "HTTP/1.1 200\r\nContent-Length: 0\r\n\r\n", status: 200, keep: true},
		{name: "bare LF in the head", in: "HTTP/1.1 200 OK\nContent-Length: 2\n\nhi", status: 200, body: "hi", keep: true},
		{name: "chunked", in: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0A;x=\"y\"\r\n0123456789\r\n0\r\n\r\n", status: 200, body: "abc0123456789", keep: true},
		{name: "trailers", in: "HTTP/1.1 200 OK\r\nTransfer-Encoding: CHUNKED\r\n\r\n1\r\na\r\n0\r\nX: 1\r\nY: 2\r\n\r\n!", status: 200, body: "a", keep: true, rest: "!"},
		{name: "interim heads", in: "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 204 No Content\r\n\r\n", status: 204, keep: true},
		{name: "until close", in: "HTTP/1.1 200 OK\r\n\r\nabc", status: 200, body: "abc"},
		{name: "HTTP/1.0", in: "HTTP/1.0 200 OK\r\nContent-Length: 1\r\n\r\na", status: 200, body: "a"},
		{name: "HTTP/1.0 keep-alive", in: "HTTP/1.0 200 OK\r\nConnection: Keep-Alive\r\nContent-Length: 1\r\n\r\na", status: 200, body: "a", keep: true},
		{name: "HTTP/1.0 knows no chunks", in: "HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", status: 200, body: "0\r\n\r\n"},
		{name: "close", in: "HTTP/1.1 200 OK\r\nConnection: x, close\r\nContent-Length: 1\r\n\r\na", status: 200, body: "a"},
		{name: "chunked beats length", in: "HTTP/1.1 200 OK\r\nContent-Length: 9\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", status: 200, keep: true},
		{name: "HEAD", method: "HEAD", in: "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n", status: 200, keep: true},
		{name: "same length twice", in: "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\na", status: 200, body: "a", keep: true},
		{name: "two lengths", in: "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\na", err: ErrHead},
		{name: "bad length", in: "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\na", err: ErrHead},
		{name: "gzip coding", in: "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n", err: ErrHead},
		{name: "upgrade", in: "HTTP/1.1 101 Switching Protocols\r\n\r\n", err: ErrHead},
		{name: "not HTTP", in: "SSH-2.0-OpenSSH\r\n\r\n", err: ErrHead},
		{name: "HTTP/2 preface", in: "HTTP/2.0 200 OK\r\n\r\n", err: ErrHead},
		{name: "no colon", in: "HTTP/1.1 200 OK\r\nfoo\r\n\r\n", err: ErrHead},
		{name: "space before colon", in: "HTTP/1.1 200 OK\r\nfoo : 1\r\n\r\n", err: ErrHead},
		{name: "folded first", in: "HTTP/1.1 200 OK\r\n x\r\n\r\n", err: ErrHead},
		{name: "cut head", in: "HTTP/1.1 200 OK\r\nContent-", err: io.ErrUnexpectedEOF},
		{name: "cut body", in: "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhe", status: 200, body: "he", err: io.ErrUnexpectedEOF},
		{name: "cut chunks", in: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n", status: 200, body: "abc", err: io.ErrUnexpectedEOF},
		{name: "no size", in: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n\r\n", status: 200, err: ErrBody},
		{name: "bad size", in: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3x\r\nabc", status: 200, err: ErrBody},
		{name: "huge size", in: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffffff\r\n", status: 200, err: ErrBody},
		{name: "data too long", in: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabcd\r\n", status: 200, body: "abc", err: ErrBody},
		{name: "endless extension", in: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1;" + strings.Repeat("x", 5000), status: 200, err: ErrBody},
		{name: "endless trailers", in: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n" + strings.Repeat("x: y\r\n", MaxHead/6+1), status: 200, err: ErrBody},
		{name: "endless head", in: "HTTP/1.1 200 OK\r\n" + strings.Repeat("x: y\r\n", MaxHead/6+1), err: ErrHeadLong},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := whole(c.method, c.in)
			want := outcome{Body: c.body, Done: c.err == nil, KeepAlive: c.keep}
			if c.err != nil {
				want.Err = c.err.Error()
			} else {
				want.Used = len(c.in) - len(c.rest)
			}
			status := 0
			if got.Head != nil {
				status, got.Head = got.Head.Status, nil
			}
			if status != c.status {
				t.Errorf("status %d, want %d", status, c.status)
			}
			if d := cmp.Diff(want, got); d != "" {
				t.Errorf("(-want +got)\n%s", d)
			}
		})
	}
}

func TestFoldedLineJoins(t *testing.T) {
	got := whole("", "HTTP/1.1 200 OK\r\nX: a\r\n \t b\r\nContent-Length: 0\r\n\r\n")
	want := []Field{{"X", "a b"}, {"Content-Length", "0"}}
	if d := cmp.Diff(want, got.Head.Header); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
}

// FuzzSplits holds that the pieces in which bytes come change nothing.
func FuzzSplits(f *testing.F) {
	for _, s := range []string{
		"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello",
		"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3;a=b\r\nabc\r\n0\r\nX: y\r\n\r\n",
		"HTTP/1.0 404 Not Found\nX: y\n z\n\nabc",
	} {
		f.Add([]byte(s), uint64(1))
	}
	f.Fuzz(func(t *testing.T, in []byte, seed uint64) {
		want := run("POST", in, func() int { return len(in) })
		for _, split := range []func() int{
			func() int { return 1 },
			func() int { seed = seed*6364136223846793005 + 1442695040888963407; return int(seed>>60) + 1 },
		} {
			if d := cmp.Diff(want, run("POST", in, split)); d != "" {
				t.Errorf("split otherwise (-whole +split)\n%s", d)
			}
		}
	})
}

// response draws a response, mostly well formed.
func response(t *rapid.T) string {
	var b strings.Builder
	version := rapid.SampledFrom([]string{"HTTP/1.1", "HTTP/1.1", "HTTP/1.1", "HTTP/1.0"}).Draw(t, "version")
	status := rapid.SampledFrom([]string{"200 OK", "200", "204 No Content", "304 x", "404 Not Found", "500 Internal  Error", "20 x", "abc"}).Draw(t, "status")
	fmt.Fprintf(&b, "%s %s\r\n", version, status)
	for range rapid.IntRange(0, 3).Draw(t, "fields") {
		name := rapid.SampledFrom([]string{"X-A", "content-type", "Connection", "Server"}).Draw(t, "name")
		value := rapid.SampledFrom([]string{"", "a", "close", "keep-alive", " text/event-stream ; a=b", "é", "a\x00b"}).Draw(t, "value")
		fmt.Fprintf(&b, "%s:%s%s\r\n", name, rapid.SampledFrom([]string{"", " ", "\t "}).Draw(t, "pad"), value)
	}
	body := rapid.StringN(0, 40, 60).Draw(t, "body")
	switch rapid.IntRange(0, 4).Draw(t, "framing") {
	case 0:
		fmt.Fprintf(&b, "Content-Length: %d\r\n\r\n%s", len(body)+rapid.SampledFrom([]int{0, 0, 0, 0, 3}).Draw(t, "off"), body)
	case 1:
		fmt.Fprintf(&b, "\r\n%s", body)
	default:
		b.WriteString("Transfer-Encoding: chunked\r\n\r\n")
		for len(body) > 0 {
			n := rapid.IntRange(1, len(body)).Draw(t, "chunk")
			ext := rapid.SampledFrom([]string{"", "", ";a=b", " ", ";q=\"\""}).Draw(t, "ext")
			format := rapid.SampledFrom([]string{"%x", "%X", "00%x"}).Draw(t, "format")
			end := rapid.SampledFrom([]string{"\r\n", "\r\n", "\r\n", "\r\n", "\r\n", "\r\n", "\n", "x"}).Draw(t, "end")
			fmt.Fprintf(&b, format+"%s\r\n%s%s", n, ext, body[:n], end)
			body = body[n:]
		}
		b.WriteString(rapid.SampledFrom([]string{"0\r\n\r\n", "0\r\nX: y\r\n\r\n", ""}).Draw(t, "last"))
	}
	return b.String()
}

// TestAgainstNetHTTP holds the parser against net/http: the same answer to
// whether a response is whole, and the same status, header, body and reuse.
func TestAgainstNetHTTP(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := response(t)
		pieces := rapid.IntRange(1, 9).Draw(t, "pieces")
		got := run("POST", []byte(in), func() int { return pieces })
		resp, err := http.ReadResponse(bufio.NewReader(strings.NewReader(in)), &http.Request{Method: "POST"})
		var body []byte
		if err == nil && resp.StatusCode >= 100 { // net/http takes a status of any number
			body, err = io.ReadAll(resp.Body)
		}
		if (err == nil) != (got.Err == "") {
			t.Fatalf("net/http says %v, we say %q of %q", err, got.Err, in)
		}
		if string(body) != got.Body {
			t.Fatalf("body %q, net/http has %q, of %q", got.Body, body, in)
		}
		if err != nil {
			return
		}
		if resp.StatusCode != got.Head.Status || resp.Close == got.KeepAlive {
			t.Fatalf("status %d, keep-alive %v; net/http has %d, close %v, of %q", got.Head.Status, got.KeepAlive, resp.StatusCode, resp.Close, in)
		}
		for _, f := range got.Head.Header {
			name := http.CanonicalHeaderKey(f.Name)
			if name != "Transfer-Encoding" && name != "Content-Length" && name != "Connection" && !contains(resp.Header[name], f.Value) {
				t.Fatalf("%s: %q is not in net/http's %q", f.Name, f.Value, resp.Header[name])
			}
		}
	})
}

func contains(list []string, s string) bool {
	return slices.Contains(list, s)
}

func TestBodyDoesNotAllocate(t *testing.T) {
	var p Parser
	p.Reset("POST")
	if _, _, err := p.Next([]byte("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")); err != nil {
		t.Fatal(err)
	}
	chunk := []byte("5\r\nhello\r\n")
	n := testing.AllocsPerRun(100, func() {
		for b := chunk; len(b) > 0; {
			used, _, _ := p.Next(b)
			b = b[used:]
		}
	})
	if n != 0 {
		t.Errorf("%v allocations a chunk", n)
	}
}
