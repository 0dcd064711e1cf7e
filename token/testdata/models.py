"""Small models of every form that package token reads, trained on the corpus.

models.py CORPUS.json FOLDER

Four of them are committed beside this file, in models.
"""

import io
import json
import os
import sys

import sentencepiece
from sentencepiece import sentencepiece_model_pb2 as pb
from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers
from tokenizers.trainers import BpeTrainer

texts = [t["text"] for t in json.load(open(sys.argv[1]))]
folder = sys.argv[2]
os.makedirs(folder, exist_ok=True)
lines = [line for t in texts for line in t.replace("\0", "").splitlines() if line.strip()]


def train(name, **options):
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(lines * 3), model_writer=model, minloglevel=2, num_threads=1,
        hard_vocab_limit=False, character_coverage=0.98, **options)
    open(f"{folder}/{name}.model", "wb").write(model.getvalue())


unigram = dict(model_type="unigram", vocab_size=1500)
train("unigram-nfkc", normalization_rule_name="nmt_nfkc", **unigram)
train("unigram-identity", normalization_rule_name="identity", remove_extra_whitespaces=False, byte_fallback=True,
      user_defined_symbols=["<sep>", "\u2581\u2581", "ABC"], **unigram)
train("unigram-cf-suffix", normalization_rule_name="nmt_nfkc_cf", treat_whitespace_as_suffix=True, **unigram)
train("unigram-nodummy", normalization_rule_name="nfkc", add_dummy_prefix=False, control_symbols=["<ctl>"],
      user_defined_symbols=["<|im_end|>", "\n"], **unigram)
bpe = dict(model_type="bpe", vocab_size=3200)
train("bpe-identity", normalization_rule_name="identity", remove_extra_whitespaces=False, byte_fallback=True, **bpe)
train("bpe-nfkc", normalization_rule_name="nmt_nfkc", **bpe)
train("bpe-user", normalization_rule_name="identity", remove_extra_whitespaces=False, byte_fallback=True,
      user_defined_symbols=["<sep>", "\u2581\u2581", "\n\n", "ABC", "<|im_end|>"], split_by_whitespace=False, **bpe)
train("bpe-whole", normalization_rule_name="nfkc_cf", split_by_whitespace=False, max_sentencepiece_length=24, **bpe)


def trained(name):
    model = pb.ModelProto()
    model.ParseFromString(open(f"{folder}/{name}.model", "rb").read())
    return model, [(p.piece, p.score) for p in model.pieces]


# The forms that XLM-RoBERTa and T5 have.
model, vocab = trained("unigram-nfkc")
charsmap = normalizers.Precompiled(model.normalizer_spec.precompiled_charsmap)
t = Tokenizer(models.Unigram(vocab, unk_id=0))
t.normalizer = charsmap
t.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Metaspace(prepend_scheme="always")])
t.decoder = decoders.Metaspace()
t.add_special_tokens(["<s>", "</s>", AddedToken("<mask>", lstrip=True, special=True)])
t.save(f"{folder}/xlmr.json")
t = Tokenizer(models.Unigram(vocab, unk_id=0))
t.normalizer = normalizers.Sequence([charsmap, normalizers.Strip(left=False, right=True), normalizers.Replace(Regex(" {2,}"), "\u2581")])
t.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="first")
t.decoder = decoders.Metaspace(prepend_scheme="first")
t.add_tokens([AddedToken("<extra_id_0>", rstrip=True, normalized=True), AddedToken("Straßen", normalized=True),
              AddedToken("the", single_word=True, normalized=False)])
t.save(f"{folder}/t5.json")
_, vocab = trained("unigram-identity")
t = Tokenizer(models.Unigram(vocab, unk_id=0, byte_fallback=True))
t.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="always", split=False)
t.decoder = decoders.Sequence([decoders.Replace("\u2581", " "), decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(" ", 1, 0)])
t.save(f"{folder}/unigram-fallback.json")

# The forms that newer files of Llama 2 and Mistral have, and unknown tokens.
for name, fuse, fallback, scheme, split in (
        ("bpe-first", True, True, "first", False), ("bpe-unfused", False, False, "always", True), ("bpe-fused", True, False, "never", True)):
    t = Tokenizer(models.BPE(unk_token="<unk>", fuse_unk=fuse, byte_fallback=fallback))
    t.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme=scheme, split=split)
    t.decoder = decoders.Metaspace(prepend_scheme=scheme, split=split)
    special = ["<unk>", "<s>", "</s>"] + ([f"<0x{b:02X}>" for b in range(256)] if fallback else [])
    t.train_from_iterator(texts, BpeTrainer(vocab_size=3000, special_tokens=special, limit_alphabet=250, show_progress=False, max_token_length=24))
    d = json.loads(t.to_str())
    d["added_tokens"] = d["added_tokens"][:3]
    json.dump(d, open(f"{folder}/{name}.json", "w"))

# Every behavior of a split.
t = Tokenizer(models.BPE())
t.normalizer = normalizers.NFD()
t.pre_tokenizer = pre_tokenizers.Sequence([
    pre_tokenizers.Split("n", "merged_with_next"), pre_tokenizers.Split(Regex("[aeiou]+"), "merged_with_previous"),
    pre_tokenizers.Digits(False), pre_tokenizers.Split(Regex("[.,!?]"), "contiguous"), pre_tokenizers.Split("z", "removed"),
    pre_tokenizers.ByteLevel(add_prefix_space=True)])
t.decoder = decoders.ByteLevel()
t.train_from_iterator(texts, BpeTrainer(vocab_size=3000, initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), show_progress=False))
t.add_tokens([AddedToken("é", normalized=True), AddedToken(" fox ", lstrip=True, rstrip=True), AddedToken("in", single_word=True)])
t.save(f"{folder}/bpe-splits.json")
