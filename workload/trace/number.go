package trace

import "math"

// MaxTokens bounds a length in tokens, which is above every model's context:
// rows with longer ones are refused.
const MaxTokens = 10_000_000

// decimal reads a decimal number times 10^exp, rounded to a whole one, half
// away from zero; exact says that nothing was rounded away. Of more than 18
// digits the last may be off by one.
func decimal(b []byte, exp int) (n int64, exact, ok bool) {
	i, negative := 0, false
	if i < len(b) && (b[i] == '-' || b[i] == '+') {
		negative = b[i] == '-'
		i++
	}
	digits, fraction, point, lost := 0, 0, false, false
	for ; i < len(b); i++ {
		c := b[i]
		switch {
		case c >= '0' && c <= '9':
			digits++
			if n > (math.MaxInt64-9)/10 {
				if !point {
					return 0, false, false
				}
				lost = lost || c != '0'
				continue // beyond what is kept
			}
			n = 10*n + int64(c-'0')
			if point {
				fraction++
			}
			continue
		case c == '.' && !point:
			point = true
			continue
		case (c == 'e' || c == 'E') && digits > 0:
			e, ok := exponent(b[i+1:])
			if !ok {
				return 0, false, false
			}
			exp += e
			i = len(b)
			continue
		}
		return 0, false, false
	}
	if digits == 0 {
		return 0, false, false
	}
	n, exact, ok = shift(n, exp-fraction)
	exact = exact && !lost
	if negative {
		n = -n
	}
	return n, exact, ok
}

func exponent(b []byte) (int, bool) {
	negative := len(b) > 0 && b[0] == '-'
	if len(b) > 0 && (b[0] == '-' || b[0] == '+') {
		b = b[1:]
	}
	if len(b) == 0 || len(b) > 3 {
		return 0, false
	}
	e := 0
	for _, c := range b {
		if c < '0' || c > '9' {
			return 0, false
		}
		e = 10*e + int(c-'0')
	}
	if negative {
		e = -e
	}
	return e, true
}

// shift returns n times 10^exp.
func shift(n int64, exp int) (_ int64, exact, ok bool) {
	for ; exp > 0; exp-- {
		if n == 0 {
			return 0, true, true
		}
		if n > math.MaxInt64/10 {
			return 0, false, false
		}
		n *= 10
	}
	if exp == 0 {
		return n, true, true
	}
	exact = true
	last := int64(0)
	for ; exp < 0 && (n != 0 || last != 0); exp++ {
		exact = exact && last == 0
		last = n % 10
		n /= 10
	}
	if exp == 0 && last >= 5 {
		n++
	}
	return n, exact && last == 0, true
}

// year2000 in ns since the Unix epoch: a number of seconds as high as that
// counts from the epoch.
const year2000 = 946_684_800_000_000_000

// unitOf names the unit in which a number would be a moment from 2000 to 2199
// since the Unix epoch; empty where it is none, or no number.
func unitOf(b []byte) string {
	n, _, ok := decimal(b, 0)
	for _, unit := range []string{"s", "ms", "us", "ns"} {
		if ok && n >= year2000/1_000_000_000 && n < 7_258_118_400 {
			return unit
		}
		n /= 1000
	}
	return ""
}

