package calibration

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

// Cache is the file that keeps calibrations, one for each machine: a home
// directory may serve several.
type Cache struct{ Path string }

// UserCache returns the user's cache: tokamak/calibration.json below
// os.UserCacheDir.
func UserCache() (Cache, error) {
	dir, err := os.UserCacheDir()
	if err != nil {
		return Cache{}, err
	}
	return Cache{filepath.Join(dir, "tokamak", "calibration.json")}, nil
}

// kept is the file's form.
type kept struct {
	Schema  string    `json:"schema"`
	Results []*Result `json:"results"`
}

// read returns what is kept; nothing where the file is absent or not ours.
func (c Cache) read() (kept, error) {
	var k kept
	b, err := os.ReadFile(c.Path)
	if errors.Is(err, fs.ErrNotExist) {
		return k, nil
	}
	if err != nil {
		return k, err
	}
	if json.Unmarshal(b, &k) != nil || k.Schema != Schema {
		return kept{}, nil // of another version, or damaged: to be made again
	}
	k.Results = slices.DeleteFunc(k.Results, func(r *Result) bool { return r == nil || r.Schema != Schema })
	return k, nil
}

// Find returns the calibration of a machine; nil where there is none. It reads
// one small file and nothing else.
func (c Cache) Find(m Machine) *Result {
	if c.Path == "" {
		return nil
	}
	k, err := c.read()
	if err != nil {
		return nil // a cache that cannot be read is none
	}
	for _, r := range k.Results {
		if r.Machine == m {
			return r
		}
	}
	return nil
}

// most is how many machines a cache holds: the latest.
const most = 50

// Keep puts a result in place of the machine's last one.
func (c Cache) Keep(r *Result) error {
	k, err := c.read()
	if err != nil {
		return err
	}
	k.Schema = Schema
	k.Results = slices.DeleteFunc(k.Results, func(old *Result) bool { return old.Machine == r.Machine })
	k.Results = append(k.Results, r)
	k.Results = k.Results[max(0, len(k.Results)-most):]
	b, err := json.MarshalIndent(k, "", "  ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(c.Path), 0o755); err != nil {
		return err
	}
	part, err := os.CreateTemp(filepath.Dir(c.Path), "calibration-*.part")
	if err != nil {
		return err
	}
	_, err = part.Write(append(b, '\n'))
	if err = errors.Join(err, part.Close()); err == nil {
		err = os.Rename(part.Name(), c.Path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(part.Name()))
	}
	return nil
}
