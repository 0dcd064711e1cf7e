package traffic

import (
	"time"

	"github.com/tokamak-bench/tokamak/stat"
)

// Schema is what the first line of a model's file says.
const Schema = "tokamak.traffic/1"

// Model is the traffic of a service over a stretch of time.
type Model struct {
	Source Source
	// Duration is the time line that the clients' rates cover.
	Duration time.Duration
	Clients  []Client
	// Text is the file of words learnt from the log's own prompts, as package
	// corpus reads it, relative to the model's; empty: a built-in corpus.
	Text string
	// Findings are sentences about the log: quantised stamps, drift, what a
	// figure rests on.
	Findings []string
}

// Source says what a model was learnt from; zero for one written by hand.
type Source struct {
	Format        string // as package trace names it
	Rows, Skipped int64
	Begin         time.Time // of the time line; zero where the log has none
}

// Client is one stream of sessions in the mixture: a tenant, an application,
// or a group of such that behave alike.
type Client struct {
	Name string
	// Rate is the session starts a second over the model's time line.
	Rate Curve
	// Arrival is how starts are spread around the rate.
	Arrival Arrival
	// Lengths are those of requests (of a session's first turn), in order of
	// From, the first from 0; more than one where they change over time.
	Lengths []Lengths
	// Sessions is nil where each has one turn.
	Sessions *Sessions
	// Prefix is what sessions share at their front; nil: nothing.
	Prefix *Prefix
	// Reasoning is the share of an answer's tokens that are reasoning; nil: none.
	Reasoning stat.Distribution
	// Images is the number of images of a request; nil: none.
	Images stat.Distribution
	// Limit is the most tokens that requests let an answer have, in the log: known,
	// and not generated; nil: not known.
	Limit stat.Distribution
	// Errors is the share of requests that the service did not answer in the
	// log: known, and not generated.
	Errors float64
}

// Curve is a rate over time, constant in windows.
type Curve struct {
	Window time.Duration // of each value; 0: one value for all time
	Rate   []float64     // session starts/s
}

// Arrival is a process of unit rate in operational time: its moments are
// carried to real time by the integral of the rate curve, so that scaling the
// rate keeps the shape of its bursts.
type Arrival struct {
	Process Process
	// CV is the coefficient of variation of the gaps of Gamma and Weibull: one
	// for all time, or one for each window of the rate.
	CV []float64
	// Markov is set where Process is Markov.
	Markov *Markov
}

// Process is a kind of arrival process.
type Process string

// The arrival processes.
const (
	Constant Process = "constant"
	Poisson  Process = "poisson"
	Gamma    Process = "gamma"
	Weibull  Process = "weibull"
	// MarkovGaps draws each gap from a state that follows from the one before.
	MarkovGaps Process = "markov"
)

// Markov is a chain of states; each draws one gap, in units of the mean gap.
type Markov struct {
	Gaps []stat.Distribution
	// Next[i][j] is the chance of state j after state i; rows add up to 1.
	Next [][]float64
}

// Lengths are the token counts of requests from a moment on.
type Lengths struct {
	From time.Duration
	// Input is of the new text of a session's first turn, without a shared
	// prefix; Output of an answer.
	Input, Output stat.Distribution
	// Ranks is how the two go together: the chance of each cell of a square
	// grid of equal rank bins, rows by input; nil: independent.
	Ranks [][]float64
}

// Sessions are conversations of several turns.
type Sessions struct {
	Turns stat.Distribution
	// Think is the wait in seconds between an answer's end and the next turn.
	Think stat.Distribution
	// Input is the new text of a later turn; nil: as of the first.
	Input stat.Distribution
	// Jump is the chance that a turn's new text is drawn anew; else its length
	// stays that of the turn before. 1 where 0 is given.
	Jump float64
	// GoesOnFirst is how likely another turn is after a first one whose new text is
	// in each of equal rank bins, from short to long: odds, relative to each other.
	// The number of turns is Turns all the same. nil: as likely after each.
	GoesOnFirst []float64
	// GoesOn is the same after a later turn.
	GoesOn []float64
	// InputAlike and OutputAlike are how alike the turns of a session are: the
	// correlation, from 0 to MaxAlike, of the normal scores of the new text of two
	// later turns and of two answers, of these beyond what Lengths.Ranks says.
	InputAlike, OutputAlike float64
}

// MaxAlike is the highest correlation of a session's turns.
const MaxAlike = 0.99

// Prefix is text that sessions share at their front.
type Prefix struct {
	// Share of the sessions that have one.
	Share float64
	// Top are those that stand out, most popular first; nil: none.
	Top []Front
	// Count prefixes are there besides, of Tokens tokens each (drawn once a
	// prefix), chosen by Zipf's law with Exponent.
	Count    int64
	Exponent float64
	Tokens   stat.Distribution
}

// Front is one prefix of a known length.
type Front struct {
	Share  float64 // of the sessions that have a prefix
	Tokens int64
}
