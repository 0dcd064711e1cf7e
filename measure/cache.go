package measure

import (
	"fmt"

	"github.com/tokamak-bench/tokamak/record"
)

// CacheIntent is what a workload means its prompts to be to a prefix cache.
type CacheIntent string

// The intents.
const (
	Cold    CacheIntent = "cold"    // salted: no prompt shares anything with another
	Reuse   CacheIntent = "reuse"   // prefixes, turns or repeated blocks are meant to be found again
	Unasked CacheIntent = "unknown" // recorded texts as they are: nobody knows what they share
)

// CacheVerdict says whether the server's cached-token figures go with the
// intent.
type CacheVerdict string

// The verdicts; all but the first two come with a warning.
const (
	CacheAsIntended  CacheVerdict = "as intended"
	CacheUnverified  CacheVerdict = "unverified"  // the server does not tell, or nothing was intended
	CacheWarm        CacheVerdict = "warm"        // more came from the cache than the workload makes possible: a cold claim is void
	CacheNotReused   CacheVerdict = "not reused"  // hardly any of what could have been
	CacheImplausible CacheVerdict = "implausible" // more cached tokens than prompt tokens: the figures lie
)

// Cache holds what the server says of its prefix cache against what the
// workload intends.
type Cache struct {
	Intended CacheIntent `json:"intended"`
	// Possible is the share of prompt tokens, in %, that the workload had sent
	// before or the server put in itself; Observed the share that the server says
	// came from its cache. Both are of the successes that tell.
	Possible Value        `json:"possible"`
	Observed Value        `json:"observed"`
	Told     int          `json:"told"` // successes that tell
	Verdict  CacheVerdict `json:"verdict"`
	// Warning is the name of what does not go together: cache_warm,
	// cache_not_reused, cache_implausible.
	Warning string `json:"warning,omitempty"`
	Reason  string `json:"reason"`
}

const (
	// cacheSlack, in points of %, is by how much more than possible may be
	// cached: rounding to blocks of the server.
	cacheSlack = 2
	// cacheLeast, in %, is from which possible share on its reuse is expected,
	// and cacheHardly the part of it below which there was none to speak of.
	cacheLeast  = 5
	cacheHardly = 0.1
)

// Cache judges the view.
func (v *View) Cache() Cache {
	c := Cache{Intended: v.a.opt.Intent, Verdict: CacheUnverified}
	if c.Intended == "" {
		c.Intended = Unasked
	}
	var prompt, cached, possible float64
	lies, known := 0, true
	for _, r := range v.rows {
		if v.a.outcomeOf(r) != record.OK || r.cached == unknown || r.prompt <= 0 {
			continue
		}
		c.Told++
		if r.cached > r.prompt {
			lies++
			continue
		}
		prompt += float64(r.prompt)
		cached += float64(r.cached)
		// Nobody but the server knows how many tokens an image is.
		known = known && (r.asked != unknown || c.Intended == Cold) && !r.media
		possible += r.reusable()
	}
	if prompt > 0 {
		c.Observed = Some(100 * cached / prompt)
		if known {
			c.Possible = Some(100 * possible / prompt)
		}
	}
	c.judge(lies)
	return c
}

// reusable is how many of a prompt's tokens a cache can know: those that the
// workload had sent before, and what the server puts in by itself, such as a
// chat template.
func (r *row) reusable() float64 {
	n := max(float64(r.shared), 0)
	own := first(r.asked, r.promptCounted)
	if own >= 0 && float64(r.prompt) > own {
		n += float64(r.prompt) - own
	}
	return n
}

func (c *Cache) judge(lies int) {
	observed, told := c.Observed.Get()
	possible := c.Possible.Or(0)
	switch {
	case lies > 0:
		c.warn(CacheImplausible, "cache_implausible", fmt.Sprintf("%s answers count more cached tokens than prompt tokens", Count(lies)))
	case !told:
		c.Reason = "the server tells no cached tokens"
	case c.Intended == Unasked && !c.Possible.Valid():
		c.Reason = fmt.Sprintf("%s of the prompt tokens came from the cache; how many recorded texts share is not known", Percent(observed))
	case !c.Possible.Valid():
		c.Reason = fmt.Sprintf("%s of the prompt tokens came from the cache; how many could is not known", Percent(observed))
	case observed > possible+cacheSlack:
		text := fmt.Sprintf("%s of the prompt tokens came from the cache, and only %s could: something sent them before", Percent(observed), Percent(possible))
		if c.Intended == Cold {
			text += "; nothing here is a figure of cold prompts"
		}
		c.warn(CacheWarm, "cache_warm", text)
	case possible >= cacheLeast && observed < cacheHardly*possible && c.Intended == Reuse:
		c.warn(CacheNotReused, "cache_not_reused", fmt.Sprintf("%s of the prompt tokens could come from the cache, and %s did", Percent(possible), Percent(observed)))
	default:
		c.Verdict = CacheAsIntended
		c.Reason = fmt.Sprintf("%s of the prompt tokens came from the cache, of %s that could", Percent(observed), Percent(possible))
	}
}

func (c *Cache) warn(v CacheVerdict, name, reason string) {
	c.Verdict, c.Warning, c.Reason = v, name, reason
}

// ColdVoid tells whether prompts that were to be cold were not.
func (c *Cache) ColdVoid() bool {
	return c.Intended == Cold && (c.Verdict == CacheWarm || c.Verdict == CacheImplausible)
}
