package runner

import (
	"context"
	"net/url"

	"github.com/tokamak-bench/tokamak/calibration"
	"github.com/tokamak-bench/tokamak/engine"
	"github.com/tokamak-bench/tokamak/engine/openai"
	"github.com/tokamak-bench/tokamak/scenario"
)

// Calibrate finds out what a client on this machine carries, with the decoder
// that runs use. The executable is this binary.
func Calibrate(ctx context.Context, executable, version string, short bool, progress func(what string)) (*calibration.Result, error) {
	d, err := openai.New("openai-chat", openai.Options{Base: &url.URL{Scheme: "http", Host: "127.0.0.1", Path: "/v1"}, Model: "paced"})
	if err != nil {
		return nil, err
	}
	return calibration.Run(ctx, calibration.Options{
		Server:  []string{executable, "calibrate", "--serve"},
		Machine: calibration.Here(version),
		Decoder: func() calibration.Decoder {
			return d.Decoder(&engine.Call{Messages: []engine.Message{{Role: "user", Content: "calibrate"}}})
		},
		Progress: progress, Short: short,
	})
}

// assumedPace is how fast each user of a closed loop is taken to be served, in
// tokens/s: what a plan asks of the client depends on it, and nobody knows it
// before the run.
const assumedPace = 100

// asks estimates what the load asks of the client at its peak; false where
// nothing tells.
func asks(s *scenario.Scenario) (calibration.Plan, bool) {
	f, ok := s.Forecast()
	if !ok || f.Requests <= 0 {
		return calibration.Plan{}, false
	}
	each := f.OutputTokens / f.Requests
	if !s.Target.Stream {
		each = 1
	}
	p := calibration.Plan{EventsPerS: f.PeakRate * each}
	if users := float64(f.PeakUsers); users > 0 && s.Target.Stream {
		p.EventsPerS += users * assumedPace
		p.Assumed = "at 100 tokens/s for each user"
	}
	return p, p.EventsPerS > 0
}

// heed puts a word among the notices where the load is more than this
// machine's client was found to carry. It reads one small file.
func (r *Run) heed() {
	if r.real == nil || r.opt.Calibrations.Path == "" {
		return
	}
	p, ok := asks(r.scenario)
	if !ok {
		return
	}
	if text := r.opt.Calibrations.Find(calibration.Here(r.opt.Version)).Warning(p); text != "" {
		r.scenario.Notices = append(r.scenario.Notices, text)
	}
}
