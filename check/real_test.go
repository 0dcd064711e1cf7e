package check

import (
	"context"
	"net/url"
	"os"
	"testing"

	"github.com/tokamak-bench/tokamak/clock"
	"github.com/tokamak-bench/tokamak/engine/openai"
	"github.com/tokamak-bench/tokamak/wire"
)

// TestTarget looks at the target in TOKAMAK_CHECK_URL, by hand.
func TestTarget(t *testing.T) {
	raw := os.Getenv("TOKAMAK_CHECK_URL")
	if raw == "" {
		t.Skip("TOKAMAK_CHECK_URL names no target")
	}
	u, err := url.Parse(raw)
	if err != nil {
		t.Fatal(err)
	}
	tr, err := wire.New(wire.Config{Clock: clock.NewReal()})
	if err != nil {
		t.Fatal(err)
	}
	defer tr.Close()
	o := Options{Transport: tr, OpenAI: openai.Options{Base: u}}
	if k := os.Getenv("TOKAMAK_CHECK_KEY"); k != "" {
		o.OpenAI.Auth = wire.Field{Name: "Authorization", Value: "Bearer " + k}
	}
	r, err := Run(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Text(os.Stdout); err != nil {
		t.Fatal(err)
	}
}
