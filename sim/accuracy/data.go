package accuracy

import (
	"bytes"
	"embed"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

//go:embed data
var files embed.FS

// Sample returns the embedded closed-loop rows: one a configuration, derived
// from aiconfigurator's silicon sample (data/README.md).
func Sample() ([]Row, error) { return embedded("closed.csv", ReadRows) }

// Fits returns the embedded fits, those of the sample.
func Fits() ([]Fitted, error) { return embedded("fits.csv", ReadFits) }

// OtherSplits returns the embedded scores under other draws of the folds.
func OtherSplits() ([]Split, error) { return embedded("splits.csv", ReadSplits) }

func embedded[T any](name string, read func(io.Reader) (T, error)) (T, error) {
	b, err := files.ReadFile("data/" + name)
	if err != nil {
		panic(err) // embedded
	}
	v, err := read(bytes.NewReader(b))
	if err != nil {
		return v, fmt.Errorf("%s: %w", name, err)
	}
	return v, nil
}

// Source is where the measured rows come from.
type Source struct {
	Rows []Row
	Left int    // rows of the full table that the step model does not speak of
	From string // in words
	Dir  string // of the public traces; empty: not there
}

// Open returns the rows of the full table in dir, the public traces, or the
// embedded sample when dir is empty or holds no table.
func Open(dir string) (Source, error) {
	path := filepath.Join(dir, "aiconfigurator_silicon_sample.csv")
	f, err := os.Open(path)
	if dir == "" || os.IsNotExist(err) {
		rows, err := Sample()
		return Source{Rows: rows, From: "the embedded sample"}, err
	}
	if err != nil {
		return Source{}, err
	}
	defer func() { _ = f.Close() }()
	rows, left, err := ReadSilicon(f)
	if err != nil {
		return Source{}, fmt.Errorf("%s: %w", path, err)
	}
	// As the sample has them, to its digits.
	var b bytes.Buffer
	if err := WriteRows(&b, rows); err != nil {
		return Source{}, err
	}
	rows, err = ReadRows(&b)
	return Source{Rows: rows, Left: left, From: path, Dir: dir}, err
}
