package record

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

// sampleAttempt is an ordinary answer of n chunks, 20 ms apart.
func sampleAttempt(id int64, n int) *Attempt {
	at := id * 5e6
	noise := rand.New(rand.NewPCG(1, uint64(id)))
	a := &Attempt{
		Identity: Identity{RequestID: id, Attempt: 1, Class: "chat", Tenant: "a", SessionID: fmt.Sprint("s", id/4), Turn: id % 4,
			Target: "http://127.0.0.1:8000/v1", ConnID: Some(id % 64), Protocol: "http/1.1",
			TraceID: fmt.Sprintf("%016x%016x", noise.Uint64(), noise.Uint64()), ServerID: fmt.Sprintf("chatcmpl-%x", noise.Uint64())},
		Moments: Moments{Intended: Some(at), Dispatched: Some(at + 10_000), ConnStart: Some(0), ConnReady: Some(500_000), ConnReused: true,
			WriteStart: Some(at + 20_000), Sent: Some(at + 40_000), FirstByte: Some(at + 20e6), FirstChunk: Some(at + 20e6),
			SentSource: SourceKernel, StampSource: SourceKernel, ClockError: Some(300)},
		Tokens: Tokens{PromptAsked: Some(256), PromptUsage: Some(262), PromptShared: Some(0), OutputAsked: Some(int64(n)),
			OutputUsage: Some(int64(n)), TokenSource: "one_each"},
		Result: Result{Outcome: OK, HTTPStatus: Some(200), FinishReason: "length"},
		Bytes:  Bytes{Request: 1500, Response: int64(220 * n)},
	}
	k := &a.Chunks
	for i := range n {
		k.At = append(k.At, at+20e6+int64(i)*20e6+noise.Int64N(300_000))
		k.Tokens = append(k.Tokens, 1)
		k.Bytes = append(k.Bytes, 3+noise.Int32N(6))
		k.Kind = append(k.Kind, TextChunk)
		k.Choice = append(k.Choice, 0)
		k.Flags = append(k.Flags, 0)
	}
	a.FirstToken, a.FirstAnswer, a.LastToken = Some(k.At[0]), Some(k.At[0]), Some(k.At[n-1])
	a.Moments.Ended = Some(k.At[n-1] + 100_000)
	return a
}

// BenchmarkEnded is the cost of one row to the caller, its writing included.
func BenchmarkEnded(b *testing.B) {
	for _, n := range []int{1, 64, 256} {
		b.Run(fmt.Sprintf("chunks=%d", n), func(b *testing.B) {
			w := create(b, Options{})
			a := sampleAttempt(1, n)
			b.ReportAllocs()
			for b.Loop() {
				a.RequestID++
				if err := w.Ended(a); err != nil {
					b.Fatal(err)
				}
			}
			b.StopTimer()
			close(w.stop) // without making Parquet files of it
			<-w.done
			w.flush()
			w.unlock()
		})
	}
}

// BenchmarkRead reads rows of 64 chunks back, from the stream and from Parquet.
func BenchmarkRead(b *testing.B) {
	const rows = 20_000
	w := create(b, Options{})
	for i := range int64(rows) {
		if err := w.Ended(sampleAttempt(i, 64)); err != nil {
			b.Fatal(err)
		}
	}
	if err := w.Finish(); err != nil {
		b.Fatal(err)
	}
	read := func(b *testing.B) {
		r := open(b, w.Dir())
		b.ReportAllocs()
		n, sum := 0, int64(0)
		for b.Loop() {
			for a, err := range r.Attempts() {
				if err != nil {
					b.Fatal(err)
				}
				n++
				for _, at := range a.Chunks.At {
					sum += at
				}
			}
		}
		if n%rows != 0 || sum == 0 {
			b.Fatal(n, sum)
		}
		b.ReportMetric(float64(n)/b.Elapsed().Seconds(), "rows/s")
	}
	b.Run("parquet", read)
	b.Run("convert", func(b *testing.B) {
		for b.Loop() {
			if err := writeTables(w.Dir(), nil, nil); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(float64(b.N*rows)/b.Elapsed().Seconds(), "rows/s")
		sizes(b, w.Dir())
	})
	if err := os.Remove(filepath.Join(w.Dir(), RequestsTable)); err != nil {
		b.Fatal(err)
	}
	b.Run("arrows", read)
}

func sizes(b *testing.B, dir string) {
	for _, name := range []string{RequestsFile, RequestsTable} {
		info, err := os.Stat(filepath.Join(dir, name))
		if err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(float64(info.Size())/20_000, filepath.Ext(name)[1:]+"-B/row")
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	b.ReportMetric(float64(m.Sys)/(1<<20), "sys-MiB")
}
