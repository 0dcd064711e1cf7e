// Package media makes the content of synthetic requests that is no text:
// pictures, sound and definitions of tools, each of an asked size and each
// another for another ID. A specification goes in, the bytes of a file or a
// JSON list come out, the same on every machine. It also finds the content that
// logs and datasets hold: in data: URLs and in files of the dataset's folder,
// never from elsewhere.
package media
