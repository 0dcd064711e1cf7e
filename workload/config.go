package workload

import (
	"errors"
	"fmt"
	"io"
	"math"
	"time"

	"github.com/tokamak-bench/tokamak/stat"
	"github.com/tokamak-bench/tokamak/token"
	"github.com/tokamak-bench/tokamak/workload/media"
	"github.com/tokamak-bench/tokamak/workload/trace"
)

// Config describes a workload: classes of synthetic sessions, a dataset, or a
// model of traffic.
type Config struct {
	// Classes are the weighted kinds of synthetic traffic. With a dataset, the
	// first class, if there is one, names what a row leaves open: class,
	// tenant, the lengths of answers, and what texts are written of.
	Classes []Class
	// Dataset, where set, is what is sent instead.
	Dataset *Dataset
	// Traffic, where set, is a model that says what is sent instead.
	Traffic *Traffic
	// MaxSessions ends the workload after so many sessions; 0: no limit.
	MaxSessions int64
	// Salt goes into all salts: two runs with the same seed and different
	// Salt send the same lengths in the same order, and no text that a cache
	// could know from the other run.
	Salt uint64
}

// Class is one weighted kind of synthetic sessions. Lengths are in tokens and
// rounded to whole ones.
type Class struct {
	Name, Tenant string
	Weight       float64 // relative; where all are 0, all are alike
	// Input is the length of a turn's new text, at least 1: without prefix
	// and history.
	Input stat.Distribution
	// Output is the length of an answer, at least 1; nil: the server decides.
	Output stat.Distribution
	// PrefixTokens stand at the front of every session of the class and come
	// on top of Input.
	PrefixTokens int64
	// Prefixes is how many different prefixes there are, used with equal
	// chance; 0 means 1.
	Prefixes int64
	// Turns is the number of turns of a session, at least 1; nil: 1. Each
	// turn's prompt is everything before, answers included, and new text.
	Turns stat.Distribution
	// Think is the wait, in seconds, between an answer's end and the next
	// turn; nil: none.
	Think stat.Distribution
	// Patience, in seconds, is after how long a user gives up on an answer;
	// nil: never.
	Patience stat.Distribution
	// Reuse drops the salt: all sessions of the class then send the same text,
	// as far as their lengths go. Without it no two sessions share more than
	// their prefix, and without a prefix nothing.
	Reuse bool
	// Media is what goes along with the text.
	Media Media
	// Text is what the texts of blocks are written of, as package corpus names
	// it; empty: its default.
	Text string
}

// Dataset is a source of recorded requests. What it holds is recognised by its
// content, where Options do not say it; see [trace.Open].
type Dataset struct {
	// Reading says what the content is and how many bad lines it may have.
	Reading trace.Options
	// Name is a file's name for messages, - for standard input.
	Name string
	// Dir is where the files lie that the content names, and nothing is read
	// from elsewhere; empty: it may name none.
	Dir string
	// Image is what images are like that stand for those of which the content
	// knows the number; its zero value is a JPEG of 512 by 512. Its ID is not used.
	Image media.Image
	// NoMedia says that the target takes no images, sound or video: they are
	// left out, and that is noted.
	NoMedia bool
	// Reasoning says that the target is told whether to reason, which notes
	// then are about.
	Reasoning bool
	// Open returns the content from its beginning. It may be called several
	// times unless Once is set.
	Open func() (io.ReadCloser, error)
	// Once says that Open works only once, as for standard input.
	Once bool
	// KeepNames keeps what the content calls tenants and sessions. Without it
	// they are tenant-1, session-1, … in order of first appearance.
	KeepNames bool
	// Repeat begins again after the last row.
	Repeat bool
	// Salt puts a few words of noise in front of each recorded text.
	Salt bool
	// Conversations keeps recorded conversations whole: each user turn is
	// sent after the live answer to the one before. Without it only the first
	// user turn is sent.
	Conversations bool
	// Jitter is added to recorded moments, uniform in [0, Jitter): for traces
	// whose stamps are quantised.
	Jitter time.Duration
	// Count, where set, counts the tokens of recorded answers, which become
	// the lengths asked for; without it they are estimated.
	Count token.Tokenizer
}

// New returns the sessions of a workload. A class or dataset that cannot be
// is an error that names it.
func New(c Config, seed uint64) (Source, error) {
	if c.MaxSessions < 0 {
		return nil, fmt.Errorf("workload: expected a number of sessions of at least 0, found %d", c.MaxSessions)
	}
	for i := range c.Classes {
		if err := c.Classes[i].check(c.Dataset != nil); err != nil {
			return nil, fmt.Errorf("workload: class %q: %w", c.Classes[i].label(i), err)
		}
	}
	switch {
	case c.Dataset != nil && c.Traffic != nil:
		return nil, errors.New("workload: expected a dataset or a traffic model, not both")
	case c.Dataset != nil:
		return newRecorded(c, seed)
	case c.Traffic != nil:
		return newModelled(c, seed)
	}
	if len(c.Classes) == 0 {
		return nil, errors.New("workload: expected a class or a dataset")
	}
	return newSynthetic(c, seed), nil
}

func (c *Class) label(i int) string {
	if c.Name == "" {
		return fmt.Sprint(i + 1)
	}
	return c.Name
}

const (
	// MaxTokens bounds a drawn length: above every model's context.
	MaxTokens = 10_000_000
	// MaxTurns bounds a session.
	MaxTurns = 10_000
)

func (c *Class) check(recorded bool) error {
	switch {
	case c.Input == nil && !recorded:
		return errors.New("needs an input length")
	case !(c.Weight >= 0) || math.IsInf(c.Weight, 1):
		return fmt.Errorf("expected a weight of at least 0, found %v", c.Weight)
	case c.PrefixTokens < 0 || c.PrefixTokens > MaxTokens:
		return fmt.Errorf("expected a prefix of 0 to %d tokens, found %d", int64(MaxTokens), c.PrefixTokens)
	case c.Prefixes < 0:
		return fmt.Errorf("expected a number of prefixes of at least 0, found %d", c.Prefixes)
	}
	return c.Media.check()
}
