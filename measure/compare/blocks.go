package compare

// pairOfRuns are the two runs of a comparison of one a side.
type pairOfRuns struct {
	a, b  *Run
	noise *Noise
}

// single makes two runs ready to be compared by blocks.
func (o *Options) single(a, b *Side) (*pairOfRuns, string) {
	return &pairOfRuns{&a.Runs[0], &b.Runs[0], o.Noise}, ""
}

func (l *pairOfRuns) estimate(d *Figured, s scale) *estimate {
	d.Reason = "one run a side, and the noise between runs is not known"
	return nil
}
