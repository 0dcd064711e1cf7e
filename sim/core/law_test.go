package core

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/tokamak-bench/tokamak/clock"
)

// laws watches a run for what must hold in every step.
type laws struct {
	t      *rapid.T
	e      *Engine
	last   int64
	tokens map[string]int64
}

func (l *laws) Submitted(*Request) {}
func (l *laws) Ended(*Request)     {}
func (l *laws) Token(r *Request, gap int64) {
	l.tokens[r.ID]++
	if gap == 0 && l.e.cfg.Speculative.Drafts == 0 {
		l.t.Fatalf("%s got two tokens at once", r.ID)
	}
}

func (l *laws) Step(s *Step) {
	if s.Start < l.last || s.End <= s.Start {
		l.t.Fatalf("step from %d to %d after one that ended at %d", s.Start, s.End, l.last)
	}
	l.last = s.End
	// A prompt alone may be longer than TGI's budget; decodes have none there and in SGLang.
	bounded := l.e.cfg.Policy != TGI && (l.e.cfg.Policy != SGLang || s.Tokens > s.Sequences)
	if bounded && s.Tokens > l.e.cfg.MaxTokens || len(l.e.running) > l.e.cfg.MaxSeqs {
		l.t.Fatalf("%d tokens, %d running", s.Tokens, len(l.e.running))
	}
	l.blocks()
}

// blocks checks that every block is free or counted once for each holder.
func (l *laws) blocks() {
	p := l.e.pool
	held := map[int32]int32{}
	for _, r := range l.e.running {
		for _, b := range r.seq.blocks {
			held[b]++
		}
	}
	free := int64(0)
	for b := int32(1); b < int32(len(p.blocks)); b++ {
		if p.blocks[b].refs != held[b] {
			l.t.Fatalf("block %d has %d references and %d holders", b, p.blocks[b].refs, held[b])
		}
		if held[b] == 0 {
			free++
		}
		if p.blocks[b].key != 0 && p.lookup(p.blocks[b].key) < 0 {
			l.t.Fatalf("block %d has content that no lookup finds", b)
		}
	}
	if free != p.free {
		l.t.Fatalf("%d blocks are free, the queue has %d", free, p.free)
	}
}

type generated struct {
	id      string
	at      int64
	prompt  []Span
	max     int64
	abort   bool
	abortAt int64
	output  uint64
}

func generate(t *rapid.T, longest int64) []generated {
	n := rapid.IntRange(1, 25).Draw(t, "requests")
	list := make([]generated, n)
	for i := range list {
		g := generated{id: string(rune('a' + i)), at: rapid.Int64Range(0, 400).Draw(t, "at"), max: rapid.Int64Range(0, 12).Draw(t, "max"), output: uint64(100 + i)}
		shared := rapid.Int64Range(0, longest/3).Draw(t, "shared")
		own := rapid.Int64Range(1, longest/3).Draw(t, "own")
		g.prompt = []Span{{uint64(rapid.IntRange(1, 2).Draw(t, "id")), shared}, {uint64(10 + i), own}}
		g.max = min(g.max, longest-shared-own)
		g.abort = rapid.IntRange(0, 5).Draw(t, "abort") == 0
		g.abortAt = g.at + rapid.Int64Range(0, 200).Draw(t, "abort at")
		list[i] = g
	}
	return list
}

func runLaws(t *rapid.T, cfg Config, list []generated) (ends map[string]string, c Counts) {
	v := clock.NewVirtual(time.Unix(0, 0))
	l := &laws{t: t, tokens: map[string]int64{}}
	cfg.Observer = l
	e, err := New(cfg, v)
	if err != nil {
		t.Fatal(err)
	}
	l.e = e
	book := &rig{ends: map[string]string{}}
	var reqs []*Request
	for _, g := range list {
		q := &Request{ID: g.id, Prompt: g.prompt, MaxTokens: g.max, Output: g.output, Listener: &heard{rig: book, id: g.id}}
		reqs = append(reqs, q)
		v.At(g.at, func() {
			if err := e.Submit(q); err != nil {
				t.Fatal(err)
			}
		})
		if g.abort {
			v.At(g.abortAt, func() { e.Abort(q) })
		}
	}
	v.Wait(1 << 40)
	l.blocks()
	for i, q := range reqs {
		if book.ends[q.ID] == "" {
			t.Fatalf("%s never ended", q.ID)
		}
		want := cfg.MaxModelLen - q.PromptTokens
		if q.MaxTokens > 0 {
			want = q.MaxTokens
		}
		if q.Stats.Finish != Abort && q.Stats.Output != want || q.Stats.Output != l.tokens[q.ID] {
			t.Fatalf("%s got %d tokens, want %d", q.ID, q.Stats.Output, want)
		}
		if q.Stats.Finish == Abort && !list[i].abort || q.Stats.Queued > q.Stats.Scheduled && q.Stats.Output > 0 {
			t.Fatalf("%s: %+v", q.ID, q.Stats)
		}
	}
	if s := e.State(); s.Running+s.Waiting != 0 || s.KVUsage != 0 {
		t.Fatalf("not idle: %+v", s)
	}
	return book.ends, e.counts
}

func TestLaws(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		block := rapid.Int64Range(1, 5).Draw(t, "block")
		blocks := rapid.Int64Range(8, 30).Draw(t, "blocks")
		cfg := Config{BlockSize: block, Blocks: blocks, MaxModelLen: max((blocks-1)*block, 4), MaxSeqs: rapid.IntRange(1, 9).Draw(t, "seqs"),
			MaxTokens: rapid.Int64Range(1, 64).Draw(t, "budget"), PrefixCache: rapid.Bool().Draw(t, "cache"), PromptMustFit: rapid.Bool().Draw(t, "fit"),
			LongPrefill: rapid.Int64Range(0, 8).Draw(t, "long"), APIDelay: rapid.Int64Range(0, 5).Draw(t, "delay"), Timer: tick{},
			Policy: rapid.SampledFrom(Policies()).Draw(t, "policy"), WaitingServedRatio: rapid.Float64Range(0, 2).Draw(t, "ratio"),
			MaxWaitingTokens: rapid.Int64Range(0, 9).Draw(t, "patience")}
		if cfg.Policy == Slots {
			cfg.BlockSize, cfg.MaxModelLen = 1, 24
			cfg.Blocks = int64(cfg.MaxSeqs)*24 + 1
		}
		if cfg.Policy == VLLM || cfg.Policy == Priority || cfg.Policy == NoEvict {
			cfg.Speculative = Speculative{Drafts: rapid.Int64Range(0, 4).Draw(t, "drafts"), Acceptance: 0.5}
		}
		list := generate(t, cfg.MaxModelLen)
		ends, counts := runLaws(t, cfg, list)
		again, same := runLaws(t, cfg, list)
		if d := cmp.Diff(ends, again); d != "" || counts != same {
			t.Fatalf("two runs differ: %s", d)
		}
		if (cfg.Policy == NoEvict || cfg.Policy == TGI || cfg.Policy == Slots) && counts.Preemptions > 0 {
			t.Fatalf("%s preempted", cfg.Policy)
		}
		if !cfg.PrefixCache && counts.PrefixHits > 0 {
			t.Fatal("hits without a cache")
		}
	})
}
