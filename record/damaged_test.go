package record

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A table that cannot be read is made again from its stream, to the byte; a
// second time there is nothing to do.
func TestRecoverRebuildsADamagedTable(t *testing.T) {
	for _, name := range []string{RequestsTable, SamplesTable} {
		dir := crashed(t)
		if _, err := Recover(dir); err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(dir, name)
		whole, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Truncate(path, int64(len(whole)/2)); err != nil {
			t.Fatal(err)
		}
		run, err := Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		var bad *Damaged
		if err := run.Check(); !errors.As(err, &bad) || bad.File != path || !strings.Contains(err.Error(), "expected a whole Parquet file") {
			t.Errorf("%s: %v", name, err)
		}
		got, err := Recover(dir)
		if err != nil || got.Complete || got.Rebuilt != name {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
		again, err := os.ReadFile(path)
		if err != nil || string(again) != string(whole) {
			t.Errorf("%s: %d bytes, was %d, %v", name, len(again), len(whole), err)
		}
		if got, err := Recover(dir); err != nil || !got.Complete || got.Rebuilt != "" {
			t.Errorf("%s again: %+v, %v", name, got, err)
		}
	}
}

// Without the stream nothing is made up, and nothing changed.
func TestRecoverWithoutTheStream(t *testing.T) {
	dir := crashed(t)
	if _, err := Recover(dir); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, RequestsTable)
	if err := errors.Join(os.Truncate(path, 20), os.Remove(filepath.Join(dir, RequestsFile))); err != nil {
		t.Fatal(err)
	}
	if _, err := Recover(dir); err == nil || !strings.Contains(err.Error(), "requests.arrows, from which it could be made again, is not there") {
		t.Errorf("%v", err)
	}
	if info, err := os.Stat(path); err != nil || info.Size() != 20 {
		t.Errorf("it was changed: %v, %v", info, err)
	}
}
