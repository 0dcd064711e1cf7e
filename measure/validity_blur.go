package measure

import (
	"cmp"
	"math"
	"slices"

	"github.com/tokamak-bench/tokamak/record"
)

// merged is content chunks that share a stamp, at: each came after prev, the
// stamp of the arrival before or the sending, and by at.
type merged struct {
	prev, at int64
	n        int32
}

// mergedRef is which of the accumulator's groups are a row's.
type mergedRef struct {
	from  uint32
	count int32
}

// noteMerged keeps the groups of an attempt's content chunks that met others.
// User stamps are all of that kind: nobody knows how long a chunk had lain.
func (a *Accumulator) noteMerged(r *row, t *record.Attempt) {
	c := &t.Chunks
	user := r.stamps == userStamps
	if len(c.At) == 0 || !user && (r.stamps != kernelStamps || r.coalesced == 0) {
		return
	}
	ref := mergedRef{from: uint32(len(a.merged))}
	prev := r.sent
	for i := 0; i < len(c.At); {
		j := i
		met := user
		for ; j < len(c.At) && c.At[j] == c.At[i]; j++ {
			met = met || j < len(c.Flags) && c.Flags[j]&record.Coalesced != 0
		}
		if met && prev != absent && (!user || i == 0 || j == len(c.At)) {
			a.merged = append(a.merged, merged{prev, c.At[i], int32(j - i)})
			ref.count++
		}
		prev, i = c.At[i], j
	}
	r.merged = ref
	r.lastMerged = ref.count > 0 && a.merged[len(a.merged)-1].at == r.lastToken
}

func (a *Accumulator) mergedOf(r *row) []merged {
	return a.merged[r.merged.from:][:r.merged.count]
}

// user is a closed loop's user as far as it is known: when its last answer
// ended, and for how long the client had kept it waiting until then.
type user struct{ ended, waited int64 }

// noteIdle keeps for how long the client has kept a closed loop's user waiting
// up to a request's sending, all its requests together: from the stamp of an
// answer's end until that was seen, and from then until the next one left.
func (a *Accumulator) noteIdle(r *row, t *record.Attempt) {
	r.waited = absent
	number, ok := t.User.Get()
	if !ok {
		return
	}
	u, known := a.users[number]
	if known && t.Attempt <= 1 && t.Turn == 0 {
		u.waited += max(0, between(u.ended, r.intended))
	}
	if r.lag != absent {
		u.waited += r.lag + r.stallSend
	}
	r.waited = u.waited
	if r.ended != absent {
		u.ended = r.ended
	}
	if a.users == nil {
		a.users = map[int64]user{}
	}
	a.users[number] = u
}

// stallOf is how long sending a request stood still in the client: what is
// written at once and not handed over at once waited for this process. Longer
// requests wait for the network too.
func stallOf(t *record.Attempt) int64 {
	if t.Bytes.Request > sentAtOnce || t.SentSource != record.SourceKernel {
		return 0
	}
	return max(0, between(moment(t.WriteStart), moment(t.Sent)))
}

// sentAtOnce is what every TCP sends without waiting: ten segments (RFC 6928).
const sentAtOnce = 14_000

// unread are times in which arrivals lay unread, by their beginnings. They may
// overlap: somebody looked between the beginnings of two.
type unread struct {
	all     []Stop
	longest Stop
}

func newUnread(lists ...[]Stop) unread {
	u := unread{all: slices.Concat(lists...)}
	slices.SortFunc(u.all, func(a, b Stop) int { return cmp.Compare(a.From, b.From) })
	for _, s := range u.all {
		if s.To-s.From > u.longest.To-u.longest.From {
			u.longest = s
		}
	}
	return u
}

// readSlack is how long after a pause what lay there is still being read.
const readSlack = int64(1e6)

// late is by how much, at most, what shares the stamp at may have come before
// it; 0 where the stamp lies in no pause.
func (u *unread) late(prev, at int64) int64 {
	i, _ := slices.BinarySearchFunc(u.all, at, func(s Stop, at int64) int { return cmp.Compare(s.From, at) })
	late := int64(0)
	reach := u.longest.To - u.longest.From + readSlack
	for i--; i >= 0 && at-u.all[i].From <= reach; i-- {
		if s := u.all[i]; at <= s.To+readSlack {
			late = at - max(s.From, prev)
		}
	}
	return max(0, late)
}

// blur is by how much a row's stamps may be late, in ns.
type blur struct{ first, last, most int64 }

