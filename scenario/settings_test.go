package scenario

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// flagged returns flags with some set by their names: "images=-1 tools=2".
func flagged(t *testing.T, words ...string) Flags {
	t.Helper()
	var f Flags
	v := reflect.ValueOf(&f).Elem()
	for _, w := range words {
		name, text, _ := strings.Cut(w, "=")
		found := false
		for i := range v.NumField() {
			if v.Type().Field(i).Tag.Get("name") != name {
				continue
			}
			found = true
			switch v.Field(i).Interface().(type) {
			case *string:
				v.Field(i).Set(reflect.ValueOf(&text))
			case *bool:
				v.Field(i).Set(reflect.ValueOf(new(text == "true")))
			case []string:
				v.Field(i).Set(reflect.Append(v.Field(i), reflect.ValueOf(text)))
			}
		}
		if !found {
			t.Fatal("no flag", name)
		}
	}
	return f
}

// TestWithoutEffect: what a setting could not do is refused, and the message
// begins with the flag that is wrong; served and in virtual time alike.
func TestWithoutEffect(t *testing.T) {
	for _, c := range []struct{ flags, want string }{
		{"patience=-1s", "--patience: expected a patience above 0, such as 10s or exp:mean=20s, got \"-1s\""},
		{"patience=0s", "--patience: expected a patience above 0"},
		{"patience=0", "--patience: expected a patience above 0"},
		{"patience=uniform:-5s..9s", "--patience: expected a patience above 0"},
		{"patience=normal:mean=0s,sd=1s", "--patience: expected a patience above 0"},
		{"patience=5s@..0s", "--patience: expected a patience above 0"},
		{"images=-1", "--images: expected a number of images from 0 to 64, got \"-1\""},
		{"images=65", "--images: expected a number of images from 0 to 64"},
		{"images=uniform:-5..-1", "--images: expected a number of images from 0 to 64"},
		{"images=uniform:1..70", "--images: expected a number of images from 0 to 64"},
		{"images=1 image-bytes=30", "--image-bytes: expected at least "},
		{"audio=-1s", "--audio: expected sound of 0 to 1h"},
		{"audio=2h", "--audio: expected sound of 0 to 1h"},
		{"tools=1025", "--tools: expected a whole number of at most 1024"},
		{"tools=1 tool-tokens=100001", "--tool-tokens: expected a whole number of at most 100000"},
		{"input-tokens=10000001", "--input-tokens: expected at most 10,000,000 tokens"},
		{"output-tokens=uniform:1..1e8", "--output-tokens: expected at most 10,000,000 tokens"},
		{"prefix-tokens=10000001", "--prefix-tokens: expected a whole number of at most 10000000"},
		{"turns=10001", "--turns: expected at most 10,000 turns"},
		{"temperature=1e308", "--temperature: expected a number from 0 to 100"},
		{"concurrency=20 adapt=e2e.p95/50ms,floor=30", "--adapt: a floor of 30 leaves nothing to adapt of 20 users: expected more users, or a floor below their number"},
		{"concurrency=20 adapt=e2e.p95/50ms,floor=20", "--adapt: a floor of 20 leaves nothing"},
		{"concurrency=1 adapt=e2e.p95/50ms", "--adapt: a floor of 1 leaves nothing"},
		{"stages=users=2:1s,users=9:1s adapt=e2e.p95/50ms,floor=9", "--adapt: a floor of 9"},
		{"concurrency=2 think=-1s", "--think: expected a pause of 0 or more"},
		{"stages=rate=2:9s think=1s", "--think: think needs a stage of users"},
		{"stages=users=2:9s arrival=constant", "--arrival: arrival needs a stage with a rate"},
		{"read-rate=1e308", "--read-rate: expected tokens/s from 1e-06 to 1e+06"},
		{"duration=10s warmup=10s", "--warmup: warmup leaves nothing: expected less than the duration, 10s"},
		{"requests=10 warmup=10req", "--warmup: warmup leaves nothing: expected fewer than the 10 requests"},
		{"warmup=0s", "--warmup: expected a duration above 0"},
		{"drain=100000h", "--drain: expected a duration of at most ten years"},
		{"timeout=100000h", "--timeout: expected a duration of at most ten years"},
		{"retries=1001", "--retries: expected a whole number of at most 1000"},
		{"retries=0 backoff=1s", "--backoff: backoff needs retries above 0"},
		{"retries=0 retry-on=timeout", "--retry-on: retry-on needs retries above 0"},
		{"gpus=1048577", "--gpus: expected a whole number of at most 1048576"},
		{"against=sim:// pairs=1001", "--pairs: expected a whole number of at most 1000"},
		{"dataset=settings_test.go speed=1e308", "--speed: expected a factor from 1e-06 to 1e+06"},
		{"dataset=settings_test.go repeat=true", "--repeat: repeat needs duration or requests"},
		{"dataset=settings_test.go tool-tokens=80", "--tool-tokens: tool-tokens"},
		{"text=markov:nowhere", "--text: expected one of"},
		{"tokenizer=nowhere.json", "--tokenizer: expected a file that can be read"},
	} {
		for _, virtual := range []string{"virtual=false", "virtual=true"} {
			words := append(strings.Fields(c.flags), "url=sim://", virtual)
			_, err := resolve("", nil, flagged(t, words...), fake())
			if err == nil || !strings.HasPrefix(err.Error(), c.want) {
				t.Errorf("%v: %v\nwant %s", words, err, c.want)
			}
		}
	}
}

