package check

import (
	"context"
	"encoding/json"
	"regexp"
	"strings"

	"github.com/tokamak-bench/tokamak/engine/openai"
	"github.com/tokamak-bench/tokamak/wire"
)

// evidence ties a word that a server says of itself to an engine.
type evidence struct{ word, engine string }

var (
	owners = []evidence{{"llamacpp", "llama.cpp"}, {"vllm", "vLLM"}, {"sglang", "SGLang"}, {"library", "Ollama"},
		{"tensorrt", "TensorRT-LLM"}, {"tokamak", "tokamak sim"}, {"lmdeploy", "LMDeploy"}}
	servers  = []evidence{{"llama.cpp", "llama.cpp"}, {"sglang", "SGLang"}, {"vllm", "vLLM"}}
	prefixes = []evidence{{"vllm:", "vLLM"}, {"sglang:", "SGLang"}, {"sglang_", "SGLang"}, {"llamacpp:", "llama.cpp"},
		{"tgi_", "TGI"}, {"trtllm_", "TensorRT-LLM"}, {"nv_inference", "Triton"}, {"lmdeploy:", "LMDeploy"}}
)

// engine tells what serves, from the list of models, the header, and at most
// two pages: its metrics and the one that has the version.
func (c *checker) engine(ctx context.Context) {
	var why string
	c.Asking("its metrics and version")
	name := find(owners, strings.ToLower(c.owner))
	if name != "" {
		why = "owned_by " + c.owner
	}
	if name == "" {
		server := strings.ToLower(header(c.header, "Server"))
		if name = find(servers, server); name != "" {
			why = "the Server header"
		}
	}
	metrics := c.page(ctx, "metrics")
	if e := metricsEngine(string(metrics)); e != "" {
		if name == "" {
			why = "its metrics"
		}
		if name != "tokamak sim" {
			name = e
		}
	}
	version := ""
	switch name {
	case "llama.cpp":
		version = c.field(ctx, "props", "build_info")
	case "Ollama":
		version = c.field(ctx, "api/version", "version")
	case "SGLang":
		version = c.field(ctx, "get_server_info", "version")
	case "TGI":
		version = c.field(ctx, "info", "version")
	default:
		version = c.field(ctx, "version", "version")
	}
	c.r.Engine, c.r.Version = name, version
	page := "no /metrics"
	if len(metrics) > 0 {
		page = "/metrics is there"
	}
	switch {
	case name == "":
		c.r.add(lineEngine, Unknown, "", "the server does not say; %s", page)
	case version == "":
		c.r.add(lineEngine, OK, "", "%s (by %s), version unknown; %s", name, why, page)
	default:
		c.r.add(lineEngine, OK, "", "%s %s (by %s); %s", name, version, why, page)
	}
}

func find(list []evidence, text string) string {
	for _, e := range list {
		if text != "" && strings.Contains(text, e.word) {
			return e.engine
		}
	}
	return ""
}

func header(list []wire.Field, name string) string {
	x := wire.Exchange{Header: list}
	return x.HeaderValue(name)
}

var sampleLine = regexp.MustCompile(`(?m)^[a-zA-Z_:][a-zA-Z0-9_:]*`)

// metricsEngine tells an engine by the names of its metrics.
func metricsEngine(page string) string {
	for _, name := range sampleLine.FindAllString(page, 2000) {
		for _, p := range prefixes {
			if strings.HasPrefix(name, p.word) {
				return p.engine
			}
		}
	}
	return ""
}

// page fetches a page beside the API; nil if there is none.
func (c *checker) page(ctx context.Context, path string) []byte {
	u, err := openai.PageURL(c.OpenAI.Base.String(), path)
	if err != nil {
		return nil
	}
	u.User = nil
	c.r.Requests++
	r := send(ctx, c.Transport, c.driver.Get(u))
	if !r.ok() || strings.Contains(strings.ToLower(r.x.HeaderValue("Content-Type")), "html") {
		return nil
	}
	return r.body
}

// field reads one string of a JSON page.
func (c *checker) field(ctx context.Context, path, name string) string {
	var m map[string]json.RawMessage
	var s string
	if json.Unmarshal(c.page(ctx, path), &m) != nil || json.Unmarshal(m[name], &s) != nil || len(s) > 80 {
		return ""
	}
	return strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' {
			return -1
		}
		return r
	}, s)
}
