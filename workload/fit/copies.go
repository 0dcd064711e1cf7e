package fit

// copiesLooked is how many rows before it at the same moment a row is held
// against.
const copiesLooked = 8

// copies is how many rows stand for a request that a row in front of them at the
// same moment has already: where a log is read twice, or writes each request
// twice. It is 0 where rows that follow each other at different moments are alike
// nearly as often: then alike says nothing.
func (l *log) copies() int {
	copies, shared, alike, next := 0, 0, 0, 0
	for i := 1; i < len(l.at); i++ {
		if l.flags[i]&flagNoTime != 0 {
			continue
		}
		if l.at[i] != l.at[i-1] {
			next++
			if l.same(i, i-1) {
				alike++
			}
			continue
		}
		shared++
		for k := i - 1; k >= max(i-copiesLooked, 0) && l.at[k] == l.at[i]; k-- {
			if l.same(i, k) {
				copies++
				break
			}
		}
	}
	// Three of four rows that share a moment, and three times what chance makes.
	if 4*copies < 3*shared || copies*next < 3*alike*shared {
		return 0
	}
	return copies
}

// same tells whether two rows say the same of their request.
func (l *log) same(i, k int) bool {
	return l.input[i] == l.input[k] && l.output[i] == l.output[k] && l.tenant[i] == l.tenant[k] && l.model[i] == l.model[k] && l.session[i] == l.session[k]
}
