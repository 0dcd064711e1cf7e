package clock

import (
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

func TestRealLoopRunsInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := NewPortable()
		l := NewRealLoop(c)
		var got []int64
		done := make(chan struct{})
		l.Post(func() {
			note := func(id int64) func() { return func() { got = append(got, id, l.Now()) } }
			l.At(30, note(3))
			l.At(10, note(1))
			l.At(20, func() {
				note(2)()
				l.At(20, note(4)) // a moment of now
				l.At(5, note(5))  // and of the past
			})
			l.At(40, func() { close(done) })
		})
		<-done
		l.Close()
		c.Close()
		if want := []int64{1, 10, 2, 20, 5, 20, 4, 20, 3, 30}; !slices.Equal(got, want) {
			t.Errorf("got %v, want %v", got, want)
		}
	})
}

func TestRealLoopPostsFromMany(t *testing.T) {
	for name, make := range clocks() {
		t.Run(name, func(t *testing.T) {
			c := make()
			l := NewRealLoop(c)
			const givers, each = 4, 500
			next := [givers]int{} // owned by the loop
			count, late := 0, 0
			var wg sync.WaitGroup
			all := newGate()
			for g := range givers {
				wg.Go(func() {
					for i := range each {
						l.Post(func() {
							if next[g] != i {
								t.Errorf("post %d of giver %d runs after %d others", i, g, next[g])
							}
							next[g]++
							l.At(l.Now()+int64(10*time.Microsecond), func() {
								late++
								if count++; count == givers*each {
									all.open()
								}
							})
						})
					}
				})
			}
			wg.Wait()
			all.wait()
			l.Close()
			c.Close()
			if late != givers*each {
				t.Errorf("%d callbacks, want %d", late, givers*each)
			}
		})
	}
}

// A callback that posts anew without end starves neither the timed ones nor
// Close.
func TestRealLoopIsNotStarved(t *testing.T) {
	c := NewReal()
	l := NewRealLoop(c)
	timed := newGate()
	var again func()
	again = func() { l.Post(again) }
	l.Post(func() {
		l.At(l.Now()+int64(time.Millisecond), timed.open)
		again()
	})
	timed.wait()
	l.Close()
	c.Close()
}

func TestRealLoopDropsWhatIsNotDue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := NewPortable()
		l := NewRealLoop(c)
		l.Post(func() { l.At(int64(time.Hour), func() { t.Error("runs after Close") }) })
		synctest.Wait()
		l.Close()
		c.Close()
		time.Sleep(2 * time.Hour)
	})
}

// gate is opened once.
type gate chan struct{}

func newGate() gate  { return make(gate) }
func (g gate) open() { close(g) }
func (g gate) wait() { <-g }
