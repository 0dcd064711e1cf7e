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

The transports, at each reading of ` + "`self`" + `; ` + "`target`" + ` numbers them where there are several. What the kernel tells of sockets is
of plain HTTP/1.1 on Linux, of up to 64 open connections taken at random.

| name | unit | |
|---|---|---|
| ` + "`in_flight`" + ` | count | Requests started and not ended. |
| ` + "`connections`" + ` | count | Open connections. |
| ` + "`backlog`" + ` | count | Read pieces that wait to be decoded. |
| ` + "`chunks`" + ` | count | Events read since the run's start; so are the next six. |
| ` + "`coalesced`" + ` | count | Events that met another in one read. |
| ` + "`unstamped`" + ` | count | Events that the kernel gave no stamp. |
| ` + "`reads`" + ` | count | Receive calls that gave bytes. |
| ` + "`held_streams`" + ` | count | Streams left unread because the backlog was full. |
| ` + "`clock_steps`" + ` | count | Times that someone set the machine's clock. |
| ` + "`coalesced_share`" + ` | ratio | Of the events read in the interval, those that met another in one read. |
| ` + "`read_delay_p50`, `read_delay_p99`, `read_delay_max`" + ` | ns | From the kernel's stamp of the last packet to its read, of the reads in the interval; upper edges of buckets that double. On the tick of up to 4 ms it is the reader's own choice. |
| ` + "`rtt_p50`, `rtt_max`" + ` | ns | The kernel's smoothed round-trip time (TCP_INFO). |
| ` + "`retransmits`" + ` | count | Segments that those connections sent again since they were opened (TCP_INFO). |
| ` + "`unread_max`" + ` | bytes | Most bytes that lay in one socket and were not read yet (SIOCINQ). |

An event of kind ` + "`paused`" + `, named ` + "`reader`" + `, says from when (` + "`at`" + `) and for how long (` + "`ns`" + `) nobody looked at the sockets, longer than
two ticks, while events met in one. Their stamps, all but the last one's of each read, may be late by up to that time.

## load

| name | unit | |
|---|---|---|
| ` + "`schedule_lag_p50`, `schedule_lag_p99`, `schedule_lag_max`" + ` | ns | Of the requests handed to the transport in the interval: that moment − the intended one − the wait for an asked slot. The figures of the summary count to the first write, which is later where a connection had to be opened. |

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
