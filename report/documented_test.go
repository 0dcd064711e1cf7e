package report

import (
	"os"
	"reflect"
	"strings"
	"testing"
)

// TestFiguresAreDocumented: every number that the summary has besides metrics
// has its row in docs/metrics.md.
func TestFiguresAreDocumented(t *testing.T) {
	b, err := os.ReadFile("../docs/metrics.md")
	if err != nil {
		t.Fatal(err)
	}
	for prefix, of := range map[string]reflect.Type{"client": reflect.TypeFor[Client](), "run": reflect.TypeFor[Run]()} {
		for i := range of.NumField() {
			f := of.Field(i)
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			number := f.Type.String() == "measure.Value" || f.Type == reflect.TypeFor[map[string]float64]()
			if number && !strings.Contains(string(b), name+"`") {
				t.Errorf("%s.%s has no definition in docs/metrics.md", prefix, name)
			}
		}
	}
}
