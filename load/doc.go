// Package load decides when something is sent: arrival processes as pure
// functions of an index and a seed, stages, open and closed loops. It yields
// moments ([Due]); what is sent then is workload's business, and sending it
// the runner's. Moments are nanoseconds since the start of the load.
package load
