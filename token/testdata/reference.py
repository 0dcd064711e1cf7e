"""Ids of texts by the reference implementations, one JSON list a line.

reference.py TEXTS.json KIND:ARGUMENT...

TEXTS.json is a list of strings. KIND is json (a tokenizer.json, PyPI
tokenizers), model (a SentencePiece model, PyPI sentencepiece), tekken (a
tekken.json, its ranks and pattern given to PyPI tiktoken) or tiktoken (an
encoding, PyPI tiktoken, whose vocabulary is the file NAME=FILE in tiktoken's
own form, since its own download needs the open internet).
"""

import hashlib
import json
import sys


def by_json(path):
    from tokenizers import Tokenizer

    t = Tokenizer.from_file(path)
    t.no_truncation()
    t.no_padding()
    return lambda s: t.encode(s, add_special_tokens=False).ids


def by_model(path):
    import sentencepiece

    t = sentencepiece.SentencePieceProcessor(model_file=path)
    return t.encode


def by_tekken(path):
    import base64

    import tiktoken

    d = json.load(open(path))
    special = d["config"]["default_num_special_tokens"]
    ranks = {base64.b64decode(v["token_bytes"]): v["rank"] for v in d["vocab"][: d["config"]["default_vocab_size"] - special]}
    t = tiktoken.Encoding("tekken", pat_str=d["config"]["pattern"], mergeable_ranks=ranks, special_tokens={})
    return lambda s: [i + special for i in t.encode_ordinary(s)]


def by_tiktoken(argument):
    import tiktoken
    import tiktoken.load
    import tiktoken_ext.openai_public as public

    name, _, path = argument.partition("=")

    def load(url, expected_hash=None):
        data = open(path, "rb").read()
        # The hash that tiktoken itself demands of its download.
        assert hashlib.sha256(data).hexdigest() == expected_hash, "the vocabulary is not tiktoken's"
        import base64

        return {base64.b64decode(t): int(r) for t, r in (line.split() for line in data.splitlines())}

    public.load_tiktoken_bpe = load
    t = tiktoken.Encoding(**getattr(public, name)())
    if name == "o200k_harmony":
        return lambda s: t.encode(s, allowed_special="all")
    return t.encode_ordinary


def main():
    texts = json.load(open(sys.argv[1]))
    for word in sys.argv[2:]:
        kind, _, argument = word.partition(":")
        encode = {"json": by_json, "model": by_model, "tekken": by_tekken, "tiktoken": by_tiktoken}[kind](argument)
        print(json.dumps([encode(s) for s in texts]), flush=True)


main()
