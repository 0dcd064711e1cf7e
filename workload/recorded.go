package workload

import "errors"

func newRecorded(c Config, seed uint64) (Source, error) {
	return nil, errors.New("workload: datasets are not read yet")
}
