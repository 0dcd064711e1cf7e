package jinja

import "testing"

func TestMutable(t *testing.T) {
	for src, want := range map[string]string{
		"{% set l = [1] %}{% set _ = l.append(2) %}{% set _ = l.extend([3, 4]) %}{% set _ = l.insert(0, 0) %}{{ l.pop() }}{{ l.pop(1) }}{{ l }}": "41[0, 2, 3]",
		"{% set d = {'a': 1} %}{% set _ = d.update({'b': 2}) %}{{ d.pop('a') }}{{ d.pop('x', 9) }}{{ d.setdefault('c', 3) }}{{ d }}":             "193{'b': 2, 'c': 3}",
	} {
		tpl, err := Parse(src)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := tpl.Render(nil, Options{Mutable: true}); err != nil || got != want {
			t.Errorf("%s: %q, %v, want %q", src, got, err, want)
		}
		if _, err := tpl.Render(nil, Options{}); err == nil {
			t.Errorf("%s: rendered in the sandbox", src)
		}
	}
	for _, src := range []string{"{% set l = [] %}{{ l.pop() }}", "{% set l = {} %}{{ l.pop('a') }}", "{% set l = [] %}{{ l.append() }}",
		"{% set l = [] %}{% for a in range(99999) %}{% for b in range(99999) %}{% set _ = l.append(l) %}{% endfor %}{% endfor %}",
		"{% set l = [1] %}{% for a in range(99999) %}{% set _ = l.extend(l) %}{% endfor %}"} {
		tpl, err := Parse(src)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := tpl.Render(nil, Options{Mutable: true, Limits: Limits{Steps: 1 << 20, Bytes: 64 << 20}}); err == nil {
			t.Errorf("%s: rendered", src)
		}
	}
}
