package measure

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
)

// Value is a figure that may be absent or infinite. Its zero value is absent,
// so that what nobody computed is null and never zero. In JSON it is a number,
// null, or the string "inf".
type Value struct {
	v  float64
	ok bool
}

// Some returns the present value v; NaN is absent.
func Some(v float64) Value {
	if math.IsNaN(v) {
		return Value{}
	}
	return Value{v, true}
}

// Get returns the value and whether there is one.
func (v Value) Get() (float64, bool) { return v.v, v.ok }

// Valid tells whether there is a value.
func (v Value) Valid() bool { return v.ok }

// Or returns the value, or other where there is none.
func (v Value) Or(other float64) float64 {
	if v.ok {
		return v.v
	}
	return other
}

// Equal tells whether both are the same value or both absent.
func (v Value) Equal(w Value) bool { return v == w }

// String returns the shortest form that names the value exactly, "inf" or "-".
func (v Value) String() string {
	switch {
	case !v.ok:
		return "-"
	case math.IsInf(v.v, 1):
		return "inf"
	case math.IsInf(v.v, -1):
		return "-inf"
	}
	return strconv.FormatFloat(v.v, 'g', -1, 64)
}

// MarshalJSON writes a number, null, "inf" or "-inf".
func (v Value) MarshalJSON() ([]byte, error) {
	if !v.ok {
		return []byte("null"), nil
	}
	if math.IsInf(v.v, 0) {
		return []byte(`"` + v.String() + `"`), nil
	}
	return json.Marshal(v.v)
}

// UnmarshalJSON reads what MarshalJSON writes.
func (v *Value) UnmarshalJSON(b []byte) error {
	switch s := string(b); s {
	case "null":
		*v = Value{}
	case `"inf"`:
		*v = Some(math.Inf(1))
	case `"-inf"`:
		*v = Some(math.Inf(-1))
	default:
		f, err := strconv.ParseFloat(s, 64)
		if err != nil {
			return fmt.Errorf(`measure: expected a number, null or "inf", got %.40s`, s)
		}
		*v = Some(f)
	}
	return nil
}
