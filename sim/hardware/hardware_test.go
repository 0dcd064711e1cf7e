package hardware

import (
	"math"
	"testing"

	"github.com/tokamak-bench/tokamak/catalog"
	"github.com/tokamak-bench/tokamak/sim/core"
)

func setup(t *testing.T, model, gpu string) Setup {
	t.Helper()
	m, err := catalog.FindModel(model)
	if err != nil {
		t.Fatal(err)
	}
	g, err := catalog.FindAccelerator(gpu)
	if err != nil {
		t.Fatal(err)
	}
	return Setup{Model: m, GPU: g, TP: 1, Weights: BF16, KV: BF16}
}

// vLLM 0.19 gave 2,588 blocks to Llama-3.1-8B on an RTX 4090 at utilisation 0.9
// and a token budget of 2,048.
func TestBlocksAsMeasured(t *testing.T) {
	s := setup(t, "llama3.1-8b", "rtx4090")
	got, err := s.Blocks(Memory{Utilization: 0.9, MaxTokens: 2048, MaxSeqs: 256, BlockSize: 16})
	if err != nil {
		t.Fatal(err)
	}
	if off := math.Abs(float64(got)/2588 - 1); off > 0.03 {
		t.Errorf("%d blocks, %.1f %% off", got, off*100)
	}
}

// A 70B in 8 bits at utilisation 0.98 of an 80 GB device was given 1,381 blocks.
func TestBlocksOfALargeModel(t *testing.T) {
	s := setup(t, "llama3.1-70b", "h100")
	s.Weights = FP8
	got, err := s.Blocks(Memory{Utilization: 0.98, MaxTokens: 8192, MaxSeqs: 256, BlockSize: 16})
	if err != nil {
		t.Fatal(err)
	}
	// Weights of that run were 67.7 GB; these count 72.7 GB with the 16-bit
	// embeddings and head, so the figure is compared at equal weights.
	page := float64(16 * s.Model.KVBytes(1, 2))
	got += int64((s.WeightBytes() - 67.7*(1<<30)) / page)
	if off := math.Abs(float64(got)/1381 - 1); off > 0.10 {
		t.Errorf("%d blocks, %.1f %% off", got, off*100)
	}
}

// plain has every efficiency at 1 and nothing fixed, so that times can be
// worked out by hand.
func plain(s Setup) Setup {
	s.GPU.Efficiency = catalog.Efficiency{Matmul: 1, Weights: 1, KV: 1, Attention: 1, LinkShare: 1, Blend: 8}
	return s
}

func TestMemoryBoundDecode(t *testing.T) {
	s := plain(setup(t, "llama3-8b", "a100-80g"))
	step := core.Step{Sequences: 1, Tokens: 1, Samples: 1, Context: 1000}
	// All weights but the embedding table, and 1,000 tokens of KV, at 2.039 TB/s.
	w := s.Model.Weights()
	want := (float64(2*(w.Layers+w.Head)) + 1000*131072) / 2.039e12 * 1e9
	got := float64(NewTimer(s).StepTime(&step))
	if math.Abs(got/want-1) > 1e-4 {
		t.Errorf("%.0f ns, by hand %.0f", got, want)
	}
	s.GPU.Bandwidth *= 2
	if half := float64(NewTimer(s).StepTime(&step)); math.Abs(half/want*2-1) > 1e-3 {
		t.Errorf("twice the bandwidth: %.0f ns, by hand %.0f", half, want/2)
	}
}

func TestComputeBoundPrefill(t *testing.T) {
	s := plain(setup(t, "llama3-8b", "a100-80g"))
	// 8,192 tokens: 2·P·T of the layers, attention over half of the square, LM
	// head read once, KV of the prompt.
	step := core.Step{Sequences: 1, Tokens: 8192, Samples: 1, Context: 8192, Attention: 8192 * 4096}
	w := s.Model.Weights()
	want := (2*float64(w.Layers)*8192/312e12 + 4*32*32*128*8192*4096/312e12 + float64(2*w.Head)/2.039e12 + 8192*131072/2.039e12) * 1e9
	if got := float64(NewTimer(s).StepTime(&step)); math.Abs(got/want-1) > 1e-3 {
		t.Errorf("%.0f ns, by hand %.0f", got, want)
	}
}

func TestTensorParallel(t *testing.T) {
	s := plain(setup(t, "llama3-70b", "h100"))
	s.TP = 4
	s.GPU.Efficiency.LinkMicros = 10
	step := core.Step{Sequences: 1, Tokens: 1, Samples: 1, Context: 1000}
	w := s.Model.Weights()
	read := float64(2*(w.Layers+w.Head)) / 4 / 3.35e12
	kv := 1000 * 327680.0 / 4 / 3.35e12
	link := 2 * 80 * (10e-6 + 2*3.0/4*8192*2/450e9)
	want := (read + kv + link) * 1e9
	if got := float64(NewTimer(s).StepTime(&step)); math.Abs(got/want-1) > 1e-4 {
		t.Errorf("%.0f ns, by hand %.0f", got, want)
	}
}

func TestTouchedExperts(t *testing.T) {
	timer := NewTimer(setup(t, "mixtral-8x7b", "h200")) // 2 of 8
	for n, want := range map[int64]float64{1: 0.25, 2: 1 - 0.75*0.75, 3: 1 - 0.75*0.75*0.75, 100: 1} {
		if got := timer.touched(n); math.Abs(got-want) > 1e-12 {
			t.Errorf("%d tokens touch %v, want %v", n, got, want)
		}
	}
}

func TestSmoothMax(t *testing.T) {
	for _, p := range []int{2, 4, 8} {
		for _, ab := range [][2]float64{{3, 4}, {4, 3}, {1e-9, 5}, {0, 2}, {0, 0}} {
			want := math.Pow(math.Pow(ab[0], float64(p))+math.Pow(ab[1], float64(p)), 1/float64(p))
			if got := smoothMax(ab[0], ab[1], p); math.Abs(got-want) > 1e-12 {
				t.Errorf("p %d of %v: %v, want %v", p, ab, got, want)
			}
		}
	}
}

// With a start-up of 10 µs an all-reduce, two in each of 80 layers take 1.6 ms
// on any number of devices, or that times log2 of the number. The pace of a
// version multiplies the whole step.
func TestStartOfAllReducesAndPace(t *testing.T) {
	step := core.Step{Sequences: 1, Tokens: 1, Samples: 1, Context: 1}
	for _, tc := range []struct {
		tp    int64
		grows bool
		want  int64 // ns
	}{{2, false, 1.6e6}, {8, false, 1.6e6}, {2, true, 1.6e6}, {8, true, 4.8e6}} {
		s := plain(setup(t, "llama3.1-70b", "h100"))
		s.TP, s.GPU.Efficiency.LinkGrows = tc.tp, tc.grows
		without := NewTimer(s).StepTime(&step)
		s.GPU.Efficiency.LinkMicros = 10
		with := NewTimer(s).StepTime(&step)
		if d := with - without - tc.want; d < -1 || d > 1 {
			t.Errorf("%+v: %d ns more", tc, with-without)
		}
		s.GPU.Efficiency.Pace = 1.5
		if d := NewTimer(s).StepTime(&step) - with*3/2; d < -1 || d > 1 {
			t.Errorf("%+v: %d ns from one and a half times", tc, d)
		}
	}
}
