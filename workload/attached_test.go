package workload

import (
	"bytes"
	"image"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tokamak-bench/tokamak/stat"
	"github.com/tokamak-bench/tokamak/token"
	"github.com/tokamak-bench/tokamak/workload/media"
)

func pictured(reuse bool) Config {
	return Config{Classes: []Class{{Name: "m", Input: stat.Constant(10), Output: stat.Constant(5), Turns: stat.Constant(2), Reuse: reuse,
		Media: Media{Images: distributionOf("uniform:0..3"), Image: media.Image{Format: media.PNG, Width: 40, Height: 30},
			Audio: stat.Constant(2), Tools: media.Tools{Count: 3, Tokens: 90}}}}}
}

func distributionOf(s string) stat.Distribution {
	d, err := stat.ParseDistribution(s)
	if err != nil {
		panic(err)
	}
	return d
}

// Each turn brings media of its own, history keeps those of earlier turns, and
// no two images are the same unless the class reuses its content.
func TestMediaOfTurns(t *testing.T) {
	seen := map[uint64]bool{}
	count := map[int]int{}
	s := mustNew(t, pictured(false), 1)
	for i := range int64(200) {
		turns := playSession(t, s, i)
		first, second := turns[0].Messages[0], turns[1].Messages[2]
		count[len(first.Images)]++
		if diff := cmp.Diff(first, turns[1].Messages[0]); diff != "" {
			t.Fatal(diff)
		}
		want := Attached{Images: int64(len(first.Images) + len(second.Images)), Sounds: 2, Audio: 4 * time.Second}
		if diff := cmp.Diff(want, turns[1].Attached()); diff != "" {
			t.Fatal(diff)
		}
		for _, m := range []Message{first, second} {
			for _, p := range m.Images {
				if seen[p.ID] || p.Width != 40 || p.Height != 30 || p.Format != media.PNG {
					t.Fatalf("%+v", p)
				}
				seen[p.ID] = true
			}
			if len(m.Audio) != 1 || m.Audio[0].Duration != 2*time.Second || seen[m.Audio[0].ID] {
				t.Fatalf("%+v", m.Audio)
			}
			seen[m.Audio[0].ID] = true
		}
		if turns[0].Tools.Count != 3 || turns[0].Tools != turns[1].Tools {
			t.Fatalf("%+v", turns[0].Tools)
		}
	}
	for n := range 4 {
		if share := count[n]; share < 20 {
			t.Errorf("%d of 200 sessions begin with %d images", share, n)
		}
	}
	again := mustNew(t, pictured(true), 1)
	a, b := playSession(t, again, 0), playSession(t, again, 1)
	if a[0].Messages[0].Audio[0] != b[0].Messages[0].Audio[0] {
		t.Error("a class that reuses its content has other sound each time")
	}
}

func TestRenderMedia(t *testing.T) {
	r := renderer(t, token.Builtin(), "plain")
	q := playSession(t, mustNew(t, pictured(false), 1), 3)[1]
	list, n, err := r.Render(q)
	if err != nil || n != 21 { // two turns of ten tokens, and the answer's one
		t.Fatalf("%d tokens, %v", n, err)
	}
	files := 0
	for i, m := range list {
		if want := len(q.Messages[i].Images) + len(q.Messages[i].Audio); len(m.Media) != want {
			t.Errorf("message %d: %d files, want %d", i, len(m.Media), want)
		}
		for _, f := range m.Media {
			files++
			if c, format, err := image.DecodeConfig(bytes.NewReader(f.Data)); f.Kind == media.Picture && (err != nil || format != media.PNG || c.Width != 40) {
				t.Errorf("%v %v", format, err)
			}
			if f.Kind == media.Sound && len(f.Data) != 44+64_000 {
				t.Errorf("%d bytes of sound", len(f.Data))
			}
		}
	}
	if files < 3 {
		t.Errorf("%d files", files)
	}
	tools, tokens, err := r.Tools(q)
	if counted, _ := token.Builtin().Count(string(tools)); err != nil || int64(counted) != tokens || tokens < 3*85 || tokens > 3*95 {
		t.Errorf("%d tokens, %v", tokens, err)
	}
	if tools, _, err := r.Tools(&Request{}); tools != nil || err != nil {
		t.Errorf("%s, %v", tools, err)
	}
	q.Messages[0].Images = []media.Image{{Format: media.PNG, Width: 400, Height: 300, Bytes: 10}}
	if _, _, err := r.Render(q); err == nil {
		t.Error("an image of ten bytes")
	}
	c := pictured(false)
	c.Classes[0].Media.Image.Width = 0
	if _, err := New(c, 1); err == nil {
		t.Error("an image without width")
	}
}

// TestRecordedMediaCounts: what a dataset says there was, what is sent of it,
// and what of that is made up or a URL.
func TestRecordedMediaCounts(t *testing.T) {
	d := content(`{"text":"a","images":["https://h.example/1.png?k=v","[cut]"],"audio":"https://h.example/s.wav"}` + "\n" +
		`{"text":"b"}` + "\n")
	list, s := firsts(t, Config{Dataset: d})
	if len(list) != 2 {
		t.Fatal(len(list), s.(Noter).Notes())
	}
	want := Attached{Images: 2, Sounds: 1, Made: 1, Linked: 2, Asked: 3}
	if diff := cmp.Diff(want, list[0].Attached()); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"https://h.example/1.png?k=v", "https://h.example/s.wav"}, list[0].Links()); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(Attached{}, list[1].Attached()); diff != "" {
		t.Error(diff)
	}
	d = content("TIMESTAMP,NumImages,ContextTokens,GeneratedTokens\n2025-03-12 00:00:00.1,3,10,5\n")
	list, _ = firsts(t, Config{Dataset: d})
	if diff := cmp.Diff(Attached{Images: 3, Made: 3, Asked: 3}, list[0].Attached()); diff != "" {
		t.Error(diff)
	}
	d.NoMedia = true // completions take none
	list, _ = firsts(t, Config{Dataset: d})
	if diff := cmp.Diff(Attached{Asked: 3}, list[0].Attached()); diff != "" {
		t.Error(diff)
	}
}