// civil reads a date and time such as 2023-11-16 18:15:46.6805900+00:00 in ns
// since the Unix epoch, or of an access log: 16/Nov/2023:18:15:46 +0000.
// Without a zone it is taken as UTC.
func civil(b []byte) (ns int64, zoneless, ok bool) {
	year, month, day, ok := date(b)
	if !ok {
		return 0, false, false
	}
	b = b[10:]
	if len(b) > 1 && month > 12 { // 16/Nov/2023
		month -= 12
		b = b[1:]
	}
	if year < 1900 || year > 2199 || month < 1 || month > 12 || day < 1 || day > daysIn(year, month) {
		return 0, false, false
	}
	ns = days(year, month, day) * 86400
	if len(b) == 0 {
		return ns * 1e9, true, true
	}
	if len(b) < 9 || b[0] != 'T' && b[0] != 't' && b[0] != ' ' && b[0] != ':' || b[3] != ':' || b[6] != ':' {
		return 0, false, false
	}
	h, okH := two(b[1:])
	m, okM := two(b[4:])
	s, okS := two(b[7:])
	if !okH || !okM || !okS || h > 23 || m > 59 || s > 60 {
		return 0, false, false
	}
	ns = (ns + int64(h*3600+m*60+s)) * 1e9
	b = b[9:]
	if len(b) > 1 && (b[0] == '.' || b[0] == ',') {
		unit, i := int64(1e8), 1
		for ; i < len(b) && b[i] >= '0' && b[i] <= '9'; i++ {
			ns += unit * int64(b[i]-'0')
			unit /= 10
		}
		b = b[i:]
	}
	offset, ok := zone(b)
	return ns - offset*1e9, len(b) == 0, ok
}

// date reads 2023-11-16, or 16/Nov/2023 with 12 added to the month.
func date(b []byte) (year, month, day int, ok bool) {
	if len(b) < 10 {
		return 0, 0, 0, false
	}
	if b[4] == '-' && b[7] == '-' || b[4] == '/' && b[7] == '/' {
		y1, ok1 := two(b)
		y2, ok2 := two(b[2:])
		m, ok3 := two(b[5:])
		d, ok4 := two(b[8:])
		return y1*100 + y2, m, d, ok1 && ok2 && ok3 && ok4 && m <= 12
	}
	if len(b) < 11 || b[2] != '/' || b[6] != '/' {
		return 0, 0, 0, false
	}
	const names = "JanFebMarAprMayJunJulAugSepOctNovDec"
	for i := 0; i < len(names); i += 3 {
		if names[i:i+3] == string(b[3:6]) {
			month = i/3 + 13
		}
	}
	d, ok1 := two(b)
	y1, ok2 := two(b[7:])
	y2, ok3 := two(b[9:])
	return y1*100 + y2, month, d, ok1 && ok2 && ok3 && month > 0
}

// zone reads Z, +01:00, +0100, +01 or nothing, in seconds east.
func zone(b []byte) (int64, bool) {
	for len(b) > 0 && b[0] == ' ' {
		b = b[1:]
	}
	if s := string(b); s == "" || s == "Z" || s == "z" || s == "UTC" || s == "GMT" {
		return 0, true
	}
	if b[0] != '+' && b[0] != '-' || len(b) < 3 {
		return 0, false
	}
	h, ok := two(b[1:])
	if !ok || h > 15 {
		return 0, false
	}
	rest := b[3:]
	if len(rest) > 0 && rest[0] == ':' {
		rest = rest[1:]
	}
	m := 0
	if len(rest) > 0 {
		if m, ok = two(rest); !ok || m > 59 || len(rest) != 2 {
			return 0, false
		}
	}
	s := int64(h*3600 + m*60)
	if b[0] == '-' {
		s = -s
	}
	return s, true
}

func two(b []byte) (int, bool) {
	if len(b) < 2 || b[0] < '0' || b[0] > '9' || b[1] < '0' || b[1] > '9' {
		return 0, false
	}
	return int(b[0]-'0')*10 + int(b[1]-'0'), true
}

func daysIn(year, month int) int {
	switch month {
	case 4, 6, 9, 11:
		return 30
	case 2:
		if year%4 == 0 && (year%100 != 0 || year%400 == 0) {
			return 29
		}
		return 28
	}
	return 31
}

// days since 1970-01-01 of a day of the Gregorian calendar: years are counted
// from March, so that the leap day is their last.
func days(year, month, day int) int64 {
	y, m := year, month-3
	if m < 0 {
		y, m = y-1, m+12
	}
	return int64(365*y + y/4 - y/100 + y/400 + (153*m+2)/5 + day - 1 - 719468)
}
