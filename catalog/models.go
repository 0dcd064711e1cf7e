package catalog

import "slices"

const hub = "config.json on the Hugging Face hub"

// Models returns the catalogue's models. The slice is the caller's.
func Models() []Model {
	return slices.Concat(llamas(), qwens(), mixtures(), others())
}

func llamas() []Model {
	return []Model{
		{Name: "llama2-7b", ID: "meta-llama/Llama-2-7b-chat-hf", Layers: 32, Hidden: 4096, Heads: 32, KVHeads: 32, HeadDim: 128, Intermediate: 11008, Vocab: 32000, MaxPositions: 4096, Source: hub},
		{Name: "llama2-13b", ID: "meta-llama/Llama-2-13b-chat-hf", Layers: 40, Hidden: 5120, Heads: 40, KVHeads: 40, HeadDim: 128, Intermediate: 13824, Vocab: 32000, MaxPositions: 4096, Source: hub},
		{Name: "llama2-70b", ID: "meta-llama/Llama-2-70b-chat-hf", Layers: 80, Hidden: 8192, Heads: 64, KVHeads: 8, HeadDim: 128, Intermediate: 28672, Vocab: 32000, MaxPositions: 4096, Source: hub},
		{Name: "llama3-8b", ID: "meta-llama/Meta-Llama-3-8B-Instruct", Layers: 32, Hidden: 4096, Heads: 32, KVHeads: 8, HeadDim: 128, Intermediate: 14336, Vocab: 128256, MaxPositions: 8192, Source: hub},
		{Name: "llama3-70b", ID: "meta-llama/Meta-Llama-3-70B-Instruct", Layers: 80, Hidden: 8192, Heads: 64, KVHeads: 8, HeadDim: 128, Intermediate: 28672, Vocab: 128256, MaxPositions: 8192, Source: hub},
		{Name: "llama3.1-8b", ID: "meta-llama/Llama-3.1-8B-Instruct", Layers: 32, Hidden: 4096, Heads: 32, KVHeads: 8, HeadDim: 128, Intermediate: 14336, Vocab: 128256, MaxPositions: 131072, Source: hub},
		{Name: "llama3.1-70b", ID: "meta-llama/Llama-3.1-70B-Instruct", Layers: 80, Hidden: 8192, Heads: 64, KVHeads: 8, HeadDim: 128, Intermediate: 28672, Vocab: 128256, MaxPositions: 131072, Source: hub},
		{Name: "llama3.1-405b", ID: "meta-llama/Llama-3.1-405B-Instruct", Layers: 126, Hidden: 16384, Heads: 128, KVHeads: 8, HeadDim: 128, Intermediate: 53248, Vocab: 128256, MaxPositions: 131072, Source: hub},
		{Name: "llama3.2-1b", ID: "meta-llama/Llama-3.2-1B-Instruct", Layers: 16, Hidden: 2048, Heads: 32, KVHeads: 8, HeadDim: 64, Intermediate: 8192, Vocab: 128256, Tied: true, MaxPositions: 131072, Source: hub},
		{Name: "llama3.2-3b", ID: "meta-llama/Llama-3.2-3B-Instruct", Layers: 28, Hidden: 3072, Heads: 24, KVHeads: 8, HeadDim: 128, Intermediate: 8192, Vocab: 128256, Tied: true, MaxPositions: 131072, Source: hub},
		{Name: "llama3.3-70b", ID: "meta-llama/Llama-3.3-70B-Instruct", Layers: 80, Hidden: 8192, Heads: 64, KVHeads: 8, HeadDim: 128, Intermediate: 28672, Vocab: 128256, MaxPositions: 131072, Source: hub},
	}
}

func qwens() []Model {
	return []Model{
		{Name: "qwen2.5-7b", ID: "Qwen/Qwen2.5-7B-Instruct", Layers: 28, Hidden: 3584, Heads: 28, KVHeads: 4, HeadDim: 128, Intermediate: 18944, Vocab: 152064, MaxPositions: 32768, Source: hub},
		{Name: "qwen2.5-72b", ID: "Qwen/Qwen2.5-72B-Instruct", Layers: 80, Hidden: 8192, Heads: 64, KVHeads: 8, HeadDim: 128, Intermediate: 29568, Vocab: 152064, MaxPositions: 32768, Source: hub},
		{Name: "qwen3-0.6b", ID: "Qwen/Qwen3-0.6B", Layers: 28, Hidden: 1024, Heads: 16, KVHeads: 8, HeadDim: 128, Intermediate: 3072, Vocab: 151936, Tied: true, MaxPositions: 40960, Source: hub},
		{Name: "qwen3-4b", ID: "Qwen/Qwen3-4B", Layers: 36, Hidden: 2560, Heads: 32, KVHeads: 8, HeadDim: 128, Intermediate: 9728, Vocab: 151936, Tied: true, MaxPositions: 40960, Source: hub},
		{Name: "qwen3-8b", ID: "Qwen/Qwen3-8B", Layers: 36, Hidden: 4096, Heads: 32, KVHeads: 8, HeadDim: 128, Intermediate: 12288, Vocab: 151936, MaxPositions: 40960, Source: hub},
		{Name: "qwen3-32b", ID: "Qwen/Qwen3-32B", Layers: 64, Hidden: 5120, Heads: 64, KVHeads: 8, HeadDim: 128, Intermediate: 25600, Vocab: 151936, MaxPositions: 40960, Source: hub},
	}
}

