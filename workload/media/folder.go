package media

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
)

// Folder is where a dataset's files lie: below it and nowhere else. A nil one
// has no files. It is safe for concurrent use.
type Folder struct {
	// Dir is its path; empty: there is none, as beside standard input.
	Dir string
}

// inside returns a path within the folder. Messages do not repeat it: the
// names of files are content.
func (f *Folder) inside(ref string) (string, error) {
	if f == nil || f.Dir == "" {
		return "", errors.New("a file, and a dataset from standard input has no folder to look in")
	}
	if rest, ok := strings.CutPrefix(ref, "file:"); ok {
		rest = strings.TrimPrefix(strings.TrimPrefix(rest, "//"), "localhost")
		plain, err := url.PathUnescape(rest)
		if err != nil {
			return "", errors.New("a file: URL that cannot be read")
		}
		ref = plain
	}
	if filepath.IsAbs(ref) {
		dir, err := filepath.Abs(f.Dir)
		if err != nil {
			return "", err
		}
		if ref, err = filepath.Rel(dir, ref); err != nil {
			return "", errOutside
		}
	}
	if ref = filepath.Clean(ref); !filepath.IsLocal(ref) {
		return "", errOutside
	}
	return ref, nil
}

var errOutside = errors.New("a file outside the dataset's folder, which is not read")

// open opens a regular file of the folder. Links are followed within it.
func (f *Folder) open(name string) (*os.File, error) {
	root, err := os.OpenRoot(f.Dir)
	if err != nil {
		return nil, withoutPath(err)
	}
	defer root.Close()
	info, err := root.Stat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, errors.New("a file that is not there")
	case err != nil && strings.Contains(err.Error(), "escapes"):
		return nil, errOutside
	case err != nil:
		return nil, withoutPath(err)
	case !info.Mode().IsRegular():
		return nil, errors.New("what is no regular file")
	case info.Size() > MaxBytes:
		return nil, fmt.Errorf("a file of %d bytes: expected at most %d", info.Size(), int64(MaxBytes))
	}
	file, err := root.Open(name)
	return file, withoutPath(err)
}

// read returns a file's content.
func (f *Folder) read(name string) ([]byte, error) {
	file, err := f.open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	b, err := io.ReadAll(io.LimitReader(file, MaxBytes+1))
	if err == nil && len(b) > MaxBytes {
		err = fmt.Errorf("a file of more than %d bytes", int64(MaxBytes))
	}
	return b, withoutPath(err)
}

// withoutPath keeps the name of a file out of an error.
func withoutPath(err error) error {
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		return p.Err
	}
	return err
}
