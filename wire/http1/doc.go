// Package http1 reads HTTP/1.x responses from bytes that come in any pieces.
//
// In: the bytes of one response after another, as the socket gave them. Out:
// the head, the pieces of the body with the transfer coding taken off, and
// where the response ends. It neither copies nor allocates for the body, keeps
// no clock and no socket, and holds a head only up to [MaxHead] bytes.
// What it accepts is RFC 9112's grammar with two leniencies that servers need:
// header lines may end in a bare LF and may be folded. It refuses what
// net/http refuses, so that both ways of wire agree.
package http1
