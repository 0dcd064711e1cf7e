package stat

import "math/rand/v2"

// Stream names a purpose for random numbers, so that draws for one purpose
// never depend on draws for another.
type Stream string

// Random returns the generator of one item: the same for the same
// (seed, stream, index) on every machine, whatever else was drawn.
func Random(seed uint64, stream Stream, index uint64) *rand.Rand {
	return rand.New(rand.NewPCG(itemSeeds(fold(seed, stream), index)))
}

// Key returns 64 well-mixed bits for one item: a random number where one is
// enough, or the name of something drawn.
func Key(seed uint64, stream Stream, index uint64) uint64 {
	return mix(mix(fold(seed, stream)^0xbb67ae8584caa73b) ^ index)
}

func fold(seed uint64, stream Stream) uint64 {
	h := mix(seed ^ 0x9e3779b97f4a7c15)
	for i := 0; i < len(stream); i++ {
		h = mix(h ^ uint64(stream[i]))
	}
	return h
}

// mix is the finalizer of SplitMix64 (Steele, Lea, Flood 2014).
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
