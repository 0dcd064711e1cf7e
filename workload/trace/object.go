package trace

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

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
