package scenario

import "errors"

// Read resolves the scenario file at path, with flags over it. An empty path
// means flags alone; "-" is standard input.
func Read(path string, f Flags) (*Scenario, error) {
	return nil, errors.New("not yet")
}

// FromFlags resolves flags alone.
func FromFlags(f Flags) (*Scenario, error) { return Read("", f) }
