"""Renders chat templates with Python's Jinja, set up as transformers does.

Usage: reference.py CASES [SHARE TEMPLATE...]

CASES is a JSON list of {"template" or of none, "variables"}. With TEMPLATE
files each SHARE-th case is rendered with each, from another one on for each
template; else each case with its own template. Prints
one JSON list a template, or one in all: texts, or null where rendering fails.
The moment of strftime_now is 2024-07-26 09:05:03.
"""
import datetime
import json
import sys

import jinja2
import jinja2.ext
from jinja2.sandbox import ImmutableSandboxedEnvironment

now = datetime.datetime(2024, 7, 26, 9, 5, 3, 42)


class Generation(jinja2.ext.Extension):
    tags = {"generation"}

    def parse(self, parser):
        line = next(parser.stream).lineno
        body = parser.parse_statements(["name:endgeneration"], drop_needle=True)
        return jinja2.nodes.CallBlock(self.call_method("_body"), [], [], body).set_lineno(line)

    def _body(self, caller):
        return caller()


class Dict:
    def __call__(self, *a, **k):
        return dict(*a, **k)

    def fromkeys(self, *a, **k):
        return dict.fromkeys(*a, **k)


class Namespace(jinja2.utils.Namespace):
    def __setitem__(self, name, value):
        if name.startswith("_"):
            raise jinja2.exceptions.SecurityError(name)
        super().__setitem__(name, value)


def refuse(message):
    raise jinja2.exceptions.TemplateError(message)


def environment():
    e = ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True, extensions=[Generation, jinja2.ext.loopcontrols])
    e.filters["tojson"] = lambda x, ensure_ascii=False, indent=None, separators=None, sort_keys=False: json.dumps(
        x, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys)
    e.globals.update(raise_exception=refuse, strftime_now=now.strftime, dict=Dict(), namespace=Namespace)
    return e


def render(template, variables):
    try:
        return template.render(**variables)
    except Exception:
        return None


def compiled(source):
    try:
        return environment().from_string(source)
    except Exception:
        return None


cases = json.load(open(sys.argv[1]))
if len(sys.argv) == 2:
    out = []
    for c in cases:
        t = compiled(c["template"])
        out.append(t and render(t, c["variables"]))
    print(json.dumps(out))
share = int(sys.argv[2]) if len(sys.argv) > 2 else 1
for n, path in enumerate(sys.argv[3:]):
    t = compiled(open(path, newline="").read())
    print(json.dumps([t and render(t, c["variables"]) for c in cases[n % share::share]]))
