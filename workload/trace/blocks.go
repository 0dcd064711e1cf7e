package trace

import (
	"github.com/valyala/fastjson"
)

// blocks sets a row's block ids: numbers, or texts such as hashes.
func (o object) blocks(r *Row, key string, size int64) {
	list := o.list(key)
	if len(list) == 0 {
		return
	}
	for _, v := range list {
		id, ok := blockID(o.raw(v), v.Type())
		if !ok {
			o.fail("expected %s%s to be a list of numbers or texts, found %s", o.path, key, kind(v))
			return
		}
		r.Blocks = append(r.Blocks, id)
	}
	r.BlockTokens = size
	if n := int64(len(r.Blocks)); *o.err == nil && (n-1)*size >= r.Input {
		o.fail("expected at most %d %s for %d tokens in blocks of %d, found %d", (r.Input+size-1)/size, key, r.Input, size, n)
	}
}

func blockID(b []byte, t fastjson.Type) (uint64, bool) {
	if n, exact, ok := decimal(b, 0); ok && exact {
		return uint64(n), true
	}
	if t != fastjson.TypeString && t != fastjson.TypeNumber || len(b) == 0 {
		return 0, false
	}
	return hash(14695981039346656037, b), true
}

// hash is FNV-1a, going on from h.
func hash(h uint64, b []byte) uint64 {
	for _, c := range b {
		h = (h ^ uint64(c)) * 1099511628211
	}
	return h
}
