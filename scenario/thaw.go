package scenario

import (
	"encoding/json"
	"errors"
	"os"
)

// bound to the machine and the moment of the run: files, secrets, and what
// was redacted. None of it is needed to judge a run again.
var perishable = []string{"target.url", "target.against", "load.pairs", "target.virtual", "target.header", "target.api-key-env", "target.api-key-file", "target.auth-command", "target.auth-header",
	"target.ca", "target.cert", "target.key", "target.proxy", "target.no-proxy",
	"workload.body", "workload.tokenizer", "workload.chat-template", "workload.dataset", "workload.conversations", "workload.repeat", "workload.salt", "workload.keep-names", "workload.jitter", "workload.dataset-format",
	"workload.dataset-map", "workload.dataset-turns", "workload.block-tokens", "workload.max-bad", "workload.traffic", "workload.traffic-sha256", "workload.scale", "workload.scale-by", "workload.reasoning",
	"load.speed"}

// Thaw reads the frozen form in a manifest, to judge a run again: what was
// redacted and what names files or secrets is left out, so that it cannot be
// run.
func Thaw(frozen json.RawMessage) (*Scenario, error) {
	if len(frozen) == 0 {
		return nil, errors.New("the manifest holds no scenario")
	}
	root, err := parseYAML("run.json", frozen)
	if err != nil {
		return nil, err
	}
	set, errs := settingsTable().fromFile(root)
	drop(set, perishable)
	none := func(string) (string, bool) { return "", false }
	s, err := (&resolver{set: set, errs: errs, env: environment{none, os.ReadFile}}).scenario("run.json")
	if err != nil {
		return nil, err
	}
	s.Target.URLs, s.Notices = nil, nil
	return s, nil
}
