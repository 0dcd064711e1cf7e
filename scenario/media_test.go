package scenario

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tokamak-bench/tokamak/stat"
	"github.com/tokamak-bench/tokamak/workload"
	"github.com/tokamak-bench/tokamak/workload/media"
)

// spelled compares distributions by what they are called.
var spelled = cmp.Comparer(func(a, b stat.Distribution) bool {
	return (a == nil) == (b == nil) && (a == nil || a.String() == b.String())
})

func TestMediaAndText(t *testing.T) {
	s := parse(t, `
workload:
  text: code
  images: 2
  classes:
    - {name: a, image-size: 640x480, image-bytes: 90000, tools: 4}
    - {name: b, text: english, audio: "uniform:2s..4s", image-format: png, tools: 2, tool-tokens: 200}
`, Flags{})
	c := s.Workload.Config.Classes
	want := workload.Media{Images: stat.Constant(2), Image: media.Image{Format: media.JPEG, Width: 640, Height: 480, Bytes: 90000}, Tools: media.Tools{Count: 4}}
	if diff := cmp.Diff(want, c[0].Media, spelled); diff != "" || c[0].Text != "code" || c[1].Text != "english" {
		t.Errorf("%s: %q, %q", diff, c[0].Text, c[1].Text)
	}
	want = workload.Media{Images: stat.Constant(2), Image: media.Image{Format: media.PNG, Width: 512, Height: 512},
		Audio: c[1].Media.Audio, Tools: media.Tools{Count: 2, Tokens: 200}}
	if diff := cmp.Diff(want, c[1].Media, spelled); diff != "" || c[1].Media.Audio == nil || c[1].Media.Audio.Mean() != 3 {
		t.Error(diff)
	}
	b, err := s.Frozen()
	if err != nil {
		t.Fatal(err)
	}
	again := parse(t, string(b), Flags{})
	if diff := cmp.Diff(c, again.Workload.Config.Classes, spelled); diff != "" {
		t.Errorf("frozen and thawed: %s", diff)
	}
	if !json.Valid(b) || !strings.Contains(s.Workload.String(), "640x480") || !strings.Contains(s.Workload.String(), "text english") {
		t.Error(s.Workload.String())
	}
}

func TestMediaAndTextRefused(t *testing.T) {
	binary := filepath.Join(t.TempDir(), "text")
	if err := os.WriteFile(binary, []byte("some text"), 0o600); err != nil {
		t.Fatal(err)
	}
	for yaml, say := range map[string]string{
		"workload: {text: Chinese}":                                "chinese?",
		"workload: {text: nowhere.txt}":                            "markov:FILE",
		"workload: {text: 'markov:nowhere'}":                       "markov:FILE",
		"workload: {text: 'llm:ftp://key@host'}":                   "expected llm:http://HOST",
		"workload: {text: 'llm:http://u:sesame@host'}":             "expected llm:http://HOST",
		"workload: {image-size: 3x4}":                              "image-size needs images",
		"workload: {tool-tokens: 4}":                               "tool-tokens needs tools",
		"workload: {images: 1, image-size: 3by4}":                  "640x480",
		"workload: {images: 1, image-size: 9000x4}":                "8192x8192",
		"workload: {images: 1, image-format: gif}":                 "jpeg, png",
		"workload: {tools: 2000}":                                  "at most 1024",
		"workload: {audio: 3}":                                     "unit",
		"target: {api: openai-completions}\nworkload: {images: 1}": "expected openai-chat",
		"target: {api: openai-completions}\nworkload: {tools: 1}":  "expected openai-chat",
		"workload: {images: 1, image-bytes: 0}":                    "at least 1",
	} {
		_, err := Parse("s.yaml", []byte(yaml), Flags{})
		if err == nil || !strings.Contains(err.Error(), say) || strings.Contains(err.Error(), "sesame") {
			t.Errorf("%s: %v", yaml, err)
		}
	}
	if s := parse(t, "workload: {text: "+binary+"}", Flags{}); s.Workload.Config.Classes[0].Text != binary {
		t.Errorf("%+v", s.Workload.Config.Classes)
	}
}
