package wire_test

import (
	"testing"

	"github.com/tokamak-bench/tokamak/wire"
	"github.com/tokamak-bench/tokamak/wire/wiretest"
)

func TestNetHTTP(t *testing.T) { wiretest.Suite(t, wire.NewNetHTTP) }

func TestNetHTTPOverTLS(t *testing.T) { wiretest.SuiteTLS(t, wire.NewNetHTTP) }
