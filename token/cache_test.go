package token

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
)

// padded is a tokenizer.json that is long enough to be kept.
func padded(t testing.TB) string {
	t.Helper()
	path := small(t, []string{"a b", "ab ab"}, nil)
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	b = append(b, bytes.Repeat([]byte(" "), minCached)...)
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func encodes(t testing.TB, cache Cache, path string) {
	t.Helper()
	c, err := cache.OpenFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := c.Encode(nil, "ababc<|end|>"); err != nil || !slices.Equal(got, []uint32{257, 'c', 1000}) {
		t.Errorf("ids %v, %v", got, err)
	}
}

func kept(t *testing.T, cache Cache) []string {
	t.Helper()
	list, err := filepath.Glob(filepath.Join(cache.Dir, "*"))
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// TestCache: what is kept is read instead of the file's lists, and what is
// damaged, whichever byte it is, is read anew and mended.
func TestCache(t *testing.T) {
	cache := Cache{Dir: filepath.Join(t.TempDir(), "a/b")}
	path := padded(t)
	encodes(t, cache, path)
	list := kept(t, cache)
	if len(list) != 1 {
		t.Fatalf("kept %v", list)
	}
	encodes(t, cache, path)
	whole, err := os.ReadFile(list[0])
	if err != nil {
		t.Fatal(err)
	}
	for at := 0; at < len(whole); at += 37 {
		b := slices.Clone(whole)
		b[at] ^= 0x41
		if err := os.WriteFile(list[0], b, 0o600); err != nil {
			t.Fatal(err)
		}
		encodes(t, cache, path)
	}
	for _, n := range []int{0, 10, len(whole) / 2, len(whole) - 1} {
		if err := os.WriteFile(list[0], whole[:n], 0o600); err != nil {
			t.Fatal(err)
		}
		encodes(t, cache, path)
	}
	if b, err := os.ReadFile(list[0]); err != nil || !bytes.Equal(b, whole) {
		t.Errorf("a damaged file was not mended: %v", err)
	}
}

// TestCacheIsRead: the kept form decides, not the file's lists.
func TestCacheIsRead(t *testing.T) {
	cache := Cache{Dir: t.TempDir()}
	path := padded(t)
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	p, err := parseJSON(data)
	if err != nil {
		t.Fatal(err)
	}
	p.merges = p.merges[:1]
	sum := [32]byte{1}
	cache.store(sum, p)
	c, err := cache.open(data, sum)
	if err != nil {
		t.Fatal(err)
	}
	if n, err := c.Count("abab"); err != nil || n != 2 {
		t.Errorf("%d tokens, %v: the kept form has one merge only", n, err)
	}
}

// TestCacheUnwritable: no cache is no error.
func TestCacheUnwritable(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{file, filepath.Join(file, "below"), "/proc/nowhere", ""} {
		encodes(t, Cache{Dir: dir}, padded(t))
	}
	cache := Cache{Dir: t.TempDir()}
	encodes(t, cache, small(t, []string{"a b", "ab ab"}, nil))
	if list := kept(t, cache); len(list) != 0 {
		t.Errorf("a short file was kept: %v", list)
	}
}

// TestCacheConcurrent: several may write at once, and nothing half remains.
func TestCacheConcurrent(t *testing.T) {
	cache := Cache{Dir: t.TempDir()}
	path := padded(t)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 4 {
				encodes(t, cache, path)
			}
		})
	}
	wg.Wait()
	if list := kept(t, cache); len(list) != 1 {
		t.Errorf("kept %v", list)
	}
}

func TestUserCache(t *testing.T) {
	home := t.TempDir()
	t.Setenv("XDG_CACHE_HOME", home)
	t.Setenv("HOME", home)
	for value, want := range map[string]string{"off": "", "/x": "/x"} {
		t.Setenv(CacheVariable, value)
		if c := UserCache(); c.Dir != want {
			t.Errorf("%q: %q", value, c.Dir)
		}
	}
	t.Setenv(CacheVariable, "")
	if c := UserCache(); filepath.Base(c.Dir) != "tokenizers" || len(c.Dir) <= len(home) {
		t.Errorf("by default %q", c.Dir)
	}
}

func FuzzCache(f *testing.F) {
	p := &parsed{rest: []byte("{}"), names: table{blob: []byte("ab"), offsets: []uint32{0, 1, 2}}, merges: []mergeRule{{0, 1, 1}}, scores: []float64{1}}
	f.Add(p.append(nil, [32]byte{}))
	f.Fuzz(func(t *testing.T, b []byte) {
		p, err := decodeParsed(b, [32]byte{})
		if err != nil {
			return
		}
		if again := p.append(nil, [32]byte{}); !bytes.Equal(again, b[:len(again)]) {
			t.Error("not what was read")
		}
	})
}
