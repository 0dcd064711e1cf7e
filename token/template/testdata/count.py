"""Counts the prompts of chats with Hugging Face's tokenizers and Python's Jinja.

Usage: count.py FOLDER CHATS
FOLDER holds tokenizer.json and tokenizer_config.json; CHATS is a JSON list of
{"messages", "tools", ...}. Prints a JSON list of counts, null where the template
refuses.
"""
import json
import sys

import tokenizers
from jinja2.ext import loopcontrols
from jinja2.sandbox import ImmutableSandboxedEnvironment


def refuse(message):
    raise ValueError(message)


folder, chats = sys.argv[1], json.load(open(sys.argv[2]))
config = json.load(open(folder + "/tokenizer_config.json"))
special = {k: v["content"] if isinstance(v, dict) else v for k, v in config.items() if k.endswith("_token") and v}
special = {k: v for k, v in special.items() if isinstance(v, str)}
e = ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True, extensions=[loopcontrols])
e.filters["tojson"] = lambda x, indent=None: json.dumps(x, ensure_ascii=False, indent=indent)
e.globals["raise_exception"] = refuse
template = e.from_string(config["chat_template"])
tokenizer = tokenizers.Tokenizer.from_file(folder + "/tokenizer.json")
out = []
for c in chats:
    try:
        text = template.render(**{"tools": None, "add_generation_prompt": True, **special, **c})
    except Exception:
        out.append(None)
        continue
    out.append(len(tokenizer.encode(text, add_special_tokens=False).ids))
print(json.dumps(out))
