package media

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"image"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/tokamak-bench/tokamak/token"
)

func TestImages(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		i := Image{ID: rapid.Uint64().Draw(t, "id"), Format: rapid.SampledFrom([]string{JPEG, PNG}).Draw(t, "format"),
			Width: rapid.IntRange(1, 90).Draw(t, "width"), Height: rapid.IntRange(1, 90).Draw(t, "height")}
		bare, err := i.Encode()
		if err != nil {
			t.Fatal(err)
		}
		more := rapid.SampledFrom([]int{0, 1, 3, 4, 5, 12, 500, 65535, 65536, 65537, 65538, 65539, 65540, 65541, 131_080, 200_000}).Draw(t, "more")
		i.Bytes = int64(len(bare) + more)
		b, err := i.Encode()
		if i.Format == PNG && more > 0 && more < 12 && err != nil { // a chunk of less than a chunk
			return
		}
		if err != nil || len(b) != len(bare)+more {
			t.Fatalf("%d bytes, want %d: %v", len(b), len(bare)+more, err)
		}
		p, format, err := image.Decode(bytes.NewReader(b))
		if err != nil || format != i.Format || p.Bounds() != image.Rect(0, 0, i.Width, i.Height) {
			t.Fatalf("%s %v %v", format, p, err)
		}
		again, _ := i.Encode()
		if !bytes.Equal(b, again) {
			t.Fatal("an image does not follow from its specification")
		}
	})
}

// Images of different ID have no row of pixels in common.
func TestImagesDiffer(t *testing.T) {
	seen := map[string]uint64{}
	for id := range uint64(50) {
		i := Image{ID: id, Format: PNG, Width: 64, Height: 48}
		b, err := i.Encode()
		if err != nil {
			t.Fatal(err)
		}
		p, _, err := image.Decode(bytes.NewReader(b))
		if err != nil {
			t.Fatal(err)
		}
		g := p.(*image.Gray)
		for y := range 48 {
			row := string(g.Pix[y*g.Stride : y*g.Stride+64])
			if other, ok := seen[row]; ok && other != id && strings.Trim(row, row[:1]) != "" {
				t.Fatalf("row %d of %d is one of %d", y, id, other)
			}
			seen[row] = id
		}
	}
}

func TestImagesAreStable(t *testing.T) {
	for format, want := range map[string]string{JPEG: "6307dfa8b6ed", PNG: "2e602c145486"} {
		i := Image{ID: 7, Format: format, Width: 200, Height: 100, Bytes: 20_000}
		b, err := i.Encode()
		if err != nil {
			t.Fatal(err)
		}
		if sum := sha256.Sum256(b); hex.EncodeToString(sum[:6]) != want {
			t.Errorf("%s: %x", format, sum[:6])
		}
	}
}

func TestImagesRefused(t *testing.T) {
	for say, i := range map[string]Image{
		"gif":            {Format: "gif", Width: 1, Height: 1},
		"0x1":            {Format: PNG, Width: 0, Height: 1},
		"8193":           {Format: PNG, Width: 8193, Height: 1},
		"-1":             {Format: PNG, Width: 1, Height: 1, Bytes: -1},
		"takes at least": {Format: JPEG, Width: 500, Height: 500, Bytes: 100},
		"100 were aske":  {Format: PNG, Width: 500, Height: 500, Bytes: 100},
	} {
		if _, err := i.Encode(); err == nil || !strings.Contains(err.Error(), say) {
			t.Errorf("%s: %v", say, err)
		}
	}
}

// Any length from the least on can be had, of every image, and the picture
// comes out of it.
func TestImagesOfLittle(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		i := Image{ID: rapid.Uint64().Draw(t, "id"), Format: rapid.SampledFrom([]string{JPEG, PNG}).Draw(t, "format"),
			Width: rapid.IntRange(1, 200).Draw(t, "width"), Height: rapid.IntRange(1, 200).Draw(t, "height")}
		i.Bytes = i.Least() + rapid.Int64Range(0, 4000).Draw(t, "more")
		b, err := i.Encode()
		if err != nil || int64(len(b)) != i.Bytes {
			t.Fatalf("%d bytes, want %d: %v", len(b), i.Bytes, err)
		}
		if _, format, err := image.Decode(bytes.NewReader(b)); err != nil || format != i.Format {
			t.Fatal(format, err)
		}
	})
}

