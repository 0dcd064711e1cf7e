package trace

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"
)

// million returns a million lines of a form.
func million(head string, line func(i int) string) []byte {
	var b bytes.Buffer
	b.WriteString(head)
	for i := range 1_000_000 {
		b.WriteString(line(i))
		b.WriteByte('\n')
	}
	return b.Bytes()
}

func azureLines() []byte {
	zero := time.Date(2024, 5, 10, 0, 0, 0, 0, time.UTC)
	return million("TIMESTAMP,ContextTokens,GeneratedTokens\n", func(i int) string {
		return fmt.Sprintf("%s,%d,%d", zero.Add(time.Duration(i)*31337*time.Microsecond).Format("2006-01-02 15:04:05.000000+00:00"), 1+i%4000, i%900)
	})
}

func benchmark(b *testing.B, data []byte) {
	b.Helper()
	b.ReportAllocs()
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		r, err := Open("data", func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(data)), nil }, Options{})
		if err != nil {
			b.Fatal(err)
		}
		n := 0
		for ; err == nil; n++ {
			_, err = r.Next()
		}
		if !errors.Is(err, io.EOF) || n != 1_000_001 {
			b.Fatal(n, err)
		}
	}
}

func BenchmarkAzure(b *testing.B) { benchmark(b, azureLines()) }

func BenchmarkAzureZstd(b *testing.B) {
	var z bytes.Buffer
	w, err := zstd.NewWriter(&z)
	if err != nil {
		b.Fatal(err)
	}
	_, _ = w.Write(azureLines())
	_ = w.Close()
	benchmark(b, z.Bytes())
}

func BenchmarkMooncake(b *testing.B) {
	benchmark(b, million("", func(i int) string {
		return fmt.Sprintf(`{"timestamp": %d, "input_length": 7000, "output_length": 300, "hash_ids": [0, %d, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13]}`, i*300, i)
	}))
}

func BenchmarkOwn(b *testing.B) {
	benchmark(b, million("", func(i int) string {
		return fmt.Sprintf(`{"at":%d.25,"input_tokens":%d,"output_tokens":%d,"class":"chat","tenant":"t%d","session_id":"s%d"}`, i, 1+i%4000, i%900, i%50, i/3)
	}))
}

func BenchmarkHigress(b *testing.B) {
	benchmark(b, million("", func(i int) string {
		return fmt.Sprintf(`{"model":"qwen-max","input_token":"%d","output_token":"17","authority":"a","bytes_received":"336","duration":"1590","method":"POST","path":"/v1/chat/completions","request_id":"%d","response_code":"200","start_time":"2024-06-18T09:37:14.078Z"}`, 1+i%4000, i)
	}))
}
