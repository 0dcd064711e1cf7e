package catalog

// Model is the shape of a decoder, as its config.json states it.
type Model struct {
	Name         string // short name in the catalogue
	ID           string // name on the Hugging Face hub
	Layers       int64
	Hidden       int64
	Heads        int64 // query heads
	KVHeads      int64
	HeadDim      int64
	Intermediate int64 // of a dense layer's gated MLP
	Vocab        int64
	Tied         bool  // the LM head shares the embedding's weights
	MaxPositions int64 // tokens a sequence may have
	MoE          MoE   // zero: dense
	MLA          MLA   // zero: ordinary or grouped-query attention
	Window       Window
	Source       string // where the shape was taken from
}

// MoE describes mixture-of-experts layers.
type MoE struct {
	Experts      int64 // routed experts of a layer
	Active       int64 // routed experts a token uses
	Shared       int64 // experts that every token uses
	Intermediate int64 // of one expert
	DenseLayers  int64 // leading layers that are dense
}

// MLA describes multi-head latent attention: one compressed vector a token and
// layer instead of keys and values.
type MLA struct {
	Latent    int64 // kv_lora_rank
	Rope      int64 // qk_rope_head_dim
	QueryRank int64 // q_lora_rank; 0: full query projection
	Value     int64 // v_head_dim
}

// Window describes layers with sliding-window attention, whose share of the
// KV cache is bounded.
type Window struct {
	Tokens int64 // length of the window
	Layers int64 // how many layers have it
}

// Weights are numbers of parameters by what reads them.
type Weights struct {
	Layers  int64 // attention, dense and shared MLPs, norms: read in every step
	Experts int64 // routed experts, all of them
	Active  int64 // routed experts that one token uses
	Head    int64 // LM head
	Embed   int64 // embedding table; 0 where it is the LM head's
}

// Total is the number of all parameters.
func (w Weights) Total() int64 { return w.Layers + w.Experts + w.Head + w.Embed }

// Weights counts parameters from the shape. Biases are left out; they are
// below 0.1 %.
func (m *Model) Weights() Weights {
	moe := int64(0)
	if m.MoE.Experts > 0 {
		moe = m.Layers - m.MoE.DenseLayers
	}
	dense := m.Layers - moe
	w := Weights{Head: m.Vocab * m.Hidden}
	if !m.Tied {
		w.Embed = m.Vocab * m.Hidden
	}
	w.Layers = m.Layers*(m.attention()+2*m.Hidden) + dense*3*m.Hidden*m.Intermediate + m.Hidden
	expert := 3 * m.Hidden * m.MoE.Intermediate
	w.Layers += moe * (m.MoE.Shared*expert + m.Hidden*m.MoE.Experts)
	w.Experts = moe * m.MoE.Experts * expert
	w.Active = moe * m.MoE.Active * expert
	return w
}

func (m *Model) attention() int64 {
	if m.MLA.Latent > 0 {
		a := m.MLA
		query := m.Heads * (m.HeadDim + a.Rope)
		q := m.Hidden * query
		if a.QueryRank > 0 {
			q = m.Hidden*a.QueryRank + a.QueryRank*query
		}
		kv := m.Hidden*(a.Latent+a.Rope) + a.Latent*m.Heads*(m.HeadDim+a.Value)
		return q + kv + m.Heads*a.Value*m.Hidden
	}
	return m.Hidden*m.HeadDim*(m.Heads+2*m.KVHeads) + m.Heads*m.HeadDim*m.Hidden
}

// KVBytes is the KV cache of one token on one of tp devices, over all layers
// that grow with the context, with elements of size bytes. KV heads are split
// over devices until each has one; MLA's latent vector is on every device.
func (m *Model) KVBytes(tp, size int64) int64 {
	if m.MLA.Latent > 0 {
		return m.Layers * (m.MLA.Latent + m.MLA.Rope) * size
	}
	heads := max((m.KVHeads+tp-1)/tp, 1)
	return (m.Layers - m.Window.Layers) * 2 * heads * m.HeadDim * size
}
