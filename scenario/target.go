package scenario

import (
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/tokamak-bench/tokamak/sim"
)

// The defaults of a target.
const (
	DefaultURL       = "sim://llama3-8b@a100-80g?engine=vllm"
	defaultAPI       = "openai-chat"
	defaultKeyEnv    = "OPENAI_API_KEY"
	timeoutConnect   = 10 * time.Second
	timeoutFirstByte = 2 * time.Minute
	timeoutFirst     = 2 * time.Minute
	timeoutStall     = time.Minute
	timeoutTotal     = 10 * time.Minute
	probingTotal     = time.Minute
	mostRetries      = 1000
	mostGPUs         = 1 << 20
)

// APIs are the words --api takes.
var apis = []string{"openai-chat", "openai-completions"}

// keySources are the settings that say where the API key is.
var keySources = []string{"target.api-key-env", "target.api-key-file", "target.auth-command"}

func (r *resolver) target(s *Scenario) {
	t := &s.Target
	t.URLs = r.urls(s)
	t.API = r.oneOf("target.api", defaultAPI, apis...)
	t.Model = r.text("target.model", "the name of a model")
	t.Stream = !r.boolean("target.no-stream")
	t.Header = r.headers()
	t.Auth = r.auth(t)
	t.TLS = r.tls()
	t.Proxy = r.proxy()
	t.Connections = r.connections()
	t.HTTP2 = r.boolean("target.http2")
	t.Timeouts = r.timeouts(t.Stream)
	t.Retries = int(r.within("target.retries", 0, 0, mostRetries))
	t.RetryOn, t.Backoff = r.retryOn(), r.backoff()
	t.WaitReady = r.duration("target.wait-ready", 0, true)
	t.GPUs = int(r.within("target.gpus", 0, 1, mostGPUs))
	t.Virtual = r.boolean("target.virtual")
	if t.Virtual && len(t.URLs) > 0 && !t.Sim() {
		r.fail(r.set["target.virtual"].errorf("virtual time is for sim:// targets only"))
	}
	t.Against = r.against(t)
}

func (r *resolver) urls(s *Scenario) []*url.URL {
	v, ok := r.set["target.url"]
	if !ok {
		u, err := url.Parse(DefaultURL)
		if err != nil {
			panic(err) // a constant
		}
		s.Notices = append(s.Notices, "no target given: the built-in simulated engine "+DefaultURL)
		return []*url.URL{u}
	}
	var urls []*url.URL
	for _, item := range v.list() {
		if u := r.url(item); u != nil {
			urls = append(urls, u)
		}
	}
	if len(v.list()) == 0 {
		r.fail(v.errorf("expected at least one URL"))
	}
	for i, u := range urls {
		switch {
		case len(urls) > 1 && (u.Scheme == "sim" || u.Scheme == "unix"):
			r.fail(v.errorf("a %s:// target stands alone: expected one URL, got %d", u.Scheme, len(urls)))
		case u.Scheme == "unix":
			s.Target.UnixSocket = u.Path
			urls[i] = &url.URL{Scheme: "http", Host: "localhost"}
		}
	}
	return urls
}

// against reads the second target of a comparison.
func (r *resolver) against(t *Target) *url.URL {
	r.needs("load.pairs", "target.against")
	v, ok := r.set["target.against"]
	if !ok {
		return nil
	}
	if v.kind == listValue {
		r.fail(v.errorf("expected one URL, got a list"))
		return nil
	}
	if r.set["workload.dataset"].text == "-" {
		r.fail(v.errorf("a dataset on standard input can be read only once: expected a file, which each block reads anew"))
	}
	if r.boolean("load.stop-when-decided") {
		r.fail(v.errorf("against and stop-when-decided exclude each other: the blocks of a pair must be of the same length"))
	}
	u := r.url(v)
	switch {
	case u == nil:
	case u.Scheme == "unix":
		r.fail(v.errorf("expected a URL of http, https or sim: a unix socket can only be the first target"))
	case t.UnixSocket != "":
		r.fail(v.errorf("expected no second target: the first is a unix socket"))
	case t.Virtual && u.Scheme != "sim":
		r.fail(v.errorf("virtual time is for sim:// targets only"))
	}
	return u
}

