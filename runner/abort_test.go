package runner

import (
	"strings"
	"testing"

	"github.com/tokamak-bench/tokamak/record"
	"github.com/tokamak-bench/tokamak/scenario"
	"github.com/tokamak-bench/tokamak/verify"
	"github.com/tokamak-bench/tokamak/wire"
)

// observeAll feeds rows that end every 100 ms and returns after how many of
// them a rule struck, and which.
func observeAll(t *testing.T, rules []scenario.AbortRule, rows ...*record.Attempt) (int, string) {
	t.Helper()
	a := newAbortRules(rules)
	for i, row := range rows {
		row.RequestID, row.Identity.Attempt = int64(i), 1
		row.Intended, row.Moments.Ended = record.Some(int64(i)*100e6), record.Some(int64(i)*100e6)
		if why := a.Observe(row); why != "" {
			return i + 1, why
		}
	}
	return 0, ""
}

func rowsOf(n int, outcome record.Outcome, status int64, class string) []*record.Attempt {
	var rows []*record.Attempt
	for range n {
		row := &record.Attempt{}
		row.Outcome, row.ErrorClass = outcome, class
		if status != 0 {
			row.HTTPStatus = record.Some(status)
		}
		rows = append(rows, row)
	}
	return rows
}

func TestAbortRules(t *testing.T) {
	half, err := verify.Parse("error_rate>50%")
	if err != nil {
		t.Fatal(err)
	}
	ok, bad := record.OK, record.HTTPError
	denied := rowsOf(50, bad, 401, "unauthorized")
	for name, test := range map[string]struct {
		rules []scenario.AbortRule
		rows  []*record.Attempt
		after int
		says  string
	}{
		"errors":               {[]scenario.AbortRule{{Text: "errors>=3", Errors: 3}}, append(rowsOf(5, ok, 200, ""), rowsOf(5, bad, 500, "")...), 8, "errors>=3: 3"},
		"gone":                 {[]scenario.AbortRule{{Text: "target-gone", Gone: true}}, rowsOf(50, record.TransportError, 0, wire.Refused.String()), 10, "in a row"},
		"rate, from 20 on":     {[]scenario.AbortRule{{Text: "error_rate>50%", Objective: &half[0]}}, rowsOf(50, bad, 500, ""), 20, "error_rate>50%"},
		"rate kept":            {[]scenario.AbortRule{{Text: "error_rate>50%", Objective: &half[0]}}, append(rowsOf(40, ok, 200, ""), rowsOf(30, bad, 500, "")...), 0, ""},
		"credential refused":   {nil, denied, 10, "credential"},
		"credential once good": {nil, append(rowsOf(1, ok, 200, ""), rowsOf(50, bad, 403, "forbidden")...), 0, ""},
	} {
		after, why := observeAll(t, test.rules, test.rows...)
		if after != test.after || !strings.Contains(why, test.says) {
			t.Errorf("%s: after %d rows (%q), want %d (%q)", name, after, why, test.after, test.says)
		}
	}
}
