package dialect

// Rule is one answer to a question on which tools differ: a pure function, and
// what it does in the words in which a comparison explains a difference.
type Rule[F any] struct {
	Says string
	Of   F
}

// Rules are the answers of one tool.
type Rules struct {
	// Fails tells that a sending is no success.
	Fails Rule[func(r *request, s *seen) bool]
	// Start is the moment from which latency counts.
	Start Rule[func(r *request) int64]
	// Sees are the kinds of events that are output.
	Sees Rule[Kind]
	// End is the moment at which a response ends.
	End Rule[func(r *request, s *seen) int64]
	// Output and Input are the tokens of a request; -1 where nothing tells.
	Output Rule[func(r *request, s *seen) int64]
	Input  Rule[func(r *request) int64]
	// TTFT is the time to the first token: a value in ns and its weight.
	TTFT Rule[perRequest]
	// TPOT is the time for one output token, on the same terms.
	TPOT Rule[perRequest]
	// ITL is the latency between tokens: one value a request, or pooled gaps.
	ITL Rule[latency]
	// ICL is the latency between chunks, where the tool has it by that name.
	ICL Rule[latency]
	// Carried tells which sendings a rate counts, and with how many tokens.
	Carried Rule[func(r *request, s *seen, ok bool) carried]
	// Window is the time that a rate divides by.
	Window Rule[window]
	// Quantile takes percentiles.
	Quantile Rule[quantile]
	// Good is how goodput counts.
	Good Rule[goodput]
}

// seen is what the rules before made of a request.
type seen struct {
	start       int64
	first, last int64 // moments of the first and last event that is output
	end         int64
	chunks      int // events that are output
	output      int64
}

// perRequest returns a value in ns and its weight; false: it has none.
type perRequest func(r *request, s *seen) (value, weight float64, ok bool)

// latency is either one value a request, or the gaps of every request.
type latency struct {
	one  perRequest
	gaps func(r *request, sees Kind, buf []float64) []float64 // appended, in ns
}

func (l latency) none() bool { return l.one == nil && l.gaps == nil }

// carried is what a rate counts of a sending.
type carried struct {
	request       bool
	input, output bool
}

// window says which time a rate is taken over.
type window struct {
	// load: the load's window alone, and of a request only what lies in it.
	load bool
	// begins: from the load's start on, whenever the first request left.
	begins bool
	// of returns the stretch that a sending adds to the window.
	of func(r *request, s *seen, ok bool) (from, to int64, counts bool)
	// less is subtracted from the number of requests.
	less int
}

// goodput says how good requests are counted.
type goodput struct {
	takes    []string // metrics on which the tool takes an objective
	tpot     latencyOf
	absentIs absentIs
	own      bool // the window of the successes alone
	share    func(n *counts) (of int)
}

// latencyOf says which of its figures a tool holds against an objective on TPOT.
type latencyOf uint8

const (
	ofTPOT latencyOf = iota
	ofITL
)

// absentIs says what a request is that lacks a value on which there is an
// objective.
type absentIs uint8

const (
	met          absentIs = iota
	unmet                 // not good
	undetermined          // neither
)

// counts are the numbers of requests.
type counts struct {
	sent, ok, failed, stopped int
	good, determined          int
}
