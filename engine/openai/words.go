package openai

// Violations: what a response did against its API, so that it failed. All
// words stand in docs/responses.md.
const (
	noTerminator   = "no_terminator"    // a stream ended without data: [DONE]
	noFinishReason = "no_finish_reason" // a choice ended without one
	badJSON        = "bad_json"         // an event or a body is no JSON
	badUTF8        = "bad_utf8"         // text that is no UTF-8, also after joining the chunks, or half a surrogate pair
	badFraming     = "bad_framing"      // more than one body, or lines between events that are no event stream
	badShape       = "bad_shape"        // JSON whose known fields have the wrong type, or a choice out of range
	emptyBody      = "empty_body"       // a 2xx without one byte of answer
	answerTooLong  = "answer_too_long"  // over the decoder's bounds; the rest was not kept
)

// Notes: what is odd but whole.
const (
	usageMissing     = "usage_missing"          // no usage came
	usageZero        = "usage_zero"             // usage came and was zero throughout: counts as missing
	usageImplausible = "usage_implausible"      // counts that cannot be: negative, no whole number, more from the cache than the prompt has, more reasoning than output
	overMaxTokens    = "over_max_tokens"        // more output tokens than asked for
	underMaxTokens   = "under_max_tokens"       // fewer output tokens than asked for, though ignore_eos was accepted
	lengthUnreached  = "length_unreached"       // ended for length with fewer output tokens than asked for: the context was full, or the reason is wrong
	usageBelowChunks = "usage_below_chunks"     // the usage counts fewer output tokens than content chunks came: one came twice, or the count is wrong
	usageUnlikeCount = "usage_unlike_count"     // the usage's output tokens differ from our count by the model's own tokenizer, by more than 3 and more than 5 %
	stopIgnored      = "stop_ignored"           // a stop string asked for stands in the text
	idChanged        = "id_changed"             // not all chunks have the same id
	finishUnknown    = "finish_unknown"         // a finish reason that the API does not have
	noToolCall       = "no_tool_call"           // ended for a tool call without one
	badToolJSON      = "bad_tool_json"          // the arguments of a tool call are no JSON
	buffered         = "buffered"               // content came in bursts of eight chunks and more: something on the way collects the stream, or the client was asleep
	notStreamed      = "not_streamed"           // a whole JSON body where a stream was asked for
	streamedUnasked  = "streamed_unasked"       // a stream where a whole body was asked for
	wrongContentType = "wrong_content_type"     // the Content-Type does not say what the body is
	emptyAnswer      = "empty_answer"           // ended without one byte of content
	emptyLength      = "empty_length"           // ended for length before any text: reasoning used it up
	hiddenReasoning  = "hidden_reasoning"       // reasoning tokens are counted but none were streamed
	thinkTags        = "think_tags"             // reasoning came as <think> inside the text
	thinkUnopened    = "think_unopened"         // </think> came without <think>: all before it counts as reasoning
	splitUTF8        = "split_utf8"             // a character's bytes came in two chunks
	splitSurrogates  = "split_surrogates"       // the halves of a surrogate pair came in two chunks
	replacementChar  = "replacement_char"       // U+FFFD in the text: the server could not form a character
	afterDone        = "after_done"             // data after [DONE]
	contentAfterEnd  = "content_after_finish"   // content came for a choice that had ended
	finishChanged    = "finish_changed"         // a choice had two different finish reasons
	missingChoices   = "missing_choices"        // fewer choices than asked for
	extraChoices     = "extra_choices"          // more choices than asked for
	unknownLine      = "unknown_line"           // lines in the stream that are no field of an event
	unendedEvent     = "unended_event"          // the last event had no blank line after it
	retryUnreadable  = "retry_after_unreadable" // no number of seconds, or a date without a Date to count from
)

// Error classes of responses that are no success.
const (
	classRateLimited   = "rate_limited"   // 429
	classQuota         = "quota"          // 429: the account, not the engine
	classOverloaded    = "overloaded"     // 503
	classContextLength = "context_length" // prompt and answer do not fit
	classRefusedField  = "refused_field"  // 400, 422: a field that tokamak added
	classBadRequest    = "bad_request"    // 400
	classUnauthorized  = "unauthorized"   // 401
	classForbidden     = "forbidden"      // 403
	classNotFound      = "not_found"      // 404
	classUnprocessable = "unprocessable"  // 422
	classClientError   = "client_error"   // other 4xx
	classServerError   = "server_error"   // other 5xx
	classRedirect      = "redirect"       // 3xx
	classOtherStatus   = "other_status"
	classErrorEvent    = "error_event" // error object inside a 2xx
)
