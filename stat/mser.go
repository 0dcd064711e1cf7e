package stat

// MSER5 returns where a series becomes steady by White's rule on means of
// batches of five: the number of leading values to leave out so that the
// standard error of the mean of the rest is smallest. ok is false where fewer
// than ten batches exist, or where the smallest lies in the second half of the
// series: then no steady part was found.
func MSER5(series []float64) (skip int, ok bool) {
	const batch = 5
	n := len(series) / batch
	if n < 10 {
		return 0, false
	}
	means := make([]float64, n)
	for i := range means {
		means[i], _ = MeanSD(series[i*batch : (i+1)*batch])
	}
	// Sums from the end; centred so that large means cost no digits.
	centre, _ := MeanSD(means)
	var sum, squares float64
	best, at := 0.0, -1
	for d := n - 1; d >= 0; d-- {
		v := means[d] - centre
		sum += v
		squares += float64(v * v)
		k := float64(n - d)
		if n-d < 5 { // a handful of batches agrees by chance
			continue
		}
		se := (squares - float64(sum*sum)/k) / (k * k)
		if at < 0 || se <= best {
			best, at = se, d
		}
	}
	if at > n/2 {
		return at * batch, false
	}
	return at * batch, true
}
