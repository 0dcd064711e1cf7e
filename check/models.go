package check

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/tokamak-bench/tokamak/engine/openai"
	"github.com/tokamak-bench/tokamak/exit"
	"github.com/tokamak-bench/tokamak/wire"
)

// Model is an entry of GET /v1/models.
type Model struct {
	ID      string `json:"id"`
	OwnedBy string `json:"owned_by,omitempty"`
	// Context is the longest context in tokens; 0: the server does not say.
	Context int64 `json:"context,omitempty"`
}

// maxModels bounds how many models are kept of a list.
const maxModels = 10000

// ErrNoList says that the server has no list of models.
var ErrNoList = errors.New("the server has no list of models")

// Models asks the server for its models. Its errors carry exit codes: target
// for a server that cannot be reached or refuses the credential.
func Models(ctx context.Context, t wire.Transport, o openai.Options) ([]Model, error) {
	d, err := openai.New(openai.APIChat, chatBase(o))
	if err != nil {
		return nil, exit.With(exit.Usage, err)
	}
	u, err := openai.ModelsURL(o.Base.String())
	if err != nil {
		return nil, exit.With(exit.Usage, err)
	}
	models, _, err := listModels(ctx, t, d, u)
	return models, exit.With(exit.Target, err)
}

// DefaultModel returns the only model of the server. Several, or a server
// without a list, are a usage error that says so.
func DefaultModel(ctx context.Context, t wire.Transport, o openai.Options) (string, error) {
	models, err := Models(ctx, t, o)
	switch {
	case errors.Is(err, ErrNoList):
		return "", exit.Hint(exit.Usage, errors.New(err.Error()), "name the model with --model")
	case err != nil:
		return "", err
	case len(models) == 0:
		return "", exit.Hint(exit.Usage, errors.New("the server lists no models"), "name the model with --model")
	case len(models) > 1:
		return "", exit.Hint(exit.Usage, fmt.Errorf("the server has %d models: %s", len(models), names(models, 20)), "choose one with --model")
	}
	return models[0].ID, nil
}

// chatBase makes options good for a driver that only fetches: a full endpoint
// of the other API is no reason to fail.
func chatBase(o openai.Options) openai.Options {
	if o.Base != nil {
		u := *o.Base
		u.Path, u.RawPath, u.RawQuery = "", "", ""
		o.Base = &u
	}
	return o
}

func names(models []Model, limit int) string {
	var list []string
	for i, m := range models {
		if i == limit {
			list = append(list, "...")
			break
		}
		list = append(list, m.ID)
	}
	return strings.Join(list, ", ")
}

// listModels fetches and reads the list; the reply comes with it.
func listModels(ctx context.Context, t wire.Transport, d *openai.Driver, u *url.URL) ([]Model, *reply, error) {
	u.User = nil
	r := send(ctx, t, d.Get(u))
	switch s := r.x.Status; {
	case r.x.Cause != wire.Completed:
		return nil, r, exit.Hint(exit.Target, fmt.Errorf("%s: %s", u.Host, r.cause()), connectionHint(r, u))
	case s == 401 || s == 403:
		return nil, r, exit.Hint(exit.Target, fmt.Errorf("%s refuses the credential: status %d", u.Host, s), credentialHint)
	case s >= 500:
		return nil, r, fmt.Errorf("%s answers %d", u.Path, s)
	case s < 200 || s > 299:
		return nil, r, fmt.Errorf("%w: %s answers %d", ErrNoList, u.Path, s)
	}
	models, err := parseModels(r.body)
	if err != nil {
		return nil, r, fmt.Errorf("%w: %s: %w", ErrNoList, u.Path, err)
	}
	return models, r, nil
}

const credentialHint = "give the key with --api-key-env VAR or --api-key-file F, and its header with --auth-header if it is not Authorization"

func parseModels(body []byte) ([]Model, error) {
	var list struct {
		Data []struct {
			ID      string          `json:"id"`
			OwnedBy string          `json:"owned_by"`
			MaxLen  json.Number     `json:"max_model_len"` // vLLM, SGLang
			Meta    json.RawMessage `json:"meta"`          // llama.cpp
		} `json:"data"`
	}
	if err := json.Unmarshal(body, &list); err != nil || list.Data == nil {
		return nil, errors.New(`expected {"data": [{"id": ...}]}`)
	}
	var out []Model
	for _, m := range list.Data[:min(len(list.Data), maxModels)] {
		if m.ID == "" {
			continue
		}
		n, _ := m.MaxLen.Int64()
		var meta struct {
			Context int64 `json:"n_ctx"`
		}
		if n == 0 && json.Unmarshal(m.Meta, &meta) == nil {
			n = meta.Context
		}
		out = append(out, Model{ID: m.ID, OwnedBy: m.OwnedBy, Context: max(n, 0)})
	}
	return out, nil
}
