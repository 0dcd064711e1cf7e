package scenario

import (
	"net/url"
	"testing"
)

func TestProxy(t *testing.T) {
	for _, c := range []struct {
		env         map[string]string
		proxy, no   string
		target, via string
	}{
		{nil, "", "", "http://a", ""},
		{map[string]string{"http_proxy": "http://p:1"}, "", "", "http://a", "http://p:1"},
		{map[string]string{"HTTP_PROXY": "http://p:1"}, "", "", "http://a", ""}, // as curl: a request could have set it
		{map[string]string{"HTTPS_PROXY": "http://p:1"}, "", "", "https://a", "http://p:1"},
		{map[string]string{"ALL_PROXY": "http://p:1", "NO_PROXY": "b"}, "", "", "http://a", "http://p:1"},
		{map[string]string{"ALL_PROXY": "http://p:1", "NO_PROXY": "b"}, "", "", "http://b", ""},
		{map[string]string{"http_proxy": "http://p:1"}, "", "", "http://localhost:8000", ""},
		{nil, "http://p:1", "", "http://localhost:8000", "http://p:1"},
		{nil, "http://p:1", "localhost", "http://localhost:8000", ""},
		{map[string]string{"http_proxy": "http://p:1"}, "http://q:2", "", "http://a", "http://q:2"},
	} {
		f := Flags{URL: []string{c.target}}
		if c.proxy != "" {
			f.Proxy = &c.proxy
		}
		if c.no != "" {
			f.NoProxy = &c.no
		}
		env := fake()
		env.lookup = func(name string) (string, bool) { v, ok := c.env[name]; return v, ok }
		s, err := resolve("", nil, f, env)
		if err != nil {
			t.Fatal(err)
		}
		u, err := url.Parse(c.target)
		if err != nil {
			t.Fatal(err)
		}
		got, err := s.Target.Proxy.For(u)
		if err != nil {
			t.Fatal(err)
		}
		via := ""
		if got != nil {
			via = got.String()
		}
		if via != c.via {
			t.Errorf("%+v: got %q", c, via)
		}
	}
}
