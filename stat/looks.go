package stat

import "math"

// LookRisk returns the risk of a wrong verdict that look j, from 0 on, may
// carry where a claim is looked at again and again: Alpha/((j+1)(j+2)). All
// of them together sum to [Alpha], so that the chance of ever being wrong stays
// below it, however many looks there are.
func LookRisk(j int) float64 { return Alpha / float64((j+1)*(j+2)) }

// fewestLooked is the smallest sample of a look: in fewer, clusters cannot be
// told from chance (ten exceedances of the sample's own p95).
const fewestLooked = 200

// LookSize returns at how many requests look j, from 0 on, at the claim for
// percentile p is taken: n₀·2^j, where n₀ is what a pass takes at the first look's
// risk with none over, ln(Alpha/2)/ln p, rounded up to ten and at least 200:
// 530 for a p99.
func LookSize(p float64, j int) int {
	first := 10 * math.Ceil(math.Log(LookRisk(0))/math.Log(p)/10)
	return int(max(first, fewestLooked)) << j
}
