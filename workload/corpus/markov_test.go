package corpus

import (
	"bytes"
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/zstd"
	"pgregory.net/rapid"
)

func TestUnits(t *testing.T) {
	for text, want := range map[string][]string{
		"Hello, wide world!":           {"Hello", ",", " wide", " world", "!"},
		"  two\n\n\nlines \n end ":     {" two", "\n\n", "lines", "\n", "end"},
		"价格是 12 元。":                    {"价", "格", "是", " 12", " 元", "。"},
		"card 4111111111111111 ok":     {" card"[1:], "", " ok"},
		"key sk_live9f8e7d6c5b4a3 end": {"key", " sk", "_", "", " end"},
		strings.Repeat("x", 33) + " y": {"", " y"},
		"a\x00b\xffc":                  {"a", "", "b", "", "c"},
		"naïve café":                   {"naïve", " café"},
		" \n ":                         {"\n"},
		" ":                            nil,
		"":                             nil,
	} {
		if diff := cmp.Diff(want, slices.Collect(units(text))); diff != "" {
			t.Errorf("%q: %s", text, diff)
		}
	}
}

// prompts are n owners who each send the same phrases in another order, and
// one sentence of their own.
func prompts(n int) iter.Seq2[string, string] {
	phrases := []string{"How do I sort a list in Python?", "Please explain the difference between a list and a tuple.",
		"The list is long and the loop is slow.", "Thank you, that was helpful!", "请解释一下这个问题。"}
	return func(yield func(string, string) bool) {
		for i := range n {
			text := ""
			for k := range phrases {
				text += phrases[(i+k*(1+i%4))%len(phrases)] + " "
			}
			text += fmt.Sprintf("Private%c%c belongs to me alone.", 'a'+i%26, 'a'+i/26)
			if !yield(fmt.Sprint(i), text) {
				return
			}
		}
	}
}

func learn(t testing.TB, texts iter.Seq2[string, string], o LearnOptions) *Markov {
	t.Helper()
	m, err := Learn(texts, o)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func all(m *Markov, n int) string {
	var b strings.Builder
	for id := range uint64(n) {
		b.WriteString(m.Text(id) + "\n")
	}
	return b.String()
}

func TestMarkovWritesWhatItLearnt(t *testing.T) {
	m := learn(t, prompts(60), LearnOptions{})
	text := all(m, 300)
	for _, want := range []string{"sort a list in Python?", "请解释一下", "Thank you"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q never comes", want)
		}
	}
	if m.Text(7) != m.Text(7) || m.Text(7) == m.Text(8) && m.Text(8) == m.Text(9) {
		t.Error("texts do not follow from their number")
	}
	c := m.Corpus()
	for _, p := range c.Pieces {
		checkPiece(t, c, p)
	}
}

// A canary of fewer owners than asked is neither in what comes out nor in the
// file, however often it was sent; one of as many owners may be.
func TestCanaryNeverComesOut(t *testing.T) {
	const canary = "zanzibarquokka flummoxed the Grünewald vault"
	for name, tt := range map[string]struct {
		owners, times int
		want          bool
	}{
		"one owner, often":      {1, 500, false},
		"four owners":           {4, 3, false},
		"five owners":           {5, 3, true},
		"without an owner":      {-1, 500, false}, // the same text all the time
		"everybody, in a codes": {0, 0, false},
	} {
		t.Run(name, func(t *testing.T) {
			m := learn(t, func(yield func(string, string) bool) {
				for o, text := range prompts(60) {
					if tt.owners == 0 {
						text += " token 0123456789abcdef0123456789abcdef0123 end"
					}
					if !yield(o, text) {
						return
					}
				}
				for i := range tt.owners * tt.times {
					yield(fmt.Sprint(i%tt.owners), "My password is "+canary+", keep it.")
				}
				for range -tt.owners * tt.times {
					yield("", "My password is "+canary+", keep it.")
				}
			}, LearnOptions{})
			var file bytes.Buffer
			if err := m.Write(&file); err != nil {
				t.Fatal(err)
			}
			out := all(m, 2000) + unpacked(t, file.Bytes())
			for _, word := range append(strings.Fields(canary), "0123456789abcdef", "Privateba") {
				if word == "the" {
					continue
				}
				if got := strings.Contains(out, word); got != (tt.want && !strings.HasPrefix(word, "0") && word != "Privateba") {
					t.Errorf("%q is in it: %v", word, got)
				}
			}
		})
	}
}

func unpacked(t testing.TB, file []byte) string {
	t.Helper()
	z, err := zstd.NewReader(bytes.NewReader(file[len(magic):]))
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	b, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// A passage that all owners have word for word, and that is longer than the
// chain may go without a choice, does not come out whole while there is
// anything else to say.
func TestLongPassagesBreak(t *testing.T) {
	long := "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda omicron sigma upsilon omega"
	m := learn(t, func(yield func(string, string) bool) {
		for o, text := range prompts(40) {
			if !yield(o, long+" "+text) {
				return
			}
		}
	}, LearnOptions{})
	whole := strings.Count(all(m, 500), long)
	starts := strings.Count(all(m, 500), "alpha beta gamma")
	if starts < 400 || whole*20 > starts {
		t.Errorf("%d of %d times the passage came out whole", whole, starts)
	}
}

func TestMarkovFileRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		words := rapid.SliceOfN(rapid.StringMatching(`[a-d]{1,2}[.,]?`), 3, 30).Draw(t, "words")
		o := LearnOptions{Order: rapid.IntRange(2, 5).Draw(t, "order"), Owners: 2}
		m, err := Learn(func(yield func(string, string) bool) {
			for i := range 4 {
				yield(fmt.Sprint(i), strings.Join(words[i%2:], " "))
			}
		}, o)
		if err != nil {
			t.Skip(err)
		}
		var file bytes.Buffer
		if err := m.Write(&file); err != nil {
			t.Fatal(err)
		}
		again, err := ReadMarkov(bytes.NewReader(file.Bytes()))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(m, again, cmp.AllowUnexported(Markov{}, level{})); diff != "" {
			t.Fatal(diff)
		}
		cut := rapid.IntRange(0, file.Len()-1).Draw(t, "cut")
		if _, err := ReadMarkov(bytes.NewReader(file.Bytes()[:cut])); err == nil {
			t.Fatalf("a file cut at %d of %d is read", cut, file.Len())
		}
	})
}

