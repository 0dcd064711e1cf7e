package fit

// sessionTurns makes the length of a later turn that of its new text, and
// marks it.
func (l *log) sessionTurns() {
	if l.sessions.count == 0 {
		return
	}
	if l.shrinks() {
		l.say("requests that go on with a session are shorter than what came before: they are taken as new text without history")
		for i := range l.flags {
			if l.session[i] >= 0 {
				l.flags[i] |= flagDelta
			}
		}
	}
	last := make([]int32, l.sessions.count)
	for i := range last {
		last[i] = -1
	}
	prompt := make([]int32, l.sessions.count) // of the last request, with its answer
	for i, s := range l.session {
		if s < 0 {
			continue
		}
		whole, later := l.input[i], last[s] >= 0
		if later {
			l.flags[i] |= flagLater
			if l.flags[i]&flagDelta == 0 {
				l.input[i] = max(whole-prompt[s], 1)
				l.front[i] = 0
			}
		}
		if l.flags[i]&flagFailed == 0 { // a failed turn is asked again, without an answer
			prompt[s] = whole + l.output[i]
		}
		last[s] = int32(i)
	}
}

// shrinks tells whether most later turns are shorter than the prompt and the
// answer before: they then hold their new text alone.
func (l *log) shrinks() bool {
	before := make([]int32, l.sessions.count)
	less, all := 0, 0
	for i, s := range l.session {
		if s < 0 || l.flags[i]&flagDelta != 0 {
			continue
		}
		if before[s] > 0 {
			all++
			if l.input[i] < before[s] {
				less++
			}
		}
		before[s] = l.input[i]
	}
	return all > 0 && 2*less > all
}
