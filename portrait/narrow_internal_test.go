package portrait

import (
	"strings"
	"testing"

	"github.com/tokamak-bench/tokamak/chart"
)

// On a page of 40 columns values end at its edge, and one that has no room beside
// its name is below it: none is cut off.
func TestNumbersOnANarrowPage(t *testing.T) {
	c := chart.NewCanvas(40, 0)
	numbers(c, []Number{{"requests", "500", "rows read"}, {"a name of twenty-seven chars", "10 · 10", ""}, {"input p50 · p95 · p99", "9,999,999 · 9,999,999 · 9,999,999", "tokens"}}, chart.Plain)
	var b strings.Builder
	if err := c.Write(&b, chart.WriteOptions{}); err != nil {
		t.Fatal(err)
	}
	const want = `requests                             500
    rows read
a name of twenty-seven chars     10 · 10
input p50 · p95 · p99
       9,999,999 · 9,999,999 · 9,999,999
    tokens
`
	if b.String() != want {
		t.Errorf("%s", b.String())
	}
}
