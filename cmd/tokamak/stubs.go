package main

type checkCommand struct{}

func (checkCommand) Run() error { return nil }

type reportCommand struct{}

func (reportCommand) Run() error { return nil }

type recoverCommand struct{}

func (recoverCommand) Run() error { return nil }

type simCommand struct{}

func (simCommand) Run() error { return nil }
