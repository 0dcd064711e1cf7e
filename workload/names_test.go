package workload

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tokamak-bench/tokamak/workload/media"
	"github.com/tokamak-bench/tokamak/workload/trace"
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

// Settings that no row has a use for are said to be unused.
func TestSettingsThatNoRowUses(t *testing.T) {
	image := func(d *Dataset) { d.Image = media.Image{Format: media.JPEG, Width: 9, Height: 9} }
	turns := func(d *Dataset) { d.Reading.Turns = trace.DeltaTurns }
	const later = `{"timestamp":0,"session_id":"a","input_length":9}` + "\n"
	for _, c := range []struct {
		rows string
		set  func(*Dataset)
		want string
	}{
		{`{"input_tokens":9}` + "\n", image, "made-up ones are to be like was not used"},
		{`{"input_tokens":9,"audios":1}` + "\n", image, "made-up ones are to be like was not used"},
		{`{"input_tokens":9,"images":1}` + "\n", image, ""},
		{`{"input_tokens":9,"session_id":"a"}` + "\n" + `{"input_tokens":9,"session_id":"a"}` + "\n", turns, "dataset-turns was not used"},
		{later, turns, "dataset-turns was not used"},
		{later + later, turns, ""},
	} {
		d := content(c.rows)
		c.set(d)
		_, s := firsts(t, Config{Dataset: d})
		notes := strings.Join(s.(Noter).Notes(), "\n")
		if strings.Contains(notes, "not used") != (c.want != "") || !strings.Contains(notes, c.want) {
			t.Errorf("%s: %s", c.rows, notes)
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
