package runner

import (
	"testing"

	"github.com/tokamak-bench/tokamak/measure"
	"github.com/tokamak-bench/tokamak/stat"
	"github.com/tokamak-bench/tokamak/workload"
)

func TestIntent(t *testing.T) {
	plain := workload.Class{Input: stat.Constant(10)}
	prefix, turns, one, reuse := plain, plain, plain, plain
	prefix.PrefixTokens, turns.Turns, one.Turns, reuse.Reuse = 5, stat.Constant(3), stat.Constant(1), true
	for _, c := range []struct {
		name string
		of   workload.Config
		want measure.CacheIntent
	}{
		{"salted", workload.Config{Classes: []workload.Class{plain, one}}, measure.Cold},
		{"a prefix", workload.Config{Classes: []workload.Class{plain, prefix}}, measure.Reuse},
		{"turns", workload.Config{Classes: []workload.Class{turns}}, measure.Reuse},
		{"reuse", workload.Config{Classes: []workload.Class{reuse}}, measure.Reuse},
		{"texts", workload.Config{Dataset: &workload.Dataset{}}, measure.Unasked},
		{"salted texts", workload.Config{Dataset: &workload.Dataset{Salt: true}}, measure.Cold},
		{"salted conversations", workload.Config{Dataset: &workload.Dataset{Salt: true, Conversations: true}}, measure.Unasked},
	} {
		if got := intent(&c.of); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}
