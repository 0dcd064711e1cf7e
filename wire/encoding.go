package wire

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"strings"
)

// contentCoding returns what the response's Content-Encoding leaves to do.
func (x *Exchange) contentCoding() (gzipped bool, err error) {
	coding := strings.ToLower(strings.TrimSpace(x.HeaderValue("Content-Encoding")))
	switch coding {
	case "", "identity":
		return false, nil
	case "gzip", "x-gzip":
		if x.ContentFraming == Whole {
			return true, nil
		}
	}
	return false, fmt.Errorf("content coding %.40q, which was not asked for", coding)
}

// gunzip decodes a whole body, up to limit bytes.
func gunzip(b []byte, limit int) ([]byte, error) {
	r, err := gzip.NewReader(bytes.NewReader(b))
	if err != nil {
		return nil, fmt.Errorf("gzip body: %w", err)
	}
	out, err := io.ReadAll(io.LimitReader(r, int64(limit)))
	if err != nil {
		return nil, fmt.Errorf("gzip body: %w", err)
	}
	return out, nil
}
