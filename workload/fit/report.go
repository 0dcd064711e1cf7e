package fit

import "time"

// ReportSchema is the version of the report's fields.
const ReportSchema = "tokamak.fit/1"

// Report says how a model came about and how far it is from its log. Every
// series that is worth drawing is in it. A pointer is nil, a slice empty,
// where the log does not tell.
type Report struct {
	Schema string `json:"schema"`
	// Format of the log; of several files all that they have, with commas.
	Format string `json:"format"`
	// Rows were read, of which Failed were not answered; Skipped could not be read.
	Rows    int64 `json:"rows"`
	Skipped int64 `json:"skipped"`
	Failed  int64 `json:"failed"`
	// Begin is the first row's moment; nil where stamps are not absolute.
	Begin *time.Time `json:"begin"`
	Span  float64    `json:"span_s"` // s, from the first arrival to the last
	// MadeUp says that the log's moments tell nothing of arrivals, so that those of
	// the model, and Span, are made up: what would be of them is absent.
	MadeUp bool `json:"arrivals_made_up"`
	// Pauses are long times without a request, in order.
	Pauses []Pause `json:"pauses"`

	Stamps Stamps `json:"stamps"`
	// Hidden are the numbers of clients that lengths and rates were divided
	// among where the log names none; empty where it was not tried.
	Hidden []HiddenCandidate `json:"hidden_clients"`
	// Mix is what is kept of how shares of classes of lengths change, at each width of
	// the cut that keeps most; empty where clients are not classes.
	Mix []BurstLevel `json:"mix"`
	// Clients, largest first.
	Clients []ClientReport `json:"clients"`
	// Totals of the log beside those of the model; nil where the source has no requests.
	Totals *Totals `json:"totals"`
	// Rate is the log's arrivals over time beside one sample of the model.
	Rate RateSeries `json:"rate"`
	// Gaps are the quantiles of the time between arrivals.
	Gaps *GapSeries `json:"gaps"`
	// Dispersion over time scales of all clients together.
	Dispersion []Dispersion `json:"dispersion"`
	// Work is the same of tokens instead of arrivals.
	Work []TokenDispersion `json:"token_dispersion"`
	// Seeds is how many samples Dispersion's medians are of.
	Seeds int `json:"seeds"`
	// Lengths of all clients together, held out.
	Input  *HeldOut `json:"input"`
	Output *HeldOut `json:"output"`
	Joint  *Joint   `json:"joint"`

	Sessions *SessionReport `json:"sessions"`
	Prefix   *PrefixReport  `json:"prefix"`
	Drift    Drift          `json:"drift"`
	Season   *Season        `json:"season"`

	// Findings are sentences; they stand in the model too.
	Findings []string `json:"findings"`
}

// Stamps are what the log's clock tells.
type Stamps struct {
	// Moments is how many different ones there are; 0 without any stamp.
	Moments int64 `json:"moments"`
	// Resolution is the largest unit that all stamps are multiples of, in s.
	Resolution float64 `json:"resolution_s"`
	// Tick is the length in s of the steps in which arrivals were stamped, 0
	// where they were stamped when they came. Jittered says that rows were
	// spread over their tick.
	Tick     float64 `json:"tick_s"`
	Jittered bool    `json:"jittered"`
	// Unordered rows were stamped before a row in front of them, and sorted.
	Unordered int64 `json:"unordered"`
}

// ClientReport is one client's part.
type ClientReport struct {
	Name string `json:"name"`
	// Members is how many names of the log are in it; more than one in a group.
	Members int     `json:"members"`
	Rows    int64   `json:"rows"`
	Share   float64 `json:"share"` // of all rows
	Rate    float64 `json:"rate_rps"`

	// Arrivals are the candidates, best first by BIC; Window, in s, and Process
	// are those taken and Why says by which rule.
	Arrivals []ArrivalCandidate `json:"arrivals"`
	Window   float64            `json:"window_s"`
	Process  string             `json:"process"`
	Why      string             `json:"why"`
	// Bursts is what is kept of the log's own bursts, from wide to narrow; empty
	// where they were not asked for, or are no more than chance.
	Bursts []BurstLevel `json:"bursts"`

	Input  []LengthFit `json:"input"`  // one for each part of the log that has its own
	Output []LengthFit `json:"output"` // the same
	// Limits are the most tokens that its requests let an answer have, which is no
	// length; nil where none says.
	Limits *Limits `json:"output_limits"`
	// Grid is the side of the rank grid, 0 where the lengths are independent.
	Grid int `json:"rank_grid"`

	// Together is how the turns of its sessions go together; nil where they have one.
	Together *Together `json:"sessions"`

	ErrorShare float64 `json:"error_share"`
}