func TestReadMarkovRefuses(t *testing.T) {
	pack := func(b []byte) string {
		var out bytes.Buffer
		out.WriteString(magic)
		z, _ := zstd.NewWriter(&out)
		_, _ = z.Write(b)
		_ = z.Close()
		return out.String()
	}
	good := []byte{2, 5, 9, 1, 1, 'a', 1, 2, 0, 3, 1, 4, 1, 0, 1, 1, 4}
	if _, err := ReadMarkov(strings.NewReader(pack(good))); err != nil {
		t.Fatal(err)
	}
	change := func(at int, to ...byte) string {
		return pack(append(append(slices.Clone(good[:at]), to...), good[at+1:]...))
	}
	for name, file := range map[string]string{
		"empty": "", "another file": "schema: tokamak.traffic/1\n", "no zstd": magic + "hello", "nothing in it": pack(nil),
		"something behind": pack(append(slices.Clone(good), 0)), "order 1": change(0, 1), "order 6": change(0, 6), "owner": change(1, 1),
		"no words": change(3, 0), "a long word": change(4, 99), "no UTF-8": change(5, 0xff), "two roots": change(6, 2),
		"no continuation": change(7, 0), "a word that is none": change(8, 5), "no count": change(9, 0), "context that is none": change(13, 7),
		"many words": change(3, 0xff, 0xff, 0xff, 0xff, 0x0f), "many contexts": change(12, 0xff, 0xff, 0xff, 0xff, 0x0f),
	} {
		if _, err := ReadMarkov(strings.NewReader(file)); err == nil {
			t.Errorf("%s: read", name)
		}
	}
}

func TestLearnRefuses(t *testing.T) {
	for name, o := range map[string]LearnOptions{"order": {Order: 9}, "owners": {Owners: 1}, "units": {MaxUnits: -1}, "sequences": {MaxSequences: 5}} {
		if _, err := NewLearner(o); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	if _, err := Learn(prompts(4), LearnOptions{}); err == nil || !strings.Contains(err.Error(), "5 owners") {
		t.Error(err)
	}
}

// Where there is no room, rare sequences go and the model stays sound.
func TestLearnForgets(t *testing.T) {
	m := learn(t, func(yield func(string, string) bool) {
		for o, text := range prompts(400) {
			if !yield(o, text+" "+fmt.Sprintf("w%s x%s y%s", o, o, o)) {
				return
			}
		}
	}, LearnOptions{MaxSequences: 1000})
	if text := all(m, 200); !strings.Contains(text, "list") || strings.Contains(text, "Private") {
		t.Errorf("%.200s", text)
	}
	if l, _ := NewLearner(LearnOptions{MaxUnits: 10}); l != nil {
		for o, text := range prompts(50) {
			l.Add(o, text)
		}
		if l.texts != 1 {
			t.Errorf("%d texts learnt", l.texts)
		}
	}
}

func FuzzReadMarkov(f *testing.F) {
	var file bytes.Buffer
	if err := learn(f, prompts(20), LearnOptions{}).Write(&file); err != nil {
		f.Fatal(err)
	}
	f.Add([]byte(unpacked(f, file.Bytes())))
	f.Add([]byte{2, 5, 9, 1, 1, 'a', 1, 2, 0, 3, 1, 4, 1, 0, 1, 1, 4})
	f.Fuzz(func(t *testing.T, b []byte) {
		var packed bytes.Buffer
		packed.WriteString(magic)
		z, _ := zstd.NewWriter(&packed, zstd.WithEncoderConcurrency(1))
		_, _ = z.Write(b)
		_ = z.Close()
		m, err := ReadMarkov(&packed)
		if err != nil {
			return
		}
		for id := range uint64(5) {
			_ = m.Text(id)
		}
		var again bytes.Buffer
		if err := m.Write(&again); err != nil || unpacked(t, again.Bytes()) != string(b) {
			t.Errorf("%v: what was read is not written again", err)
		}
	})
}

func FuzzLearn(f *testing.F) {
	f.Add("some text, 价格 and \x00 more\n\nof it")
	f.Fuzz(func(t *testing.T, s string) {
		m, err := Learn(func(yield func(string, string) bool) {
			for i := range 3 {
				yield(fmt.Sprint(i), s)
			}
		}, LearnOptions{Owners: 2})
		if err == nil {
			_ = m.Text(1) + m.Text(2)
		}
	})
}

func BenchmarkLearn(b *testing.B) {
	c := builtin(Chat)
	n := 0
	for range b.N {
		l, _ := NewLearner(LearnOptions{})
		for i, p := range c.Pieces {
			l.Add(fmt.Sprint(i), p.Text)
		}
		m, err := l.Model()
		if err != nil {
			b.Fatal(err)
		}
		n = int(l.units)
		var file bytes.Buffer
		_ = m.Write(&file)
		b.ReportMetric(float64(file.Len())/1e3, "kB")
	}
	b.ReportMetric(float64(n)*float64(b.N)/b.Elapsed().Seconds()/1e6, "Munits/s")
}
