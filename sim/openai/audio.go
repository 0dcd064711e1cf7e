package openai

import (
	"encoding/base64"
	"encoding/binary"
	"time"
)

// Sound costs a token for each 40 ms, as in the Qwen-Audio family: Whisper's
// frames of 20 ms, two at a time. UnknownAudio is the cost of half a minute,
// where its length cannot be read, as of what is no WAV file.
const (
	audioToken   = 40 * time.Millisecond
	UnknownAudio = 750
	mostAudio    = 1 << 17 // an hour and a half
)

// audio is a part's {"data": base64, "format": "wav"}.
type audio struct {
	Data   string `json:"data"`
	Format string `json:"format"`
}

// appendAudio appends the tokens of sound, which follow from its bytes.
func appendAudio(ids []uint32, a *audio) []uint32 { return appendMedia(ids, a.Data, a.tokens()) }

// tokens reads how long a WAV file is from its head: 44 bytes, of which 28 to
// 31 are the bytes a second.
func (a *audio) tokens() int {
	const head = 44
	b, err := base64.StdEncoding.DecodeString(a.Data)
	if err != nil || a.Format != "wav" || len(b) < head || string(b[:4]) != "RIFF" || string(b[8:12]) != "WAVE" {
		return UnknownAudio
	}
	rate := binary.LittleEndian.Uint32(b[28:])
	if rate == 0 {
		return UnknownAudio
	}
	return AudioTokens(time.Duration(float64(len(b)-head) / float64(rate) * float64(time.Second)))
}

// AudioTokens is what sound of a length costs.
func AudioTokens(d time.Duration) int {
	return int(min(max((d+audioToken-1)/audioToken, 1), mostAudio))
}
