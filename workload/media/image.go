package media

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"image"
	"image/jpeg"
	"image/png"
	"math/rand/v2"

	"github.com/tokamak-bench/tokamak/stat"
)

// The formats of images.
const (
	JPEG = "jpeg"
	PNG  = "png"
)

// MaxSide bounds an image's width and height in pixels.
const MaxSide = 8192

// MaxBytes bounds an image's file.
const MaxBytes = 64 << 20

// Image is a picture: a field of soft colour with rectangles on it. Pictures
// of different ID have different pixels everywhere.
type Image struct {
	ID            uint64
	Format        string // JPEG or PNG
	Width, Height int    // pixels
	// Bytes is the length of the file; 0: whatever the picture takes. What the
	// picture doesn't take is noise that decoders skip: comments of a JPEG, a
	// private chunk of a PNG.
	Bytes int64
	// Loose says that the file may be longer than Bytes where the picture
	// takes more.
	Loose bool
}

// Check says what is wrong with a specification.
func (i *Image) Check() error {
	switch {
	case i.Format != JPEG && i.Format != PNG:
		return fmt.Errorf("expected an image as %s or %s, found %q", JPEG, PNG, i.Format)
	case i.Width < 1 || i.Width > MaxSide || i.Height < 1 || i.Height > MaxSide:
		return fmt.Errorf("expected an image of 1x1 to %dx%d pixels, found %dx%d", MaxSide, MaxSide, i.Width, i.Height)
	case i.Bytes < 0 || i.Bytes > MaxBytes:
		return fmt.Errorf("expected an image of 0 to %d bytes, found %d", MaxBytes, i.Bytes)
	}
	return nil
}

// Encode returns the image's file. It fails where the picture takes more bytes
// than asked for, and says how many it takes.
func (i *Image) Encode() ([]byte, error) {
	if err := i.Check(); err != nil {
		return nil, err
	}
	r := stat.Random(0, "image", i.ID)
	p := i.paint(r)
	b, err := i.file(p, 0)
	if err != nil || i.Bytes == 0 {
		return b, err
	}
	pad := padJPEG
	if i.Format == PNG {
		pad = padPNG
	}
	for coarse := 1; ; coarse++ {
		out, ok := pad(b, int(i.Bytes)-len(b), r)
		switch {
		case ok:
			return out, nil
		case i.Loose:
			return b, nil
		case coarse > coarsest:
			return nil, fmt.Errorf("an image of %dx%d pixels takes at least %d bytes as %s, %d were asked for", i.Width, i.Height, len(b), i.Format, i.Bytes)
		}
		if b, err = i.file(p, coarse); err != nil {
			return nil, err
		}
	}
}

// coarsest is how often a picture may be made coarser, so that it takes fewer bytes.
const coarsest = 4

// file encodes a picture; the coarser, the fewer bytes it takes. It may change
// the picture.
func (i *Image) file(p *image.YCbCr, coarse int) ([]byte, error) {
	var b bytes.Buffer
	if i.Format == PNG {
		level := png.BestSpeed
		if coarse > 0 {
			level = png.DefaultCompression
			for k := range p.Y {
				p.Y[k] &= 0xff << (2*coarse - 1)
			}
		}
		err := (&png.Encoder{CompressionLevel: level}).Encode(&b, gray(p))
		return b.Bytes(), err
	}
	err := jpeg.Encode(&b, p, &jpeg.Options{Quality: []int{75, 40, 20, 8, 1}[coarse]})
	return b.Bytes(), err
}

// Least is how many bytes an image of this kind can be asked to have: what a
// few of them take at their coarsest, and a quarter for the others.
func (i *Image) Least() int64 {
	if i.Check() != nil {
		return 0
	}
	tries, most := 4, 0
	if i.Width*i.Height > 1<<21 {
		tries = 1
	}
	for id := range tries {
		x := *i
		x.ID = uint64(id)
		p := x.paint(stat.Random(0, "image", x.ID))
		if b, err := x.file(p, coarsest); err == nil {
			most = max(most, len(b))
		}
	}
	return int64(most + most/4 + padding)
}

