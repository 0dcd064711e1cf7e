package portrait_test

import (
	"strings"
	"testing"

	"github.com/tokamak-bench/tokamak/portrait"
)

// TestPause: rows a year apart are said to be, with where the gap lies.
func TestPause(t *testing.T) {
	const year = 365 * 86400
	f, _ := show(t, &rows{of: at(0, 1, 2, year, year+1)}, portrait.Options{})
	if len(f.Pauses) != 1 || f.Pauses[0].From != 2 || f.Pauses[0].To != year || f.Pauses[0].Before != 3 {
		t.Errorf("%+v", f.Pauses)
	}
	notes := strings.Join(f.Notes, "\n")
	if !strings.Contains(notes, "The log has no request for 365 days, from 2 s to 365 days after the first, with 3 of its 5 requests before") {
		t.Error(notes)
	}
	f, _ = show(t, &rows{of: at(0, 1, 86400)}, portrait.Options{})
	if len(f.Pauses) != 0 || f.Pauses == nil {
		t.Errorf("%+v", f.Pauses)
	}
}

// TestSameMoment: requests of one moment are said to be.
func TestSameMoment(t *testing.T) {
	f, p := show(t, &rows{of: at(7, 7, 7)}, portrait.Options{})
	if notes := strings.Join(f.Notes, "\n"); !strings.Contains(notes, "All 3 requests bear the very same moment") {
		t.Error(notes)
	}
	if text := page(t, p, portrait.TextOptions{}); !strings.Contains(text, "all requests are at one moment") {
		t.Error(text)
	}
}
