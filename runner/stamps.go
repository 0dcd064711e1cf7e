package runner

import "github.com/tokamak-bench/tokamak/record"

// stampCount counts chunks by where their stamps are from.
type stampCount struct {
	bySource map[record.Source]int64
	total    int64
}

func (s *stampCount) add(a *record.Attempt) {
	n := int64(a.Chunks.Len())
	if n == 0 {
		return
	}
	if s.bySource == nil {
		s.bySource = map[record.Source]int64{}
	}
	user := int64(0)
	for _, f := range a.Chunks.Flags {
		if f&record.Unstamped != 0 {
			user++
		}
	}
	if a.StampSource != record.SourceKernel {
		user = 0
	}
	s.bySource[a.StampSource] += n - user
	if user > 0 {
		s.bySource[record.SourceUser] += user
	}
	s.total += n
}

// shares returns each source's share of all chunks; nil where there are none.
func (s *stampCount) shares() map[string]float64 {
	if s.total == 0 {
		return nil
	}
	m := map[string]float64{}
	for source, n := range s.bySource {
		if n > 0 {
			m[string(source)] = float64(n) / float64(s.total)
		}
	}
	return m
}
