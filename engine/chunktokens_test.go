package engine

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// pairs is a codec of which a token is two bytes, or one at the end.
type pairs struct{}

func (pairs) Name() string                { return "pairs" }
func (pairs) Count(s string) (int, error) { return (len(s) + 1) / 2, nil }
func (pairs) Encode(ids []uint32, s string) ([]uint32, error) {
	for len(s) > 1 {
		ids, s = append(ids, uint32(s[0])<<8|uint32(s[1])|1<<16), s[2:]
	}
	if len(s) == 1 {
		ids = append(ids, uint32(s[0]))
	}
	return ids, nil
}
func (pairs) Decode(b []byte, ids []uint32) ([]byte, error) {
	for _, id := range ids {
		if id >= 1<<16 {
			b = append(b, byte(id>>8))
		}
		b = append(b, byte(id))
	}
	return b, nil
}

func answer(sizes, choice []int32, usage Count) *Answer {
	a := &Answer{Chunks: Chunks{At: make([]int64, len(sizes)), Bytes: sizes, Choice: choice}}
	for _, s := range sizes {
		a.Content = append(a.Content, make([]byte, s)...)
	}
	a.Usage.Completion = usage
	return a
}

func TestChunkTokens(t *testing.T) {
	zero := make([]int32, 9)
	tests := map[string]struct {
		answer *Answer
		codec  bool
		want   []int32
		source string
	}{
		"no chunk":               {answer: answer(nil, nil, Count{3, true})},
		"nothing tells":          {answer: answer([]int32{3, 4}, zero[:2], Count{})},
		"one each":               {answer: answer([]int32{3, 4}, zero[:2], Count{2, true}), want: []int32{1, 1}, source: SourceOneEach},
		"and one for the end":    {answer: answer([]int32{3, 4}, zero[:2], Count{3, true}), want: []int32{1, 1}, source: SourceOneEach},
		"one fewer":              {answer: answer([]int32{3, 4}, zero[:2], Count{1, true}), want: []int32{1, 1}, source: SourceOneEach},
		"by bytes":               {answer: answer([]int32{1, 1, 8}, zero[:3], Count{10, true}), want: []int32{1, 1, 8}, source: SourceUsageByBytes},
		"by bytes, none":         {answer: answer([]int32{0, 0}, zero[:2], Count{6, true}), want: []int32{3, 3}, source: SourceUsageByBytes},
		"tokenizer":              {answer: answer([]int32{1, 1, 3, 0, 2}, zero[:5], Count{}), codec: true, want: []int32{0, 1, 1, 0, 2}, source: SourceTokenizer},
		"tokenizer, two choices": {answer: answer([]int32{1, 1, 1, 1}, []int32{0, 1, 0, 1}, Count{}), codec: true, want: []int32{0, 0, 1, 1}, source: SourceTokenizer},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got, source := ChunkTokens(tt.answer, nil)
			if tt.codec {
				got, source = ChunkTokens(tt.answer, pairs{})
			}
			if diff := cmp.Diff(tt.want, got); diff != "" || source != tt.source {
				t.Errorf("source %q, want %q; tokens (-want +got):\n%s", source, tt.source, diff)
			}
		})
	}
}

func TestChunkTokensAddUp(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		sizes := rapid.SliceOfN(rapid.Int32Range(0, 50), 1, 40).Draw(t, "sizes")
		choice := rapid.SliceOfN(rapid.Int32Range(0, 2), len(sizes), len(sizes)).Draw(t, "choice")
		usage := Count{rapid.Int64Range(0, 5000).Draw(t, "usage"), true}
		a := answer(sizes, choice, usage)
		got, source := ChunkTokens(a, nil)
		want := usage.N
		if source == SourceOneEach {
			want = int64(len(sizes))
		}
		check(t, source, got, want)

		got, source = ChunkTokens(a, pairs{})
		want = 0
		for c := range int32(3) {
			var n int64
			for i, s := range sizes {
				if choice[i] == c {
					n += int64(s)
				}
			}
			want += (n + 1) / 2
		}
		check(t, source, got, want)
	})
}

func check(t *rapid.T, source string, got []int32, want int64) {
	t.Helper()
	var sum int64
	for _, n := range got {
		sum += int64(n)
	}
	if sum != want || slices.Min(got) < 0 {
		t.Fatalf("%s: %v add up to %d, want %d", source, got, sum, want)
	}
}

// fronted is a codec that puts a space in front of a text.
type fronted struct{ pairs }

func (f fronted) Encode(ids []uint32, s string) ([]uint32, error) { return f.pairs.Encode(ids, " "+s) }

// TestChunkTokensBehindASpace: the space that a tokenizer puts in front of a
// text came with no chunk.
func TestChunkTokensBehindASpace(t *testing.T) {
	a := answer([]int32{1, 2, 2}, make([]int32, 3), Count{})
	copy(a.Content, "abcde")
	if got, _ := ChunkTokens(a, fronted{}); !slices.Equal(got, []int32{1, 1, 1}) {
		t.Errorf("%v", got)
	}
}