func (c *client) blurOf(r *row) blur {
	var b blur
	if len(c.unread.all) == 0 || r.merged.count == 0 {
		return b
	}
	for _, m := range c.v.a.mergedOf(r) {
		d := c.unread.late(m.prev, m.at)
		b.most = max(b.most, d)
		if m.at == r.firstToken && (m.n > 1 || r.stamps == userStamps || m.at == r.lastToken) {
			b.first = d
		}
		if m.at == r.lastToken {
			b.last = d
		}
	}
	if b.last > 0 && r.ended == r.lastToken && r.stamps == kernelStamps {
		b.last = min(b.last, c.tail()) // its end was stamped: the last token came shortly before
	}
	return b
}

// tail is by how much, at most, the end of an answer came after its last
// token, in those answers whose end nobody kept waiting.
func (c *client) tail() int64 {
	if c.tailKnown {
		return c.longestTail
	}
	c.tailKnown, c.longestTail = true, math.MaxInt64
	longest := absent
	for _, r := range c.v.rows {
		if c.v.fate(r) != good || r.lastToken == absent || r.lastMerged && c.unread.late(r.sent, r.lastToken) > 0 {
			continue
		}
		longest = max(longest, between(r.lastToken, r.ended))
	}
	if longest != absent {
		c.longestTail = longest
	}
	return c.longestTail
}

// shift is by how much a row's value may be above and below what it would have
// been with a client in time, in the unit of definition.value.
func (c *client) shift(d *definition, r *row) (above, below float64) {
	b := c.blurOf(r)
	switch d.name {
	case "ttft", "ttft_send", "ttft_answer", "ttfb":
		above = float64(b.first)
	case "e2e", "e2e_send":
		above = float64(b.last)
	case "tpot":
		if n := float64(r.shown - 1); n > 0 {
			above, below = float64(b.last)/n, float64(b.first)/n
		}
	case "tokens_per_s_user":
		if t := tpot(r); t > 0 && r.shown > 1 {
			n := float64(r.shown - 1)
			above = 1e9/t - 1e9/(t+float64(b.first)/n)
			below = 1e9/max(t-float64(b.last)/n, 1) - 1e9/t
		}
	}
	if d.basis&fromIntended != 0 {
		if r.lag != absent {
			above += float64(r.lag)
		}
		above += float64(r.stallSend)
	}
	return above, below
}

// bounded judges a metric with one value a request by how far the client may
// have moved its statistics.
func (c *client) bounded(w *Validity, d *definition, stats map[string]float64) {
	var with, least, most, rest []float64
	moved, crowded := false, false
	for _, r := range c.v.rows {
		if d.basis&anyOutcome == 0 && c.v.fate(r) != good {
			continue
		}
		x := d.value(r)
		if math.IsNaN(x) {
			continue
		}
		above, below := c.shift(d, r)
		moved = moved || above != 0 || below != 0
		with, least, most = append(with, x/d.scale()), append(least, (x-above)/d.scale()), append(most, (x+below)/d.scale())
		if d.basis&fromSend != 0 && c.crowded(r) {
			crowded = true
		} else {
			rest = append(rest, x/d.scale())
		}
	}
	if !moved && !crowded {
		return
	}
	given, low, high, others := slice(with, 0), slice(least, 0), slice(most, 0), slice(rest, 0)
	for stat, p := range stats {
		x := given.at(p)
		t, shift := trust(x, low.at(p), 1)
		w.add(stat, t, shift, c.blame(d, shift))
		t, shift = trust(x, high.at(p), 1)
		w.add(stat, t, shift, c.blame(d, shift))
		if crowded {
			t, shift = trust(x, others.at(p), 1)
			w.add(stat, t, shift, c.reason())
		}
	}
}

// blame names what moved a metric: lateness of sending where that can be, else
// arrivals that shared a stamp.
func (c *client) blame(d *definition, _ float64) string {
	if d.basis&fromIntended != 0 && c.lagMax > 0.1 {
		return c.reason()
	}
	return c.unreadReason()
}

func (c *client) unreadReason() string {
	return "the client did not read for up to " + milliseconds(float64(c.unread.longest.To-c.unread.longest.From)/1e6) +
		" (suspended, or without CPU), and chunks that met meanwhile share the last one's stamp: give it more CPU, on a machine that is not halted or overloaded"
}

// unreadGaps sorts the gaps of the view's successes into those that are known
// and the number of those that lie in a pause. What was merged there is taken
// to be paced as the rest is: a silence of the server inside a pause of the
// client cannot be seen.
func (c *client) unreadGaps(name string) (known series, lost int) {
	touched := false
	for _, r := range c.v.rows {
		if c.v.fate(r) != good || r.many {
			continue
		}
		for _, m := range c.v.a.mergedOf(r) {
			if c.unread.late(m.prev, m.at) > 0 {
				touched = true
				lost += int(m.n)
			}
		}
	}
	if !touched {
		return series{}, 0
	}
	known.values = func(yield func([]float64) bool) {
		for _, r := range c.v.rows {
			if c.v.fate(r) == good && !yield(c.knownGaps(name, r)) {
				return
			}
		}
	}
	for batch := range known.values {
		known.n += len(batch)
	}
	return known, lost
}

