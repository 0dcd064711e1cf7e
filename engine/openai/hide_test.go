package openai

import (
	"net/url"
	"testing"

	"github.com/tokamak-bench/tokamak/wire"
)

// Of a secret nothing of eight bytes or more is left, wherever a text was cut.
func TestHide(t *testing.T) {
	d, err := New(APIChat, Options{Base: &url.URL{Scheme: "http", Host: "h"}, Model: "m",
		Auth:   wire.Field{Name: "Authorization", Value: "Bearer abcdefghijklmnop"},
		Header: []wire.Field{{Name: "X-Tenant", Value: "tenant-seven"}}})
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{
		"key abcdefghijklmnop, abcdefghijklmnop": "key [redacted], [redacted]",
		"cut abcdefgh":                           "cut [redacted]",
		"ghijklmnop… of tenant-seven":            "[redacted]… of [redacted]",
		"abcdefg is too little to tell":          "abcdefg is too little to tell",
		"Bearer token, 日本語":                      "Bearer token, 日本語",
		"":                                       "",
	} {
		if got := d.Hide(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
