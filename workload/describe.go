package workload

// Totaler is a source that may know how many sessions it has.
type Totaler interface {
	// Total returns the number of sessions, if it is known.
	Total() (n int64, known bool)
}

// Expected is what sessions of a workload amount to, a session on average:
// answers are taken to be as long as asked, and to come back in later prompts
// whole, or without their reasoning where the target is told whether to reason:
// else it decides, and more than all of them cannot come back.
type Expected struct {
	Requests     float64
	InputTokens  float64 // of all prompts, history included
	OutputTokens float64 // 0 where the server decides
	LongestInput int64   // of any one prompt looked at
}

// Describe looks at the first sessions of a source, at most 500 of n, and
// returns what one amounts to on average; false where the source cannot say
// without being used up or has none.
func Describe(s Source, n int64) (Expected, bool) {
	if d, ok := s.(interface{ expected(int64) (Expected, bool) }); ok {
		return d.expected(min(n, 500))
	}
	return Expected{}, false
}

func (s *synthetic) expected(n int64) (Expected, bool) {
	var e Expected
	for i := range n {
		session, err := s.Session(i)
		if err != nil {
			n = i
			break
		}
		e.add(session, false)
	}
	return e.per(n)
}

// add plays a session through with answers as long as asked; told says that the
// target is told whether to reason.
func (e *Expected) add(s Session, told bool) {
	var answer *Answer
	for {
		r, ok := s.Next(answer)
		if !ok {
			return
		}
		e.Requests++
		e.InputTokens += float64(r.InputTokens)
		e.OutputTokens += float64(r.OutputTokens)
		e.LongestInput = max(e.LongestInput, r.InputTokens)
		answer = &Answer{Tokens: r.OutputTokens}
		if told {
			answer.Reasoning = r.Reasoning
		}
	}
}

func (e Expected) per(n int64) (Expected, bool) {
	if n <= 0 {
		return Expected{}, false
	}
	e.Requests /= float64(n)
	e.InputTokens /= float64(n)
	e.OutputTokens /= float64(n)
	return e, true
}
