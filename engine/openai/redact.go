package openai

import (
	"regexp"
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
	s = secretLooks.ReplaceAllString(s, hidden)
	for _, m := range d.c.Messages {
		s = hideEcho(s, m.Content)
	}
	s = hideEcho(s, string(d.c.Body))
	s = hideEcho(s, string(d.d.opt.Extra))
	return clean(s, maxErrorText)
}

// secrets are the values that must never appear: credentials and the values of
// the user's own header fields.
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
	return out
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
