package openai

import (
	"bytes"
	"sync"
	"testing"

	"github.com/tokamak-bench/tokamak/engine"
)

// TestConcurrentUse: requests are formed and read while a server refuses
// fields; a refused field is gone from all requests formed later.
func TestConcurrentUse(t *testing.T) {
	d := newDriver(t, APIChat, nil)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 50 {
				c := &engine.Call{MaxTokens: 2, Messages: hi().Messages}
				if _, err := d.Encode(c); err != nil {
					t.Error(err)
				}
				a := play(t, d, c, response{status: 400, body: `{"error":{"message":"Unknown parameter: 'ignore_eos'.","param":"ignore_eos"}}`})
				if a.RefusedField != "" && !d.Refuse(a.RefusedField) {
					t.Error("refused in vain")
				}
				r, err := d.Encode(c)
				if err != nil || bytes.Contains(r.Body, []byte("ignore_eos")) {
					t.Errorf("still sent: %s, %v", r.Body, err)
				}
				d.Adapted()
			}
		})
	}
	wg.Wait()
}
