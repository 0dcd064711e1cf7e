package scenario

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/tokamak-bench/tokamak/workload/traffic"
)

const trafficModel = `schema: tokamak.traffic/1
duration: 10m
text: words.markov
clients:
  - name: chat
    window: 5m
    rate: [2, 6]
    lengths:
      input-tokens: 100
      output-tokens: 50
`

// inModelDir runs in a directory that has a model.
func inModelDir(t *testing.T) {
	t.Helper()
	t.Chdir(t.TempDir())
	if err := os.WriteFile("traffic.yaml", []byte(trafficModel), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestTrafficAtItsOwnMoments(t *testing.T) {
	inModelDir(t)
	s := parse(t, "target: {url: 'sim://llama3-8b', virtual: true}\nworkload: {traffic: traffic.yaml, scale: 2.5, scale-by: clients}\nload: {duration: 15m}\n", Flags{})
	if s.Load.Kind != ModelTiming || s.Load.String() != "the traffic model's own timing, 15m" {
		t.Errorf("%s %s", s.Load.Kind, s.Load.String())
	}
	if got := s.Workload.String(); got != "traffic model traffic.yaml, 1 client, scaled 2.5 by clients" {
		t.Error(got)
	}
	if len(s.Notices) != 1 || !strings.Contains(s.Notices[0], "covers 10m") {
		t.Errorf("notices %q", s.Notices)
	}
	w := s.Workload.Config.Traffic
	if w.Options.Duration != 15*time.Minute || w.Options.ScaleBy != traffic.ByClients || w.Endless || w.Text != "markov:words.markov" {
		t.Errorf("%+v", w)
	}
	// 2/s and 6/s for 5 min each, then 2/s again, 2.5 times.
	f, ok := s.Forecast()
	if n := 2.5 * 300 * (2 + 6 + 2); !ok || !f.Known || f.Requests != n || f.InputTokens != 100*n || f.OutputTokens != 50*n || f.PeakRate != 15 || f.Duration != 15*time.Minute {
		t.Errorf("%+v", f)
	}
	frozen, err := s.Frozen()
	if err != nil {
		t.Fatal(err)
	}
	var kept struct{ Workload map[string]any }
	if err := json.Unmarshal(frozen, &kept); err != nil {
		t.Fatal(err)
	}
	for key, want := range map[string]any{"traffic": "traffic.yaml", "scale": 2.5, "scale-by": "clients", "traffic-sha256": w.SHA256} {
		if kept.Workload[key] != want {
			t.Errorf("%s is %v, want %v", key, kept.Workload[key], want)
		}
	}
	if len(w.SHA256) != 64 {
		t.Errorf("hash %q", w.SHA256)
	}
	again, err := Parse("run.json", frozen, Flags{})
	if err == nil || !strings.Contains(err.Error(), "expected one of") {
		t.Errorf("the words of the model are not there, and nothing says so: %v %v", again, err)
	}
	if err := os.WriteFile("words.markov", []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	again, err = Parse("run.json", frozen, Flags{})
	if err != nil {
		t.Fatal(err)
	}
	if twice, err := again.Frozen(); err != nil || string(twice) != string(frozen) {
		t.Errorf("%s\nbecame %s %v", frozen, twice, err)
	}
	if _, err := Thaw(frozen); err != nil {
		t.Error(err)
	}
}

func TestTrafficUnderAnotherLoad(t *testing.T) {
	inModelDir(t)
	s := parse(t, "workload: {traffic: traffic.yaml}\nload: {concurrency: 3, requests: 40}\n", Flags{})
	if s.Load.Kind != ClosedLoop || !s.Workload.Config.Traffic.Endless {
		t.Errorf("%s %+v", s.Load.Kind, s.Workload.Config.Traffic)
	}
}

func TestTrafficConflicts(t *testing.T) {
	inModelDir(t)
	bad := strings.Replace(trafficModel, "rate: [2, 6]", "rates: [2, 6]", 1)
	if err := os.WriteFile("bad.yaml", []byte(bad), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct{ yaml, want string }{
		"dataset": {"workload:\n  traffic: traffic.yaml\n  dataset: x\n", "s.yaml:3:12: dataset does not go with traffic"},
		"classes": {"workload:\n  traffic: traffic.yaml\n  classes: [{name: a}]\n", "s.yaml:3:12: classes does not go with traffic"},
		"lengths": {"workload:\n  traffic: traffic.yaml\n  input-tokens: 5\n", "s.yaml:3:17: input-tokens does not go with traffic"},
		"names":   {"workload:\n  traffic: traffic.yaml\n  keep-names: true\n", "s.yaml:3:15: keep-names needs dataset"},
		"repeat":  {"workload:\n  traffic: traffic.yaml\n  repeat: true\n", "s.yaml:3:11: repeat needs dataset"},
		"scale and rate": {"workload:\n  traffic: traffic.yaml\n  scale: 5\nload: {rate: 3}\n",
			"s.yaml:3:10: scale and rate exclude each other"},
		"scale alone":    {"workload:\n  scale: 5\n", "s.yaml:2:10: scale needs traffic"},
		"scale-by alone": {"workload:\n  traffic: traffic.yaml\n  scale-by: rate\n", "s.yaml:3:13: scale-by needs scale"},
		"scale-by":       {"workload:\n  traffic: traffic.yaml\n  scale: 2\n  scale-by: client\n", `s.yaml:4:13: expected one of rate, clients (clients?), got "client"`},
		"no scale":       {"workload:\n  traffic: traffic.yaml\n  scale: 0\n", "s.yaml:3:10: expected a factor from 1e-06 to 1e+06, got 0"},
		"too much":       {"workload:\n  traffic: traffic.yaml\n  scale: 1000000\n", `s.yaml:3:10: traffic.yaml: traffic: client "chat" has 2.4e+09 sessions in 10m, more than`},
		"too long":       {"workload: {traffic: traffic.yaml}\nload:\n  duration: 87000h\n", `s.yaml:3:13: traffic.yaml: traffic: client "chat" has`},
		"speed":          {"workload: {traffic: traffic.yaml}\nload: {speed: 2}\n", "s.yaml:2:15: speed needs dataset"},
		"no file":        {"workload:\n  traffic: none.yaml\n", "s.yaml:2:12: expected a file that can be read"},
		"another file":   {"workload:\n  traffic: traffic.yaml\n  traffic-sha256: abc\n", "s.yaml:3:19: expected traffic.yaml to have the SHA-256 abc, it has "},
		"bad file":       {"workload: {traffic: bad.yaml}\n", `bad.yaml:7:5: unknown key "rates" in a client`},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := resolve("s.yaml", []byte(c.yaml), Flags{}, fake())
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v\nwant %s", err, c.want)
			}
		})
	}
}