// padding is the room of the smallest chunk that fills a PNG up.
const padding = 12

// paint draws the picture as JPEG keeps it: brightness in full, colour at half
// the resolution.
func (i *Image) paint(r *rand.Rand) *image.YCbCr {
	p := image.NewYCbCr(image.Rect(0, 0, i.Width, i.Height), image.YCbCrSubsampleRatio420)
	field(p.Y, p.YStride, r)
	field(p.Cb, p.CStride, r)
	field(p.Cr, p.CStride, r)
	for range 12 {
		x, y := r.IntN(i.Width), r.IntN(i.Height)
		w, h := 1+r.IntN(1+i.Width/3), 1+r.IntN(1+i.Height/3)
		shade, cb, cr := byte(r.IntN(256)), byte(r.IntN(256)), byte(r.IntN(256))
		for row := y; row < min(y+h, i.Height); row++ {
			for col := x; col < min(x+w, i.Width); col++ {
				p.Y[p.YOffset(col, row)] = shade
			}
			if row%2 == 0 {
				for col := x; col < min(x+w, i.Width); col += 2 {
					c := p.COffset(col, row)
					p.Cb[c], p.Cr[c] = cb, cr
				}
			}
		}
	}
	return p
}

// field fills a plane with a slope and a fine grain of its own.
func field(plane []byte, stride int, r *rand.Rand) {
	a, dx, dy := r.Uint32N(256<<16), r.Uint32N(40<<16)/uint32(stride), r.Uint32N(40<<16)/uint32(stride)
	grain := r.Uint32() | 1
	for k := range plane {
		x, y := uint32(k%stride), uint32(k/stride)
		v := (a + dx*x + dy*y) >> 16 & 511
		if v > 255 {
			v = 511 - v // no edge where the slope turns
		}
		n := (x*0x9e37 ^ y*0x79b9) * grain >> 30 // 0 to 3
		plane[k] = byte(min(v+n, 255))
	}
}

// gray is the picture's brightness alone.
func gray(p *image.YCbCr) *image.Gray {
	return &image.Gray{Pix: p.Y, Stride: p.YStride, Rect: p.Rect}
}

// padJPEG puts comment segments behind the file's first marker.
func padJPEG(file []byte, n int, r *rand.Rand) ([]byte, bool) {
	if n < 0 {
		return nil, false
	}
	const longest = 65535 // of a segment, its length field included
	out := append(make([]byte, 0, len(file)+n), file[:2]...)
	for n > 0 {
		size := min(n, longest+2)
		if size < 4 { // too little for a segment: fill bytes before the next marker
			for range size {
				out = append(out, 0xff)
			}
			break
		}
		out = binary.BigEndian.AppendUint16(append(out, 0xff, 0xfe), uint16(size-2))
		out = noise(out, size-4, r)
		n -= size
	}
	return append(out, file[2:]...), true
}

// padPNG puts a private chunk, which decoders skip, before the last one.
func padPNG(file []byte, n int, r *rand.Rand) ([]byte, bool) {
	const frame, end = 12, 12 // length, type and checksum of a chunk; all of IEND
	if n == 0 {
		return file, true
	}
	if n < frame {
		return nil, false
	}
	at := len(file) - end
	out := append(make([]byte, 0, len(file)+n), file[:at]...)
	out = binary.BigEndian.AppendUint32(out, uint32(n-frame))
	from := len(out)
	out = noise(append(out, "paDd"...), n-frame, r)
	out = binary.BigEndian.AppendUint32(out, crc32.ChecksumIEEE(out[from:]))
	return append(out, file[at:]...), true
}

// noise appends n bytes that are no marker of a JPEG.
func noise(b []byte, n int, r *rand.Rand) []byte {
	for n > 0 {
		x := r.Uint64() & 0x7f7f7f7f7f7f7f7f
		for range min(n, 8) {
			b = append(b, byte(x))
			x >>= 8
		}
		n -= min(n, 8)
	}
	return b
}
