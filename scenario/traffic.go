package scenario

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/tokamak-bench/tokamak/measure"
	"github.com/tokamak-bench/tokamak/workload"
	"github.com/tokamak-bench/tokamak/workload/media"
	"github.com/tokamak-bench/tokamak/workload/traffic"
)

// traffic reads the traffic model that the workload names, or returns nil. What
// of it is sent, and when, the load decides.
func (r *resolver) traffic() *workload.Traffic {
	for _, id := range []string{"workload.traffic-sha256", "workload.scale"} {
		r.needs(id, "workload.traffic")
	}
	r.needs("workload.scale-by", "workload.scale")
	if !r.has("workload.traffic") {
		return nil
	}
	r.ofDataset()
	for _, id := range []string{"workload.dataset", "workload.classes", "workload.input-tokens", "workload.output-tokens", "workload.prefix-tokens", "workload.turns",
		"workload.images", "workload.audio", "workload.tools", "workload.tool-tokens"} {
		if v, ok := r.set[id]; ok {
			r.fail(v.errorf("%s does not go with traffic: the model says what is sent", word(id)))
		}
	}
	for _, id := range loadKinds {
		if v, ok := r.set["workload.scale"]; ok && r.has(id) {
			r.fail(v.errorf("scale and %s exclude each other: a scale multiplies the model's own rates", word(id)))
		}
	}
	t := &workload.Traffic{Name: r.file("workload.traffic")}
	t.Options.Scale = r.between("workload.scale", "a factor", 1, leastFactor, mostFactor)
	t.Options.ScaleBy = traffic.Scaling(r.oneOf("workload.scale-by", string(traffic.ByRate), string(traffic.ByRate), string(traffic.ByClients)))
	if t.Name == "" || !r.model(t) {
		return nil
	}
	t.Patience = r.patience()
	for _, id := range imageWords() {
		if v, ok := r.set[id]; ok && !t.Images() {
			r.fail(v.errorf("%s needs images in the traffic model: %s has none", word(id), t.Name))
		}
	}
	if t.Image = r.madeImage(); t.Image.Format == "" {
		t.Image = media.Image{Format: media.JPEG, Width: defaultSide, Height: defaultSide}
	}
	if api, ok := r.set["target.api"]; ok && t.Images() && api.text == "openai-completions" {
		r.fail(r.set["workload.traffic"].errorf("the images of %s do not go with openai-completions: expected openai-chat", t.Name))
	}
	if t.Text = r.corpus(); t.Text == "" && t.Model.Text != "" {
		words := t.Model.Text
		if !filepath.IsAbs(words) {
			words = filepath.Join(filepath.Dir(t.Name), words)
		}
		t.Text = "markov:" + words
	}
	return t
}

// model reads a model's file. What is wrong in it is said with its own places.
func (r *resolver) model(t *workload.Traffic) bool {
	v := r.set["workload.traffic"]
	data, err := os.ReadFile(t.Name)
	if err != nil {
		r.fail(v.errorf("expected a file that can be read: %v", err))
		return false
	}
	t.Model, err = traffic.Read(t.Name, bytes.NewReader(data))
	list, ok := errors.AsType[traffic.Errors](err)
	for _, e := range list {
		r.fail(&Error{Pos{File: e.File, Line: e.Line, Col: e.Column}, e.Message})
	}
	if err != nil && !ok {
		r.fail(v.errorf("%v", err))
	}
	if err != nil {
		return false
	}
	sum := sha256.Sum256(data)
	t.SHA256 = hex.EncodeToString(sum[:])
	if want, ok := r.set["workload.traffic-sha256"]; ok && want.text != t.SHA256 {
		r.fail(want.errorf("expected %s to have the SHA-256 %s, it has %s", t.Name, clip(want.text), t.SHA256))
	}
	return true
}

// timing makes the model's own moments the load where no other was asked for.
func (r *resolver) timing(s *Scenario) bool {
	t := s.Workload.Config.Traffic
	if t == nil {
		return false
	}
	if given(r.set, loadKinds) {
		t.Endless = true
		return false
	}
	l := &s.Load
	t.Options.Duration = l.Duration
	if len(r.errs) > 0 {
		return true
	}
	notices, err := t.Check()
	if err != nil {
		v := r.set["workload.traffic"]
		for _, id := range []string{"load.duration", "workload.scale"} {
			if x, ok := r.set[id]; ok {
				v = x
			}
		}
		r.fail(v.errorf("%v", err))
		return true
	}
	s.Notices = append(s.Notices, notices...)
	l.Kind = ModelTiming
	l.Plan.Stream = t.Moments()
	return true
}

// trafficWords describes a traffic model in a line.
func trafficWords(t *workload.Traffic) string {
	s := fmt.Sprintf("traffic model %s, %s", t.Name, plural(int64(len(t.Model.Clients)), "client"))
	if t.Options.Scale != 1 {
		s += fmt.Sprintf(", scaled %s by %s", number(t.Options.Scale), t.Options.ScaleBy)
	}
	return s
}

func plural(n int64, word string) string {
	if n == 1 {
		return "1 " + word
	}
	return measure.Count(n) + " " + word + "s"
}

// freezeTraffic says which model was used, and how much of it.
func freezeTraffic(t *workload.Traffic, s section) {
	s.set("traffic", t.Name).set("traffic-sha256", t.SHA256)
	if t.Options.Scale != 1 {
		s.set("scale", t.Options.Scale).set("scale-by", string(t.Options.ScaleBy))
	}
	if t.Patience != nil {
		s.set("patience", t.Patience.String())
	}
	if t.Images() {
		freezeImage(&t.Image, s)
	}
	if t.Text != "" {
		s.set("text", t.Text)
	}
}