func mixtures() []Model {
	return []Model{
		{Name: "qwen3-30b-a3b", ID: "Qwen/Qwen3-30B-A3B", Layers: 48, Hidden: 2048, Heads: 32, KVHeads: 4, HeadDim: 128, Vocab: 151936, MaxPositions: 40960,
			MoE: MoE{Experts: 128, Active: 8, Intermediate: 768}, Source: hub},
		{Name: "qwen3-235b-a22b", ID: "Qwen/Qwen3-235B-A22B", Layers: 94, Hidden: 4096, Heads: 64, KVHeads: 4, HeadDim: 128, Vocab: 151936, MaxPositions: 40960,
			MoE: MoE{Experts: 128, Active: 8, Intermediate: 1536}, Source: hub},
		{Name: "mixtral-8x7b", ID: "mistralai/Mixtral-8x7B-Instruct-v0.1", Layers: 32, Hidden: 4096, Heads: 32, KVHeads: 8, HeadDim: 128, Vocab: 32000, MaxPositions: 32768,
			MoE: MoE{Experts: 8, Active: 2, Intermediate: 14336}, Source: hub},
		{Name: "deepseek-v3", ID: "deepseek-ai/DeepSeek-V3", Layers: 61, Hidden: 7168, Heads: 128, KVHeads: 128, HeadDim: 128, Intermediate: 18432, Vocab: 129280, MaxPositions: 163840,
			MoE: MoE{Experts: 256, Active: 8, Shared: 1, Intermediate: 2048, DenseLayers: 3},
			MLA: MLA{Latent: 512, Rope: 64, QueryRank: 1536, Value: 128}, Source: hub},
		{Name: "deepseek-r1", ID: "deepseek-ai/DeepSeek-R1", Layers: 61, Hidden: 7168, Heads: 128, KVHeads: 128, HeadDim: 128, Intermediate: 18432, Vocab: 129280, MaxPositions: 163840,
			MoE: MoE{Experts: 256, Active: 8, Shared: 1, Intermediate: 2048, DenseLayers: 3},
			MLA: MLA{Latent: 512, Rope: 64, QueryRank: 1536, Value: 128}, Source: hub},
		{Name: "kimi-k2.5", ID: "moonshotai/Kimi-K2.5", Layers: 61, Hidden: 7168, Heads: 64, KVHeads: 64, HeadDim: 128, Intermediate: 18432, Vocab: 163840, MaxPositions: 262144,
			MoE: MoE{Experts: 384, Active: 8, Shared: 1, Intermediate: 2048, DenseLayers: 1},
			MLA: MLA{Latent: 512, Rope: 64, QueryRank: 1536, Value: 128}, Source: hub},
		{Name: "minimax-m2.5", ID: "MiniMaxAI/MiniMax-M2.5", Layers: 62, Hidden: 3072, Heads: 48, KVHeads: 8, HeadDim: 128, Vocab: 200064, MaxPositions: 196608,
			MoE: MoE{Experts: 256, Active: 8, Intermediate: 1536}, Source: hub},
		{Name: "gpt-oss-20b", ID: "openai/gpt-oss-20b", Layers: 24, Hidden: 2880, Heads: 64, KVHeads: 8, HeadDim: 64, Vocab: 201088, MaxPositions: 131072,
			MoE: MoE{Experts: 32, Active: 4, Intermediate: 2880}, Window: Window{Tokens: 128, Layers: 12}, Source: hub},
		{Name: "gpt-oss-120b", ID: "openai/gpt-oss-120b", Layers: 36, Hidden: 2880, Heads: 64, KVHeads: 8, HeadDim: 64, Vocab: 201088, MaxPositions: 131072,
			MoE: MoE{Experts: 128, Active: 4, Intermediate: 2880}, Window: Window{Tokens: 128, Layers: 18}, Source: hub},
	}
}

func others() []Model {
	return []Model{
		{Name: "mistral-7b", ID: "mistralai/Mistral-7B-Instruct-v0.3", Layers: 32, Hidden: 4096, Heads: 32, KVHeads: 8, HeadDim: 128, Intermediate: 14336, Vocab: 32768, MaxPositions: 32768, Source: hub},
		{Name: "gemma3-27b", ID: "google/gemma-3-27b-it", Layers: 62, Hidden: 5376, Heads: 32, KVHeads: 16, HeadDim: 128, Intermediate: 21504, Vocab: 262208, Tied: true, MaxPositions: 131072,
			Window: Window{Tokens: 1024, Layers: 52}, Source: hub},
		{Name: "smollm2-135m", ID: "HuggingFaceTB/SmolLM2-135M-Instruct", Layers: 30, Hidden: 576, Heads: 9, KVHeads: 3, HeadDim: 64, Intermediate: 1536, Vocab: 49152, Tied: true, MaxPositions: 8192, Source: hub},
	}
}
