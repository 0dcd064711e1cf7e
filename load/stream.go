package load

// Stream is a load whose moments are worked out one after the other, so that
// any number of them takes no memory.
type Stream struct {
	// Open returns the moments of a seed from the first on, in ns from the
	// start and in rising order; ok is false after the last.
	Open func(seed uint64) (func() (at int64, ok bool), error)
	// Summary is what the stream comes to, before MaxRequests.
	Summary Summary
}

// stream yields the moments of a Stream.
type stream struct {
	next  func() (int64, bool)
	due   Due
	known bool // due is valid
	over  bool
	limit int64
}

func newStream(p Plan) (*stream, error) {
	next, err := p.Stream.Open(p.Seed)
	if err != nil {
		return nil, err
	}
	return &stream{next: next, due: Due{Index: -1, User: NoUser}, limit: p.MaxRequests}, nil
}

// Peek returns the next moment.
func (s *stream) Peek() (Due, State) {
	if !s.known && !s.over {
		var ok bool
		if s.due.At, ok = s.next(); ok && (s.limit == 0 || s.due.Index+1 < s.limit) {
			s.due.Index++
			s.known = true
		} else {
			s.over = true
		}
	}
	if s.over {
		return Due{}, Finished
	}
	return s.due, Ready
}

// Pop moves to the moment after the present one.
func (s *stream) Pop() {
	s.Peek()
	s.known = false
}

// Ended does nothing: a stream does not wait for answers.
func (s *stream) Ended(_, _ int64) {}

// describeStream is what a stream comes to where a number of requests may end
// it before.
func (p Plan) describeStream() Summary {
	s := p.Stream.Summary
	if limit := float64(p.MaxRequests); limit > 0 && limit < s.Requests {
		s.Requests = limit
	}
	return s
}
