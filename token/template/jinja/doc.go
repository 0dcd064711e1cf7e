// Package jinja renders Jinja templates as Hugging Face's transformers sets
// Jinja up for chat templates: trim_blocks and lstrip_blocks, the immutable
// sandbox (a template cannot change lists and mappings unless asked to), loop controls,
// {% generation %}, and the functions raise_exception and strftime_now and the
// filter tojson as transformers defines them. In come the template's source and
// variables read from JSON ([FromJSON] keeps the order of keys); out goes text.
//
// What a template sees behaves as in Python: arithmetic, truth, slices,
// comparison, how values print, methods of strings, lists and mappings. What is
// not known here is an error that names it, where the rendering reaches it.
//
// A template is text from outside, perhaps from a server under test: steps,
// depth and bytes of a rendering are bounded ([Limits]), so that none hangs or
// exhausts the process. Errors name line and kind, never what variables hold.
package jinja
