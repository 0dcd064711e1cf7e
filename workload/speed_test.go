package workload

import (
	"testing"

	"github.com/tokamak-bench/tokamak/token"
	"github.com/tokamak-bench/tokamak/workload/corpus"
)

// BenchmarkRenderTexts writes prompts of 2,000 tokens of each corpus.
func BenchmarkRenderTexts(b *testing.B) {
	for _, name := range corpus.Names() {
		b.Run(name, func(b *testing.B) {
			r := renderer(b, token.Builtin(), name)
			for i := range 200 { // pieces are measured at their first cut
				render(b, r, blocks(Block{ID: uint64(i), Tokens: 2000}))
			}
			b.ResetTimer()
			for i := range b.N {
				render(b, r, blocks(Block{ID: uint64(i), Tokens: 2000}))
			}
			b.ReportMetric(2000*float64(b.N)/b.Elapsed().Seconds()/1e6, "Mtokens/s")
		})
	}
}
