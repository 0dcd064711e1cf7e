//go:build !unix

package calibration

func cpuTime() (int64, bool) { return 0, false }

func descriptors() (int, bool) { return 0, false }
