package media

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/valyala/fastjson"
)

// drawn is a PNG of 4 by 3 pixels.
func drawn(t testing.TB) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, 4, 3))); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// heard is a WAV file of a quarter of a second.
func heard(t testing.TB) []byte {
	t.Helper()
	b, err := (&Audio{Duration: 250 * time.Millisecond}).Encode()
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// album is a folder with files, beside one that is not to be read.
func album(t testing.TB) *Folder {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "album")
	if err := os.MkdirAll(filepath.Join(dir, "sub"), 0o700); err != nil {
		t.Fatal(err)
	}
	for name, b := range map[string][]byte{"a.png": drawn(t), "sub/b 1.png": drawn(t), "s.wav": heard(t), "t.txt": []byte("no picture at all"), "../secret.png": drawn(t)} {
		if err := os.WriteFile(filepath.Join(dir, name), b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for link, to := range map[string]string{"out.png": "../secret.png", "in.png": "a.png"} {
		if err := os.Symlink(to, filepath.Join(dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	return &Folder{Dir: dir}
}

func TestFind(t *testing.T) {
	f := album(t)
	picture := base64.StdEncoding.EncodeToString(drawn(t))
	sound := base64.StdEncoding.EncodeToString(heard(t))
	for _, c := range []struct {
		ref  Reference
		want string // of what is found; an error begins with !
	}{
		{Reference{Kind: Picture, Text: "data:image/png;base64," + picture}, "png 4x3"},
		{Reference{Kind: Picture, Text: "data:image/jpeg;base64," + picture}, "png 4x3"}, // by its content
		{Reference{Kind: Picture, Text: "a.png"}, "png 4x3"},
		{Reference{Kind: Picture, Text: "./sub/../a.png"}, "png 4x3"},
		{Reference{Kind: Picture, Text: "in.png"}, "png 4x3"},
		{Reference{Kind: Picture, Text: "file:a.png"}, "png 4x3"},
		{Reference{Kind: Picture, Text: "file://" + filepath.ToSlash(f.Dir) + "/sub/b%201.png"}, "png 4x3"},
		{Reference{Kind: Sound, Text: sound, Bare: true}, "wav 250ms"},
		{Reference{Kind: Sound, Text: "wav," + sound}, "wav 250ms"},
		{Reference{Kind: Sound, Text: "s.wav"}, "wav 250ms"},
		{Reference{Kind: Picture, Text: "HTTPS://h.example/i.png?k=v"}, "url"},
		{Reference{Kind: Picture, Text: "data:image/png;base64,(truncated 12345 chars)"}, "lost"},
		{Reference{Kind: Sound, Text: "[truncated]", Bare: true}, "lost"},
		{Reference{Kind: Picture, Text: ""}, "!nothing"},
		{Reference{Kind: Picture, Text: "/etc/passwd"}, "!a file outside the dataset's folder"},
		{Reference{Kind: Picture, Text: "../secret.png"}, "!a file outside the dataset's folder"},
		{Reference{Kind: Picture, Text: "file:///../secret.png"}, "!a file outside the dataset's folder"},
		{Reference{Kind: Picture, Text: "out.png"}, "!a file outside the dataset's folder"},
		{Reference{Kind: Picture, Text: "sub"}, "!what is no regular file"},
		{Reference{Kind: Picture, Text: "gone.png"}, "!a file that is not there"},
		{Reference{Kind: Picture, Text: "t.txt"}, "!17 bytes of no known format"},
		{Reference{Kind: Picture, Text: "s.wav"}, "!wav, which is sound"},
		{Reference{Kind: Picture, Text: "data:image/png,raw"}, "!a data: URL without base64"},
		{Reference{Kind: Picture, Text: "data:image/png;base64,AAAA!!!"}, "!what is no base64"},
		{Reference{Kind: Picture, Text: "data:image/png;base64," + picture[:40]}, "!a damaged png file"},
		{Reference{Kind: Picture, Text: "ftp://h.example/x.png"}, "!a URL of another scheme"},
		{Reference{Kind: Picture, Text: "http://"}, "!a URL that cannot be read"},
	} {
		r, err := f.Find(c.ref)
		got := ""
		switch {
		case err != nil:
			got = "!" + err.Error()
		case r.URL != "":
			got = "url"
		case r.Lost:
			got = "lost"
		case r.Kind == Sound:
			got = fmt.Sprintf("%s %v", r.Format, r.Duration)
		default:
			got = fmt.Sprintf("%s %dx%d", r.Format, r.Width, r.Height)
		}
		if got != c.want && (c.want[0] != '!' || !strings.HasPrefix(got, c.want)) {
			t.Errorf("%.40q: %s, want %s", c.ref.Text, got, c.want)
		}
		if err != nil && (strings.Contains(err.Error(), "secret") || strings.Contains(err.Error(), "passwd")) {
			t.Errorf("the error names the file: %v", err)
		}
	}
	if _, err := (*Folder)(nil).Find(Reference{Kind: Picture, Text: "a.png"}); err == nil {
		t.Error("a file without a folder")
	}
}

// TestFoundFileChanges: what is sent is what was found.
func TestFoundFileChanges(t *testing.T) {
	f := album(t)
	r, err := f.Find(Reference{Kind: Picture, Text: "a.png"})
	if err != nil {
		t.Fatal(err)
	}
	if file, err := r.Load(); err != nil || !bytes.Equal(file.Data, drawn(t)) || file.Format != PNG {
		t.Fatalf("%+v, %v", file, err)
	}
	if err := os.WriteFile(filepath.Join(f.Dir, "a.png"), []byte("other"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Load(); err == nil || !strings.Contains(err.Error(), "changed") {
		t.Errorf("%v", err)
	}
}

// TestComplete: a body is sent with the content of files and of what the log
// cut out, and is left as it is where it has all.
func TestComplete(t *testing.T) {
	f := album(t)
	made := func(i int) (File, error) { return File{Kind: Picture, Format: JPEG, Data: []byte{byte(i)}}, nil }
	body := []byte(`{"messages":[{"role":"user","content":[{"type":"text","text":"x"},{"type":"image_url","image_url":{"url":"a.png"}},` +
		`{"type":"image_url","image_url":{"url":"https://h.example/i"}},{"type":"image_url","image_url":{"url":"[truncated]"}},` +
		`{"type":"input_audio","input_audio":{"data":"s.wav","format":"mp3"}}]}],"n":1}`)
	held, err := f.FindAll(body)
	if err != nil || len(held) != 4 {
		t.Fatalf("%d, %v", len(held), err)
	}
	out, err := Complete(body, held, made)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"messages":[{"role":"user","content":[{"type":"text","text":"x"},{"type":"image_url","image_url":{"url":"data:image/png;base64,` +
		base64.StdEncoding.EncodeToString(drawn(t)) + `"}},{"type":"image_url","image_url":{"url":"https://h.example/i"}},` +
		`{"type":"image_url","image_url":{"url":"data:image/jpeg;base64,Ag=="}},{"type":"input_audio","input_audio":{"data":"` +
		base64.StdEncoding.EncodeToString(heard(t)) + `","format":"wav"}}]}],"n":1}`
	if string(out) != want {
		t.Errorf("%s\nwant %s", out, want)
	}
	whole := []byte(`{"messages":[{"content":[{"type":"image_url","image_url":{"url":"https://h.example/i"}}]}]}`)
	held, err = f.FindAll(whole)
	if err != nil {
		t.Fatal(err)
	}
	if same, err := Complete(whole, held, made); err != nil || &same[0] != &whole[0] {
		t.Errorf("a body that has all is written anew (%v)", err)
	}
	if _, err := f.FindAll([]byte(`{"messages":[{"content":[{"type":"image_url","image_url":{"url":"gone.png"}}]}]}`)); err == nil ||
		!strings.Contains(err.Error(), "part 1 of 1 that are no text: expected an image, found a file that is not there") {
		t.Errorf("%v", err)
	}
}

// FuzzFindAll: no body reads from outside, panics, or is found and then not
// sent.
func FuzzFindAll(f *testing.F) {
	for _, s := range []string{`{"messages":[{"content":[{"type":"image_url","image_url":{"url":"a.png"}}]}]}`,
		`{"input":[{"content":[{"type":"input_image","image_url":"data:image/png;base64,AAAA"}]}]}`,
		`{"messages":[{"content":[{"type":"image","source":{"type":"base64","data":"[cut]"}}]}]}`, `{"messages":[{"content":[{"type":"video_url","video_url":{"url":"file:///x"}}]}]}`} {
		f.Add([]byte(s))
	}
	folder := album(f)
	f.Fuzz(func(t *testing.T, body []byte) {
		held, err := folder.FindAll(body)
		if err != nil {
			return
		}
		out, err := Complete(body, held, func(int) (File, error) { return File{Kind: Picture, Format: PNG}, nil })
		if err != nil {
			t.Fatalf("found, and not sent: %v", err)
		}
		if fastjson.ValidateBytes(body) == nil && fastjson.ValidateBytes(out) != nil {
			t.Fatalf("%s is no JSON any more", out)
		}
	})
}
