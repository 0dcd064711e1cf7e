package self

import (
	"bytes"
	"runtime"
	"strings"

	"github.com/tokamak-bench/tokamak/record"
)

// Facts describes the machine that the process runs on.
func Facts(cfg Config) record.ClientFacts {
	cfg = cfg.filled()
	f := record.ClientFacts{
		OS: runtime.GOOS, Arch: runtime.GOARCH,
		Kernel:      strings.TrimSpace(string(file(cfg.Proc, "sys/kernel/osrelease"))),
		CPU:         cpuModel(file(cfg.Proc, "cpuinfo")),
		CPUs:        runtime.NumCPU(),
		GOMAXPROCS:  runtime.GOMAXPROCS(0),
		CPULimit:    cpuLimit(cfg.Proc, cfg.Cgroup),
		MemoryLimit: memoryLimit(cfg.Proc, cfg.Cgroup),
		FileLimit:   fileLimit(),
	}
	if kib, ok := field(file(cfg.Proc, "meminfo"), "MemTotal:", 1); ok {
		f.MemoryBytes = int64(kib) * 1024
	}
	return f
}

func cpuModel(cpuinfo []byte) string {
	for line := range bytes.Lines(cpuinfo) {
		name, value, ok := strings.Cut(string(line), ":")
		if ok && strings.TrimSpace(name) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return ""
}
