package trace

import (
	"bufio"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/gzip"
)

// members reads the members of a gzip file one behind the other, so that what
// stands behind the last is told from a member that breaks off.
type members struct {
	packed *bufio.Reader
	z      *gzip.Reader
}

func (m *members) Read(b []byte) (int, error) {
	n, err := m.z.Read(b)
	switch {
	case err == nil || n > 0 && errors.Is(err, io.EOF):
		return n, nil // the end comes again
	case errors.Is(err, io.EOF):
		return 0, m.more()
	}
	return n, fmt.Errorf("gzip: %w", brokenOff(err))
}

// more goes on with the next member; nil where there is one.
func (m *members) more() error {
	for {
		c, err := m.packed.ReadByte()
		if err != nil {
			return err // io.EOF: the end
		}
		if c != 0 { // else padding
			break
		}
	}
	if err := m.packed.UnreadByte(); err != nil {
		return err
	}
	if magic, _ := m.packed.Peek(2); string(magic) != "\x1f\x8b" {
		return errors.New("gzip: other bytes stand behind the end of the packed content: all lines in front were read; unpack the file (gzip -dc) and read what comes out")
	}
	if err := m.z.Reset(m.packed); err != nil {
		return fmt.Errorf("gzip: %w", brokenOff(err))
	}
	m.z.Multistream(false)
	return nil
}

// unpacked says of errors what they are of.
type unpacked struct {
	io.Reader
	kind string
}

func (u *unpacked) Read(b []byte) (int, error) {
	n, err := u.Reader.Read(b)
	if err == nil || errors.Is(err, io.EOF) {
		return n, err
	}
	return n, fmt.Errorf("%s: %w", u.kind, brokenOff(err))
}

// brokenOff says what to do about a packed content that is cut short.
func brokenOff(err error) error {
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("the packed content breaks off (%w): copy the file again, or unpack what is there and read that", err)
	}
	return err
}
