package text

// Lengths of answers are lognormal with σ = 0.86, the spread of a public trace
// of conversations. quantiles holds exp(σ·z) at 1/66, 3/66, … 65/66, scaled so
// that lines between them have the mean 1.
var quantiles = [33]float64{
	0.1143, 0.1721, 0.2145, 0.2518, 0.2867, 0.3205, 0.3538, 0.3871, 0.4208, 0.4551, 0.4904,
	0.5268, 0.5647, 0.6043, 0.6459, 0.6898, 0.7364, 0.7862, 0.8396, 0.8974, 0.9603, 1.0294,
	1.1059, 1.1916, 1.2889, 1.4010, 1.5329, 1.6922, 1.8914, 2.1535, 2.5281, 3.1518, 4.7441,
}

// Length returns the answer's length that a seed gives, in tokens, at least 1.
func Length(seed uint64, mean float64) int64 {
	u := mix(seed+0x9e3779b97f4a7c15) >> 11 // 53 bits
	at := float64(u) / (1 << 53) * float64(len(quantiles)-1)
	i := int(at)
	low, high := quantiles[i], quantiles[i+1]
	x := low + float64((high-low)*float64(at-float64(i)))
	return max(int64(float64(x*mean)+0.5), 1)
}
