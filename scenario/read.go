package scenario

import (
	"errors"
	"fmt"
	"io"
	"os"
)

// Read resolves the scenario file at path, with flags over it. An empty path
// means flags alone; "-" is standard input. What is wrong with the scenario
// comes back as [Errors].
func Read(path string, f Flags) (*Scenario, error) {
	env := environment{os.LookupEnv, os.ReadFile}
	if path == "" {
		return resolve("", nil, f, env)
	}
	data, err := readAll(path)
	if err != nil {
		return nil, Errors{{Pos{File: path}, fmt.Sprintf("expected a scenario file: %v", cause(err))}}
	}
	return resolve(path, data, f, env)
}

// FromFlags resolves flags alone.
func FromFlags(f Flags) (*Scenario, error) { return Read("", f) }

// Parse resolves a scenario file's content, with flags over it; name stands in
// errors.
func Parse(name string, data []byte, f Flags) (*Scenario, error) {
	return resolve(name, data, f, environment{os.LookupEnv, os.ReadFile})
}

func readAll(path string) ([]byte, error) {
	if path == "-" {
		return io.ReadAll(io.LimitReader(os.Stdin, maxFile+1))
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // it was only read
	return io.ReadAll(io.LimitReader(f, maxFile+1))
}

// resolve is the one way from words to a scenario. A nil file means flags
// alone.
func resolve(name string, file []byte, f Flags, env environment) (*Scenario, error) {
	t := settingsTable()
	set, errs := map[string]value{}, Errors(nil)
	if file != nil {
		root, err := parseYAML(name, file)
		if err != nil {
			return nil, asErrors(err)
		}
		set, errs = t.fromFile(root)
	}
	r := &resolver{set: merge(set, t.fromFlags(f)), env: env, errs: errs}
	return r.scenario(name)
}

// scenario resolves the settings.
func (r *resolver) scenario(name string) (*Scenario, error) {
	s := &Scenario{File: name, places: map[string]Pos{}}
	for id, v := range r.set {
		s.places[id] = v.pos
	}
	r.places = s.places
	r.target(s)
	r.workload(s)
	r.load(s)
	r.out(s)
	r.pairs(s)
	r.measurable(s)
	r.decidable(s)
	if err := r.errs.sorted(); err != nil {
		return nil, err
	}
	s.bounds()
	s.unused()
	return s, nil
}

func asErrors(err error) error {
	if e, ok := errors.AsType[*Error](err); ok {
		return Errors{e}
	}
	return err
}
