package catalog

// Accelerator is a device and how well an engine uses it.
type Accelerator struct {
	Name   string `yaml:"name"`
	Title  string `yaml:"title"`
	Vendor string `yaml:"vendor"`
	// Dense peaks in TFLOP/s; 0: the device has no such units.
	BF16 float64 `yaml:"bf16_tflops"`
	FP8  float64 `yaml:"fp8_tflops"`
	FP4  float64 `yaml:"fp4_tflops"`
	// Bandwidth of the device's memory, 10¹² bytes/s.
	Bandwidth float64 `yaml:"memory_tb_per_s"`
	// Memory in bytes as the driver reports it.
	Memory int64 `yaml:"memory_bytes"`
	// Link is the one-way bandwidth to peers, 10⁹ bytes/s.
	Link float64 `yaml:"link_gb_per_s"`
	// Efficiency says what share of the peaks is reached.
	Efficiency Efficiency `yaml:"efficiency"`
	Source     string     `yaml:"source"`
	// File is where it was read from; empty: the catalogue.
	File string `yaml:"-"`
}

// Efficiency turns peaks into step times. Shares are of the peak, 0 to 1;
// times are microseconds.
type Efficiency struct {
	Matmul       float64 `yaml:"matmul"`         // of the compute peak in weight GEMMs
	Weights      float64 `yaml:"weights"`        // of the bandwidth when reading weights
	KV           float64 `yaml:"kv"`             // of the bandwidth when reading the KV cache
	Attention    float64 `yaml:"attention"`      // of the 16-bit peak in prefill attention
	LinkShare    float64 `yaml:"link"`           // of the link in all-reduces
	LinkMicros   float64 `yaml:"link_us"`        // start-up of one all-reduce
	StepMicros   float64 `yaml:"step_us"`        // fixed, each step
	LayerMicros  float64 `yaml:"layer_us"`       // each layer of a step
	SeqMicros    float64 `yaml:"sequence_us"`    // each sequence of a step
	ExpertMicros float64 `yaml:"expert_us"`      // each MoE layer of a step
	APIMicros    float64 `yaml:"api_us"`         // front end, once a request
	Blend        int     `yaml:"blend_exponent"` // power mean of compute and memory: 2, 4 or 8
	// LinkGrows multiplies the start-up of an all-reduce by the binary logarithm
	// of the number of devices; else it is the same for any number.
	LinkGrows bool `yaml:"link_grows,omitempty"`
	// Pace multiplies the time of a step: what a version of the engine takes to
	// what the others do. 0 stands for 1.
	Pace float64 `yaml:"pace,omitempty"`
	// Fitted names the measurements behind the numbers; empty: none, the
	// numbers are a published range's middle.
	Fitted string `yaml:"fitted_on,omitempty"`
}

// Unfitted returns the efficiencies for devices that nobody fitted: guesses that
// were within 7 % of the mean time to first token and 2 % of the mean time per
// token of an 8B model on a workstation card before any fit, and up to 22 % off
// on another card.
func Unfitted() Efficiency {
	return Efficiency{Matmul: 0.70, Weights: 0.80, KV: 0.70, Attention: 0.40, LinkShare: 0.70, LinkMicros: 20,
		StepMicros: 1500, LayerMicros: 0, SeqMicros: 10, ExpertMicros: 40, APIMicros: 2000, Blend: 4}
}
