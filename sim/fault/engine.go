package fault

import (
	"github.com/tokamak-bench/tokamak/sim/core"
	"github.com/tokamak-bench/tokamak/stat"
)

var _ core.Disturbance = (*Set)(nil)

// Begin is called with the arrival of a life's first request.
func (s *Set) Begin(at int64) {
	if !s.any.Load() {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.begin(at)
}

// begin sets the windows that wait for the first request.
func (s *Set) begin(at int64) {
	if s.begun == unset {
		s.begun = at
	}
	for _, a := range s.active {
		if a.base == unset {
			a.base = s.begun
			s.loop.Post(func() { s.schedule(a, s.begun) })
		}
		if a.life == unset {
			a.life = at
		}
	}
}

// Attach gives the set a life: kill ends it. It is called at its beginning.
func (s *Set) Attach(kill func(at int64)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.kill, s.revival = kill, 0
}

// Reborn says that a new life begins, which kill ends. Leaks and loading
// begin anew.
func (s *Set) Reborn(now int64, kill func(at int64)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.kill, s.revival, s.born = kill, 0, now
	for _, a := range s.active {
		if a.Definition.Name == "leak" && a.life != unset {
			a.life = now - a.At // at its window's beginning
		}
	}
}

// Revival is how many ns after its death the engine lives again; 0: never.
func (s *Set) Revival() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.revival == 0 { // out of memory found by the engine itself
		for _, a := range s.active {
			if a.Definition.Name == "leak" {
				s.revival = a.seconds("restart")
			}
		}
	}
	return s.revival
}

// schedule arranges the death that a fault brings; base is what its window
// counts from. It runs on the loop.
func (s *Set) schedule(a *active, base int64) {
	at := base + a.At
	switch a.Definition.Name {
	case "crash":
	case "nccl_stall":
		if a.For == 0 {
			return // stands still for good
		}
		at += a.For
	default:
		return
	}
	s.loop.At(at, func() {
		s.mu.Lock()
		kill := s.kill
		if a.over {
			kill = nil
		}
		s.revival = a.seconds("restart")
		a.over = true
		s.mu.Unlock()
		if kill != nil {
			kill(at)
		}
	})
}

// At returns what is wrong with a step.
func (s *Set) At(start int64) core.Trouble {
	var t core.Trouble
	if !s.engine.Load() {
		return t
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, a := range s.active {
		a.trouble(start, &t)
	}
	return t
}

func (a *active) trouble(start int64, t *core.Trouble) {
	base := a.base
	if a.Definition.Name == "leak" {
		base = a.life
	}
	if a.Definition.Kind != OnEngine || !a.within(base, start) {
		return
	}
	switch a.Definition.Name {
	case "ttft_without_queue":
		t.HideQueue = true
	case "false_hits":
		t.ClaimHits = true
	case "head_of_line":
		t.NoAdmission = true
		if a.For > 0 {
			t.Retry = max(t.Retry, base+a.At+a.For)
		}
	case "preemption_storm":
		t.Withheld = max(t.Withheld, a.value("blocks"))
	case "leak":
		t.Withheld = max(t.Withheld, min(1, a.value("rate")*float64(start-base-a.At)/1e9))
		t.OutOfMemory = true
	}
}

// Stretch returns the end of a step of d ns that starts at a moment.
func (s *Set) Stretch(start, d int64) int64 {
	if !s.engine.Load() {
		return start + d
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	end := start + d
	for _, a := range s.active {
		if a.base == unset || a.over {
			continue
		}
		switch a.Definition.Name {
		case "freeze", "nccl_stall":
			end = a.stall(start, end)
		case "neighbour":
			if a.within(a.base, start) {
				end = start + int64(float64(end-start)*a.slowdown(start))
			}
		}
	}
	return end
}

// stall moves the end of a step that meets a window in which nothing is
// computed.
func (a *active) stall(start, end int64) int64 {
	from := a.base + a.At
	long := a.For
	if long == 0 {
		long = 1e6 * 1e9 // for good, as far as a run goes
	}
	switch {
	case end <= from || start >= from+long:
		return end
	case start < from:
		return end + long
	default:
		return end + from + long - start
	}
}

// slowdown is by how much a step that starts at a moment takes longer: the
// neighbour computes in a share of its turns, drawn by number.
func (a *active) slowdown(start int64) float64 {
	turn := uint64(start-a.base-a.At) / uint64(a.seconds("period"))
	if float64(stat.Key(a.Seed, "fault/neighbour", turn)>>11)/(1<<53) < a.value("busy") {
		return a.value("slowdown")
	}
	return 1
}
