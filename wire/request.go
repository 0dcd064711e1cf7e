package wire

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"golang.org/x/net/http/httpguts"
)

// appendHead appends the request's head to b. An error means that the request
// cannot be sent as it is.
func appendHead(b []byte, r *Request, last bool) ([]byte, error) {
	if !httpguts.ValidHeaderFieldName(r.Method) {
		return b, fmt.Errorf("method %.20q is no token", r.Method)
	}
	host := hostField(r.URL.Host)
	target := r.URL.RequestURI()
	if !httpguts.ValidHostHeader(host) || strings.ContainsFunc(target, func(c rune) bool { return c <= ' ' || c == 0x7f }) {
		return b, errors.New("the URL has a character that cannot be sent")
	}
	b = append(append(append(b, r.Method...), ' '), target...)
	b = append(append(append(b, " HTTP/1.1\r\nHost: "...), host...), "\r\n"...)
	agent, encoding := false, false
	for _, f := range r.Header {
		switch {
		case strings.EqualFold(f.Name, "Host"), strings.EqualFold(f.Name, "Content-Length"),
			strings.EqualFold(f.Name, "Connection"), strings.EqualFold(f.Name, "Transfer-Encoding"):
			continue // the transport's
		case !httpguts.ValidHeaderFieldName(f.Name) || !httpguts.ValidHeaderFieldValue(f.Value):
			return b, fmt.Errorf("header field %.40q cannot be sent", f.Name)
		case strings.EqualFold(f.Name, "User-Agent"):
			agent = true
		case strings.EqualFold(f.Name, "Accept-Encoding"):
			encoding = true
		}
		b = append(append(append(append(b, f.Name...), ": "...), f.Value...), "\r\n"...)
	}
	if !agent {
		b = append(b, "User-Agent: tokamak\r\n"...)
	}
	if !encoding {
		b = append(b, "Accept-Encoding: identity\r\n"...)
	}
	if len(r.Body) > 0 || r.Method != "GET" && r.Method != "HEAD" {
		b = append(strconv.AppendInt(append(b, "Content-Length: "...), int64(len(r.Body)), 10), "\r\n"...)
	}
	if last {
		b = append(b, "Connection: close\r\n"...)
	}
	return append(b, "\r\n"...), nil
}

// hostField is the URL's host without the zone of an IPv6 address, which means
// nothing to the other side.
func hostField(host string) string {
	i := strings.IndexByte(host, '%')
	j := strings.IndexByte(host, ']')
	if !strings.HasPrefix(host, "[") || i < 0 || j < i {
		return host
	}
	return host[:i] + host[j:]
}
