package rivals

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"
)

func processors() int { return runtime.NumCPU() }

func slug(name string) string {
	return strings.Trim(strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9':
			return r
		case r >= 'A' && r <= 'Z':
			return r + 'a' - 'A'
		}
		return '-'
	}, name), "-")
}

// Run is the command `bench rivals`: bin holds the C programs.
//
//	rivals [-clients LIST] [-trials LIST] [-out DIR] [-table FILE]
func Run(ctx context.Context, bin string, args []string) error {
	fs := flag.NewFlagSet("bench rivals", flag.ContinueOnError)
	only := fs.String("clients", "", "those whose name contains one of these, comma separated")
	which := fs.String("trials", "", "of these names, comma separated")
	out := fs.String("out", ".cache/rivals-results", "where outcomes are kept, one file each")
	table := fs.String("table", "", "write the tables of all outcomes kept there to this file, and run nothing unless -clients is given")
	limit := fs.Duration("limit", 3*time.Minute, "of one trial")
	where := fs.String("rivals", os.Getenv("RIVALS"), "where scripts/rivals put the clients (default .cache/rivals)")
	if err := fs.Parse(args); err != nil {
		return err
	}
	root, err := os.Getwd()
	if err != nil {
		return err
	}
	if *where == "" {
		*where = filepath.Join(root, ".cache", "rivals")
	}
	if err := os.MkdirAll(*out, 0o755); err != nil {
		return err
	}
	if *table == "" || *only != "" {
		p := place{rivals: *where, root: root}
		if err := runAll(ctx, p, settings{bin: bin, out: *out, limit: *limit}, split(*only), split(*which)); err != nil {
			return err
		}
	}
	if *table == "" {
		return nil
	}
	all, err := readOutcomes(*out)
	if err != nil {
		return err
	}
	return os.WriteFile(*table, []byte(render(all)), 0o644)
}

func split(list string) []string {
	if list == "" {
		return nil
	}
	return strings.Split(list, ",")
}

func runAll(ctx context.Context, p place, s settings, only, which []string) error {
	tokamak := filepath.Join(s.bin, "tokamak")
	build := exec.Command("go", "build", "-o", tokamak, "./cmd/tokamak")
	if b, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("building tokamak: %w\n%s", err, b)
	}
	for _, c := range clients(p, tokamak) {
		if len(only) > 0 && !slices.ContainsFunc(only, func(n string) bool { return strings.Contains(slug(c.Name), n) }) {
			continue
		}
		for _, t := range trials() {
			if len(which) > 0 && !slices.Contains(which, t.Name) || t.Wide && !c.Wide {
				continue
			}
			o := run(ctx, s, c, t)
			if err := errors.Join(ctx.Err(), keepOutcome(s.out, o)); err != nil {
				return err
			}
			show(o)
		}
	}
	return nil
}

func show(o outcome) {
	if o.Error != "" {
		fmt.Printf("%-18s %-8s %s\n", o.Client, o.Trial, o.Error)
		return
	}
	fmt.Printf("%-18s %-8s %4d requests %6d events  %6.1f s CPU  %5.0f MB  first after %4.1f s  TTFT p50 %s of %.1f, p99 %s of %.1f; ok %s\n", o.Client, o.Trial, o.Requests, o.Events,
		o.CPUSeconds, o.PeakMB, o.FirstRequest, plain(o.Said.TTFTP50), o.TTFTP50, plain(o.Said.TTFTP99), o.TTFTP99, plain(o.Said.OK))
}

func plain(v *float64) string {
	if v == nil {
		return "–"
	}
	return fmt.Sprintf("%.1f", *v)
}

// readOutcomes reads all that are kept in a directory.
func readOutcomes(dir string) (map[string]map[string]outcome, error) {
	names, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil {
		return nil, err
	}
	all := map[string]map[string]outcome{}
	for _, n := range names {
		b, err := os.ReadFile(n)
		if err != nil {
			return nil, err
		}
		var o outcome
		if err := json.Unmarshal(b, &o); err != nil {
			return nil, fmt.Errorf("%s: %w", n, err)
		}
		if all[o.Client] == nil {
			all[o.Client] = map[string]outcome{}
		}
		all[o.Client][o.Trial] = o
	}
	return all, nil
}
