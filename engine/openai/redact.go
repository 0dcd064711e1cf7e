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
	// echoWindow is from how many bytes on a text that equals a part of the
	// prompt counts as its echo.
	echoWindow = 24
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
	s = clean(s, 8*maxErrorText)
	for _, secret := range d.d.secrets() {
		s = strings.ReplaceAll(s, secret, hidden)
	}
	s = secretLooks.ReplaceAllString(s, hidden)
	for _, m := range d.c.Messages {
		s = hideEcho(s, m.Content)
	}
	if len(d.c.Body) > 0 {
		s = hideEcho(s, string(d.c.Body))
	}
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

// hideEcho replaces runs of s that also stand in the prompt.
func hideEcho(s, prompt string) string {
	if len(prompt) < echoWindow || len(s) < echoWindow {
		return s
	}
	// An echo begins at the prompt's head or is cut from somewhere in it; a
	// long prompt is looked at in part only.
	prompt = prompt[:min(len(prompt), 256<<10)]
	for i := 0; i+echoWindow <= len(s); i++ {
		if !strings.Contains(prompt, s[i:i+echoWindow]) {
			continue
		}
		end := i + echoWindow
		for end < len(s) && strings.Contains(prompt, s[i:end+1]) {
			end++
		}
		s = s[:i] + hidden + s[end:]
		i += len(hidden) - 1
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
