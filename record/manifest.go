package record

import (
	"encoding/json"
	"time"
)

// ManifestSchema is the version of run.json.
const ManifestSchema = "tokamak.run/1"

// Manifest is run.json: what was run, on what and from where. Secrets in
// Command and Scenario are redacted when it is written.
type Manifest struct {
	Schema string            `json:"schema"`
	Run    string            `json:"run"` // the run's id; requests carry it in X-Request-Id
	Name   string            `json:"name,omitempty"`
	Tags   map[string]string `json:"tags,omitempty"`
	// Epoch is the civil time of moment 0.
	Epoch   time.Time `json:"epoch"`
	Virtual bool      `json:"virtual,omitempty"` // virtual time: no sockets
	Seed    uint64    `json:"seed"`
	// Versions are those of tokamak, Go, tokenizers and data sets, by name.
	Versions map[string]string `json:"versions"`
	Command  []string          `json:"command,omitempty"`
	// Scenario is the scenario as resolved, with every default filled in.
	Scenario json.RawMessage `json:"scenario,omitempty"`
	Targets  []TargetFacts   `json:"targets,omitempty"`
	Client   ClientFacts     `json:"client"`
	Clock    ClockFacts      `json:"clock"`
	Adapted  []Adaptation    `json:"adapted,omitempty"`
	Notices  []string        `json:"notices,omitempty"`
	Imported *Imported       `json:"imported,omitempty"` // nil: tokamak's own run
}

// Imported says where the rows of a directory are from that another tool
// measured.
type Imported struct {
	Tool    string `json:"tool"`
	Version string `json:"version,omitempty"` // of the tool; empty: the file does not say
	Format  string `json:"format"`
	File    string `json:"file"` // base name
	// From and To are the load's window in ns since the epoch. Where they are
	// equal the file has no moments, only durations: every request stands at
	// moment 0, and nothing per second can be made of it.
	From int64 `json:"from"`
	To   int64 `json:"to"`
	// Untold are metrics of which the source says nothing, although rows may
	// seem to have a value.
	Untold []string `json:"untold"`
	// Lost says in sentences what the rows do not tell, and what stands for it.
	Lost []string `json:"lost"`
}

// TargetFacts are what is known of one target.
type TargetFacts struct {
	Name   string            `json:"name"`
	URL    string            `json:"url"` // without user info
	API    string            `json:"api,omitempty"`
	Model  string            `json:"model,omitempty"`
	Engine string            `json:"engine,omitempty"`
	Facts  map[string]string `json:"facts,omitempty"` // versions, hardware, limits
}

// ClientFacts describe the machine that sent the load.
type ClientFacts struct {
	OS          string  `json:"os"`
	Arch        string  `json:"arch"`
	Kernel      string  `json:"kernel,omitempty"`
	CPU         string  `json:"cpu,omitempty"`
	CPUs        int     `json:"cpus"`
	GOMAXPROCS  int     `json:"gomaxprocs"`
	CPULimit    float64 `json:"cpu_limit,omitempty"`          // CPUs that the cgroup allows; 0: no limit known
	MemoryBytes int64   `json:"memory_bytes,omitempty"`       // of the machine
	MemoryLimit int64   `json:"memory_limit_bytes,omitempty"` // of the cgroup; 0: none known
	FileLimit   int64   `json:"file_limit,omitempty"`         // open file descriptors allowed
}

// ClockFacts describe the run's clock.
type ClockFacts struct {
	Source string `json:"source"` // real or virtual
	Stamps Source `json:"stamps,omitempty"`
	// RealTime says that the thread which sends had a real-time priority.
	RealTime bool `json:"real_time_priority,omitempty"`
	// OffsetError bounds in ns the offset between the kernel's stamps and the run's clock.
	OffsetError int64 `json:"offset_error_ns,omitempty"`
}

// Adaptation is a field that tokamak added to requests by itself, that the
// server refused, and that was dropped or renamed for the rest of the run.
type Adaptation struct {
	Target string `json:"target,omitempty"`
	Field  string `json:"field"`
	To     string `json:"to,omitempty"` // new name; empty: dropped
	Reason string `json:"reason,omitempty"`
}
