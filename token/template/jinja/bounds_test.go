package jinja

import (
	"strings"
	"testing"
	"time"
)

// TestHostile: what would go on for ever, or take all memory, ends with an
// error, and soon.
func TestHostile(t *testing.T) {
	deep := strings.Repeat
	for name, src := range map[string]string{
		"loops":            `{% for a in range(99999) %}{% for b in range(99999) %}{% for c in range(99999) %}{% endfor %}{% endfor %}{% endfor %}`,
		"recursion":        `{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}`,
		"two macros":       `{% macro a() %}{{ b() }}{{ b() }}{% endmacro %}{% macro b() %}{{ a() }}{{ a() }}{% endmacro %}{{ a() }}`,
		"recursive loop":   `{% set x = [1] %}{% for a in x recursive %}{{ loop(x) }}{% endfor %}`,
		"doubled text":     `{% set ns = namespace(x='xxxxxxxxxxxxxxxx') %}{% for a in range(1000) %}{% set ns.x = ns.x + ns.x %}{% endfor %}`,
		"doubled list":     `{% set ns = namespace(x=[1]) %}{% for a in range(1000) %}{% set ns.x = ns.x + ns.x %}{% endfor %}`,
		"doubled graph":    `{% set ns = namespace(x=[1]) %}{% for a in range(1000) %}{% set ns.x = [ns.x, ns.x] %}{% endfor %}{{ ns.x }}`,
		"graph as JSON":    `{% set ns = namespace(x=[1]) %}{% for a in range(60) %}{% set ns.x = [ns.x, ns.x] %}{% endfor %}{{ ns.x | tojson }}`,
		"graph compared":   `{% set ns = namespace(x=[1], y=[1]) %}{% for a in range(60) %}{% set ns.x = [ns.x, ns.x] %}{% set ns.y = [ns.y, ns.y] %}{% endfor %}{{ ns.x == ns.y }}`,
		"cycle":            `{% set ns = namespace() %}{% set ns.x = [ns] %}{{ ns }}{{ ns.x == ns.x }}{{ ns.x | tojson }}`,
		"repeated":         `{{ 'x' * 10000000000 }}`,
		"repeated list":    `{{ [1] * 10000000000 }}`,
		"power":            `{{ 10 ** 10 ** 10 }}`,
		"range":            `{{ range(10 ** 15) }}`,
		"padding":          `{{ '%1000000000s' | format('x') }}`,
		"centre":           `{{ 'x'.center(100000000000) }}`,
		"indent":           `{{ ('x\n' * 1000000) | indent(60000) }}`,
		"indented JSON":    `{% set ns = namespace(x=[1]) %}{% for a in range(300) %}{% set ns.x = [ns.x, 1] %}{% endfor %}{% for a in range(10000) %}{{ ns.x | tojson(indent=60000) }}{% endfor %}`,
		"replace":          `{{ ('x' * 1000000) | replace('x', 'y' * 1000000) }}`,
		"join":             `{{ range(99999) | join('y' * 1000000) }}`,
		"searched":         `{% set s = 'x' * 10000000 %}{% for a in range(99999) %}{% if 'y' in s %}{% endif %}{% endfor %}`,
		"found":            `{% set s = 'x' * 10000000 %}{% for a in range(99999) %}{{ s.find('y') }}{{ s | length }}{% endfor %}`,
		"measured":         `{% set s = 'x' * 10000000 %}{% for a in range(99999) %}{% if s | length %}{% endif %}{% endfor %}`,
		"indexed":          `{% set s = 'x' * 10000000 %}{% for a in range(99999) %}{{ s[-1] }}{% endfor %}`,
		"cased":            `{% set s = 'x' * 10000000 %}{% for a in range(99999) %}{% if s is lower %}{% endif %}{% endfor %}`,
		"words":            `{% set s = 'x' * 10000000 %}{% for a in range(99999) %}{% if s | wordcount %}{% endif %}{% endfor %}`,
		"numbers":          `{% set s = 'x' * 10000000 %}{% for a in range(99999) %}{% if s | int %}{% endif %}{% endfor %}`,
		"deep parentheses": deep("{{ ", 1) + deep("(", 100000) + "1" + deep(")", 100000) + " }}",
		"deep tags":        deep("{% if 1 %}", 100000) + deep("{% endif %}", 100000),
		"deep minus":       "{{ " + deep("- ", 100000) + "1 }}",
		"deep not":         "{{ " + deep("not ", 100000) + "1 }}",
		"deep else":        "{{ " + deep("1 if 0 else ", 100000) + "1 }}",
		"deep list":        "{{ " + deep("[", 100000) + deep("]", 100000) + " }}",
		"deep targets":     "{% set " + deep("(", 100000) + "a" + deep(")", 100000) + " = 1 %}",
		"long":             deep("x", 5<<20),
	} {
		t.Run(name, func(t *testing.T) {
			start := time.Now()
			tpl, err := Parse(src)
			if err == nil {
				_, err = tpl.Render(nil, Options{Limits: Limits{Steps: 1 << 20, Bytes: 64 << 20}})
			}
			if err == nil {
				t.Error("rendered")
			}
			if d := time.Since(start); d > 20*time.Second {
				t.Errorf("it took %v", d)
			}
		})
	}
}

