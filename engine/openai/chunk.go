package openai

import (
	"github.com/tokamak-bench/tokamak/engine"
	"github.com/tokamak-bench/tokamak/wire"
)

// chunk reads one JSON object of a response: a chunk of a stream or a whole
// answer. It returns false, and has added no content, if the text is no JSON.
func (d *decoder) chunk(data []byte, e wire.Event) bool {
	if d.match(data, e) {
		return true
	}
	d.usual = true
	rows, packed, last, content := d.rows, len(d.packed), d.last, len(d.content)
	parts := len(d.parts)
	var lastPart engine.Part
	if parts > 0 {
		lastPart = d.parts[parts-1]
	}
	before, u := d.usage, d.u
	violations, notes, blanks, usageAt := len(d.a.Violations), len(d.a.Notes), len(d.a.Blanks.At), d.a.UsageAt
	s := scanner{b: data}
	flat := d.members(&s, e)
	if !s.end() {
		d.rows, d.packed, d.last, d.content = rows, d.packed[:packed], last, d.content[:content]
		d.parts = d.parts[:parts]
		if parts > 0 {
			d.parts[parts-1] = lastPart
		}
		d.usage, d.u = before, u
		d.a.Violations, d.a.Notes = d.a.Violations[:violations], d.a.Notes[:notes]
		d.a.Blanks.At, d.a.Blanks.Kind, d.a.UsageAt = d.a.Blanks.At[:blanks], d.a.Blanks.Kind[:blanks], usageAt
		return false
	}
	if flat {
		d.usual = false
		d.setError(parseError(data))
	}
	d.learn(data, rows)
	if d.usage.thisOne {
		d.a.UsageAt = e.At
	}
	d.usage.event(d, rows)
	return true
}

// members reads the top level; it reports whether the object itself is an
// error.
func (d *decoder) members(s *scanner, e wire.Event) (flat bool) {
	if s.peek() != '{' {
		d.shape(s)
		return false
	}
	first := s.open('{')
	for k, ok := s.key(&first); ok; k, ok = s.key(&first) {
		switch string(k) {
		case "choices":
			d.readChoices(s, e)
		case "id":
			d.id(s)
		case "usage", "time_info":
			d.readUsage(s)
		case "error":
			if d.present(s) {
				flat = true
			}
		case "object":
			if t, _ := d.str(s); string(t) == "error" {
				flat = true
			}
		case "timings":
			d.usual = false
			d.timings(s)
		case "x_groq":
			d.usual = false
			d.groq(s)
		default:
			s.skip()
		}
	}
	return flat
}

func (d *decoder) readUsage(s *scanner) {
	d.usual = d.usual && s.peek() != '{'
	d.usage.read(s)
	if d.usage.misshapen {
		d.usual = false
		d.violation(badShape)
	}
}

// shape passes a value of a type that the API does not have there; null is
// as good as absent.
func (d *decoder) shape(s *scanner) {
	if s.peek() != 'n' {
		d.usual = false
		d.violation(badShape)
	}
	s.skip()
}

// str returns a string's raw text, or passes what is none.
func (d *decoder) str(s *scanner) (raw []byte, escaped bool) {
	if s.peek() != '"' {
		s.skip()
		return nil, false
	}
	return s.text()
}

// present passes a value and tells whether it is there: neither null nor an
// empty string or object.
func (d *decoder) present(s *scanner) bool {
	s.peek()
	start := s.p
	s.skip()
	switch string(s.b[start:s.p]) {
	case "null", `""`, "{}", "false", "0":
		return false
	}
	return !s.bad
}

func (d *decoder) id(s *scanner) {
	raw, escaped := d.str(s)
	switch {
	case len(raw) == 0 || len(raw) > 256 || escaped || string(raw) == d.a.ServerID:
	case d.a.ServerID == "":
		d.a.ServerID = clean(string(raw), 128)
	case clean(string(raw), 128) != d.a.ServerID:
		d.note(idChanged)
	}
}

