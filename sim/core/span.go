package core

// Span is prompt content identified by ID: token i of a span is the same as
// token i of every span with that ID.
type Span struct {
	ID     uint64
	Tokens int64
}

// spans is the Content of a list of spans followed by the output's own. It is
// read from front to back.
type spans struct {
	list   []Span
	output uint64
	at     int   // current span; len(list): the output
	offset int64 // next token in it
}

// Block mixes the pieces of spans that the block covers into the key before it.
func (s *spans) Block(key uint64, _, size int64) uint64 {
	for size > 0 {
		if s.at == len(s.list) {
			key = piece(key, s.output, s.offset, size)
			s.offset += size
			return key
		}
		span := s.list[s.at]
		n := min(span.Tokens-s.offset, size)
		if n > 0 {
			key = piece(key, span.ID, s.offset, n)
			s.offset += n
			size -= n
		}
		if s.offset >= span.Tokens {
			s.at, s.offset = s.at+1, 0
		}
	}
	return key
}

func piece(key, id uint64, offset, n int64) uint64 {
	return Mix(Mix(key, id), uint64(offset)<<16|uint64(n))
}

// Mix hashes a value into a key (the finalizer of SplitMix64 over both).
func Mix(key, value uint64) uint64 {
	x := key*0x9e3779b97f4a7c15 + value + 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
