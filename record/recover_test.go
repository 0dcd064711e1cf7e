package record

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/google/go-cmp/cmp"
)

// crash abandons a writer as a killed process does: what is in memory is gone.
func crash(w *Writer) {
	close(w.stop)
	<-w.done
	w.unlock()
}

// crashed returns a run of which attempts 0 to 5 were dispatched and flushed,
// the even ones ended.
func crashed(t *testing.T) string {
	t.Helper()
	w := create(t, Options{FlushEvery: time.Hour})
	for i := range int64(6) {
		a := sampleAttempt(i, 3)
		if err := w.Dispatched(&Attempt{Identity: a.Identity, Moments: Moments{Intended: a.Intended, Dispatched: a.Dispatched},
			Tokens: Tokens{PromptAsked: Some(9)}}); err != nil {
			t.Fatal(err)
		}
		if i%2 == 0 {
			if err := w.Ended(a); err != nil {
				t.Fatal(err)
			}
		}
		w.flush()
	}
	if err := w.Sample(Sample{At: 5e9, Name: "x"}); err != nil {
		t.Fatal(err)
	}
	w.flush()
	crash(w)
	return w.Dir()
}

func TestRecoverKeepsWhatEndedAndCutsTheRest(t *testing.T) {
	dir := crashed(t)
	got, err := Recover(dir)
	if err != nil {
		t.Fatal(err)
	}
	if want := (Recovered{Ended: 3, Cut: 3, Samples: 1}); got != want {
		t.Errorf("recovered %+v, want %+v", got, want)
	}
	rows := attempts(t, dir)
	var ids []int64
	for _, a := range rows {
		ids = append(ids, a.RequestID)
	}
	if diff := cmp.Diff([]int64{0, 2, 4, 1, 3, 5}, ids); diff != "" {
		t.Fatal(diff)
	}
	if diff := cmp.Diff(sampleAttempt(2, 3), rows[1], equal); diff != "" {
		t.Error(diff)
	}
	cut := rows[3]
	if cut.Outcome != Cut || cut.ErrorClass != CrashClass || cut.Moments.Ended != Some(5e9) || cut.PromptAsked != Some(9) || cut.Chunks.At != nil {
		t.Errorf("cut row: %+v", cut)
	}
	before, err := os.ReadFile(filepath.Join(dir, RequestsTable))
	if err != nil {
		t.Fatal(err)
	}
	again, err := Recover(dir)
	if err != nil || !again.Complete || again.Ended != 3 || again.Cut != 3 {
		t.Errorf("again: %+v, %v", again, err)
	}
	after, _ := os.ReadFile(filepath.Join(dir, RequestsTable))
	if !bytes.Equal(before, after) {
		t.Error("a second recovery changed the file")
	}
}

// A crash may leave any subset of the files that Finish and Recover make.
func TestRecoverFromACrashBetweenFiles(t *testing.T) {
	for _, leave := range []func(dir string) error{
		func(dir string) error {
			return os.WriteFile(filepath.Join(dir, RequestsTable+".tmp"), []byte("PAR1half"), 0o666)
		},
		func(dir string) error {
			return convert(filepath.Join(dir, SamplesFile), filepath.Join(dir, SamplesTable), sampleTable(), nil)
		},
		func(dir string) error { return os.Remove(filepath.Join(dir, SamplesFile)) },
		func(dir string) error { return os.Truncate(filepath.Join(dir, EventsFile), 0) },
		func(dir string) error {
			return os.WriteFile(filepath.Join(dir, ManifestFile+".tmp"), []byte("{"), 0o666)
		},
	} {
		dir := crashed(t)
		if err := leave(dir); err != nil {
			t.Fatal(err)
		}
		if _, err := Recover(dir); err != nil {
			t.Error(err)
		}
		if n := len(attempts(t, dir)); n != 6 {
			t.Errorf("%d rows", n)
		}
	}
}

