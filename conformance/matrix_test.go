package conformance_test

import (
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tokamak-bench/tokamak/conformance"
	"github.com/tokamak-bench/tokamak/engine/openai"
	"github.com/tokamak-bench/tokamak/sim/fault"
)

// deviations are what each engine does unlike OpenAI's API, faults aside: its
// face imitates that (docs/simulated-engine.md), so the battery has to say it.
func deviations() map[string][]string {
	return map[string][]string{
		"vllm":                 nil,
		"sglang":               {"ERROR-02 note", "ERROR-07 fail"},                                                      // any model's name; a flat error
		"tgi":                  {"STREAM-05 note", "STREAM-07 note", "ERROR-01 note", "ERROR-02 note", "ERROR-07 fail"}, // an empty id, the role in every chunk, 422, any model, {error, error_type}
		"llamacpp":             {"ERROR-02 note", "ERROR-07 note"},                                                      // any model, no param
		"ollama":               {"STREAM-07 note", "USAGE-02 note"},                                                     // the role and a usage of zeros in every chunk
		"vllm completions":     nil,
		"sglang completions":   {"ERROR-02 note", "ERROR-07 fail"},
		"tgi completions":      {"STREAM-05 note", "ERROR-01 note", "ERROR-02 note", "ERROR-07 fail"},
		"llamacpp completions": {"USAGE-02 note", "USAGE-03 note", "USAGE-06 fail", "ERROR-02 note", "ERROR-07 note"}, // the usage of each choice in its last chunk
		"ollama completions":   {"USAGE-02 note"},
	}
}

// named is by which rule each fault is named. The same holds on every face.
func named() map[string][]string {
	return map[string][]string{
		"usage_wrong":             {"USAGE-05 fail", "LIMIT-01 fail"},
		"usage_wrong:by=-3":       {"USAGE-05 fail", "USAGE-06 fail"},
		"usage_missing":           {"USAGE-01 fail"},
		"chunk_missing":           {"SAME-02 fail"},
		"chunk_missing:chunk=20":  {"SAME-02 fail"},
		"chunk_duplicate":         {"SAME-02 fail", "USAGE-06 fail"},
		"chunk_reorder":           {"SAME-02 fail"},
		"no_end":                  {"STREAM-03 fail"},
		"split_utf8":              {"TEXT-01 fail"},
		"error_after_200":         {"ANSWER-03 fail"},
		"cut":                     {"ANSWER-02 fail"},
		"ignore_max_tokens":       {"LIMIT-01 fail", "LIMIT-02 fail"},
		"ignore_stop":             {"LIMIT-04 fail"},
		"ignore_n":                {"LIMIT-05 fail"},
		"truncate_prompt":         {"USAGE-07 fail"},
		"unstable":                {"SAME-01 note"},
		"garbage":                 {"TEXT-03 fail", "CONC-03 fail"},
		"cache_poison":            {"SAME-02 fail"},
		"buffered":                {"STREAM-12 fail"},
		"refuse":                  {"ANSWER-01 fail", "ERROR-08 note"},
		"refuse:status=500":       {"ANSWER-01 fail"},
		"rate_limit":              {"ANSWER-01 note"},
		"rate_limit:hint=0":       {"ANSWER-01 note", "ERROR-08 note"},
		"loading":                 {"HTTP-01 fail"},
		"head_of_line":            {"ANSWER-01 fail"},
		"freeze:at=1s":            {"ANSWER-02 fail"},
		"nccl_stall:at=1s,for=5s": {"ANSWER-01 fail", "ANSWER-02 fail"},
		"crash:at=1s":             {"ANSWER-01 fail", "ANSWER-02 fail"},
		"leak:at=1s,rate=0.5":     {"ANSWER-01 fail"},
	}
}

// unseen are the faults that no answer shows, with why.
func unseen() map[string]string {
	return map[string]string{
		"frozen_metrics":     "is on the metrics page, which the battery does not read",
		"ttft_without_queue": "is on the metrics page, which the battery does not read",
		"false_hits":         "makes answers late, not wrong: cached tokens are the server's word, and what they saved is a matter of load",
		"preemption_storm":   "stretches gaps under load; the battery asks four questions at once at most",
		"neighbour":          "stretches gaps; how long they are is for a run to say",
	}
}

// findings are the rules that do not pass, with their verdicts.
func findings(r *conformance.Report) []string {
	var out []string
	for _, x := range r.Results {
		if x.Verdict == conformance.Fail || x.Verdict == conformance.Note {
			out = append(out, x.Rule+" "+string(x.Verdict))
		}
	}
	return out
}

const target = "sim://llama3-8b@a100-80g?engine="

func TestNoFalseAlarm(t *testing.T) {
	for name, want := range deviations() {
		face, of, _ := strings.Cut(name, " ")
		api := openai.APIChat
		if of != "" {
			api = openai.APICompletions
		}
		t.Run(name, func(t *testing.T) {
			for _, more := range []string{"", "&seed=2", "&seed=3&speculative_tokens=3", "&seed=4&dp=3&lora=other"} {
				o := asked{api: api}
				if strings.Contains(more, "lora") {
					o.model = "llama3-8b"
				}
				r := o.onSim(t, target+face+more)
				if d := cmp.Diff(want, findings(r)); d != "" || !r.Usable {
					t.Errorf("%s: findings (-want +got):\n%s%s", more, d, text(r))
				}
				if r.OutputTokens > conformance.MaxOutput {
					t.Errorf("%d output tokens, over the stated %d", r.OutputTokens, conformance.MaxOutput)
				}
			}
		})
	}
}

func TestEveryFaultIsNamed(t *testing.T) {
	known := map[string]bool{}
	for spec := range named() {
		name, _, _ := strings.Cut(spec, ":")
		known[name] = true
	}
	for _, d := range fault.Table() {
		if why := unseen()[d.Name]; known[d.Name] == (why != "") {
			t.Errorf("fault %s: named %v, unseen because it %q: want one of both", d.Name, known[d.Name], why)
		}
	}
	for _, face := range []string{"vllm", "sglang", "tgi", "llamacpp", "ollama"} {
		for spec, rules := range named() {
			t.Run(face+"/"+spec, func(t *testing.T) {
				r := asked{api: openai.APIChat}.onSim(t, target+face+"&fault="+url.QueryEscape(spec))
				got := findings(r)
				for _, want := range rules {
					if !slices.Contains(got, want) {
						t.Errorf("findings %v lack %s\n%s", got, want, text(r))
					}
				}
			})
		}
		for name := range unseen() {
			t.Run(face+"/"+name, func(t *testing.T) {
				r := asked{api: openai.APIChat}.onSim(t, target+face+"&fault="+name)
				if d := cmp.Diff(deviations()[face], findings(r)); d != "" {
					t.Errorf("findings (-without the fault +got):\n%s", d)
				}
			})
		}
	}
}

// An endpoint of another API answers nothing, and is said to be of no use.
func TestAnotherAPI(t *testing.T) {
	r := asked{api: openai.APIChat}.onSim(t, target+"triton")
	if r.Usable || r.Result("ANSWER-01").Verdict != conformance.Fail || r.Requests != 2 {
		t.Error(text(r))
	}
	if said := text(r); strings.Count(said, "\n") > 12 || !strings.Contains(said, "no answer to the first question") {
		t.Errorf("what can be said in a sentence takes:\n%s", said)
	}
}

func text(r *conformance.Report) string {
	var b strings.Builder
	_ = r.Text(&b)
	return b.String()
}
