package calibration

import (
	"fmt"

	"github.com/tokamak-bench/tokamak/probe/self"
)

// Machine is what a calibration holds for: on any other one it is not used.
type Machine struct {
	OS         string  `json:"os"`
	Arch       string  `json:"arch"`
	Kernel     string  `json:"kernel,omitempty"`
	CPU        string  `json:"cpu,omitempty"`
	CPUs       int     `json:"cpus"`
	GOMAXPROCS int     `json:"gomaxprocs"`
	CPULimit   float64 `json:"cpu_limit,omitempty"` // CPUs that the cgroup allows; 0: no limit known
	Version    string  `json:"version"`             // of tokamak
}

// Here describes the machine and the binary that this process is.
func Here(version string) Machine {
	f := self.Facts(self.Config{})
	return Machine{OS: f.OS, Arch: f.Arch, Kernel: f.Kernel, CPU: f.CPU, CPUs: f.CPUs, GOMAXPROCS: f.GOMAXPROCS,
		CPULimit: f.CPULimit, Version: version}
}

// cores is how many CPUs' worth of time the process may use.
func (m *Machine) cores() float64 {
	n := float64(min(m.CPUs, m.GOMAXPROCS))
	if m.CPULimit > 0 {
		n = min(n, m.CPULimit)
	}
	return n
}

// String describes the machine in a line.
func (m *Machine) String() string {
	cpu := m.CPU
	if cpu == "" {
		cpu = m.Arch
	}
	s := fmt.Sprintf("%s, %d CPUs", cpu, m.CPUs)
	if m.CPULimit > 0 {
		s += fmt.Sprintf(" of which the cgroup allows %.3g", m.CPULimit)
	}
	return fmt.Sprintf("%s, %s %s, tokamak %s", s, m.OS, m.Kernel, m.Version)
}
