package openai

import (
	"encoding/json"
	"math"

	"github.com/tokamak-bench/tokamak/sim/core"
	"github.com/tokamak-bench/tokamak/sim/face"
	"github.com/tokamak-bench/tokamak/sim/text"
)

// mostLogprobs bounds the alternatives to a token.
const mostLogprobs = 20

// readLogprobs reads what differs between the APIs: a chat has a switch and a
// number, a completion one number.
func (q *query) readLogprobs(a api) *face.Problem {
	q.logprobs = -1
	if len(q.Logprobs) == 0 || string(q.Logprobs) == "null" {
		return nil
	}
	var on bool
	n := q.TopLogprobs
	if err := json.Unmarshal(q.Logprobs, &on); err != nil {
		if err := json.Unmarshal(q.Logprobs, &n); err != nil {
			return face.Bad("logprobs", "logprobs must be true, false or a number")
		}
		on = a == textAPI
	}
	if n < 0 || n > mostLogprobs {
		return face.Bad("top_logprobs", "logprobs must be from 0 to %d, got %d.", mostLogprobs, n)
	}
	if on {
		q.logprobs = n
	}
	return nil
}

// chosen is a token with its log probability, made up from its answer's seed.
type chosen struct {
	Token   string   `json:"token"`
	Logprob float64  `json:"logprob"`
	Bytes   []int    `json:"bytes"`
	Top     []chosen `json:"top_logprobs,omitempty"`
}

// Logprob is the log probability of the token that c has just written.
func Logprob(c *face.Choice) float64 {
	u := float64(core.Mix(c.Seed, uint64(c.Written))>>11) / (1 << 53)
	return math.Round(1e6*math.Log(1-0.9*u*u)) / 1e6
}

// rivals are the tokens that were not taken.
func rivals() [mostLogprobs]string {
	return [mostLogprobs]string{" the", " a", " and", " of", " to", " in", " is", " it", " on", " for", " as", " at", " by", " or", " an", " we", " he", " so", " if", " no"}
}

func (w *writer) token(c *face.Choice, t *text.Word) chosen {
	out := newToken(t.Text, Logprob(c))
	if w.q.logprobs > 0 {
		out.Top = append(out.Top, newToken(t.Text, out.Logprob))
	}
	for i, r := range rivals() {
		if len(out.Top) < w.q.logprobs && r != t.Text {
			out.Top = append(out.Top, newToken(r, out.Logprob-float64(i+1)))
		}
	}
	return out
}

func newToken(s string, p float64) chosen {
	t := chosen{Token: s, Logprob: p, Bytes: []int{}}
	for _, b := range []byte(s) {
		t.Bytes = append(t.Bytes, int(b))
	}
	return t
}

// appendLogprobs appends the logprobs of one token's chunk.
func (f *frames) appendLogprobs(b []byte, c *face.Choice, w *text.Word) []byte {
	b = append(b, `,"logprobs":`...)
	return append(b, f.logprobs([]chosen{f.token(c, w)})...)
}

// logprobs is the object of either API.
func (w *writer) logprobs(list []chosen) []byte {
	if w.api == chatAPI {
		for i := range list {
			if list[i].Top == nil {
				list[i].Top = []chosen{}
			}
		}
		return face.AppendJSON(nil, map[string]any{"content": list})
	}
	o := struct {
		Tokens  []string             `json:"tokens"`
		Probs   []float64            `json:"token_logprobs"`
		Top     []map[string]float64 `json:"top_logprobs"`
		Offsets []int                `json:"text_offset"`
	}{[]string{}, []float64{}, []map[string]float64{}, []int{}}
	at := 0
	for _, t := range list {
		top := map[string]float64{}
		for _, r := range t.Top {
			top[r.Token] = r.Logprob
		}
		o.Tokens, o.Probs, o.Top, o.Offsets = append(o.Tokens, t.Token), append(o.Probs, t.Logprob), append(o.Top, top), append(o.Offsets, at)
		at += len(t.Token)
	}
	return face.AppendJSON(nil, o)
}
