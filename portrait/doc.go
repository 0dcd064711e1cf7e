// Package portrait draws one page about recorded or modelled traffic. What
// comes in is a log as package trace reads it, or a model of traffic, or a fit
// beside its log; what goes out is [Facts], the figures of the page by name, and
// a [Page]: the figures that matter first, each with what it means in one line,
// then plots, as text for a terminal or as HTML that holds everything it needs.
//
// Figures are of every row; nothing is sampled from a log. What a log does not
// say is null in the facts and a sentence on the page. A row that holds a
// conversation is as many requests as it has turns. Of each are kept four
// numbers, its moment and its lengths: 20 bytes, and no text. Names of
// tenants are shown only where asked for. docs/metrics.md defines every figure.
package portrait