// knownGaps are a row's gaps whose later end is no arrival in a pause.
func (c *client) knownGaps(name string, r *row) []float64 {
	groups := c.v.a.mergedOf(r)
	if len(groups) == 0 || r.many {
		return c.v.gapValues(name, r)
	}
	c.gaps = c.v.a.gaps.decode(r.gaps, c.gaps[:0])
	out := c.batch[:0]
	at := r.firstToken
	for _, g := range c.gaps {
		at += g.ns
		for len(groups) > 0 && groups[0].at < at {
			groups = groups[1:]
		}
		if len(groups) > 0 && groups[0].at == at && c.unread.late(groups[0].prev, at) > 0 {
			continue
		}
		switch {
		case name == "icl":
			out = append(out, float64(g.ns)/1e6)
		case g.tokens > 0:
			out = append(out, float64(g.ns)/float64(g.tokens)/1e6)
		}
	}
	c.batch = out
	return out
}

// sure is by how many standard deviations the number of lost gaps beyond a
// percentile may differ from the expected: gaps hang together, so more than
// usual.
const sure = 5

// pooled judges itl and icl: where gaps were lost in pauses, by where the
// percentile can lie if the lost ones are like the rest.
func (c *client) pooled(w *Validity, name string, d *definition, stats map[string]float64) {
	known, lost := c.unreadGaps(name)
	if lost == 0 && !c.blurred(d) {
		return
	}
	with := c.v.pool(name)
	for stat, p := range stats {
		x := with.at(p)
		c.blur(w, stat, d, x)
		switch {
		case lost == 0:
			continue
		case lost >= known.n:
			w.add(stat, Invalid, math.Abs(x), c.unreadReason())
			continue
		}
		if p == 0 {
			t, shift := trust(x, known.at(0), 1)
			w.add(stat, t, shift, c.unreadReason())
			continue
		}
		n, k := float64(known.n), float64(lost)
		spread := sure * math.Sqrt(k*p*(1-p)*(1+k/n)) / (n + k)
		for _, q := range []float64{max(p-spread, 1/n), min(p+spread, 1)} {
			t, shift := trust(x, known.at(q), 1)
			w.add(stat, t, shift, c.unreadReason())
		}
	}
}

// slowed is by what share the client lowered, or moved out of the window, what
// the service would have carried: each answer of an open loop came as much
// later as its request left late, each of a closed one as much as its user had
// been kept waiting until then.
func (c *client) slowed(name string) float64 {
	v := c.v
	var now, then, service, tokens, n float64
	for i := range v.a.n {
		r := v.a.row(i)
		if v.fate(r) != good || r.lag == absent {
			continue
		}
		late := r.lag + r.stallSend
		if v.a.opt.Closed && r.waited != absent {
			late = r.waited
		}
		weight := 1.0
		if name != "request_rate" && r.firstToken != absent {
			if x := first(r.output, r.outputCounted); !math.IsNaN(x) {
				weight = x
			}
			now += weight * v.inside(r.firstToken, r.lastToken)
			then += weight * v.inside(r.firstToken-late, r.lastToken-late)
		} else {
			now += bit(v.within(r.ended))
			then += bit(v.within(r.ended - late))
		}
		n++
		tokens += weight
		service += max(0, span(r.intended, r.ended)-float64(r.lag+r.stallSend))
	}
	if v.a.opt.Closed && service > 0 { // what users would have had besides
		for _, u := range v.a.users {
			more := max(0, float64(v.to-u.ended+u.waited)) / (service / n)
			if name == "request_rate" {
				more = math.Floor(more)
			}
			then += more * tokens / n
		}
	}
	if now == 0 {
		return bit(then > 0)
	}
	return math.Abs(then-now) / now
}

func bit(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// inside is the share of a span that lies in the window.
func (v *View) inside(from, to int64) float64 {
	if to <= from {
		return bit(v.within(from))
	}
	return float64(max(0, min(to, v.to)-max(from, v.from))) / float64(to-from)
}

func (c *client) slowReason() string {
	if c.v.a.opt.Closed && len(c.stops) == 0 {
		return "the client saw answers late and left its users idle: give it more CPU, or spread the load over more machines"
	}
	return c.reason()
}

// doubtfulRate is from which share on a rate is degraded: what the client took
// from a window is an estimate, which must not be as large as what valid allows.
const doubtfulRate = 0.005

// edge is the share of the window that a pause at its end hides: what came in
// it may bear a stamp from after the window.
func (c *client) edge() float64 {
	return float64(c.unread.late(c.v.from, c.v.to)) / float64(c.v.to-c.v.from)
}