// url reads one base URL. Errors do not repeat its text, which may hold a
// password.
func (r *resolver) url(v value) *url.URL {
	const form = "a URL such as http://localhost:8000, unix:///run/llm.sock or sim://llama3-8b@a100-80g"
	if v.kind != textValue && v.kind != flagText {
		r.fail(v.expected(form))
		return nil
	}
	if strings.HasPrefix(v.text, sim.Scheme) {
		if _, err := sim.ParseTarget(v.text); err != nil {
			r.fail(v.errorf("%v", err))
			return nil
		}
	}
	text := v.text
	if rest, ok := strings.CutPrefix(text, sim.Scheme); ok && (rest == "" || rest[0] == '?') {
		text = sim.Scheme + "llama3-8b@a100-80g" + rest // the defaults by name: a URL without a host loses its slashes
	}
	u, err := url.Parse(text)
	if err != nil {
		if host, _, ok := strings.Cut(v.text, ":"); ok && !strings.Contains(v.text, "://") && host != "" {
			r.fail(v.errorf("expected %s; the scheme is missing", form))
			return nil
		}
		r.fail(v.errorf("expected %s; this is no URL", form))
		return nil
	}
	switch {
	case strings.HasPrefix(v.text, sim.Scheme):
		return u
	case u.Scheme == "unix" && u.Host == "" && len(u.Path) > 1:
		return u
	case !strings.Contains(v.text, "://"):
		r.fail(v.errorf("expected %s; the scheme is missing", form))
		return nil
	case u.Scheme != "http" && u.Scheme != "https":
		r.fail(v.errorf("expected %s; got the scheme %q", form, clip(u.Scheme)))
		return nil
	case u.Hostname() == "":
		r.fail(v.errorf("expected %s; the host is missing", form))
		return nil
	case u.Fragment != "":
		r.fail(v.errorf("expected a URL without a fragment (#…)"))
		return nil
	}
	if p := u.Port(); p != "" {
		if n, err := strconv.Atoi(p); err != nil || n < 1 || n > 65535 {
			r.fail(v.errorf("expected a port of 1 to 65535, got %s", clip(p)))
			return nil
		}
	}
	return u
}

// headers reads `K: V` texts or a mapping.
func (r *resolver) headers() []Header {
	v, ok := r.set["target.header"]
	if !ok {
		return nil
	}
	var hs []Header
	for _, item := range v.list() {
		switch item.kind {
		case mapValue:
			for _, e := range item.entries {
				e.value.pos = e.pos
				hs = append(hs, r.header(e.value, e.key, e.value.text))
			}
		case textValue, flagText:
			name, text, found := strings.Cut(item.text, ":")
			if !found {
				r.fail(item.errorf("expected a header field as 'Name: value'"))
				continue
			}
			hs = append(hs, r.header(item, name, text))
		default:
			r.fail(item.expected("a header field as 'Name: value'"))
		}
	}
	return hs
}

func (r *resolver) header(v value, name, text string) Header {
	h := Header{Name: strings.TrimSpace(name)}
	text = strings.TrimSpace(text)
	if !isToken(h.Name) {
		r.fail(v.errorf("expected the name of a header field, got %q", clip(h.Name)))
	}
	if v.kind == listValue || v.kind == mapValue {
		r.fail(v.errorf("expected the value of header %s, got %s", h.Name, v.kind))
	}
	if env, ok := strings.CutPrefix(text, "env:"); ok {
		h.Env = env
		if text, ok = r.env.lookup(env); !ok {
			r.fail(v.errorf("header %s: the environment variable %s is not set", h.Name, clip(env)))
		}
	}
	if strings.ContainsAny(text, "\r\n\x00") {
		r.fail(v.errorf("header %s: its value must not hold line ends", h.Name))
	}
	for _, ours := range []string{"Host", "Content-Length", "Connection", "Transfer-Encoding"} {
		if strings.EqualFold(h.Name, ours) {
			r.fail(v.errorf("header %s is set by the client itself", ours))
		}
	}
	h.Value = NewSecret(text)
	return h
}

// isToken tells whether s may be a field name (RFC 9110, section 5.6.2).
func isToken(s string) bool {
	const others = "!#$%&'*+-.^_`|~"
	for _, c := range []byte(s) {
		letter := 'a' <= c|0x20 && c|0x20 <= 'z' || '0' <= c && c <= '9'
		if !letter && !strings.ContainsRune(others, rune(c)) {
			return false
		}
	}
	return s != ""
}

