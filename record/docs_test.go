package record

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write docs/records.md again")

const intro = `# The files of a run

<!-- Made by go test ./record -update from the tables in record/columns.go and record/sample.go. -->

| file | holds |
|---|---|
| ` + "`run.json`" + ` | the manifest: scenario as resolved, seed, versions, targets, the client's machine; secrets redacted |
| ` + "`requests.arrows`" + ` | one row for each attempt that ended, in the order of the ends |
| ` + "`dispatched.arrows`" + ` | what was known of each attempt when it was sent |
| ` + "`samples.arrows`" + ` | readings of probes |
| ` + "`events.jsonl`" + ` | what happened once: stages, aborts, notices, standstills |
| ` + "`outputs.arrows`" + ` | texts of answers, only when asked for |
| ` + "`requests.parquet`, `samples.parquet`, `outputs.parquet`" + ` | the same rows, written at the end |
| ` + "`summary.json`" + ` | metrics and verdict |

The ` + "`.arrows`" + ` files are Arrow IPC streams. They are written while the run goes on, each batch with one write at most half
a second after its first row, so that they can be read while they grow and a killed process loses no more than that.
A file that ends in the middle of a batch is read up to there. ` + "`tokamak recover`" + ` makes the Parquet files of a run whose
process died: what was sent and has no row becomes one with outcome ` + "`cut`, error class `crash`" + `. A Parquet file that cannot
be read is made again from its stream; ` + "`compare`" + ` refuses a run with one (exit 2) and names the file.

Times are nanoseconds since the run's epoch (` + "`epoch` in `run.json`" + `) on a monotonic clock. What is not known is null,
never zero. Texts are valid UTF-8 of at most 4,096 bytes; what is no UTF-8 is U+FFFD. Columns are only ever added.

    select outcome, count(*), quantile_disc((first_token - intended) / 1e6, 0.99) as ttft_p99_ms
    from 'runs/*/requests.parquet' group by outcome;
`

const outcomes = `
### Outcomes

| outcome | is |
|---|---|
| ok | whole by its API; may have notes |
| rejected | 429, 503 |
| http_error | any other status that is not 2xx |
| transport_error | not one response byte: refused, reset, closed, TLS, name, malformed or oversized head |
| timeout | a deadline of ours struck; error_class names it |
| stream_error | the server's own error object inside a 2xx |
| stream_broken | framing, encoding, terminator or finish reason wrong or missing, or cut by the other side |
| abandoned | given up by its user, who waited no longer; a failure |
| cancelled | in another tool's record: stopped by it |
| cut | ended by us: drain, abort, crash |
| unsent | due but never sent |
`

func section(b *strings.Builder, title string, columns []Column) {
	fmt.Fprintf(b, "\n## %s\n", title)
	group := ""
	for _, c := range columns {
		if c.Group != group {
			group = c.Group
			fmt.Fprintf(b, "\n| %s | type | unit | null where | |\n|---|---|---|---|---|\n", group)
		}
		fmt.Fprintf(b, "| `%s` | %s | %s | %s | %s |\n", c.Name, c.Type, c.Unit, c.Null, c.Doc)
	}
}

func document() string {
	var b strings.Builder
	b.WriteString(intro)
	section(&b, "requests", RequestColumns())
	b.WriteString(outcomes)
	section(&b, "samples", SampleColumns())
	section(&b, "outputs", OutputColumns())
	b.WriteString("\n## dispatched\n\nThe columns of `requests` that are known at sending:")
	for i, c := range DispatchedColumns() {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, " `%s`", c.Name)
	}
	b.WriteString(".\n")
	return b.String()
}

func TestDocumentedColumns(t *testing.T) {
	const path = "../docs/records.md"
	want := document()
	if *update {
		if err := os.WriteFile(path, []byte(want), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Errorf("go test ./record -update writes docs/records.md again:\n%s", diff)
	}
}

func TestEveryColumnIsDescribed(t *testing.T) {
	seen := map[string]bool{}
	for _, c := range append(RequestColumns(), SampleColumns()...) {
		if c.Name == "" || c.Group == "" || c.Type == "" || !strings.HasSuffix(c.Doc, ".") || seen[c.Group+c.Name] {
			t.Errorf("%+v", c)
		}
		seen[c.Group+c.Name] = true
	}
}
