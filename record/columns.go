package record

import "unsafe"

// moment, number and word are the commonest columns of an attempt.
func moment(name, doc string, at func(*Attempt) *Int) column[Attempt] {
	return column[Attempt]{"moments", name, "ns", "not reached", doc, optional[Attempt](at)}
}

func number(group, name, unit, null, doc string, at func(*Attempt) *Int) column[Attempt] {
	return column[Attempt]{group, name, unit, null, doc, optional[Attempt](at)}
}

func word(group, name, doc string, at func(*Attempt) *string) column[Attempt] {
	return column[Attempt]{group, name, "", "there is none", doc, text[Attempt](at)}
}

func index(group, name, doc string, at func(*Attempt) *int64) column[Attempt] {
	return column[Attempt]{group, name, "", "", doc, integer[Attempt](at)}
}

// identityColumns say which request an attempt belongs to.
func identityColumns() table[Attempt] {
	const g = "identity"
	return table[Attempt]{
		index(g, "request_id", "Number of the request in the run, from 0.", func(a *Attempt) *int64 { return &a.RequestID }),
		index(g, "attempt", "Number of the sending; 1 is the first.", func(a *Attempt) *int64 { return &a.Attempt }),
		word(g, "class", "Weighted kind of traffic in the workload.", func(a *Attempt) *string { return &a.Class }),
		word(g, "tenant", "Whose traffic it is.", func(a *Attempt) *string { return &a.Tenant }),
		word(g, "session_id", "The conversation it belongs to.", func(a *Attempt) *string { return &a.SessionID }),
		index(g, "turn", "Number of the exchange in its session, from 0.", func(a *Attempt) *int64 { return &a.Turn }),
		word(g, "step", "Step of a pipeline.", func(a *Attempt) *string { return &a.Step }),
		number(g, "user", "", "open loop", "Number of the simulated user.", func(a *Attempt) *Int { return &a.User }),
		index(g, "stage", "Stage of the load, from 0.", func(a *Attempt) *int64 { return &a.Stage }),
		word(g, "target", "The target it was sent to.", func(a *Attempt) *string { return &a.Target }),
		word(g, "worker", "The process that sent it, in a run of several.", func(a *Attempt) *string { return &a.Worker }),
		number(g, "conn_id", "", "no connection", "Number of the connection in the run.", func(a *Attempt) *Int { return &a.ConnID }),
		word(g, "protocol", "`http/1.1`, `h2` or `virtual`.", func(a *Attempt) *string { return &a.Protocol }),
		word(g, "trace_id", "Trace id sent in `traceparent`.", func(a *Attempt) *string { return &a.TraceID }),
		word(g, "server_id", "The server's own id of the response.", func(a *Attempt) *string { return &a.ServerID }),
		word(g, "source_id", "Id in the dataset or log that it came from.", func(a *Attempt) *string { return &a.SourceID }),
	}
}

// sendingMoments are known when the attempt is handed to its target.
func sendingMoments() table[Attempt] {
	return table[Attempt]{
		moment("intended", "When it ought to leave.", func(a *Attempt) *Int { return &a.Intended }),
		moment("dispatched", "When the runner handed it to its target.", func(a *Attempt) *Int { return &a.Dispatched }),
		number("moments", "held", "ns", "it did not wait", "How long it waited for a slot under the asked cap of requests in flight.",
			func(a *Attempt) *Int { return &a.Held }),
	}
}

