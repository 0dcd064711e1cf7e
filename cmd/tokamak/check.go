package main

import "errors"

type checkCommand struct{}

// Run is not there yet.
func (checkCommand) Run() error { return errors.New("not yet") }
