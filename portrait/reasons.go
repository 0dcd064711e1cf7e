package portrait

import "github.com/tokamak-bench/tokamak/measure"

// Why a figure is not known: of a log, and of a model.

func (f *Facts) noMoments() string { return "the log has no moments" } // a model has

// fewMoments says why arrivals have no gaps to speak of.
func (f *Facts) fewMoments() string {
	if f.Arrivals > 2 && f.Span.Or(-1) == 0 {
		return "all " + measure.Count(f.Arrivals) + " requests are at one moment"
	}
	return "fewer than three moments"
}

func (f *Facts) noLengths(which string) string {
	if f.Sampled {
		return "what the model was made of tells no lengths"
	}
	return "the log has no " + which + " lengths"
}

func (f *Facts) noBlocks() string {
	if f.Sampled {
		return "the model has neither shared prefixes nor sessions of several turns"
	}
	return "the log does not name the blocks of its prompts"
}

func (f *Facts) noSessions() string {
	if f.Sampled {
		return "the model has no sessions of several turns"
	}
	return "the log does not say which requests belong together"
}

func (f *Facts) noTenants() string { return "the log does not say whose requests they are" } // a model has

// origin is what the requests are of.
func (f *Facts) origin() string {
	if f.Sampled {
		return "model"
	}
	return "log"
}

func (f *Facts) tenantsTitle() string {
	if f.Sampled {
		return "Clients"
	}
	return "Tenants"
}

// unknown begins the reason in the place of a figure.
func unknown(why string) string { return "not known: " + why }
