package openai

import (
	"bytes"
	"encoding/json"

	"github.com/tokamak-bench/tokamak/sim/face"
)

// Prompts reads a prompt: a text, token ids, or a list of either.
func Prompts(raw json.RawMessage, l *face.Language) ([][]uint32, *face.Problem) {
	var one string
	if json.Unmarshal(raw, &one) == nil && bytes.HasPrefix(bytes.TrimSpace(raw), []byte(`"`)) {
		return encode(l, one)
	}
	var ids []uint32
	if json.Unmarshal(raw, &ids) == nil && len(ids) > 0 {
		return [][]uint32{ids}, nil
	}
	var many []string
	if json.Unmarshal(raw, &many) == nil && len(many) > 0 && len(many) <= face.MaxChoices {
		return encode(l, many...)
	}
	var lists [][]uint32
	if json.Unmarshal(raw, &lists) == nil && len(lists) > 0 && len(lists) <= face.MaxChoices {
		return lists, nil
	}
	return nil, face.Bad("prompt", "prompt must be a string, a list of strings (at most %d), token ids, or lists of token ids, and not empty", face.MaxChoices)
}

func encode(l *face.Language, texts ...string) ([][]uint32, *face.Problem) {
	out := make([][]uint32, 0, len(texts))
	for _, t := range texts {
		ids, err := l.Encode(nil, t)
		if err != nil {
			return nil, face.Failed(err)
		}
		out = append(out, ids)
	}
	return out, nil
}

// Message is one message of a chat; its content is a string or a list of parts.
type Message struct {
	Role      string          `json:"role"`
	Content   json.RawMessage `json:"content"`
	ToolCalls []struct {
		Function struct {
			Name      string          `json:"name"`
			Arguments json.RawMessage `json:"arguments"`
		} `json:"function"`
	} `json:"tool_calls"`
	// Images are base64 beside the content, as Ollama has them.
	Images []string `json:"images"`
}

// ChatPrompt returns the tokens of a chat: its messages' one after the other,
// without a template's.
func ChatPrompt(messages []Message, l *face.Language) ([]uint32, *face.Problem) {
	var ids []uint32
	for i := range messages {
		var problem *face.Problem
		if ids, problem = messages[i].encode(ids, l); problem != nil {
			return nil, problem
		}
	}
	return ids, nil
}

// templated is ChatPrompt of a model whose template is counted where there is
// nothing else: a chat without any text still has a token to answer to.
func templated(messages []Message, l *face.Language) ([]uint32, *face.Problem) {
	ids, problem := ChatPrompt(messages, l)
	if problem == nil && len(ids) == 0 {
		ids = []uint32{0}
	}
	return ids, problem
}

// part is a piece of a message's content.
type part struct {
	Type     string          `json:"type"`
	Text     string          `json:"text"`
	ImageURL json.RawMessage `json:"image_url"`
	Audio    *audio          `json:"input_audio"`
}

func (m *Message) encode(ids []uint32, l *face.Language) ([]uint32, *face.Problem) {
	parts, problem := m.parts()
	if problem != nil {
		return nil, problem
	}
	for _, c := range m.ToolCalls {
		arguments := string(c.Function.Arguments)
		_ = json.Unmarshal(c.Function.Arguments, &arguments) // a string in OpenAI's, an object in Ollama's
		parts = append(parts, part{Type: "text", Text: c.Function.Name + arguments})
	}
	for _, image := range m.Images {
		ids = appendImage(ids, image)
	}
	text := ""
	for i, p := range parts {
		switch p.Type {
		case "text", "input_text", "output_text":
			text += p.Text // tokens are cut over neighbouring parts
		case "image_url", "input_image":
			url, ok := imageURL(p.ImageURL)
			if !ok {
				return nil, face.Bad("messages", "part %d: an image needs image_url with url", i)
			}
			var err error
			if ids, err = l.Encode(ids, text); err != nil {
				return nil, face.Failed(err)
			}
			ids, text = appendImage(ids, url), ""
		case "input_audio":
			if p.Audio == nil || p.Audio.Data == "" {
				return nil, face.Bad("messages", "part %d: sound needs input_audio with data", i)
			}
			var err error
			if ids, err = l.Encode(ids, text); err != nil {
				return nil, face.Failed(err)
			}
			ids, text = appendAudio(ids, p.Audio), ""
		default:
			return nil, face.Bad("messages", "content of type %q is not supported by this model", p.Type)
		}
	}
	ids, err := l.Encode(ids, text)
	if err != nil {
		return nil, face.Failed(err)
	}
	return ids, nil
}

func (m *Message) parts() ([]part, *face.Problem) {
	raw := bytes.TrimSpace(m.Content)
	if len(raw) == 0 || string(raw) == "null" {
		return nil, nil // an assistant's turn with tool calls alone
	}
	if raw[0] == '"' {
		var text string
		if err := json.Unmarshal(raw, &text); err != nil {
			return nil, face.Bad("messages", "content: %v", err)
		}
		return []part{{Type: "text", Text: text}}, nil
	}
	var parts []part
	if err := json.Unmarshal(raw, &parts); err != nil {
		return nil, face.Bad("messages", "content must be a string or a list of parts")
	}
	return parts, nil
}
