package fault

import (
	"bytes"
	"slices"
)

// locate returns where the value of the first of some keys stands in JSON that a
// face wrote, at whatever depth: a string, a number or a whole object. For text
// keys whose value is an object or a list the search goes on inside it. Without
// one it returns −1.
func locate(data []byte, keys ...string) (start, end int) {
	for i := 0; i < len(data); {
		if data[i] != '"' {
			i++
			continue
		}
		stop := skipString(data, i)
		if stop < 0 {
			return -1, -1
		}
		key := data[i+1 : stop-1]
		i = stop
		at := skipSpace(data, stop)
		if at >= len(data) || data[at] != ':' {
			continue
		}
		at = skipSpace(data, at+1)
		if !slices.Contains(keys, string(key)) || at >= len(data) {
			i = at
			continue
		}
		end := skipValue(data, at)
		text := len(keys) > 1
		if end < 0 {
			return -1, -1
		}
		if text && data[at] != '"' || text && end-at == 2 {
			i = at // an object, null or an empty text: look further
			if data[at] == '"' {
				i = end
			}
			continue
		}
		return at, end
	}
	return -1, -1
}

func skipSpace(data []byte, i int) int {
	for i < len(data) && (data[i] == ' ' || data[i] == '\n' || data[i] == '\r' || data[i] == '\t') {
		i++
	}
	return i
}

// skipString returns the place after the string that starts at i, or −1.
func skipString(data []byte, i int) int {
	for j := i + 1; j < len(data); j++ {
		switch data[j] {
		case '\\':
			j++
		case '"':
			return j + 1
		}
	}
	return -1
}

// skipValue returns the place after the value that starts at i, or −1.
func skipValue(data []byte, i int) int {
	switch data[i] {
	case '"':
		return skipString(data, i)
	case '{', '[':
		depth := 0
		for j := i; j < len(data); j++ {
			switch data[j] {
			case '"':
				stop := skipString(data, j)
				if stop < 0 {
					return -1
				}
				j = stop - 1
			case '{', '[':
				depth++
			case '}', ']':
				if depth--; depth == 0 {
					return j + 1
				}
			}
		}
		return -1
	}
	if n := bytes.IndexAny(data[i:], ",}] \n\r\t"); n >= 0 {
		return i + n
	}
	return len(data)
}
