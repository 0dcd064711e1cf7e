package corpus

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"

	"github.com/klauspost/compress/zstd"
)

// magic is the first line of a model's file; the rest is one zstd frame.
const magic = "tokamak-markov 1\n"

// Bounds of a file: what a larger one holds no model of ours needs.
const (
	maxModel    = 512 << 20 // bytes, unpacked
	maxUnits    = 1 << 22
	maxContexts = 1 << 25
)

// Write writes the model: its first line, then one zstd frame with the units
// and, for each length of context, the contexts in order with their
// continuations and counts, all as varints.
func (m *Markov) Write(w io.Writer) error {
	if _, err := io.WriteString(w, magic); err != nil {
		return err
	}
	z, err := zstd.NewWriter(w, zstd.WithEncoderLevel(zstd.SpeedBetterCompression), zstd.WithEncoderConcurrency(1))
	if err != nil {
		return err
	}
	b := bufio.NewWriter(z)
	put := func(v uint64) { _, _ = b.Write(binary.AppendUvarint(nil, v)) } // the flush tells
	for _, v := range []uint64{uint64(m.order), uint64(m.owners), uint64(m.texts), uint64(len(m.units) - 1)} {
		put(v)
	}
	for _, u := range m.units[1:] {
		put(uint64(len(u)))
		_, _ = b.WriteString(u)
	}
	for n := range m.levels {
		m.levels[n].write(n, put)
	}
	return errors.Join(b.Flush(), z.Close())
}

func (l *level) write(n int, put func(uint64)) {
	put(uint64(len(l.contexts)))
	for i, c := range l.contexts {
		for _, id := range c[:n] {
			put(uint64(id))
		}
		from, to := l.from[i], l.from[i+1]
		put(uint64(to - from))
		id, sum := uint32(0), uint32(0)
		for k := from; k < to; k++ {
			put(uint64(l.next[k] - id))
			put(uint64(l.upTo[k] - sum))
			id, sum = l.next[k], l.upTo[k]
		}
	}
}

// ReadMarkov reads what [Markov.Write] wrote, and nothing else: a file that is
// cut, changed or too large is an error.
func ReadMarkov(r io.Reader) (*Markov, error) {
	head := make([]byte, len(magic))
	if _, err := io.ReadFull(r, head); err != nil || string(head) != magic {
		return nil, fmt.Errorf("no Markov model: expected %q in its first line", magic[:len(magic)-1])
	}
	z, err := zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(maxModel), zstd.WithDecoderLowmem(true))
	if err != nil {
		return nil, err
	}
	defer z.Close()
	d := &modelReader{r: bufio.NewReader(io.LimitReader(z, maxModel))}
	m := d.model()
	if d.err == nil {
		if _, err := d.r.ReadByte(); !errors.Is(err, io.EOF) {
			d.fail("there is something behind its end")
		}
	}
	if d.err != nil {
		return nil, fmt.Errorf("Markov model: %w", d.err)
	}
	return m, m.check()
}

// modelReader reads a model; after the first error it reads nothing more.
type modelReader struct {
	r   *bufio.Reader
	err error
}

func (d *modelReader) fail(format string, args ...any) {
	if d.err == nil {
		d.err = fmt.Errorf(format, args...)
	}
}

// number reads a number from least to most.
func (d *modelReader) number(what string, least, most uint64) uint64 {
	if d.err != nil {
		return least
	}
	v, err := binary.ReadUvarint(d.r)
	switch {
	case err != nil:
		d.fail("%s: the file is cut or damaged", what)
	case v < least || v > most:
		d.fail("%s: expected a number from %d to %d, found %d", what, least, most, v)
	default:
		return v
	}
	return least
}

func (d *modelReader) model() *Markov {
	m := &Markov{
		order:  int(d.number("order", leastOrder, mostOrder)),
		owners: int(d.number("owners", leastOwners, mostOwners)),
		texts:  int64(d.number("texts", 0, 1<<62)),
		units:  []string{edge},
	}
	var text bytes.Buffer
	for range d.number("words", 1, maxUnits) {
		text.Reset()
		n := d.number("length of a word", 1, longestUnit+1)
		if d.err == nil {
			if _, err := io.CopyN(&text, d.r, int64(n)); err != nil {
				d.fail("a word: the file is cut or damaged")
			}
		}
		if d.err != nil {
			return nil
		}
		if !utf8.Valid(text.Bytes()) || text.String() <= m.units[len(m.units)-1] {
			d.fail("expected words in order, as UTF-8")
			return nil
		}
		m.units = append(m.units, text.String())
	}
	m.levels = make([]level, m.order)
	for n := range m.levels {
		d.level(&m.levels[n], n, uint64(len(m.units)-1))
	}
	return m
}

func (d *modelReader) level(l *level, n int, last uint64) {
	most := uint64(maxContexts)
	least := uint64(0)
	if n == 0 {
		least, most = 1, 1
	}
	for range d.number("contexts", least, most) {
		var c [mostOrder - 1]uint32
		for i := range c[:n] {
			c[i] = uint32(d.number("context", 0, last))
		}
		if k := len(l.contexts); k > 0 && !before(l.contexts[k-1], c) {
			d.fail("expected contexts in order")
		}
		l.contexts, l.from = append(l.contexts, c), append(l.from, uint32(len(l.next)))
		id, sum := uint64(0), uint64(0)
		for i := range d.number("continuations", 1, last+1) {
			step := uint64(1)
			if i == 0 {
				step = 0
			}
			id += d.number("continuation", step, last-min(id, last))
			count := d.number("count", 1, 1<<32-1)
			if sum += count; sum > 1<<32-1 {
				d.fail("counts that are too large")
			}
			if d.err != nil {
				return
			}
			l.next, l.upTo = append(l.next, uint32(id)), append(l.upTo, uint32(sum))
		}
		if d.err != nil {
			return
		}
	}
	l.from = append(l.from, uint32(len(l.next)))
}

func before(a, b [mostOrder - 1]uint32) bool {
	for i := range a {
		if a[i] != b[i] {
			return a[i] < b[i]
		}
	}
	return false
}