// HiddenCandidate is a number of clients that a log without names may be of.
type HiddenCandidate struct {
	Window     float64 `json:"window_s"` // of their rates
	Clients    int     `json:"clients"`
	Parameters int     `json:"parameters"`
	// LogLikelihood is that of the moments and the classes of the lengths, in
	// nats, rates in 1/s.
	LogLikelihood float64 `json:"log_likelihood"`
	BIC           float64 `json:"bic"`
	Chosen        bool    `json:"chosen"`
}

// ArrivalCandidate is a rate curve with a process around it.
type ArrivalCandidate struct {
	Window        float64 `json:"window_s"` // 0: one rate
	Process       string  `json:"process"`
	States        int     `json:"states"` // of a Markov chain, else 0
	Parameters    int     `json:"parameters"`
	LogLikelihood float64 `json:"log_likelihood"` // of the moments, in nats, gaps in s
	BIC           float64 `json:"bic"`
	CV            float64 `json:"cv"` // of the gaps in operational time
	// DispersionError is the largest error of the index of dispersion over the
	// scales of the check; nil where it was not checked.
	DispersionError *float64 `json:"dispersion_error"`
	Chosen          bool     `json:"chosen"`
}

// Dispersion is the index of dispersion at one time scale.
type Dispersion struct {
	Scale float64 `json:"scale_s"`
	Log   float64 `json:"log"`
	Model float64 `json:"model"` // median over the seeds
	// Low and High are the least and the greatest of the seeds.
	Low  float64 `json:"low"`
	High float64 `json:"high"`
	// Poisson is the median of a Poisson process of one rate.
	Poisson float64 `json:"poisson"`
}

// TokenDispersion is the index of dispersion of the tokens of session starts at
// one time scale, in requests: variance ÷ mean of their sums in windows, ÷ their
// mean a request. It is that of the arrivals where all lengths are alike; more
// where long ones come together, less where they keep apart.
type TokenDispersion struct {
	Scale  float64 `json:"scale_s"`
	Input  Beside  `json:"input"`
	Output Beside  `json:"output"`
}

// Beside is a figure of the log and of samples of the model: their median, the
// least and the greatest.
type Beside struct {
	Log   float64 `json:"log"`
	Model float64 `json:"model"`
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
}

// RateSeries is arrivals over time: in windows, the last of which may be cut
// short by To. One of which the log covers less than a tenth is left out, where
// it is not the only one.
type RateSeries struct {
	Window float64   `json:"window_s"`
	To     float64   `json:"to_s"` // where the last one ends
	Log    []float64 `json:"log_rps"`
	Model  []float64 `json:"model_rps"` // of one sample; seed 1
	Fitted []float64 `json:"fitted_rps"`
	// CV is the log's coefficient of variation of the gaps in each window; NaN
	// never: nil where a window has fewer than ten.
	CV []*float64 `json:"log_cv"`
}

// GapSeries are quantiles in s of the time between arrivals.
type GapSeries struct {
	Share   []float64 `json:"share"`
	Log     []float64 `json:"log_s"`
	Model   []float64 `json:"model_s"`
	Poisson []float64 `json:"poisson_s"`
	KS      float64   `json:"ks"`
	// PoissonKS is the distance of a Poisson process of one rate.
	PoissonKS float64 `json:"poisson_ks"`
}

// LengthFit is how one length was modelled in one part of the log.
type LengthFit struct {
	From       float64           `json:"from_s"`
	Rows       int64             `json:"rows"`
	Candidates []LengthCandidate `json:"candidates"` // best first by BIC
	Chosen     string            `json:"chosen"`     // a candidate's family
	Why        string            `json:"why"`
}

// LengthCandidate is one family with its parameters.
type LengthCandidate struct {
	Family        string  `json:"family"`
	Form          string  `json:"form"` // as package stat reads it
	Parameters    int     `json:"parameters"`
	LogLikelihood float64 `json:"log_likelihood"` // of whole tokens, in nats
	BIC           float64 `json:"bic"`
	KS            float64 `json:"ks"`
	Wasserstein   float64 `json:"wasserstein"` // tokens
}

// HeldOut holds a length, as a model learnt from the even slices of the log
// draws it, against the odd slices.
type HeldOut struct {
	Slice       float64    `json:"slice_s"`
	Rows        int64      `json:"rows"` // of the odd slices
	KS          float64    `json:"ks"`
	Wasserstein float64    `json:"wasserstein"` // tokens
	Quantiles   []Quantile `json:"quantiles"`
}

// Quantile is one quantile, in tokens, of the odd slices and of the model of
// the even ones; Even is of the even slices themselves.
type Quantile struct {
	Share float64 `json:"share"`
	Log   float64 `json:"log"`
	Model float64 `json:"model"`
	Even  float64 `json:"even"`
}

