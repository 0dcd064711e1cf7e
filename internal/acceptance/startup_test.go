package acceptance

import (
	"bytes"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
)

// What the program may hold before it has done anything: every run pays for
// it three times over, since a collection is made at three times the live heap.
const (
	startBytes   = 1 << 20 // all packages
	packageBytes = 256 << 10
)

// TestStartHoldsLittle reads from Go's runtime what each package allocates
// when the program starts: no table that one command needs is made for all.
func TestStartHoldsLittle(t *testing.T) {
	cmd := exec.Command(binary, "version")
	cmd.Env = append(os.Environ(), "GODEBUG=inittrace=1")
	var said bytes.Buffer
	cmd.Stderr = &said
	if err := cmd.Run(); err != nil {
		t.Fatal(err)
	}
	all, packages := 0, 0
	for line := range strings.Lines(said.String()) {
		// init net/http @1.2 ms, 0.01 ms clock, 4096 bytes, 7 allocs
		f := strings.Fields(line)
		if len(f) < 9 || f[0] != "init" || f[8] != "bytes," {
			continue
		}
		n, err := strconv.Atoi(f[7])
		if err != nil {
			t.Fatal(line)
		}
		packages++
		if all += n; n > packageBytes {
			t.Errorf("%s holds %d bytes before main, more than %d", f[1], n, packageBytes)
		}
	}
	if packages < 50 {
		t.Fatalf("%d packages in the trace:\n%s", packages, said.String())
	}
	if t.Logf("%d packages hold %d bytes before main", packages, all); all > startBytes {
		t.Errorf("%d bytes are held before main, more than %d", all, startBytes)
	}
}
