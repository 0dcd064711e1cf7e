package fit

import (
	"hash/maphash"

	"github.com/tokamak-bench/tokamak/workload/trace"
)

// How a request was told to belong to a session.
const (
	sessionNamed  = "session"
	sessionParent = "parent"
	sessionBlocks = "blocks"
	sessionRows   = "rows"
)

// sessions number the conversations of a log.
type sessions struct {
	names
	count   int32
	by      map[string]int64
	parents map[uint64]int32 // the request of an id
	looked  int64            // requests with an id so far
	related bool             // some name a parent
	ends    map[int32]uint64 // the block that a prompt holds which goes on with a session's last
}

func newSessions(keep bool) sessions {
	return sessions{names: newNames(keep), by: map[string]int64{}, parents: map[uint64]int32{}, ends: map[int32]uint64{}}
}

// next numbers a new session.
func (s *sessions) next(by string) int32 {
	s.by[by]++
	s.count++
	return s.count - 1
}

// forgetAfter is after how many ids that nobody named as a parent ids are no
// longer kept.
const forgetAfter = 200_000

// sessionOf finds the session that a request goes on with, -1 for one that
// stands alone so far, the front that another session sent, 0 for none, and
// flagExtends, flagApart and flagJoined where blocks tell.
func (l *log) sessionOf(r *trace.Row, p *prompt) (session, front int32, evidence uint8) {
	s := &l.sessions
	row := int32(len(l.at))
	session = -1
	switch {
	case r.Session != "":
		h := maphash.String(l.seed, r.Session)
		id, ok := s.ids[h]
		if !ok {
			id = s.next(sessionNamed)
			s.ids[h] = id
			if s.keep {
				s.text = append(append(s.text, make([]string, int(id)-len(s.text))...), r.Session) // others are told by parents and blocks
			}
		}
		session = id
	case r.Parent != "":
		s.related = true
		if parent, ok := s.parents[maphash.String(l.seed, r.Parent)]; ok {
			session = l.join(parent, sessionParent)
		}
	}
	if r.ID != "" && (s.related || s.looked < forgetAfter) {
		s.looked++
		s.parents[maphash.String(l.seed, r.ID)] = row
	} else if !s.related && s.looked >= forgetAfter && len(s.parents) > 0 {
		clear(s.parents)
	}
	if p == nil {
		return session, 0, 0
	}
	before, front := l.blocks.add(p, row)
	if session >= 0 {
		return session, front, s.follows(p, session)
	}
	if before >= 0 {
		return l.join(before, sessionBlocks), 0, flagExtends | flagJoined
	}
	return session, front, 0
}

// join returns the session of an earlier request, which gets one if it stood
// alone.
func (l *log) join(row int32, by string) int32 {
	if l.session[row] < 0 {
		l.session[row] = l.sessions.next(by)
	}
	return l.session[row]
}
