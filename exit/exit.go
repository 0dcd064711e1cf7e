package exit

import (
	"errors"
	"slices"
)

// Code is an exit code of the command.
type Code int

// The exit codes.
const (
	OK           Code = 0   // done; every gate passed
	Failed       Code = 1   // a gate failed
	Usage        Code = 2   // bad usage or configuration; nothing was sent
	Target       Code = 3   // the target could not be used
	Invalid      Code = 4   // the client was the limit
	Inconclusive Code = 5   // too little evidence
	Interrupted  Code = 130 // interrupted; partial results were written
)

// order is which code wins where several hold.
var order = [...]Code{Usage, Interrupted, Target, Invalid, Failed, Inconclusive, OK}

// Worst returns the code that wins among those that hold; without any, OK.
func Worst(codes ...Code) Code {
	for _, c := range order {
		if slices.Contains(codes, c) {
			return c
		}
	}
	return OK
}

// Error is an error with its exit code and, where there is one, a hint.
type Error struct {
	Code Code
	Err  error
	Hint string // what to do about it; a sentence or empty
}

// Error returns the message without the hint.
func (e *Error) Error() string { return e.Err.Error() }

// Unwrap returns the error within.
func (e *Error) Unwrap() error { return e.Err }

// With attaches a code to an error unless it has one already; nil stays nil.
func With(code Code, err error) error { return Hint(code, err, "") }

// Hint attaches a code and a hint to an error unless it has a code already.
func Hint(code Code, err error, hint string) error {
	var e *Error
	if err == nil || errors.As(err, &e) {
		return err
	}
	return &Error{code, err, hint}
}

// Of returns an error's code: OK for nil, Failed where none was attached.
func Of(err error) Code {
	if err == nil {
		return OK
	}
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Code
	}
	return Failed
}

// HintOf returns an error's hint, or "".
func HintOf(err error) string {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Hint
	}
	return ""
}
