package vllm

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
)

// apiError is vLLM's error object.
type apiError struct {
	Message    string  `json:"message"`
	Type       string  `json:"type"`
	Param      *string `json:"param"`
	Code       int     `json:"code"`
	retryAfter int64
}

func badRequest(param, format string, args ...any) *apiError {
	e := &apiError{Message: fmt.Sprintf(format, args...), Type: "BadRequestError", Code: http.StatusBadRequest}
	if param != "" {
		e.Param = &param
	}
	return e
}

func notFound(model string) *apiError {
	param := "model"
	return &apiError{Message: fmt.Sprintf("The model `%s` does not exist.", model), Type: "NotFoundError", Param: &param, Code: http.StatusNotFound}
}

func internal(err error) *apiError {
	return &apiError{Message: err.Error(), Type: "InternalServerError", Code: http.StatusInternalServerError}
}

func (e *apiError) write(w http.ResponseWriter) {
	if e.retryAfter > 0 {
		w.Header().Set("Retry-After", strconv.FormatInt(e.retryAfter, 10))
	}
	writeJSON(w, e.Code, struct {
		Error *apiError `json:"error"`
	}{e})
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	body, err := json.Marshal(v)
	if err != nil {
		status, body = http.StatusInternalServerError, []byte(`{}`)
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	_, _ = w.Write(body)
}

// writeDetail is how the framework below vLLM answers what no route takes.
func writeDetail(w http.ResponseWriter, status int, text string) {
	writeJSON(w, status, map[string]string{"detail": text})
}
