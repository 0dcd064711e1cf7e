package load

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/tokamak-bench/tokamak/stat"
)

// ParseStages reads levels in turn, separated by commas:
//
//	rate=5:30s        5 requests/s for 30 s
//	rate=5..20:2m     a ramp from 5 to 20 requests/s in 2 min
//	rate=20:500req    20 requests/s until 500 have been due
//	users=10:30s      a closed loop of 10 users for 30 s
//	users=0..50:1m    users who come one by one
//
// Errors are *stat.SyntaxError and name the column.
func ParseStages(s string) ([]Stage, error) {
	var stages []Stage
	offset := 0
	for item := range strings.SplitSeq(s, ",") {
		text := strings.TrimLeft(item, " ")
		p := parser{input: s, offset: offset + len(item) - len(text)}
		stage, err := p.stage(strings.TrimRight(text, " "))
		if err != nil {
			return nil, err
		}
		stages = append(stages, stage)
		offset += len(item) + 1
	}
	return stages, nil
}

// ParseArrival reads poisson, constant, or gamma:cv=2.
func ParseArrival(s string) (Arrival, error) {
	p := parser{input: s}
	switch name, rest, _ := strings.Cut(s, ":"); {
	case s == "poisson":
		return Arrival{Process: Poisson}, nil
	case s == "constant":
		return Arrival{Process: EvenGaps}, nil
	case name == "gamma":
		p.offset = len("gamma:")
		cv, ok := strings.CutPrefix(rest, "cv=")
		if !ok {
			return Arrival{}, p.fail(0, "expected cv=NUMBER, found %q", rest)
		}
		x, err := p.number(len("cv="), cv, "a cv above 0 and at most 100")
		if err != nil || x <= 0 || x > 100 {
			return Arrival{}, p.fail(len("cv="), "expected a cv above 0 and at most 100, found %q", cv)
		}
		return Arrival{Process: GammaGaps, CV: x}, nil
	}
	return Arrival{}, p.fail(0, "expected poisson, constant or gamma:cv=NUMBER, found %q", s)
}

// String is the form that ParseArrival reads.
func (a Arrival) String() string {
	switch a.Process {
	case EvenGaps:
		return "constant"
	case GammaGaps:
		return "gamma:cv=" + strconv.FormatFloat(a.CV, 'g', -1, 64)
	}
	return "poisson"
}

// String is the form that ParseStages reads.
func (s Stage) String() string {
	name, level := "rate=", strconv.FormatFloat(s.From, 'g', -1, 64)
	if s.Mode == ClosedLoop {
		name = "users="
	}
	if s.To != s.From {
		level += ".." + strconv.FormatFloat(s.To, 'g', -1, 64)
	}
	if s.Duration == 0 {
		return name + level + ":" + strconv.FormatInt(s.Requests, 10) + "req"
	}
	return name + level + ":" + s.Duration.String()
}

// parser reads a part of an expression that begins at offset.
type parser struct {
	input  string
	offset int
}

func (p parser) fail(at int, format string, args ...any) error {
	return &stat.SyntaxError{Input: p.input, Column: p.offset + at + 1, Message: fmt.Sprintf(format, args...)}
}

func (p parser) number(at int, s, expected string) (float64, error) {
	x, err := strconv.ParseFloat(s, 64)
	if err != nil || x != x || x < 0 || strings.ContainsAny(s, "_xXpP") {
		return 0, p.fail(at, "expected %s, found %q", expected, s)
	}
	return x, nil
}

func (p parser) stage(s string) (Stage, error) {
	const form = "rate=R:DURATION, rate=R..R:DURATION, rate=R:Nreq, or the same with users=N"
	name, rest, ok := strings.Cut(s, "=")
	stage := Stage{Mode: OpenLoop}
	expected := fmt.Sprintf("a rate of 0 or from 1e-6 to %g requests/s", float64(maxRate))
	switch {
	case ok && name == "users":
		stage.Mode = ClosedLoop
		expected = fmt.Sprintf("a whole number of users up to %g", float64(maxUsers))
	case !ok || name != "rate":
		return stage, p.fail(0, "expected %s, found %q", form, s)
	}
	at := len(name) + 1
	level, length, ok := strings.Cut(rest, ":")
	if !ok {
		return stage, p.fail(at+len(level), "expected : and a duration such as 30s, or a number of requests such as 500req")
	}
	from, to, isRamp := strings.Cut(level, "..")
	var err error
	if stage.From, err = p.level(stage.Mode, at, from, expected); err != nil {
		return stage, err
	}
	stage.To = stage.From
	if isRamp {
		if stage.To, err = p.level(stage.Mode, at+len(from)+2, to, expected); err != nil {
			return stage, err
		}
	}
	at += len(level) + 1
	if count, is := strings.CutSuffix(length, "req"); is {
		stage.Requests, err = strconv.ParseInt(count, 10, 64)
		if err != nil || stage.Requests <= 0 || stage.Requests > 10_000_000 {
			return stage, p.fail(at, "expected a number of requests from 1req to 10000000req, found %q", length)
		}
		if isRamp {
			return stage, p.fail(at, "a ramp needs a duration such as 30s, found %q", length)
		}
		return stage, nil
	}
	d, err := time.ParseDuration(length)
	if err != nil || d <= 0 {
		return stage, p.fail(at, "expected a duration above 0 such as 30s, or a number of requests such as 500req, found %q", length)
	}
	stage.Duration = d
	return stage, nil
}

func (p parser) level(m Mode, at int, s, expected string) (float64, error) {
	x, err := p.number(at, s, expected)
	if err != nil {
		return 0, err
	}
	g := Stage{Mode: m, From: x, To: x, Duration: 1}
	if g.check(true, false) != nil {
		return 0, p.fail(at, "expected %s, found %q", expected, s)
	}
	return x, nil
}
