package openai

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/tokamak-bench/tokamak/sim/face"
	"github.com/tokamak-bench/tokamak/token"
	"github.com/tokamak-bench/tokamak/workload/media"
)

// A second is 25 tokens, and a part of a token is one.
func TestAudioTokens(t *testing.T) {
	for d, want := range map[time.Duration]int{time.Second: 25, time.Millisecond: 1, 41 * time.Millisecond: 2, 0: 1, 100 * time.Hour: mostAudio} {
		if got := AudioTokens(d); got != want {
			t.Errorf("%v: %d, want %d", d, got, want)
		}
	}
}

func TestPromptOfMedia(t *testing.T) {
	sound, err := (&media.Audio{ID: 1, Duration: 1600 * time.Millisecond}).Encode()
	if err != nil {
		t.Fatal(err)
	}
	picture, err := (&media.Image{ID: 1, Format: media.JPEG, Width: 280, Height: 57}).Encode()
	if err != nil {
		t.Fatal(err)
	}
	wav, jpeg := base64.StdEncoding.EncodeToString(sound), base64.StdEncoding.EncodeToString(picture)
	l := face.NewLanguage(token.Builtin())
	for parts, want := range map[string]int{
		`{"type":"input_audio","input_audio":{"data":"` + wav + `","format":"wav"}}`:                                          40,  // 1.6 s, without the head
		`{"type":"input_audio","input_audio":{"data":"` + wav + `","format":"mp3"}}`:                                          750, // not read
		`{"type":"input_audio","input_audio":{"data":"AAAA","format":"wav"}}`:                                                 750,
		`{"type":"image_url","image_url":{"url":"data:image/jpeg;base64,` + jpeg + `"}},{"type":"text","text":"hello world"}`: 10*3 + 2,
		`{"type":"input_audio","input_audio":{"format":"wav"}}`:                                                               -1,
		`{"type":"input_audio"}`: -1,
	} {
		var m Message
		if err := json.Unmarshal(fmt.Appendf(nil, `{"role":"user","content":[%s]}`, parts), &m); err != nil {
			t.Fatal(err)
		}
		ids, problem := ChatPrompt([]Message{m}, l)
		if problem != nil != (want < 0) || problem == nil && len(ids) != want {
			t.Errorf("%.80s: %d tokens, want %d (%+v)", parts, len(ids), want, problem)
		}
	}
}
