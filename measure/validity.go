package measure

// Trust says how far the client shaped a figure.
type Trust string

// The degrees of trust.
const (
	Valid    Trust = "valid"
	Degraded Trust = "degraded" // a little: Bound says how much
	Invalid  Trust = "invalid"  // the client was the limit
)

// Validity is the judgement on a metric, as the worst of its statistics p50 to
// p99.
type Validity struct {
	Trust  Trust            `json:"trust"`
	Bound  Value            `json:"bound"` // by how much the client may have moved it, in the metric's unit
	Reason string           `json:"reason,omitempty"`
	ByStat map[string]Trust `json:"by_stat,omitempty"` // those that are not valid
}

// Validity judges every metric.
func (v *View) Validity() map[string]Validity { return nil }
