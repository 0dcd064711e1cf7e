package measure

import "encoding/json"

// Metric is one figure of a run in one of two forms. A distribution has Count
// and what follows it; a rate has Value alone. Values are in Unit.
type Metric struct {
	Unit  string // ms, req/s, tok/s, tok, %; see docs/metrics.md
	Count int    // from how many values it was made
	Mean  Value
	SD    Value // sample standard deviation
	P50   Value
	P90   Value
	P95   Value
	P99   Value
	P999  Value
	Max   Value
	Value Value // of a rate
	Rate  bool  // which form it is
}

type distributionJSON struct {
	Unit  string `json:"unit"`
	Count int    `json:"count"`
	Mean  Value  `json:"mean"`
	SD    Value  `json:"sd"`
	P50   Value  `json:"p50"`
	P90   Value  `json:"p90"`
	P95   Value  `json:"p95"`
	P99   Value  `json:"p99"`
	P999  Value  `json:"p999"`
	Max   Value  `json:"max"`
}

type rateJSON struct {
	Unit  string `json:"unit"`
	Value Value  `json:"value"`
}

// MarshalJSON writes the fields of the metric's form.
func (m Metric) MarshalJSON() ([]byte, error) {
	if m.Rate {
		return json.Marshal(rateJSON{m.Unit, m.Value})
	}
	return json.Marshal(distributionJSON{m.Unit, m.Count, m.Mean, m.SD, m.P50, m.P90, m.P95, m.P99, m.P999, m.Max})
}

// UnmarshalJSON reads either form; what has "value" is a rate.
func (m *Metric) UnmarshalJSON(b []byte) error {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(b, &fields); err != nil {
		return err
	}
	if _, ok := fields["value"]; ok {
		var r rateJSON
		err := json.Unmarshal(b, &r)
		*m = Metric{Unit: r.Unit, Value: r.Value, Rate: true}
		return err
	}
	var d distributionJSON
	err := json.Unmarshal(b, &d)
	*m = Metric{d.Unit, d.Count, d.Mean, d.SD, d.P50, d.P90, d.P95, d.P99, d.P999, d.Max, Value{}, false}
	return err
}

// Stat returns the statistic called mean, sd, p50, p90, p95, p99, p999 or max,
// or value for a rate, and whether the metric's form has one of that name.
func (m *Metric) Stat(name string) (Value, bool) {
	if m.Rate {
		return m.Value, name == "value"
	}
	switch name {
	case "mean":
		return m.Mean, true
	case "sd":
		return m.SD, true
	case "p50":
		return m.P50, true
	case "p90":
		return m.P90, true
	case "p95":
		return m.P95, true
	case "p99":
		return m.P99, true
	case "p999":
		return m.P999, true
	case "max":
		return m.Max, true
	}
	return Value{}, false
}
