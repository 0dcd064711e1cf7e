package workload

import (
	"fmt"
	"hash/fnv"
	"strconv"
)

// names hides what a log calls its tenants and sessions: a run directory is
// passed on where the log must not go. They are numbered as they first appear
// among the rows that are sent, so that they are the same in every run of the
// same rows.
type names struct {
	keep     bool
	tenants  numbered
	sessions numbered
}

// numbered are numbers of names. It keeps no name, only a hash of each.
type numbered struct{ numbers map[uint64]int32 }

func (n *names) tenant(name string) string { return n.hidden(&n.tenants, "tenant-", name) }

func (n *names) session(name string) string { return n.hidden(&n.sessions, "session-", name) }

func (n *names) hidden(of *numbered, kind, name string) string {
	if n.keep || name == "" {
		return name
	}
	return kind + strconv.Itoa(int(of.number(name)))
}

func (n *numbered) number(name string) int32 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(name))
	if n.numbers == nil {
		n.numbers = map[uint64]int32{}
	}
	key := h.Sum64()
	if n.numbers[key] == 0 {
		n.numbers[key] = int32(len(n.numbers)) + 1
	}
	return n.numbers[key]
}

// notes says what was hidden.
func (n *names) notes() []string {
	if len(n.tenants.numbers) == 0 {
		return nil
	}
	what := "1 tenant of the dataset is called tenant-1"
	if k := len(n.tenants.numbers); k > 1 {
		what = fmt.Sprintf("%d tenants of the dataset are called tenant-1 to tenant-%d", k, k)
	}
	return []string{what + ", in order of first appearance; --keep-names keeps their names"}
}
