package openai

import (
	"fmt"
	"strings"
	"testing"

	"github.com/tokamak-bench/tokamak/engine"
	"github.com/tokamak-bench/tokamak/wire"
)

// The usual chunks of three servers.
var usualChunks = map[string]string{
	"vllm":     `{"id":"chatcmpl-8a7f3c1e9d2b4f60a1b2c3d4e5f60718","object":"chat.completion.chunk","created":1764583200,"model":"meta-llama/Llama-3.1-8B-Instruct","choices":[{"index":0,"delta":{"content":" token"},"logprobs":null,"finish_reason":null,"token_ids":null}]}`,
	"llamacpp": `{"choices":[{"finish_reason":null,"index":0,"delta":{"content":" token"}}],"created":1764583200,"id":"chatcmpl-8a7f3c1e9d2b4f60a1b2c3d4e5f60718","model":"smollm2-135m","system_fingerprint":"b7000-1234567","object":"chat.completion.chunk"}`,
	"usage":    `{"id":"chatcmpl-8a7f3c1e9d2b4f60","object":"chat.completion.chunk","created":1764583200,"model":"m","choices":[{"index":0,"delta":{"content":" tok\n"},"logprobs":null,"finish_reason":null}],"usage":{"prompt_tokens":512,"total_tokens":700,"completion_tokens":188}}`,
}

func BenchmarkSegment(b *testing.B) {
	for name, chunk := range usualChunks {
		b.Run(name, func(b *testing.B) {
			const n = 64
			data := []byte(strings.Repeat("data: "+chunk+"\n\n", n))
			size := len(data) / n
			seg := &wire.Segment{Data: data}
			for i := range n {
				seg.Events = append(seg.Events, wire.Event{Start: int32(i * size), End: int32((i + 1) * size), At: int64(i) * 2e7})
			}
			d := newDriver(b, APIChat, nil)
			dec := d.Decoder(&engine.Call{MaxTokens: 2000})
			b.ReportAllocs()
			for i := 0; i < b.N; i += n {
				if i%2048 == 0 {
					dec = d.Decoder(&engine.Call{MaxTokens: 2000})
				}
				dec.Segment(seg)
			}
		})
	}
}

// BenchmarkAnswer is a whole answer of 2,000 tokens, End included.
func BenchmarkAnswer(b *testing.B) {
	var body strings.Builder
	for i := range 2000 {
		body.WriteString(sse(fmt.Sprintf(`{"id":"chatcmpl-8a7f3c1e","object":"chat.completion.chunk","created":1764583200,"model":"m","choices":[{"index":0,"delta":{"content":" t%d"},"finish_reason":null}]}`, i)))
	}
	body.WriteString(sse(finish("length"), final(2000), done))
	r := stream(body.String())
	data, events := r.events()
	d := newDriver(b, APIChat, nil)
	c := &engine.Call{MaxTokens: 2000, Messages: hi().Messages}
	req, err := d.Encode(c)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		var x wire.Exchange
		x.Reset(req, nil)
		x.Status, x.Header = 200, r.header
		dec := d.Decoder(c)
		dec.Segment(&wire.Segment{Data: data, Events: events})
		if a := dec.End(&x); a.Failure != engine.Whole || len(a.Chunks.At) != 2000 {
			b.Fatal(a.Violations)
		}
	}
}

func BenchmarkEncode(b *testing.B) {
	d := newDriver(b, APIChat, nil)
	c := &engine.Call{MaxTokens: 128, Messages: []engine.Message{{Content: strings.Repeat("word ", 800)}}, RequestID: "run-1",
		TraceID: "0123456789abcdef0123456789abcdef"}
	b.SetBytes(4000)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := d.Encode(c); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkIsToken(b *testing.B) {
	role := []byte("data: " + `{"id":"chatcmpl-8a7f3c1e9d2b4f60a1b2c3d4e5f60718","object":"chat.completion.chunk","created":1764583200,"model":"meta-llama/Llama-3.1-8B-Instruct","choices":[{"index":0,"delta":{"role":"assistant","content":""},"logprobs":null,"finish_reason":null}]}` + "\n\n")
	b.ReportAllocs()
	for b.Loop() {
		if IsToken(role) {
			b.Fatal("a role chunk is no token")
		}
	}
}
