package calibration

import (
	"bytes"
	"os"
	"strconv"
)

// residentBytes is the process's resident memory; false where it is unknown.
func residentBytes() (float64, bool) {
	b, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0, false
	}
	pages, ok := number(bytes.Fields(b), 1)
	return pages * float64(os.Getpagesize()), ok
}

// machineBusy is the CPU time in ns that the whole machine has used; false
// where it is unknown.
func machineBusy() (float64, bool) {
	b, err := os.ReadFile("/proc/stat")
	if err != nil {
		return 0, false
	}
	return busyTime(b)
}

// busyTime sums user, nice, system, irq and softirq of the first line of
// /proc/stat, which counts hundredths of a second.
func busyTime(stat []byte) (float64, bool) {
	line, _, _ := bytes.Cut(stat, []byte("\n"))
	words := bytes.Fields(line)
	var sum float64
	for _, i := range []int{1, 2, 3, 6, 7} {
		v, ok := number(words, i)
		if !ok {
			return 0, false
		}
		sum += v
	}
	return sum * 1e7, true
}

func number(words [][]byte, i int) (float64, bool) {
	if i >= len(words) {
		return 0, false
	}
	v, err := strconv.ParseFloat(string(words[i]), 64)
	return v, err == nil
}
