package wire_test

import (
	"testing"

	"github.com/tokamak-bench/tokamak/wire"
	"github.com/tokamak-bench/tokamak/wire/wiretest"
)

func newTransport(t *testing.T) wiretest.New {
	return func(cfg wire.Config) wire.Transport {
		tr, err := wire.New(cfg)
		if err != nil {
			t.Fatal(err)
		}
		return tr
	}
}

func TestPollerSuite(t *testing.T) { wiretest.Suite(t, newTransport(t)) }
