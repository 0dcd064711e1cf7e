package token

import (
	"os"
	"testing"
)

// TestMain keeps the user's cache out of the tests.
func TestMain(m *testing.M) {
	if err := os.Setenv(CacheVariable, "off"); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}
