package runner

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/tokamak-bench/tokamak/exit"
	"github.com/tokamak-bench/tokamak/measure/compare"
	"github.com/tokamak-bench/tokamak/record"
	"github.com/tokamak-bench/tokamak/report"
)

// ComparisonFile is the comparison's name in the directory of a run with two
// targets.
const ComparisonFile = "comparison.json"

// The sides of a run with two targets, as its blocks are named.
const (
	sideA = "a" // the baseline
	sideB = "b" // what is held against it
)

// side names a target's side.
func side(other bool) string {
	if other {
		return sideB
	}
	return sideA
}

// blockName is the directory of one block: pair-01-a.
func blockName(pair int, side string) string { return fmt.Sprintf("pair-%02d-%s", pair, side) }

// blockDirs returns the directories of blocks in dir, by name.
func blockDirs(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), "pair-") && (strings.HasSuffix(e.Name(), "-"+sideA) || strings.HasSuffix(e.Name(), "-"+sideB)) &&
			isRun(filepath.Join(dir, e.Name())) {
			names = append(names, e.Name())
		}
	}
	return names, nil
}

// readBlocks reads the two sides of a run with two targets. Pairs of which a
// block was not finished are left out, and noted.
func readBlocks(dir string, names []string, w compare.Window) ([]compare.Side, []string, error) {
	sides := []compare.Side{{Name: filepath.Join(filepath.Clean(dir), "pair-*-"+sideA)}, {Name: filepath.Join(filepath.Clean(dir), "pair-*-"+sideB)}}
	var notes []string
	for pair, last := 1, lastPair(names); pair <= last; pair++ {
		a, b := filepath.Join(dir, blockName(pair, sideA)), filepath.Join(dir, blockName(pair, sideB))
		ok, err := wholePair(a, b)
		if err != nil {
			return nil, nil, err
		}
		if !ok {
			notes = append(notes, fmt.Sprintf("pair %d is incomplete, left out", pair))
			continue
		}
		for i, d := range []string{a, b} {
			r, err := ReadComparable(d, w)
			if err != nil {
				return nil, nil, exit.With(exit.Usage, err)
			}
			sides[i].Runs = append(sides[i].Runs, r)
		}
	}
	if len(sides[0].Runs) == 0 {
		return nil, nil, exit.With(exit.Usage, fmt.Errorf("%s holds no whole pair of blocks", dir))
	}
	return sides, notes, nil
}

// leftOut says that pairs do not count.
func leftOut(n int) string {
	if n == 1 {
		return "1 pair is left out: one of its blocks did not come to its end"
	}
	return fmt.Sprintf("%d pairs are left out: one of their blocks did not come to its end", n)
}

// mostPairs bounds the numbers of pairs that are looked for.
const mostPairs = 1000

// lastPair is the highest number of a pair of which a block is there.
func lastPair(names []string) int {
	last := 0
	for _, name := range names {
		number, _, _ := strings.Cut(strings.TrimPrefix(name, "pair-"), "-")
		if n, err := strconv.Atoi(number); err == nil && n <= mostPairs {
			last = max(last, n)
		}
	}
	return last
}

// wholePair tells whether both blocks of a pair are there and ran to their end.
// A summary that is there and cannot be read is an error.
func wholePair(dirs ...string) (bool, error) {
	for _, dir := range dirs {
		if _, err := os.Stat(filepath.Join(dir, record.SummaryFile)); err != nil || !isRun(dir) {
			return false, nil
		}
		s, err := ReadSummary(dir)
		if err != nil {
			return false, err
		}
		if s.Run.Ended != report.Done {
			return false, nil
		}
	}
	return true, nil
}

// ReadComparison reads the comparison in the directory of a run with two
// targets; it is an error of the file system where there is none.
func ReadComparison(dir string) (*report.Compared, error) {
	name := filepath.Join(dir, ComparisonFile)
	b, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	c := &report.Compared{}
	if err := record.Decode(name, b, c); err != nil {
		return nil, exit.With(exit.Usage, err)
	}
	if c.Comparison == nil || c.Schema != compare.Schema {
		return nil, exit.With(exit.Usage, fmt.Errorf("%s: expected the schema %s", name, compare.Schema))
	}
	if c.Dir != "" {
		c.Dir = dir // where it is now: it may have been moved since
	}
	return c, nil
}
