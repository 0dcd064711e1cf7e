package media

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"hash/fnv"
	"image"
	_ "image/gif" // the formats whose size is read
	"net/url"
	"strings"
	"time"
)

// Reference is an image, sound or video as a log or dataset names it: a data:
// URL, a URL elsewhere, a file, or the content itself in base64.
type Reference struct {
	Kind Kind
	Text string
	// Bare says that Text is the content in base64 where it is no URL: the
	// data of an input_audio. Else what is no URL is a file.
	Bare bool
}

// Recorded is an image, sound or video that a log or dataset holds, or a URL
// of one. It keeps no content but what its reference does.
type Recorded struct {
	Kind   Kind
	Format string // by its content; empty where that is elsewhere
	// URL is where a server is to fetch it; empty: its content is known.
	URL string
	// Lost says that the log cut the content out of itself.
	Lost bool
	// Bytes is the content's length.
	Bytes int64
	// Width and Height are an image's pixels, Duration a WAV file's length; 0
	// where they were not read.
	Width, Height int
	Duration      time.Duration
	// Text is how long the reference is, and File whether it names a file.
	Text int
	File bool

	id     uint64 // of the content or URL
	data   string // base64
	name   string // of the file in folder
	folder *Folder
}

// Find looks at a reference: whether its content is there, and is what it is
// said to be. Nothing is fetched. What is wrong is an error that completes
// "expected …, found"; it repeats nothing of the reference.
func (f *Folder) Find(ref Reference) (Recorded, error) {
	r := Recorded{Kind: ref.Kind, Text: len(ref.Text), folder: f}
	text := ref.Text
	switch scheme := scheme(text); {
	case text == "":
		return r, errors.New("nothing")
	case scheme == "http" || scheme == "https":
		if u, err := url.Parse(text); err != nil || u.Host == "" {
			return r, errors.New("a URL that cannot be read")
		}
		r.URL, r.id = text, identity([]byte(text))
		return r, nil
	case scheme == "data":
		head, data, ok := strings.Cut(text, ",")
		if !ok || !strings.HasSuffix(head, ";base64") {
			return r, errors.New("a data: URL without base64")
		}
		r.data = data
	case scheme == "" && text[0] == '[': // a remark such as [image removed]
		r.Lost = true
		return r, nil
	case scheme == "file" || scheme == "" && r.isFile(ref):
		return r, r.lookAt(text)
	case scheme == "":
		if r.data == "" {
			r.data = text
		}
	default:
		return r, errors.New("a URL of another scheme: expected http, https, data or file")
	}
	if cut(r.data) {
		r.Lost, r.data = true, ""
		return r, nil
	}
	b, err := decode64(r.data)
	if err != nil {
		return r, errors.New("what is no base64")
	}
	return r, r.look(b)
}

// scheme is that of a URL, in small letters; empty where a text is none.
func scheme(text string) string {
	for i := range min(len(text), 12) {
		switch c := text[i] | 0x20; {
		case text[i] == ':' && i > 1: // a single letter is a drive
			return strings.ToLower(text[:i])
		case c < 'a' || c > 'z':
			return ""
		}
	}
	return ""
}

// isFile tells whether what is no URL names a file. In place of a bare base64
// it has a dot, which base64 has not.
func (r *Recorded) isFile(ref Reference) bool {
	if ref.Bare {
		return len(ref.Text) <= longestPath && strings.Contains(ref.Text, ".") && !cut(ref.Text)
	}
	return !r.packed(ref.Text)
}

// longestPath is from how many bytes on a text is no file's name.
const longestPath = 1024

// packed takes what is neither a URL nor a file: "wav,BASE64", as AIPerf has
// sound, and base64 alone where it is too long for a file's name.
func (r *Recorded) packed(text string) bool {
	if format, data, ok := strings.Cut(text, ","); ok && r.Kind == Sound && len(format) <= 5 {
		r.data = data
		return true
	}
	return len(text) > longestPath
}

// cut tells whether a log put a remark in place of the content, as LiteLLM
// does.
func cut(data string) bool {
	return strings.HasPrefix(data, "[") || len(data) < 256 && strings.Contains(strings.ToLower(data), "truncated")
}

func decode64(text string) ([]byte, error) {
	if b, err := base64.StdEncoding.DecodeString(text); err == nil {
		return b, nil
	}
	return base64.RawStdEncoding.DecodeString(strings.TrimRight(text, "="))
}

// lookAt looks at a file.
func (r *Recorded) lookAt(ref string) (err error) {
	r.File = true
	if r.name, err = r.folder.inside(ref); err != nil {
		return err
	}
	b, err := r.folder.read(r.name)
	if err != nil {
		return err
	}
	return r.look(b)
}

// look finds out what a content is.
func (r *Recorded) look(b []byte) error {
	if len(b) > MaxBytes {
		return fmt.Errorf("%d bytes: expected at most %d", len(b), int64(MaxBytes))
	}
	r.Bytes, r.id = int64(len(b)), identity(b)
	kind, format := sniff(b)
	if format == "" {
		return fmt.Errorf("%d bytes of no known format", len(b))
	}
	if kind == Sound && r.Kind == Film || kind == Film && r.Kind == Sound {
		kind = r.Kind // containers hold either
	}
	if kind != r.Kind {
		return fmt.Errorf("%s, which is %s", format, kind)
	}
	r.Format = format
	switch {
	case r.Kind == Picture:
		if c, _, err := image.DecodeConfig(bytes.NewReader(b)); err == nil {
			r.Width, r.Height = c.Width, c.Height
		} else if format == JPEG || format == PNG || format == "gif" {
			return fmt.Errorf("a damaged %s file", format)
		}
	case format == WAV:
		r.Duration = wavLength(b)
	}
	return nil
}

// ID names the content, or the URL: equal ones have equal IDs.
func (r *Recorded) ID() uint64 { return r.id }

func identity(b []byte) uint64 {
	h := fnv.New64a()
	_, _ = h.Write(b)
	return h.Sum64()
}

// Load returns the content, or the URL of one that is elsewhere. A file that
// has changed since it was found is an error.
func (r *Recorded) Load() (File, error) {
	if r.URL != "" {
		return File{Kind: r.Kind, URL: r.URL}, nil
	}
	var b []byte
	var err error
	if r.name != "" {
		if b, err = r.folder.read(r.name); err == nil && int64(len(b)) != r.Bytes {
			err = errors.New("a file that has changed since the run began")
		}
	} else {
		b, err = decode64(r.data)
	}
	if err != nil {
		return File{}, fmt.Errorf("dataset: expected %s, found %w", r.Kind, err)
	}
	return File{Kind: r.Kind, Format: r.Format, Data: b}, nil
}
