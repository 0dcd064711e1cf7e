package check

import (
	"fmt"
	"io"
	"strings"
)

// State is how a line stands.
type State string

// The states.
const (
	OK      State = "ok"
	Warn    State = "warn"    // a load test works, with what the line says in mind
	Fail    State = "fail"    // a load test does not work
	Unknown State = "unknown" // could not be told
)

// Line is one finding.
type Line struct {
	Name  string `json:"name"`
	State State  `json:"state"`
	Text  string `json:"text"`           // what was seen
	Hint  string `json:"hint,omitempty"` // what to do about it
}

// Report is what was found about a target. Its JSON form is that of `tokamak
// check -o json`.
type Report struct {
	URL   string `json:"url"` // the endpoint, without user information and query
	API   string `json:"api"`
	Model string `json:"model,omitempty"`
	// Models are all that the server lists.
	Models  []Model `json:"models,omitempty"`
	Engine  string  `json:"engine,omitempty"`
	Version string  `json:"version,omitempty"`
	// Usable tells whether a load test can be run at all: no line failed.
	Usable   bool   `json:"usable"`
	Requests int    `json:"requests"` // that were sent
	Lines    []Line `json:"lines"`
}

// The names of the lines, in their order.
const (
	lineConnection = "connection"
	lineAuth       = "auth"
	lineModel      = "model"
	lineStreaming  = "streaming"
	lineUsage      = "usage"
	lineCached     = "cached tokens"
	lineFields     = "fields"
	lineLength     = "output length"
	lineBuffering  = "buffering"
	lineEngine     = "engine"
)

var order = []string{lineConnection, lineAuth, lineModel, lineStreaming, lineUsage, lineCached, lineFields, lineLength, lineBuffering, lineEngine}

func (r *Report) add(name string, s State, hint, format string, args ...any) {
	r.Lines = append(r.Lines, Line{name, s, fmt.Sprintf(format, args...), hint})
}

// finish puts the lines in order, with an unknown for each that is missing;
// early tells that looking was ended by time or by the user.
func (r *Report) finish(early bool) {
	missing := "not reached"
	if early {
		missing = "not reached: looking was ended before"
	}
	var lines []Line
	r.Usable = true
	for _, name := range order {
		line := Line{Name: name, State: Unknown, Text: missing}
		for _, l := range r.Lines {
			if l.Name == name {
				line = l
			}
		}
		r.Usable = r.Usable && line.State != Fail
		lines = append(lines, line)
	}
	r.Lines = lines
}

// hide takes the driver's secrets out of what the server said.
func (c *checker) hide() {
	for i := range c.r.Lines {
		c.r.Lines[i].Text = c.driver.Hide(c.r.Lines[i].Text)
	}
	c.r.Model, c.r.Version = c.driver.Hide(c.r.Model), c.driver.Hide(c.r.Version)
	for i := range c.r.Models {
		c.r.Models[i].ID, c.r.Models[i].OwnedBy = c.driver.Hide(c.r.Models[i].ID), c.driver.Hide(c.r.Models[i].OwnedBy)
	}
}

// Text writes the report for people.
func (r *Report) Text(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s  %s\n", r.URL, r.API)
	for _, l := range r.Lines {
		fmt.Fprintf(&b, "  %-7s  %-13s  %s\n", l.State, l.Name, oneLine(l.Text))
		if l.Hint != "" {
			fmt.Fprintf(&b, "  %-7s  %-13s  -> %s\n", "", "", oneLine(l.Hint))
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// oneLine keeps what a server says of itself from writing lines of its own.
func oneLine(s string) string { return strings.NewReplacer("\n", " ", "\r", " ").Replace(s) }
