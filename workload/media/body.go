package media

import (
	"encoding/base64"
	"errors"
	"fmt"

	"github.com/valyala/fastjson"
)

// Place is where a request body holds an image, sound or video.
type Place struct {
	Reference
	holder *fastjson.Value // of key; nil: its form is not known
	key    string
}

// Places returns what a request body holds beside text, in order: the parts of
// the content of messages, in OpenAI's forms and Anthropic's.
func Places(body *fastjson.Value) []Place {
	var list []Place
	for _, key := range []string{"messages", "input"} {
		for _, m := range body.GetArray(key) {
			list = append(list, PlacesIn(m.Get("content"))...)
		}
	}
	return list
}

// PlacesIn returns what the content of one message holds beside text.
func PlacesIn(content *fastjson.Value) []Place {
	if content == nil || content.Type() != fastjson.TypeArray {
		return nil
	}
	var list []Place
	for _, part := range content.GetArray() {
		if p, ok := placeOf(part); ok {
			list = append(list, p)
		}
	}
	return list
}

// placeOf reads a part of a message's content.
func placeOf(part *fastjson.Value) (p Place, ok bool) {
	name := string(part.GetStringBytes("type"))
	switch name {
	case "image_url", "image", "input_image":
		p.Kind = Picture
	case "input_audio", "audio", "audio_url":
		p.Kind = Sound
	case "video_url", "video", "input_video":
		p.Kind = Film
	default:
		return p, false
	}
	for _, at := range []string{name, "image_url", "source", "audio", "image", "video"} {
		v := part.Get(at)
		if v == nil {
			continue
		}
		switch v.Type() {
		case fastjson.TypeString:
			p.set(part, at, name == "input_audio")
		case fastjson.TypeObject:
			for _, key := range []string{"url", "data"} {
				if inner := v.Get(key); inner != nil && inner.Type() == fastjson.TypeString {
					p.set(v, key, key == "data")
					break
				}
			}
		}
		break
	}
	return p, true
}

func (p *Place) set(holder *fastjson.Value, key string, bare bool) {
	p.holder, p.key, p.Bare = holder, key, bare
	p.Text = string(holder.GetStringBytes(key))
}

// FindAll looks at what a request body holds beside text. What cannot be found
// is an error that says which of them it is.
func (f *Folder) FindAll(body []byte) ([]Recorded, error) {
	var parser fastjson.Parser
	v, err := parser.ParseBytes(body)
	if err != nil {
		return nil, errors.New("expected a body to be JSON")
	}
	places := Places(v)
	list := make([]Recorded, 0, len(places))
	for i := range places {
		p := &places[i]
		if p.holder == nil {
			list = append(list, Recorded{Kind: p.Kind})
			continue
		}
		r, err := f.Find(p.Reference)
		if err == nil && r.Lost && r.Kind == Film {
			err = errors.New("that the log cut it out")
		}
		if err != nil {
			return nil, fmt.Errorf("part %d of %d that are no text: expected %s, found %w", i+1, len(places), p.Kind, err)
		}
		list = append(list, r)
	}
	return list, nil
}

// Complete puts the content of files into a request body as data: URLs, and
// what made returns in place of what the log cut out. A body that needs
// neither is returned as it is. held is what FindAll found in it.
func Complete(body []byte, held []Recorded, made func(i int) (File, error)) ([]byte, error) {
	needs := false
	for i := range held {
		needs = needs || held[i].File || held[i].Lost
	}
	if !needs {
		return body, nil
	}
	var parser fastjson.Parser
	v, err := parser.ParseBytes(body)
	if err != nil {
		return nil, errors.New("expected a body to be JSON")
	}
	var arena fastjson.Arena
	places := Places(v)
	if len(places) != len(held) {
		return nil, fmt.Errorf("expected %d parts that are no text, found %d", len(held), len(places))
	}
	for i := range held {
		var file File
		switch {
		case held[i].File:
			file, err = held[i].Load()
		case held[i].Lost:
			file, err = made(i)
		default:
			continue
		}
		if err != nil {
			return nil, err
		}
		p := &places[i]
		if p.Bare {
			p.holder.Set(p.key, arena.NewString(base64.StdEncoding.EncodeToString(file.Data)))
			if p.Kind == Sound {
				p.holder.Set("format", arena.NewString(file.Format))
			}
			continue
		}
		p.holder.Set(p.key, arena.NewString(string(file.AppendURL(nil))))
	}
	return v.MarshalTo(make([]byte, 0, len(body)+1024)), nil
}

// AppendURL appends the file as a data: URL, or the URL where it is elsewhere.
func (f *File) AppendURL(b []byte) []byte {
	if f.URL != "" {
		return append(b, f.URL...)
	}
	b = append(append(append(b, "data:"...), f.MIME()...), ";base64,"...)
	return base64.StdEncoding.AppendEncode(b, f.Data)
}

// MIME is the file's media type.
func (f *File) MIME() string {
	switch f.Kind {
	case Sound:
		if f.Format == "mp3" {
			return "audio/mpeg"
		}
		return "audio/" + f.Format
	case Film:
		return "video/" + f.Format
	}
	return "image/" + f.Format
}
