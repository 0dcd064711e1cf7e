package house

import (
	"fmt"
	"strings"
)

// ImportRules returns the table as rules of depguard, for .golangci.yml. Only
// what is below the root and forbidden is listed: tests may import anything.
func ImportRules(module string, rows []Row) string {
	var b strings.Builder
	for _, r := range rows {
		if r.All {
			continue
		}
		name := strings.ReplaceAll(r.Package, "/", "-")
		fmt.Fprintf(&b, "        %s:\n          files: [\"${base-path}/%s/**\", \"!$test\"]\n          deny:\n", name, r.Package)
		for _, other := range rows {
			if !r.Allows(other.Package) {
				fmt.Fprintf(&b, "            - {pkg: %s/%s, desc: \"see the table in docs/architecture.md\"}\n", module, other.Package)
			}
		}
	}
	return b.String()
}
