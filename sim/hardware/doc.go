// Package hardware says how long a step takes and how many KV blocks fit: a
// model, an accelerator and a precision go in, a core.StepTimer and a block
// count come out. The step time is a roofline with a smooth edge and fitted
// efficiencies (docs/simulated-engine.md has the formula).
package hardware