// TestWithoutEffectInAFile: the same with file, line and column.
func TestWithoutEffectInAFile(t *testing.T) {
	for yaml, want := range map[string]string{
		"workload: {patience: -1s}":                                                            "s.yaml:1:22: expected a patience above 0",
		"workload: {images: -1}":                                                               "s.yaml:1:20: expected a number of images",
		"load:\n  concurrency: 20\n  adapt: e2e.p95/50ms,floor=30":                             "s.yaml:3:10: a floor of 30",
		"workload:\n  classes:\n    - {think: 1s}":                                             "s.yaml:3:15: think needs turns",
		"workload:\n  classes:\n    - {prefixes: 3}":                                           "s.yaml:3:18: prefixes needs prefix-tokens",
		"workload:\n  classes:\n    - {prefix-tokens: 0, prefixes: 3}":                         "s.yaml:3:36: prefixes needs prefix-tokens above 0",
		"workload:\n  dataset: settings_test.go\n  classes:\n    - {input-tokens: 3}":          "s.yaml:4:8: input-tokens does not go with dataset",
		"workload:\n  dataset: settings_test.go\n  classes:\n    - {name: a}\n    - {name: b}": "s.yaml:5:8: expected one class beside dataset",
		"workload:\n  images: 1\n  classes:\n    - {image-bytes: 30}":                          "s.yaml:4:21: expected at least",
		"target: {url: 'sim://llama3-8b@a100-80g', virtual: true, model: gpt-9}":               "s.yaml:1:65: expected the model of the simulated engine",
	} {
		_, err := resolve("s.yaml", []byte(yaml), Flags{}, fake())
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: %v\nwant %s", yaml, err, want)
		}
	}
}

// TestStatedWithoutEffect: what can be meant for other targets is said, not refused.
func TestStatedWithoutEffect(t *testing.T) {
	for flags, want := range map[string]string{
		"timeout=5s timeout-stall=10s":          "timeout-stall never strikes: the limit on a whole request, 5s, comes first",
		"timeout=5s":                            "",
		"concurrency=4 max-in-flight=5":         "max-in-flight is never reached: there are 4 users",
		"rate=4 read-rate=5":                    "read-rate has nothing to hold back",
		"rate=4 read-rate=5 turns=2":            "",
		"concurrency=4 max-in-flight=4":         "",
		"virtual=true temperature=1 header=A:b": "virtual time has no connections, bodies and texts: header, temperature are checked and not used",
		"insecure=true":                         "no target is reached by https: insecure is not used",
		"insecure=true ca=settings_test.go":     "no target is reached by https: ca, insecure are not used",
		"insecure=true proxy=https://p:1":       "",
		"insecure=true against=https://b":       "",
		"virtual=true text=chat":                "virtual time has no connections, bodies and texts: text is checked and not used",
	} {
		s, err := resolve("", nil, flagged(t, append(strings.Fields(flags), "url=sim://")...), fake())
		if err != nil {
			t.Errorf("%s: %v", flags, err)
			continue
		}
		notices := strings.Join(s.Notices, "\n")
		if want == "" && (strings.Contains(notices, "never") || strings.Contains(notices, "nothing to hold") || strings.Contains(notices, "by https")) || !strings.Contains(notices, want) {
			t.Errorf("%s: %s\nwant %s", flags, notices, want)
		}
	}
}

