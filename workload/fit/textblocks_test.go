package fit

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/tokamak-bench/tokamak/stat"
	"github.com/tokamak-bench/tokamak/workload/count"
	"github.com/tokamak-bench/tokamak/workload/trace"
	"github.com/tokamak-bench/tokamak/workload/traffic"
)

// written words have four letters: number names those of one text.
func wording(number, n int) string {
	var b strings.Builder
	for i := range n {
		if i > 0 {
			b.WriteByte(' ')
		}
		fmt.Fprintf(&b, "%04x", (number*31+i*7)%65536)
	}
	return b.String()
}

// systemPrompts are those of 1,000 sessions: 600 have one of 800 words, 300 of
// 300, 100 of 50.
var systemPrompts = []string{wording(50001, 800), wording(50002, 300), wording(50003, 50)}

func systemOf(session int) string {
	switch session % 10 {
	default:
		return systemPrompts[0]
	case 6, 7, 8:
		return systemPrompts[1]
	case 9:
		return systemPrompts[2]
	}
}

// talk is a log of so many sessions of so many turns: 100 words said and 40
// answered in each, all that came before in each prompt, and the rows in the order of
// their moments.
func talk(sessions, turns int) []trace.Row {
	var rows []trace.Row
	for s := range sessions {
		said := []trace.Message{{Role: "system", Text: systemOf(s)}}
		for k := range turns {
			n := s*10 + k*2
			said = append(slices.Clip(said), trace.Message{Role: "user", Text: wording(n, 100)})
			rows = append(rows, trace.Row{Format: "test", Timed: true, At: int64(s)*1e9 + int64(k)*10_300e6 + int64(s*s)%7e8, Output: 40, Turns: []trace.Turn{{Messages: said}}})
			said = append(slices.Clip(said), trace.Message{Role: "assistant", Text: wording(n+1, 40)})
		}
	}
	slices.SortStableFunc(rows, func(a, b trace.Row) int { return cmp.Compare(a.At, b.At) })
	return rows
}

// asBodies makes request bodies of messages.
func asBodies(rows []trace.Row) []trace.Row {
	for i := range rows {
		type message struct {
			Role    string `json:"role"`
			Content string `json:"content"`
		}
		var list []message
		for _, m := range rows[i].Turns[0].Messages {
			list = append(list, message{m.Role, m.Text})
		}
		b, err := json.Marshal(map[string]any{"model": "m", "messages": list})
		if err != nil {
			panic(err)
		}
		rows[i].Turns, rows[i].Body = nil, b
	}
	return rows
}

// asConversations makes one row of each session of texts.
func asConversations(turns int) []trace.Row {
	rows := make([]trace.Row, 1000)
	for s := range rows {
		rows[s] = trace.Row{Format: "test", Timed: true, At: int64(s)*1e9 + int64(s*s)%7e8}
		for k := range turns {
			t := trace.Turn{Messages: []trace.Message{{Role: "user", Text: wording(s*10+k*2, 100)}}, Answer: wording(s*10+k*2+1, 40)}
			if k == 0 {
				t.Messages = append([]trace.Message{{Role: "system", Text: systemOf(s)}}, t.Messages...)
			}
			rows[s].Turns = append(rows[s].Turns, t)
		}
	}
	return rows
}

