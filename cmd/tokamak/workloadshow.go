package main

import (
	"github.com/tokamak-bench/tokamak/exit"
	"github.com/tokamak-bench/tokamak/portrait"
)

type workloadShowCommand struct {
	File string `arg:"" placeholder:"FILE" help:"Trace, gateway log, dataset or traffic.yaml; - reads standard input."`
	logFlags
	HTML    string `name:"html" placeholder:"FILE" help:"Also write the page as HTML to FILE."`
	Tenants bool   `help:"Show the names of tenants."`
	ASCII   bool   `name:"ascii" help:"Draw with plain ASCII characters."`
	output
}

// Run reads the file and shows it.
func (c *workloadShowCommand) Run(std streams) error {
	r, err := c.openLog(c.File, std)
	if err != nil {
		return err
	}
	defer func() { _ = r.Close() }() // only read
	facts, page, err := portrait.Log(r, portrait.Options{Name: c.File, Tenants: c.Tenants})
	if err != nil {
		return exit.With(exit.Usage, err)
	}
	return c.show(std, facts, page)
}

// show writes the page where it is asked for.
func (c *workloadShowCommand) show(std streams, facts *portrait.Facts, page *portrait.Page) error {
	if c.HTML != "" {
		if err := writeFile(c.HTML, page.HTML); err != nil {
			return err
		}
	}
	if c.json() {
		return printJSON(std.out, facts)
	}
	width, _ := terminal(std.out)
	return page.Text(std.out, portrait.TextOptions{Width: width, Colour: colours(std.out), ASCII: c.ASCII})
}
