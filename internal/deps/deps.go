//go:build deps

package deps

import (
	_ "github.com/HdrHistogram/hdrhistogram-go"
	_ "github.com/alecthomas/kong"
	_ "github.com/apache/arrow-go/v18/arrow/ipc"
	_ "github.com/apache/arrow-go/v18/parquet/pqarrow"
	_ "github.com/goccy/go-yaml"
	_ "github.com/prometheus/client_golang/prometheus/promhttp"
	_ "github.com/tiktoken-go/tokenizer"
	_ "gonum.org/v1/gonum/mathext"
	_ "gonum.org/v1/gonum/stat/distuv"
)

import (
	_ "github.com/dlclark/regexp2/v2"
	_ "github.com/google/go-cmp/cmp"
	_ "github.com/klauspost/compress/zstd"
	_ "github.com/prometheus/common/expfmt"
	_ "github.com/rogpeppe/go-internal/testscript"
	_ "github.com/santhosh-tekuri/jsonschema/v6"
	_ "github.com/tmaxmax/go-sse"
	_ "github.com/valyala/fastjson"
	_ "go.uber.org/goleak"
	_ "golang.org/x/net/http2"
	_ "golang.org/x/term"
	_ "golang.org/x/text/unicode/norm"
	_ "pgregory.net/rapid"
)
