package self

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write docs/probes.md again")

const intro = `# Probes

<!-- Made by go test ./probe/self -update. -->

Readings stand in ` + "`samples.parquet`" + `, see docs/records.md.

## wire

The transports, at each reading of ` + "`self`" + `; all of unit count, those after ` + "`backlog`" + ` since the run's start: ` + "`in_flight`" + ` (requests started and not
ended), ` + "`connections`" + ` (open), ` + "`backlog`" + ` (read pieces that wait to be decoded), ` + "`chunks`" + ` (events read), ` + "`coalesced`" + ` and
` + "`unstamped`" + ` (events flagged so), ` + "`reads`" + ` (receive calls that gave bytes), ` + "`held_streams`" + ` (streams left unread because the backlog was full),
` + "`clock_steps`" + ` (times that someone set the machine's clock).

## self

The client itself, once a second: what it used and what it lacked while it measured. What the system does not tell is
absent. A unit of "cores" is CPU time per time; what is counted in the interval is counted since the sample before.
An event of kind ` + "`stopped`" + ` says from when (` + "`at`" + `) and for how long (` + "`ns`" + `) nothing of the process ran: named
` + "`client`" + ` where it used next to no CPU meanwhile (stopped, suspended, never scheduled), else ` + "`client_busy`" + `.

| name | unit | |
|---|---|---|
`

func TestDocumentedQuantities(t *testing.T) {
	const path = "../../docs/probes.md"
	var b strings.Builder
	b.WriteString(intro)
	for _, q := range Quantities() {
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", q.Name, q.Unit, q.Doc)
	}
	if *update {
		if err := os.WriteFile(path, []byte(b.String()), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(b.String(), string(got)); diff != "" {
		t.Errorf("go test ./probe/self -update writes docs/probes.md again:\n%s", diff)
	}
}
