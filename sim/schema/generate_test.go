package schema_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/tokamak-bench/tokamak/sim/schema"
)

// follows says why a value breaks its schema.
func follows(t *testing.T, raw, value string) error {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(raw))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	if err := c.AddResource("schema.json", doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("schema.json")
	if err != nil {
		t.Fatal(err)
	}
	v, err := jsonschema.UnmarshalJSON(strings.NewReader(value))
	if err != nil {
		return err
	}
	return s.Validate(v)
}

func schemas() []string {
	return []string{
		`{"type":"object","properties":{"city":{"type":"string"},"unit":{"enum":["c","f"]},"days":{"type":"integer","minimum":1,"maximum":7}},"required":["city"],"additionalProperties":false}`,
		`{"type":"array","items":{"type":"number","exclusiveMinimum":0,"multipleOf":0.25},"minItems":3,"maxItems":5}`,
		`{"type":"array","items":{"enum":[1,2,3]},"minItems":3,"uniqueItems":true}`,
		`{"type":"string","minLength":40,"maxLength":50}`, `{"type":"string","maxLength":3}`,
		`{"type":"string","pattern":"^[A-Z]{2}-\\d{4}(x|y)?$"}`, `{"type":"string","pattern":"^\\w+@\\w+\\.com$","minLength":12}`,
		`{"type":"string","format":"date-time"}`, `{"type":"string","format":"uuid"}`, `{"type":"string","format":"email"}`, `{"type":"string","format":"ipv6"}`,
		`{"type":["integer","null"],"maximum":-5}`, `{"const":{"a":[1,"<é>"]}}`, `{"type":"boolean"}`, `true`, `{}`,
		`{"anyOf":[{"type":"integer"},{"type":"string"}]}`, `{"type":"number","minimum":0.001,"maximum":0.002}`, `{"type":"integer","exclusiveMinimum":1,"exclusiveMaximum":3}`,
		`{"allOf":[{"type":"object","properties":{"a":{"type":"integer"}},"required":["a"]},{"properties":{"b":{"type":"null"}},"required":["b"]}]}`,
		`{"$ref":"#/$defs/node","$defs":{"node":{"type":"object","properties":{"value":{"type":"integer"},"next":{"anyOf":[{"$ref":"#/$defs/node"},{"type":"null"}]}},"required":["value","next"]}}}`,
		`{"type":"object","properties":{"kids":{"type":"array","items":{"$ref":"#"}}}}`,
		`{"type":"array","prefixItems":[{"type":"integer"},{"type":"string"}],"items":false,"maxItems":2}`,
	}
}

// Every value follows its schema and is the same for the same seed.
func TestGenerateFollows(t *testing.T) {
	for _, raw := range schemas() {
		for seed := range uint64(100) {
			v, err := schema.Generate([]byte(raw), seed)
			if err != nil {
				t.Errorf("%s: %v", raw, err)
				break
			}
			if err := follows(t, raw, string(v)); err != nil {
				t.Errorf("%s\n%s: %v", raw, v, err)
				break
			}
			if again, err := schema.Generate([]byte(raw), seed); err != nil || !bytes.Equal(v, again) {
				t.Fatalf("%s, then %s, %v", v, again, err)
			}
		}
	}
}

func TestGenerateRefuses(t *testing.T) {
	for raw, want := range map[string]string{
		`3`: "not one", `{"$ref":"#/$defs/x"}`: "nowhere", `{"$ref":"http://x"}`: "out of the schema", `{"type":"object","required":["a"],"properties":{"a":{"$ref":"#"}}}`: "deep",
		`{"$ref":"#"}`: "round", `{"type":"integer","minimum":2,"maximum":1}`: "no number", `{"type":"thing"}`: "unknown type", `{"type":"string","pattern":"("}`: "pattern",
		`{"type":"array","items":{"enum":[1]},"minItems":2,"uniqueItems":true}`: "different", `{"type":"array","minItems":9999}`: "more than", `{"type":"string","minLength":99999}`: "minLength",
	} {
		if v, err := schema.Generate([]byte(raw), 1); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %s, %v, want %q", raw, v, err, want)
		}
	}
}

func FuzzGenerate(f *testing.F) {
	for _, s := range schemas() {
		f.Add([]byte(s), uint64(1))
	}
	f.Fuzz(func(t *testing.T, raw []byte, seed uint64) {
		v, err := schema.Generate(raw, seed)
		if err == nil && len(v) == 0 {
			t.Errorf("%s: nothing", raw)
		}
	})
}
