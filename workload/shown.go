package workload

import (
	"cmp"
	"fmt"
	"time"

	"github.com/tokamak-bench/tokamak/stat"
	"github.com/tokamak-bench/tokamak/workload/media"
	"github.com/tokamak-bench/tokamak/workload/trace"
)

const (
	// madeSide is the width and height of a made-up image in pixels, and
	// madeAudio the length of made-up sound, where nothing says what the
	// recorded one was like.
	madeSide  = 512
	madeAudio = 5 * time.Second
)

// folder is where a dataset's images, sound and videos lie; nil: they are not
// looked at.
func (d *Dataset) folder() *media.Folder {
	if d.NoMedia {
		return nil
	}
	return &media.Folder{Dir: d.Dir}
}

// image is what an image is like that stands for one of a row.
func (d *Dataset) image(w *trace.Row, id uint64) media.Image {
	i := d.Image
	i.ID, i.Loose = id, true
	if i.Format == "" {
		i.Format, i.Width, i.Height = media.JPEG, madeSide, madeSide
	}
	if w.ImageWidth > 0 {
		i.Width, i.Height = w.ImageWidth, w.ImageHeight
	}
	i.Bytes = cmp.Or(w.ImageBytes, i.Bytes)
	return i
}

// madeLike says what made-up ones are like.
func (d *Dataset) madeLike() string {
	i := d.image(&trace.Row{}, 0)
	return fmt.Sprintf("images of %dx%d pixels unless a row says a size, sounds of %v", i.Width, i.Height, madeAudio)
}

// attach puts made-up images and sound to a message for those that a row knows
// the number of, and notes how many it knows.
func (s *replay) attach(m *Message, images, audios, videos int64, key stat.Stream, n uint64) {
	m.Asked = images + audios + videos
	if s.Dataset.NoMedia {
		return
	}
	id := stat.Key(s.salted(), key, n)
	for i := range min(images, MaxImages) {
		m.Images = append(m.Images, s.Dataset.image(s.row, stat.Key(id, "image", uint64(i))))
	}
	for i := range min(audios, MaxImages) {
		m.Audio = append(m.Audio, media.Audio{ID: stat.Key(id, "audio", uint64(i)), Duration: madeAudio})
	}
}

// show puts the images, sounds and videos of a recorded message behind it;
// those that the log cut out are made up.
func (s *replay) show(m *Message, recorded *trace.Message, key uint64) {
	m.Asked = int64(len(recorded.Media))
	if s.Dataset.NoMedia {
		return
	}
	for i := range recorded.Held {
		h := &recorded.Held[i]
		id := stat.Key(s.salted(), "lost", key<<10|uint64(i))
		switch {
		case !h.Lost:
			m.Recorded = append(m.Recorded, *h)
		case h.Kind == media.Picture:
			m.Images = append(m.Images, s.Dataset.image(s.row, id))
		default:
			m.Audio = append(m.Audio, media.Audio{ID: id, Duration: madeAudio})
		}
	}
}

// Complete returns the request's body with the content of files in place of
// their names, and made-up content in place of what the log cut out.
func (q *Request) Complete() ([]byte, error) {
	return media.Complete(q.Body, q.Held, func(i int) (media.File, error) {
		m := Message{}
		if q.Held[i].Kind == media.Picture {
			image := q.Lost
			image.ID = stat.Key(image.ID, "image", uint64(i))
			m.Images = []media.Image{image}
		} else {
			m.Audio = []media.Audio{{ID: stat.Key(q.Lost.ID, "audio", uint64(i)), Duration: madeAudio}}
		}
		files, err := m.files()
		if err != nil {
			return media.File{}, err
		}
		return files[0], nil
	})
}

// referred tells whether a row holds its images, sounds and videos, or names
// them, so that it does not know their number alone.
func referred(w *trace.Row) bool {
	for i := range w.Turns {
		for j := range w.Turns[i].Messages {
			if len(w.Turns[i].Messages[j].Media) > 0 {
				return true
			}
		}
	}
	return w.Body != nil
}

// Attached is what a request holds beside text.
type Attached struct {
	Images, Sounds, Videos int64
	// Audio is the length of the sound, as far as it is known.
	Audio time.Duration
	// Made of them are made up in place of what a dataset knows the number of,
	// and Linked are URLs for the server to fetch.
	Made, Linked int64
	// Asked is how many the dataset says there were; 0 where none says.
	Asked int64
}

// Attached counts what a request holds beside text.
func (q *Request) Attached() Attached {
	var a Attached
	for i := range q.Messages {
		m := &q.Messages[i]
		a.Asked += m.Asked
		a.Images += int64(len(m.Images))
		a.Sounds += int64(len(m.Audio))
		if m.Asked > 0 {
			a.Made += int64(len(m.Images) + len(m.Audio))
		}
		for _, s := range m.Audio {
			a.Audio += s.Duration
		}
		for j := range m.Recorded {
			a.add(&m.Recorded[j])
		}
	}
	a.Asked += int64(len(q.Held))
	for i := range q.Held {
		a.add(&q.Held[i])
		if q.Held[i].Lost {
			a.Made++
		}
	}
	return a
}

func (a *Attached) add(r *media.Recorded) {
	switch r.Kind {
	case media.Picture:
		a.Images++
	case media.Sound:
		a.Sounds++
		a.Audio += r.Duration
	case media.Film:
		a.Videos++
	}
	if r.URL != "" {
		a.Linked++
	}
}

// Links are the URLs in a request that a server is to fetch.
func (q *Request) Links() []string {
	var list []string
	add := func(held []media.Recorded) {
		for i := range held {
			if held[i].URL != "" {
				list = append(list, held[i].URL)
			}
		}
	}
	add(q.Held)
	for i := range q.Messages {
		add(q.Messages[i].Recorded)
	}
	return list
}
