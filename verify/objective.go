package verify

import (
	"math"

	"github.com/tokamak-bench/tokamak/measure"
)

// Default is the gate of a run without objectives.
const Default = "error_rate<1%"

// Op compares a value with its threshold.
type Op string

// The comparisons.
const (
	Below   Op = "<"
	AtMost  Op = "<="
	Above   Op = ">"
	AtLeast Op = ">="
)

// Stat names what of a metric is compared.
type Stat string

// The statistics besides percentiles, which are called p50, p99, p999 or p99.9.
const (
	Mean Stat = "mean"
	SD   Stat = "sd"
	Max  Stat = "max"
	Only Stat = "value" // a rate's one value
)

// Objective is one parsed expression.
type Objective struct {
	Expr      string       // in its shortest form: ttft.p99<800ms
	Metric    measure.Kind // what is compared
	Steady    bool         // over the steady window, asked for by the prefix "steady."
	Stat      Stat
	P         float64 // the percentile as a share; 0 for another statistic
	Op        Op
	Threshold float64 // in the metric's unit
	Column    int     // where it began, in characters from 1
}

// Holds tells whether a value meets the objective.
func (o *Objective) Holds(x float64) bool {
	switch o.Op {
	case Below:
		return x < o.Threshold
	case AtMost:
		return x <= o.Threshold
	case Above:
		return x > o.Threshold
	}
	return x >= o.Threshold
}

// Limit is the objective as a limit on one request.
func (o *Objective) Limit() measure.Limit {
	p := o.P
	if p == 0 {
		p = 1
	}
	return measure.Limit{Metric: o.Metric.Name, P: p, Value: o.Threshold,
		Above: o.Op == Above || o.Op == AtLeast, Equal: o.Op == AtMost || o.Op == AtLeast}
}

// Limits returns what a good request meets: the limits of the objectives on
// percentiles of latencies, for [measure.Options].
func Limits(objectives []Objective) []measure.Limit {
	var out []measure.Limit
	for i := range objectives {
		o := &objectives[i]
		if o.P > 0 && (o.Metric.Latency || o.Metric.Form == measure.Pooled || o.Metric.Name == "tokens_per_s_user") {
			out = append(out, o.Limit())
		}
	}
	return out
}

// value returns what the view has for the objective.
func (o *Objective) value(v *measure.View) measure.Value {
	switch {
	case o.Metric.Form == measure.Rate:
		return v.Rate(o.Metric.Name)
	case o.P > 0:
		return v.Percentile(o.Metric.Name, o.P)
	case o.Stat == Max:
		return v.Percentile(o.Metric.Name, 1)
	}
	m := v.Metric(o.Metric.Name)
	x, _ := m.Stat(string(o.Stat))
	return x
}

// certified tells whether the objective is a claim about a share of requests.
func (o *Objective) certified() bool { return o.P > 0 && o.P < 1 }

// allowed is the share of requests that may be over.
func (o *Objective) allowed() float64 {
	if o.Op == Above || o.Op == AtLeast {
		return o.P
	}
	return math.Round((1-o.P)*1e12) / 1e12 // 1 − 0.99 is not the float64 nearest to 0.01
}