func TestAudio(t *testing.T) {
	a := Audio{ID: 3, Duration: 1500 * time.Millisecond}
	b, err := a.Encode()
	if err != nil || len(b) != 44+48_000 || string(b[:4]) != "RIFF" || string(b[8:16]) != "WAVEfmt " {
		t.Fatalf("%d bytes, %v", len(b), err)
	}
	le := binary.LittleEndian
	if le.Uint32(b[4:]) != uint32(len(b)-8) || le.Uint32(b[24:]) != 16_000 || le.Uint32(b[40:]) != 48_000 || le.Uint16(b[34:]) != 16 {
		t.Errorf("%x", b[:44])
	}
	other, _ := (&Audio{ID: 4, Duration: a.Duration}).Encode()
	same := 0
	for i := 44; i < len(b); i += 2 {
		if b[i] == other[i] && b[i+1] == other[i+1] {
			same++
		}
	}
	if same > 24_000/10 {
		t.Errorf("%d samples of two sounds are the same", same)
	}
	if sum := sha256.Sum256(b); hex.EncodeToString(sum[:6]) != "85c9b9befbdf" {
		t.Errorf("%x", sum[:6])
	}
	for _, d := range []time.Duration{0, -1, 2 * time.Hour} {
		if _, err := (&Audio{Duration: d}).Encode(); err == nil {
			t.Errorf("%v is sound", d)
		}
	}
}

func TestTools(t *testing.T) {
	codec := token.Builtin()
	count := func(s string) (int64, error) { n, err := codec.Count(s); return int64(n), err }
	for _, tokens := range []int64{0, 80, 100, 101, 250, 3000} {
		b, n, err := (&Tools{ID: 5, Count: 12, Tokens: tokens}).JSON(count)
		if err != nil {
			t.Fatal(err)
		}
		var list []struct {
			Type     string
			Function struct {
				Name, Description string
				Parameters        struct {
					Type       string
					Properties map[string]struct{ Type string }
					Required   []string
				}
			}
		}
		var raw []json.RawMessage
		if json.Unmarshal(b, &list) != nil || json.Unmarshal(b, &raw) != nil || len(list) != 12 {
			t.Fatalf("%s", b)
		}
		if got, _ := count(string(b)); got != n {
			t.Errorf("%d tokens counted, %d said", got, n)
		}
		names := map[string]bool{}
		for i, f := range list {
			if got, _ := count(string(raw[i])); tokens > 0 && got != tokens {
				t.Errorf("a definition of %d tokens, want %d", got, tokens)
			}
			p := f.Function.Parameters
			if f.Type != "function" || names[f.Function.Name] || p.Type != "object" || len(p.Properties) == 0 {
				t.Errorf("%+v", f)
			}
			for _, r := range p.Required {
				if p.Properties[r].Type == "" {
					t.Errorf("%s is required and not there", r)
				}
			}
			names[f.Function.Name] = true
		}
	}
	if _, _, err := (&Tools{Count: 1, Tokens: 5}).JSON(count); err == nil || !strings.Contains(err.Error(), "5 tokens") {
		t.Error(err)
	}
	if _, _, err := (&Tools{Count: 5000}).JSON(count); err == nil {
		t.Error("5000 tools")
	}
}

func BenchmarkImage(b *testing.B) {
	for _, format := range []string{JPEG, PNG} {
		b.Run(format, func(b *testing.B) {
			for n := range b.N {
				i := Image{ID: uint64(n), Format: format, Width: 1024, Height: 1024}
				out, err := i.Encode()
				if err != nil {
					b.Fatal(err)
				}
				b.ReportMetric(float64(len(out))/1e3, "kB")
			}
		})
	}
}
