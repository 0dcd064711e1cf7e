package trace

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

const (
	// bufferSize of reading: also how far the content is looked into without
	// waiting for more of it.
	bufferSize = 256 << 10
	// maxWindow bounds what a zstd stream may make us keep.
	maxWindow = 128 << 20
)

// source is a content as text: unpacked, without byte order mark.
type source struct {
	*bufio.Reader
	close []func() error
}

// unpack finds out by its first bytes how a content is packed.
func unpack(f io.ReadCloser) (*source, error) {
	s := &source{Reader: bufio.NewReaderSize(f, bufferSize), close: []func() error{f.Close}}
	if err := s.decompress(); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	mark, _ := s.Peek(3)
	switch {
	case string(mark) == "\xef\xbb\xbf":
		_, _ = s.Discard(3)
	case len(mark) >= 2 && (string(mark[:2]) == "\xff\xfe" || string(mark[:2]) == "\xfe\xff"):
		return nil, errors.Join(errors.New("is UTF-16: expected UTF-8: convert it, as with iconv -f UTF-16 -t UTF-8"), s.Close())
	}
	return s, nil
}

func (s *source) decompress() error {
	magic, _ := s.Peek(4)
	switch m := string(magic); {
	case len(m) >= 2 && m[:2] == "\x1f\x8b":
		z, err := gzip.NewReader(s.Reader)
		if err != nil {
			return fmt.Errorf("gzip: %w", brokenOff(err))
		}
		z.Multistream(false)
		packed := s.Reader
		s.Reader = bufio.NewReaderSize(&members{packed, z}, bufferSize)
		// Closing repeats the error of reading.
		s.close = append(s.close, func() error { _ = z.Close(); return nil })
	case m == "\x28\xb5\x2f\xfd":
		z, err := zstd.NewReader(s.Reader, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(maxWindow))
		if err != nil {
			return fmt.Errorf("zstd: %w", err)
		}
		s.Reader = bufio.NewReaderSize(&unpacked{z, "zstd"}, bufferSize)
		s.close = append(s.close, func() error { z.Close(); return nil })
	case m == "PAR1":
		return errors.New("is Parquet, which is not read: expected JSON lines, a JSON array or CSV")
	case m == "PK\x03\x04" && s.office():
		return errors.New("is an Excel workbook or another office document: save the sheet as CSV (UTF-8)")
	case len(m) >= 3 && m[:3] == "BZh", m == "\xfd7zX", len(m) >= 4 && m[:4] == "PK\x03\x04":
		return errors.New("is packed in a way that is not read: expected it plain, gzip or zstd")
	}
	return nil
}

// office tells whether a zip file is a document of an office program.
func (s *source) office() bool {
	b, _ := s.Peek(s.Buffered())
	return bytes.Contains(b, []byte("[Content_Types].xml")) || bytes.Contains(b, []byte("application/vnd.oasis"))
}

// Close ends the reading.
func (s *source) Close() error {
	var err error
	for i := len(s.close) - 1; i >= 0; i-- {
		err = errors.Join(err, s.close[i]())
	}
	s.close = nil
	return err
}

// first returns the first byte that is no space, which stays unread, and how
// many ends of lines stand in front of it; io.EOF where there is none.
func (s *source) first() (c byte, lines int64, err error) {
	for range maxEndless {
		c, err := s.ReadByte()
		switch {
		case err != nil:
			return 0, lines, err
		case c == '\n':
			lines++
		case c != ' ' && c != '\t' && c != '\r':
			return c, lines, s.UnreadByte()
		}
	}
	return 0, lines, fmt.Errorf("has nothing but spaces and empty lines in its first %s", size(maxEndless))
}
