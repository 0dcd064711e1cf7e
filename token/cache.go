package token

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"hash/crc32"
	"math"
	"os"
	"path/filepath"
)

// Cache is a folder that keeps what was read of each tokenizer.json, in a form
// that takes a few milliseconds to read, named by the hash of the file's
// content. It is safe for several writers, and never the reason of an error:
// where it cannot be read or written, or what it holds is damaged, the file is
// read anew.
type Cache struct {
	// Dir is the folder; empty: nothing is kept.
	Dir string
}

// CacheVariable names the environment variable that says where tokenizers are
// kept: a folder, or off.
const CacheVariable = "TOKAMAK_TOKENIZER_CACHE"

// UserCache returns the user's cache, tokamak/tokenizers below os.UserCacheDir,
// or what the environment variable [CacheVariable] says.
func UserCache() Cache {
	switch dir := os.Getenv(CacheVariable); dir {
	case "":
	case "off":
		return Cache{}
	default:
		return Cache{dir}
	}
	dir, err := os.UserCacheDir()
	if err != nil {
		return Cache{}
	}
	return Cache{filepath.Join(dir, "tokamak", "tokenizers")}
}

// cacheMagic begins each file of a cache and says its form's version.
const cacheMagic = "tokamak tokenizer 1\n"

func (c Cache) path(sum [sha256.Size]byte) string {
	return filepath.Join(c.Dir, hex.EncodeToString(sum[:])+".bin")
}

// load returns what was kept, nil if nothing or damaged.
func (c Cache) load(sum [sha256.Size]byte) *parsed {
	if c.Dir == "" {
		return nil
	}
	info, err := os.Stat(c.path(sum))
	if err != nil || info.Size() > 2*maxFile {
		return nil
	}
	b, err := os.ReadFile(c.path(sum))
	if err != nil {
		return nil
	}
	p, err := decodeParsed(b, sum)
	if err != nil {
		return nil
	}
	return p
}

// store keeps what was read, if it can.
func (c Cache) store(sum [sha256.Size]byte, p *parsed) {
	if c.Dir == "" || os.MkdirAll(c.Dir, 0o700) != nil {
		return
	}
	f, err := os.CreateTemp(c.Dir, "new-*")
	if err != nil {
		return
	}
	_, err = f.Write(p.append(nil, sum))
	err = errors.Join(err, f.Close())
	if err == nil {
		err = os.Rename(f.Name(), c.path(sum))
	}
	if err != nil {
		os.Remove(f.Name()) // best effort: it holds nothing that is missed
	}
}

// append writes what was read: the magic, the source's hash, a checksum of what
// follows, and then each list behind its length.
func (p *parsed) append(b []byte, sum [sha256.Size]byte) []byte {
	le := binary.LittleEndian
	b = append(append(b, cacheMagic...), sum[:]...)
	check := len(b)
	b = le.AppendUint32(b, 0)
	b = append(le.AppendUint32(b, uint32(len(p.rest))), p.rest...)
	b = append(le.AppendUint32(b, uint32(len(p.names.blob))), p.names.blob...)
	b = le.AppendUint32(b, uint32(len(p.names.offsets)))
	for _, o := range p.names.offsets {
		b = le.AppendUint32(b, o)
	}
	b = le.AppendUint32(b, uint32(len(p.scores)))
	for _, s := range p.scores {
		b = le.AppendUint64(b, math.Float64bits(s))
	}
	b = le.AppendUint32(b, uint32(len(p.merges)))
	for _, m := range p.merges {
		b = le.AppendUint32(le.AppendUint32(le.AppendUint32(b, m.a), m.b), m.to)
	}
	le.PutUint32(b[check:], crc32.Checksum(b[check+4:], crc32.MakeTable(crc32.Castagnoli)))
	return b
}

var errCache = errors.New("a damaged file of the cache")

// decodeParsed reads what append wrote.
func decodeParsed(b []byte, sum [sha256.Size]byte) (*parsed, error) {
	le := binary.LittleEndian
	head := len(cacheMagic) + len(sum) + 4
	if len(b) < head || string(b[:len(cacheMagic)]) != cacheMagic || string(b[len(cacheMagic):head-4]) != string(sum[:]) ||
		le.Uint32(b[head-4:]) != crc32.Checksum(b[head:], crc32.MakeTable(crc32.Castagnoli)) {
		return nil, errCache
	}
	b = b[head:]
	bad := false
	list := func(size int) (int, []byte) { // number of items, and their bytes
		if len(b) < 4 {
			bad = true
			return 0, nil
		}
		n := int(le.Uint32(b))
		b = b[4:]
		if int64(n)*int64(size) > int64(len(b)) {
			bad = true
			return 0, nil
		}
		v := b[:n*size]
		b = b[n*size:]
		return n, v
	}
	p := &parsed{}
	_, p.rest = list(1)
	_, p.names.blob = list(1)
	n, v := list(4)
	p.names.offsets = make([]uint32, n)
	for i := range n {
		p.names.offsets[i] = le.Uint32(v[4*i:])
		if i > 0 && p.names.offsets[i] < p.names.offsets[i-1] {
			bad = true
		}
	}
	n, v = list(8)
	p.scores = make([]float64, n)
	for i := range n {
		p.scores[i] = math.Float64frombits(le.Uint64(v[8*i:]))
	}
	n, v = list(12)
	p.merges = make([]mergeRule, n)
	for i := range n {
		p.merges[i] = mergeRule{le.Uint32(v[12*i:]), le.Uint32(v[12*i+4:]), le.Uint32(v[12*i+8:])}
	}
	size := len(p.names.offsets)
	if bad || size == 0 || p.names.offsets[0] != 0 || int64(p.names.offsets[size-1]) != int64(len(p.names.blob)) {
		return nil, errCache
	}
	for _, m := range p.merges {
		if int(max(m.a, m.b, m.to)) >= size-1 {
			return nil, errCache
		}
	}
	return p, nil
}
