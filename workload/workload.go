package workload

import (
	"errors"
	"time"

	"github.com/tokamak-bench/tokamak/workload/media"
)

// Source yields sessions by number.
type Source interface {
	// Session returns session i, counted from 0, or ErrEnd.
	Session(i int64) (Session, error)
}

// ErrEnd says that a source has no session of that number or any later one.
var ErrEnd = errors.New("no more sessions")

// Session is a conversation; a lone request is a session of one turn.
type Session interface {
	// Next returns the next request, given the answer to the one before (nil
	// for the first), or false when the session is over. It is called with
	// nil answer also after a turn that failed, and then ends the session.
	Next(answer *Answer) (*Request, bool)
}

// Request specifies one request.
type Request struct {
	Class, Tenant, SessionID, SourceID string

	Turn int64 // from 0
	// Think is the wait between the end of the turn before and this one.
	Think time.Duration
	// InputTokens is the prompt length asked for; 0 where the content is
	// literal and its length not known beforehand.
	InputTokens int64
	// SharedTokens of the prompt were sent before by this workload, so that
	// their reuse is possible.
	SharedTokens int64
	// OutputTokens is the answer length asked for; 0: the server decides.
	OutputTokens int64
	// Reasons says that it is known whether the model is to reason, and
	// Reasoning how many tokens of the answer are that; 0: it is not to.
	Reasons   bool
	Reasoning int64
	Messages  []Message
	// Text is what the blocks are written of, as package corpus names it;
	// empty: its default.
	Text string
	// Tools are definitions of functions that are sent along; Count 0: none.
	Tools media.Tools
	// Body, where set, is a whole request body to send as it is.
	Body []byte
	// Open says that Body holds content alone, so that the length asked for is
	// to be added to it.
	Open bool
	// Held is what Body holds beside text, in order; see Complete.
	Held []media.Recorded
	// Lost is what stands for images that a log cut out of Body.
	Lost media.Image
	// Patience, where positive, is after how long the user gives up.
	Patience time.Duration
}

// Message is one message of a chat; a completion's prompt is a single message.
type Message struct {
	Role string
	// Text is literal content; where it is empty, Blocks say what it holds.
	Text   string
	Blocks []Block
	// Recorded are of a dataset; they stand behind the text.
	Recorded []media.Recorded
	// Asked is how many images, sounds and videos the dataset says there were;
	// 0 for a message that no dataset holds.
	Asked int64
	// Images and Audio stand behind the text.
	Images []media.Image
	Audio  []media.Audio
}

// Block is content of exactly Tokens tokens that follows from ID alone: equal
// blocks are equal text, and blocks of different ID share no prefix.
type Block struct {
	ID     uint64
	Tokens int64
}

// Answer is what a session gets to see of a response.
type Answer struct {
	Text   string
	Tokens int64
	// Reasoning are those of Tokens that are: they do not come back.
	Reasoning int64
	// Block stands for the text in virtual time.
	Block Block
}