// By hand. The system prompts are found by all sessions but the first of each:
// 599 · 800 + 299 · 300 + 99 · 50 = 573,850 tokens. In one turn 1,000 prompts have
// 600 · 800 + 300 · 300 + 100 · 50 = 575,000 and 100 each: 675,000. Each second and
// third prompt finds the whole prompt before, 100 and 240 tokens behind the system
// prompt, and has 240 and 380: 573,850 + 2 · 575,000 + 340,000 of 3 · 575,000 + 720,000.
func TestPrefixesOfTexts(t *testing.T) {
	for _, c := range []struct {
		name  string
		rows  []trace.Row
		turns int
		by    string
	}{
		{"messages", talk(1000, 1), 1, ""},
		{"bodies", asBodies(talk(1000, 1)), 1, ""},
		{"sessions of messages", talk(1000, 3), 3, "blocks"},
		{"sessions of bodies", asBodies(talk(1000, 3)), 3, "blocks"},
		{"conversations", asConversations(3), 3, "rows"},
	} {
		t.Run(c.name, func(t *testing.T) {
			m, r, err := Fit(t.Context(), &listed{c.rows}, Options{Tokenizer: words{}})
			if err != nil {
				t.Fatal(err)
			}
			want := &traffic.Prefix{Share: 1, Top: []traffic.Front{{Share: .6, Tokens: 800}, {Share: .3, Tokens: 300}}, Count: 1, Tokens: whole([]int32{50})}
			if d := gocmp.Diff(want, m.Clients[0].Prefix); d != "" {
				t.Errorf("prefix (-want +got):\n%s", d)
			}
			hit := 573_850.0 / 675_000
			if c.turns == 3 {
				hit = (573_850.0 + 2*575_000 + 340_000) / (3*575_000 + 720_000)
				if s := r.Sessions; s.Told != 1000 || s.Later != 2000 || s.By != c.by {
					t.Errorf("sessions %+v", s)
				}
			}
			unlimited := r.Prefix.Curve[len(r.Prefix.Curve)-1]
			if math.Abs(unlimited.Hit-hit) > 1e-9 {
				t.Errorf("%v of the prompt tokens are found, want %v", unlimited.Hit, hit)
			}
			if unlimited.Model == nil || math.Abs(*unlimited.Model-hit) > .015 {
				t.Errorf("%v in a sample of the model, want %v", *unlimited.Model, hit)
			}
			if p := r.Prefix; p.Fronts != 3 || p.FrontShare != 1 || p.Texts != int64(1000*c.turns) || p.Estimated != 0 || p.BlockTokens != 0 {
				t.Errorf("%+v", p)
			}
			if all := strings.Join(r.Findings, "\n"); strings.Contains(all, "prefixes:") {
				t.Errorf("%q", r.Findings)
			}
			if text := r.Text(); !strings.Contains(text, fmt.Sprintf("by the texts of %s prompts", grouped(int64(1000*c.turns)))) {
				t.Error(text)
			}
			if in := m.Clients[0].Lengths[0].Input; in != stat.Constant(100) {
				t.Errorf("new text %v", in)
			}
		})
	}
}

