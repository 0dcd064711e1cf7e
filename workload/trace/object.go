package trace

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/valyala/fastjson"
)

// object reads the fields of a JSON object and keeps what was wrong first. An
// error names the field and what it was expected to be, never what it holds:
// texts must not reach errors.
type object struct {
	v       *fastjson.Value
	path    string // in front of names in errors
	err     *error
	scratch *[]byte
}

// objectParser makes objects of pieces.
type objectParser struct {
	fast    fastjson.Parser
	scratch []byte
	err     error
}

// object parses a piece, which must be a JSON object. What it returns is valid
// until the next call.
func (p *objectParser) object(piece []byte) (object, error) {
	v, err := p.fast.ParseBytes(piece)
	if err != nil {
		return object{}, notJSON(piece)
	}
	if v.Type() != fastjson.TypeObject {
		return object{}, fmt.Errorf("expected a JSON object, found %s", kind(v))
	}
	return p.of(v), nil
}

// of starts the reading of an object.
func (p *objectParser) of(v *fastjson.Value) object {
	p.err = nil
	return object{v: v, err: &p.err, scratch: &p.scratch}
}

// notJSON says where a piece stops to be JSON.
func notJSON(piece []byte) error {
	var syntax *json.SyntaxError
	var any json.RawMessage
	if err := json.Unmarshal(piece, &any); errors.As(err, &syntax) {
		return fmt.Errorf("column %d: %w", syntax.Offset, errNotJSON)
	}
	return fmt.Errorf("%w, or nested too deep", errNotJSON)
}

var errNotJSON = errors.New("not JSON")

func kind(v *fastjson.Value) string {
	switch v.Type() {
	case fastjson.TypeObject:
		return "an object"
	case fastjson.TypeArray:
		return "a list"
	case fastjson.TypeString:
		return "a text"
	case fastjson.TypeNumber:
		return "a number"
	case fastjson.TypeNull:
		return "null"
	}
	return "true or false"
}

func (o object) fail(format string, args ...any) {
	if *o.err == nil {
		*o.err = fmt.Errorf(format, args...)
	}
}

func (o object) wrong(v *fastjson.Value, key, want string) {
	o.fail("%s%s is of the wrong type: expected %s, found %s", o.path, key, want, kind(v))
}

// get returns a field or one at a dotted path, nil where it is absent or null.
func (o object) get(key string) *fastjson.Value {
	if key == "" {
		return nil
	}
	v := o.v.Get(key)
	if v == nil && strings.IndexByte(key, '.') > 0 {
		v = dotted(o.v, key, 8)
	}
	if v == nil || v.Type() == fastjson.TypeNull {
		return nil
	}
	return v
}

// dotted follows a path such as usage.prompt_tokens: keys that hold dots
// themselves, numbers of entries in lists from 0, and objects written as texts.
func dotted(v *fastjson.Value, path string, depth int) *fastjson.Value {
	if v.Type() == fastjson.TypeString {
		b := v.GetStringBytes()
		if len(b) == 0 || b[0] != '{' && b[0] != '[' {
			return nil
		}
		var p fastjson.Parser
		inner, err := p.ParseBytes(b)
		if err != nil {
			return nil
		}
		v = inner
	}
	if found := v.Get(path); found != nil {
		return found
	}
	for i := range len(path) {
		if path[i] != '.' || depth == 0 {
			continue
		}
		if inner := v.Get(path[:i]); inner != nil {
			if found := dotted(inner, path[i+1:], depth-1); found != nil {
				return found
			}
		}
	}
	return nil
}

func (o object) has(keys ...string) bool {
	for _, k := range keys {
		if o.v.Get(k) == nil {
			return false
		}
	}
	return true
}

func (o object) hasAny(keys ...string) bool {
	for _, k := range keys {
		if o.v.Get(k) != nil {
			return true
		}
	}
	return false
}

// sub returns a field that is an object; false where it is absent or another
// thing.
func (o object) sub(key string) (object, bool) {
	v := o.get(key)
	if v == nil || v.Type() != fastjson.TypeObject {
		return object{}, false
	}
	o.v, o.path = v, o.path+key+"."
	return o, true
}

// list returns a field that must be a list where it is there.
func (o object) list(key string) []*fastjson.Value {
	v := o.get(key)
	if v == nil {
		return nil
	}
	list, err := v.Array()
	if err != nil {
		o.wrong(v, key, "a list")
	}
	return list
}

// text returns the first of the fields that is there as a text; a number as it
// is written.
func (o object) text(keys ...string) string {
	for _, key := range keys {
		v := o.get(key)
		if v == nil {
			continue
		}
		switch v.Type() {
		case fastjson.TypeString:
			return string(v.GetStringBytes())
		case fastjson.TypeNumber:
			return string(o.raw(v))
		}
		o.wrong(v, key, "a text")
		return ""
	}
	return ""
}

// truth returns a field that is true or false.
func (o object) truth(key string) bool {
	v := o.get(key)
	if v == nil {
		return false
	}
	b, err := v.Bool()
	if err != nil {
		o.wrong(v, key, "true or false")
	}
	return b
}

// raw returns a number as it is written, or a text, valid until the next call.
func (o object) raw(v *fastjson.Value) []byte {
	if v.Type() == fastjson.TypeString {
		return bytes.TrimSpace(v.GetStringBytes())
	}
	*o.scratch = v.MarshalTo((*o.scratch)[:0])
	return *o.scratch
}

// none tells whether a text stands for nothing, as in access logs.
func none(b []byte) bool { return len(b) == 0 || len(b) == 1 && b[0] == '-' }

