package trace

import (
	"time"

	"github.com/tokamak-bench/tokamak/workload/media"
)

// Row is one recorded session as far as its source tells: in most traces a
// lone request.
type Row struct {
	Format string // of the source, as Formats names it

	// At is the moment of arrival in ns, where Timed: since the Unix epoch
	// where Absolute, else since a beginning that the source chose.
	At              int64
	Timed, Absolute bool
	// Zoneless says that the moment is a date without a zone, taken as UTC.
	Zoneless bool

	// Names as the source gives them; empty where it gives none.
	ID, Class, Tenant, Session, Model string
	// Traced says that Session is the id of a trace, which other requests share,
	// since the source names no conversation.
	Traced bool `json:"-"`
	// Parent is the ID of the request whose conversation this one goes on
	// with; empty where there is none.
	Parent string
	// Turn is the number of the request in its conversation, from 0, where
	// the source gives one row a turn; else 0.
	Turn int64

	// Lengths in tokens; 0 where the source does not say.
	Input, Output, Reasoning, Cached int64
	// ReasoningTold says that the source tells Reasoning, so that 0 is none.
	ReasoningTold bool `json:"-"`
	// Limit is the most tokens that the request lets its answer have (max_tokens),
	// which is no length of it; 0 where it sets none or the source does not say.
	Limit int64
	// Content that is no text.
	Images, Audios, Videos int64
	// What the images are like, each; 0 where the source does not say.
	ImageWidth, ImageHeight int
	ImageBytes              int64
	Tools                   int64 // tool definitions sent along

	// Failed says that the service did not answer; Status is its HTTP status,
	// 0 where not said.
	Failed bool
	Status int
	// Told says that the source tells how the request went: without it, Failed
	// false is not known.
	Told bool `json:"-"`
	// How long the service took, 0 where not said.
	FirstToken, Duration time.Duration

	// Blocks name the prompt's blocks of BlockTokens tokens each, from its
	// front: equal ids are equal text behind an equal front. The last one may
	// be cut short by Input.
	Blocks      []uint64
	BlockTokens int64
	// Delta says that a turn's Input and Blocks are of its new text alone;
	// without it they are of the whole prompt, history included.
	Delta bool

	// Turns are the texts, where the source has them; or without messages the
	// lengths of a session of several turns, the first of which is the row's.
	Turns []Turn
	// Body is a whole recorded request body, or where Open holds content
	// alone, to which the length asked for is added.
	Body []byte
	Open bool
	// Held is what was found of the images, sounds and videos in Body, in
	// order, where Options.Media asks for it.
	Held []media.Recorded
}

// Asked is the length of an answer to ask for when the row is sent again: what
// was answered, else the most that was allowed; 0: the server decides.
func (r *Row) Asked() int64 {
	if r.Output > 0 {
		return r.Output
	}
	return r.Limit
}

// Size is about how many bytes of memory the row takes.
func (r *Row) Size() int {
	n := 512 + 8*len(r.Blocks) + len(r.Body)
	for _, t := range r.Turns {
		for _, m := range t.Messages {
			n += len(m.Text)
			for _, ref := range m.Media {
				n += 2 * len(ref.Text)
			}
		}
	}
	return n
}

// Turn is what a user says, with what is sent along in front of it, and what
// was answered.
type Turn struct {
	Messages []Message
	Answer   string
	// Input and Output are lengths in tokens, and Think the wait before it,
	// where the source says them for each turn.
	Input, Output int64
	Think         time.Duration
	// Reasoning are the tokens of the answer that are, Images how many there
	// are, of a turn that is a length.
	Reasoning int64 `json:",omitempty"`
	Images    int64 `json:",omitempty"`
	// ReasoningTold is as in Row.
	ReasoningTold bool `json:"-"`
}

// Message is one message of a chat.
type Message struct {
	Role, Text string
	// Media stand behind the text; Held is what was found of them where
	// Options.Media asks for it.
	Media []media.Reference `json:",omitempty"`
	Held  []media.Recorded  `json:",omitempty"`
}
