package wire

var causeWords = [...]string{
	Completed: "completed", Refused: "refused", TLSFailed: "tls", ResetEarly: "reset_before_response",
	StaleConnection: "stale_connection", BadHead: "bad_head", ResetLate: "reset_in_response",
	BadBody: "bad_body", TooLong: "too_long", BadEncoding: "bad_encoding",
	TimeoutConnect: "timeout_connect", TimeoutFirstByte: "timeout_first_byte",
	TimeoutFirstToken: "timeout_first_token", TimeoutStall: "timeout_stall", TimeoutTotal: "timeout_total",
	Cut: "cut", Cancelled: "cancelled", LocalFailure: "client_failure",
}

// String returns the fixed word that stands in error_class.
func (c Cause) String() string { return causeWords[c] }
