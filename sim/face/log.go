package face

import (
	"encoding/json"
	"io"
	"sync"

	"github.com/tokamak-bench/tokamak/sim/core"
)

// requestLog writes one JSON line for each request that has ended.
type requestLog struct {
	mu sync.Mutex
	w  io.Writer
}

// entry is a line. Moments are Unix ns unless their name says otherwise; what
// was not reached is absent.
type entry struct {
	RequestID    string      `json:"request_id"` // the client's X-Request-Id
	ID           string      `json:"id,omitempty"`
	Status       int         `json:"status"`
	ArrivalUnix  int64       `json:"arrival_unix_ns"`
	ArrivalMono  int64       `json:"arrival_ns"` // since the server's start
	PromptTokens int64       `json:"prompt_tokens,omitempty"`
	OutputTokens int64       `json:"output_tokens,omitempty"`
	Cached       int64       `json:"cached_tokens,omitempty"`
	Preempted    int64       `json:"preemptions,omitempty"`
	Queue        *int64      `json:"queue_ns,omitempty"`
	Prefill      *int64      `json:"prefill_ns,omitempty"`
	Decode       *int64      `json:"decode_ns,omitempty"`
	FirstToken   *int64      `json:"first_token_at,omitempty"` // in the engine
	LastToken    *int64      `json:"last_token_at,omitempty"`
	FirstWritten *int64      `json:"first_written_at,omitempty"` // before the write
	LastWritten  *int64      `json:"last_written_at,omitempty"`
	Ended        *int64      `json:"ended_at,omitempty"`
	Finish       core.Finish `json:"finish,omitempty"`
	Written      []int64     `json:"token_written_at,omitempty"`
}

func (l *requestLog) refused(x *Exchange, status int) {
	if l.w != nil {
		l.write(&entry{RequestID: x.requestID, Status: status, ArrivalUnix: x.unix(x.arrived), ArrivalMono: x.arrived})
	}
}

func (l *requestLog) ended(x *Exchange) {
	if l.w == nil {
		return
	}
	e := &entry{RequestID: x.requestID, ID: x.ID, Status: 200, ArrivalUnix: x.unix(x.arrived), ArrivalMono: x.arrived, Written: x.written}
	n := x.ask.answers()
	for i := range x.Choices {
		st := &x.Choices[i].request.Stats
		if i%n == 0 {
			e.PromptTokens += st.Prompt
			e.Cached += st.Cached
		}
		e.OutputTokens += st.Output
		e.Preempted += st.Preempted
	}
	st := &x.Choices[0].request.Stats
	e.Finish = st.Finish
	e.Ended = new(x.unix(st.Ended))
	if st.Output > 0 || st.Scheduled > 0 {
		e.Queue = new(st.Scheduled - st.Queued)
	}
	if st.Output > 0 {
		e.Prefill, e.Decode = new(st.FirstToken-st.Scheduled), new(st.LastToken-st.FirstToken)
		e.FirstToken, e.LastToken = new(x.unix(st.FirstToken)), new(x.unix(st.LastToken))
	}
	if x.first > 0 {
		e.FirstWritten, e.LastWritten = new(x.first), new(x.last)
	}
	l.write(e)
}

// write appends a line in one write, so that lines of a killed process are whole.
func (l *requestLog) write(e *entry) {
	line, err := json.Marshal(e)
	if err != nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	_, _ = l.w.Write(append(line, '\n'))
}

func (x *Exchange) unix(at int64) int64 { return x.service.epoch.UnixNano() + at }
