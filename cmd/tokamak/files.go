package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/tokamak-bench/tokamak/exit"
)

// replaceFile writes a file beside its place and moves it there when it is
// whole, so that no one sees half of it. What is no ordinary file, such as a
// device, a pipe or a link, is written into and stays what it is.
func replaceFile(name string, write func(io.Writer) error) error {
	if s, err := os.Lstat(name); err == nil && !s.Mode().IsRegular() {
		f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o644)
		if err != nil {
			return err
		}
		return errors.Join(write(f), f.Close())
	}
	f, err := os.CreateTemp(filepath.Dir(name), ".tokamak-*")
	if err != nil {
		if p, ok := errors.AsType[*fs.PathError](err); ok { // of the name that the user gave
			err = &fs.PathError{Op: "create", Path: name, Err: p.Err}
		}
		return err
	}
	defer func() { _ = os.Remove(f.Name()) }() // gone where it was moved
	if err := errors.Join(write(f), f.Chmod(0o644), f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), name)
}

// writeFile writes into a file, and does not leave half of an ordinary one.
func writeFile(name string, write func(io.Writer) error) error {
	f, err := os.Create(name)
	if err != nil {
		return exit.With(exit.Usage, err)
	}
	if err := errors.Join(write(f), f.Close()); err != nil {
		if s, lost := os.Lstat(name); lost == nil && s.Mode().IsRegular() {
			err = errors.Join(err, os.Remove(name))
		}
		return exit.With(exit.Usage, err)
	}
	return nil
}

// apart refuses outputs that are one of the inputs or each other: writing them
// would destroy what is read. - is a standard stream, and empty names no file.
func apart(inputs []string, outputs ...string) error {
	taken := map[string]string{}
	for _, name := range inputs {
		taken[leadsTo(name)] = "is read from"
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
	return nil
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
