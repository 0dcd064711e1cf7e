// Package chart draws plots. What comes in is a [Plot] or [Bars] of
// numbers with axes and units; what goes out is the same picture as SVG, which
// holds no script and fetches nothing and can be read on light and on dark
// ground, or in the cells of a terminal, with or without colours and with
// Unicode or plain ASCII characters.
//
// The rules: one scale an axis and never two; a linear axis of what cannot be
// negative starts at 0; ticks stand at 1, 2 or 5 times a power of ten, or where
// clocks have their marks; every axis names its unit; named values are labelled
// where they stand. Colours are those of Okabe and Ito, told apart with any
// colour vision, and each series has its own dash or sign besides. What is not
// known is a sentence in the place of the picture, never a zero.
package chart
