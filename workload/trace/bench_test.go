package trace

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"syscall"
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

// BenchmarkBeside reads the same million rows of Azure's form with less: lines
// alone, the fields of encoding/csv, and a plain program that makes moments and
// numbers of those.
func BenchmarkBeside(b *testing.B) {
	data := azureLines()
	for _, c := range []struct {
		name string
		read func(io.Reader) (int, error)
	}{
		{"tokamak", func(in io.Reader) (n int, err error) {
			r, err := Open("data", func() (io.ReadCloser, error) { return io.NopCloser(in), nil }, Options{})
			for ; err == nil; n++ {
				_, err = r.Next()
			}
			return n - 1, err
		}},
		{"bufio-lines", func(in io.Reader) (n int, err error) {
			s := bufio.NewScanner(in)
			for ; s.Scan(); n++ {
				_ = s.Bytes()
			}
			return n - 1, cmp.Or(s.Err(), io.EOF)
		}},
		{"bufio-fields", func(in io.Reader) (n int, err error) {
			s := bufio.NewScanner(in)
			for s.Scan() {
				if _, _, err := plainRow(strings.Split(s.Text(), ",")); n > 0 && err != nil {
					return n, err
				}
				n++
			}
			return n - 1, cmp.Or(s.Err(), io.EOF)
		}},
		{"csv", func(in io.Reader) (n int, err error) {
			r := csv.NewReader(in)
			r.ReuseRecord = true
			for ; err == nil; n++ {
				_, err = r.Read()
			}
			return n - 2, err
		}},
		{"csv-fields", func(in io.Reader) (n int, err error) {
			r := csv.NewReader(in)
			r.ReuseRecord = true
			for {
				record, err := r.Read()
				if err == nil && n > 0 {
					_, _, err = plainRow(record)
				}
				if err != nil {
					return n - 1, err
				}
				n++
			}
		}},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(data)))
			begin := processor()
			for b.Loop() {
				if n, err := c.read(bytes.NewReader(data)); n != 1_000_000 || !errors.Is(err, io.EOF) {
					b.Fatal(n, err)
				}
			}
			b.ReportMetric(float64((processor()-begin).Milliseconds())/float64(b.N), "cpu-ms/op")
		})
	}
}

// processor is the time that this process has had of all processors, which says
// more than that of a clock where others run beside it.
func processor() time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// plainRow is what a plain program makes of a row of Azure's form.
func plainRow(record []string) (at time.Time, tokens [2]int, err error) {
	if at, err = time.Parse("2006-01-02 15:04:05.999999-07:00", record[0]); err != nil {
		return at, tokens, err
	}
	for i := range tokens {
		if tokens[i], err = strconv.Atoi(record[1+i]); err != nil {
			return at, tokens, err
		}
	}
	return at, tokens, nil
}

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
