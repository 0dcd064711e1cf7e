// Package catalog holds models and accelerators as data: shapes from each
// model's config.json, dense peaks and memory of each accelerator, and the
// fitted efficiencies that turn peaks into step times, each with what it rests
// on. A name, a path to a Hugging Face config.json or a path to an accelerator
// in YAML goes in, a [Model] or an [Accelerator] comes out.
package catalog