// Where the log says how long prompts are and nothing counts, fronts are of the
// share of their bytes: words of four letters and a space, and 4 tokens of a
// template around each message. Without either they are a fourth of their
// bytes: 5 · 800 − 1, 5 · 300 − 1 and 5 · 50 − 1.
func TestPrefixesWithoutTokenizer(t *testing.T) {
	told := talk(1000, 1)
	for i := range told {
		told[i].Input = 108
		for _, m := range told[i].Turns[0].Messages[:1] {
			told[i].Input += int64(len(strings.Fields(m.Text)))
		}
		told[i].Input = told[i].Input * int64(900+200*(i/10%2)) / 1000 // other prompts have other tokenizers, or roundings
	}
	m, r, err := Fit(t.Context(), &listed{told}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	p := m.Clients[0].Prefix
	if len(p.Top) != 2 || math.Abs(float64(p.Top[0].Tokens)-804) > 3 || math.Abs(float64(p.Top[1].Tokens)-304) > 3 || math.Abs(p.Tokens.Quantile(.5)-54) > 3 {
		t.Errorf("%+v", p)
	}
	if r.Prefix.Estimated != 0 || strings.Contains(strings.Join(r.Findings, "\n"), "prefixes:") {
		t.Errorf("%q", r.Findings)
	}
	m, r, err = Fit(t.Context(), &listed{talk(1000, 1)}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	p = m.Clients[0].Prefix
	if len(p.Top) != 2 || p.Top[0] != (traffic.Front{Share: .6, Tokens: 1000}) || p.Top[1] != (traffic.Front{Share: .3, Tokens: 375}) || p.Tokens.Quantile(.5) != 62 {
		t.Errorf("%+v", p)
	}
	unlimited := r.Prefix.Curve[len(r.Prefix.Curve)-1]
	if unlimited.Model != nil || math.Abs(unlimited.Hit-573_850.0/675_000) > .001 || r.Prefix.Estimated != 1000 {
		t.Errorf("%+v: the model's lengths are made up, so that it has no curve", unlimited)
	}
	if all := strings.Join(r.Findings, "\n"); !strings.Contains(all, "prefixes: the texts of 1,000 requests are taken at 4 bytes a token") {
		t.Errorf("%q", r.Findings)
	}
}

// What some requests share is not known where they have no texts, and nothing is
// where rows hold new text alone.
func TestPrefixesOfSome(t *testing.T) {
	rows := talk(1000, 1)
	for i := range rows {
		if i%2 == 0 {
			rows[i].Turns, rows[i].Input = nil, 500
		}
	}
	_, r, err := Fit(t.Context(), &listed{rows}, Options{Tokenizer: words{}})
	if err != nil {
		t.Fatal(err)
	}
	if all := strings.Join(r.Findings, "\n"); !strings.Contains(all, "prefixes: 500 of 1,000 requests have blocks or texts of their whole prompts") {
		t.Errorf("%q", r.Findings)
	}
	for _, o := range []Options{{}, {Turns: trace.DeltaTurns}} {
		rows = talk(1000, 1)
		for i := range rows {
			rows[i].Delta = o.Turns == ""
		}
		m, r, err := Fit(t.Context(), &listed{rows}, o)
		if err != nil {
			t.Fatal(err)
		}
		if all := strings.Join(r.Findings, "\n"); r.Prefix != nil || m.Clients[0].Prefix != nil || !strings.Contains(all, "is not in the model") {
			t.Errorf("%q, %+v", r.Findings, r.Prefix)
		}
	}
}

// A prompt that is one text goes on with another where it holds all of it: an
// instruction that all have is no conversation, however short what follows is.
func TestOneTextGoesOn(t *testing.T) {
	instruction := wording(60001, 40)
	text := func(more string) trace.Row {
		return trace.Row{Format: "test", Timed: true, Output: 2, Body: fmt.Appendf(nil, `{"prompt":%q}`, instruction+more)}
	}
	b, p := newBlocks(nil), count.NewPrompts(words{})
	add := func(r trace.Row, row int32) int32 {
		said, err := p.Of(&r)
		if err != nil {
			t.Fatal(err)
		}
		before, _ := b.add(b.promptOf(&r, said), row)
		return before
	}
	for i, c := range []struct {
		more string
		want int32
	}{
		{" do a", -1},
		{" be it so and more of it", -1},
		{" do a: yes. " + wording(7, 30), 0},
		{" do a: yes. " + wording(7, 30) + " " + wording(8, 100), 2},
		{" be it so and more of it " + wording(9, 5), 1},
		{" do b", -1},
	} {
		if before := add(text(c.more), int32(i)); before != c.want {
			t.Errorf("prompt %d goes on with %d, want %d", i, before, c.want)
		}
	}
}

// Sessions that the log names hold their history where prompts hold the message
// or the text before, and none where they do not.
func TestNamedSessionsOfTexts(t *testing.T) {
	for _, c := range []struct {
		name string
		make func(rows []trace.Row) []trace.Row
		want trace.Turns
	}{
		{"messages", func(r []trace.Row) []trace.Row { return r }, trace.CumulativeTurns},
		{"bodies", asBodies, trace.CumulativeTurns},
		{"one text", asOneText, trace.CumulativeTurns},
		{"one text apart", func(r []trace.Row) []trace.Row { // each grows, but holds nothing of the one before
			for i := range r {
				r[i].Turns = []trace.Turn{{Messages: []trace.Message{{Role: "user", Text: wording(i, 100*len(r[i].Turns[0].Messages))}}}}
			}
			return r
		}, IndependentTurns},
		{"apart", func(r []trace.Row) []trace.Row { // each grows, but holds nothing of the one before
			for i := range r {
				m := r[i].Turns[0].Messages
				r[i].Turns = []trace.Turn{{Messages: []trace.Message{m[0], {Role: "user", Text: wording(i, 100*len(m))}}}}
			}
			return r
		}, IndependentTurns},
	} {
		rows := talk(100, 3)
		named := map[string]int{}
		for i := range rows {
			key := rows[i].Turns[0].Messages[1].Text
			if _, ok := named[key]; !ok {
				named[key] = len(named)
			}
			rows[i].Session = strconv.Itoa(named[key])
		}
		_, r, err := Fit(t.Context(), &listed{c.make(rows)}, Options{Tokenizer: words{}})
		if err != nil {
			t.Fatal(err)
		}
		if r.Sessions.History != string(c.want) || r.Sessions.Later != 200 {
			t.Errorf("%s: %+v, want %s", c.name, r.Sessions, c.want)
		}
	}
}

// asOneText renders messages into one.
func asOneText(rows []trace.Row) []trace.Row {
	for i := range rows {
		var b strings.Builder
		for _, m := range rows[i].Turns[0].Messages {
			b.WriteString(m.Role + ": " + m.Text + "\n")
		}
		rows[i].Turns, rows[i].Body = nil, fmt.Appendf(nil, `{"prompt":%q}`, b.String())
	}
	return rows
}

// secretive is a log whose system prompts, tools, questions and answers hold a
// canary.
func secretive(asBody bool) []trace.Row {
	rows := talk(100, 3)
	for i := range rows {
		m := slices.Clone(rows[i].Turns[0].Messages)
		for k := range m {
			m[k].Text = canaryText + " " + m[k].Text
		}
		rows[i].Turns = []trace.Turn{{Messages: m}}
	}
	if asBody {
		rows = asBodies(rows)
		for i := range rows {
			rows[i].Body = append(rows[i].Body[:len(rows[i].Body)-1], `,"tools":[{"name":"`+canaryText+`"}]}`...)
		}
	}
	return rows
}

// Of texts whose prefixes are learnt neither a word nor an id comes out: no
// canary, no number that names a block, and two readings of a log, whose ids are all
// others, make the same model and report.
func TestPrefixesLeakNothing(t *testing.T) {
	for _, tokenizer := range []count.Tokenizer{words{}, nil} {
		for _, asBody := range []bool{false, true} {
			var out []string
			for range 2 {
				l := newLog(Options{Tokenizer: tokenizer})
				for _, r := range secretive(asBody) {
					if err := l.add(&r); err != nil {
						t.Fatal(err)
					}
				}
				ids := slices.Collect(maps.Keys(l.blocks.known))
				l.finish()
				m, r, err := l.fit(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				if m.Clients[0].Prefix == nil || r.Prefix.Fronts != 3 {
					t.Fatalf("no prefixes were learnt: %+v", r.Prefix)
				}
				var file bytes.Buffer
				if err := m.Write(&file); err != nil {
					t.Fatal(err)
				}
				asJSON, err := json.Marshal(r)
				if err != nil {
					t.Fatal(err)
				}
				all := file.String() + string(asJSON) + r.Text()
				if strings.Contains(all, "anary") {
					t.Error("a canary came out")
				}
				for _, id := range ids {
					for _, form := range []string{strconv.FormatUint(id, 10), strconv.FormatUint(id, 16), strconv.FormatUint(id>>11, 10)} {
						if strings.Contains(all, form) {
							t.Errorf("the id %s of a block came out", form)
						}
					}
				}
				out = append(out, all)
			}
			if d := gocmp.Diff(out[0], out[1]); d != "" {
				t.Errorf("two readings of a log:\n%s", d)
			}
		}
	}
}

// A front that few have is one of the front that it begins with, where more is
// shared so: of 100 sessions with 800 tokens two have 10 more, which is less than
// 800 that the two would find anew. Ten with 500 more each are worth it.
func TestFoldedFronts(t *testing.T) {
	for _, c := range []struct {
		deep   int // sessions with a longer front
		more   int
		fronts int64
	}{{2, 10, 1}, {11, 500, 2}} {
		var rows []trace.Row
		for s := range 100 {
			said := []trace.Message{{Role: "system", Text: systemPrompts[0]}}
			if s >= 100-c.deep {
				said = append(said, trace.Message{Role: "user", Text: wording(60002, c.more)})
			}
			said = append(said, trace.Message{Role: "user", Text: wording(s, 100)})
			rows = append(rows, trace.Row{Format: "test", Timed: true, At: int64(s)*1e9 + int64(s*s)%7e8, Output: 40, Turns: []trace.Turn{{Messages: said}}})
		}
		m, r, err := Fit(t.Context(), &listed{rows}, Options{Tokenizer: words{}})
		if err != nil {
			t.Fatal(err)
		}
		if r.Prefix.Fronts != c.fronts {
			t.Errorf("%d with %d more: %d fronts, want %d: %+v", c.deep, c.more, r.Prefix.Fronts, c.fronts, m.Clients[0].Prefix)
		}
	}
}

// The prompts of a sample are cut as texts are. By hand: a front of 50 tokens in
// blocks of 16, a prompt up to 70, an answer up to 75; behind 2,048 tokens a block has
// a 64th of what stands before it: 32, and then 18 to the end.
func TestSampledPromptsAreCut(t *testing.T) {
	p := sent{messages: []int64{50, 70, 75}}
	if d := gocmp.Diff([]int64{16, 32, 48, 50, 66, 70, 75}, p.ends(16)); d != "" {
		t.Error(d)
	}
	p.messages = []int64{2048, 2098}
	if got := p.ends(16); !slices.Equal(got[len(got)-2:], []int64{2080, 2098}) {
		t.Errorf("%v", got[len(got)-5:])
	}
}

// A prompt that comes again and again is no front of itself: what an engine has to
// compute of it stays new text. By hand, of 30 words in 149 bytes and 6 of a role, 155:
// the last of three blocks is new, 27 bytes of them, 5 tokens.
func TestPromptsThatComeAgain(t *testing.T) {
	var rows []trace.Row
	for i := range 40 {
		rows = append(rows, trace.Row{Format: "test", Timed: true, At: int64(i)*1e9 + int64(i*i)%7e8, Output: 9, Turns: []trace.Turn{{Messages: []trace.Message{{Role: "user", Text: wording(5, 30)}}}}})
	}
	m, r, err := Fit(t.Context(), &listed{rows}, Options{Tokenizer: words{}})
	if err != nil {
		t.Fatal(err)
	}
	p := m.Clients[0].Prefix
	if p == nil || p.Tokens != stat.Constant(25) || m.Clients[0].Lengths[0].Input != stat.Constant(5) {
		t.Errorf("%+v, new text %v", p, m.Clients[0].Lengths[0].Input)
	}
	if hit := r.Prefix.Curve[len(r.Prefix.Curve)-1].Hit; hit != 39.0*25/(40*30) {
		t.Errorf("%v found, want %v", hit, 39.0*25/(40*30))
	}
}

// The prompts of a conversation that is one row are of one session, whatever of
// them others sent: all begin with the same question, so that its end is shared, and
// still the only front is the system prompt, of 800 words.
func TestConversationsThatBeginAlike(t *testing.T) {
	rows := asConversations(2)[:60]
	for i := range rows {
		rows[i].Turns[0].Messages = []trace.Message{{Role: "system", Text: systemPrompts[0]}, {Role: "user", Text: "what now"}}
	}
	m, r, err := Fit(t.Context(), &listed{rows}, Options{Tokenizer: words{}})
	if err != nil {
		t.Fatal(err)
	}
	if p := m.Clients[0].Prefix; r.Prefix.Fronts != 1 || p.Tokens != stat.Constant(800) || m.Clients[0].Lengths[0].Input != stat.Constant(2) {
		t.Errorf("%d fronts: %+v", r.Prefix.Fronts, p)
	}
	// The later turns add 100 words, however many of them others share.
	if s := m.Clients[0].Sessions; s == nil || s.Input != stat.Constant(100) {
		t.Errorf("%+v", s)
	}
}

// Who shares a front belongs together: neither senders of other lengths at other
// times nor chats and requests that stand alone are divided where their texts begin
// alike, and both are where they do not.
func TestSharersAreNotDivided(t *testing.T) {
	for _, shared := range []bool{true, false} {
		senders := twoSenders(2700, true)
		for i := range senders.rows {
			system := fmt.Sprintf("%06d ", i) + systemPrompts[2]
			if shared {
				system = systemPrompts[2]
			}
			senders.rows[i].Turns = []trace.Turn{{Messages: []trace.Message{{Role: "system", Text: system}, {Role: "user", Text: fmt.Sprint(i)}}}}
		}
		rows := talk(150, 3)
		for s := range 150 {
			rows = append(rows, trace.Row{Format: "test", Timed: true, At: int64(s)*1e9 + 5e8, Output: 900, Turns: []trace.Turn{{Messages: []trace.Message{
				{Role: "system", Text: systemOf(s)}, {Role: "user", Text: wording(30_000+s, 700)}}}}})
		}
		if !shared {
			for i := range rows {
				m := slices.Clone(rows[i].Turns[0].Messages)
				m[0].Text = m[1].Text
				rows[i].Turns = []trace.Turn{{Messages: m}}
			}
		}
		slices.SortStableFunc(rows, func(a, b trace.Row) int { return cmp.Compare(a.At, b.At) })
		for name, log := range map[string]*listed{"senders": senders, "chats": {rows}} {
			m, r, err := Fit(t.Context(), log, Options{Tokenizer: words{}})
			if err != nil {
				t.Fatal(err)
			}
			if want := map[bool]int{true: 1, false: 2}[shared]; len(m.Clients) != want {
				t.Errorf("%s, shared %v: %d clients, want %d; %+v", name, shared, len(m.Clients), want, r.Sessions)
			}
		}
	}
}

// By hand: a front of 50 tokens, then turns of 100 with answers of 40.
func TestSampledMessages(t *testing.T) {
	one := func(x float64) stat.Distribution { return stat.Constant(x) }
	m := &traffic.Model{Duration: time.Minute, Clients: []traffic.Client{{Name: "c", Rate: traffic.Curve{Rate: []float64{1}}, Arrival: traffic.Arrival{Process: traffic.Constant},
		Lengths: []traffic.Lengths{{Input: one(100), Output: one(40)}}, Sessions: &traffic.Sessions{Turns: one(2), Think: one(1), Input: one(100), Jump: 1},
		Prefix: &traffic.Prefix{Share: 1, Count: 1, Tokens: one(50)}}}}
	list, err := samplePrompts(m, 16, 1000, 1)
	if err != nil || len(list) < 2 {
		t.Fatal(list, err)
	}
	if d := gocmp.Diff([]int64{50, 150, 190, 290}, list[1].messages); d != "" || list[1].input != 290 {
		t.Error(d)
	}
}

// Later turns of a conversation that is one row have no front.
func TestTurnsHaveNoFront(t *testing.T) {
	l := newLog(Options{Tokenizer: words{}})
	for _, r := range asConversations(2)[:40] {
		r.Turns[0].Messages[1].Text = "what now"
		if err := l.add(&r); err != nil {
			t.Fatal(err)
		}
	}
	for i, f := range l.front {
		if i%2 == 1 && f != 0 {
			t.Errorf("turn %d has front %d", i, f)
		}
	}
}
