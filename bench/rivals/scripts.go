package rivals

// All times below are in microseconds from the request.
const (
	firstAfter = 50_000
	gap        = 20_000
)

// steady is a paced stream of one token an event; streams differ in phase, so
// that they do not beat in step.
func steady(tokens int) func(dialect) []plan {
	return func(d dialect) []plan {
		var all []plan
		for phase := range 16 {
			w := &writer{d: d}
			at := firstAfter + phase*gap/16
			w.open(at)
			for i := range tokens {
				w.say(at+i*gap, 1, d.content, "tok")
			}
			w.finish(at+(tokens-1)*gap, true)
			all = append(all, plan{Steps: w.steps, End: keep, Whole: true, Units: w.units})
		}
		return all
	}
}

// faulty is a mix of 200 answers of 64 tokens: 76 fine, 55 refused with 429,
// 17 with an error event after 200, 39 cut in the middle, 12 without a
// terminator and one reset, in an order that mixes them.
func faulty(d dialect) []plan {
	kinds := map[int]func(dialect) plan{0: fine, 1: refused, 2: failing, 3: cut, 4: unterminated, 5: reset}
	counts := []int{76, 55, 17, 39, 12, 1}
	var all []plan
	given := make([]int, len(counts))
	for i := range 200 { // each kind is spread evenly
		best, most := 0, -1.0
		for k, n := range counts {
			if behind := float64(n)*float64(i+1)/200 - float64(given[k]); given[k] < n && behind > most {
				best, most = k, behind
			}
		}
		given[best]++
		all = append(all, kinds[best](d))
	}
	return all
}

const faultTokens = 64

func begin(d dialect, tokens int) (*writer, int) { return follow(&writer{d: d}, tokens) }

func follow(w *writer, tokens int) (*writer, int) {
	d := w.d
	w.open(firstAfter)
	at := firstAfter
	for i := range tokens {
		at = firstAfter + i*gap
		w.say(at, 1, d.content, "tok")
	}
	return w, at
}

func fine(d dialect) plan {
	w, at := begin(d, faultTokens)
	w.finish(at, true)
	return plan{Steps: w.steps, End: keep, Whole: true, Units: w.units}
}

func refused(d dialect) plan {
	w := &writer{d: d}
	w.status(1000, "429 Too Many Requests", "", `{"error":{"message":"slow down","type":"rate_limit_error","code":429}}`)
	return plan{Steps: w.steps, End: keep}
}

func failing(d dialect) plan {
	w, at := begin(d, faultTokens/2)
	w.put(at+gap, false, `{"error":{"message":"the engine died","type":"internal_error","code":500}}`)
	w.put(at+gap, false, "[DONE]")
	w.raw(at+gap, false, "0\r\n\r\n")
	return plan{Steps: w.steps, End: keep, Units: w.units}
}

// cut ends in the middle of a body that ends with its connection, so that HTTP
// itself sees nothing wrong.
func cut(d dialect) plan {
	w, _ := follow(&writer{d: d, plain: true}, faultTokens/2)
	return plan{Steps: w.steps, End: closing, Units: w.units}
}

// unterminated ends the body properly but sends neither finish nor [DONE].
func unterminated(d dialect) plan {
	w, at := begin(d, faultTokens)
	w.raw(at+1000, false, "0\r\n\r\n")
	return plan{Steps: w.steps, End: keep, Units: w.units}
}

func reset(d dialect) plan {
	w, _ := begin(d, 8)
	return plan{Steps: w.steps, End: resetting, Units: w.units}
}

// bundled carries five tokens an event, 50 ms apart, falls silent for a second
// in the middle, and thinks for its first quarter where the API can say so.
func bundled(d dialect) []plan {
	w := &writer{d: d}
	w.open(firstAfter)
	at := firstAfter
	for i := range 40 {
		format, word := d.content, "tok"
		if i < 10 {
			format, word = d.thinking, "think"
		}
		w.say(at, 5, format, word)
		if at += 50_000; i == 19 {
			at += 950_000
		}
	}
	w.finish(at-50_000, true)
	whole := plan{Steps: w.steps, End: keep, Whole: true, Units: w.units}
	return []plan{whole, whole, refused(d), whole, whole, failing(d), whole, whole, whole, whole}
}
