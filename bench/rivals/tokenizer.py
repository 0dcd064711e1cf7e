"""Writes a word-level tokenizer: one token a word, so that a client that counts texts and one that counts events agree.

usage: tokenizer.py DIRECTORY
"""
import json
import pathlib
import sys

from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast

directory = pathlib.Path(sys.argv[1])
directory.mkdir(parents=True, exist_ok=True)
words = ["<unk>", "<s>", "</s>", "<pad>"]
words += [f"tok{i:05d}" for i in range(1000)] + [f"think{i:05d}" for i in range(1000)] + [f"w{i}" for i in range(6000)]
tokenizer = Tokenizer(models.WordLevel({w: i for i, w in enumerate(words)}, unk_token="<unk>"))
tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
fast = PreTrainedTokenizerFast(
    tokenizer_object=tokenizer, unk_token="<unk>", bos_token="<s>", eos_token="</s>", pad_token="<pad>", model_max_length=131072
)
fast.chat_template = "{% for m in messages %}{{ m['content'] }} {% endfor %}"
fast.save_pretrained(directory)
(directory / "config.json").write_text(json.dumps({"model_type": "gpt2", "vocab_size": len(words)}))
