package triton

import (
	"net/http"
	"time"

	"github.com/tokamak-bench/tokamak/sim/core"
	"github.com/tokamak-bench/tokamak/sim/face"
)

// tensor describes an input or output.
type tensor struct {
	Name     string  `json:"name"`
	Datatype string  `json:"datatype"`
	Shape    []int64 `json:"shape"`
}

func inputs() []tensor {
	list := []tensor{}
	for _, x := range [][2]string{{"text_input", "BYTES"}, {"stream", "BOOL"}, {"max_tokens", "INT32"}, {"min_tokens", "INT32"}, {"temperature", "FP32"},
		{"top_p", "FP32"}, {"random_seed", "UINT64"}, {"stop_words", "BYTES"}, {"ignore_eos", "BOOL"}, {"sampling_parameters", "BYTES"},
		{"exclude_input_in_output", "BOOL"}, {"return_finish_reason", "BOOL"}, {"return_num_input_tokens", "BOOL"}, {"return_num_output_tokens", "BOOL"}} {
		list = append(list, tensor{x[0], x[1], []int64{1}})
	}
	return list
}

func outputs() []tensor {
	return []tensor{{"text_output", "BYTES", []int64{-1}}, {"finish_reason", "BYTES", []int64{-1}},
		{"num_input_tokens", "UINT32", []int64{1}}, {"num_output_tokens", "UINT32", []int64{-1}}}
}

func extensions() []string {
	return []string{"model_repository", "model_configuration", "binary_tensor_data", "parameters", "statistics", "generate"}
}

// ready answers for the server and, with a model in the path, for that.
func (t *server) ready(w http.ResponseWriter, r *http.Request) {
	if m := r.PathValue("model"); m != "" {
		if problem := t.known(m, r.PathValue("version")); problem != nil {
			refuse(w, problem)
			return
		}
	}
	if !t.s.Ready() {
		w.WriteHeader(http.StatusBadRequest) // Triton's status for not yet
	}
}

func (t *server) server(w http.ResponseWriter, _ *http.Request) {
	face.WriteJSON(w, http.StatusOK, map[string]any{"name": "triton", "version": Version, "extensions": extensions()})
}

func (t *server) index(w http.ResponseWriter, _ *http.Request) {
	face.WriteJSON(w, http.StatusOK, []map[string]string{{"name": t.s.Served, "version": version, "state": t.state()}})
}

func (t *server) state() string {
	if t.s.Ready() {
		return "READY"
	}
	return "LOADING"
}

func (t *server) metadata(w http.ResponseWriter, r *http.Request) {
	if problem := t.known(r.PathValue("model"), r.PathValue("version")); problem != nil {
		refuse(w, problem)
		return
	}
	face.WriteJSON(w, http.StatusOK, map[string]any{"name": t.s.Served, "versions": []string{version}, "platform": "python", "inputs": inputs(), "outputs": outputs()})
}

func (t *server) config(w http.ResponseWriter, r *http.Request) {
	if problem := t.known(r.PathValue("model"), r.PathValue("version")); problem != nil {
		refuse(w, problem)
		return
	}
	dims := func(list []tensor) []map[string]any {
		var out []map[string]any
		for _, x := range list {
			kind := "TYPE_" + x.Datatype
			if x.Datatype == "BYTES" {
				kind = "TYPE_STRING"
			}
			out = append(out, map[string]any{"name": x.Name, "data_type": kind, "dims": x.Shape})
		}
		return out
	}
	face.WriteJSON(w, http.StatusOK, map[string]any{"name": t.s.Served, "platform": "", "backend": "vllm", "max_batch_size": 0,
		"input": dims(inputs()), "output": dims(outputs()), "model_transaction_policy": map[string]bool{"decoupled": true}})
}

// totals are the statistics of the model, times in ns.
type totals struct {
	success, failed    int64
	time, queue, infer int64
	steps              int64
}

func totalsOf(s *face.Snapshot) totals {
	t := totals{success: s.Finished[core.Stop] + s.Finished[core.Length], failed: s.Finished[core.Abort], time: s.EndToEnd, queue: s.Queue, infer: s.Inference, steps: s.Counts.Steps}
	for _, n := range s.Refused {
		t.failed += n
	}
	return t
}

type duration struct {
	Count int64 `json:"count"`
	NS    int64 `json:"ns"`
}

func (t *server) statistics(w http.ResponseWriter, r *http.Request) {
	if m := r.PathValue("model"); m != "" {
		if problem := t.known(m, r.PathValue("version")); problem != nil {
			refuse(w, problem)
			return
		}
	}
	snap := t.s.Snapshot()
	n := totalsOf(&snap)
	face.WriteJSON(w, http.StatusOK, map[string]any{"model_stats": []map[string]any{{"name": t.s.Served, "version": version,
		"last_inference": t.lastInference(&snap), "inference_count": n.success, "execution_count": n.steps, "batch_stats": []any{},
		"inference_stats": map[string]duration{"success": {n.success, n.time}, "fail": {n.failed, 0}, "queue": {n.success, n.queue},
			"compute_input": {n.success, 0}, "compute_infer": {n.success, n.infer}, "compute_output": {n.success, 0}}}}})
}

// lastInference is the end of the last step in Unix ms; 0: there was none.
func (t *server) lastInference(s *face.Snapshot) int64 {
	if s.LastStep.End == 0 {
		return 0
	}
	return t.s.Started().Add(time.Duration(s.LastStep.End)).UnixMilli()
}
