// Package wire moves bytes: a [Transport] sends [Request]s over connections
// that it keeps and reports what came back, stamped as near to the kernel as
// the way allows. It knows HTTP and the framing of streams (SSE, NDJSON, whole
// bodies), and nothing of what the bytes mean.
//
// Plain HTTP/1.1 on Linux goes through a poller of its own; TLS, proxies and
// other systems through Go's network stack over a connection that stamps its
// reads (under TLS, too, by the kernel); HTTP/2 through net/http, whose stamps
// are the user's. All satisfy Transport and pass one test suite.
//
// Concurrency: Start and Cancel may be called from any goroutine. The calls to
// one exchange's [Sink] are ordered and never concurrent; they come from
// worker goroutines, never from the reader, so a sink may decode at leisure.
package wire
