package trace

import "github.com/valyala/fastjson"

// agentTraces are recorded sessions of agents.
func agentTraces() []format {
	return []format{
		{name: "weka", about: "WEKA and AgentX: JSON of id, block_size and requests of t, in, out, hash_ids (s, blocks of 64)", shape: objects, ends: true,
			array:  []string{"requests"},
			object: isWeka,
			open: func(o *Options) decoder {
				return &weka{size: o.BlockTokens}
			}},
	}
}

// wekaBlock is the length of blocks where a trace does not say it.
const wekaBlock = 64

// isWeka recognises a whole trace, or one request of it where they are read
// one by one.
func isWeka(o object) bool {
	if o.has("t", "in", "out") {
		return true
	}
	v := o.v.Get("requests")
	if v == nil || v.Type() != fastjson.TypeArray || len(v.GetArray()) == 0 {
		return false
	}
	first := v.GetArray()[0]
	return first.Get("t") != nil && (first.Get("in") != nil || string(first.GetStringBytes("type")) == "subagent")
}

// weka reads the requests of sessions of agents. Each holds its whole prompt.
type weka struct {
	p, outer objectParser
	elements *elements // where requests are read one by one
	size     int64     // of blocks; 0: as the trace says
	session  string
	block    int64
	local    uint64 // what the block ids of a session are told apart by
	seen     int64  // sessions
	turn     int64
	agents   int64
}

func (d *weka) within(e *elements) { d.elements = e }

func (d *weka) decode(piece []byte, out *batch) {
	o, err := d.p.object(piece)
	if err != nil {
		out.fail(err)
		return
	}
	if o.get("requests") == nil || o.has("t") {
		if d.elements != nil && d.elements.fresh {
			d.elements.fresh = false
			context, err := d.outer.object(append(d.elements.context, '}'))
			if err == nil {
				d.begin(context)
			}
		}
		d.request(o, out, d.session, 0)
		return
	}
	d.begin(o)
	if *o.err != nil {
		out.fail(*o.err)
		return
	}
	for _, v := range o.list("requests") {
		d.request(d.p.of(v), out, d.session, 0)
	}
}

// begin starts a session.
func (d *weka) begin(o object) {
	d.seen++
	d.turn, d.agents = 0, 0
	d.session = o.text("id", "session_id")
	if d.session == "" {
		d.session = decimalText(d.seen)
	}
	if d.block = d.size; d.block == 0 {
		d.block = o.whole(1, MaxTokens, "block_size")
	}
	if d.block == 0 {
		d.block = wekaBlock
	}
	d.local = 0
	if o.text("hash_id_scope") != "global" {
		d.local = hash(14695981039346656037, []byte(d.session))
	}
}

// request reads a request, or those of a subagent, which is a session of its
// own.
func (d *weka) request(o object, out *batch, session string, depth int) {
	if o.text("type") == "subagent" || o.get("requests") != nil {
		if depth > 8 {
			out.fail(errDeep)
			return
		}
		d.agents++
		agent := o.text("agent_id")
		if agent == "" {
			agent = decimalText(d.agents)
		}
		turn := d.turn
		d.turn = 0
		for _, v := range o.list("requests") {
			d.request(d.p.of(v), out, session+"/"+agent, depth+1)
		}
		d.turn = turn
		return
	}
	if d.block == 0 {
		d.begin(object{v: o.v, err: new(error), scratch: o.scratch})
	}
	r := out.row()
	o.at(r, seconds, "t")
	r.Session, r.Turn, r.Model = session, d.turn, o.text("model")
	d.turn++
	r.Input, r.Output = o.whole(1, MaxTokens, "in"), o.tokens("out")
	r.Duration, r.FirstToken = o.span(seconds, "api_time"), o.span(seconds, "ttft")
	o.blocks(r, "hash_ids", d.block)
	for i := range r.Blocks {
		if d.local != 0 {
			r.Blocks[i] = (r.Blocks[i] ^ d.local) * 1099511628211
		}
	}
	if !r.Timed {
		o.fail("expected t")
	}
	if *o.err != nil {
		out.drop(*o.err)
	}
}
