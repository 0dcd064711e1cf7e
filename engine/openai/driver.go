package openai

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/tokamak-bench/tokamak/engine"
	"github.com/tokamak-bench/tokamak/wire"
)

// The output modes.
const (
	Exact = "exact" // ignore_eos and min_tokens, so that answers have the length asked for
	Cap   = "cap"   // max_tokens alone: the model may stop earlier
)

// Options are what all calls to one target have in common.
type Options struct {
	Base       *url.URL     // as the user gave it; [Endpoint] completes it
	Model      string       // empty: the field is left out
	NoStream   bool         // ask for whole answers
	OutputMode string       // Exact (default) or Cap
	MaxTokens  string       // name of the length field: max_tokens (default) or max_completion_tokens
	N          int          // choices a request; 0 and 1: the field is left out
	Extra      []byte       // JSON object merged into each request at its top level: its fields win, null removes one
	Header     []wire.Field // these win over the driver's own
	Auth       wire.Field   // the header with the credential; empty name: none
	Limits     wire.Limits
	// Switch, where set, is the field by which a call's reasoning is switched.
	Switch *Switch
	// Temperature, where set, is sent with each call.
	Temperature *float64
}

// Driver speaks one of OpenAI's APIs to one target. It remembers which of the
// fields that it adds by itself the server refused.
type Driver struct {
	api    string
	opt    Options
	url    *url.URL
	header []wire.Field
	extra  map[string]json.RawMessage
	n      int
	inURL  []string // secrets of the URL

	mu      sync.Mutex
	refused map[string]bool
	plan    atomic.Pointer[plan]
}

var (
	_ engine.Driver  = (*Driver)(nil)
	_ engine.Adapter = (*Driver)(nil)
)

// New returns a driver for api: openai-chat or openai-completions.
func New(api string, o Options) (*Driver, error) {
	if o.Base == nil {
		return nil, errors.New("no target URL")
	}
	u, err := Endpoint(o.Base.String(), api)
	if err != nil {
		return nil, err
	}
	switch o.OutputMode {
	case "":
		o.OutputMode = Exact
	case Exact, Cap:
	default:
		return nil, fmt.Errorf("output mode %q: expected %s or %s", o.OutputMode, Exact, Cap)
	}
	switch o.MaxTokens {
	case "":
		o.MaxTokens = fieldMaxTokens
	case fieldMaxTokens, fieldMaxCompletion:
	default:
		return nil, fmt.Errorf("length field %q: expected %s or %s", o.MaxTokens, fieldMaxTokens, fieldMaxCompletion)
	}
	d := &Driver{api: api, opt: o, refused: map[string]bool{}, n: max(o.N, 1), inURL: URLSecrets(o.Base)}
	if len(o.Extra) > 0 {
		if err := json.Unmarshal(o.Extra, &d.extra); err != nil || d.extra == nil {
			// Never the content: it may hold what is nobody's business.
			return nil, errors.New("body to merge: expected a JSON object")
		}
		var n int
		if json.Unmarshal(d.extra["n"], &n) == nil && n > 0 {
			d.n = n
		}
	}
	d.url, d.header = u, d.headers(u)
	d.plan.Store(d.newPlan())
	return d, nil
}

// Name returns the API's name.
func (d *Driver) Name() string { return d.api }

// URL returns the endpoint that requests go to, without user information.
func (d *Driver) URL() *url.URL { u := *d.url; return &u }

// headers returns what every request carries, and moves user information of
// the URL into an Authorization field.
func (d *Driver) headers(u *url.URL) []wire.Field {
	accept := "text/event-stream"
	if !d.streams(nil) {
		accept = "application/json"
	}
	own := []wire.Field{{Name: "Content-Type", Value: "application/json"}, {Name: "Accept", Value: accept},
		{Name: "User-Agent", Value: "tokamak"}}
	if u.User != nil {
		if d.opt.Auth.Name == "" {
			password, _ := u.User.Password()
			d.opt.Auth = wire.Field{Name: "Authorization",
				Value: "Basic " + base64.StdEncoding.EncodeToString([]byte(u.User.Username()+":"+password))}
		}
		u.User = nil
	}
	if d.opt.Auth.Name != "" {
		own = append(own, d.opt.Auth)
	}
	out := make([]wire.Field, 0, len(own)+len(d.opt.Header))
	for _, f := range own {
		if !slices.ContainsFunc(d.opt.Header, func(h wire.Field) bool { return strings.EqualFold(h.Name, f.Name) }) {
			out = append(out, f)
		}
	}
	return append(out, d.opt.Header...)
}

// Refuse tells the driver that the server refused fields that it adds by
// itself, as [engine.Answer.RefusedField] names them. From the next Encode on
// they are dropped or renamed. It reports whether a new request will differ
// from the refused one, so that sending it again makes sense.
func (d *Driver) Refuse(fields string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	any := false
	for f := range strings.SplitSeq(fields, ",") {
		if !slices.Contains(d.ownFields(), f) {
			continue
		}
		any = true
		d.refused[f] = true
	}
	if any {
		d.plan.Store(d.newPlan())
	}
	return any
}

// Adapted says how requests differ from what was asked because of refused
// fields, one phrase each, sorted.
func (d *Driver) Adapted() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	var out []string
	for _, f := range slices.Sorted(maps.Keys(d.refused)) {
		if to := rename(f); to != "" {
			out = append(out, f+" sent as "+to)
		} else {
			out = append(out, f+" dropped")
		}
	}
	return out
}

// Get returns a request for something else that the same server tells, with
// the driver's header fields and deadlines.
func (d *Driver) Get(u *url.URL) *wire.Request {
	r := &wire.Request{Method: "GET", URL: u, Limits: d.opt.Limits}
	for _, f := range d.header {
		if !strings.EqualFold(f.Name, "Content-Type") && !strings.EqualFold(f.Name, "Accept") {
			r.Header = append(r.Header, f)
		}
	}
	return r
}

// Credential is the name of the header field that carries the credential;
// empty: there is none.
func (d *Driver) Credential() string {
	for _, f := range d.opt.Header {
		if strings.EqualFold(f.Name, "Authorization") || strings.EqualFold(f.Name, "api-key") || strings.EqualFold(f.Name, "x-api-key") {
			return f.Name
		}
	}
	return d.opt.Auth.Name
}