// whole returns the first of the fields that is there as a whole number from
// least to most; 0 where none is there. Numbers may be written as texts, as
// access logs do.
func (o object) whole(least, most int64, keys ...string) int64 {
	n, _ := o.found(least, most, keys...)
	return n
}

// reasoned sets how many tokens of a row's answer are reasoning, where a field
// tells.
func (o object) reasoned(r *Row, keys ...string) {
	r.Reasoning, r.ReasoningTold = o.found(0, MaxTokens, keys...)
}

// found is whole that tells whether any of the fields says a number.
func (o object) found(least, most int64, keys ...string) (n int64, there bool) {
	for _, key := range keys {
		v := o.get(key)
		if v == nil {
			continue
		}
		if t := v.Type(); t != fastjson.TypeNumber && t != fastjson.TypeString {
			o.wrong(v, key, "a number")
			return 0, false
		}
		b := o.raw(v)
		if v.Type() == fastjson.TypeString && none(b) {
			continue
		}
		n, exact, ok := decimal(b, 0)
		if !ok || !exact || n < least || n > most {
			o.fail("expected %s%s from %d to %d, found %s", o.path, key, least, most, shown(v, b))
			return 0, false
		}
		return n, true
	}
	return 0, false
}

// shown is a value for an error: a number, or of a text that it is one.
func shown(v *fastjson.Value, b []byte) string {
	if v.Type() == fastjson.TypeNumber && len(b) <= 40 {
		return string(b)
	}
	return kind(v)
}

// tokens returns a length.
func (o object) tokens(keys ...string) int64 { return o.whole(0, MaxTokens, keys...) }

// count returns a number of things.
func (o object) count(keys ...string) int64 { return o.whole(0, 1_000_000, keys...) }

// Units of numbers that are times, as powers of ten of a nanosecond.
const (
	seconds = 9
	millis  = 6
	micros  = 3
	nanos   = 0
)

// moment returns the first of the fields that is there as a moment in ns: a
// number in the unit, or a date and time. Absolute says that it counts from the
// Unix epoch, zoneless that it is a date and time without a zone.
func (o object) moment(unit int, keys ...string) (ns int64, absolute, zoneless, there bool) {
	for _, key := range keys {
		v := o.get(key)
		if v == nil {
			continue
		}
		if t := v.Type(); t != fastjson.TypeNumber && t != fastjson.TypeString {
			o.wrong(v, key, "a number or a date and time")
			return 0, false, false, false
		}
		b := o.raw(v)
		if v.Type() == fastjson.TypeString && none(b) {
			continue
		}
		ns, absolute, zoneless, ok := instant(b, unit)
		if !ok && unitOf(b) != "" {
			u := unitOf(b)
			o.fail("expected %s%s in %s or as a date and time, found %s, which looks like %s since 1970: a mapping file with units: {at: %s} reads it (--dataset-map, --map)",
				o.path, key, unitName(unit), shown(v, b), u, u)
			return 0, false, false, false
		}
		if !ok {
			o.fail("expected %s%s to be a number or a date and time, found %s", o.path, key, shown(v, b))
			return 0, false, false, false
		}
		return ns, absolute, zoneless, true
	}
	return 0, false, false, false
}

// instant reads a number of a unit, or a date and time.
func instant(b []byte, unit int) (ns int64, absolute, zoneless, ok bool) {
	if ns, _, ok = decimal(b, unit); ok {
		return ns, ns >= year2000, false, ns > -1<<62 && ns < 1<<62
	}
	ns, zoneless, ok = civil(b)
	return ns, true, zoneless, ok
}

func unitName(unit int) string {
	return map[int]string{seconds: "s", millis: "ms", micros: "us", nanos: "ns"}[unit]
}

// at sets a row's moment of arrival.
func (o object) at(r *Row, unit int, keys ...string) {
	r.At, r.Absolute, r.Zoneless, r.Timed = o.moment(unit, keys...)
}

// span returns the first of the fields that is there as a length of time.
func (o object) span(unit int, keys ...string) time.Duration {
	for _, key := range keys {
		v := o.get(key)
		if v == nil {
			continue
		}
		if t := v.Type(); t != fastjson.TypeNumber && t != fastjson.TypeString {
			o.wrong(v, key, "a number")
			return 0
		}
		b := o.raw(v)
		if v.Type() == fastjson.TypeString && none(b) {
			continue
		}
		n, _, ok := decimal(b, unit)
		if !ok || n < 0 || n > math.MaxInt64/2 {
			o.fail("expected %s%s to be a length of time from 0 on, found %s", o.path, key, shown(v, b))
			return 0
		}
		return time.Duration(n)
	}
	return 0
}

// status sets a row's HTTP status and what follows from it.
func (o object) status(r *Row, keys ...string) {
	r.Status = int(o.whole(0, 999, keys...))
	r.Failed = r.Failed || r.Status >= 400
	r.Told = r.Told || r.Status > 0 || r.Failed
}

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

// keys names the fields of an object for an error, as far as they look like
// names.
func (o object) keys() string {
	var list []string
	obj, err := o.v.Object()
	if err != nil {
		return ""
	}
	obj.Visit(func(key []byte, _ *fastjson.Value) {
		if len(list) < 12 && len(key) <= 40 && len(bytes.TrimFunc(key, func(r rune) bool {
			return r < 128 && (r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("_.-@$", r))
		})) == 0 && len(key) > 0 {
			list = append(list, string(key))
		}
	})
	return strings.Join(list, ", ")
}
