package fit

import (
	"github.com/tokamak-bench/tokamak/workload/count"
	"github.com/tokamak-bench/tokamak/workload/trace"
)

// textBlock is about how many tokens a block of a text has.
const textBlock = count.BlockBytes / count.EstimatedBytes

// wholly are the prompts of a row's texts where those are whole prompts.
func (l *log) wholly(said []count.Prompt) []count.Prompt {
	if l.options.Turns == trace.DeltaTurns {
		return nil
	}
	return said
}

// findPrefixes says of which prompts it is not known what they share, or only
// about how much.
func (l *log) findPrefixes() {
	b := l.blocks
	switch {
	case l.texted == 0:
		return
	case b.followed == 0:
		l.say("prefixes: the log has neither blocks nor texts of whole prompts, so that what they share at their front, such as a system prompt, is not in the model")
	case b.followed < int64(len(l.at)):
		l.say("prefixes: %s of %s requests have blocks or texts of their whole prompts; the others are taken to share nothing", grouped(b.followed), grouped(int64(len(l.at))))
	}
	if b.estimated > 0 {
		l.say("prefixes: the texts of %s requests are taken at %d bytes a token where shared fronts are measured, as nothing tells their lengths: --tokenizer counts them",
			grouped(b.estimated), count.EstimatedBytes)
	}
}
