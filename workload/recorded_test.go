package workload

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tokamak-bench/tokamak/stat"
	"github.com/tokamak-bench/tokamak/workload/trace"
)

func content(s string) *Dataset {
	return &Dataset{Name: "data", KeepNames: true, Reading: trace.Options{MaxBad: 1}, Open: func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(s)), nil }}
}

// first returns the first requests of a dataset's sessions, and the source.
func firsts(t testing.TB, c Config) ([]*Request, Source) {
	t.Helper()
	s := mustNew(t, c, 1)
	var list []*Request
	for i := int64(0); ; i++ {
		session, err := s.Session(i)
		if errors.Is(err, ErrEnd) {
			return list, s
		}
		if err != nil {
			t.Fatal(err)
		}
		r, ok := session.Next(nil)
		if !ok {
			t.Fatalf("session %d is empty", i)
		}
		list = append(list, r)
	}
}

func TestJSONLines(t *testing.T) {
	data := "\xef\xbb\xbf\n" + `{"messages":[{"role":"system","content":"s"},{"role":"user","content":"u"}],"output_tokens":5,"class":"c","tenant":"t","session_id":"k","id":"a"}` + "\r\n" +
		`{"prompt":"p","max_tokens":6,"id":12}` + "\n\n" +
		`{"body":{"input":[1,2]},"extra":null}` + "\n" +
		`{"messages":[{"role":"user","content":[{"type":"text","text":"x"}]}]}` + "\n" +
		`{"input_tokens":30,"output_tokens":8,"at":1.5}`
	got, _ := firsts(t, Config{Dataset: content(data)})
	want := []*Request{
		{Class: "c", Tenant: "t", SessionID: "k", SourceID: "a", OutputTokens: 5,
			Messages: []Message{{Role: "system", Text: "s"}, {Role: "user", Text: "u"}}},
		{SourceID: "12", OutputTokens: 6, Messages: []Message{{Role: "user", Text: "p"}}},
		{Body: []byte(`{"input":[1,2]}`)},
		{Body: []byte(`{"messages":[{"role":"user","content":[{"type":"text","text":"x"}]}]}`), Open: true},
		{InputTokens: 30, OutputTokens: 8, Messages: []Message{{Role: "user",
			Blocks: []Block{{ID: stat.Key(1^stat.Key(0, "salt", 0), "trace", 4), Tokens: 30}}}}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestBadLinesAreCountedAndNamed(t *testing.T) {
	data := `{"prompt":"good"}
not json
{"prompt":5}
{"prompt":"a","body":{}}
{"nothing":1}
{"input_tokens":0}
{"input_tokens":5,"output_tokens":-1}
{"prompt":"x","at":-2}
{"body":[1]}
{"messages":[]}
{"messages":[{"content":"x"}]}
{"conversations":[{"from":"gpt","value":"x"}]}
{"input_tokens":5,"hash_ids":[1,2]}
{"prompt":"cut off`
	list, s := firsts(t, Config{Dataset: content(data)})
	if len(list) != 1 {
		t.Errorf("%d requests, want 1", len(list))
	}
	n, first := s.(Skipper).Skipped()
	if n != 13 || len(first) != 10 {
		t.Errorf("%d skipped, %d kept", n, len(first))
	}
	var got []string
	for _, e := range first {
		got = append(got, e.Error())
	}
	want := []string{
		`data:2: column 2: not JSON`,
		`data:3: prompt is of the wrong type: expected a text, found a number`,
		`data:4: expected only one of messages, prompt, body, conversations`,
		`data:5: expected one of messages, prompt, body, conversations, input_tokens`,
		`data:6: expected input_tokens from 1 to 10000000, found 0`,
		`data:7: expected output_tokens from 0 to 10000000, found -1`,
		`data:8: expected at to be seconds from the start, at least 0`,
		`data:9: expected body to be an object`,
		`data:10: expected messages to be a list of objects with role and content`,
		`data:11: expected message 1 to have a role`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestDatasetsThatCannotBe(t *testing.T) {
	for says, data := range map[string]string{
		"data: is empty":                       "\n \n",
		"data:1: expected JSON lines":          "some text\n",
		"the first: data:1: column 2":          "{x}\n{y}\n",
		"has no rows":                          "TIMESTAMP,ContextTokens,GeneratedTokens\n",
		"cut short after entry 1":              `[{"prompt":"a"}`,
		"expected JSON lines, a JSON array":    "a,b\n1,2\n",
		"quotes are not closed":                "\"a,b\n1,2\n",
		"longer than 16 MiB":                   `[{"prompt":"` + strings.Repeat("x", 16<<20+100<<10) + `"}]`,
		"the first: data:2: is longer than 16": "\n{" + strings.Repeat("x", 16<<20+10),
	} {
		s, err := New(Config{Dataset: content(data)}, 1)
		for i := int64(0); err == nil; i++ {
			_, err = s.Session(i)
		}
		if errors.Is(err, ErrEnd) || !strings.Contains(err.Error(), says) {
			t.Errorf("want %q, got %v", says, err)
		}
	}
	missing := OpenDataset("/nowhere/at/all", nil)
	if _, err := New(Config{Dataset: missing}, 1); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
}

func TestLongLinesBetweenGoodOnes(t *testing.T) {
	data := `{"prompt":"a"}` + "\n" + `{"prompt":"` + strings.Repeat("x", 200<<10) + `"}` + "\n" +
		"{" + strings.Repeat("x", 16<<20+1) + "}\n" + `{"prompt":"b"}`
	list, s := firsts(t, Config{Dataset: content(data)})
	if n, first := s.(Skipper).Skipped(); n != 1 || first[0].Line != 3 || len(list) != 3 || len(list[1].Messages[0].Text) != 200<<10 {
		t.Errorf("%d requests, %d skipped: %v", len(list), n, first)
	}
}

const shareGPT = `[
 {"id":"one","conversations":[{"from":"system","value":"s"},{"from":"human","value":"q1"},{"from":"gpt","value":"answer one"},
   {"from":"human","value":"q2"},{"from":"gpt","value":"answer number two"}]},
 {"id":"two","conversations":[{"from":"gpt","value":"hello"}]},
 {"id":"three","conversations":[{"from":"gpt","value":"hello"},{"from":"user","value":"q3"}]}
]`

func TestShareGPT(t *testing.T) {
	list, s := firsts(t, Config{Dataset: content(shareGPT), Classes: []Class{{Name: "chat", Output: stat.Constant(33)}}})
	want := []*Request{
		{Class: "chat", SourceID: "one", OutputTokens: 2, Messages: []Message{{Role: "system", Text: "s"}, {Role: "user", Text: "q1"}}},
		{Class: "chat", SourceID: "three", OutputTokens: 33, Messages: []Message{{Role: "user", Text: "q3"}}},
	}
	if diff := cmp.Diff(want, list); diff != "" {
		t.Error(diff)
	}
	if n, first := s.(Skipper).Skipped(); n != 1 || first[0].Error() != "data: entry 2: expected a conversation with a turn of human or user" {
		t.Errorf("%d %v", n, first)
	}
	d := content(shareGPT)
	d.Conversations, d.Count = true, tokenizers()[0]
	turns := playSession(t, mustNew(t, Config{Dataset: d}, 1), 0)
	if len(turns) != 2 || turns[0].OutputTokens != 2 || turns[1].OutputTokens != 3 || turns[1].SessionID != "0" {
		t.Fatalf("%+v", turns)
	}
	history := []Message{{Role: "system", Text: "s"}, {Role: "user", Text: "q1"}, {Role: "assistant", Text: "answer"}, {Role: "user", Text: "q2"}}
	if diff := cmp.Diff(history, turns[1].Messages); diff != "" {
		t.Error(diff)
	}
}

func TestRepeatAndSalt(t *testing.T) {
	d := content(`{"prompt":"p"}` + "\n" + `{"prompt":"q"}`)
	d.Repeat, d.Salt = true, true
	list, _ := firsts(t, Config{Dataset: d, MaxSessions: 5})
	texts := map[string]bool{}
	for i, r := range list {
		text := r.Messages[0].Text
		if texts[text] || len(text) != 18 || text[17:] != []string{"p", "q"}[i%2] {
			t.Errorf("request %d is %q", i, text)
		}
		texts[text] = true
	}
	if len(list) != 5 {
		t.Errorf("%d requests, want 5", len(list))
	}
}

func TestRowsComeInOrder(t *testing.T) {
	s := mustNew(t, Config{Dataset: content(`{"prompt":"p"}`)}, 1)
	if _, err := s.Session(1); err == nil || errors.Is(err, ErrEnd) {
		t.Error(err)
	}
}

func TestTablesOfOtherTools(t *testing.T) {
	for name, data := range map[string]string{
		"BurstGPT": "Timestamp,Session ID,Elapsed time,Model,Request tokens,Response tokens,Total tokens,Log Type\n5,7,1,ChatGPT,472,18,490,Conversation log\n45,7,2,\"Chat,GPT\",1087,230,1317,Conversation log\n",
		"Etalon":   "num_prefill_tokens,num_decode_tokens,num_total_tokens,pd_ratio\n472,18,490,1.5\n1087,230,1,2\n",
		"Mooncake": `{"timestamp": 27000, "input_length": 472, "output_length": 18, "hash_ids": [46]}` + "\n" + `{"timestamp": 67000, "input_length": 1087, "output_length": 230, "hash_ids": [46, 47, 48]}`,
		"own":      "at,input_tokens,output_tokens,class,tenant\n0,472,18,c,t\n40,1087,230,c,t\n",
	} {
		list, s := firsts(t, Config{Dataset: content(data)})
		if len(list) != 2 || list[0].InputTokens != 472 || list[0].OutputTokens != 18 || list[1].InputTokens != 1087 || list[1].OutputTokens != 230 ||
			promptTokens(list[1]) != 1087 {
			n, first := s.(Skipper).Skipped()
			t.Errorf("%s: %+v, %d skipped %v", name, list, n, first)
		}
		at, err := Schedule(content(data), 0, 1)
		if name == "Etalon" {
			if !errors.Is(err, ErrNoTiming) {
				t.Errorf("%s: %v", name, err)
			}
		} else if err != nil || len(at) != 2 || at[0] != 0 || at[1] != 40e9 {
			t.Errorf("%s: %v, %v", name, at, err)
		}
		if name == "Mooncake" && (list[1].SharedTokens != 472 || list[1].Messages[0].Blocks[0].ID != list[0].Messages[0].Blocks[0].ID) {
			t.Errorf("%d tokens shared: %+v", list[1].SharedTokens, list[1].Messages)
		}
	}
}

// at counts from the start, a time stamp from the first row's.
func TestWhereMomentsCountFrom(t *testing.T) {
	for data, want := range map[string][]int64{
		"at,input_tokens\n2,5\n3.5,5\n":                                                {2e9, 35e8},
		"Timestamp,Request tokens\n2,5\n3.5,5\n":                                       {0, 15e8},
		`{"prompt":"a","at":2}` + "\n" + `{"prompt":"b","at":2}`:                       {2e9, 2e9},
		`{"input_length":5,"timestamp":2}` + "\n" + `{"input_length":5,"timestamp":5}`: {0, 3e6},
	} {
		got, err := Schedule(content(data), 0, 1)
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("%q: %v %s", data, err, diff)
		}
	}
}

func TestScheduleErrors(t *testing.T) {
	for says, data := range map[string]string{
		"row 2 has no moment": `{"prompt":"a","at":0}` + "\n" + `{"prompt":"a"}`,
		":5: is at 2s, before the row above it; 3 of 5 rows stand behind one of a later moment: expected rows in order of time: sort the file": "\n" +
			`{"prompt":"a","at":1}` + "\n" + `{"prompt":"a","at":3}` + "\n\n" + `{"prompt":"a","at":2}` + "\n" + `{"prompt":"a","at":1}` + "\n" + `{"prompt":"a","at":2.5}`,
		"no moments":         `{"prompt":"a"}`,
		"column 1: not JSON": "{",
	} {
		if _, err := Schedule(content(data), 0, 1); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("want %q, got %v", says, err)
		}
	}
}

// Jitter spreads stamps that were quantised, keeps their order and their tick,
// and is the same for the same seed.
func TestJitter(t *testing.T) {
	var data strings.Builder
	for i := range 3000 {
		fmt.Fprintf(&data, `{"timestamp":%d,"input_length":5}`+"\n", i/10*3000)
	}
	d := content(data.String())
	d.Jitter = 3 * time.Second
	at, err := Schedule(d, 0, 1)
	if err != nil {
		t.Fatal(err)
	}
	again, _ := Schedule(d, 0, 1)
	if diff := cmp.Diff(at, again); diff != "" {
		t.Error("same seed, different jitter")
	}
	sum := 0.0
	for i, x := range at {
		tick := int64(i/10) * 3e9
		if x < tick || x >= tick+3e9 || i > 0 && x < at[i-1] {
			t.Fatalf("row %d is at %d", i, x)
		}
		sum += float64(x-tick) / 3e9
	}
	if mean := sum / 3000; mean < 0.47 || mean > 0.53 {
		t.Errorf("mean jitter %v of a tick", mean)
	}
}

// Standard input can be read once: its schedule keeps it for its sessions.
func TestScheduleOfStandardInput(t *testing.T) {
	d := OpenDataset("-", strings.NewReader(`{"prompt":"a","at":0}`+"\n"+`{"prompt":"b","at":2}`))
	at, err := Schedule(d, 0, 1)
	if err != nil || len(at) != 2 || at[1] != 2e9 {
		t.Fatalf("%v %v", at, err)
	}
	if list, _ := firsts(t, Config{Dataset: d}); len(list) != 2 || list[1].Messages[0].Text != "b" {
		t.Errorf("%+v", list)
	}
}

// Lines are read as they are asked for: a program that writes requests into a
// pipe is followed, not awaited.
func TestDatasetIsStreamed(t *testing.T) {
	r, w := io.Pipe()
	go func() { _, _ = io.WriteString(w, `{"prompt":"a"}`+"\n") }()
	s := mustNew(t, Config{Dataset: OpenDataset("-", r)}, 1)
	session, err := s.Session(0)
	if err != nil {
		t.Fatal(err)
	}
	if q, _ := session.Next(nil); q.Messages[0].Text != "a" {
		t.Errorf("%+v", q)
	}
	_ = w.Close()
	if _, err := s.Session(1); !errors.Is(err, ErrEnd) {
		t.Error(err)
	}
}

func TestDescribeOfDataset(t *testing.T) {
	s := mustNew(t, Config{Dataset: content("input_tokens,output_tokens\n10,2\n30,4\n")}, 1)
	got, ok := Describe(s, 100)
	if want := (Expected{Requests: 1, InputTokens: 20, OutputTokens: 3, LongestInput: 30}); !ok || got != want {
		t.Errorf("%v %+v", ok, got)
	}
	if _, err := s.Session(0); err != nil {
		t.Errorf("describing used up the dataset: %v", err)
	}
	// 10, an answer of 20 with 15 of reasoning, 5: a second prompt of 35, or of 20
	// where the target is told to reason.
	for told, second := range map[bool]int64{false: 35, true: 20} {
		d := content(`{"session_id":"a","input_tokens":10,"output_tokens":20,"reasoning_tokens":15,"turns":[{"input_tokens":5,"output_tokens":1}]}`)
		d.Reasoning = told
		got, ok := Describe(mustNew(t, Config{Dataset: d}, 1), 1)
		if want := (Expected{Requests: 2, InputTokens: 10 + float64(second), OutputTokens: 21, LongestInput: second}); !ok || got != want {
			t.Errorf("told %v: %v %+v, want %+v", told, ok, got, want)
		}
	}
}

func FuzzDataset(f *testing.F) {
	for _, s := range []string{shareGPT, `{"prompt":"a","at":1}`, `{"messages":[{"role":"user","content":"u"}]}`, `{"body":{"a":1}}` + "\n\n{",
		`{"timestamp":1,"input_length":600,"hash_ids":[1,2]}`, `{"input_tokens":3,"output_tokens":4}`,
		"TIMESTAMP,ContextTokens,GeneratedTokens\n2023-11-16 18:15:46.6805900,374,44\n", "at,input_tokens\n1e9,5\n\"2\",7\n"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		d := content(string(b))
		d.Conversations, d.Salt = true, true
		s, err := New(Config{Dataset: d}, 1)
		n := int64(0)
		for i := int64(0); err == nil; i++ {
			var session Session
			if session, err = s.Session(i); err != nil {
				break
			}
			n++
			var answer *Answer
			for range 5 {
				r, ok := session.Next(answer)
				if !ok {
					break
				}
				if len(r.Messages) == 0 && r.Body == nil || r.InputTokens < 0 || r.OutputTokens < 0 || r.SharedTokens > r.InputTokens && r.InputTokens > 0 {
					t.Fatalf("%q: %+v", b, r)
				}
				answer = &Answer{Text: "x", Tokens: 1}
			}
		}
		at, err := Schedule(content(string(b)), 0, 1)
		if err == nil && int64(len(at)) != n {
			t.Fatalf("%q: %d moments of %d sessions", b, len(at), n)
		}
		for i := range at {
			if at[i] < 0 || i > 0 && at[i] < at[i-1] {
				t.Fatalf("%q: schedule %v", b, at)
			}
		}
	})
}
