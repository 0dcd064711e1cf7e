// Package template says what text a chat becomes before a server tokenizes it,
// and so how many tokens its prompt has: a model's chat template in Jinja,
// rendered over messages, tools and further variables as the servers do it. In
// come a template ([Beside] a tokenizer's file, [OpenFile], [New]) and the body
// of a request ([ParseChat]); out go the text and its count under the model's own
// tokenizer.
//
// Between a request and its template stand conventions of the servers, which
// [Dialect] names: what becomes of contents in parts, of a call's arguments as
// text, of a last message by the assistant. docs/chat-templates.md says them.
package template
