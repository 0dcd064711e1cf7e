package rivals

import (
	"bytes"
	"strings"
	"testing"
)

func TestFaultMixHasItsKinds(t *testing.T) {
	var whole, closed, resets, refusals int
	plans := faulty(dialects[0])
	for _, p := range plans {
		last := p.Steps[len(p.Steps)-1].Bytes
		switch {
		case p.Whole:
			whole++
			if !strings.Contains(last, "[DONE]") {
				t.Error("a fine stream without its terminator")
			}
		case p.End == closing:
			closed++
		case p.End == resetting:
			resets++
		case strings.HasPrefix(last, "HTTP/1.1 429"):
			refusals++
		}
	}
	if len(plans) != 200 || whole != 76 || closed != 39 || resets != 1 || refusals != 55 {
		t.Errorf("%d plans: %d fine, %d cut, %d reset, %d refused", len(plans), whole, closed, resets, refusals)
	}
}

func TestScriptOfASteadyStream(t *testing.T) {
	var b bytes.Buffer
	if err := write(&b, steady(3)); err != nil {
		t.Fatal(err)
	}
	s := b.String()
	if n := strings.Count(s, "plan /v1/chat/completions\n"); n != 16 {
		t.Errorf("%d plans, want 16", n)
	}
	// The first of the 16 phases: head and role, then events at 50, 70 and 90 ms, the last step with usage and terminator.
	for _, want := range []string{"step 50000 0 ", "step 50000 1 ", "step 70000 1 ", "step 90000 1 ", "step 90000 0 ", `"completion_tokens":3`, "data: [DONE]\n\n"} {
		if !strings.Contains(s, want) {
			t.Errorf("the script lacks %q", want)
		}
	}
}

func TestTruthByHand(t *testing.T) {
	// Requests at 0, 25 and 50 ms: 40 a second, evenly. 3 events within 0.1 s: 30 a second.
	tr := truth{Requests: []int64{0, 25e6, 50e6}, Events: 3, Last: 100e6}
	if rate, cv := tr.pace(); rate != 40 || cv != 0 {
		t.Errorf("pace %v/s, CV %v", rate, cv)
	}
	if r := tr.tokenRate(); r != 30 {
		t.Errorf("%v tokens/s", r)
	}
	// Gaps of 10 and 30 ms: mean 20, sd 10, CV 0.5.
	if _, cv := (&truth{Requests: []int64{0, 10e6, 40e6}}).pace(); cv < 0.4999 || cv > 0.5001 {
		t.Errorf("CV %v, want 0.5", cv)
	}
}

func TestWhatWasTakenForASuccess(t *testing.T) {
	for ok, want := range map[float64]string{76: "fine", 144: "fine, error event, cut, no terminator", 127: "fine, cut, no terminator", 100: "does not add up"} {
		if got := taken(&ok); got != want {
			t.Errorf("%v: %q, want %q", ok, got, want)
		}
	}
}

func TestTimeForAnEventIsLessStartUp(t *testing.T) {
	// 5 s for 10,128 events, of which 1 s for 128: 400 µs each.
	if got := perEvent(outcome{CPUSeconds: 5, Events: 10128}, outcome{CPUSeconds: 1, Events: 128}); got != "400" {
		t.Error(got)
	}
}
