package wiretest

import (
	"fmt"
	"strings"
)

// delta is one streamed object with a piece of content.
func (p *peer) delta(content string) string { return p.object(quote(content), "null") }

// finish is the object that carries the finish reason.
func (p *peer) finish(reason string) string { return p.object("", quote(reason)) }

// object forms a streamed object; content is JSON or empty.
func (p *peer) object(content, reason string) string {
	if p.chat {
		if content != "" {
			content = `"content":` + content
		}
		return fmt.Sprintf(`{"id":"chatcmpl-1","object":"chat.completion.chunk","created":1,"model":"fault-model","choices":[{"index":0,"delta":{%s},"finish_reason":%s}]}`, content, reason)
	}
	if content == "" {
		content = `""`
	}
	return fmt.Sprintf(`{"id":"cmpl-1","object":"text_completion","created":1,"model":"fault-model","choices":[{"index":0,"text":%s,"finish_reason":%s}]}`, content, reason)
}

// role is the first object of a chat.
func (p *peer) role() string { return p.delta("") }

func (p *peer) usage(prompt, completion int) string {
	return fmt.Sprintf(`{"id":"chatcmpl-1","object":"chat.completion.chunk","created":1,"model":"fault-model","choices":[],"usage":{"prompt_tokens":%d,"completion_tokens":%d,"total_tokens":%d}}`,
		prompt, completion, prompt+completion)
}

func quote(s string) string { return `"` + s + `"` }

// objects are all of a good answer in order, [DONE] included.
func (p *peer) objects() []string {
	all := []string{p.role()}
	for i := range p.tokens {
		all = append(all, p.delta(word(i)))
	}
	all = append(all, p.finish("length"))
	if p.includeUsage {
		all = append(all, p.usage(p.promptTokens, p.tokens))
	}
	return append(all, "[DONE]")
}

func word(i int) string {
	if i == 0 {
		return "word"
	}
	return " word"
}

// events are the objects as one text of SSE events.
func events(objects []string) string {
	return "data: " + strings.Join(objects, "\n\ndata: ") + "\n\n"
}

// full is a good answer that was not streamed.
func (p *peer) full() string {
	text := strings.TrimPrefix(strings.Repeat(" word", p.tokens), " ")
	choice := fmt.Sprintf(`"message":{"role":"assistant","content":%q}`, text)
	kind := "chat.completion"
	if !p.chat {
		choice, kind = fmt.Sprintf(`"text":%q`, text), "text_completion"
	}
	return fmt.Sprintf(`{"id":"cmpl-1","object":%q,"created":1,"model":"fault-model","choices":[{"index":0,%s,"finish_reason":"length"}],"usage":{"prompt_tokens":%d,"completion_tokens":%d,"total_tokens":%d}}`,
		kind, choice, p.promptTokens, p.tokens, p.promptTokens+p.tokens)
}

// healthy answers as a good server does.
func healthy(p *peer) bool {
	switch {
	case strings.HasSuffix(p.path, "/models"):
		p.whole(200, "application/json", `{"object":"list","data":[{"id":"fault-model","object":"model","created":1,"owned_by":"tokamak"}]}`)
	case strings.HasSuffix(p.path, "/health"):
		p.whole(200, "text/plain", "ok")
	case !p.stream:
		p.whole(200, "application/json", p.full())
	default:
		p.streamHead()
		for _, o := range p.objects() {
			p.event(o)
		}
		p.lastChunk()
	}
	return true
}
