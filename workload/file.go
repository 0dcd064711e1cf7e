package workload

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// OpenDataset returns a dataset of a file, or of standard input where name is
// "-", which stdin then is.
func OpenDataset(name string, stdin io.Reader) *Dataset {
	if name == "-" {
		return &Dataset{Name: name, Once: true, Open: func() (io.ReadCloser, error) { return io.NopCloser(stdin), nil }}
	}
	return &Dataset{Name: name, Dir: filepath.Dir(name), Open: func() (io.ReadCloser, error) { return os.Open(name) }}
}

// maxKept bounds what is kept of a dataset that can be read only once.
const maxKept = 1 << 30

// keep reads the content into memory.
func (d *Dataset) keep() error {
	f, err := d.Open()
	if err != nil {
		return fmt.Errorf("dataset: %w", err)
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxKept+1))
	if err != nil {
		return fmt.Errorf("dataset %s: %w", d.Name, err)
	}
	if len(b) > maxKept {
		return fmt.Errorf("dataset %s: is longer than %d MiB: give a file", d.Name, maxKept>>20)
	}
	d.Once = false
	d.Open = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(b)), nil }
	return nil
}
