package record

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/url"
	"regexp"
	"strings"
)

// Redacted stands where a secret stood.
const Redacted = "[redacted]"

// secretKeys are the names under which a scenario holds secrets; a name
// matches without its case, hyphens and underscores.
var secretKeys = regexp.MustCompile(`(?i)^(headers?|body|api[-_]?key|authorization|auth[-_]?command|(proxy[-_]?)?password|token|secret|cookie|credentials?)$`)

// secretFlags are the flags whose value is a secret.
var secretFlags = regexp.MustCompile(`^--(header|body|api-key|auth-command|password|token)$`)

var userInfo = regexp.MustCompile(`([a-zA-Z][a-zA-Z0-9+.-]*://)[^/?#\s"'@\\]*@`)

// urlQuery is the query of a URL within a text.
var urlQuery = regexp.MustCompile(`([a-zA-Z][a-zA-Z0-9+.-]*://[^?#\s"'\\]*)\?([^#\s"'\\]+)`)

// openQuery are names of query fields that hold no secret.
var openQuery = regexp.MustCompile(`^api-version$`)

// RedactURL returns s with the user info and the query values of URLs
// replaced, which may be keys; of sim:// URLs what stands before the @ is a
// model, and the query its parameters.
func RedactURL(s string) string {
	s = urlQuery.ReplaceAllStringFunc(s, redactQuery)
	return userInfo.ReplaceAllStringFunc(s, func(found string) string {
		scheme, _, _ := strings.Cut(found, "://")
		if scheme == "sim" {
			return found
		}
		return scheme + "://" + url.PathEscape(Redacted) + "@"
	})
}

func redactQuery(found string) string {
	base, fields, _ := strings.Cut(found, "?")
	if strings.HasPrefix(base, "sim://") {
		return found
	}
	parts := strings.Split(fields, "&")
	for i, f := range parts {
		if name, _, ok := strings.Cut(f, "="); ok && !openQuery.MatchString(name) {
			parts[i] = name + "=redacted"
		}
	}
	return base + "?" + strings.Join(parts, "&")
}

// RedactArgs returns a command line with the values of secret flags and user
// info in URLs replaced. Of a header the name stays.
func RedactArgs(args []string) []string {
	out := make([]string, len(args))
	secret := ""
	for i, a := range args {
		name, value, joined := strings.Cut(a, "=")
		switch {
		case secret != "":
			out[i] = redactValue(secret, a)
			secret = ""
			continue
		case secretFlags.MatchString(name) && joined:
			out[i] = name + "=" + redactValue(name, value)
			continue
		case secretFlags.MatchString(a):
			secret = a
		}
		out[i] = RedactURL(a)
	}
	return out
}

func redactValue(flag, value string) string {
	name, _, found := strings.Cut(value, ":")
	if flag == "--header" && found {
		return name + ": " + Redacted
	}
	return Redacted
}

// RedactJSON replaces the values under secret keys and user info in URLs.
// Under "header" and "headers" the names stay.
func RedactJSON(raw json.RawMessage) (json.RawMessage, error) {
	if len(raw) == 0 {
		return nil, nil
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return nil, fmt.Errorf("scenario: %w", err)
	}
	return json.Marshal(redactTree(v, false))
}

func redactTree(v any, secret bool) any {
	switch v := v.(type) {
	case map[string]any:
		for k, x := range v {
			v[k] = redactTree(x, secret || secretKeys.MatchString(k))
		}
	case []any:
		for i, x := range v {
			v[i] = redactTree(x, secret)
		}
	case string:
		if name, _, header := strings.Cut(v, ": "); secret && header && !strings.ContainsAny(name, " {[\"") {
			return name + ": " + Redacted
		}
		if secret && v != "" {
			return Redacted
		}
		return RedactURL(v)
	case json.Number, bool:
		if secret {
			return Redacted
		}
	}
	return v
}

// encode returns run.json without secrets.
func (m Manifest) encode(secrets []string) ([]byte, error) {
	if m.Schema == "" {
		m.Schema = ManifestSchema
	}
	m.Command = RedactArgs(m.Command)
	var err error
	if m.Scenario, err = RedactJSON(m.Scenario); err != nil {
		return nil, err
	}
	m.Targets = append([]TargetFacts(nil), m.Targets...)
	for i := range m.Targets {
		m.Targets[i].URL = RedactURL(m.Targets[i].URL)
	}
	b, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return nil, err
	}
	return append([]byte(scrub(string(b), secrets)), '\n'), nil
}

func (w *Writer) scrub(s string) string { return scrub(s, w.opt.Secrets) }

// Scrub returns a text from outside without secrets and user info in URLs, as
// the rows of a run directory have it.
func Scrub(s string, secrets []string) string { return RedactURL(scrub(s, withEscapes(secrets))) }

// scrub replaces every secret in a text from outside.
func scrub(s string, secrets []string) string {
	for _, secret := range secrets {
		if secret != "" {
			s = strings.ReplaceAll(s, secret, Redacted)
		}
	}
	return s
}

// withEscapes adds the forms that secrets have inside JSON strings.
func withEscapes(secrets []string) []string {
	out := append([]string(nil), secrets...)
	for _, s := range secrets {
		if b, err := json.Marshal(s); err == nil && len(b) > 2 && string(b[1:len(b)-1]) != s {
			out = append(out, string(b[1:len(b)-1]))
		}
	}
	return out
}
