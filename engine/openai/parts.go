package openai

import (
	"encoding/base64"

	"github.com/tokamak-bench/tokamak/engine"
)

// appendContent writes a message's content: a string, or where there are media
// a list of parts, the text first.
func appendContent(b []byte, m *engine.Message) []byte {
	if len(m.Media) == 0 {
		return appendString(b, m.Content)
	}
	b = append(b, '[')
	if m.Content != "" {
		b = append(appendString(append(b, `{"type":"text","text":`...), m.Content), '}', ',')
	}
	for i := range m.Media {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendMedia(b, &m.Media[i])
	}
	return append(b, ']')
}

// appendMedia writes an image or video as a data: URL, sound as it is, and what
// is elsewhere as its URL.
func appendMedia(b []byte, f *engine.Media) []byte {
	kind := [...]string{engine.Image: "image", engine.Audio: "audio", engine.Video: "video"}[f.Kind]
	if f.URL != "" {
		b = append(append(append(append(append(b, `{"type":"`...), kind...), `_url","`...), kind...), `_url":{"url":`...)
		return append(appendString(b, f.URL), '}', '}')
	}
	if f.Kind == engine.Audio {
		b = append(b, `{"type":"input_audio","input_audio":{"data":"`...)
		b = base64.StdEncoding.AppendEncode(b, f.Data)
		return append(appendString(append(b, `","format":`...), f.Format), '}', '}')
	}
	b = append(append(append(append(append(b, `{"type":"`...), kind...), `_url","`...), kind...), `_url":{"url":"data:`...)
	b = append(append(append(append(b, kind...), '/'), f.Format...), ";base64,"...)
	return append(base64.StdEncoding.AppendEncode(b, f.Data), `"}}`...)
}

func mediaSize(list []engine.Media) int {
	n := 0
	for i := range list {
		n += base64.StdEncoding.EncodedLen(len(list[i].Data)) + len(list[i].URL) + 80
	}
	return n
}

// hasMedia tells whether a call holds what only a chat can.
func hasMedia(c *engine.Call) bool {
	for i := range c.Messages {
		if len(c.Messages[i].Media) > 0 {
			return true
		}
	}
	return len(c.Tools) > 0
}
