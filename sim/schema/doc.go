// Package schema makes up JSON values that follow a JSON schema, from a seed:
// the answers of a model that is held to one. What it cannot follow is an error.
package schema
