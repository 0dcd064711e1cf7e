package acceptance

import "testing"

// TestMediaServedAndVirtual: images, sound and tools arrive at an engine, which
// counts them as it does in virtual time, and each row says what was asked.
func TestMediaServedAndVirtual(t *testing.T) {
	args := []string{"--images", "2", "--image-size", "280x140", "--image-bytes", "20000", "--audio", "2s", "--tools", "2", "--tool-tokens", "90",
		"--input-tokens", "50", "--output-tokens", "4", "--concurrency", "1", "--requests", "6", "--slo", "error_rate<1%", "--inconclusive-ok",
		"--url", "sim://llama3-8b@h100", "--body", `{"tool_choice":"none"}`}
	served, virtual := run(t, args...), run(t, append(args, "--virtual")...)
	virtual.wantExit(t, 0)
	const text, images, sound = 50, 2 * 10 * 5, 50
	for _, o := range []outcome{served, virtual} {
		rows := attempts(t, o.dir)
		if len(rows) != 6 {
			t.Fatalf("%d rows\n%s", len(rows), o.stderr)
		}
		for _, a := range rows {
			if got := a.PromptUsage.Or(-1); got != text+images+sound {
				t.Errorf("%d prompt tokens, want %d: %s", got, text+images+sound, a.ErrorText)
			}
			if a.Media.Images.Or(0) != 2 || a.Media.Audio.Or(0) != 2e9 || a.Media.Tools.Or(0) != 2 || a.PromptAsked.Or(0) != text {
				t.Errorf("%+v, %d tokens asked", a.Media, a.PromptAsked.Or(0))
			}
		}
	}
	for _, a := range attempts(t, served.dir) {
		if n := a.ToolsCounted.Or(0); n < 170 || n > 190 || a.Media.Bytes.Or(0) != 2*20_000+44+64_000 || a.PromptCounted.Or(0) != text {
			t.Errorf("%d tokens of tools, %d bytes, %d counted", n, a.Media.Bytes.Or(0), a.PromptCounted.Or(0))
		}
	}
}
