package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"

	"github.com/tokamak-bench/tokamak/exit"
)

// replaceFile writes a file beside its place and moves it there when it is
// whole, so that no one sees half of it. One that it replaces keeps its
// permissions. What is no ordinary file, such as a device, a pipe or a link, is
// written into and stays what it is. Errors are exit 2. All commands write what
// they are asked for with it; what grows while others read it is no such file.
func replaceFile(name string, write func(io.Writer) error) error {
	s, err := os.Lstat(name)
	if err == nil && !s.Mode().IsRegular() {
		f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o666)
		if err != nil {
			return exit.With(exit.Usage, err)
		}
		return exit.With(exit.Usage, errors.Join(write(f), f.Close()))
	}
	f, err := beside(name)
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(f.Name()) }() // gone where it was moved
	if s != nil {
		err = f.Chmod(s.Mode().Perm())
	}
	if err := errors.Join(err, write(f), f.Close()); err != nil {
		return exit.With(exit.Usage, err)
	}
	return exit.With(exit.Usage, os.Rename(f.Name(), name))
}

// unforced refuses to overwrite files that exist, unless it is forced. What is no
// ordinary file, such as a device, is written into, and empty names no file.
func unforced(force bool, names ...string) error {
	for _, name := range names {
		if to, err := os.Stat(name); force || err == nil && !to.Mode().IsRegular() {
			continue
		}
		if _, err := os.Lstat(name); err == nil {
			return exit.Hint(exit.Usage, fmt.Errorf("%s exists", name), "--force overwrites it")
		}
	}
	return nil
}

// bytesOf writes what is whole already.
func bytesOf(b []byte) func(io.Writer) error {
	return func(w io.Writer) error { _, err := w.Write(b); return err }
}

// beside makes a new file in the directory of another. Errors are of the name
// that the user gave.
func beside(name string) (*os.File, error) {
	f, err := os.OpenFile(filepath.Join(filepath.Dir(name), fmt.Sprintf(".tokamak-%016x", rand.Uint64())), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		err = &fs.PathError{Op: "create", Path: name, Err: p.Err}
	}
	return f, exit.With(exit.Usage, err)
}

// writable makes sure ahead of long work that replaceFile will be able to write
// what comes of it, and leaves nothing behind. Empty names no file.
func writable(names ...string) error {
	for _, name := range names {
		s, err := os.Stat(name)
		switch {
		case name == "" || name == "-" || err == nil && !s.IsDir() && !s.Mode().IsRegular():
			continue
		case err == nil && s.IsDir():
			return exit.With(exit.Usage, fmt.Errorf("%s is a directory: expected a file to write", name))
		}
		f, err := beside(name)
		if err != nil {
			return err
		}
		if err := errors.Join(f.Close(), os.Remove(f.Name())); err != nil {
			return exit.With(exit.Usage, err)
		}
	}
	return nil
}

// apart refuses outputs that are one of the inputs or each other, since writing
// them would destroy what is read, and such that cannot be written. - is a standard stream, and empty names no file.
func apart(inputs []string, outputs ...string) error {
	taken := map[string]string{}
	for _, name := range inputs {
		if name != "" {
			taken[leadsTo(name)] = "is read from"
		}
	}
	for _, name := range outputs {
		if name == "" || name == "-" {
			continue
		}
		if how, ok := taken[leadsTo(name)]; ok {
			return exit.With(exit.Usage, fmt.Errorf("%s %s: expected another file to write to", name, how))
		}
		taken[leadsTo(name)] = "is written already"
	}
	return writable(outputs...)
}

// leadsTo is where a name leads.
func leadsTo(name string) string {
	if name == "-" {
		return name
	}
	if to, err := filepath.EvalSymlinks(name); err == nil {
		name = to
	}
	if to, err := filepath.Abs(name); err == nil {
		name = to
	}
	return name
}
