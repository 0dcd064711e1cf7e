package trace

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// wraps are what log collectors make of a line.
func wraps() map[string]func(i int, line string) string {
	return map[string]func(i int, line string) string{
		"docker": func(_ int, line string) string {
			text, _ := json.Marshal(line + "\n")
			return fmt.Sprintf(`{"log":%s,"stream":"stdout","time":"2026-01-01T00:00:00.1Z"}`, text)
		},
		"docker in parts": func(_ int, line string) string {
			a, _ := json.Marshal(line[:len(line)/2])
			b, _ := json.Marshal(line[len(line)/2:] + "\n")
			return fmt.Sprintf(`{"log":%s,"stream":"stdout","time":"2026-01-01T00:00:00.1Z"}`+"\n"+`{"log":%s,"stream":"stdout","time":"2026-01-01T00:00:00.1Z"}`, a, b)
		},
		"runtime": func(_ int, line string) string { return "2026-01-01T00:00:00.123456789Z stdout F " + line },
		"runtime in parts": func(_ int, line string) string {
			return "2026-01-01T00:00:00.1+02:00 stdout P " + line[:5] + "\n2026-01-01T00:00:00.1+02:00 stdout P " + line[5:9] + "\n2026-01-01T00:00:00.1+02:00 stdout F " + line[9:]
		},
		"syslog":     func(i int, line string) string { return fmt.Sprintf("Jan  1 00:00:%02d host gateway[17]: %s", i, line) },
		"syslog5424": func(_ int, line string) string { return `<134>1 2026-01-01T00:00:00Z h gw - - [a b="c"] ` + line },
		"kubectl":    func(_ int, line string) string { return "[pod/gateway-1/envoy] " + line },
		"compose":    func(_ int, line string) string { return "gateway-1  | " + line },
		"words":      func(_ int, line string) string { return "2025-10-09 pod-1 " + line },
	}
}

// Lines that a collector wrapped are read as if they stood alone, and a
// damaged one anywhere is counted with its number.
func TestWrapped(t *testing.T) {
	for _, path := range []string{"testdata/envoy-ai-gateway.log", "testdata/kong.log", "testdata/higress.log", "testdata/nginx.log", "testdata/tokamak.jsonl", "testdata/mooncake.jsonl"} {
		want, whole := all(t, read(t, path), Options{})
		lines := strings.Split(strings.TrimSpace(read(t, path)), "\n")
		for name, wrap := range wraps() {
			var wrapped []string
			for i, line := range lines {
				wrapped = append(wrapped, wrap(i, line))
			}
			for _, o := range []Options{{}, {Format: whole.Format()}} {
				got, r := all(t, strings.Join(wrapped, "\n")+"\n", o)
				if diff := cmp.Diff(want, got); diff != "" || r.Format() != whole.Format() {
					t.Errorf("%s, %s: %s: %s", path, name, r.Format(), diff)
				}
			}
			if strings.HasSuffix(name, "in parts") {
				continue
			}
			for at := 1; at <= len(wrapped); at++ {
				damaged := append(append(append([]string(nil), wrapped[:at]...), wrapped[at-1][:len(wrapped[at-1])*2/3]), wrapped[at:]...)
				got, r := all(t, strings.Join(damaged, "\n"), Options{MaxBad: 1})
				if n, bad := r.Skipped(); n != 1 || bad[0].Line != int64(at+1) || cmp.Diff(want, got) != "" {
					t.Errorf("%s, %s: damaged in line %d: %v", path, name, at+1, bad)
				}
			}
		}
	}
}

