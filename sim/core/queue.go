package core

import "slices"

// queue holds waiting requests; its front can be given back.
type queue struct {
	items []*Request
	head  int
}

func (q *queue) len() int          { return len(q.items) - q.head }
func (q *queue) front() *Request   { return q.items[q.head] }
func (q *queue) push(r *Request)   { q.items = append(q.items, r) }
func (q *queue) list() []*Request  { return q.items[q.head:] }
func (q *queue) remove(r *Request) { q.delete(slices.Index(q.list(), r)) }

func (q *queue) pop() *Request {
	r := q.items[q.head]
	q.items[q.head] = nil
	q.head++
	if q.head > 1024 && q.head > len(q.items)/2 {
		q.items = slices.Delete(q.items, 0, q.head)
		q.head = 0
	}
	return r
}

func (q *queue) pushFront(r *Request) {
	if q.head == 0 {
		q.items = slices.Insert(q.items, 0, r)
		return
	}
	q.head--
	q.items[q.head] = r
}

func (q *queue) delete(i int) {
	if i >= 0 {
		q.items = slices.Delete(q.items, q.head+i, q.head+i+1)
	}
}

// insert puts a request behind those that go before it.
func (q *queue) insert(r *Request, before func(a, b *Request) bool) {
	at, _ := slices.BinarySearchFunc(q.list(), r, func(x, r *Request) int {
		if before(r, x) {
			return 1
		}
		return -1
	})
	q.items = slices.Insert(q.items, q.head+at, r)
}
