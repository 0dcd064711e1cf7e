package openai

import (
	"encoding/base64"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	maxErrorText = 300
	hidden       = "[redacted]"
	// echoLength is from how many bytes on a text that equals a part of the
	// prompt counts as its echo; maxEchoed is how much of a prompt is compared.
	echoLength = 24
	maxEchoed  = 64 << 10
)

// secretLooks are what credentials look like, wherever they stand.
var secretLooks = regexp.MustCompile(`(?i)(bearer|basic)\s+[^\s"',;]*[0-9=._-][^\s"',;]*` +
	`|\b(sk|pk|rk|hf|gsk|nvapi|xai)[-_][A-Za-z0-9*._-]{6,}` +
	`|\bAIza[A-Za-z0-9_-]{8,}|\bAKIA[A-Z0-9]{8,}|\beyJ[A-Za-z0-9_-]{8,}(\.[A-Za-z0-9_-]+)*` +
	`|\b(api[-_ ]?key|authorization|password|secret|access[-_ ]?token)["']?\s*[:=]\s*["']?((bearer|basic|token)\s+)?[^\s"',;]{4,}` +
	`|://[^/\s"'@]+@`)

// redact makes one line of at most 300 bytes of a server's words, without
// credentials and without what it repeats of the prompt.
func (d *decoder) redact(s string) string {
	s = clean(s, 4*maxErrorText)
	for _, secret := range d.d.secrets() {
		s = strings.ReplaceAll(s, secret, hidden)
	}
	for _, link := range d.c.Links {
		if u, err := url.Parse(link); err == nil {
			for _, secret := range URLSecrets(u) {
				s = strings.ReplaceAll(s, secret, hidden)
			}
		}
		s = hideEcho(s, link)
	}
	s = HideCredentials(s)
	for _, m := range d.c.Messages {
		s = hideEcho(s, m.Content)
	}
	s = hideEcho(s, string(d.c.Body))
	s = hideEcho(s, string(d.d.opt.Extra))
	return clean(s, maxErrorText)
}

// HideCredentials replaces what looks like a credential in a text from outside.
func HideCredentials(s string) string { return secretLooks.ReplaceAllString(s, hidden) }

// secrets are the values that must never appear: credentials and the values of
// the user's own header fields and of the URL.
func (d *Driver) secrets() []string {
	var out []string
	add := func(v string) {
		if len(v) >= 6 {
			out = append(out, v)
		}
		if _, after, ok := strings.Cut(v, " "); ok && len(after) >= 6 {
			out = append(out, after)
		}
	}
	add(d.opt.Auth.Value)
	for _, f := range d.opt.Header {
		add(f.Value)
	}
	return append(out, d.inURL...)
}

// leastInURL is from how many bytes on a value in a URL counts as a secret.
const leastInURL = 4

// URLSecrets returns what a server may echo of a URL and nobody is to see: the
// values of its query but api-version, and its user info, as they stand, decoded
// and encoded, the longest first. A sim URL has none.
func URLSecrets(u *url.URL) []string {
	if u == nil || u.Scheme == "sim" {
		return nil
	}
	var out []string
	add := func(v string) {
		for _, form := range []string{v, url.QueryEscape(v), url.PathEscape(v)} {
			if len(v) >= leastInURL && !slices.Contains(out, form) {
				out = append(out, form)
			}
		}
	}
	for field := range strings.SplitSeq(u.RawQuery, "&") {
		name, value, named := strings.Cut(field, "=")
		if name == "api-version" {
			continue
		}
		if !named { // a key may stand there alone
			value = name
		}
		add(value)
		if plain, err := url.QueryUnescape(value); err == nil {
			add(plain)
		}
	}
	if u.User != nil {
		password, _ := u.User.Password()
		add(u.User.Username())
		add(password)
		add(u.User.String())
		add(base64.StdEncoding.EncodeToString([]byte(u.User.Username() + ":" + password)))
	}
	slices.SortStableFunc(out, func(a, b string) int { return len(b) - len(a) })
	return out
}

// leastSecret is how many bytes in a row of a secret are hidden: a text that is
// quoted may be cut within it.
const leastSecret = 8

// Hide returns a text from a server without the driver's credential, the values
// of the user's header fields, the secrets of the URL, or any eight bytes in a row of one.
func (d *Driver) Hide(s string) string {
	for _, secret := range d.secrets() {
		s = strings.ReplaceAll(s, secret, hidden)
		if scheme, rest, ok := strings.Cut(secret, " "); ok && scheme != "" {
			secret = rest // the scheme's name is none
		}
		s = hideParts(s, secret)
	}
	return s
}

// hideParts replaces each run of at least leastSecret bytes of a secret.
func hideParts(s, secret string) string {
	var out strings.Builder
	for i := 0; i < len(s); {
		n := 0
		for at := 0; i+leastSecret <= len(s) && at+leastSecret <= len(secret); at++ {
			same := 0
			for i+same < len(s) && at+same < len(secret) && s[i+same] == secret[at+same] {
				same++
			}
			n = max(n, same)
		}
		if n < leastSecret {
			out.WriteByte(s[i])
			i++
			continue
		}
		out.WriteString(hidden)
		i += n
	}
	return out.String()
}

// hideEcho replaces what also stands in the prompt: all runs of s of at least
// echoLength bytes, since such a run holds a probe that begins at a multiple of
// the step, and some shorter ones.
func hideEcho(s, prompt string) string {
	const probe, step = 16, echoLength - 16
	prompt = prompt[:min(len(prompt), maxEchoed)]
	for i := 0; i+probe <= len(s); i += step {
		at := strings.Index(prompt, s[i:i+probe])
		if at < 0 {
			continue
		}
		from, to := i, i+probe
		for left := at - 1; from > 0 && left >= 0 && s[from-1] == prompt[left]; left-- {
			from--
		}
		for right := at + probe; to < len(s) && right < len(prompt) && s[to] == prompt[right]; right++ {
			to++
		}
		s = s[:from] + hidden + s[to:]
		i = (from + len(hidden)) / step * step
	}
	return s
}

// clean makes one line of valid, printable UTF-8 of at most limit bytes.
func clean(s string, limit int) string {
	s = s[:min(len(s), 4*limit+64)]
	var b strings.Builder
	space := false
	for _, r := range s {
		switch {
		case unicode.IsSpace(r):
			space = b.Len() > 0
			continue
		case !unicode.IsPrint(r) || r == utf8.RuneError:
			r = '?'
		}
		if space {
			b.WriteByte(' ')
			space = false
		}
		b.WriteRune(r)
		if b.Len() > limit {
			break
		}
	}
	out := b.String()
	if len(out) <= limit {
		return out
	}
	cut := limit - len("...")
	for cut > 0 && !utf8.RuneStart(out[cut]) {
		cut--
	}
	return out[:max(cut, 0)] + "..."
}
