package catalog

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// hubConfig holds the fields of a config.json that decide time and memory.
type hubConfig struct {
	NameOrPath       string     `json:"_name_or_path"`
	ModelType        string     `json:"model_type"`
	Layers           int64      `json:"num_hidden_layers"`
	Hidden           int64      `json:"hidden_size"`
	Heads            int64      `json:"num_attention_heads"`
	KVHeads          int64      `json:"num_key_value_heads"`
	HeadDim          int64      `json:"head_dim"`
	Intermediate     int64      `json:"intermediate_size"`
	Vocab            int64      `json:"vocab_size"`
	Tied             bool       `json:"tie_word_embeddings"`
	MaxPositions     int64      `json:"max_position_embeddings"`
	Experts          int64      `json:"num_experts"`
	LocalExperts     int64      `json:"num_local_experts"`
	RoutedExperts    int64      `json:"n_routed_experts"`
	Active           int64      `json:"num_experts_per_tok"`
	Shared           int64      `json:"n_shared_experts"`
	MoEIntermediate  int64      `json:"moe_intermediate_size"`
	FirstDense       int64      `json:"first_k_dense_replace"`
	Latent           int64      `json:"kv_lora_rank"`
	Rope             int64      `json:"qk_rope_head_dim"`
	Nope             int64      `json:"qk_nope_head_dim"`
	QueryRank        int64      `json:"q_lora_rank"`
	Value            int64      `json:"v_head_dim"`
	SlidingWindow    *int64     `json:"sliding_window"`
	UseSlidingWindow *bool      `json:"use_sliding_window"`
	LayerTypes       []string   `json:"layer_types"`
	Text             *hubConfig `json:"text_config"`
}

// ReadModel reads a Hugging Face config.json.
func ReadModel(path string) (Model, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return Model{}, err
	}
	m, err := ParseModel(text)
	if err != nil {
		return Model{}, fmt.Errorf("%s: %w", path, err)
	}
	m.Name = strings.TrimSuffix(filepath.Base(path), ".json")
	if m.Name == "config" {
		m.Name = filepath.Base(filepath.Dir(path))
	}
	if m.ID == "" {
		m.ID = m.Name
	}
	m.Source = filepath.Base(path)
	return m, nil
}

// ParseModel reads the text of a config.json. The language model of a
// multimodal one is taken from its text_config.
func ParseModel(text []byte) (Model, error) {
	var c hubConfig
	if err := json.Unmarshal(text, &c); err != nil {
		return Model{}, fmt.Errorf("not a config.json: %w", err)
	}
	id := c.NameOrPath
	if c.Layers == 0 && c.Text != nil {
		c = *c.Text
	}
	if err := c.check(); err != nil {
		return Model{}, err
	}
	m := Model{ID: id, Layers: c.Layers, Hidden: c.Hidden, Heads: c.Heads, KVHeads: c.KVHeads, HeadDim: c.HeadDim,
		Intermediate: c.Intermediate, Vocab: c.Vocab, Tied: c.Tied, MaxPositions: c.MaxPositions}
	if m.KVHeads == 0 {
		m.KVHeads = m.Heads
	}
	if m.HeadDim == 0 {
		m.HeadDim = m.Hidden / m.Heads
	}
	if experts := max(c.Experts, c.LocalExperts, c.RoutedExperts); experts > 0 {
		m.MoE = MoE{Experts: experts, Active: c.Active, Shared: c.Shared, Intermediate: c.MoEIntermediate, DenseLayers: c.FirstDense}
		if m.MoE.Intermediate == 0 {
			m.MoE.Intermediate = c.Intermediate
		}
	}
	if c.Latent > 0 {
		m.MLA = MLA{Latent: c.Latent, Rope: c.Rope, QueryRank: c.QueryRank, Value: c.Value}
		m.HeadDim = c.Nope
	}
	m.Window = c.window()
	return m, nil
}

func (c *hubConfig) check() error {
	const limit = 1 << 24 // far beyond every model, and products stay in 64 bits
	for _, f := range []struct {
		name     string
		value    int64
		optional bool
	}{
		{"num_hidden_layers", c.Layers, false}, {"hidden_size", c.Hidden, false}, {"num_attention_heads", c.Heads, false},
		{"vocab_size", c.Vocab, false}, {"max_position_embeddings", c.MaxPositions, false},
		{"num_key_value_heads", c.KVHeads, true}, {"head_dim", c.HeadDim, true}, {"intermediate_size", c.Intermediate, true},
		{"num_experts", max(c.Experts, c.LocalExperts, c.RoutedExperts), true}, {"num_experts_per_tok", c.Active, true},
		{"n_shared_experts", c.Shared, true}, {"moe_intermediate_size", c.MoEIntermediate, true}, {"first_k_dense_replace", c.FirstDense, true},
		{"kv_lora_rank", c.Latent, true}, {"qk_rope_head_dim", c.Rope, true}, {"qk_nope_head_dim", c.Nope, true}, {"v_head_dim", c.Value, true},
		{"q_lora_rank", c.QueryRank, true},
	} {
		if f.value < 0 || f.value > limit || f.value == 0 && !f.optional {
			return fmt.Errorf("%s is %d: expected a number from 1 to %d", f.name, f.value, limit)
		}
	}
	if c.Layers > 10_000 {
		return fmt.Errorf("num_hidden_layers is %d: expected at most 10000", c.Layers)
	}
	if c.FirstDense > c.Layers {
		return fmt.Errorf("first_k_dense_replace is %d: expected at most num_hidden_layers, %d", c.FirstDense, c.Layers)
	}
	return nil
}

func (c *hubConfig) window() Window {
	if c.SlidingWindow == nil || *c.SlidingWindow <= 0 || c.UseSlidingWindow != nil && !*c.UseSlidingWindow {
		return Window{}
	}
	w := Window{Tokens: *c.SlidingWindow}
	for _, t := range c.LayerTypes {
		if t == "sliding_attention" {
			w.Layers++
		}
	}
	w.Layers = min(w.Layers, c.Layers)
	return w
}