func (d *decoder) groq(s *scanner) {
	if s.peek() != '{' {
		s.skip()
		return
	}
	first := s.open('{')
	for k, ok := s.key(&first); ok; k, ok = s.key(&first) {
		if string(k) == "usage" {
			d.readUsage(s)
		} else {
			s.skip()
		}
	}
}

func (d *decoder) readChoices(s *scanner, e wire.Event) {
	if s.peek() != '[' {
		d.shape(s)
		return
	}
	first := s.open('[')
	for s.item(&first) {
		d.choice(s, e)
	}
}

// choice reads one element of choices; the index may come after the content.
func (d *decoder) choice(s *scanner, e wire.Event) {
	if s.peek() != '{' {
		d.shape(s)
		return
	}
	start := len(d.content)
	d.pieces, d.spans = d.pieces[:0], d.spans[:0]
	d.role, d.emptyText = false, false
	index := int64(0)
	var finish []byte
	first := s.open('{')
	for k, ok := s.key(&first); ok; k, ok = s.key(&first) {
		switch string(k) {
		case "delta", "message":
			d.delta(s)
		case "text":
			d.field(s, engine.Text)
		case "index":
			if n, ok := s.integer(); ok {
				index = n
			}
		case "finish_reason":
			finish, _ = d.str(s)
		case "usage":
			d.readUsage(s)
		default:
			s.skip()
		}
	}
	if s.bad {
		return
	}
	d.usual = d.usual && len(finish) == 0
	c := d.state(index)
	if c == nil {
		d.violation(badShape)
		d.content = d.content[:start]
		return
	}
	d.commit(e, start, c)
	if len(d.pieces) == 0 {
		d.blank(e)
	}
	if len(finish) > 0 {
		if c.finish != "" && c.finish != string(finish) {
			d.note(finishChanged)
		}
		if c.finish == "" {
			c.finish = finishWord(finish)
		}
	}
}

// finishWord returns a finish reason; the usual ones without allocating.
func finishWord(b []byte) string {
	switch string(b) {
	case "stop":
		return "stop"
	case "length":
		return "length"
	case "tool_calls":
		return "tool_calls"
	}
	return clean(string(b), 64)
}

// delta reads what was added to a choice, or its whole message.
func (d *decoder) delta(s *scanner) {
	if s.peek() != '{' {
		d.shape(s)
		return
	}
	reasoned := false
	first := s.open('{')
	for k, ok := s.key(&first); ok; k, ok = s.key(&first) {
		switch string(k) {
		case "content":
			if s.peek() == '[' {
				d.contentParts(s)
			} else {
				d.field(s, engine.Text)
			}
		case "reasoning_content", "reasoning":
			// Some servers send both names with the same text.
			if reasoned {
				d.usual = false
				s.skip()
				continue
			}
			reasoned = d.field(s, engine.Reasoning)
		case "refusal":
			d.field(s, engine.Refusal)
		case "tool_calls":
			d.toolCalls(s)
		case "function_call":
			d.function(s)
		case "role":
			d.role = true
			s.skip()
		default:
			s.skip()
		}
	}
}

// maxBlanks is how many events without content are kept of an answer.
const maxBlanks = 4096

// blank notes an event that named a choice and held no content.
func (d *decoder) blank(e wire.Event) {
	b := &d.a.Blanks
	if len(b.At) >= maxBlanks {
		return
	}
	kind := engine.BareBlank
	switch {
	case d.role:
		kind = engine.RoleBlank
	case d.emptyText:
		kind = engine.EmptyBlank
	}
	b.At, b.Kind = append(b.At, e.At), append(b.Kind, kind)
}