func (r *resolver) auth(t *Target) Auth {
	r.exclusive(keySources...)
	a := Auth{Header: "Authorization"}
	if h := r.text("target.auth-header", "the name of a header field"); h != "" {
		a.Header = h
		if !isToken(h) {
			r.fail(r.set["target.auth-header"].expected("the name of a header field"))
		}
	}
	switch {
	case r.has("target.auth-command"):
		a.Command = r.text("target.auth-command", "a command that prints the key")
		a.From = "the auth command"
	case r.has("target.api-key-file"):
		a.Key = r.keyFile()
		a.From = "the key file"
		a.File = r.set["target.api-key-file"].text
	default:
		env := r.text("target.api-key-env", "the name of an environment variable")
		asked := env != ""
		if !asked {
			env = defaultKeyEnv
		}
		key, found := r.env.lookup(env)
		key = strings.TrimSpace(key)
		switch {
		case asked && !isVariable(env): // most likely the key itself: it is not said back
			r.fail(r.set["target.api-key-env"].errorf("expected the name of an environment variable, and not what it holds"))
		case asked && (!found || key == ""):
			r.fail(r.set["target.api-key-env"].errorf("the environment variable %s is not set", clip(env)))
		}
		if key != "" && (asked || !t.Sim()) {
			a.Key, a.From = NewSecret(key), "$"+env
		}
	}
	if strings.ContainsAny(a.Key.Reveal(), "\r\n\x00") {
		r.fail(&Error{Msg: "the API key from " + a.From + " must be one line"})
	}
	return a
}

// isVariable tells whether a text can be the name of an environment variable
// that someone would give to a key: letters, digits and underscores.
func isVariable(name string) bool {
	for i, c := range name {
		letter := c == '_' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
		if !letter && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return name != ""
}

func (r *resolver) keyFile() Secret {
	v := r.set["target.api-key-file"]
	path := r.text("target.api-key-file", "a file with the API key")
	if path == "" {
		return Secret{}
	}
	b, err := r.env.readFile(path)
	key := strings.TrimSpace(string(b))
	switch {
	case err != nil:
		r.fail(v.errorf("expected a file with the API key: %v", cause(err)))
	case key == "":
		r.fail(v.errorf("expected a file with the API key, got an empty one"))
	}
	return NewSecret(key)
}

func (r *resolver) tls() TLS {
	t := TLS{CA: r.file("target.ca"), Cert: r.file("target.cert"), Key: r.file("target.key"),
		Insecure: r.boolean("target.insecure")}
	r.needs("target.cert", "target.key")
	r.needs("target.key", "target.cert")
	return t
}

// file returns the path of a file that can be read.
func (r *resolver) file(id string) string {
	path := r.text(id, "a file")
	if path == "" {
		return ""
	}
	f, err := os.Open(path)
	if err != nil {
		r.fail(r.set[id].errorf("expected a file that can be read: %v", err))
		return ""
	}
	_ = f.Close() // nothing was read
	return path
}

func (r *resolver) connections() Connections {
	v, ok := r.set["target.connections"]
	if !ok {
		return Connections{}
	}
	switch v.text {
	case "warm":
		return Connections{}
	case "fresh":
		return Connections{Fresh: true}
	}
	n, err := strconv.Atoi(v.text)
	if err != nil || n < 1 || v.kind == textValue {
		r.fail(v.expected("warm, fresh, or the number of connections kept idle"))
	}
	return Connections{MaxIdle: n}
}

func (r *resolver) timeouts(stream bool) Timeouts {
	t := Timeouts{
		Connect:    r.duration("target.timeout-connect", timeoutConnect, false),
		FirstByte:  r.duration("target.timeout-first-byte", timeoutFirstByte, false),
		FirstToken: r.duration("target.timeout-first-token", timeoutFirst, false),
		Stall:      r.duration("target.timeout-stall", timeoutStall, false),
		Total:      r.duration("target.timeout", timeoutTotal, false),
	}
	if !stream && !r.has("target.timeout-first-byte") {
		t.FirstByte = 0
	}
	if !stream && !r.has("target.timeout-first-token") {
		t.FirstToken = 0
	}
	return t
}
