package token

import (
	"errors"
	"fmt"

	"github.com/go-json-experiment/json"
)

// tekkenFile is Mistral's tekken.json: ranks of byte-level BPE, and how many of
// them and of special tokens a model has.
type tekkenFile struct {
	Config struct {
		Pattern string `json:"pattern"`
		Size    int    `json:"default_vocab_size"`
		Special int    `json:"default_num_special_tokens"`
	} `json:"config"`
	Vocab []struct {
		Rank  uint32 `json:"rank"`
		Bytes []byte `json:"token_bytes"`
	} `json:"vocab"`
	SpecialTokens []struct {
		Rank uint32 `json:"rank"`
		Text string `json:"token_str"`
	} `json:"special_tokens"`
}

// parseTekken makes the codec of a tekken.json. Ids are ranks behind the special
// tokens, which in a text are text.
func parseTekken(data []byte) (*codec, error) {
	var f tekkenFile
	if err := json.Unmarshal(data, &f); err != nil {
		return nil, fmt.Errorf("no tekken.json: %.120s", err.Error())
	}
	ordinary := f.Config.Size - f.Config.Special
	if f.Config.Special < 0 || f.Config.Special > maxID || ordinary < 0 || ordinary > min(len(f.Vocab), maxID) {
		return nil, errors.New("config: expected default_vocab_size of at most the tokens of vocab and default_num_special_tokens")
	}
	if f.Config.Pattern != patternTekken {
		return nil, fmt.Errorf("config.pattern: %.200q is not known", f.Config.Pattern)
	}
	t := table{offsets: make([]uint32, f.Config.Special+1)}
	for i, v := range f.Vocab[:ordinary] {
		if v.Rank != uint32(i) || len(v.Bytes) == 0 {
			return nil, fmt.Errorf("vocab[%d]: expected token_bytes and rank %d", i, i)
		}
		t.add(v.Bytes)
	}
	m := newRankModel(t)
	for b, known := range m.known {
		if !known {
			return nil, fmt.Errorf("vocab: no token is the byte 0x%02X", b)
		}
	}
	c := &codec{model: m, steps: []step{pieces{tekkenPiece}}, added: newAdded()}
	for _, s := range f.SpecialTokens {
		c.added.texts[s.Rank] = s.Text
	}
	return c, nil
}
