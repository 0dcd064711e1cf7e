package self

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// file reads a small file; nil where it cannot be read.
func file(parts ...string) []byte {
	b, err := os.ReadFile(filepath.Join(parts...))
	if err != nil {
		return nil
	}
	return b
}

// field returns word i of a line that begins with key, as a number.
func field(content []byte, key string, i int) (float64, bool) {
	for line := range bytes.Lines(content) {
		words := bytes.Fields(line)
		if len(words) > i && string(words[0]) == key {
			v, err := strconv.ParseFloat(string(words[i]), 64)
			return v, err == nil
		}
	}
	return 0, false
}

// word returns word i of a content as a number.
func word(content []byte, i int) (float64, bool) {
	words := bytes.Fields(content)
	if len(words) <= i {
		return 0, false
	}
	v, err := strconv.ParseFloat(string(words[i]), 64)
	return v, err == nil
}

// process reads what /proc/self says of the process.
type process struct {
	dir         string
	page        float64
	wait        counter
	retransmits counter
	ports       float64 // 0: unknown
}

func newProcess(proc string) *process {
	p := &process{dir: filepath.Join(proc, "self"), page: float64(os.Getpagesize())}
	limits := file(proc, "sys/net/ipv4/ip_local_port_range")
	from, ok := word(limits, 0)
	to, ok2 := word(limits, 1)
	if ok && ok2 && to >= from {
		p.ports = to - from + 1
	}
	return p
}

func (p *process) read(r *round) {
	if pages, ok := word(file(p.dir, "statm"), 1); ok {
		r.gauge("rss", pages*p.page)
	}
	if n, ok := count(filepath.Join(p.dir, "fd")); ok {
		r.gauge("fds", float64(n))
	}
	if n := fileLimit(); n > 0 {
		r.gauge("fd_limit", float64(n))
	}
	p.threads(r)
	p.network(r)
}

// count returns the number of entries of a directory.
func count(dir string) (int, bool) {
	d, err := os.Open(dir)
	if err != nil {
		return 0, false
	}
	defer func() { _ = d.Close() }()
	names, err := d.Readdirnames(-1)
	return len(names), err == nil
}

// threads sums how long each thread waited for a CPU (schedstat, second
// word). A thread that ends takes its time with it: the sum may then shrink,
// which gives no reading.
func (p *process) threads(r *round) {
	tasks := filepath.Join(p.dir, "task")
	d, err := os.Open(tasks)
	if err != nil {
		return
	}
	defer func() { _ = d.Close() }()
	names, err := d.Readdirnames(-1)
	if err != nil {
		return
	}
	r.gauge("threads", float64(len(names)))
	total, read := 0.0, 0
	for _, name := range names {
		if wait, ok := word(file(tasks, name, "schedstat"), 1); ok {
			total += wait
			read++
		}
	}
	if read > 0 {
		p.wait.rate(r, "cpu_wait", total)
	}
}

// network reads sockets and retransmissions of the network namespace.
func (p *process) network(r *round) {
	stat := file(p.dir, "net/sockstat")
	inuse, ok := pair(stat, "TCP:", "inuse")
	if ok {
		six, _ := pair(file(p.dir, "net/sockstat6"), "TCP6:", "inuse")
		waiting, _ := pair(stat, "TCP:", "tw")
		r.gauge("tcp_sockets", inuse+six+waiting)
	}
	if p.ports > 0 {
		r.gauge("tcp_ports", p.ports)
	}
	if n, ok := column(file(p.dir, "net/snmp"), "Tcp:", "RetransSegs"); ok {
		p.retransmits.add(r, "tcp_retransmits", n, 1)
	}
}

// pair finds "name value" in the line that begins with key.
func pair(content []byte, key, name string) (float64, bool) {
	for line := range bytes.Lines(content) {
		words := strings.Fields(string(line))
		if len(words) == 0 || words[0] != key {
			continue
		}
		for i := 1; i+1 < len(words); i += 2 {
			if words[i] == name {
				v, err := strconv.ParseFloat(words[i+1], 64)
				return v, err == nil
			}
		}
	}
	return 0, false
}

// column finds a value by the name above it in a pair of lines that begin
// with key: names first, then values.
func column(content []byte, key, name string) (float64, bool) {
	var names []string
	for line := range bytes.Lines(content) {
		words := strings.Fields(string(line))
		if len(words) == 0 || words[0] != key {
			continue
		}
		if names == nil {
			names = words
			continue
		}
		for i, n := range names {
			if n == name && i < len(words) {
				v, err := strconv.ParseFloat(words[i], 64)
				return v, err == nil
			}
		}
	}
	return 0, false
}

// machine reads what the whole machine did.
type machine struct {
	proc                  string
	busy, steal, pressure counter
	memory                counter
}

// tick is the unit of /proc/stat: USER_HZ is 100 on every Linux that Go runs on.
const tick = 1e7 // ns

func (m *machine) read(r *round) {
	stat := file(m.proc, "stat")
	var t [9]float64 // user nice system idle iowait irq softirq steal
	for i := 1; i <= 8; i++ {
		v, ok := field(stat, "cpu", i)
		if !ok {
			break
		}
		t[i] = v * tick
		if i == 8 {
			m.busy.rate(r, "machine_busy", t[1]+t[2]+t[3]+t[6]+t[7])
			m.steal.rate(r, "machine_steal", t[8])
		}
	}
	if total, ok := equals(file(m.proc, "pressure/cpu"), "some", "total"); ok {
		m.pressure.rate(r, "cpu_pressure", total*1e3)
	}
	if total, ok := equals(file(m.proc, "pressure/memory"), "some", "total"); ok {
		m.memory.rate(r, "memory_pressure", total*1e3)
	}
	load := file(m.proc, "loadavg") // 0.20 0.18 0.12 1/80 11206
	if v, ok := word(load, 0); ok {
		r.gauge("load1", v)
	}
	if words := strings.Fields(string(load)); len(words) > 3 {
		running, _, _ := strings.Cut(words[3], "/")
		if n, err := strconv.ParseFloat(running, 64); err == nil {
			r.gauge("runnable", n)
		}
	}
}

// equals finds "name=value" in the line that begins with key.
func equals(content []byte, key, name string) (float64, bool) {
	for line := range bytes.Lines(content) {
		words := strings.Fields(string(line))
		if len(words) == 0 || words[0] != key {
			continue
		}
		for _, w := range words[1:] {
			if value, ok := strings.CutPrefix(w, name+"="); ok {
				v, err := strconv.ParseFloat(value, 64)
				return v, err == nil
			}
		}
	}
	return 0, false
}
