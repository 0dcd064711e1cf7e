package runner

import "container/heap"

// turn is a session's next request and its moment.
type turn struct {
	at   int64
	call *Call
}

type turnQueue []turn

func (q *turnQueue) push(t turn) { heap.Push((*turnHeap)(q), t) }
func (q *turnQueue) pop() *Call  { return heap.Pop((*turnHeap)(q)).(turn).call }

type turnHeap []turn

func (q turnHeap) Len() int           { return len(q) }
func (q turnHeap) Less(i, j int) bool { return q[i].at < q[j].at }
func (q turnHeap) Swap(i, j int)      { q[i], q[j] = q[j], q[i] }
func (q *turnHeap) Push(x any)        { *q = append(*q, x.(turn)) }
func (q *turnHeap) Pop() any {
	n := len(*q) - 1
	t := (*q)[n]
	(*q)[n] = turn{}
	*q = (*q)[:n]
	return t
}
