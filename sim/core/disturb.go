package core

import (
	"errors"
	"slices"
)

// Disturbance is what goes wrong inside an engine on purpose. It is called on
// the engine's loop and must depend on nominal moments alone.
type Disturbance interface {
	// Begin tells when the first request arrived.
	Begin(at int64)
	// At returns what is wrong with a step that starts at a moment.
	At(start int64) Trouble
	// Stretch returns the end of a step of d ns that starts at a moment.
	Stretch(start, d int64) int64
}

// Trouble is what is wrong with a step. The zero value is nothing.
type Trouble struct {
	Withheld    float64 // share of the KV blocks that nobody can use, from 0 to 1
	OutOfMemory bool    // the engine dies where what is left does not hold one sequence
	NoAdmission bool    // nothing waiting is taken in
	ClaimHits   bool    // prefix hits are reported, yet computed again
	HideQueue   bool    // the first token is told as if the request had come when it was scheduled
	Retry       int64   // when to look again where nothing could be scheduled
}

// patience is how long the engine waits, in ns, before it looks again for
// blocks that are withheld.
const patience = 10e6

// ErrDead says that the engine has died.
var ErrDead = errors.New("the engine has died")

// withhold takes blocks out of use, or gives them back, until a share of all
// is out of use. Blocks that requests hold stay theirs.
func (e *Engine) withhold(share float64) {
	want := int(share * float64(len(e.pool.blocks)-1))
	for len(e.withheld) < want && e.pool.free > 0 {
		e.withheld = append(e.withheld, e.pool.take())
	}
	if len(e.withheld) > want {
		e.pool.release(e.withheld[want:])
		e.withheld = e.withheld[:want]
	}
}

// disturb finds out what is wrong with the step that starts now.
func (e *Engine) disturb(now int64) {
	if e.cfg.Disturbance == nil {
		return
	}
	e.trouble = e.cfg.Disturbance.At(now)
	if e.trouble.Withheld > 0 || len(e.withheld) > 0 {
		e.withhold(e.trouble.Withheld)
	}
}

// stretch returns when the step under way ends.
func (e *Engine) stretch(start, d int64) int64 {
	end := e.cfg.Freeze.stretch(e.start, start, d)
	if e.cfg.Disturbance != nil {
		end = e.cfg.Disturbance.Stretch(start, end-start)
	}
	return end
}

// stuck handles a step in which nothing could be scheduled though something
// waits and is due.
func (e *Engine) stuck(now int64) {
	if e.trouble.OutOfMemory && len(e.withheld) > 0 && !e.trouble.NoAdmission {
		e.Kill(now)
		return
	}
	e.last = max(e.trouble.Retry, now+patience)
	e.busy = true
	e.loop.At(e.last, e.resume)
}

// Kill ends the engine as a process dies: Config.Died is called, every request
// finishes with Died, the observer hears nothing, and what is submitted later
// is refused with ErrDead. A dead engine stays dead.
func (e *Engine) Kill(at int64) {
	if e.dead {
		return
	}
	e.dead, e.busy = true, false
	if e.cfg.Died != nil {
		e.cfg.Died(at)
	}
	for _, x := range e.replicas {
		x.Kill(at)
	}
	list := slices.Concat(e.running, e.waiting.list())
	e.running, e.waiting = nil, queue{}
	for _, r := range list {
		r.die(at)
	}
}

// die ends a request with its engine.
func (r *Request) die(at int64) {
	if r.state == ended {
		return
	}
	r.state = ended
	r.Stats.Ended, r.Stats.Finish = at, Died
	r.Listener.Finished(Died, Usage{Prompt: r.Stats.Prompt, Cached: r.Stats.Cached, Output: r.Stats.Output}, at)
}
