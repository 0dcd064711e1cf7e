package rivals

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
)

// task is a load that each client is asked for in its own words.
type task struct {
	URL         string  // without /v1
	Concurrency int     // closed loop of so many; 0: open loop
	Rate        float64 // requests a second, evenly spaced where the client can
	Requests    int
	Tokens      int
}

// said is what a client reported; nil where it does not say.
type said struct {
	TTFTP50, TTFTP99 *float64 // ms
	GapP50, GapP99   *float64 // ms between tokens or chunks, pooled over all gaps
	MeanGapP50       *float64 // ms, where it gives one mean gap a request instead
	RequestRate      *float64 // requests/s
	TokenRate        *float64 // output tokens/s
	OK, Failed       *float64
}

// client is a load tool.
type client struct {
	Name string
	Note string // how its words differ
	Env  []string
	// Argv is the command for a task, run in dir.
	Argv func(dir string, t task) ([]string, error)
	// Read finds what it reported in dir.
	Read func(dir string) (said, error)
	// Constant tells whether it can be asked for evenly spaced requests.
	Constant bool
	Wide     bool // bears hundreds of streams
}

// document is a JSON document that is looked into by path.
type document map[string]any

func readJSON(name string) (document, error) {
	matches, err := filepath.Glob(name)
	if err != nil || len(matches) == 0 {
		return nil, fmt.Errorf("no %s was written", filepath.Base(name))
	}
	b, err := os.ReadFile(matches[0])
	if err != nil {
		return nil, err
	}
	b = bytes.ReplaceAll(b, []byte(": Infinity"), []byte(": null")) // as Python writes it
	var d document
	if err := json.Unmarshal(b, &d); err != nil {
		return nil, fmt.Errorf("%s: %w", matches[0], err)
	}
	return d, nil
}

// at looks up a path of keys and indices; nil if there is none.
func (d document) at(path ...string) any {
	var v any = map[string]any(d)
	for _, key := range path {
		switch x := v.(type) {
		case map[string]any:
			v = x[key]
		case []any:
			i, err := strconv.Atoi(key)
			if err != nil || i >= len(x) {
				return nil
			}
			v = x[i]
		default:
			return nil
		}
	}
	return v
}

// number is at as a number times scale.
func (d document) number(scale float64, path ...string) *float64 {
	n, ok := d.at(path...).(float64)
	if !ok {
		return nil
	}
	n *= scale
	return &n
}

// readRows reads a JSON list of objects, by the text under key.
func readRows(name, key string) (map[string]document, error) {
	matches, err := filepath.Glob(name)
	if err != nil || len(matches) == 0 {
		return nil, fmt.Errorf("no %s was written", filepath.Base(name))
	}
	b, err := os.ReadFile(matches[0])
	if err != nil {
		return nil, err
	}
	var rows []document
	if err := json.Unmarshal(b, &rows); err != nil {
		return nil, fmt.Errorf("%s: %w", matches[0], err)
	}
	byKey := map[string]document{}
	for _, r := range rows {
		if k, ok := r[key].(string); ok {
			byKey[k] = r
		}
	}
	return byKey, nil
}
