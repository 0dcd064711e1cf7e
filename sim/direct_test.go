package sim_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tokamak-bench/tokamak/clock"
	"github.com/tokamak-bench/tokamak/sim"
	"github.com/tokamak-bench/tokamak/sim/face"
	"github.com/tokamak-bench/tokamak/sim/spans"
)

// sockets is a real server on loopback whose steps are short.
type sockets struct {
	t    *testing.T
	addr string
	http *http.Client
	stop func()
}

// narrow gives each connection little room, so that a client that does not read
// is soon noticed.
type narrow struct{ *net.TCPListener }

func (l narrow) Accept() (net.Conn, error) {
	c, err := l.AcceptTCP()
	if err != nil {
		return nil, err
	}
	return c, c.SetWriteBuffer(4096)
}

func onSockets(t *testing.T, parameters string) *sockets {
	return onSocketsWith(t, "num_gpu_blocks=20000&"+parameters, sim.ServeOptions{})
}

func onSocketsWith(t *testing.T, parameters string, so sim.ServeOptions) *sockets {
	t.Helper()
	o, err := sim.ParseTarget("sim://llama3-8b@a100-80g?" + parameters)
	if err != nil {
		t.Fatal(err)
	}
	e := &o.GPU.Efficiency
	o.GPU.BF16, o.GPU.Bandwidth = 1e9, 1e6
	e.StepMicros, e.SeqMicros, e.LayerMicros, e.APIMicros = 200, 0, 0, 10
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	so.Clock = clock.NewReal()
	go func() { ended <- sim.Serve(ctx, narrow{l.(*net.TCPListener)}, o, so) }()
	s := &sockets{t: t, addr: l.Addr().String(), http: &http.Client{Transport: &http.Transport{}}}
	s.stop = sync.OnceFunc(func() {
		s.http.CloseIdleConnections()
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(s.stop)
	return s
}

// raw sends a request as it stands and returns the connection.
func (s *sockets) raw(request string) *net.TCPConn {
	s.t.Helper()
	d := net.Dialer{}
	c, err := d.Dial("tcp", s.addr)
	if err != nil {
		s.t.Fatal(err)
	}
	conn := c.(*net.TCPConn)
	if _, err := io.WriteString(conn, request); err != nil {
		s.t.Fatal(err)
	}
	return conn
}

func request(version, path, body string) string {
	return fmt.Sprintf("POST %s HTTP/%s\r\nHost: sim\r\nContent-Length: %d\r\n\r\n%s", path, version, len(body), body)
}

func (s *sockets) emission() (l face.Lateness) {
	s.t.Helper()
	resp, err := s.http.Get("http://" + s.addr + "/sim/emission")
	if err != nil {
		s.t.Fatal(err)
	}
	defer resp.Body.Close()
	if err := json.NewDecoder(resp.Body).Decode(&l); err != nil {
		s.t.Fatal(err)
	}
	return l
}

// fickle are the parts of an answer that follow from the moment.
var fickle = regexp.MustCompile(`"(created|created_at|[a-z_]*duration|[a-z_]*_ms|[a-z_]*per_second|e2e_latency|queue_time|id|response_id|[a-z_]*timestamp|completed_at)":("[^"]*"|[0-9.e+-]+)`)

// Every face says the same through the emitter as through net/http alone.
func TestTheEmitterWritesWhatTheHandlerWould(t *testing.T) {
	for _, tc := range append(faceGoldens(), struct{ face, name, path, body string }{"triton", "generate_stream", "/v2/models/llama3-8b/generate_stream",
		`{"text_input":"Say hello","max_tokens":5,"stream":true,"return_num_output_tokens":true}`}) {
		t.Run(tc.face+"/"+tc.name, func(t *testing.T) {
			s := onSockets(t, "engine="+tc.face)
			var want string
			serve(t, "sim://llama3-8b@a100-80g?engine="+tc.face, func(s *served) { want = s.read(s.post(s.t.Context(), tc.path, tc.body)) })
			var resp *http.Response
			for { // llama.cpp says 503 until its tokenizer is loaded
				var err error
				if resp, err = s.http.Post("http://"+s.addr+tc.path, "application/json", strings.NewReader(tc.body)); err != nil {
					t.Fatal(err)
				}
				defer resp.Body.Close()
				if resp.StatusCode != http.StatusServiceUnavailable {
					break
				}
				time.Sleep(time.Millisecond)
			}
			got, err := io.ReadAll(resp.Body)
			if err != nil {
				t.Fatal(err)
			}
			strip := func(s string) string { return fickle.ReplaceAllString(s, `"$1":0`) }
			if d := cmp.Diff(strip(want), strip(string(got))); d != "" {
				t.Error(d)
			}
		})
	}
}

const chat = "/v1/chat/completions"

func asking(tokens int, prompt string) string {
	return fmt.Sprintf(`{"messages":[{"role":"user","content":%q}],"max_tokens":%d,"ignore_eos":true,"stream":true}`, prompt, tokens)
}

// whole checks that an event stream has so many content chunks and its end.
func whole(body string, tokens int) error {
	if n := strings.Count(body, `"logprobs":null,"finish_reason":null`) - 1; n != tokens { // one has the role
		return fmt.Errorf("%d content chunks, want %d", n, tokens)
	}
	if !strings.HasSuffix(body, "data: [DONE]\n\n") {
		return fmt.Errorf("no end: %q", body[max(len(body)-80, 0):])
	}
	return nil
}

// A connection is used again after a stream, also by requests that were sent
// before the stream had ended.
func TestRequestsFollowEachOther(t *testing.T) {
	s := onSockets(t, "")
	conn := s.raw(request("1.1", chat, asking(20, "a")) + request("1.1", chat, asking(3, "b")))
	defer conn.Close()
	r := bufio.NewReader(conn)
	for i, n := range []int{20, 3, 7} {
		if i == 2 {
			if _, err := io.WriteString(conn, request("1.1", chat, asking(n, "c"))); err != nil {
				t.Fatal(err)
			}
		}
		resp, err := http.ReadResponse(r, nil)
		if err != nil {
			t.Fatal(err)
		}
		if len(resp.TransferEncoding) != 1 || resp.Close {
			t.Errorf("transfer coding %v, close %v", resp.TransferEncoding, resp.Close)
		}
		body, err := io.ReadAll(resp.Body)
		if err == nil {
			err = whole(string(body), n)
		}
		if err != nil {
			t.Error(i, err)
		}
	}
	if l := s.emission(); l.Tokens != 30 || l.Writes < 1 || l.Writes > 30 || l.Held != 0 || l.Late == nil || l.Late.Max < l.Late.P50 || l.Late.P50 <= 0 {
		t.Errorf("%+v, late %+v", l, l.Late)
	}
}

// HTTP/1.0 knows no chunks: the body ends with the connection.
func TestAStreamOverHTTP10(t *testing.T) {
	s := onSockets(t, "")
	conn := s.raw(request("1.0", chat, asking(10, "a")))
	defer conn.Close()
	all, err := io.ReadAll(conn)
	if err != nil {
		t.Fatal(err)
	}
	head, body, _ := strings.Cut(string(all), "\r\n\r\n")
	if strings.Contains(strings.ToLower(head), "chunked") {
		t.Error(head)
	}
	if err := whole(body, 10); err != nil || !strings.HasPrefix(body, "data: {") {
		t.Error(err, body[:20])
	}
}

// A client that does not read gets its answer when it does, whole; meanwhile
// others get theirs.
func TestAClientThatDoesNotRead(t *testing.T) {
	s := onSockets(t, "")
	const long = 3000
	conn := s.raw(request("1.1", chat, asking(long, "slow")))
	defer conn.Close()
	for s.emission().Tokens < 10 {
		time.Sleep(time.Millisecond)
	}
	for i := range 3 {
		resp, err := s.http.Post("http://"+s.addr+chat, "application/json", strings.NewReader(asking(200, fmt.Sprint(i))))
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		if err == nil {
			err = whole(string(body), 200)
		}
		if err != nil {
			t.Error(err)
		}
	}
	for !strings.Contains(s.page("/metrics"), `vllm:num_requests_running{engine="0",model_name="llama3-8b"} 0`) {
		time.Sleep(time.Millisecond) // the engine has long done with it
	}
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(resp.Body)
	if err == nil {
		err = whole(string(body), long)
	}
	if err != nil {
		t.Error(err)
	}
	if l := s.emission(); l.Held == 0 || l.Tokens+l.Held != long+600 {
		t.Errorf("%d tokens and %d held of %d", l.Tokens, l.Held, long+600)
	}
}

func (s *sockets) page(path string) string {
	s.t.Helper()
	resp, err := s.http.Get("http://" + s.addr + path)
	if err != nil {
		s.t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	return string(b)
}

// Clients that go, at any moment and whether they read or not, end their
// requests, and the others' answers are whole.
func TestClientsThatGo(t *testing.T) {
	s := onSockets(t, "max_num_seqs=8") // some leave while they wait
	var wg sync.WaitGroup
	const clients = 32
	for i := range clients {
		wg.Go(func() {
			length := 400
			if i%4 == 2 {
				length = 1500 // more than the connection holds
			}
			conn := s.raw(request("1.1", chat, asking(length, fmt.Sprint(i))))
			defer conn.Close()
			switch i % 4 {
			case 0: // goes without a word
				time.Sleep(time.Duration(rand.IntN(20)) * time.Millisecond)
				return
			case 1: // goes after some bytes
				_, _ = io.CopyN(io.Discard, conn, int64(rand.IntN(20000)))
				return
			}
			r := io.Reader(conn)
			if i%4 == 2 {
				r = slowly{conn}
			}
			resp, err := http.ReadResponse(bufio.NewReader(r), nil)
			if err != nil {
				t.Error(err)
				return
			}
			body, err := io.ReadAll(resp.Body)
			if err == nil {
				err = whole(string(body), length)
			}
			if err != nil {
				t.Error(i, err)
			}
		})
	}
	wg.Wait()
	for i := 0; !strings.Contains(s.page("/load"), `"server_load":0`); i++ {
		if i == 5000 {
			t.Fatal("requests of clients that went are still there")
		}
		time.Sleep(time.Millisecond)
	}
	aborted := regexp.MustCompile(`request_success_total\{engine="0",finished_reason="abort",model_name="llama3-8b"\} (\d+)`).FindStringSubmatch(s.page("/metrics"))
	if len(aborted) != 2 || aborted[1] == "0" {
		t.Error("nothing was aborted")
	}
}

// slowly reads in small pieces with pauses.
type slowly struct{ net.Conn }

func (s slowly) Read(b []byte) (int, error) {
	if rand.IntN(8) == 0 {
		time.Sleep(time.Millisecond)
	}
	return s.Conn.Read(b[:min(len(b), 700)])
}

// A process that dies resets streams under way, those that nobody reads too.
func TestDeathUnderStreams(t *testing.T) {
	s := onSockets(t, "fault=crash:at%3D30ms,restart%3D0")
	var wg sync.WaitGroup
	for i := range 6 {
		wg.Go(func() {
			conn := s.raw(request("1.1", chat, asking(7000, fmt.Sprint(i))))
			defer conn.Close()
			if i%2 == 0 {
				time.Sleep(60 * time.Millisecond)
			}
			if _, err := io.ReadAll(conn); err == nil {
				t.Error("the connection ended in peace")
			}
		})
	}
	wg.Wait()
}

// Serve ends within its time though clients neither read nor go.
func TestTheEndUnderStreams(t *testing.T) {
	s := onSockets(t, "")
	for i := range 4 {
		conn := s.raw(request("1.1", chat, asking(7000, fmt.Sprint(i))))
		defer conn.Close()
	}
	for s.emission().Tokens < 40 {
		time.Sleep(time.Millisecond)
	}
	s.stop()
}

// Under pressure on the KV cache the metrics, the spans and the clients tell of
// the same preemptions: spans count what the metrics count, and the requests
// that were preempted take longer than the others.
func TestPreemptionsAreSeenEverywhere(t *testing.T) {
	preempted := func(blocks string) (metric, sum float64, waited, smooth []time.Duration) {
		collect := &collector{}
		collectors := httptest.NewServer(collect)
		defer collectors.Close()
		exporter, err := spans.New(collectors.URL, "test")
		if err != nil {
			t.Fatal(err)
		}
		s := onSocketsWith(t, "max_model_len=1000&num_gpu_blocks="+blocks, sim.ServeOptions{Spans: exporter})
		var mu sync.Mutex
		took := map[string]time.Duration{}
		var wg sync.WaitGroup
		for i := range 8 {
			wg.Go(func() {
				start := time.Now()
				r, _ := http.NewRequest(http.MethodPost, "http://"+s.addr+chat, strings.NewReader(asking(600, fmt.Sprint(i))))
				r.Header.Set("X-Request-Id", fmt.Sprint("r", i))
				resp, err := s.http.Do(r)
				if err != nil {
					t.Error(err)
					return
				}
				defer resp.Body.Close()
				body, err := io.ReadAll(resp.Body)
				if err == nil {
					err = whole(string(body), 600)
				}
				if err != nil {
					t.Error(err)
				}
				mu.Lock()
				defer mu.Unlock()
				took[fmt.Sprint("chatcmpl-r", i)] = time.Since(start)
			})
		}
		wg.Wait()
		page := s.page("/metrics")
		m := regexp.MustCompile(`num_preemptions_total\{[^}]*\} (\d+)`).FindStringSubmatch(page)
		if len(m) != 2 {
			t.Fatal(page)
		}
		metric, _ = strconv.ParseFloat(m[1], 64)
		s.stop()
		if err := exporter.Close(context.Background()); err != nil {
			t.Fatal(err)
		}
		for _, sp := range collect.spans {
			n, id := 0.0, ""
			list, _ := sp["attributes"].([]any)
			for _, a := range list {
				a, _ := a.(map[string]any)
				v, _ := a["value"].(map[string]any)
				switch a["key"] {
				case "sim.preemptions":
					n, _ = strconv.ParseFloat(fmt.Sprint(v["intValue"]), 64)
				case "gen_ai.request.id":
					id = fmt.Sprint(v["stringValue"])
				}
			}
			if sum += n; n > 0 {
				waited = append(waited, took[id])
			} else {
				smooth = append(smooth, took[id])
			}
		}
		return metric, sum, waited, smooth
	}
	if metric, sum, waited, smooth := preempted("20000"); metric != 0 || sum != 0 || len(waited) != 0 || len(smooth) != 8 {
		t.Errorf("with room: %v preemptions in metrics, %v in spans, %d of 8 requests smooth", metric, sum, len(smooth))
	}
	metric, sum, waited, smooth := preempted("160") // 8 answers need 304
	if metric == 0 || metric != sum || len(waited) == 0 || len(smooth) == 0 {
		t.Fatalf("%v preemptions in metrics, %v in spans; %d requests waited, %d did not", metric, sum, len(waited), len(smooth))
	}
	if slices.Min(waited) <= slices.Min(smooth) || slices.Max(waited) <= slices.Max(smooth) {
		t.Errorf("preempted requests took %v, the others %v", waited, smooth)
	}
}
