package runner

import (
	"container/heap"

	"github.com/tokamak-bench/tokamak/clock"
)

// callQueue holds calls by moment; calls of one moment stay in order.
type callQueue struct {
	heap  callHeap
	order uint64
}

type timedCall struct {
	at    int64
	order uint64
	call  *Call
}

func (q *callQueue) push(at int64, c *Call) {
	q.order++
	heap.Push(&q.heap, timedCall{at, q.order, c})
}

func (q *callQueue) pop() *Call { return heap.Pop(&q.heap).(timedCall).call }

// remove takes a call out of the queue, if it is there.
func (q *callQueue) remove(c *Call) {
	if c.place > 0 {
		heap.Remove(&q.heap, c.place-1)
	}
}

func (q *callQueue) len() int { return len(q.heap) }

// first returns the earliest moment, or clock.Forever.
func (q *callQueue) first() int64 {
	if len(q.heap) == 0 {
		return clock.Forever
	}
	return q.heap[0].at
}

type callHeap []timedCall

func (q callHeap) Len() int { return len(q) }
func (q callHeap) Less(i, j int) bool {
	return q[i].at < q[j].at || q[i].at == q[j].at && q[i].order < q[j].order
}
func (q callHeap) Swap(i, j int) {
	q[i], q[j] = q[j], q[i]
	q[i].call.place, q[j].call.place = i+1, j+1
}
func (q *callHeap) Push(x any) {
	t := x.(timedCall)
	*q = append(*q, t)
	t.call.place = len(*q)
}
func (q *callHeap) Pop() any {
	n := len(*q) - 1
	t := (*q)[n]
	(*q)[n] = timedCall{}
	*q = (*q)[:n]
	t.call.place = 0
	return t
}
