package measure

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
)

// Trust says how far the client shaped a figure.
type Trust string

// The degrees of trust.
const (
	Valid    Trust = "valid"
	Degraded Trust = "degraded" // a little: Bound says how much
	Invalid  Trust = "invalid"  // the client was the limit
)

func (t Trust) rank() int { return slices.Index([]Trust{Valid, Degraded, Invalid}, t) }

// Validity is the judgement on a metric: the worst of its statistics p50, p90,
// p95 and p99.
type Validity struct {
	Trust  Trust            `json:"trust"`
	Bound  Value            `json:"bound"` // by how much the client may have moved it, in the metric's unit
	Reason string           `json:"reason,omitempty"`
	ByStat map[string]Trust `json:"by_stat,omitempty"` // those that are not valid
}

func (w *Validity) worsen(t Trust, bound float64, reason string) {
	if t == Valid {
		return
	}
	if b, ok := w.Bound.Get(); !ok || bound > b {
		w.Bound = Some(bound)
	}
	if t.rank() > w.Trust.rank() {
		w.Trust, w.Reason = t, reason
	}
}

// trust compares a figure with what it is without the client's share. Above
// 10 % and 1 (ms) it is invalid, above 1 % and 0.1 degraded.
func trust(with, without, least float64) (Trust, float64) {
	shift := math.Abs(with - without)
	switch {
	case math.IsNaN(shift) || math.IsInf(shift, 0):
		return Valid, 0
	case shift > 0.1*math.Abs(without) && shift > least:
		return Invalid, shift
	case shift > 0.01*math.Abs(without) && shift > 0.1*least:
		return Degraded, shift
	}
	return Valid, 0
}

// client is what the rows tell about the client.
type client struct {
	v       *View
	stops   []Stop
	lagP99  float64 // ms
	lagMax  float64 // ms
	lagging int     // requests that left more than stopLeast late
	user    bool    // some arrivals bear user stamps
	sched   float64 // ms; NaN: unknown
	unread  unread

	tailKnown   bool
	longestTail int64
	gaps        []gap     // scratch
	batch       []float64 // scratch
}

// stopLeast is the shortest standstill that is told from ordinary lateness.
const stopLeast = int64(50 * time.Millisecond)

func (v *View) client() *client {
	if v.audit == nil {
		v.audit = v.newClient()
	}
	return v.audit
}

func (v *View) newClient() *client {
	c := &client{v: v, sched: math.NaN()}
	c.stops = append(slices.Clone(v.a.opt.Stops), v.standstills()...)
	c.unread = newUnread(v.a.opt.Pauses, v.a.opt.Stops)
	c.lagP99 = v.Percentile("client_lag", 0.99).Or(0)
	for _, r := range v.rows {
		c.lagMax = max(c.lagMax, float64(r.lag)/1e6)
		c.user = c.user || r.stamps == userStamps
		if r.lag >= stopLeast {
			c.lagging++
		}
	}
	if s, ok := v.a.opt.SchedLatency.Get(); ok {
		c.sched = float64(s) / 1e6
	}
	return c
}

// Stops returns the times in which the client is known, or seen from late
// requests, to have stood still.
func (v *View) Stops() []Stop { return v.client().stops }

// standstills finds times in which requests were due and none left.
func (v *View) standstills() []Stop {
	var writes []int64
	for _, r := range v.rows {
		if r.firstWrite != absent {
			writes = append(writes, r.firstWrite)
		}
	}
	slices.Sort(writes)
	var out []Stop
	for _, r := range v.rows {
		if r.lag < stopLeast {
			continue
		}
		from := r.firstWrite - r.lag
		if n := len(out); n > 0 && from < out[n-1].To {
			continue
		}
		i, _ := slices.BinarySearch(writes, from+1)
		if i < len(writes) && writes[i]-from >= stopLeast {
			out = append(out, Stop{from, writes[i]})
		}
	}
	return out
}

// reason names why requests left late, and what to change.
func (c *client) reason() string {
	longest := Stop{}
	for _, s := range c.stops {
		if s.To-s.From > longest.To-longest.From {
			longest = s
		}
	}
	if long := longest.To - longest.From; long > 0 {
		at := longest.From - c.v.from
		return fmt.Sprintf("the client stood still for %s from %s on (suspended, or without CPU) and %s requests left late: run it again on a machine that is not halted or overloaded",
			milliseconds(float64(long)/1e6), milliseconds(float64(at)/1e6), Count(c.lagging))
	}
	return fmt.Sprintf("the client sent late (client_lag p99 %s): give it more CPU, or spread the load over more machines", milliseconds(c.lagP99))
}

// Validity judges every metric.
func (v *View) Validity() map[string]Validity {
	c := v.client()
	out := map[string]Validity{}
	for _, k := range Kinds() {
		if k.Adjusted {
			out[k.Name] = out[base(k.Name)]
			continue
		}
		if k.Form != Rate {
			out[k.Name] = c.judge(k.Name, map[string]float64{"p50": 0.5, "p90": 0.9, "p95": 0.95, "p99": 0.99})
			continue
		}
		if v.a.opt.GPUs > 0 || !strings.HasSuffix(k.Name, perGPU) {
			out[k.Name] = c.rate(k.Name)
		}
	}
	return out
}

