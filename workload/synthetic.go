package workload

import "github.com/tokamak-bench/tokamak/stat"

// Synthetic yields lone requests of constant length with a salted prompt.
type Synthetic struct {
	Seed          uint64
	Input, Output int64
}

// Session returns request i.
func (s Synthetic) Session(i int64) (Session, error) {
	id := stat.Random(s.Seed, "salt", uint64(i)).Uint64()
	return &lone{Request{InputTokens: s.Input, OutputTokens: s.Output,
		Messages: []Message{{Role: "user", Blocks: []Block{{ID: id, Tokens: s.Input}}}}}, false}, nil
}

type lone struct {
	request Request
	sent    bool
}

func (l *lone) Next(*Answer) (*Request, bool) {
	if l.sent {
		return nil, false
	}
	l.sent = true
	return &l.request, true
}
