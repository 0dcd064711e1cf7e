package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tokamak-bench/tokamak/exit"
)

func says(text string) func(io.Writer) error {
	return func(w io.Writer) error { _, err := io.WriteString(w, text); return err }
}

// A link stays a link, and what it leads to is written; an ordinary file is
// whole or as it was.
func TestReplaceFile(t *testing.T) {
	dir := t.TempDir()
	file, link := filepath.Join(dir, "file"), filepath.Join(dir, "link")
	if err := errors.Join(os.WriteFile(file, []byte("before"), 0o600), os.Symlink(file, link)); err != nil {
		t.Fatal(err)
	}
	if err := replaceFile(link, says("after")); err != nil {
		t.Fatal(err)
	}
	if s, err := os.Lstat(link); err != nil || s.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link became %v, %v", s, err)
	}
	broken := errors.New("broken")
	if err := replaceFile(file, func(w io.Writer) error { return errors.Join(says("half")(w), broken) }); !errors.Is(err, broken) {
		t.Error(err)
	}
	if b, err := os.ReadFile(file); err != nil || string(b) != "after" {
		t.Errorf("%q, %v", b, err)
	}
	if err := replaceFile(filepath.Join(dir, "none", "file"), says("")); err == nil || errors.Is(err, broken) ||
		err.Error() != "create "+filepath.Join(dir, "none", "file")+": no such file or directory" {
		t.Error(err)
	}
}

func TestApart(t *testing.T) {
	dir := t.TempDir()
	log, link := filepath.Join(dir, "log"), filepath.Join(dir, "link")
	if err := errors.Join(os.WriteFile(log, nil, 0o600), os.Symlink(log, link)); err != nil {
		t.Fatal(err)
	}
	for _, outputs := range [][]string{{log}, {link}, {"new", "new"}, {filepath.Join(dir, ".", "log")}} {
		if err := apart([]string{log, "-"}, outputs...); exit.Of(err) != exit.Usage {
			t.Errorf("%q: %v", outputs, err)
		}
	}
	if here, err := os.Getwd(); err != nil || !strings.Contains(fmt.Sprint(apart([]string{""}, here)), "is a directory") {
		t.Error("no input is not the working directory", err)
	}
	if err := apart([]string{log, "-"}, "", "-", filepath.Join(dir, "out"), "-"); err != nil {
		t.Error(err)
	}
}

// Work that has not ended is left behind with ctx.
func TestInterruptible(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	never := make(chan int)
	defer close(never)
	cancel()
	if _, err := interruptible(ctx, func() (int, error) { return <-never, nil }); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if n, err := interruptible(t.Context(), func() (int, error) { return 7, nil }); n != 7 || err != nil {
		t.Error(n, err)
	}
}

// What is replaced keeps its permissions, what is new follows the umask, and
// nothing else is left in the directory, whether it went well or not.
func TestReplaceFileKeepsPermissions(t *testing.T) {
	dir := t.TempDir()
	secret, plain, reference := filepath.Join(dir, "secret"), filepath.Join(dir, "plain"), filepath.Join(dir, "reference")
	if err := errors.Join(os.WriteFile(secret, nil, 0o600), os.WriteFile(reference, nil, 0o666)); err != nil {
		t.Fatal(err)
	}
	broken := errors.New("broken")
	for _, name := range []string{secret, plain} {
		if err := replaceFile(name, says("text")); err != nil {
			t.Fatal(err)
		}
		if err := replaceFile(name, func(io.Writer) error { return broken }); exit.Of(err) != exit.Usage || !errors.Is(err, broken) {
			t.Error(err)
		}
	}
	mode := func(name string) os.FileMode {
		s, err := os.Stat(name)
		if err != nil {
			t.Fatal(err)
		}
		return s.Mode()
	}
	if got := mode(secret); got != 0o600 {
		t.Errorf("a secret file became %v", got)
	}
	if got := mode(plain); got != mode(reference) {
		t.Errorf("a new file has %v, the system makes %v", got, mode(reference))
	}
	if list, err := os.ReadDir(dir); err != nil || len(list) != 3 {
		t.Errorf("%v, %v", list, err)
	}
}

// What cannot be written is refused before the work; what can is left as it is.
func TestWritable(t *testing.T) {
	dir := t.TempDir()
	file, link := filepath.Join(dir, "file"), filepath.Join(dir, "link")
	if err := errors.Join(os.WriteFile(file, []byte("before"), 0o600), os.Symlink("/dev/null", link)); err != nil {
		t.Fatal(err)
	}
	if err := writable("", "-", file, link, filepath.Join(dir, "new")); err != nil {
		t.Error(err)
	}
	for _, name := range []string{dir, filepath.Join(dir, "none", "file"), filepath.Join(file, "below")} {
		if err := writable(name); exit.Of(err) != exit.Usage {
			t.Errorf("%s: %v", name, err)
		}
	}
	if b, err := os.ReadFile(file); err != nil || string(b) != "before" {
		t.Errorf("%q, %v", b, err)
	}
	if list, err := os.ReadDir(dir); err != nil || len(list) != 2 {
		t.Errorf("%v, %v", list, err)
	}
}

// An ordinary file and a link to none are not overwritten unless it is forced; a
// device is written into.
func TestUnforced(t *testing.T) {
	dir := t.TempDir()
	file, link := filepath.Join(dir, "file"), filepath.Join(dir, "link")
	if err := errors.Join(os.WriteFile(file, nil, 0o600), os.Symlink(filepath.Join(dir, "none"), link)); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{file, link} {
		if err := unforced(false, "", filepath.Join(dir, "new"), name); exit.Of(err) != exit.Usage || err.Error() != name+" exists" {
			t.Errorf("%s: %v", name, err)
		}
		if err := unforced(true, name); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := unforced(false, "", os.DevNull, filepath.Join(dir, "new")); err != nil {
		t.Error(err)
	}
}

// A duration is above 0 where it was given, and 0 where none was.
func TestAsked(t *testing.T) {
	if d, err := asked("--window", nil); d != 0 || err != nil {
		t.Error(d, err)
	}
	for _, d := range []time.Duration{0, -time.Second} {
		if _, err := asked("--window", &d); err == nil || err.Error() != fmt.Sprintf("--window: expected a duration above 0, found %v", d) {
			t.Error(d, err)
		}
	}
	d := time.Nanosecond
	if got, err := asked("--window", &d); got != d || err != nil {
		t.Error(got, err)
	}
}
