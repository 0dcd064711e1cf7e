package workload

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
)

// row is one recorded session.
type row struct {
	class, tenant, session, id string

	at     int64 // ns; see timed and relative
	timed  bool
	origin bool // at counts from the first row's, not from the start

	input, output int64 // tokens; 0: not said
	turns         []turn
	body          []byte
	open          bool     // body holds content alone
	blocks        []uint64 // ids of blocks of blockTokens tokens each
}

// turn is what a user says, with what is sent along in front of it, and the
// recorded answer.
type turn struct {
	messages []Message
	answer   string
}

// jsonRow is what an object of a dataset may hold.
type jsonRow struct {
	Messages      json.RawMessage `json:"messages"`
	Prompt        *string         `json:"prompt"`
	Body          json.RawMessage `json:"body"`
	Conversations []struct {
		From  string `json:"from"`
		Value string `json:"value"`
	} `json:"conversations"`
	InputTokens  *int64   `json:"input_tokens"`
	OutputTokens *int64   `json:"output_tokens"`
	MaxTokens    *int64   `json:"max_tokens"`
	At           *float64 `json:"at"`

	// Mooncake's names: milliseconds, tokens, and one id a block of 512.
	Timestamp    *float64 `json:"timestamp"`
	InputLength  *int64   `json:"input_length"`
	OutputLength *int64   `json:"output_length"`
	HashIDs      []uint64 `json:"hash_ids"`

	Class     string `json:"class"`
	Tenant    string `json:"tenant"`
	SessionID string `json:"session_id"`
	ID        any    `json:"id"`
}

// blockTokens is the block length of traces that name their blocks.
const blockTokens = 512

var errNoContent = errors.New("expected one of messages, prompt, body, conversations, input_tokens")

// parseRow reads one object.
func parseRow(b []byte) (row, error) {
	var j jsonRow
	if err := json.Unmarshal(b, &j); err != nil {
		return row{}, jsonError(b, err)
	}
	r := row{class: j.Class, tenant: j.Tenant, session: j.SessionID}
	switch id := j.ID.(type) {
	case string:
		r.id = id
	case float64:
		r.id = fmt.Sprint(id)
	}
	if err := r.setTime(&j); err != nil {
		return row{}, err
	}
	if err := r.setLengths(&j); err != nil {
		return row{}, err
	}
	return r, r.setContent(&j)
}

// jsonError says where and what in our words: texts of a dataset must not
// reach messages.
func jsonError(b []byte, err error) error {
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	switch {
	case errors.As(err, &syntax):
		return fmt.Errorf("column %d: not JSON", syntax.Offset)
	case errors.As(err, &kind):
		return fmt.Errorf("column %d: %s is of the wrong type: found %s", kind.Offset, kind.Field, kind.Value)
	}
	return fmt.Errorf("not a JSON object (%d bytes)", len(b))
}

func (r *row) setTime(j *jsonRow) error {
	var x float64
	switch {
	case j.At != nil:
		x, r.timed = *j.At*1e9, true
	case j.Timestamp != nil:
		x, r.timed, r.origin = *j.Timestamp*1e6, true, true
	}
	if !(math.Abs(x) < 1<<62) || x < 0 && !r.origin {
		return errors.New("expected at to be seconds from the start, at least 0")
	}
	r.at = int64(math.Round(x))
	return nil
}

func (r *row) setLengths(j *jsonRow) error {
	for _, n := range []*int64{j.InputTokens, j.InputLength} {
		if n != nil {
			r.input = *n
			if *n < 1 || *n > maxTokens {
				return fmt.Errorf("expected input_tokens from 1 to %d, found %d", int64(maxTokens), *n)
			}
		}
	}
	for _, n := range []*int64{j.MaxTokens, j.OutputLength, j.OutputTokens} {
		if n != nil {
			r.output = *n
			if *n < 0 || *n > maxTokens {
				return fmt.Errorf("expected output_tokens from 0 to %d, found %d", int64(maxTokens), *n)
			}
		}
	}
	r.blocks = j.HashIDs
	if n := int64(len(r.blocks)); n > 0 && (n-1)*blockTokens >= r.input {
		return fmt.Errorf("expected %d hash_ids at most for %d tokens, found %d", (r.input+blockTokens-1)/blockTokens, r.input, n)
	}
	return nil
}

func (r *row) setContent(j *jsonRow) error {
	given := 0
	if j.Prompt != nil {
		given++
		r.turns = []turn{{messages: []Message{{Role: "user", Text: *j.Prompt}}}}
	}
	if present(j.Body) {
		given++
		if j.Body[0] != '{' {
			return errors.New("expected body to be an object")
		}
		r.body = bytes.Clone(j.Body)
	}
	if present(j.Messages) {
		given++
		if err := r.setMessages(j.Messages); err != nil {
			return err
		}
	}
	if j.Conversations != nil {
		given++
		if err := r.setConversation(j); err != nil {
			return err
		}
	}
	if given > 1 {
		return errors.New("expected only one of messages, prompt, body, conversations")
	}
	if given == 0 && r.input == 0 {
		return errNoContent
	}
	return nil
}

func present(raw json.RawMessage) bool { return len(raw) > 0 && string(raw) != "null" }

// setMessages keeps plain messages as such and everything else, such as parts
// and tool calls, as a body.
func (r *row) setMessages(raw json.RawMessage) error {
	var list []map[string]json.RawMessage
	if json.Unmarshal(raw, &list) != nil || len(list) == 0 {
		return errors.New("expected messages to be a list of objects with role and content")
	}
	var t turn
	for i, m := range list {
		var role, content string
		if json.Unmarshal(m["role"], &role) != nil || role == "" {
			return fmt.Errorf("expected message %d to have a role", i+1)
		}
		if len(m) != 2 || json.Unmarshal(m["content"], &content) != nil || string(m["content"]) == "null" {
			r.body, r.open = append(append([]byte(`{"messages":`), raw...), '}'), true
			return nil
		}
		t.messages = append(t.messages, Message{Role: role, Text: content})
	}
	r.turns = []turn{t}
	return nil
}

// setConversation splits a recorded conversation into its user's turns.
func (r *row) setConversation(j *jsonRow) error {
	var now turn
	asked := false
	for _, c := range j.Conversations {
		switch c.From {
		case "system":
			now.messages = append(now.messages, Message{Role: "system", Text: c.Value})
		case "human", "user":
			if asked {
				r.turns = append(r.turns, now)
				now = turn{}
			}
			now.messages = append(now.messages, Message{Role: "user", Text: c.Value})
			asked = true
		default: // gpt, chatgpt, bing, bard, assistant, …
			if asked {
				now.answer = c.Value
				r.turns = append(r.turns, now)
				now, asked = turn{}, false
			}
		}
	}
	if asked {
		r.turns = append(r.turns, now)
	}
	if len(r.turns) == 0 {
		return errors.New("expected a conversation with a turn of human or user")
	}
	return nil
}