func laterMoments() table[Attempt] {
	const g = "moments"
	return table[Attempt]{
		moment("conn_start", "When its connection began to be opened; before `intended` for one opened ahead.", func(a *Attempt) *Int { return &a.ConnStart }),
		moment("conn_ready", "When its connection, with TLS, was open.", func(a *Attempt) *Int { return &a.ConnReady }),
		{g, "conn_reused", "", "no connection", "Whether the connection had carried a request before.", truth[Attempt]{
			at:    func(a *Attempt) *bool { return &a.ConnReused },
			known: func(a *Attempt) bool { return a.ConnReady.ok || a.WriteStart.ok }}},
		moment("write_start", "User clock before the first byte is written; `write_start - intended` is the schedule lag.", func(a *Attempt) *Int { return &a.WriteStart }),
		moment("sent", "When the last byte of the request left.", func(a *Attempt) *Int { return &a.Sent }),
		moment("first_byte", "First byte of the response.", func(a *Attempt) *Int { return &a.FirstByte }),
		moment("first_chunk", "First event of the stream that is no comment.", func(a *Attempt) *Int { return &a.FirstChunk }),
		moment("first_token", "First content chunk: text, reasoning or tool-call data.", func(a *Attempt) *Int { return &a.FirstToken }),
		moment("first_answer", "First content chunk that is no reasoning.", func(a *Attempt) *Int { return &a.FirstAnswer }),
		moment("last_token", "Last content chunk.", func(a *Attempt) *Int { return &a.LastToken }),
		moment("usage_at", "Last event that holds a usage.", func(a *Attempt) *Int { return &a.UsageAt }),
		moment("ended", "End of the attempt; of one lost in a crash the last moment that the record knows.", func(a *Attempt) *Int { return &a.Moments.Ended }),
		word(g, "sent_source", "Source of `sent`: `kernel`, `user` or `virtual`.", func(a *Attempt) *string { return (*string)(&a.SentSource) }),
		word(g, "stamp_source", "Source of the arrival stamps: `kernel`, `user` or `virtual`.", func(a *Attempt) *string { return (*string)(&a.StampSource) }),
		number(g, "clock_error", "ns", "not a kernel stamp", "How far the stamps may be off by the offset between the kernel's clock and the run's.",
			func(a *Attempt) *Int { return &a.ClockError }),
	}
}

// lost tells whether a row was made up after a crash: its chunks are unknown.
func lost(a *Attempt) bool { return a.Outcome == Cut && a.ErrorClass == CrashClass }

func chunkColumns() table[Attempt] {
	const g, unknown = "chunks", "lost in a crash"
	wordless := func(a *Attempt) bool { return lost(a) || a.StampSource == SourceVirtual }
	kinds := func(a *Attempt) *[]uint8 { return (*[]uint8)(unsafe.Pointer(&a.Chunks.Kind)) }  // ChunkKind is a uint8
	blanks := func(a *Attempt) *[]uint8 { return (*[]uint8)(unsafe.Pointer(&a.Blanks.Kind)) } // and BlankKind
	return table[Attempt]{
		{g, "chunk_at", "ns", unknown, "Arrival of each content chunk.", int64s(lost, func(a *Attempt) *[]int64 { return &a.Chunks.At })},
		{g, "chunk_tokens", "tokens", "nothing tells, or lost in a crash", "Tokens of each content chunk; `token_source` says where they are from.",
			int32s(func(*Attempt) bool { return true }, func(a *Attempt) *[]int32 { return &a.Chunks.Tokens })},
		{g, "chunk_bytes", "bytes", "virtual time, which has no bytes, or lost in a crash", "Bytes of content in each chunk.", int32s(wordless, func(a *Attempt) *[]int32 { return &a.Chunks.Bytes })},
		{g, "chunk_kind", "", unknown, "1 text, 2 reasoning, 3 tool call, 4 refusal.", uint8s(lost, kinds)},
		{g, "chunk_choice", "", unknown, "Index of the choice (`n > 1`) that each chunk belongs to.", int32s(lost, func(a *Attempt) *[]int32 { return &a.Chunks.Choice })},
		{g, "chunk_flags", "", unknown, "Bits: 1 coalesced (met another chunk in one read: the stamp is that of the last), 2 unstamped (user clock).",
			uint8s(lost, func(a *Attempt) *[]uint8 { return &a.Chunks.Flags })},
		{g, "blank_at", "ns", unknown, "Arrival of each event that names a choice and holds no content; at most the first 4,096.",
			int64s(lost, func(a *Attempt) *[]int64 { return &a.Blanks.At })},
		{g, "blank_kind", "", unknown, "1 it has a role, 2 its text is there and empty, 3 neither: a finish reason alone.", uint8s(lost, blanks)},
	}
}

