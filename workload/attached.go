package workload

import (
	"fmt"
	"math"
	"time"

	"github.com/tokamak-bench/tokamak/stat"
	"github.com/tokamak-bench/tokamak/workload/media"
)

// Media is what a class sends beside text; its zero value is nothing.
type Media struct {
	// Images is the number of images in each turn's message, rounded; nil: none.
	Images stat.Distribution
	// Image is what they are like; its ID is not used.
	Image media.Image
	// Audio is the sound in each turn's message in seconds; nil: none.
	Audio stat.Distribution
	// Tools are sent along with each request; its ID is not used.
	Tools media.Tools
}

// MaxImages bounds the images of a message.
const MaxImages = 64

func (m *Media) check() error {
	if m.Images != nil {
		if err := m.Image.Check(); err != nil {
			return err
		}
	}
	if t := m.Tools; t.Count < 0 || t.Count > media.MaxTools || t.Tokens < 0 || t.Tokens > media.MaxToolTokens {
		return fmt.Errorf("expected 0 to %d tools of up to %d tokens", media.MaxTools, media.MaxToolTokens)
	}
	return nil
}

// attach puts the media of a turn to its message.
func (c *conversation) attach(m *Message, key uint64) {
	of := &c.class.Media
	if of.Images != nil {
		x := of.Images.Sample(stat.Random(c.seed, "images", key))
		for i := range int64(math.Floor(min(max(x, 0), MaxImages) + 0.5)) {
			image := of.Image
			image.ID = stat.Key(c.contentID(), "image", uint64(i))
			m.Images = append(m.Images, image)
		}
	}
	if d := c.duration(of.Audio, "audio", key); d > 0 {
		m.Audio = append(m.Audio, media.Audio{ID: stat.Key(c.contentID(), "audio", 0), Duration: min(max(d, time.Millisecond), media.MaxAudio)})
	}
}

// tools are the definitions that every request of the class brings along.
func (c *conversation) tools() media.Tools { return c.Tools(c.class, c.seed) }

// Tools are the definitions that every request of a class brings along.
func (c *Config) Tools(class *Class, seed uint64) media.Tools {
	t := class.Media.Tools
	if t.Count > 0 {
		t.ID = stat.Key(seed^stat.Key(c.Salt, "salt", 0), stat.Stream("tools/"+class.Name), 0)
	}
	return t
}

// files encodes the media of a message.
func (m *Message) files() ([]media.File, error) {
	if len(m.Recorded)+len(m.Images)+len(m.Audio) == 0 {
		return nil, nil
	}
	list := make([]media.File, 0, len(m.Recorded)+len(m.Images)+len(m.Audio))
	for i := range m.Recorded {
		f, err := m.Recorded[i].Load()
		if err != nil {
			return nil, err
		}
		list = append(list, f)
	}
	for i := range m.Images {
		b, err := m.Images[i].Encode()
		if err != nil {
			return nil, err
		}
		list = append(list, media.File{Kind: media.Picture, Format: m.Images[i].Format, Data: b})
	}
	for i := range m.Audio {
		b, err := m.Audio[i].Encode()
		if err != nil {
			return nil, err
		}
		list = append(list, media.File{Kind: media.Sound, Format: media.WAV, Data: b})
	}
	return list, nil
}

// toolList is the definitions of tools as JSON.
type toolList struct {
	json   []byte
	tokens int64
}

// Tools returns the definitions of tools that a request brings along as a JSON
// list, and its length in tokens as a text; nil where there are none.
func (r *Renderer) Tools(q *Request) ([]byte, int64, error) {
	if q.Tools.Count == 0 {
		return nil, 0, nil
	}
	if l, ok := r.tools.Load(q.Tools); ok {
		return l.(toolList).json, l.(toolList).tokens, nil
	}
	b, n, err := q.Tools.JSON(r.count)
	if err != nil {
		return nil, 0, err
	}
	r.tools.Store(q.Tools, toolList{b, n})
	return b, n, nil
}