// field reads a string of content and reports whether it held anything.
func (d *decoder) field(s *scanner, k engine.Kind) bool {
	switch s.peek() {
	case '"':
	case 'n':
		s.skip()
		return false
	case '{', '[':
		if k == engine.Reasoning {
			s.skip() // some gateways put an object there
			return false
		}
		fallthrough
	default:
		d.shape(s)
		return false
	}
	raw, escaped := s.text()
	if len(raw) == 0 {
		d.emptyText = d.emptyText || k == engine.Text
		return false
	}
	if len(d.content)+len(raw) > maxContent {
		d.violation(answerTooLong)
		return true
	}
	if d.content == nil {
		d.content = make([]byte, 0, min(max(d.c.MaxTokens*5, 64), 4096))
	}
	d.textFrom, d.textTo = s.p-1-len(raw), s.p-1
	if escaped || d.u.high != 0 {
		d.usual = d.usual && d.u.high == 0
		d.content = unescape(d.content, raw, &d.u)
	} else {
		d.content = append(d.content, raw...)
	}
	d.pieces = append(d.pieces, engine.Part{End: len(d.content), Kind: k})
	return true
}

// contentParts reads content that is a list of typed parts.
func (d *decoder) contentParts(s *scanner) {
	first := s.open('[')
	for s.item(&first) {
		if s.peek() != '{' {
			d.shape(s)
			continue
		}
		in := s.open('{')
		for k, ok := s.key(&in); ok; k, ok = s.key(&in) {
			switch {
			case string(k) == "text":
				d.field(s, engine.Text)
			case string(k) == "thinking" && s.peek() == '[':
				d.thinkingParts(s)
			case string(k) == "thinking":
				d.field(s, engine.Reasoning)
			default:
				s.skip()
			}
		}
	}
}

func (d *decoder) thinkingParts(s *scanner) {
	first := s.open('[')
	for s.item(&first) {
		if s.peek() != '{' {
			s.skip()
			continue
		}
		in := s.open('{')
		for k, ok := s.key(&in); ok; k, ok = s.key(&in) {
			if string(k) == "text" {
				d.field(s, engine.Reasoning)
			} else {
				s.skip()
			}
		}
	}
}

func (d *decoder) toolCalls(s *scanner) {
	if s.peek() != '[' {
		d.shape(s)
		return
	}
	first := s.open('[')
	for place := int32(0); s.item(&first); place++ {
		if s.peek() != '{' {
			d.shape(s)
			continue
		}
		call, spans := place, len(d.spans)
		in := s.open('{')
		for k, ok := s.key(&in); ok; k, ok = s.key(&in) {
			switch string(k) {
			case "function":
				d.function(s)
			case "index":
				if n, ok := s.integer(); ok && 0 <= n && n < maxCalls {
					call = int32(n)
				}
			default:
				s.skip()
			}
		}
		for i := range d.spans[spans:] {
			d.spans[spans+i].call = call
		}
	}
}

func (d *decoder) function(s *scanner) {
	if s.peek() != '{' {
		d.shape(s)
		return
	}
	first := s.open('{')
	for k, ok := s.key(&first); ok; k, ok = s.key(&first) {
		switch string(k) {
		case "name":
			d.field(s, engine.Tool)
		case "arguments":
			from := len(d.content)
			if d.field(s, engine.Tool) {
				d.spans = append(d.spans, span{from: from, to: len(d.content)})
			}
		default:
			s.skip()
		}
	}
}

// commit makes one content chunk of what a choice brought.
func (d *decoder) commit(e wire.Event, start int, c *choice) {
	if len(d.pieces) == 0 {
		return
	}
	if d.rows >= maxRows {
		d.violation(answerTooLong)
		d.content = d.content[:start]
		return
	}
	if c.finish != "" {
		d.usual = false
		d.note(contentAfterEnd)
	}
	for _, p := range d.pieces {
		p.Choice = c.index
		if n := len(d.parts); n > 0 && d.parts[n-1].Kind == p.Kind && d.parts[n-1].Choice == p.Choice {
			d.parts[n-1].End = p.End
		} else {
			d.parts = append(d.parts, p)
		}
	}
	for _, a := range d.spans {
		a.choice = c.index
		d.addArguments(a)
	}
	d.addRow(e, len(d.content)-start, c.index)
	d.rowChoice = c.index
}