// askedColumns are the token counts known at sending.
func askedColumns() table[Attempt] {
	const g, u = "tokens", "tokens"
	return table[Attempt]{
		number(g, "prompt_asked", u, "no length was asked", "Prompt length that the workload asked for.", func(a *Attempt) *Int { return &a.PromptAsked }),
		number(g, "prompt_shared", u, "unknown", "Prompt tokens whose reuse from a cache was possible.", func(a *Attempt) *Int { return &a.PromptShared }),
		number(g, "output_asked", u, "no length was asked", "Output length that the workload asked for.", func(a *Attempt) *Int { return &a.OutputAsked }),
	}
}

// mediaColumns are what was asked for beside text, known at sending.
func mediaColumns() table[Attempt] {
	const g, none = "media", "there are none"
	return table[Attempt]{
		number(g, "images", "", none, "Images in the prompt, those of earlier turns included.", func(a *Attempt) *Int { return &a.Media.Images }),
		number(g, "sounds", "", none, "Sounds in the prompt, the same way.", func(a *Attempt) *Int { return &a.Media.Sounds }),
		number(g, "videos", "", none, "Videos in the prompt, the same way.", func(a *Attempt) *Int { return &a.Media.Videos }),
		number(g, "media_asked", "", "the dataset tells of none, or there is no dataset", "Images, sounds and videos that the dataset says the prompt had.", func(a *Attempt) *Int { return &a.Media.Asked }),
		number(g, "media_made", "", none, "Of those sent, how many are made up, since the dataset knows their number alone.", func(a *Attempt) *Int { return &a.Media.Made }),
		number(g, "media_linked", "", none, "Of those sent, how many are URLs for the server to fetch.", func(a *Attempt) *Int { return &a.Media.Linked }),
		number(g, "audio", "ns", "there is none, or it is not known", "Length of the sound in the prompt, that of earlier turns included.", func(a *Attempt) *Int { return &a.Media.Audio }),
		number(g, "tools", "", none, "Definitions of tools sent along.", func(a *Attempt) *Int { return &a.Media.Tools }),
	}
}

func countedColumns() table[Attempt] {
	const g, u, mute = "tokens", "tokens", "the server did not say"
	return table[Attempt]{
		number(g, "prompt_counted", u, "no tokenizer", "Prompt tokens by our tokenizer; `prompt_source` says of what.", func(a *Attempt) *Int { return &a.PromptCounted }),
		number(g, "tools_counted", u, "there are none, or no tokenizer", "Tokens of the definitions of tools, as JSON text, by our tokenizer.", func(a *Attempt) *Int { return &a.ToolsCounted }),
		number(g, "prompt_usage", u, mute, "Prompt tokens by the server's usage.", func(a *Attempt) *Int { return &a.PromptUsage }),
		number(g, "cached_usage", u, mute, "Prompt tokens that the server says it took from its cache.", func(a *Attempt) *Int { return &a.CachedUsage }),
		number(g, "output_counted", u, "no tokenizer", "Output tokens by our tokenizer.", func(a *Attempt) *Int { return &a.OutputCounted }),
		number(g, "output_usage", u, mute, "Output tokens by the server's usage.", func(a *Attempt) *Int { return &a.OutputUsage }),
		number(g, "reasoning_asked", u, "no switch was sent", "Reasoning tokens that the workload wants of the answer. A server is told only whether to reason: 0 asks it not to.", func(a *Attempt) *Int { return &a.ReasoningAsked }),
		number(g, "reasoning_usage", u, mute, "Reasoning tokens by the server's usage; they are among the output tokens.", func(a *Attempt) *Int { return &a.ReasoningUsage }),
		word(g, "prompt_source", "What `prompt_counted` covers: `content` (the messages' texts alone), `template` (the whole prompt by the model's chat template) or `server` (the whole prompt, counted by the server's own /tokenize).", func(a *Attempt) *string { return &a.PromptSource }),
		word(g, "token_source", "Where `chunk_tokens` is from: `usage_delta`, `tokenizer`, `one_each` or `usage_by_bytes`.", func(a *Attempt) *string { return &a.TokenSource }),
		number("server", "server_queue", "ns", mute, "Time in the server's queue, by the server.", func(a *Attempt) *Int { return &a.Server.Queue }),
		number("server", "server_prefill", "ns", mute, "Time of the prefill, by the server.", func(a *Attempt) *Int { return &a.Server.Prefill }),
		number("server", "server_decode", "ns", mute, "Time of the decoding, by the server.", func(a *Attempt) *Int { return &a.Server.Decode }),
	}
}

