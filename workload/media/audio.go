package media

import (
	"encoding/binary"
	"fmt"
	"time"

	"github.com/tokamak-bench/tokamak/stat"
)

// WAV is the format of sound.
const WAV = "wav"

// Rate is the sampling rate of sound in Hz, of one channel with 16 bits: what
// speech models take.
const Rate = 16_000

// MaxAudio bounds the length of sound.
const MaxAudio = time.Hour

// Audio is sound: tones with pauses, as much like speech as a microphone
// test. Sounds of different ID differ in every syllable.
type Audio struct {
	ID       uint64
	Duration time.Duration
}

// Encode returns the sound as a WAV file: 44 bytes and 32,000 for each second.
func (a *Audio) Encode() ([]byte, error) {
	if a.Duration <= 0 || a.Duration > MaxAudio {
		return nil, fmt.Errorf("expected sound of up to %v, found %v", MaxAudio, a.Duration)
	}
	n := int(a.Duration * Rate / time.Second)
	le := binary.LittleEndian
	b := append(make([]byte, 0, 44+2*n), "RIFF"...)
	b = le.AppendUint32(b, uint32(36+2*n))
	b = le.AppendUint32(append(b, "WAVEfmt "...), 16)
	b = le.AppendUint16(le.AppendUint16(b, 1), 1)
	b = le.AppendUint32(le.AppendUint32(b, Rate), 2*Rate)
	b = le.AppendUint16(le.AppendUint16(b, 2), 16)
	b = le.AppendUint32(append(b, "data"...), uint32(2*n))
	r := stat.Random(0, "audio", a.ID)
	var phase, step uint32
	left, silent := 0, false
	for range n {
		if left == 0 { // a syllable of 60 to 310 ms, a pause now and then
			left, silent = Rate*(60+r.IntN(250))/1000, r.IntN(4) == 0
			step = uint32(float64(1<<32) / Rate * float64(90+r.IntN(200)))
		}
		left--
		phase += step
		v := int32(phase>>16) - 1<<15 // a saw: all harmonics, as a voice has
		if silent {
			v = 0
		}
		v = v/4 + int32(r.Uint32()>>22) - 512
		b = le.AppendUint16(b, uint16(int16(v)))
	}
	return b, nil
}
