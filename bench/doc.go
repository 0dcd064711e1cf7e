// Command bench measures wire's poller against a bare epoll reader in C, in
// the same run, on a server in C that paces its chunks and logs when it wrote
// them. docs/benchmarks.md tells how to read it.
//
//	go run ./bench cpu      CPU for each chunk, beside the C reader
//	go run ./bench memory   memory for each open stream
//	go run ./bench many     5,000 streams at once: is every chunk there?
//	go run ./bench truth    arrivals against the server's log, the reader held up
//	go run ./bench report   what a report of a million requests takes
//	go run ./bench serve    the simulated engine: CPU, lateness and memory of streams
//	go run ./bench rivals   other clients beside ours on a server that knows the truth; see scripts/rivals
//
// It needs Linux and a C compiler.
package main
