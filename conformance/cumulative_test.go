package conformance

import (
	"testing"

	"github.com/tokamak-bench/tokamak/engine"
)

// Chunks that repeat all before them are told from chunks that go on.
func TestCumulative(t *testing.T) {
	for _, c := range []struct {
		text string
		size []int32
		want bool
	}{
		{"aababc", []int32{1, 2, 3}, true},
		{"abcdef", []int32{1, 2, 3}, false},
		{"aaaaaa", []int32{2, 2, 2}, false}, // the same again is no more than before
		{"aab", []int32{1, 2}, false},       // two may be chance
		{"", nil, false},
	} {
		r := &reply{answer: &engine.Answer{Content: []byte(c.text), Chunks: engine.Chunks{Bytes: c.size}}}
		if got := cumulative(r); got != c.want {
			t.Errorf("%q in %v: %v", c.text, c.size, got)
		}
	}
}
