package wire

import (
	"container/heap"
	"sync"
	"time"

	"github.com/tokamak-bench/tokamak/clock"
)

// deadlines calls each of its items at its moment. An item stands in it at
// most once, so that its size follows the connections and not the requests;
// what is set later than an item's moment is looked at when that comes.
type deadlines struct {
	mu   sync.Mutex
	heap deadlineHeap
	wake chan struct{}
}

// deadline is what an item embeds.
type deadline struct {
	at    int64
	index int // in the heap; -1: not in it
	owner deadlineOwner
}

// deadlineOwner acts at a moment that it asked for.
type deadlineOwner interface{ due(now int64) }

func newDeadlines() *deadlines { return &deadlines{wake: make(chan struct{}, 1)} }

// set makes d's owner be called at the moment at or, where it already is to be
// called earlier, then.
func (d *deadlines) set(item *deadline, at int64) {
	if at == clock.Forever {
		return
	}
	d.mu.Lock()
	switch {
	case item.index < 0:
		item.at = at
		heap.Push(&d.heap, item)
	case at < item.at:
		item.at = at
		heap.Fix(&d.heap, item.index)
	}
	first := item.index == 0
	d.mu.Unlock()
	if first {
		select {
		case d.wake <- struct{}{}:
		default:
		}
	}
}

// drop forgets an item.
func (d *deadlines) drop(item *deadline) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if item.index >= 0 {
		heap.Remove(&d.heap, item.index)
	}
}

// pop returns an item that is due, or nil and how long until there may be one.
func (d *deadlines) pop(now int64) (*deadline, time.Duration) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.heap) == 0 {
		return nil, time.Second
	}
	if wait := d.heap[0].at - now; wait > 0 {
		return nil, min(time.Duration(wait), time.Second)
	}
	return heap.Pop(&d.heap).(*deadline), 0
}

// run calls what is due, and each about once a second, until stop is closed.
func (d *deadlines) run(now func() int64, each func(), stop <-chan struct{}) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	checked := now()
	for {
		select {
		case <-stop:
			return
		case <-d.wake:
		case <-timer.C:
		}
		if t := now(); t-checked >= int64(time.Second) {
			checked = t
			each()
		}
		item, wait := d.pop(now())
		for ; item != nil; item, wait = d.pop(now()) {
			item.owner.due(now())
		}
		timer.Reset(wait)
	}
}

type deadlineHeap []*deadline

func (h deadlineHeap) Len() int           { return len(h) }
func (h deadlineHeap) Less(i, j int) bool { return h[i].at < h[j].at }
func (h deadlineHeap) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].index, h[j].index = i, j
}
func (h *deadlineHeap) Push(x any) {
	item := x.(*deadline)
	item.index = len(*h)
	*h = append(*h, item)
}
func (h *deadlineHeap) Pop() any {
	n := len(*h) - 1
	item := (*h)[n]
	(*h)[n] = nil
	*h = (*h)[:n]
	item.index = -1
	return item
}
