package conformance

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"pgregory.net/rapid"
)

// TestAgainstIsTheSchema holds the battery's own check against a library that
// reads the schema.
func TestAgainstIsTheSchema(t *testing.T) {
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(place))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("place.json", doc); err != nil {
		t.Fatal(err)
	}
	schema, err := c.Compile("place.json")
	if err != nil {
		t.Fatal(err)
	}
	library := func(text string) string {
		v, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
		switch {
		case err != nil:
			return "no JSON"
		case schema.Validate(v) != nil:
			return "not what the schema says"
		}
		return ""
	}
	for _, text := range []string{"", "{", `null`, `[]`, `3`, `{}`, `{"city":"Paris","days":3}`, `{"city":"Paris","days":3.0}`, `{"city":"Paris","days":3.5}`,
		`{"city":"Paris","days":0}`, `{"city":"Paris","days":9}`, `{"city":"Paris","days":10}`, `{"city":"Paris","days":"3"}`, `{"city":1,"days":3}`,
		`{"city":"Paris"}`, `{"days":3}`, `{"city":"Paris","days":3,"more":1}`, `{"city":"Llanfairpwll","days":1}`, `{"city":"Llanfairpwllg","days":1}`,
		`{"city":"Zürichzürich","days":1}`, `{"city":"","days":1}`, `{"city":"Paris","days":3} `, `{"city":"Paris","days":3} x`, `{"city":"a","city":"b","days":3}`} {
		if got, want := against(text), library(text); got != want {
			t.Errorf("%s: %q, the schema says %q", text, got, want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		v := map[string]any{}
		some := rapid.OneOf(rapid.Just[any](nil), rapid.Map(rapid.StringN(0, 14, -1), func(s string) any { return s }),
			rapid.Map(rapid.IntRange(-1, 11), func(n int) any { return n }), rapid.Just[any](2.5), rapid.Just[any](true))
		for _, k := range []string{"city", "days", "more"} {
			if rapid.IntRange(0, 5).Draw(t, k) > 0 != (k == "more") {
				v[k] = some.Draw(t, k)
			}
		}
		b, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		if got, want := against(string(b)), library(string(b)); got != want {
			t.Fatalf("%s: %q, the schema says %q", b, got, want)
		}
	})
}
