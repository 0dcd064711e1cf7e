package trace

import (
	"errors"
	"strconv"
	"strings"

	"github.com/valyala/fastjson"
)

var errDeep = errors.New("is nested too deep")

func decimalText(n int64) string { return strconv.FormatInt(n, 10) }

// aiperfInputs are the files that AIPerf reads, besides mooncake_trace.
func aiperfInputs() []format {
	return []format{
		{name: "aiperf-single-turn", about: "AIPerf single_turn and random_pool: JSON lines of text or texts, images, timestamp or delay (ms), output_length", shape: objects,
			object: func(o object) bool {
				return o.hasAny("text", "texts", "image", "images", "audio", "audios", "video", "videos") && !isOwn(o) && !isMooncake(o) &&
					!o.hasAny("requests", "ai_log", "turns", "conversations", "attributes", "payloads", "body", "request", "level", "severity", "log", "input")
			},
			open: func(*Options) decoder { return &aiperfTurns{} }},
		{name: "aiperf-multi-turn", about: "AIPerf multi_turn: JSON lines of session_id and turns as in single_turn", shape: objects,
			object: func(o object) bool { return turnsOf(o) && !isDAG(o) && !o.has("input_tokens") }, // those are lengths, in rows of ours
			open:   func(*Options) decoder { return &aiperfTurns{} }},
		{name: "aiperf-dag", about: "AIPerf dag_jsonl", shape: objects, object: isDAG,
			refused: "sessions that fork and join cannot be sent; turn it into multi_turn"},
		{name: "aiperf-inputs", about: "AIPerf inputs.json: data of session_id and payloads, whole bodies", shape: objects,
			array: []string{"data"},
			object: func(o object) bool {
				return o.has("payloads") || listOf(o, "data", "payloads")
			},
			open: func(*Options) decoder { return &aiperfPayloads{} }},
	}
}

func turnsOf(o object) bool {
	v := o.v.Get("turns")
	return v != nil && v.Type() == fastjson.TypeArray
}

// isDAG recognises sessions that fork or spawn others.
func isDAG(o object) bool {
	if !turnsOf(o) {
		return false
	}
	if o.has("pre_session_spawns") {
		return true
	}
	for _, t := range o.v.Get("turns").GetArray() {
		if t.Get("forks") != nil || t.Get("spawns") != nil || t.Get("messages") != nil {
			return true
		}
	}
	return false
}

// listOf tells whether a field is a list of which the first entry has a key.
func listOf(o object, key, of string) bool {
	v := o.v.Get(key)
	return v != nil && v.Type() == fastjson.TypeArray && len(v.GetArray()) > 0 && v.GetArray()[0].Get(of) != nil
}

// aiperfTurns reads single turns and sessions of them.
type aiperfTurns struct{ p objectParser }

func (d *aiperfTurns) decode(piece []byte, out *batch) {
	o, err := d.p.object(piece)
	if err != nil {
		out.fail(err)
		return
	}
	r := out.row()
	r.Session = o.text("session_id")
	turns := []*fastjson.Value{o.v}
	if o.get("turns") != nil {
		turns = o.list("turns")
	}
	for i, v := range turns {
		t := o
		if t.v = v; len(turns) > 1 || o.get("turns") != nil {
			t.path = "turn " + strconv.Itoa(i+1) + ": "
		}
		d.turn(t, r, i)
	}
	if len(r.Turns) == 0 {
		o.fail("expected turns")
	}
	if len(r.Turns) == 1 {
		r.Output = r.Turns[0].Output
	}
	if *o.err != nil {
		out.drop(*o.err)
	}
}

// turn reads one turn. The pause in front of a turn is its think time.
func (d *aiperfTurns) turn(o object, r *Row, i int) {
	at, absolute, zoneless, timed := o.moment(millis, "timestamp")
	if i == 0 {
		r.At, r.Absolute, r.Zoneless, r.Timed = at, absolute, zoneless, timed
	}
	t := Turn{Output: o.tokens("output_length"), Think: o.span(millis, "delay")}
	if i == 0 {
		t.Think = 0
	}
	role := o.text("role")
	if role == "" {
		role = "user"
	}
	images := r.Images + r.Audios + r.Videos
	shown := o.references(r, beside()...)
	text := strings.Join(o.texts("text", "texts"), "\n")
	if text == "" && r.Images+r.Audios+r.Videos == images {
		o.fail("%sexpected text, texts, or images, audio or video", o.path)
	}
	t.Messages = []Message{{Role: role, Text: text, Media: shown}}
	r.Turns = append(r.Turns, t)
}

// texts returns a text and a list of them, each a text or an object with
// contents.
func (o object) texts(one, many string) []string {
	var list []string
	if o.get(one) != nil {
		list = append(list, o.text(one))
	}
	for _, v := range o.list(many) {
		switch v.Type() {
		case fastjson.TypeString:
			list = append(list, string(v.GetStringBytes()))
		case fastjson.TypeObject:
			for _, c := range v.GetArray("contents") {
				list = append(list, string(c.GetStringBytes()))
			}
		default:
			o.wrong(v, many, "texts")
		}
	}
	return list
}

// aiperfPayloads reads whole bodies, the turns of a session one after another.
type aiperfPayloads struct{ p objectParser }

func (d *aiperfPayloads) decode(piece []byte, out *batch) {
	o, err := d.p.object(piece)
	if err != nil {
		out.fail(err)
		return
	}
	if o.get("data") != nil && o.get("payloads") == nil {
		for _, v := range o.list("data") {
			d.session(d.p.of(v), out)
		}
		return
	}
	d.session(o, out)
}

func (d *aiperfPayloads) session(o object, out *batch) {
	if o.v.Type() != fastjson.TypeObject || o.get("payloads") == nil {
		out.fail(errors.New("expected session_id and payloads"))
		return
	}
	session := o.text("session_id")
	for i, v := range o.list("payloads") {
		r := out.row()
		r.Session, r.Turn = session, int64(i)
		if o.body(r, v); *o.err != nil {
			out.drop(*o.err)
			*o.err = nil
		}
	}
	if *o.err != nil {
		out.fail(*o.err)
	}
}
