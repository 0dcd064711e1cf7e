package openai

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"image"
	_ "image/gif"  // the formats that clients send
	_ "image/jpeg" //
	_ "image/png"  //
	"strings"

	"github.com/tokamak-bench/tokamak/sim/core"
)

// An image costs a token for each patch of so many pixels square, within
// bounds, as in the Qwen-VL family; UnknownImage where its size cannot be
// read, as of a URL that is not fetched.
const (
	patch        = 28
	fewestImage  = 4
	mostImage    = 1280
	UnknownImage = 576
)

// imageURL reads {"url":…} or a bare string.
func imageURL(raw json.RawMessage) (string, bool) {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s, s != ""
	}
	var o struct {
		URL string `json:"url"`
	}
	return o.URL, json.Unmarshal(raw, &o) == nil && o.URL != ""
}

// appendImage appends an image's tokens, which follow from its URL or bytes,
// so that equal images share their KV blocks. Their ids are none of a text.
func appendImage(ids []uint32, url string) []uint32 { return appendMedia(ids, url, imageTokens(url)) }

// appendMedia appends n tokens that follow from what they stand for.
func appendMedia(ids []uint32, content string, n int) []uint32 {
	key := uint64(len(content))
	for i := range len(content) {
		key = core.Mix(key, uint64(content[i]))
	}
	for i := range n {
		ids = append(ids, 1<<31|uint32(core.Mix(key, uint64(i)))>>1)
	}
	return ids
}

// imageTokens is what an image costs: a data: URL or bare base64 by its size.
func imageTokens(url string) int {
	if i := strings.Index(url, ";base64,"); i >= 0 {
		url = url[i+len(";base64,"):]
	}
	b, err := base64.StdEncoding.DecodeString(url)
	if err != nil {
		return UnknownImage
	}
	c, _, err := image.DecodeConfig(bytes.NewReader(b))
	if err != nil || c.Width < 1 || c.Height < 1 {
		return UnknownImage
	}
	return ImageTokens(c.Width, c.Height)
}

// ImageTokens is what an image of so many pixels costs.
func ImageTokens(width, height int) int {
	wide, high := (width+patch-1)/patch, (height+patch-1)/patch
	if wide > mostImage || high > mostImage {
		return mostImage
	}
	return min(max(wide*high, fewestImage), mostImage)
}
