package scenario

// Flags are the settings as words on a command line. The struct is the one list of
// all settings: the name tag is flag and YAML key, the section tag the
// top-level YAML key under which it stands. The other tags are for the
// command line's help. A nil field was not given.
type Flags struct {
	URL          []string `name:"url" section:"target" sep:"none" placeholder:"URL" group:"target" help:"Base URL, repeatable; or sim://MODEL@GPU for the built-in engine."`
	Against      *string  `name:"against" section:"target" placeholder:"URL" group:"target" help:"Second target: both in turns, in pairs of blocks with the same requests, ending in a comparison."`
	API          *string  `name:"api" section:"target" placeholder:"API" group:"target" help:"openai-chat (default) or openai-completions."`
	Model        *string  `name:"model" section:"target" placeholder:"NAME" group:"target" help:"Model to ask for; default: the only one the target has."`
	NoStream     *bool    `name:"no-stream" section:"target" group:"target" help:"Ask for whole answers."`
	Header       []string `name:"header" section:"target" sep:"none" placeholder:"'K: V'" group:"target" help:"Header field to add; V may be env:VAR. Repeatable."`
	APIKeyEnv    *string  `name:"api-key-env" section:"target" placeholder:"VAR" group:"target" help:"Environment variable with the API key (default OPENAI_API_KEY)."`
	APIKeyFile   *string  `name:"api-key-file" section:"target" placeholder:"FILE" group:"target" help:"File with the API key."`
	AuthHeader   *string  `name:"auth-header" section:"target" placeholder:"NAME" group:"target" help:"Header that carries the key as it is (default: Authorization: Bearer KEY)."`
	AuthCommand  *string  `name:"auth-command" section:"target" placeholder:"CMD" group:"target" help:"Command whose output is the key."`
	CA           *string  `name:"ca" section:"target" placeholder:"FILE" group:"target" help:"PEM file of certificate authorities to trust."`
	Cert         *string  `name:"cert" section:"target" placeholder:"FILE" group:"target" help:"PEM file of the client certificate."`
	Key          *string  `name:"key" section:"target" placeholder:"FILE" group:"target" help:"PEM file of the client key."`
	Insecure     *bool    `name:"insecure" section:"target" group:"target" help:"Do not check the server's certificate."`
	Proxy        *string  `name:"proxy" section:"target" placeholder:"URL" group:"target" help:"Proxy; default: the environment, as curl reads it."`
	NoProxy      *string  `name:"no-proxy" section:"target" placeholder:"LIST" group:"target" help:"Hosts reached without proxy."`
	Connections  *string  `name:"connections" section:"target" placeholder:"warm|fresh|N" group:"target" help:"Keep connections (default), open one a request, or keep at most N idle."`
	HTTP2        *bool    `name:"http2" section:"target" group:"target" help:"Speak HTTP/2."`
	Timeout      *string  `name:"timeout" section:"target" placeholder:"D" group:"target" help:"Limit on a whole request (default 10m)."`
	TimeConnect  *string  `name:"timeout-connect" section:"target" placeholder:"D" group:"target" help:"Limit on connecting, TLS included (default 10s)."`
	TimeByte     *string  `name:"timeout-first-byte" section:"target" placeholder:"D" group:"target" help:"Limit from the sent request to the first byte (default 2m)."`
	TimeToken    *string  `name:"timeout-first-token" section:"target" placeholder:"D" group:"target" help:"Limit from the sent request to the first token (default 2m)."`
	TimeStall    *string  `name:"timeout-stall" section:"target" placeholder:"D" group:"target" help:"Limit between two events of a stream (default 1m)."`
	Retries      *string  `name:"retries" section:"target" placeholder:"N" group:"target" help:"Send a failed request again, up to N times (default 0)."`
	Backoff      *string  `name:"backoff" section:"target" placeholder:"D[..D]" group:"target" help:"Pause before a retry: 1s; 500ms..30s doubles (default); ,factor=3 ,jitter=0.5 ,heedless."`
	RetryOn      *string  `name:"retry-on" section:"target" placeholder:"LIST" group:"target" help:"Failures to retry: rejected,error,connection (default), timeout, broken, abandoned."`
	WaitReady    *string  `name:"wait-ready" section:"target" placeholder:"D" group:"target" help:"Wait up to D for the target to answer before the start."`
	Virtual      *bool    `name:"virtual" section:"target" group:"target" help:"With sim:// only: virtual time, no sockets."`
	GPUs         *string  `name:"gpus" section:"target" placeholder:"N" group:"target" help:"Accelerators behind the target, for figures per GPU."`
	InputTokens  *string  `name:"input-tokens" section:"workload" placeholder:"DIST" group:"workload" help:"Prompt length: 512, uniform:128..512, lognormal:mean=512,cv=0.8, … (default 256)."`
	OutputTokens *string  `name:"output-tokens" section:"workload" placeholder:"DIST" group:"workload" help:"Answer length, the same way (default 128)."`
	OutputMode   *string  `name:"output-mode" section:"workload" placeholder:"exact|cap" group:"workload" help:"exact (default): ignore_eos and min_tokens where the server takes them; cap: max_tokens only."`
	Dataset      *string  `name:"dataset" section:"workload" placeholder:"FILE|-" group:"workload" help:"Requests from a file or standard input."`
	Format       *string  `name:"dataset-format" aliases:"format" section:"workload" placeholder:"NAME" group:"workload" help:"Format of the dataset, where its content does not tell; see docs/traces.md."`
	Mapping      *string  `name:"dataset-map" aliases:"map" section:"workload" placeholder:"FILE" group:"workload" help:"Mapping file for a dataset of JSON lines of any other form."`
	RowTurns     *string  `name:"dataset-turns" section:"workload" placeholder:"delta|cumulative" group:"workload" help:"What the rows of one session hold: their new text, or the whole prompt (default: told by their blocks)."`
	BlockTokens  *string  `name:"block-tokens" section:"workload" placeholder:"N" group:"workload" help:"Length of the blocks that a dataset names (default: its format's own)."`
	MaxBad       *string  `name:"max-bad" section:"workload" placeholder:"SHARE" group:"workload" help:"Share of a dataset's lines that may be unusable (default 1%)."`
	Traffic      *string  `name:"traffic" section:"workload" placeholder:"FILE" group:"workload" help:"Sessions of a traffic model, at its own moments unless another load is given; see docs/traffic.md."`
	Scale        *string  `name:"scale" section:"workload" placeholder:"X" group:"workload" help:"Multiply the traffic model's rates (default 1)."`
	ScaleBy      *string  `name:"scale-by" section:"workload" placeholder:"rate|clients" group:"workload" help:"What scale multiplies: each client's rate (default), bursts kept, or the number of clients."`
	PrefixTokens *string  `name:"prefix-tokens" section:"workload" placeholder:"N" group:"workload" help:"Tokens at the front that all prompts share."`
	Text         *string  `name:"text" section:"workload" placeholder:"TEXT" group:"workload" help:"What synthetic texts are written of: plain (default), english, chinese, chat, code, json, mixed, FILE, markov:FILE, llm:URL."`
	Images       *string  `name:"images" section:"workload" placeholder:"DIST" group:"workload" help:"Images in each turn's message."`
	ImageSize    *string  `name:"image-size" section:"workload" placeholder:"WxH" group:"workload" help:"Size of images in pixels (default 512x512)."`
	ImageFormat  *string  `name:"image-format" section:"workload" placeholder:"jpeg|png" group:"workload" help:"Format of images (default jpeg)."`
	ImageBytes   *string  `name:"image-bytes" section:"workload" placeholder:"N" group:"workload" help:"Length of an image's file (default: what the picture takes)."`
	Audio        *string  `name:"audio" section:"workload" placeholder:"DIST" group:"workload" help:"Sound in each turn's message, e.g. 5s, uniform:2s..20s."`
	Tools        *string  `name:"tools" section:"workload" placeholder:"N" group:"workload" help:"Definitions of tools sent with each request."`
	ToolTokens   *string  `name:"tool-tokens" section:"workload" placeholder:"N" group:"workload" help:"Length of each definition (default: about a hundred)."`
	Turns        *string  `name:"turns" section:"workload" placeholder:"DIST" group:"workload" help:"Turns of each conversation; each sends all that went before (default 1)."`
	Whole        *bool    `name:"conversations" section:"workload" group:"workload" help:"Send a dataset's conversations turn by turn, with the live answers."`
	Repeat       *bool    `name:"repeat" section:"workload" group:"workload" help:"Begin a dataset again after its end."`
	KeepNames    *bool    `name:"keep-names" section:"workload" group:"workload" help:"Keep a dataset's names of tenants and sessions; else they become tenant-1, session-1, …."`
	Salt         *bool    `name:"salt" section:"workload" group:"workload" help:"Put noise in front of a dataset's texts, so that no cache knows them."`
	Jitter       *string  `name:"jitter" section:"workload" placeholder:"D" group:"workload" help:"Spread a dataset's moments by up to D, for stamps that are quantised."`
	Patience     *string  `name:"patience" section:"workload" placeholder:"DIST" group:"workload" help:"After how long a user gives up on an answer, e.g. 10s, exp:mean=20s."`
	Temperature  *string  `name:"temperature" section:"workload" placeholder:"T" group:"workload" help:"Sampling temperature."`
	Reasoning    *string  `name:"reasoning" section:"workload" placeholder:"SWITCH" group:"workload" help:"How to ask for the reasoning of a traffic model or of a dataset's rows: enable_thinking (chat_template_kwargs), reasoning_effort=ON/OFF (default: not at all)."`
	Tokenizer    *string  `name:"tokenizer" section:"workload" placeholder:"NAME|FILE" group:"workload" help:"What counts tokens: builtin (default), tiktoken:ENCODING, server, estimate, or the file of a tokenizer.json, SentencePiece model or tekken.json."`
	ChatTemplate *string  `name:"chat-template" section:"workload" placeholder:"auto|none|FILE" group:"workload" help:"Chat template that prompts are counted with: beside the tokenizer's file or the server's own (auto, default), none, or a file."`
	Body         *string  `name:"body" section:"workload" placeholder:"JSON" group:"workload" help:"Fields merged into each request body."`
	Rate         *string  `name:"rate" section:"load" placeholder:"R" group:"load" help:"Open loop: requests/s."`
	Arrival      *string  `name:"arrival" section:"load" placeholder:"PROCESS" group:"load" help:"poisson (default), constant, gamma:cv=2."`
	Concurrency  *string  `name:"concurrency" section:"load" placeholder:"N" group:"load" help:"Closed loop: N users."`
	Think        *string  `name:"think" section:"load" placeholder:"DIST" group:"load" help:"Closed loop: pause of a user between sessions, e.g. 2s, exp:mean=2s."`
	Adapt        *string  `name:"adapt" section:"load" placeholder:"RULE" group:"load" help:"Closed loop: fewer users under way as latency grows, halved per step: e2e.p95/50ms."`
	ReadRate     *string  `name:"read-rate" section:"load" placeholder:"R" group:"load" help:"Tokens of an answer that a user reads a second before going on."`
	Stages       *string  `name:"stages" section:"load" placeholder:"LIST" group:"load" help:"Levels in turn: rate=5:30s,rate=20:30s."`
	Duration     *string  `name:"duration" section:"load" placeholder:"D" group:"load" help:"How long to send (default 30s)."`
	Requests     *string  `name:"requests" section:"load" placeholder:"N" group:"load" help:"How many requests to send."`
	Warmup       *string  `name:"warmup" section:"load" placeholder:"D|Nreq" group:"load" help:"What the steady block leaves out at its start (default: found)."`
	Drain        *string  `name:"drain" section:"load" placeholder:"D" group:"load" help:"How long requests in flight may go on after the end (default 1m)."`
	MaxInFlight  *string  `name:"max-in-flight" section:"load" placeholder:"N" group:"load" help:"Hold requests back at N in flight; the wait counts."`
	Speed        *string  `name:"speed" section:"load" placeholder:"X" group:"load" help:"Replay a dataset's own timing X times as fast."`
	Abort        *string  `name:"abort" section:"load" placeholder:"EXPR" group:"load" help:"End early when this holds, e.g. error_rate>50%."`
	MaxTokens    *string  `name:"max-total-tokens" section:"load" placeholder:"N" group:"load" help:"Stop before more than N tokens are spent."`
	StopDecided  *bool    `name:"stop-when-decided" section:"load" group:"load" help:"End as soon as every objective on a percentile is decided."`
	Pairs        *string  `name:"pairs" section:"load" placeholder:"N" group:"load" help:"With --against: how many pairs of blocks (default 8)."`
	Seed         *string  `name:"seed" section:"load" placeholder:"N" group:"load" help:"Seed of every random draw (default 1)."`
	SLO          []string `name:"slo" section:"" sep:"none" placeholder:"EXPR" group:"verdict" help:"Objective, e.g. ttft.p99<800ms. Repeatable, comma separated."`
	Inconclusive *bool    `name:"inconclusive-ok" section:"out" group:"verdict" help:"Exit 0 where there was too little evidence."`
	Name         *string  `name:"name" section:"" placeholder:"NAME" group:"out" help:"Name of the run."`
	Out          *string  `name:"out" section:"out" key:"dir" placeholder:"DIR" group:"out" help:"The run directory itself; none: write nothing (default runs/TIME-NAME)."`
	Tag          []string `name:"tag" section:"out" sep:"none" placeholder:"K=V" group:"out" help:"Label for the manifest. Repeatable."`
	SaveOutputs  *bool    `name:"save-outputs" section:"out" group:"out" help:"Keep the texts of answers."`
}
