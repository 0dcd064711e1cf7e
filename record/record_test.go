package record

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"go.uber.org/goleak"
	"pgregory.net/rapid"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func testManifest() *Manifest {
	return &Manifest{Run: "r1", Epoch: time.Date(2026, 12, 1, 10, 0, 0, 0, time.UTC), Seed: 7}
}

func create(t testing.TB, opt Options) *Writer {
	t.Helper()
	w, err := Create(filepath.Join(t.TempDir(), "run"), testManifest(), opt)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func open(t testing.TB, dir string) *Run {
	t.Helper()
	r, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func attempts(t testing.TB, dir string) []*Attempt {
	t.Helper()
	var out []*Attempt
	for a, err := range open(t, dir).Attempts() {
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, a.Clone())
	}
	return out
}

var equal = cmp.Options{cmp.AllowUnexported(Int{}), cmpopts.EquateEmpty()}

func drawInt(t *rapid.T) Int {
	if rapid.Bool().Draw(t, "absent") {
		return Int{}
	}
	return Some(rapid.Int64().Draw(t, "int"))
}

func drawAttempt(t *rapid.T) *Attempt {
	a := &Attempt{}
	word := rapid.StringN(0, 8, 64)
	for _, c := range attemptTable() {
		switch f := c.field.(type) {
		case optional[Attempt]:
			*f(a) = drawInt(t)
		case integer[Attempt]:
			*f(a) = rapid.Int64().Draw(t, c.name)
		case text[Attempt]:
			*f(a) = word.Draw(t, c.name)
		case texts[Attempt]:
			*f(a) = rapid.SliceOfN(word, 0, 3).Draw(t, c.name)
		case truth[Attempt]:
			*f.at(a) = rapid.Bool().Draw(t, c.name)
		}
	}
	n := rapid.IntRange(0, 5).Draw(t, "chunks")
	k := &a.Chunks
	for range n {
		k.At = append(k.At, rapid.Int64().Draw(t, "at"))
		k.Bytes = append(k.Bytes, rapid.Int32().Draw(t, "bytes"))
		k.Kind = append(k.Kind, ChunkKind(rapid.Uint8().Draw(t, "kind")))
		k.Choice = append(k.Choice, rapid.Int32().Draw(t, "choice"))
		k.Flags = append(k.Flags, rapid.Uint8().Draw(t, "flags"))
	}
	for range rapid.IntRange(0, 3).Draw(t, "blanks") {
		a.Blanks.At = append(a.Blanks.At, rapid.Int64().Draw(t, "blank"))
		a.Blanks.Kind = append(a.Blanks.Kind, BlankKind(rapid.Uint8().Draw(t, "what")))
	}
	if rapid.Bool().Draw(t, "tokens") {
		k.Tokens = rapid.SliceOfN(rapid.Int32(), n, n).Draw(t, "tokens")
	}
	return a
}

func TestWhatIsWrittenIsRead(t *testing.T) {
	i := 0
	base := t.TempDir()
	rapid.Check(t, func(rt *rapid.T) {
		i++
		w, err := Create(filepath.Join(base, fmt.Sprint(i)), testManifest(), Options{SaveOutputs: true})
		if err != nil {
			rt.Fatal(err)
		}
		var want []*Attempt
		for range rapid.IntRange(0, 6).Draw(rt, "rows") {
			a := drawAttempt(rt)
			want = append(want, a)
			if err := w.Ended(a); err != nil {
				rt.Fatal(err)
			}
			if rapid.Bool().Draw(rt, "flush") {
				w.flush()
			}
		}
		if err := w.Finish(); err != nil {
			rt.Fatal(err)
		}
		if diff := cmp.Diff(want, attempts(t, w.Dir()), equal); diff != "" {
			rt.Fatal(diff)
		}
	})
}

func TestEverySecondIsOnDisk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := create(t, Options{})
		defer func() { _ = w.Finish() }()
		for i := range 5 {
			if err := w.Ended(&Attempt{Identity: Identity{RequestID: int64(i)}}); err != nil {
				t.Fatal(err)
			}
			if err := w.Event(Event{At: 1, Kind: NoticeEvent, Name: "n"}); err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Second)
			synctest.Wait()
			if got := len(attempts(t, w.Dir())); got != i+1 {
				t.Fatalf("after %d s %d rows are readable", i+1, got)
			}
		}
	})
}

func TestAnExistingDirectoryIsLeftAlone(t *testing.T) {
	dir := t.TempDir()
	if _, err := Create(dir, testManifest(), Options{}); !errors.Is(err, fs.ErrExist) {
		t.Fatal("created over an existing directory")
	}
	entries, _ := os.ReadDir(dir)
	if len(entries) > 0 {
		t.Fatal("left files behind")
	}
}

func TestManyCallers(t *testing.T) {
	w := create(t, Options{FlushEvery: time.Millisecond})
	var all sync.WaitGroup
	for g := range int64(4) {
		all.Go(func() {
			for i := range int64(500) {
				id := g*500 + i
				a := sampleAttempt(id, 3)
				err := errors.Join(w.Dispatched(a), w.Ended(a), w.Sample(Sample{At: id, Name: "n"}), w.Event(Event{At: id, Kind: "k"}),
					w.UpdateManifest(func(m *Manifest) { m.Notices = []string{"n"} }))
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	if err := w.Finish(); err != nil {
		t.Fatal(err)
	}
	seen := map[int64]bool{}
	for _, a := range attempts(t, w.Dir()) {
		seen[a.RequestID] = true
	}
	samples, events := 0, 0
	for _, err := range open(t, w.Dir()).Samples() {
		samples++
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, err := range open(t, w.Dir()).Events() {
		events++
		if err != nil {
			t.Fatal(err)
		}
	}
	if len(seen) != 2000 || samples != 2000 || events != 2000 {
		t.Errorf("%d rows, %d samples, %d events", len(seen), samples, events)
	}
	if err := w.Ended(sampleAttempt(0, 1)); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("after the finish: %v", err)
	}
}
