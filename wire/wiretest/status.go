package wiretest

// statusFaults are answers other than 200.
func statusFaults() []Fault {
	const limited = `{"error":{"message":"Rate limit reached","type":"requests","param":null,"code":"rate_limit_exceeded"}}`
	at := func(name string, status int, body string, fields ...string) Fault {
		f := Fault{Name: name, Status: status, Outcome: "http_error",
			serve: func(p *peer) bool { p.whole(status, "application/json", body, fields...); return true }}
		if status == 429 || status == 503 {
			f.Outcome = "rejected"
		}
		return f
	}
	return []Fault{
		at("redirect_301", 301, "", "Location: /elsewhere"),
		at("redirect_307", 307, "", "Location: http://127.0.0.1:1/v1/chat/completions"),
		at("redirect_https", 308, "", "Location: https://127.0.0.1:1/v1/chat/completions"),
		at("bad_request_400", 400, `{"error":{"message":"max_tokens is too large","type":"invalid_request_error","param":"max_tokens","code":null}}`),
		at("unauthorized_401", 401, `{"error":{"message":"Incorrect API key provided","type":"invalid_request_error","param":null,"code":"invalid_api_key"}}`,
			"WWW-Authenticate: Bearer"),
		at("forbidden_403", 403, "<html>forbidden</html>"),
		at("not_found_404", 404, `{"object":"error","message":"The model does not exist.","type":"NotFoundError","param":null,"code":404}`),
		at("unprocessable_422", 422, `{"detail":[{"type":"missing","loc":["body","model"],"msg":"Field required"}]}`),
		at("too_many_429", 429, limited),
		at("too_many_retry_after", 429, limited, "Retry-After: 7"),
		at("too_many_retry_after_ms", 429, limited, "retry-after-ms: 1500",
			"x-ratelimit-limit-requests: 60", "x-ratelimit-remaining-requests: 0", "x-ratelimit-reset-requests: 1s"),
		at("server_error_500", 500, `{"error":{"message":"Internal server error","type":"server_error","code":"500"}}`),
		at("bad_gateway_502", 502, "upstream connect error"),
		at("unavailable_503", 503, `{"error":"overloaded"}`, "Retry-After: 1"),
	}
}
