package record

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"
)

// Decode reads a JSON file of a run directory into v. An error names the file,
// the line and the column (in characters, from 1) and what was expected there.
func Decode(name string, data []byte, v any) error { return decode(name, 1, data, v) }

// decode is Decode on data that begins on a line of the file.
func decode(name string, line int, data []byte, v any) error {
	err := json.Unmarshal(data, v)
	if err == nil {
		return nil
	}
	var syntax *json.SyntaxError
	var wrong *json.UnmarshalTypeError
	switch {
	case len(bytes.TrimSpace(data)) == 0:
		return fmt.Errorf("%s: expected a JSON object, there is nothing", position(name, line, data, 0))
	case errors.As(err, &syntax) && syntax.Offset >= int64(len(data)) && !json.Valid(data) && incomplete(data):
		return fmt.Errorf("%s: expected more JSON, the file ends in the middle", position(name, line, data, len(data)))
	case errors.As(err, &syntax):
		return fmt.Errorf("%s: expected JSON: %w", position(name, line, data, int(syntax.Offset)-1), err)
	case errors.As(err, &wrong):
		field := jsonPath(wrong.Field)
		if field == "" {
			field = "the file"
		}
		return fmt.Errorf("%s: %s: expected %s, got %s", position(name, line, data, begin(data, int(wrong.Offset))), field, kindOf(wrong.Type), wrong.Value)
	}
	return fmt.Errorf("%s: %w", name, err)
}

// jsonPath is a field's path without the names of embedded Go structs, which no
// file has: they alone begin with a capital.
func jsonPath(field string) string {
	steps := slices.DeleteFunc(strings.Split(field, "."), func(s string) bool { return s != "" && s[0] >= 'A' && s[0] <= 'Z' })
	return strings.Join(steps, ".")
}

// incomplete tells whether data is the beginning of JSON that was cut off.
func incomplete(data []byte) bool {
	d := json.NewDecoder(bytes.NewReader(data))
	var v any
	err := d.Decode(&v)
	return err != nil && err.Error() == "unexpected EOF"
}

// position writes a file with the line and column of a byte of data, which
// begins on a line.
func position(name string, line int, data []byte, at int) string {
	before := data[:min(max(at, 0), len(data))]
	line += bytes.Count(before, []byte("\n"))
	column := utf8.RuneCount(before[bytes.LastIndexByte(before, '\n')+1:]) + 1
	return fmt.Sprintf("%s:%d:%d", name, line, column)
}

// begin returns where the text or number began that ends before end.
func begin(data []byte, end int) int {
	at := min(max(end-1, 0), max(len(data)-1, 0))
	if data[at] == '"' {
		for i := at - 1; i >= 0; i-- {
			if data[i] == '"' && (i == 0 || data[i-1] != '\\') {
				return i
			}
		}
		return at
	}
	for at > 0 && bytes.IndexByte([]byte(" \t\r\n:,[{"), data[at-1]) < 0 {
		at--
	}
	return at
}

// kindOf is what JSON a Go type is read from.
func kindOf(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return "a whole number"
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return "a whole number of 0 or more"
	case reflect.Float32, reflect.Float64:
		return "a number"
	case reflect.String:
		return "a text"
	case reflect.Bool:
		return "true or false"
	case reflect.Slice, reflect.Array:
		return "a list"
	case reflect.Pointer:
		return kindOf(t.Elem())
	default:
		return "an object"
	}
}
