package openai

import (
	"errors"
	"fmt"
	"net/url"
	"strings"
)

// The APIs that this package speaks, as --api takes them.
const (
	APIChat        = "openai-chat"
	APICompletions = "openai-completions"
)

// Endpoint returns the URL to post to for a base URL and an API. The rule: a
// path that ends in /completions is the endpoint itself; else /v1 is appended
// unless a segment of the path looks like a version (v1, v4, v1beta), the path
// contains /deployments/ or ends in /openai; then the API's own path follows.
// The query is kept. Errors never show user information of the URL.
func Endpoint(raw, api string) (*url.URL, error) {
	u, err := parseBase(raw)
	if err != nil {
		return nil, err
	}
	if api != APIChat && api != APICompletions {
		return nil, fmt.Errorf("api %q: expected %s or %s", api, APIChat, APICompletions)
	}
	if isEndpoint(u.Path) {
		return u, checkEndpoint(u.Path, api)
	}
	suffix := "chat/completions"
	if api == APICompletions {
		suffix = "completions"
	}
	return join(withVersion(u), suffix), nil
}

// ModelsURL returns the URL that lists the models of the server that raw names,
// by the same rule as [Endpoint].
func ModelsURL(raw string) (*url.URL, error) {
	u, err := parseBase(raw)
	if err != nil {
		return nil, err
	}
	if isEndpoint(u.Path) {
		u.Path = strings.TrimSuffix(strings.TrimSuffix(u.Path, "/completions"), "/chat")
		u.RawPath = ""
		return join(u, "models"), nil
	}
	return join(withVersion(u), "models"), nil
}

// PageURL returns the URL of a page that stands beside the API, such as
// metrics or version: the API's version and what follows it are cut off.
func PageURL(raw, page string) (*url.URL, error) {
	u, err := ModelsURL(raw)
	if err != nil {
		return nil, err
	}
	u.Path = strings.TrimSuffix(u.Path, "/models")
	if i := strings.LastIndexByte(u.Path, '/'); i >= 0 && isVersion(u.Path[i+1:]) {
		u.Path = u.Path[:i]
	}
	u.RawPath, u.RawQuery = "", ""
	return join(u, page), nil
}

func parseBase(raw string) (*url.URL, error) {
	u, err := url.Parse(raw)
	if err != nil {
		if ue, ok := errors.AsType[*url.Error](err); ok {
			err = ue.Err // without the URL: it may hold a password
		}
		return nil, fmt.Errorf("target URL: %w", err)
	}
	switch {
	case u.Scheme != "http" && u.Scheme != "https":
		return nil, errors.New("target URL: expected http://HOST or https://HOST")
	case u.Host == "":
		return nil, errors.New("target URL: no host")
	case u.Fragment != "":
		return nil, errors.New("target URL: a fragment (#...) has no meaning here")
	}
	u.Path = strings.TrimRight(u.Path, "/")
	u.RawPath = strings.TrimRight(u.RawPath, "/")
	return u, nil
}

func isEndpoint(path string) bool { return strings.HasSuffix(path, "/completions") }

// checkEndpoint refuses a full endpoint that is plainly the other API's.
func checkEndpoint(path, api string) error {
	segments := strings.Split(path, "/")
	before := segments[len(segments)-2]
	switch {
	case api == APICompletions && before == "chat":
		return fmt.Errorf("target URL ends in /chat/completions, which is %s, but the API asked for is %s", APIChat, api)
	case api == APIChat && isVersion(before):
		return fmt.Errorf("target URL ends in /%s/completions, which is %s, but the API asked for is %s", before, APICompletions, api)
	}
	return nil
}

func withVersion(u *url.URL) *url.URL {
	if strings.Contains(u.Path+"/", "/deployments/") || strings.HasSuffix(u.Path, "/openai") {
		return u
	}
	for s := range strings.SplitSeq(u.Path, "/") {
		if isVersion(s) {
			return u
		}
	}
	return join(u, "v1")
}

// join appends to the path, which then begins with a slash: JoinPath leaves a
// path relative where there was none.
func join(u *url.URL, elem string) *url.URL {
	j := u.JoinPath(elem)
	if !strings.HasPrefix(j.Path, "/") {
		j.Path = "/" + j.Path
	}
	return j
}

// isVersion tells whether a path segment looks like v1, v4 or v1beta.
func isVersion(s string) bool {
	if len(s) < 2 || s[0] != 'v' || s[1] < '0' || s[1] > '9' {
		return false
	}
	rest := strings.TrimLeft(s[1:], "0123456789")
	rest = strings.TrimRight(rest, "0123456789")
	return rest == "" || rest == "alpha" || rest == "beta"
}
