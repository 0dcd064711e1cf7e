package workload

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A length of blocks that no row has is said to be unused.
func TestBlocksThatAreNone(t *testing.T) {
	for rows, want := range map[string]int{`{"input_tokens":9}`: 1, `{"input_tokens":9,"hash_ids":[1]}`: 0} {
		d := content(rows + "\n")
		d.Reading.BlockTokens = 30
		_, s := firsts(t, Config{Dataset: d})
		if notes := s.(Noter).Notes(); len(notes) != want {
			t.Errorf("%s: %v", rows, notes)
		}
	}
}

// Names are numbered as they come, tenants and sessions apart; what has no name
// gets none.
func TestNamesAreNumbered(t *testing.T) {
	d := content(`{"input_tokens":1,"tenant":"acme","session_id":"s9"}
{"input_tokens":1,"tenant":"tenant-1"}
{"input_tokens":1,"session_id":"acme"}
{"input_tokens":1,"tenant":"acme","session_id":"s9"}
`)
	d.KeepNames = false
	list, s := firsts(t, Config{Dataset: d})
	var got []string
	for _, q := range list {
		got = append(got, fmt.Sprintf("%s|%s", q.Tenant, q.SessionID))
	}
	if diff := cmp.Diff([]string{"tenant-1|session-1", "tenant-2|", "|session-2", "tenant-1|session-1"}, got); diff != "" {
		t.Error(diff)
	}
	want := []string{"2 tenants of the dataset are called tenant-1 to tenant-2, in order of first appearance; --keep-names keeps their names"}
	if diff := cmp.Diff(want, s.(Noter).Notes()); diff != "" {
		t.Error(diff)
	}
}
