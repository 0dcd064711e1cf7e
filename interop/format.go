package interop

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tokamak-bench/tokamak/interop/jsonstream"
)

// format is one kind of file that is read.
type format struct {
	name string
	// holds says what the file is.
	holds string
	// files are names that the tool gives it, looked for in a directory.
	files []string
	// recognise tells from the beginning of a file whether it is one.
	recognise func(h *head) bool
	read      func(in *input, s *Source, to sink) error
}

// formats returns those that are read, the more telling before the less.
func formats() []format {
	return []format{vllmFormat(), sglangFormat(), guidellmFormat(), aiperfFormat(), inferencePerfFormat(),
		aiperfSummaryFormat(), inferencePerfSummaryFormat(), evalscopeSummaryFormat()}
}

// Formats names the formats that are read, each with what it is.
func Formats() [][2]string {
	var out [][2]string
	for _, f := range formats() {
		out = append(out, [2]string{f.name, f.holds})
	}
	return out
}

// head is the beginning of a file.
type head struct {
	raw  []byte
	keys []string // names of the first object, as far as they are in it
	list bool     // the file is an array, and keys are of its first element
}

const headBytes = 256 << 10

func readHead(path string) (*head, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	raw, err := io.ReadAll(io.LimitReader(f, headBytes))
	if err != nil {
		return nil, err
	}
	h := &head{raw: raw}
	r := jsonstream.New(path, bytes.NewReader(raw))
	names := func() error {
		return r.Object(func(name string) error {
			h.keys = append(h.keys, name)
			return nil
		})
	}
	if r.Kind() == '[' {
		h.list = true
		_ = r.Array(func(int) error { // what is cut off at the end of the head is no error
			if err := names(); err != nil {
				return err
			}
			return io.EOF
		})
		return h, nil
	}
	_ = names()
	return h, nil
}

// has tells whether the object has all of these names.
func (h *head) has(names ...string) bool {
	for _, n := range names {
		if !slices.Contains(h.keys, n) {
			return false
		}
	}
	return true
}

func (h *head) contains(text string) bool { return bytes.Contains(h.raw, []byte(text)) }

// find returns the file to read and its format. Of a directory it is the file
// that tells most.
func find(path, asked string) (string, format, error) {
	all := formats()
	if asked != "" {
		all = slices.DeleteFunc(all, func(f format) bool { return f.name != asked })
		if len(all) == 0 {
			return "", format{}, fmt.Errorf("--from %s: expected %s", asked, formatNames())
		}
	}
	info, err := os.Stat(path)
	if err != nil {
		return "", format{}, err
	}
	if info.IsDir() {
		return inDirectory(path, all)
	}
	if asked != "" {
		return path, all[0], nil
	}
	h, err := readHead(path)
	if err != nil {
		return "", format{}, err
	}
	for _, f := range all {
		if f.recognise(h) {
			return path, f, nil
		}
	}
	what := "it is not JSON"
	switch {
	case len(h.raw) == 0:
		what = "it is empty"
	case len(h.keys) > 0:
		what = "it has the names " + strings.Join(h.keys[:min(len(h.keys), 6)], ", ")
	}
	return "", format{}, fmt.Errorf("%s: expected a result of %s (--from names one): %s", path, formatNames(), what)
}

func inDirectory(path string, all []format) (string, format, error) {
	for _, f := range all {
		for _, name := range f.files {
			found, err := filepath.Glob(filepath.Join(path, name))
			if err == nil && len(found) > 0 {
				return found[0], f, nil
			}
		}
	}
	return "", format{}, fmt.Errorf("%s: no file in it has a name that a result of %s has", path, formatNames())
}

func formatNames() string {
	var names []string
	for _, f := range formats() {
		names = append(names, f.name)
	}
	return strings.Join(names[:len(names)-1], ", ") + " or " + names[len(names)-1]
}
