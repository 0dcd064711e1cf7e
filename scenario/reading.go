package scenario

import (
	"os"

	"github.com/tokamak-bench/tokamak/workload/trace"
)

// reading says what a dataset is, where its content does not tell.
func (r *resolver) reading() trace.Options {
	o := trace.Options{
		Turns:       trace.Turns(r.oneOf("workload.dataset-turns", "", string(trace.DeltaTurns), string(trace.CumulativeTurns))),
		BlockTokens: r.whole("workload.block-tokens", 0, 1),
		MaxBad:      r.share("workload.max-bad"),
		Format:      r.oneOf("workload.dataset-format", "", formatNames()...),
	}
	r.exclusive("workload.dataset-format", "workload.dataset-map")
	name := r.file("workload.dataset-map")
	if name == "" {
		return o
	}
	text, err := os.ReadFile(name)
	if err == nil {
		o.Mapping, err = trace.ParseMapping(name, text)
	}
	if err != nil {
		r.fail(r.set["workload.dataset-map"].errorf("%v", cause(err)))
	}
	return o
}

func formatNames() []string {
	var list []string
	for _, f := range trace.Formats() {
		list = append(list, f.Name)
	}
	return list
}

// share reads a share such as 5% or 0.05; 0 where it was not given, below 0
// where it was given as none at all.
func (r *resolver) share(id string) float64 {
	v, ok := r.set[id]
	if !ok {
		return 0
	}
	x, err := trace.ParseShare(v.text)
	if err != nil {
		r.fail(v.expected("a share such as 5% or 0.05"))
	}
	return x
}