func TestRecoverWithoutDispatchedKeepsEnded(t *testing.T) {
	dir := crashed(t)
	if err := os.Remove(filepath.Join(dir, DispatchedFile)); err != nil {
		t.Fatal(err)
	}
	got, err := Recover(dir)
	if err != nil || got.Ended != 3 || got.Cut != 0 {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestARunBeingWrittenIsNotRecovered(t *testing.T) {
	w := create(t, Options{})
	if _, err := Recover(w.Dir()); !errors.Is(err, ErrRunning) {
		t.Errorf("got %v", err)
	}
	if err := w.Finish(); err != nil {
		t.Fatal(err)
	}
	if _, err := Recover(w.Dir()); err != nil {
		t.Error(err)
	}
}

func TestWhatNobodyEndedIsCutAtTheFinish(t *testing.T) {
	w := create(t, Options{})
	for i := range int64(2) {
		if err := w.Dispatched(sampleAttempt(i, 1)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Ended(sampleAttempt(1, 1)); err != nil {
		t.Fatal(err)
	}
	if err := w.Finish(); err != nil {
		t.Fatal(err)
	}
	rows := attempts(t, w.Dir())
	if len(rows) != 2 || rows[1].RequestID != 0 || rows[1].Outcome != Cut {
		t.Errorf("%+v", rows)
	}
}

func TestTruncatedAnywhere(t *testing.T) {
	w := create(t, Options{FlushEvery: time.Hour})
	for i := range 9 {
		if err := w.Sample(Sample{At: int64(i), Probe: "p", Name: "n", Value: 1}); err != nil {
			t.Fatal(err)
		}
		if i%3 == 2 {
			w.flush()
		}
	}
	if err := w.Finish(); err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(filepath.Join(w.Dir(), SamplesFile))
	if err != nil {
		t.Fatal(err)
	}
	read := func(size int) (rows int64, e extent) {
		e, err := wholeBatches(bytes.NewReader(content[:size]), int64(size), func(b arrow.RecordBatch) bool {
			rows += b.NumRows()
			return true
		})
		if err != nil {
			t.Fatalf("size %d: %v", size, err)
		}
		return rows, e
	}
	// Rows come three by three, at the first size that holds their batch whole.
	seen := int64(0)
	for size := range len(content) {
		rows, e := read(size)
		if rows != seen && rows != seen+3 || e.ended || rows > seen && e.torn() != 0 {
			t.Fatalf("size %d of %d: %d rows after %d, %+v", size, len(content), rows, seen, e)
		}
		seen = rows
	}
	if rows, e := read(len(content)); rows != 9 || seen != 9 || !e.ended || e.torn() != 0 {
		t.Errorf("whole: %d rows, %+v", rows, e)
	}
}

// disk is a file system that is full after some bytes.
type disk struct{ room int }

type diskFile struct {
	*os.File
	disk *disk
}

func (d *disk) open(path string) (file, error) {
	f, err := openAppend(path)
	if err != nil {
		return nil, err
	}
	return diskFile{f.(*os.File), d}, nil
}

func (f diskFile) Write(p []byte) (int, error) {
	n := min(len(p), f.disk.room)
	f.disk.room -= n
	if _, err := f.File.Write(p[:n]); err != nil {
		return 0, err
	}
	if n < len(p) {
		return n, syscall.ENOSPC
	}
	return n, nil
}

func TestFullDisk(t *testing.T) {
	for _, room := range []int{0, 100, 20_000, 100_000} {
		t.Run(strconv.Itoa(room), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := &disk{room: room}
				w := create(t, Options{open: d.open})
				var failed error
				n := int64(0)
				for ; failed == nil && n < 1000; n++ {
					failed = w.Ended(sampleAttempt(n, 2))
					time.Sleep(100 * time.Millisecond)
				}
				if !errors.Is(failed, syscall.ENOSPC) {
					t.Fatalf("after %d rows: %v", n, failed)
				}
				if err := w.Finish(); !errors.Is(err, syscall.ENOSPC) || !strings.Contains(err.Error(), w.Dir()) {
					t.Errorf("finish: %v", err)
				}
				got, err := Recover(w.Dir())
				if err != nil || got.Torn != 0 {
					t.Errorf("%+v, %v", got, err)
				}
				for i, a := range attempts(t, w.Dir()) {
					if diff := cmp.Diff(sampleAttempt(int64(i), 2), a, equal); diff != "" {
						t.Fatal(diff)
					}
				}
			})
		})
	}
}

func TestADiskThatIsFreedLosesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &disk{room: 5000}
		w := create(t, Options{open: d.open})
		n := int64(0)
		for ; w.Ended(sampleAttempt(n, 2)) == nil; n++ {
			time.Sleep(100 * time.Millisecond)
		}
		d.room = 1 << 30
		if err := w.Finish(); !errors.Is(err, syscall.ENOSPC) {
			t.Errorf("the error is to be told still, got %v", err)
		}
		if got := len(attempts(t, w.Dir())); got != int(n)+1 {
			t.Errorf("%d of %d rows", got, n+1)
		}
	})
}

func TestAnUnwritableParentIsAnError(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := Create(filepath.Join(file, "run"), testManifest(), Options{}); err == nil {
		t.Error("no error")
	}
}

// TestKilled runs this test binary as the process that is killed.
func TestKilled(t *testing.T) {
	if dir := os.Getenv("RECORD_TEST_KILLED"); dir != "" {
		writeUntilKilled(dir)
	}
	dir := filepath.Join(t.TempDir(), "run")
	cmd := exec.Command(os.Args[0], "-test.run=^TestKilled$")
	cmd.Env = append(os.Environ(), "RECORD_TEST_KILLED="+dir)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	// The child prints the number of rows that are on disk.
	var flushed int
	for flushed < 2000 {
		if _, err := fmt.Fscanln(out, &flushed); err != nil {
			t.Fatal(err)
		}
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_, _ = io.Copy(io.Discard, out)
	_ = cmd.Wait()
	got, err := Recover(dir)
	if err != nil {
		t.Fatal(err)
	}
	if got.Ended < int64(flushed) || got.Cut == 0 {
		t.Errorf("%d rows were written, recovered %+v", flushed, got)
	}
	if n := len(attempts(t, dir)); int64(n) != got.Ended+got.Cut {
		t.Errorf("%d rows, recovered %+v", n, got)
	}
}

func writeUntilKilled(dir string) {
	w, err := Create(dir, testManifest(), Options{})
	for i := int64(0); err == nil; i++ {
		err = w.Dispatched(sampleAttempt(i, 4))
		if err == nil && i >= 8 {
			err = w.Ended(sampleAttempt(i-8, 4))
		}
		if i%500 == 499 {
			w.flush()
			fmt.Println(i - 7)
		}
	}
	panic(err)
}
