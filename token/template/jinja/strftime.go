package jinja

import (
	"fmt"
	"strings"
	"time"
)

// strftime writes a moment as C's function does in the C locale.
func strftime(layout string, t time.Time) (string, error) {
	var b strings.Builder
	for i := 0; i < len(layout); i++ {
		if layout[i] != '%' || i+1 == len(layout) {
			b.WriteByte(layout[i])
			continue
		}
		i++
		pad := true
		if layout[i] == '-' && i+1 < len(layout) { // glibc: without padding
			pad = false
			i++
		}
		s, err := field(layout[i], t)
		if err != nil {
			return "", err
		}
		if !pad {
			if s = strings.TrimLeft(s, "0 "); s == "" {
				s = "0"
			}
		}
		b.WriteString(s)
		if b.Len() > maxText {
			return "", errTooMuch
		}
	}
	return b.String(), nil
}

func field(c byte, t time.Time) (string, error) {
	if layout, ok := map[byte]string{'Y': "2006", 'm': "01", 'd': "02", 'H': "15", 'M': "04", 'S': "05", 'B': "January", 'b': "Jan",
		'h': "Jan", 'A': "Monday", 'a': "Mon", 'y': "06", 'I': "03", 'p': "PM", 'e': "_2", 'F': "2006-01-02", 'T': "15:04:05",
		'D': "01/02/06", 'R': "15:04", 'x': "01/02/06", 'X': "15:04:05", 'c': "Mon Jan _2 15:04:05 2006", 'j': "002"}[c]; ok {
		return t.Format(layout), nil
	}
	switch c {
	case '%':
		return "%", nil
	case 'n':
		return "\n", nil
	case 't':
		return "\t", nil
	case 'f':
		return fmt.Sprintf("%06d", t.Nanosecond()/1000), nil
	case 'k':
		return fmt.Sprintf("%2d", t.Hour()), nil
	case 'l':
		return fmt.Sprintf("%2d", (t.Hour()+11)%12+1), nil
	case 's':
		return fmt.Sprint(t.Unix()), nil
	case 'u':
		return fmt.Sprint((int(t.Weekday())+6)%7 + 1), nil
	case 'w':
		return fmt.Sprint(int(t.Weekday())), nil
	case 'Z', 'z': // a moment without zone, as datetime.now() is
		return "", nil
	}
	return "", fmt.Errorf("strftime_now: the field %%%c is not known", c)
}
