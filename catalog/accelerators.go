package catalog

const (
	gib       = 1 << 30
	datasheet = "vendor data sheet, dense peaks"
)

// Accelerators returns the catalogue's devices. The slice is the caller's.
func Accelerators() []Accelerator {
	u := Unfitted()
	pcie := u
	// All-reduce over PCIe: what two workstation cards needed.
	pcie.LinkShare, pcie.LinkMicros = 0.27, 85
	a100 := u
	// Operator profiles of four models on A100 (Vidur): GEMM 0.73 of the peak,
	// weights 0.78 to 0.87 of the bandwidth; NCCL at 0.55 of the link.
	a100.Matmul, a100.Weights, a100.LinkShare, a100.LinkMicros = 0.73, 0.82, 0.55, 30
	h100 := u
	// The same for H100: GEMM 0.75, weights 0.88 or more, NCCL 0.72 to 0.84.
	h100.Matmul, h100.Weights, h100.LinkShare, h100.LinkMicros = 0.75, 0.88, 0.78, 20
	bridge := h100
	bridge.LinkShare, bridge.LinkMicros = pcie.LinkShare, pcie.LinkMicros
	return []Accelerator{
		{Name: "a100-40g", Title: "NVIDIA A100 SXM 40GB", Vendor: "nvidia", BF16: 312, Bandwidth: 1.555, Memory: 42_298_834_944, Link: 300, Efficiency: a100, Source: datasheet},
		{Name: "a100-80g", Title: "NVIDIA A100 SXM 80GB", Vendor: "nvidia", BF16: 312, Bandwidth: 2.039, Memory: 85_095_874_560, Link: 300, Efficiency: a100, Source: datasheet},
		{Name: "h100", Title: "NVIDIA H100 SXM 80GB", Vendor: "nvidia", BF16: 989, FP8: 1979, Bandwidth: 3.35, Memory: 85_017_493_504, Link: 450, Efficiency: h100, Source: datasheet},
		{Name: "h100-pcie", Title: "NVIDIA H100 PCIe 80GB", Vendor: "nvidia", BF16: 756, FP8: 1513, Bandwidth: 2.0, Memory: 85_017_493_504, Link: 64, Efficiency: bridge, Source: datasheet},
		{Name: "h100-nvl", Title: "NVIDIA H100 NVL 94GB", Vendor: "nvidia", BF16: 835, FP8: 1671, Bandwidth: 3.9, Memory: 100_485_038_080, Link: 300, Efficiency: h100, Source: datasheet},
		{Name: "h200", Title: "NVIDIA H200 SXM 141GB", Vendor: "nvidia", BF16: 989, FP8: 1979, Bandwidth: 4.8, Memory: 150_051_160_064, Link: 450, Efficiency: h100, Source: datasheet},
		{Name: "b200", Title: "NVIDIA B200 SXM 180GB", Vendor: "nvidia", BF16: 2250, FP8: 4500, FP4: 9000, Bandwidth: 7.7, Memory: 191_512_969_216, Link: 900, Efficiency: h100, Source: datasheet},
		{Name: "l40s", Title: "NVIDIA L40S 48GB", Vendor: "nvidia", BF16: 362, FP8: 733, Bandwidth: 0.864, Memory: 47_697_362_944, Link: 32, Efficiency: pcie, Source: datasheet},
		{Name: "l4", Title: "NVIDIA L4 24GB", Vendor: "nvidia", BF16: 121, FP8: 242, Bandwidth: 0.300, Memory: 23_609_475_072, Link: 32, Efficiency: pcie, Source: datasheet},
		{Name: "rtx4090", Title: "NVIDIA GeForce RTX 4090 24GB", Vendor: "nvidia", BF16: 165, FP8: 330, Bandwidth: 1.008, Memory: 25_250_627_584, Link: 32, Efficiency: pcie, Source: datasheet + "; memory as a driver reported it"},
		{Name: "rtxpro6000", Title: "NVIDIA RTX PRO 6000 96GB", Vendor: "nvidia", BF16: 504, FP8: 1008, FP4: 2015, Bandwidth: 1.792, Memory: 101_973_491_712, Link: 64, Efficiency: pcie, Source: datasheet},
		{Name: "mi300x", Title: "AMD Instinct MI300X 192GB", Vendor: "amd", BF16: 1307, FP8: 2615, Bandwidth: 5.3, Memory: 192 * gib, Link: 448, Efficiency: u, Source: datasheet},
	}
}

// gpuAliases are other spellings of names in the catalogue.
func gpuAliases() map[string]string {
	return map[string]string{"a100": "a100-80g", "a100-80gb": "a100-80g", "a100-40gb": "a100-40g", "h100-80g": "h100",
		"h100-sxm": "h100", "h100_sxm": "h100", "h200-141g": "h200", "h200_sxm": "h200", "b200_sxm": "b200",
		"4090": "rtx4090", "rtx-4090": "rtx4090", "rtx-pro-6000": "rtxpro6000", "rtxpro-6000": "rtxpro6000"}
}
