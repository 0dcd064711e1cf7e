package scenario

import (
	"fmt"
	"io"
	"net/url"
)

// hidden stands for a secret wherever one would be printed.
const hidden = "[redacted]"

// Secret is text that no log, record, report or error may show. Every way of
// printing it shows a placeholder; [Secret.Reveal] alone gives the text.
type Secret struct{ text string }

// NewSecret wraps a text.
func NewSecret(text string) Secret { return Secret{text} }

// Reveal returns the text.
func (s Secret) Reveal() string { return s.text }

// Empty tells whether there is nothing to hide.
func (s Secret) Empty() bool { return s.text == "" }

// String returns the placeholder.
func (s Secret) String() string {
	if s.text == "" {
		return ""
	}
	return hidden
}

// Format prints the placeholder whatever the verb.
func (s Secret) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, s.String()) }

// MarshalText gives the placeholder.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// Redacted returns a URL's text without its user info and with the values of
// its query hidden, which may hold keys; a sim URL has no secrets.
func Redacted(u *url.URL) string {
	if u.Scheme == "sim" {
		return u.String()
	}
	c := *u
	if c.User != nil {
		c.User = url.User("redacted")
	}
	if c.RawQuery != "" {
		q := c.Query()
		for k := range q {
			if k != "api-version" {
				q.Set(k, "redacted")
			}
		}
		c.RawQuery = q.Encode()
	}
	return c.String()
}
