package main

import (
	"fmt"
	"runtime"
	"runtime/debug"
)

type versionCommand struct{ output }

// buildVersion is what the build knows of itself.
type buildVersion struct {
	Version  string `json:"version"`
	Revision string `json:"revision,omitempty"`
	Modified bool   `json:"modified,omitempty"`
	Go       string `json:"go"`
	Platform string `json:"platform"`
}

func readVersion() buildVersion {
	v := buildVersion{Version: "unknown", Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return v
	}
	if v.Version = info.Main.Version; v.Version == "" {
		v.Version = "(devel)"
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			v.Revision = s.Value
		case "vcs.modified":
			v.Modified = s.Value == "true"
		}
	}
	return v
}

// Run prints the version.
func (c *versionCommand) Run(std streams) error {
	v := readVersion()
	if c.json() {
		return printJSON(std.out, v)
	}
	_, err := fmt.Fprintf(std.out, "tokamak %s %s %s\n", v.Version, v.Go, v.Platform)
	return err
}