// ValidityAt judges one statistic of a metric: a percentile, or its mean where p is 0.
func (v *View) ValidityAt(name string, p float64) Validity {
	c := v.client()
	if k, _ := Find(name); k.Form == Rate {
		return c.rate(name)
	}
	return c.judge(name, map[string]float64{"": p})
}

func (c *client) judge(name string, stats map[string]float64) Validity {
	w := Validity{Trust: Valid}
	d := defined(base(name))
	if d == nil {
		d = &definition{unit: "ms", basis: fromArrivals | latency}
		if base(name) == "icl" {
			d.basis |= paced
		}
		c.pooled(&w, base(name), d, stats)
		return w
	}
	if d.basis&paced == 0 {
		if d.basis&fromIntended != 0 && c.lagMax > 0.1 || d.basis&fromArrivals != 0 && len(c.stops)+len(c.unread.all) > 0 {
			c.bounded(&w, d, stats) // no percentile can have moved by more than the largest lag
		}
		if c.blurred(d) {
			with := c.v.each(d)
			for stat, p := range stats {
				c.blur(&w, stat, d, with.at(p))
			}
		}
		return w
	}
	moved := len(c.unread.all) > 0
	if !moved && !c.blurred(d) {
		return w
	}
	with, without := c.v.each(d), series{}
	if moved {
		without = c.without(d)
	}
	c.compare(&w, d, stats, &with, &without)
	return w
}

// compare holds a metric's statistics against those of the requests that no
// pause touched; where hardly any is left nothing is known.
func (c *client) compare(w *Validity, d *definition, stats map[string]float64, with, without *series) {
	for stat, p := range stats {
		x := with.at(p)
		if len(c.unread.all) > 0 && 2*without.n < with.n {
			w.add(stat, Invalid, math.Abs(x), c.unreadReason())
		}
		t, shift := trust(x, without.at(p), 1)
		w.add(stat, t, shift, c.unreadReason())
		c.blur(w, stat, d, x)
	}
}

func (w *Validity) add(stat string, t Trust, bound float64, reason string) {
	if t == Valid {
		return
	}
	w.worsen(t, bound, reason)
	if stat == "" {
		return
	}
	if w.ByStat == nil {
		w.ByStat = map[string]Trust{}
	}
	if t.rank() > w.ByStat[stat].rank() {
		w.ByStat[stat] = t
	}
}

// without returns a metric's values without the requests some of whose stamps
// a pause may have spoilt.
func (c *client) without(d *definition) series {
	out := make([]float64, 0, len(c.v.rows))
	for _, r := range c.v.rows {
		if d.basis&anyOutcome == 0 && c.v.fate(r) != good || c.blurOf(r).most > 0 {
			continue
		}
		if x := d.in(r); !math.IsNaN(x) {
			out = append(out, x)
		}
	}
	return slice(out, 0)
}

// crowded tells whether a request left late in a standstill's wake: all of them
// at once, a burst that the load did not ask for.
func (c *client) crowded(r *row) bool { return len(c.stops) > 0 && r.lag >= stopLeast }

// blur adds what the delay between arrival and reading does to user stamps.
func (c *client) blur(w *Validity, stat string, d *definition, value float64) {
	if !c.blurred(d) {
		return
	}
	t, shift := trust(value, value-c.sched, 1)
	w.add(stat, t, shift, fmt.Sprintf("arrivals were stamped after reading, up to %s late: give the client more CPU, or use plain HTTP/1.1 on Linux for kernel stamps", milliseconds(c.sched)))
}

func (c *client) blurred(d *definition) bool {
	return c.user && !math.IsNaN(c.sched) && d.basis&fromArrivals != 0 && d.unit == "ms"
}

// ownFailures is from which share of all requests on, in percent, failures of
// the client itself void an error rate.
const ownFailures = 1

// rate judges a rate by what the client's lateness took from the window, and
// goodput by its limits too.
func (c *client) rate(name string) Validity {
	w := Validity{Trust: Valid}
	if t := c.v.tally(); name == "error_rate" && t.own > 0 {
		share := 100 * float64(t.own) / float64(t.over+t.ok)
		trust := Degraded
		if share >= ownFailures {
			trust = Invalid
		}
		w.worsen(trust, share, fmt.Sprintf("%d requests failed by the client itself, which ran out of file descriptors or ports: raise its limits (ulimit -n)", t.own))
	}
	if name == "error_rate" || name == "cached_share" || name == "coalesced_share" || c.v.to <= c.v.from {
		return w
	}
	if name != "goodput_share" {
		share := c.slowed(name) + c.edge()
		t, _ := trust(1+share, 1, 0)
		if t == Valid && share > doubtfulRate {
			t = Degraded
		}
		w.add("", t, share*c.v.Rate(name).Or(0), c.slowReason())
	}
	if strings.HasPrefix(name, "goodput") {
		for _, l := range c.v.a.opt.Limits {
			on := c.judge(l.Metric, map[string]float64{"": l.P})
			if on.Trust.rank() > w.Trust.rank() {
				w.Trust, w.Reason = on.Trust, l.Metric+": "+on.Reason
			}
		}
	}
	return w
}
