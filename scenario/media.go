package scenario

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/tokamak-bench/tokamak/stat"
	"github.com/tokamak-bench/tokamak/workload"
	"github.com/tokamak-bench/tokamak/workload/media"
)

// defaultSide is the width and height of images in pixels.
const defaultSide = 512

// media reads what goes along with a class's texts.
func (r *resolver) media() workload.Media {
	if !r.has("workload.dataset") {
		for _, id := range imageWords() {
			r.needs(id, "workload.images")
		}
	}
	r.needs("workload.tool-tokens", "workload.tools")
	m := workload.Media{
		Images: r.some("workload.images", stat.ParseDistribution, workload.MaxImages, fmt.Sprintf("a number of images from 0 to %d", workload.MaxImages)),
		Audio:  r.some("workload.audio", stat.ParseDurations, media.MaxAudio.Seconds(), fmt.Sprintf("sound of 0 to %s", Short(media.MaxAudio))),
		Tools:  media.Tools{Count: r.within("workload.tools", 0, 0, media.MaxTools), Tokens: r.within("workload.tool-tokens", 0, 1, media.MaxToolTokens)},
	}
	if m.Images != nil {
		m.Image = r.image()
	}
	for _, id := range []string{"workload.images", "workload.audio", "workload.tools"} {
		if api, ok := r.set["target.api"]; ok && r.has(id) && api.text == "openai-completions" {
			r.fail(r.set[id].errorf("%s does not go with openai-completions: expected openai-chat", word(id)))
		}
	}
	return m
}

// imageWords are the settings that say what images are like.
func imageWords() []string {
	return []string{"workload.image-size", "workload.image-format", "workload.image-bytes"}
}

// image reads what images are like.
func (r *resolver) image() media.Image {
	i := media.Image{Format: r.oneOf("workload.image-format", media.JPEG, media.JPEG, media.PNG), Bytes: r.whole("workload.image-bytes", 0, 1)}
	i.Width, i.Height = r.pixels()
	if err := i.Check(); err != nil {
		r.fail(r.first("workload.image-size", "workload.image-bytes", "workload.images").errorf("%v", err))
		return i
	}
	if least := i.Least(); i.Bytes > 0 && i.Bytes < least {
		r.fail(r.set["workload.image-bytes"].expected(fmt.Sprintf("at least %d bytes for an image of %dx%d pixels as %s", least, i.Width, i.Height, i.Format)))
	}
	return i
}

// madeImage is what images are like that stand for those of which a dataset or
// traffic model knows the number; its zero value where nothing says.
func (r *resolver) madeImage() media.Image {
	for _, id := range imageWords() {
		if r.has(id) {
			return r.image()
		}
	}
	return media.Image{}
}

// first returns the first of some settings that was given.
func (r *resolver) first(ids ...string) value {
	for _, id := range ids {
		if v, ok := r.set[id]; ok {
			return v
		}
	}
	return value{}
}

// pixels reads 640x480.
func (r *resolver) pixels() (width, height int) {
	text := r.text("workload.image-size", "a size in pixels such as 640x480")
	if text == "" {
		return defaultSide, defaultSide
	}
	w, h, _ := strings.Cut(text, "x")
	width, err := strconv.Atoi(w)
	height, err2 := strconv.Atoi(h)
	if err != nil || err2 != nil {
		r.fail(r.set["workload.image-size"].expected("a size in pixels such as 640x480"))
		return defaultSide, defaultSide
	}
	return width, height
}

func freezeMedia(m *workload.Media, s section) {
	if m.Images != nil {
		s.set("images", m.Images.String())
		freezeImage(&m.Image, s)
	}
	if m.Audio != nil {
		s.set("audio", m.Audio.String())
	}
	s.set("tools", m.Tools.Count).set("tool-tokens", m.Tools.Tokens)
}

func freezeImage(i *media.Image, s section) {
	s.set("image-size", fmt.Sprintf("%dx%d", i.Width, i.Height)).set("image-format", i.Format).set("image-bytes", i.Bytes)
}

// mediaWords says what goes along with a class's texts.
func mediaWords(m *workload.Media) string {
	s := ""
	if m.Images != nil {
		s += fmt.Sprintf(", %v images of %dx%d", m.Images, m.Image.Width, m.Image.Height)
	}
	if m.Audio != nil {
		s += fmt.Sprintf(", %v of sound", m.Audio)
	}
	if m.Tools.Count > 0 {
		s += fmt.Sprintf(", %d tools", m.Tools.Count)
	}
	return s
}
