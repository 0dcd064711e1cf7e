package trace

import (
	"math"
	"time"
)

// Units of numbers that are times, as powers of ten of a nanosecond.
const (
	seconds = 9
	millis  = 6
	micros  = 3
	nanos   = 0
)

// moment returns the first of the fields that is there as a moment in ns: a
// number in the unit, or a date and time. Absolute says that it counts from the
// Unix epoch, zoneless that it is a date and time without a zone.
func (o object) moment(unit int, keys ...string) (ns int64, absolute, zoneless, there bool) {
	key, v, b := o.scalar("a number or a date and time", keys)
	if v == nil {
		return 0, false, false, false
	}
	ns, absolute, zoneless, ok := instant(b, unit)
	if ok {
		return ns, absolute, zoneless, true
	}
	if _, _, number := decimal(b, unit); unitOf(b) != "" {
		u := unitOf(b)
		o.fail("expected %s%s in %s or as a date and time, found %s, which looks like %s since 1970: a mapping file with units: {at: %s} reads it (--dataset-map)",
			o.path, key, unitName(unit), shown(v, b), u, u)
	} else if number {
		o.fail("expected %s%s to be less than 146 years from 0 in %s, found %s", o.path, key, unitName(unit), shown(v, b))
	} else {
		o.fail("expected %s%s to be a number or a date and time, found %s", o.path, key, shown(v, b))
	}
	return 0, false, false, false
}

// instant reads a number of a unit, or a date and time.
func instant(b []byte, unit int) (ns int64, absolute, zoneless, ok bool) {
	if ns, _, ok = decimal(b, unit); ok {
		return ns, ns >= year2000, false, ns > -1<<62 && ns < 1<<62
	}
	ns, zoneless, ok = civil(b)
	return ns, true, zoneless, ok
}

func unitName(unit int) string {
	return map[int]string{seconds: "s", millis: "ms", micros: "us", nanos: "ns"}[unit]
}

// at sets a row's moment of arrival.
func (o object) at(r *Row, unit int, keys ...string) {
	r.At, r.Absolute, r.Zoneless, r.Timed = o.moment(unit, keys...)
}

// span returns the first of the fields that is there as a length of time.
func (o object) span(unit int, keys ...string) time.Duration {
	key, v, b := o.scalar("a number", keys)
	if v == nil {
		return 0
	}
	n, _, ok := decimal(b, unit)
	if !ok || n < 0 || n > math.MaxInt64/2 {
		o.fail("expected %s%s to be a length of time from 0 on, found %s", o.path, key, shown(v, b))
		return 0
	}
	return time.Duration(n)
}
