package trace

import (
	"regexp"
	"strings"
	"testing"
)

// Texts never reach errors: each text and number of each sample in turn becomes
// a canary, as a text and as broken JSON, and no error sings of it.
func TestNoTextInErrors(t *testing.T) {
	const canary = "prompt canary, 7f3a"
	value := regexp.MustCompile(`: *("[^"\\]*"|[0-9.]+)`)
	errs := 0
	check := func(path, text string, o Options) {
		t.Helper()
		o.MaxBad = 1
		r, err := Open("data", content(text), o)
		for err == nil {
			_, err = r.Next()
		}
		list := []error{err}
		if r != nil {
			_, first := r.Skipped()
			for _, e := range first {
				list = append(list, e)
			}
		}
		for _, err := range list {
			errs++
			if strings.Contains(err.Error(), "canary") {
				t.Errorf("%s: %v", path, err)
			}
		}
	}
	for _, path := range samples(t) {
		text := read(t, path)
		_, r := all(t, text, Options{})
		for _, at := range value.FindAllStringSubmatchIndex(text, -1) {
			for _, with := range []string{`"` + canary + `"`, `["` + canary + `"]`, `"` + canary, `{"` + canary + `":"` + canary + `"}`} {
				check(path, text[:at[2]]+with+text[at[3]:], Options{Format: r.Format()})
				check(path, text[:at[2]]+with+text[at[3]:], Options{})
			}
		}
		if strings.HasSuffix(path, ".csv") {
			for i, line := range strings.SplitAfter(text, "\n") {
				if i == 0 || line == "" {
					continue
				}
				fields := strings.Split(line, ",")
				for j := range fields {
					damaged := append(append([]string(nil), fields[:j]...), canary)
					check(path, strings.Replace(text, line, strings.Join(append(damaged, fields[j+1:]...), ",")+"\n", 1), Options{})
				}
			}
		}
	}
	if errs < 1000 {
		t.Errorf("only %d errors", errs)
	}
}
