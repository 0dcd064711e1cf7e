package measure

import (
	"encoding/json"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestValueJSON(t *testing.T) {
	for want, v := range map[string]Value{
		`null`: {}, `0`: Some(0), `0.1`: Some(.1), `"inf"`: Some(math.Inf(1)), `"-inf"`: Some(math.Inf(-1)), `-3`: Some(-3),
	} {
		got, err := json.Marshal(v)
		if err != nil || string(got) != want {
			t.Errorf("%v: %s, %v, want %s", v, got, err, want)
		}
		var back Value
		if err := json.Unmarshal(got, &back); err != nil || back != v {
			t.Errorf("%s became %v, %v", got, back, err)
		}
	}
	if Some(math.NaN()).Valid() {
		t.Error("NaN is present")
	}
	for _, bad := range []string{`"fast"`, `true`, `{}`, `"NaN"`} {
		if err := new(Value).UnmarshalJSON([]byte(bad)); err == nil {
			t.Errorf("%s was taken", bad)
		}
	}
}

func TestMetricJSON(t *testing.T) {
	one := slice([]float64{1}, 1)
	_, adj := one.metrics("ms")
	for want, m := range map[string]Metric{
		`{"unit":"%","value":null}`:    {Unit: "%", Rate: true},
		`{"unit":"req/s","value":2.5}`: {Unit: "req/s", Rate: true, Value: Some(2.5)},
		`{"unit":"ms","count":0,"mean":null,"sd":null,"p50":null,"p90":null,"p95":null,"p99":null,"p999":null,"max":null}`:    {Unit: "ms"},
		`{"unit":"ms","count":2,"mean":"inf","sd":null,"p50":1,"p90":"inf","p95":"inf","p99":"inf","p999":"inf","max":"inf"}`: adj,
	} {
		got, err := json.Marshal(m)
		if err != nil || string(got) != want {
			t.Errorf("%s, %v, want %s", got, err, want)
		}
		var back Metric
		if err := json.Unmarshal(got, &back); err != nil || !cmp.Equal(back, m) {
			t.Errorf("%s became %+v, %v", got, back, err)
		}
	}
}