// Joint holds the joint ranks of input and output against each other, on a
// square grid of equal rank bins, rows by input.
type Joint struct {
	Side  int         `json:"side"`
	Log   [][]float64 `json:"log"`   // of the odd slices
	Model [][]float64 `json:"model"` // of a model of the even slices
	// Distance is half the summed difference of both; Independent that of
	// lengths drawn apart; Even that of the even slices themselves.
	Distance    float64 `json:"distance"`
	Independent float64 `json:"independent"`
	Even        float64 `json:"even"`
	// Chance is the Distance that truly independent lengths of as many rows
	// would have from equal cells.
	Chance float64 `json:"chance"`
	// Rank is Spearman's correlation in the log.
	Rank float64 `json:"rank_correlation"`
}

// SessionReport is what the log tells of conversations.
type SessionReport struct {
	By string `json:"by"` // session, parent or blocks
	// Told are the sessions that the log tells, and Later the requests that go on
	// with one.
	Told  int64 `json:"told"`
	Later int64 `json:"later_requests"`
	// History says what the prompts of those were taken to hold: cumulative (all
	// that came before), delta (new text alone), independent (no history: each is a
	// request of its own in the model), or mixed (as cumulative in some sessions, as
	// independent in others). HistoryWhy says by which rule.
	History    string `json:"history"`
	HistoryWhy string `json:"history_why"`
	// Grown is the share of the later prompts that are longer than the one before,
	// or hold its blocks where both name them; nil where none tells. Independent is
	// the share of the later requests taken as such.
	Grown       *float64 `json:"grown_share"`
	Independent float64  `json:"independent_share"`
	// Anew are prompts with history that are shorter than the one before: they
	// begin another conversation.
	Anew int64 `json:"begun_anew"`

	// Sessions and what follows are of those in the model, requests of their own
	// included.
	Sessions int64   `json:"sessions"`
	Turns    float64 `json:"turns_mean"`
	// TurnsUncut is the mean of the model, of sessions that the end of the log does
	// not cut short.
	TurnsUncut float64 `json:"turns_mean_uncut"`
	Single     float64 `json:"single_turn_share"`
	// ThinkP50 is in s, from one arrival to the next where FromArrival, since
	// the log does not say when answers ended.
	ThinkP50    *float64 `json:"think_p50_s"`
	FromArrival bool     `json:"think_from_arrival"`
	InputP50    *float64 `json:"later_input_p50"` // new tokens of a later turn
	Jump        *float64 `json:"jump"`
}

// PrefixReport is what a cache of prompt blocks could have found.
type PrefixReport struct {
	BlockTokens int64 `json:"block_tokens"` // the commonest length that the log names; 0: it names none
	// BlockLengths are all of them, the commonest first.
	BlockLengths []BlockLength `json:"block_lengths"`
	// Texts are the prompts whose blocks were made of their texts, Estimated those of
	// them whose lengths are a fourth of their bytes.
	Texts      int64         `json:"texts"`
	Estimated  int64         `json:"estimated"`
	Blocks     int64         `json:"blocks"`      // distinct ones
	UsedOnce   float64       `json:"used_once"`   // share of them
	Curve      []CachePoint  `json:"curve"`       // by size
	Fronts     int64         `json:"fronts"`      // shared by sessions
	FrontShare float64       `json:"front_share"` // of the sessions
	Exponent   *float64      `json:"exponent"`    // Zipf's, of the fronts
	Popularity []PopularRank `json:"popularity"`  // of the fronts
	ReuseP50   *float64      `json:"reuse_p50_s"` // time between uses of a block
	// Complete is false where the oldest of more than four million blocks were
	// forgotten, so that large caches would have found more.
	Complete bool `json:"complete"`
}

// CachePoint is the share of prompt tokens found in a cache of a size.
type CachePoint struct {
	Tokens int64 `json:"tokens"` // 0: unlimited
	// Hit is the log's, Model that of one sample of the model.
	Hit   float64  `json:"hit"`
	Model *float64 `json:"model"`
}

// PopularRank is how many sessions began with the front of a rank.
type PopularRank struct {
	Rank     int64 `json:"rank"`
	Sessions int64 `json:"sessions"`
}

// Drift is how the log changes along its time.
type Drift struct {
	Found bool   `json:"found"`
	Parts []Part `json:"parts"`
	// Changes are sentences on the last part against what came before.
	Changes []string `json:"changes"`
}

// Part is one stretch of the log.
type Part struct {
	From      float64  `json:"from_s"`
	To        float64  `json:"to_s"`
	Rows      int64    `json:"rows"`
	PerMinute float64  `json:"per_minute"`
	InputP50  *float64 `json:"input_p50"`
	InputP90  *float64 `json:"input_p90"`
	OutputP50 *float64 `json:"output_p50"`
	OutputP90 *float64 `json:"output_p90"`
	// InputKS and OutputKS are distances from all that came before.
	InputKS  *float64 `json:"input_ks"`
	OutputKS *float64 `json:"output_ks"`
}

// Season is a period of the rate.
type Season struct {
	Period float64 `json:"period_s"`
	// Strength is the share of the variance of the rate that the mean over
	// periods explains.
	Strength float64   `json:"strength"`
	Profile  []float64 `json:"profile"` // of one period, as multiples of the mean rate
}
