//go:build !unix

package self

type usage struct{}

func (*usage) read(*round) {}

func cpuTime() int64 { return -1 }

func fileLimit() int64 { return 0 }