// TestErrorsSayNothing: an error names its line and what is wrong, and shows
// nothing of what the variables hold.
func TestErrorsSayNothing(t *testing.T) {
	for src, want := range map[string]string{
		"a\n\n{{ secret + 1 }}":                             `line 3: + does not go with str and int`,
		"{{ secret.x.y }}":                                  `line 1: "x" is undefined`,
		"{{ raise_exception('only users') }}":               `line 1: the template refuses this conversation: only users`,
		"{{ raise_exception('no ' + secret) }}":             `line 1: the template refuses this conversation (its words may quote it and are not shown)`,
		"\n{{ 1 | nosuch }}":                                `line 2: filter nosuch: it is not known`,
		"{{ [secret].index(1) }}":                           `line 1: index: the value is not in the list`,
		"{{ {secret: 1}[secret].a.b }}":                     `line 1: "a" is undefined`,
		"{{ {}[secret].b }}":                                `line 1: "classified" is undefined`,
		"{% macro m() %}\n{{ x.y }}{% endmacro %}{{ m() }}": `line 2: "x" is undefined`,
	} {
		tpl, err := Parse(src)
		if err == nil {
			_, err = tpl.Render(map[string]any{"secret": "classified"}, Options{})
		}
		if err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", src, err, want)
		}
	}
}

func FuzzTemplate(f *testing.F) {
	for _, s := range []string{"{% for a in messages %}{{ a.role | upper ~ a['content'][1:-1] }}{% endfor %}", "{%- macro m(a, b=1) -%}{{ a % (b,) }}{%- endmacro -%}{{ m('%s', 2) }}",
		"{% set ns = namespace(a=[]) %}{% set ns.a = ns.a + [messages] %}{{ ns.a | tojson(indent=2) }}", "{{ 'a\\u00e9'.split('a', 1) | map('trim') | list | sort }}{# #}{% raw %}{% endraw %}",
		"{{ [3, 1] | sort(reverse=true) | batch(2) | list }}{{ 'x' is in 'xyz' and not 1 > 2 }}", "{% call m() %}{% endcall %}{% filter indent(2) %}a\nb{% endfilter %}{{ '{}'.format(1) }}"} {
		f.Add(s)
	}
	vars := map[string]any{}
	f.Fuzz(func(t *testing.T, src string) {
		tpl, err := Parse(src)
		if err != nil {
			return
		}
		if len(vars) == 0 {
			vars = variables(t, []byte(snippetVariables))
		}
		_, _ = tpl.Render(vars, Options{Limits: Limits{Steps: 20000, Bytes: 1 << 20}})
	})
}
