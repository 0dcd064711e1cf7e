package clock

import (
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// clocks are the real ones under test, each way of waiting.
func clocks() map[string]func() *Real {
	return map[string]func() *Real{"kernel": NewReal, "portable": NewPortable}
}

func TestPortableFollowsFakeTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := NewPortable()
		defer c.Close()
		begin := time.Now()
		if c.Now() != 0 || !c.Epoch().Equal(begin) {
			t.Errorf("starts at %d, epoch %v", c.Now(), c.Epoch())
		}
		if c.Wait(int64(time.Hour)) || c.Now() != int64(time.Hour) {
			t.Errorf("waited until %v", time.Duration(c.Now()))
		}
		if c.Wait(5) || c.Now() != int64(time.Hour) {
			t.Error("a moment in the past is waited for")
		}
		go func() {
			time.Sleep(time.Minute)
			c.Wake()
		}()
		if !c.Wait(Forever) || c.Now() != int64(time.Hour+time.Minute) {
			t.Errorf("woken at %v", time.Duration(c.Now()))
		}
	})
}

func TestWakeBeforeWaitIsKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := NewPortable()
		defer c.Close()
		c.Wake()
		c.Wake()
		if !c.Wait(Forever) {
			t.Error("the wake-up is lost")
		}
		if c.Wait(int64(time.Second)) {
			t.Error("two wake-ups before one wait end two waits")
		}
	})
}

// A wake-up at the last moment is not lost, and a Wait that ends by time
// leaves none behind that was never called.
func TestWakeAgainstDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := NewPortable()
		defer c.Close()
		for i := int64(1); i <= 200; i++ {
			at := i * int64(time.Second)
			done := make(chan struct{})
			go func() {
				defer close(done)
				time.Sleep(time.Duration(at - c.Now()))
				c.Wake()
			}()
			woken := c.Wait(at)
			<-done
			if again := c.Wait(c.Now()); woken == again {
				t.Fatalf("round %d: wake-up seen %v and %v", i, woken, again)
			}
		}
	})
}

func TestRealClocks(t *testing.T) {
	for name, make := range clocks() {
		t.Run(name, func(t *testing.T) {
			c := make()
			defer c.Close()
			defer c.Pin()()
			before := c.Now()
			for i := range int64(20) {
				until := before + (i+1)*int64(200*time.Microsecond)
				if c.Wait(until) {
					t.Error("woken by nobody")
				}
				if now := c.Now(); now < until {
					t.Errorf("returned %v early", time.Duration(until-now))
				}
			}
			if c.Wait(-5) || c.Wait(0) {
				t.Error("woken by nobody")
			}
			for _, until := range []int64{Forever, 0} {
				c.Wake()
				if !c.Wait(until) {
					t.Error("the wake-up is lost")
				}
			}
		})
	}
}

// Every wake-up is seen by a Wait that ends after it: a waiter that is woken
// only when there is something to take takes all of it.
func TestNoWakeIsLost(t *testing.T) {
	for name, make := range clocks() {
		t.Run(name, func(t *testing.T) {
			c := make()
			defer c.Close()
			const givers, each = 4, 2000
			var given atomic.Int64
			var wg sync.WaitGroup
			for range givers {
				wg.Go(func() {
					for range each {
						given.Add(1)
						c.Wake()
					}
				})
			}
			for given.Load() < givers*each {
				if !c.Wait(Forever) {
					t.Error("Forever has come")
				}
			}
			wg.Wait()
		})
	}
}
