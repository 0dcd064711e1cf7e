package workload

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tokamak-bench/tokamak/workload/trace"
)

// prompt is what a request sends, as the ids and lengths of its blocks.
func prompt(q *Request) []Block {
	var list []Block
	for _, m := range q.Messages {
		list = append(list, m.Blocks...)
	}
	return list
}

// Rows of new text alone are sent behind what their session said before; rows
// of whole prompts as they are. Both share their front, block by block.
func TestTurnsOfTraces(t *testing.T) {
	delta := `{"session_id":"a","timestamp":0,"input_length":1100,"output_length":40,"hash_ids":[1,2,3]}
{"session_id":"b","timestamp":10,"input_length":600,"output_length":20,"hash_ids":[1,9]}
{"session_id":"a","timestamp":5000,"input_length":700,"output_length":30,"hash_ids":[4,5]}
{"session_id":"a","timestamp":9000,"input_length":90,"output_length":10,"hash_ids":[6]}
`
	list, _ := firsts(t, Config{Dataset: content(delta)})
	first, third, last := prompt(list[0]), prompt(list[2]), prompt(list[3])
	if len(third) != 6 || !slices.Equal(third[:3], first) || third[3].Tokens != 40 || third[4].Tokens != 512 || third[5].Tokens != 188 {
		t.Errorf("second turn: %v", third)
	}
	if len(last) != 8 || !slices.Equal(last[:6], third) || last[6].Tokens != 30 {
		t.Errorf("third turn: %v", last)
	}
	roles := ""
	for _, m := range list[3].Messages {
		roles += m.Role + " "
	}
	if roles != "user assistant user assistant user " {
		t.Error(roles)
	}
	for i, want := range []struct{ input, shared, turn int64 }{{1100, 0, 0}, {600, 512, 0}, {1840, 1100, 1}, {1960, 1840, 2}} {
		q := list[i]
		if q.InputTokens != want.input || q.SharedTokens != want.shared || q.Turn != want.turn || promptTokens(q) != want.input {
			t.Errorf("row %d: %d in, %d shared, turn %d, want %+v", i, q.InputTokens, q.SharedTokens, q.Turn, want)
		}
	}

	cumulative := `{"session_id":"a","timestamp":0,"input_length":1100,"output_length":40,"hash_ids":[1,2,3]}
{"session_id":"a","timestamp":5000,"input_length":1840,"output_length":40,"hash_ids":[1,2,4,5]}
`
	list, _ = firsts(t, Config{Dataset: content(cumulative)})
	if q := list[1]; q.InputTokens != 1840 || q.SharedTokens != 1024 || len(q.Messages) != 1 || q.Turn != 1 || q.SessionID != "a" {
		t.Errorf("%+v", q)
	}
}

// The third turn's 1840 shared tokens above are 1100 + 40 + 700: the answer
// that stands in for the recorded one is sent a second time with the third.

// Bailian's blocks are of 16 tokens, and its chains share their fronts.
func TestBailianChain(t *testing.T) {
	list, _ := firsts(t, Config{Dataset: content(`{"chat_id":1,"parent_chat_id":-1,"timestamp":61.1,"input_length":37,"output_length":24,"type":"text","turn":1,"hash_ids":[89,90,91]}
{"chat_id":2,"parent_chat_id":1,"timestamp":71.1,"input_length":83,"output_length":54,"type":"text","turn":2,"hash_ids":[89,90,92,93,94,95]}
`)})
	q := list[1]
	if q.SharedTokens != 32 || q.InputTokens != 83 || q.Turn != 1 || q.SourceID != "2" || q.Class != "text" || prompt(q)[0] != (Block{prompt(list[0])[0].ID, 16}) {
		t.Errorf("%+v", q)
	}
}

// Blocks of a length that was told.
func TestBlockTokens(t *testing.T) {
	d := content(`{"timestamp":0,"input_length":100,"output_length":1,"hash_ids":[1,2,3,4]}`)
	if _, err := Schedule(d, 0, 1); err == nil || !strings.Contains(err.Error(), "say of how many with --block-tokens (from 25 to 33 would fit)") {
		t.Error(err)
	}
	d.Reading.BlockTokens = 32
	list, _ := firsts(t, Config{Dataset: d})
	if got := prompt(list[0]); len(got) != 4 || got[3].Tokens != 4 {
		t.Errorf("%v", got)
	}
}

// Rows that cannot be sent as they were are counted and named.
func TestNotes(t *testing.T) {
	d := content("Timestamp,Model,Request tokens,Response tokens,Log Type\n5,m,472,18,x\n6,m,100,0,x\n7,m,100,0,x\n")
	list, s := firsts(t, Config{Dataset: d})
	want := []string{"2 rows of the dataset failed when recorded: sent without a length to ask for"}
	if diff := cmp.Diff(want, s.(Noter).Notes()); diff != "" || len(list) != 3 || list[1].OutputTokens != 0 || list[1].InputTokens != 100 {
		t.Errorf("%d rows: %s", len(list), diff)
	}
	_, s = firsts(t, Config{Dataset: content("TIMESTAMP,NumImages,ContextTokens,GeneratedTokens\n2025-03-12 00:00:00.1,3,10,5\n2025-03-12 00:00:00.2,0,10,5\n")})
	if diff := cmp.Diff([]string{"2 moments without a zone: taken as UTC", "1 row of the dataset with images or sound known by number alone: sent with made-up ones of that number, images of 512x512 pixels unless a row says a size, sounds of 5s"}, s.(Noter).Notes()); diff != "" {
		t.Error(diff)
	}
	line := `{"start_time":"2026-03-01T00:00:0%dZ","method":"POST","path":"/v1/chat/completions","response_code":200,"duration":10%s}` + "\n"
	mixed := fmt.Sprintf(line, 0, `,"input_token":5`) + fmt.Sprintf(line, 1, "")
	list, s = firsts(t, Config{Dataset: content(mixed)})
	if diff := cmp.Diff([]string{"1 row of the dataset with neither content nor a length: not sent"}, s.(Noter).Notes()); diff != "" || len(list) != 1 {
		t.Errorf("%d: %s", len(list), diff)
	}
	get := `{"start_time":"2026-03-01T00:00:00Z","method":"GET","path":"/metrics","response_code":200,"duration":1}` + "\n"
	_, s = firsts(t, Config{Dataset: content(fmt.Sprintf(line, 0, `,"input_token":5`) + get + get)})
	if diff := cmp.Diff([]string{"2 lines of the dataset with no request to be sent, such as other paths and spans: passed over"}, s.(Noter).Notes()); diff != "" {
		t.Error(diff)
	}
	if _, err := Schedule(content(fmt.Sprintf(line, 1, "")), 0, 1); err == nil || !strings.Contains(err.Error(), "none of its 1 rows has content or a length") {
		t.Error(err)
	}
}

