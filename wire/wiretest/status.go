package wiretest

// statusFaults are answers other than 200.
func statusFaults() []Fault {
	const limited = `{"error":{"message":"Rate limit reached","type":"requests","param":null,"code":"rate_limit_exceeded"}}`
	at := func(name string, status int, class, body string, fields ...string) Fault {
		f := Fault{Name: name, Status: status, Outcome: "http_error", ErrorClass: class,
			serve: func(p *peer) bool { p.whole(status, "application/json", body, fields...); return true }}
		if status == 429 || status == 503 {
			f.Outcome = "rejected"
		}
		return f
	}
	return []Fault{
		at("redirect_301", 301, "redirect", "", "Location: /elsewhere"),
		at("redirect_307", 307, "redirect", "", "Location: http://127.0.0.1:1/v1/chat/completions"),
		at("redirect_https", 308, "redirect", "", "Location: https://127.0.0.1:1/v1/chat/completions"),
		at("bad_request_400", 400, "bad_request", `{"error":{"message":"top_p must be at most 1","type":"invalid_request_error","param":"top_p","code":null}}`),
		at("unauthorized_401", 401, "unauthorized", `{"error":{"message":"Incorrect API key provided","type":"invalid_request_error","param":null,"code":"invalid_api_key"}}`,
			"WWW-Authenticate: Bearer"),
		at("forbidden_403", 403, "forbidden", "<html>forbidden</html>"),
		at("not_found_404", 404, "not_found", `{"object":"error","message":"The model does not exist.","type":"NotFoundError","param":null,"code":404}`),
		at("unprocessable_422", 422, "unprocessable", `{"detail":[{"type":"missing","loc":["body","model"],"msg":"Field required"}]}`),
		at("too_many_429", 429, "rate_limited", limited),
		at("too_many_retry_after", 429, "rate_limited", limited, "Retry-After: 7"),
		at("too_many_retry_after_ms", 429, "rate_limited", limited, "retry-after-ms: 1500",
			"x-ratelimit-limit-requests: 60", "x-ratelimit-remaining-requests: 0", "x-ratelimit-reset-requests: 1s"),
		at("server_error_500", 500, "server_error", `{"error":{"message":"Internal server error","type":"server_error","code":"500"}}`),
		at("bad_gateway_502", 502, "server_error", "upstream connect error"),
		at("unavailable_503", 503, "overloaded", `{"error":"overloaded"}`, "Retry-After: 1"),
	}
}
