package main

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tokamak-bench/tokamak/sim"
)

// Every parameter of a sim:// target is a flag of tokamak sim, and none is one alone.
func TestParametersAreFlags(t *testing.T) {
	var flags []string
	for f := range reflect.TypeFor[simParameters]().Fields() {
		flags = append(flags, strings.ReplaceAll(f.Tag.Get("name"), "-", "_"))
	}
	slices.Sort(flags)
	if d := cmp.Diff(sim.ParameterNames(), flags); d != "" {
		t.Errorf("parameters and flags (-parameters +flags):\n%s", d)
	}
}
