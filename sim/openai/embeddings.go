package openai

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"math"
	"net/http"

	"github.com/tokamak-bench/tokamak/sim/core"
	"github.com/tokamak-bench/tokamak/sim/face"
)

// mostDimensions bounds an embedding asked for.
const mostDimensions = 1 << 16

// EmbeddingsHandler answers POST /v1/embeddings: the prompts are computed, the
// vectors are made up from their tokens.
func (d *Dialect) EmbeddingsHandler(s *face.Service) http.HandlerFunc {
	return s.Handle(func(r *http.Request, l *face.Language) (*face.Ask, *face.Problem) {
		q := struct {
			Model      string          `json:"model"`
			Input      json.RawMessage `json:"input"`
			Dimensions int64           `json:"dimensions"`
			Encoding   string          `json:"encoding_format"`
		}{Dimensions: max(s.Hidden, 1)}
		if problem := face.ParseBody(r, &q); problem != nil {
			return nil, problem
		}
		switch {
		case !d.AnyModel && !s.Is(q.Model):
			return nil, &face.Problem{Kind: face.NoModel, Param: "model", Message: q.Model}
		case q.Dimensions < 1 || q.Dimensions > mostDimensions:
			return nil, face.Bad("dimensions", "dimensions must be from 1 to %d, got %d.", mostDimensions, q.Dimensions)
		case q.Encoding != "" && q.Encoding != "float" && q.Encoding != "base64":
			return nil, face.Bad("encoding_format", "encoding_format must be float or base64")
		}
		prompts, problem := Prompts(q.Input, l)
		if problem != nil {
			problem.Param = "input"
			return nil, problem
		}
		body := func(x *face.Exchange, _ http.Header) any {
			return embeddings(x, q.Dimensions, q.Encoding == "base64")
		}
		return &face.Ask{Prefix: "embd-", Prompts: prompts, MaxTokens: 1, Pooled: true, Body: body}, nil
	}, d.Refuse)
}

type embedding struct {
	Index     int    `json:"index"`
	Object    string `json:"object"`
	Embedding any    `json:"embedding"`
}

func embeddings(x *face.Exchange, dimensions int64, packed bool) any {
	list := make([]embedding, len(x.Choices))
	tokens := int64(0)
	for i := range x.Choices {
		c := &x.Choices[i]
		tokens += c.PromptTokens()
		v := Vector(face.Fingerprint(c.PromptIDs()), dimensions)
		list[i] = embedding{i, "embedding", v}
		if packed {
			var b []byte
			for _, f := range v {
				b = binary.LittleEndian.AppendUint32(b, math.Float32bits(f))
			}
			list[i].Embedding = base64.StdEncoding.EncodeToString(b)
		}
	}
	return map[string]any{"id": x.ID, "object": "list", "created": x.Created, "model": x.Served(), "data": list,
		"usage": map[string]any{"prompt_tokens": tokens, "total_tokens": tokens, "completion_tokens": 0, "prompt_tokens_details": nil}}
}

// Vector is a made-up embedding of length 1.
func Vector(seed uint64, dimensions int64) []float32 {
	v := make([]float64, dimensions)
	square := 0.0
	for i := range v {
		v[i] = float64(core.Mix(seed, uint64(i))>>11)/(1<<52) - 1
		square += v[i] * v[i]
	}
	out := make([]float32, dimensions)
	for i := range v {
		out[i] = float32(v[i] / math.Sqrt(square))
	}
	return out
}
