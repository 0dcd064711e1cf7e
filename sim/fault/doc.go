// Package fault makes a simulated engine go wrong on purpose. Faults come in by
// name ([Parse], an admin route, a request's header), a [Set] decides which
// requests and steps they strike, and they come out in three places: the core's
// steps (Set is a core.Disturbance), HTTP requests and answers of any face
// ([Set.Wrap]), and the life of the process ([Set.Attach], [Listener]).
//
// What a fault strikes follows from its seed and from the order and nominal
// moments of requests alone. The table of all faults is [Table].
package fault
