package conformance

// Rule is one expectation.
type Rule struct {
	ID      string
	Expects string // as the end of "expected that"
	Sent    string // what is asked to see it
	Source  string // who says so
}

// The sources of the rules.
const (
	chatReference   = "OpenAI API reference, chat completions"
	streamReference = "OpenAI API reference, streaming"
	modelsReference = "OpenAI API reference, models"
	errorReference  = "OpenAI API reference, errors"
	htmlStandard    = "HTML standard, server-sent events"
	ecma404         = "RFC 8259 (JSON)"
	unicodeRFC      = "RFC 3629 (UTF-8)"
	httpSemantics   = "RFC 9110 (HTTP)"
	http11          = "RFC 9112 (HTTP/1.1)"
	sense           = "what every client assumes"
)

// The rules' names, by which probes give their verdicts.
const (
	httpModels    = "HTTP-01"
	httpStream    = "HTTP-02"
	httpJSON      = "HTTP-03"
	httpKeepAlive = "HTTP-04"
	httpMethod    = "HTTP-05"
	httpCoding    = "HTTP-06"
	httpAuth      = "HTTP-07"
	answered      = "ANSWER-01"
	answerCut     = "ANSWER-02"
	answerError   = "ANSWER-03"
	answerFields  = "ANSWER-04"
	streamLines   = "STREAM-01"
	streamJSON    = "STREAM-02"
	streamDone    = "STREAM-03"
	streamObject  = "STREAM-04"
	streamID      = "STREAM-05"
	streamCreated = "STREAM-06"
	streamRole    = "STREAM-07"
	streamFinish  = "STREAM-08"
	streamAfter   = "STREAM-09"
	streamShape   = "STREAM-10"
	streamComes   = "STREAM-11"
	streamPaced   = "STREAM-12"
	textUTF8      = "TEXT-01"
	textWhole     = "TEXT-02"
	textSense     = "TEXT-03"
	textAny       = "TEXT-04"
	textThink     = "TEXT-05"
	sameTwice     = "SAME-01"
	sameStream    = "SAME-02"
	sameUsage     = "SAME-03"
	sameFinish    = "SAME-04"
	usageThere    = "USAGE-01"
	usageChunk    = "USAGE-02"
	usageUnasked  = "USAGE-03"
	usageSums     = "USAGE-04"
	usageLength   = "USAGE-05"
	usageChunks   = "USAGE-06"
	usagePrompt   = "USAGE-07"
	limitOne      = "LIMIT-01"
	limitMax      = "LIMIT-02"
	limitOther    = "LIMIT-03"
	limitStop     = "LIMIT-04"
	limitN        = "LIMIT-05"
	finishWords   = "LIMIT-06"
	toolStream    = "TOOL-01"
	toolWhole     = "TOOL-02"
	jsonSchema    = "JSON-01"
	errorJSON     = "ERROR-01"
	errorModel    = "ERROR-02"
	errorMessages = "ERROR-03"
	errorType     = "ERROR-04"
	errorLong     = "ERROR-05"
	errorStream   = "ERROR-06"
	errorShape    = "ERROR-07"
	errorRetry    = "ERROR-08"
	cancelled     = "CANCEL-01"
	concurrentIDs = "CONC-01"
	concurrent    = "CONC-02"
	isolated      = "CONC-03"
)