// Lines of a log come when requests end: they are sent in the order in which
// they began, and moments stay with their rows.
func TestLogsAreOrdered(t *testing.T) {
	var data strings.Builder
	for i := range 200 {
		fmt.Fprintf(&data, `{"start_time":"2026-03-01T00:00:%02d.%03dZ","method":"POST","path":"/v1/chat/completions","response_code":"200","duration":"9","input_token":"%d"}`+"\n",
			(i*37%200)/10, (i*37%200)%10, i*37%200+1)
	}
	at, err := Schedule(content(data.String()), 0, 1)
	if err != nil {
		t.Fatal(err)
	}
	list, _ := firsts(t, Config{Dataset: content(data.String())})
	for i, q := range list {
		if q.InputTokens != int64(i+1) || at[i] != int64(i/10)*1e9+int64(i%10)*1e6 {
			t.Fatalf("request %d has %d tokens, at %d", i, q.InputTokens, at[i])
		}
	}
	if len(list) != 200 || len(at) != 200 {
		t.Errorf("%d requests, %d moments", len(list), len(at))
	}
}

// Rows of standard input under a load of its own are not held back for order.
func TestLogsFromAPipeAreFollowed(t *testing.T) {
	r, w := io.Pipe()
	go func() {
		_, _ = io.WriteString(w, `{"start_time":"2026-03-01T00:00:00Z","method":"POST","path":"/v1/completions","response_code":"200","input_token":"7"}`+"\n")
	}()
	s := mustNew(t, Config{Dataset: OpenDataset("-", r)}, 1)
	if session, err := s.Session(0); err != nil {
		t.Error(err)
	} else if q, _ := session.Next(nil); q.InputTokens != 7 {
		t.Errorf("%+v", q)
	}
	_ = w.Close()
	if _, err := s.Session(1); !errors.Is(err, ErrEnd) {
		t.Error(err)
	}
}

// A share of bad lines above the limit ends the reading.
func TestBadShare(t *testing.T) {
	d := content(`{"prompt":"a","at":1}` + "\nbad\n")
	d.Reading.MaxBad = 0
	var share *trace.BadShareError
	if _, err := Schedule(d, 0, 1); !errors.As(err, &share) || share.Bad != 1 || share.Read != 2 {
		t.Error(err)
	}
	d.Reading.MaxBad = 0.5
	if at, err := Schedule(d, 0, 1); err != nil || len(at) != 1 {
		t.Error(at, err)
	}
}

// A log that has a request's body and its length says both.
func TestLengthsOfBodies(t *testing.T) {
	list, _ := firsts(t, Config{Dataset: content(`{"started_at":1767225601000,"request":{"id":"2","uri":"/v1/chat/completions","method":"POST"},"response":{"status":200},"latencies":{"request":2},"ai":{"payload":{"request":"{\"messages\":[{\"role\":\"user\",\"content\":\"hi\"}]}"},"ai-proxy":{"usage":{"prompt_tokens":89,"completion_tokens":56}}}}`)})
	if q := list[0]; q.InputTokens != 89 || q.OutputTokens != 56 || q.Body == nil || len(q.Messages) != 0 {
		t.Errorf("%+v", q)
	}
}

// Sessions that stand one after another in a file run beside each other, and
// equal ids of different sessions are different text.
func TestSessionsOfAgentsInterleave(t *testing.T) {
	data := `{"id":"a","block_size":64,"requests":[{"t":0,"in":64,"out":1,"hash_ids":[0]},{"t":10,"in":128,"out":1,"hash_ids":[0,1]}]}
{"id":"b","block_size":64,"requests":[{"t":5,"in":64,"out":1,"hash_ids":[0]},{"t":15,"in":120,"out":1,"hash_ids":[0,1]}]}
`
	at, err := Schedule(content(data), 0, 1)
	if diff := cmp.Diff([]int64{0, 5e9, 10e9, 15e9}, at); err != nil || diff != "" {
		t.Fatal(err, diff)
	}
	list, _ := firsts(t, Config{Dataset: content(data)})
	var got []string
	for _, q := range list {
		got = append(got, fmt.Sprint(q.SessionID, q.Turn, " ", q.InputTokens, " ", q.SharedTokens))
	}
	if diff := cmp.Diff([]string{"a0 64 0", "b0 64 0", "a1 128 64", "b1 120 64"}, got); diff != "" {
		t.Error(diff)
	}
}
