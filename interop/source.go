package interop

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/tokamak-bench/tokamak/interop/jsonstream"
)

// Source is what a file says about the run it is of.
type Source struct {
	Tool    string    `json:"tool"`
	Version string    `json:"version,omitempty"`
	Format  string    `json:"format"`
	File    string    `json:"file"` // base name
	Model   string    `json:"model,omitempty"`
	Target  string    `json:"target,omitempty"` // URL, redacted
	API     string    `json:"api,omitempty"`
	Load    string    `json:"load,omitempty"`    // in words
	Start   time.Time `json:"start,omitzero"`    // civil time of the tool's clock at 0, or of the run's begin
	Rows    bool      `json:"rows"`              // it has data of each request
	Lost    []string  `json:"lost"`              // what it does not tell, and what stands for it
	Figures []Figure  `json:"figures,omitempty"` // the tool's own
	Doubts  []string  `json:"doubts,omitempty"`  // what contradicts itself in the file
	Untold  []string  `json:"untold,omitempty"`  // metrics of ours that it says nothing of
	Timed   bool      `json:"timed"`             // its requests have moments, not durations only
	Runs    int       `json:"runs_in_file"`      // how many runs the file has
}

// Figure is one number of the tool's own summary under the tool's own name.
type Figure struct {
	Name  string  `json:"name"`
	Unit  string  `json:"unit,omitempty"` // where the file or the name says
	Value float64 `json:"value"`
}

// figure keeps a number of the tool's.
func (s *Source) figure(name, unit string, value float64) {
	s.Figures = append(s.Figures, Figure{name, unit, value})
}

// lose notes once what the source does not tell.
func (s *Source) lose(format string, args ...any) {
	if text := fmt.Sprintf(format, args...); !slices.Contains(s.Lost, text) {
		s.Lost = append(s.Lost, text)
	}
}

func (s *Source) doubt(format string, args ...any) {
	if text := fmt.Sprintf(format, args...); !slices.Contains(s.Doubts, text) {
		s.Doubts = append(s.Doubts, text)
	}
}

// input is the file to read.
type input struct {
	path string
	run  int // which of its runs, from 1; 0: the only one
	open func() (io.ReadCloser, error)
}

func newInput(path string, run int) *input {
	return &input{path, run, func() (io.ReadCloser, error) { return os.Open(path) }}
}

func (in *input) name() string { return filepath.Base(in.path) }

// json calls read with a reader of the file.
func (in *input) json(read func(r *jsonstream.Reader) error) error {
	f, err := in.open()
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	return read(jsonstream.New(in.path, f))
}

// chosen tells whether the i-th run of the file, from 0, is the one asked for.
func (in *input) chosen(i int) bool { return in.run == i+1 || in.run == 0 && i == 0 }

// single checks that the file had the run asked for, of n.
func (in *input) single(n int) error {
	switch {
	case n == 0:
		return fmt.Errorf("%s: there is no run in it", in.path)
	case in.run == 0 && n > 1:
		return fmt.Errorf("%s: there are %d runs in it: choose one with --run 1 to %d", in.path, n, n)
	case in.run > n:
		return fmt.Errorf("%s: there are %d runs in it, no run %d", in.path, n, in.run)
	}
	return nil
}

// unitOf is the unit that a name of the tools ends in.
func unitOf(name string) string {
	for _, u := range [...]struct{ suffix, unit string }{
		{"_ms", "ms"}, {"_seconds", "s"}, {"_sec", "s"}, {"duration", "s"}, {"_throughput", "/s"}, {"_per_s", "/s"}, {"_tokens", "tok"},
	} {
		if strings.HasSuffix(name, u.suffix) {
			return u.unit
		}
	}
	return ""
}