// Rules returns the rules of the battery in the order of its report.
func Rules() []Rule {
	const every, streams = "every question", "every question that asks for a stream"
	return []Rule{
		{httpModels, "the models are listed", "GET of the models", modelsReference},
		{httpStream, "a stream has Content-Type text/event-stream", streams, htmlStandard},
		{httpJSON, "whole answers and errors have Content-Type application/json", "questions without a stream, and bad ones", httpSemantics},
		{httpKeepAlive, "a connection serves more than one request", "the first two questions", http11},
		{httpMethod, "a wrong method is refused with 405, or 404", "GET of the endpoint", httpSemantics},
		{httpCoding, "nothing is compressed that was not asked to be", every + ", with Accept-Encoding: identity", httpSemantics},
		{httpAuth, "a request without the credential is refused with 401", "a question without it", errorReference},

		{answered, "every question is answered, a good one with 200", every, chatReference},
		{answerCut, "no answer is cut off", every, http11},
		{answerError, "no error stands inside a 200", every, errorReference},
		{answerFields, "max_tokens, temperature, seed and stream_options are accepted", "the first questions", chatReference},

		{streamLines, "a stream is lines of fields, and events that end in a blank line", streams, htmlStandard},
		{streamJSON, "each event's data is one JSON text, or [DONE]", streams, ecma404},
		{streamDone, "data: [DONE] ends each stream, once", streams, streamReference},
		{streamObject, "each chunk says that it is one (object)", streams, streamReference},
		{streamID, "all chunks of a stream have the same id", streams, streamReference},
		{streamCreated, "all chunks of a stream have the same created and model", streams, streamReference},
		{streamRole, "the role comes in a choice's first delta only", streams, streamReference},
		{streamFinish, "each choice gets one finish_reason, once", every, streamReference},
		{streamAfter, "nothing is said for a choice that has ended", streams, streamReference},
		{streamShape, "the fields of a chunk have the types of the API", every, streamReference},
		{streamComes, "a stream comes where one is asked for, and only there", every, streamReference},
		{streamPaced, "chunks come as they are made, not all at once", streams, streamReference},

		{textUTF8, "every event is UTF-8 by itself", every, unicodeRFC},
		{textWhole, "no character is lost: no U+FFFD, no half of a surrogate pair", "every question, one for emoji and Chinese", unicodeRFC},
		{textSense, "the text is more than one character over and over", every, sense},
		{textAny, "an answer has content", every, chatReference},
		{textThink, "reasoning comes apart from the text, and what is counted of it is shown", every, sense},

		{sameTwice, "the same question gets the same answer at temperature 0 with a seed", "one question three times, whole", chatReference},
		{sameStream, "a stream says what the whole answer says", "the same question whole and three times as a stream", streamReference},
		{sameUsage, "a stream and a whole answer count the same tokens", "the same question whole and as a stream", streamReference},
		{sameFinish, "a stream and a whole answer end for the same reason", "the same question whole and as a stream", streamReference},

		{usageThere, "usage is in whole answers, and in streams that ask for it", every, chatReference},
		{usageChunk, "usage comes once, in a last chunk with empty choices", "streams with include_usage", streamReference},
		{usageUnasked, "no usage comes in a stream that does not ask for it", "a stream without stream_options", streamReference},
		{usageSums, "prompt, completion and total tokens are there and add up", every, chatReference},
		{usageLength, "usage counts max_tokens where finish_reason is length", every, chatReference},
		{usageChunks, "usage counts no fewer tokens than content chunks came", streams, streamReference},
		{usagePrompt, "usage counts at least a token a word of the prompt", "a prompt of 200 common words", sense},

		{limitOne, "max_tokens 1 gives one token and finish_reason length", "a stream with max_tokens 1", chatReference},
		{limitMax, "max_tokens is kept", every, chatReference},
		{limitOther, "max_completion_tokens is kept", "a stream with max_completion_tokens 8", chatReference},
		{limitStop, "a stop string ends the answer and is not in it", "a word of the first answer as stop, streamed and whole", chatReference},
		{limitN, "n answers come, each to its end", "n 2, streamed and whole", chatReference},
		{finishWords, "finish_reason is a word of the API that fits the answer", every, chatReference},

		{toolStream, "a streamed tool call has id, name and arguments that join to JSON", "a stream with a tool that must be called", streamReference},
		{toolWhole, "a tool call has id, name and arguments that are JSON", "the same, whole", chatReference},
		{jsonSchema, "an answer follows the JSON schema of response_format", "a schema of two fields", chatReference},

		{errorJSON, "a body that is no JSON gets 400", `the body {"model":`, errorReference},
		{errorModel, "an unknown model gets 404, or 400", "a model of another name", errorReference},
		{errorMessages, "a request without messages or prompt gets 400, or 422", "no messages, or no prompt", errorReference},
		{errorType, "a field of the wrong type gets 400, or 422", `max_tokens "many"`, errorReference},
		{errorLong, "a prompt longer than the context gets 400, 413 or 422", "a prompt of the context's length and more", errorReference},
		{errorStream, "a bad request for a stream gets an error status, no stream", "a stream with max_tokens -5", errorReference},
		{errorShape, "an error is {\"error\": {message, type, param, code}}", "all bad questions", errorReference},
		{errorRetry, "a 429 says when to come again, in a readable Retry-After", "every question", httpSemantics},

		{cancelled, "a stream may be given up: the next question is answered as before", "a stream that is left after three events", sense},
		{concurrentIDs, "answers have different ids", every, chatReference},
		{concurrent, "answers at the same time do not mix", "four questions alone and at once", sense},
		{isolated, "different questions get different answers", "four questions", sense},
	}
}
