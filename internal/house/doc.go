// Package house holds the rules that every package here keeps and that can be
// checked by reading the source: the import table of docs/architecture.md, a
// doc.go for each package, no exit below cmd, no init functions, no grab-bag
// names, no file of more than 600 lines. In go the files of the repository,
// out come findings; the package's test applies it to the repository itself
// and keeps the linter's import rules equal to the table.
package house
