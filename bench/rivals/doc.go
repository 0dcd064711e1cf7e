// Package rivals runs other load clients and tokamak against one server that
// plays scripts and logs the truth, one at a time on the same machine, and
// writes what each reported beside what happened. scripts/rivals installs the
// clients. A client is charged the processor time of its whole process tree
// less that of a run of one request.
package rivals