// What is wrapped and damaged names the line and what was expected.
func TestWrappedDamaged(t *testing.T) {
	const good = `{\"prompt\":\"p\"}`
	plain := strings.ReplaceAll(good, `\`, "")
	for _, c := range []struct{ text, want string }{
		{`{"log":"` + good + `\n","stream":"stdout","time":"t"}` + "\n" + `{"log":7,"stream":"stdout","time":"t"}`, "data:2: log is of the wrong type: expected a text, found a number"},
		{`{"log":"` + good + `\n","stream":"stdout","time":"t"}` + "\n" + `{"stream":"stdout","time":"t"}`, "data:2: expected log, as in the first line"},
		{`{"log":"` + good + `\n","stream":"stdout","time":"t"}` + "\n" + `{"log":"{\"pro","stream":"stdout","time":"t"}`, "data:3: the line of several parts is cut short by the end of the content"},
		{"2026-01-01T00:00:00Z stdout F " + plain + "\nwords\n", "data:2: expected moment, stream and tag of a container runtime, as in the first line"},
		{"2026-01-01T00:00:00Z stdout F " + plain + "\n2026-01-01T00:00:00Z stderr P starting", "data:3: the line of several parts is cut short by the end of the content"},
		{"pod-1 " + plain + "\nstarting\n", "data:2: expected an object behind a prefix, as in the first line"},
	} {
		rows, r := all(t, c.text, Options{MaxBad: 1})
		if n, bad := r.Skipped(); len(rows) != 1 || n != 1 || bad[0].Error() != c.want {
			t.Errorf("%s: %d rows, %v", c.text, len(rows), bad)
		}
	}
}

// Contents that are known and not read say what they are and what to do.
func TestForeign(t *testing.T) {
	wide := func(text string, order int) string {
		var b strings.Builder
		for _, c := range []byte(text) {
			pair := []byte{c, 0}
			b.WriteByte(pair[order])
			b.WriteByte(pair[1-order])
		}
		return b.String()
	}
	tar := make([]byte, 1024)
	copy(tar, "log.jsonl")
	copy(tar[257:], "ustar")
	for _, c := range []struct{ text, want string }{
		{`1.2.3.4 - - [09/Oct/2025:08:53:20 +0000] "POST /v1/chat/completions HTTP/1.1" 200 12 "-" "curl"`, "data: is an access log in text (common or combined format): expected JSON lines"},
		{`[2025-10-09T08:53:20.782Z] "POST /v1/chat/completions HTTP/1.1" 503 - 100 200`, "data: is Envoy's access log in text: expected JSON lines"},
		{wide(`{"prompt":"p"}`, 0), "data: is UTF-16 (little-endian, without byte order mark): expected UTF-8"},
		{wide(`{"prompt":"p"}`, 1), "data: is UTF-16 (big-endian, without byte order mark): expected UTF-8"},
		{"\xfe\xff" + wide(`{}`, 1), "data: is UTF-16: expected UTF-8: convert it"},
		{"PK\x03\x04..........[Content_Types].xml", "data: is an Excel workbook or another office document: save the sheet as CSV"},
		{"PK\x03\x04..........log.jsonl", "data: is packed in a way that is not read"},
		{"\xd0\xcf\x11\xe0....", "data: is an Excel workbook: save it as CSV"},
		{"SQLite format 3\x00", "data: is an SQLite database"},
		{string(tar), "data: is a tar archive"},
		{strings.Repeat("\x00", 4096), "data: is binary: expected text"},
		{"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR", "data: is binary: expected text"},
		{"timestamp;input_tokens;output_tokens\n", "; found columns separated by semicolons"},
		{"timestamp\tinput_tokens\toutput_tokens\n", "; found columns separated by tabs"},
		{"1760000000.783,73,26\n", "; found a row of numbers: put a line with the names of the columns"},
		{"INFO 10-09 08:53:20 [logger.py:40] Received request: prompt: 'x'\n", "; found messages of a program"},
		{"the \"words\n", "data:1: expected JSON lines, a JSON array, or a CSV header, found a line whose quotes are not closed"},
	} {
		if _, err := Open("data", content(c.text), Options{}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%.40q: %v", c.text, err)
		}
	}
}

// A number of another unit names it, and the mapping that reads it.
func TestUnitsInErrors(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"timestamp,input_tokens\n1760000000782,73\n", `data:2: field 1: expected seconds or a time such as 2023-11-16 18:15:46.6805900, found "1760000000782", which looks like ms since 1970: write the column in seconds, or the rows as JSON lines and units: {at: ms}`},
		{`{"msec":1761440399123,"request":"POST /v1/chat/completions HTTP/1.1","status":200,"request_time":0.5}`, "data:1: expected msec in s or as a date and time, found 1761440399123, which looks like ms since 1970: a mapping file with units: {at: ms} reads it"},
		{`{"request":{"method":"POST"},"response":{},"start_time":1761440399123456}`, "data:1: expected start_time in ms or as a date and time, found 1761440399123456, which looks like us since 1970: a mapping file with units: {at: us}"},
	} {
		r, err := Open("data", content(c.text), Options{})
		if err == nil {
			_, err = r.Next()
		}
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", c.text, err)
		}
	}
	for text, want := range map[string]string{"1760000000": "s", "1760000000.5": "s", "1760000000782": "ms", "1760000000782000": "us", "1760000000782000000": "ns", "5": "", "9e8": "", "x": "", "-1760000000": ""} {
		if got := unitOf([]byte(text)); got != want {
			t.Errorf("%s: %q", text, got)
		}
	}
}
