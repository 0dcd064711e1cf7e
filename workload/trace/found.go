package trace

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/valyala/fastjson"

	"github.com/tokamak-bench/tokamak/workload/media"
)

// find looks at the images, sounds and videos of the rows of a piece, and
// drops those whose cannot be sent.
func (r *Reader) find() {
	if r.options.Media == nil {
		return
	}
	kept := 0
	for i := range r.out.rows[:r.out.n] {
		row := &r.out.rows[i]
		if err := row.find(r.options.Media); err != nil {
			r.out.fail(err)
			continue
		}
		r.out.rows[i], r.out.rows[kept] = r.out.rows[kept], r.out.rows[i]
		kept++
	}
	r.out.n = kept
}

func (r *Row) find(f *media.Folder) (err error) {
	if r.Body != nil && r.Images+r.Audios+r.Videos > 0 {
		r.Held, err = f.FindAll(r.Body)
		return err
	}
	for i := range r.Turns {
		for j := range r.Turns[i].Messages {
			m := &r.Turns[i].Messages[j]
			for k, ref := range m.Media {
				found, err := f.Find(ref)
				if err == nil && found.Lost && found.Kind == media.Film {
					err = errors.New("that the log cut it out")
				}
				if err != nil {
					return fmt.Errorf("turn %d, file %d of %d: expected %s, found %w", i+1, k+1, len(m.Media), ref.Kind, err)
				}
				m.Held = append(m.Held, found)
			}
		}
	}
	return nil
}

// has counts media of a kind into a row.
func (r *Row) has(k media.Kind, n int64) {
	switch k {
	case media.Picture:
		r.Images += n
	case media.Sound:
		r.Audios += n
	case media.Film:
		r.Videos += n
	}
}

// parts counts images, audio and video in the content of a message.
func parts(r *Row, content *fastjson.Value) {
	for _, p := range media.PlacesIn(content) {
		r.has(p.Kind, 1)
	}
}

// names are the fields that hold media of a kind: one, and a list.
type names struct {
	kind      media.Kind
	one, many string
}

// references reads the media that fields name, each a text, or an object with
// contents, and counts them into a row.
func (o object) references(r *Row, of ...names) []media.Reference {
	var list []media.Reference
	add := func(n names, v *fastjson.Value, key string) {
		switch v.Type() {
		case fastjson.TypeString:
			list = append(list, media.Reference{Kind: n.kind, Text: string(v.GetStringBytes())})
			r.has(n.kind, 1)
		case fastjson.TypeObject:
			for _, c := range v.GetArray("contents") {
				list = append(list, media.Reference{Kind: n.kind, Text: string(c.GetStringBytes())})
				r.has(n.kind, 1)
			}
		default:
			o.wrong(v, key, "a file, a URL or a data: URL")
		}
	}
	for _, n := range of {
		if v := o.get(n.one); v != nil {
			add(n, v, n.one)
		}
		if v := o.get(n.many); v != nil && v.Type() == fastjson.TypeArray {
			for _, item := range v.GetArray() {
				add(n, item, n.many)
			}
		}
	}
	return list
}

// beside are the fields of media beside a text.
func beside() []names {
	return []names{{media.Picture, "image", "images"}, {media.Sound, "audio", "audios"}, {media.Film, "video", "videos"}}
}

// numbers reads how many media there are where a row holds none itself.
func (o object) numbers(r *Row) {
	if r.Images+r.Audios+r.Videos > 0 {
		return
	}
	for _, n := range beside() {
		if v := o.get(n.many); v != nil && (v.Type() != fastjson.TypeArray || r.Turns == nil) {
			r.has(n.kind, o.count(n.many))
		}
	}
}

// imageLike reads what images are like: image_size as 640x480, image_bytes.
func (o object) imageLike(r *Row) {
	r.ImageBytes = o.whole(1, media.MaxBytes, "image_bytes")
	size := o.text("image_size")
	if size == "" {
		return
	}
	var ok bool
	if r.ImageWidth, r.ImageHeight, ok = pixels(size); !ok {
		o.fail("expected image_size to be pixels such as 640x480, at most %d each", media.MaxSide)
	}
}

// pixels reads 640x480.
func pixels(size string) (width, height int, ok bool) {
	w, h, _ := strings.Cut(size, "x")
	width, err := strconv.Atoi(w)
	height, err2 := strconv.Atoi(h)
	ok = err == nil && err2 == nil && min(width, height) > 0 && max(width, height) <= media.MaxSide
	return width, height, ok
}
