package media

import (
	"bytes"
	"encoding/binary"
	"time"
)

// signature is how files of a format begin.
type signature struct {
	at     int
	bytes  string
	kind   Kind
	format string // as APIs name it
}

func signatures() []signature {
	return []signature{
		{0, "\xff\xd8\xff", Picture, JPEG},
		{0, "\x89PNG\r\n\x1a\n", Picture, PNG},
		{0, "GIF8", Picture, "gif"},
		{8, "WEBP", Picture, "webp"},
		{0, "BM", Picture, "bmp"},
		{0, "II*\x00", Picture, "tiff"},
		{0, "MM\x00*", Picture, "tiff"},
		{4, "ftypavif", Picture, "avif"},
		{4, "ftyphei", Picture, "heic"},
		{8, "WAVE", Sound, WAV},
		{0, "ID3", Sound, "mp3"},
		{0, "fLaC", Sound, "flac"},
		{0, "OggS", Sound, "ogg"},
		{4, "ftypM4A", Sound, "m4a"},
		{0, "\xff\xfb", Sound, "mp3"},
		{0, "\xff\xf3", Sound, "mp3"},
		{0, "\xff\xf2", Sound, "mp3"},
		{0, "\xff\xf1", Sound, "aac"},
		{4, "ftyp", Film, "mp4"},
		{0, "\x1a\x45\xdf\xa3", Film, "webm"},
		{8, "AVI ", Film, "avi"},
	}
}

// sniff tells what a file is by how it begins; no format: unknown.
func sniff(b []byte) (Kind, string) {
	for _, s := range signatures() {
		if len(b) >= s.at && bytes.HasPrefix(b[s.at:], []byte(s.bytes)) {
			return s.kind, s.format
		}
	}
	return 0, ""
}

// wavLength reads how long a WAV file is: its data over its bytes a second; 0
// where its head does not say.
func wavLength(b []byte) time.Duration {
	const head = 44
	if len(b) < head {
		return 0
	}
	rate := binary.LittleEndian.Uint32(b[28:])
	if rate == 0 {
		return 0
	}
	return time.Duration(float64(len(b)-head) / float64(rate) * float64(time.Second))
}