// TestReasoningSwitch: which field asks for reasoning is told, and where
// nothing is told that is said.
func TestReasoningSwitch(t *testing.T) {
	model := func(reasoning string) string {
		name := filepath.Join(t.TempDir(), "t.yaml")
		text := "schema: tokamak.traffic/1\nduration: 10s\nclients:\n  - name: a\n    rate: 2\n    lengths: {input-tokens: 50, output-tokens: 40}\n" + reasoning
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return name
	}
	with, without := model("    reasoning: 0.5\n"), model("")
	for _, c := range []struct {
		words []string
		want  string
	}{
		{[]string{"traffic=" + with, "reasoning=thinking"}, "--reasoning: expected enable_thinking, or reasoning_effort=ON/OFF such as reasoning_effort=high/low, got \"thinking\""},
		{[]string{"traffic=" + without, "reasoning=enable_thinking"}, "--reasoning: reasoning needs a share of it in the traffic model: " + without + " has none"},
		{[]string{"traffic=" + without, "image-size=9x9"}, "--image-size: image-size needs images in the traffic model"},
		{[]string{"traffic=" + without, "tool-tokens=90"}, "--tool-tokens: tool-tokens does not go with traffic"},
		{[]string{"traffic=" + without, "patience=-1s"}, "--patience: expected a patience above 0"},
		{[]string{"concurrency=4", "no-stream=true", "adapt=tpot.p95/5ms"}, "--adapt: adapt by tpot never acts with no-stream"},
		{[]string{"reasoning=enable_thinking"}, "--reasoning: reasoning needs traffic"},
		{[]string{"traffic=" + with, "reasoning=enable_thinking", "api=openai-completions"}, "--reasoning: reasoning does not go with openai-completions"},
		{[]string{"traffic=" + with, "reasoning=enable_thinking", `body={"chat_template_kwargs":{}}`}, "--reasoning: reasoning and body both set chat_template_kwargs"},
		{[]string{"traffic=" + with, "reasoning=reasoning_effort=high/low"}, ""},
	} {
		s, err := resolve("", nil, flagged(t, append(c.words, "url=sim://")...), fake())
		switch {
		case c.want == "":
			if err != nil || s.Workload.Reasoning.String() != "reasoning_effort=high/low" {
				t.Error(s, err)
			}
		case err == nil || !strings.HasPrefix(err.Error(), c.want):
			t.Errorf("%v: %v\nwant %s", c.words, err, c.want)
		}
	}
	s, err := resolve("", nil, flagged(t, "traffic="+with, "url=sim://"), fake())
	if err != nil || !strings.Contains(strings.Join(s.Notices, "\n"), "the share of reasoning in "+with+" is not sent") {
		t.Error(s, err)
	}
	// By hand: two turns of 50 and answers of 40, half of them reasoning, are a
	// second prompt of 140, and of 120 where reasoning is asked for.
	chat := model("    reasoning: 0.5\n    sessions: {turns: 2}\n")
	for longest, words := range map[int64][]string{140: nil, 120: {"reasoning=enable_thinking"}} {
		s, err := resolve("", nil, flagged(t, append(words, "traffic="+chat, "url=sim://")...), fake())
		if err != nil {
			t.Fatal(err)
		}
		if f, ok := s.Forecast(); !ok || f.LongestInput != longest {
			t.Errorf("%v: %+v, want prompts of up to %d", words, f, longest)
		}
	}
}
