package trace

import (
	"fmt"
	"strings"
	"testing"
)

// What a request allowed an answer at most is read beside its length, and is
// asked for only where there is no length.
func TestLimitOfAnswers(t *testing.T) {
	const span = `{"traceId":"t","spanId":"s","startTimeUnixNano":"1767225600000000000","attributes":[{"key":"gen_ai.request.model","value":{"stringValue":"m"}},{"key":"gen_ai.request.max_tokens","value":%s}%s]}`
	const answered = `,{"key":"gen_ai.usage.output_tokens","value":{"intValue":"5"}}`
	m, err := ParseMapping("m.yaml", []byte("fields: {at: t, output_tokens: n, max_tokens: q.most, body: b}"))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		data                 string
		mapping              *Mapping
		limit, output, asked int64
	}{
		{fmt.Sprintf(span, `{"intValue":"256"}`, answered), nil, 256, 5, 5},
		{fmt.Sprintf(span, `{"intValue":256}`, ""), nil, 256, 0, 256},
		{fmt.Sprintf(span, `{"intValue":"-1"}`, answered), nil, 0, 5, 5},
		{fmt.Sprintf(span, `{"intValue":"2147483647"}`, answered), nil, 0, 5, 5},
		{`{"t":1,"n":7,"q":{"most":"64"}}`, m, 64, 7, 7},
		{`{"t":1,"q":{"most":64}}`, m, 64, 0, 64},
		{`{"t":1,"q":{"most":2147483647}}`, m, 0, 0, 0},
		{`{"t":1,"q":{"most":64},"b":{"prompt":"p"}}`, m, 64, 0, 64},
		{`{"t":1,"q":{"most":64},"b":{"prompt":"p","max_tokens":32}}`, m, 32, 0, 32},
	} {
		rows, _ := all(t, c.data, Options{Mapping: c.mapping})
		if r := rows[0]; len(rows) != 1 || r.Limit != c.limit || r.Output != c.output || r.Asked() != c.asked {
			t.Errorf("%s: limit %d, output %d, asked %d", c.data, r.Limit, r.Output, r.Asked())
		}
	}
	_, err = Open("data", content(`{"t":1,"q":{"most":"many"}}`), Options{Mapping: m})
	if err == nil {
		r, _ := Open("data", content(`{"t":1,"q":{"most":"many"}}`), Options{Mapping: m})
		_, err = r.Next()
	}
	if err == nil || !strings.Contains(err.Error(), "data:1: expected q.most from -1 to 9007199254740992") {
		t.Error(err)
	}
}