func outcomeColumns() table[Attempt] {
	const g = "outcome"
	list := func(name, doc string, at func(*Attempt) *[]string) column[Attempt] {
		return column[Attempt]{g, name, "", "", doc, texts[Attempt](at)}
	}
	return table[Attempt]{
		word(g, "outcome", "How it ended; see the table of outcomes.", func(a *Attempt) *string { return (*string)(&a.Outcome) }),
		number(g, "http_status", "", "no status line", "Status of the response.", func(a *Attempt) *Int { return &a.HTTPStatus }),
		word(g, "error_class", "Short fixed word for what went wrong.", func(a *Attempt) *string { return &a.ErrorClass }),
		word(g, "error_text", "What the server or the system said, redacted, at most a line.", func(a *Attempt) *string { return &a.ErrorText }),
		word(g, "finish_reason", "Finish reason as the server gave it.", func(a *Attempt) *string { return &a.FinishReason }),
		list("violations", "What the response did against its API: each makes it a failure.", func(a *Attempt) *[]string { return &a.Violations }),
		list("notes", "What is odd but whole.", func(a *Attempt) *[]string { return &a.Notes }),
		number(g, "retry_after", "ns", "the server did not say", "How long the server asked to wait.", func(a *Attempt) *Int { return &a.RetryAfter }),
		list("rate_limit", "Rate limit fields of the response as `name=value`.", func(a *Attempt) *[]string { return &a.RateLimit }),
	}
}

func byteColumns() table[Attempt] {
	const g = "bytes"
	return table[Attempt]{
		{g, "request_bytes", "bytes", "", "Bytes sent.", integer[Attempt](func(a *Attempt) *int64 { return &a.Bytes.Request })},
		{g, "response_bytes", "bytes", "", "Bytes received.", integer[Attempt](func(a *Attempt) *int64 { return &a.Bytes.Response })},
		number(g, "media_bytes", "bytes", "there are none, or URLs alone", "Images, sound and videos as files, before base64.", func(a *Attempt) *Int { return &a.Media.Bytes }),
		word(g, "output_sha256", "SHA-256 of the output text, in hex.", func(a *Attempt) *string { return &a.OutputSHA256 }),
	}
}

func join(tables ...table[Attempt]) table[Attempt] {
	var out table[Attempt]
	for _, t := range tables {
		out = append(out, t...)
	}
	return out
}

// attemptTable declares requests.arrows and requests.parquet.
func attemptTable() table[Attempt] {
	return join(identityColumns(), sendingMoments(), laterMoments(), chunkColumns(),
		mediaColumns(), askedColumns(), countedColumns(), outcomeColumns(), byteColumns())
}

// dispatchTable declares dispatched.arrows: what is known at sending.
func dispatchTable() table[Attempt] {
	return join(identityColumns(), sendingMoments(), mediaColumns(), askedColumns())
}

// outputTable declares outputs.arrows and outputs.parquet.
func outputTable() table[Attempt] {
	return table[Attempt]{
		index("outputs", "request_id", "Number of the request in the run.", func(a *Attempt) *int64 { return &a.RequestID }),
		index("outputs", "attempt", "Number of the sending.", func(a *Attempt) *int64 { return &a.Attempt }),
		{"outputs", "output", "", "there is none", "Text of the answer.", output{}},
	}
}

// RequestColumns describes requests.arrows and requests.parquet.
func RequestColumns() []Column { return attemptTable().columns() }

// DispatchedColumns describes dispatched.arrows.
func DispatchedColumns() []Column { return dispatchTable().columns() }

// OutputColumns describes outputs.arrows and outputs.parquet.
func OutputColumns() []Column { return outputTable().columns() }
