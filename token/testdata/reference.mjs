// Ids of texts by @huggingface/tokenizers from npm, one JSON list a line.
//
// node reference.mjs TEXTS.json TOKENIZER.json...
import fs from "fs";
const { Tokenizer } = await import(process.env.TOKENIZERS_MODULE ?? "@huggingface/tokenizers");
const texts = JSON.parse(fs.readFileSync(process.argv[2]));
for (const file of process.argv.slice(3)) {
  const t = new Tokenizer(JSON.parse(fs.readFileSync(file)), {});
  console.log(JSON.stringify(texts.map((s) => Array.from(t.encode(s, { add_special_tokens: false }).ids))));
}
