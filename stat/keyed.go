package stat

import "math/rand/v2"

// Keyed is [Random] for many items of one stream: the same generators without
// an allocation each. It belongs to one goroutine.
type Keyed struct {
	folded uint64
	source *rand.PCG
	random *rand.Rand
}

// NewKeyed returns the generators of a stream.
func NewKeyed(seed uint64, stream Stream) *Keyed {
	source := rand.NewPCG(0, 0)
	return &Keyed{folded: fold(seed, stream), source: source, random: rand.New(source)}
}

// At returns the generator of an item. It is valid until the next call.
func (k *Keyed) At(index uint64) *rand.Rand {
	k.source.Seed(itemSeeds(k.folded, index))
	return k.random
}

// itemSeeds returns the two seeds of an item's generator.
func itemSeeds(folded, index uint64) (uint64, uint64) {
	return mix(folded ^ index), mix(folded + 0x6a09e667f3bcc909*(index|1))
}
