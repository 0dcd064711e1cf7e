package scenario

import (
	"strings"
	"testing"
)

func TestAgainst(t *testing.T) {
	s, err := Parse("x.yaml", []byte("target: {url: 'http://a', against: 'http://u:p@b'}\nload: {pairs: 3, rate: 2}\n"), Flags{})
	if err != nil {
		t.Fatal(err)
	}
	if s.Target.Against.Host != "b" || s.Load.Pairs != 3 {
		t.Errorf("against %v, %d pairs", Redacted(s.Target.Against), s.Load.Pairs)
	}
	frozen, err := s.Frozen()
	if err != nil || strings.Contains(string(frozen), "u:p") || !strings.Contains(string(frozen), `"pairs":3`) {
		t.Errorf("%s, %v", frozen, err)
	}
	a, b := s.Block(false, 7, "n-a", "d/a"), s.Block(true, 7, "n-b", "")
	if a.Target.URLs[0].Host != "a" || b.Target.URLs[0].Host != "b" || a.Load.Plan.Seed != 7 || b.Seed != 7 || a.Out.Dir != "d/a" || !b.Out.None {
		t.Errorf("blocks %+v and %+v", a, b)
	}
	// But for the address the blocks are the same run.
	fa, _ := a.Frozen()
	b.Target.URLs, b.Name, b.Out = a.Target.URLs, a.Name, a.Out
	if fb, _ := b.Frozen(); string(fa) != string(fb) || strings.Contains(string(fa), "against") || strings.Contains(string(fa), "pairs") {
		t.Errorf("%s\n%s", fa, fb)
	}
	if one, err := Parse("x.yaml", []byte("target: {url: 'http://a'}\n"), Flags{}); err != nil || one.Load.Pairs != 0 {
		t.Errorf("one target: %v", err)
	}
}

func TestAgainstErrors(t *testing.T) {
	for text, want := range map[string]string{
		"load: {pairs: 3}":                                                                   "x.yaml:1:15: pairs needs against",
		"target: {url: 'http://a', against: 'b:1'}":                                          "the scheme is missing",
		"target: {url: 'http://a', against: 'unix:///s'}":                                    "a unix socket can only be the first target",
		"target: {url: 'unix:///s', against: 'http://a'}":                                    "the first is a unix socket",
		"target: {virtual: true, against: 'http://a'}":                                       "virtual time is for sim:// targets only",
		"target: {against: ['http://a', 'http://b']}":                                        "expected one URL, got a list",
		"target: {against: 'http://a'}\nworkload: {dataset: '-'}":                            "read only once",
		"target: {against: 'http://a'}\nload: {pairs: 0}":                                    "a whole number of at least 1",
		"target: {against: 'http://a'}\nload: {stop-when-decided: true}\nslo: 'ttft.p99<1s'": "exclude each other",
	} {
		if _, err := Parse("x.yaml", []byte(text), Flags{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}
