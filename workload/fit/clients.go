package fit

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

const (
	// ownRows is how many requests a name has at least to be a client of its own.
	ownRows = 200
	// mostClients is how many have their own part at most.
	mostClients = 50
	// mostGroups is how many groups the rest makes at most.
	mostGroups = 4
)

// client is a stream of the mixture before it is fitted.
type client struct {
	name    string
	members int
	rows    int64
	place   int // 1 + its place in the model, 0: no part of it

	ends  bool    // the log shows when its sessions go on, and ends before some do
	took  float64 // s that the service took in the mean
	turns float64 // in the mean, had the log not ended; 0: one
	jump  float64 // that of so many later turns
	jumps int
}

// divide makes clients of the names of the column asked for: each of those
// with many requests, and groups of the others by how long their prompts are.
func (l *log) divide() {
	column, kept := l.divideBy()
	l.client = make([]int32, len(l.at))
	if column == nil {
		if !l.madeUp && l.hide() {
			l.together()
			return
		}
		l.clients = []client{{name: "client-1", members: 1, rows: int64(len(l.at))}}
		return
	}
	list := l.tally(column)
	client := l.own(list, kept)
	for i, name := range column {
		l.client[i] = client[name+1]
	}
	l.together()
	if l.options.By != BySession { // the column's own memory is no longer needed
		l.tenant, l.model = nil, nil
	}
}

// together gives all turns of a session to the client that began it: none is
// lost where a session goes from one to another.
func (l *log) together() {
	first := make([]int32, l.sessions.count)
	for i := range first {
		first[i] = -1
	}
	moved := 0
	for i, s := range l.session {
		switch {
		case s < 0:
		case first[s] < 0:
			first[s] = l.client[i]
		case l.client[i] != first[s]:
			l.clients[l.client[i]].rows--
			l.clients[first[s]].rows++
			l.client[i] = first[s]
			moved++
		}
	}
	if moved > 0 {
		l.say("%d requests go on with a session that another client began, and are counted with that one", moved)
	}
}

// divideBy is the column that divides the log, nil where none does.
func (l *log) divideBy() (column []int32, kept []string) {
	switch by := l.options.By; {
	case by == ByTenant:
		return l.tenant, l.tenants.text
	case by == ByModel:
		return l.model, l.models.text
	case by == BySession && l.named != nil:
		return l.named, l.sessions.text
	case by == BySession && l.sessions.count > 0:
		return l.session, l.sessions.text
	case by == ByAny && len(l.tenants.ids) > 1:
		return l.tenant, l.tenants.text
	case by == ByAny && len(l.models.ids) > 1:
		return l.model, l.models.text
	}
	return nil, nil
}

// named is what the requests of one name come to.
type named struct {
	name  int32
	rows  int64
	input float64 // mean
}

// tally counts the requests of each name, most first. Name -1 is of those
// without one.
func (l *log) tally(column []int32) []named {
	var list []named
	at := map[int32]int{}
	for i, name := range column {
		k, ok := at[name]
		if !ok {
			k = len(list)
			at[name] = k
			list = append(list, named{name: name})
		}
		list[k].rows++
		list[k].input += float64(l.input[i])
	}
	for i := range list {
		list[i].input /= float64(list[i].rows)
	}
	slices.SortFunc(list, func(a, b named) int { return cmp.Or(cmp.Compare(b.rows, a.rows), cmp.Compare(a.name, b.name)) })
	return list
}

// own makes the clients and returns which one each name belongs to, by name + 1.
func (l *log) own(list []named, kept []string) []int32 {
	most := int32(0)
	for _, n := range list {
		most = max(most, n.name)
	}
	client := make([]int32, most+2)
	alone := 0
	for alone < len(list) && alone < mostClients && list[alone].rows >= ownRows {
		alone++
	}
	if alone == len(list)-1 && alone < mostClients {
		alone++ // a group of one would say no more
	}
	for i, n := range list[:alone] {
		name := fmt.Sprintf("client-%d", i+1)
		if n.name >= 0 && int(n.name) < len(kept) && kept[n.name] != "" {
			name = clipped(kept[n.name], i+1)
		}
		client[n.name+1] = int32(i)
		l.clients = append(l.clients, client1(name, n.rows))
	}
	for i, group := range groups(list[alone:]) {
		g := client1(fmt.Sprintf("group-%d", i+1), 0)
		g.members = len(group)
		for _, n := range group {
			g.rows += n.rows
			client[n.name+1] = int32(len(l.clients))
		}
		l.clients = append(l.clients, g)
	}
	return client
}

// mostName is how many bytes of a name a model holds.
const mostName = 200

// clipped is a name that a model can hold; number tells those apart that begin
// alike.
func clipped(name string, number int) string {
	if len(name) <= mostName {
		return name
	}
	return fmt.Sprintf("%s… (%d)", strings.ToValidUTF8(name[:mostName-20], ""), number)
}

func client1(name string, rows int64) client { return client{name: name, members: 1, rows: rows} }

// groups divides names into groups of about equal numbers of requests, by the
// mean length of their prompts, each large enough to be fitted.
func groups(list []named) [][]named {
	rows := int64(0)
	for _, n := range list {
		rows += n.rows
	}
	if rows == 0 {
		return nil
	}
	count := min(max(rows/(5*ownRows), 1), mostGroups)
	list = slices.Clone(list)
	slices.SortFunc(list, func(a, b named) int { return cmp.Or(cmp.Compare(a.input, b.input), cmp.Compare(a.name, b.name)) })
	var out [][]named
	from, seen := 0, int64(0)
	for i, n := range list {
		seen += n.rows
		if i == len(list)-1 || seen*count >= rows*int64(len(out)+1) {
			out = append(out, list[from:i+1])
			from = i + 1
		}
	}
	return out
}
