/* Takes one processor away for BUSY_MS of every BUSY_MS + FREE_MS.
 *
 *   hog CPU BUSY_MS FREE_MS
 *
 * It runs above ordinary processes and below pacedserver where it may. */
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static int64_t now(void) {
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000LL + t.tv_nsec;
}

int main(int argc, char **argv) {
	if (argc != 4) { fprintf(stderr, "usage: hog CPU BUSY_MS FREE_MS\n"); return 2; }
	cpu_set_t set;
	CPU_ZERO(&set);
	CPU_SET(atoi(argv[1]), &set);
	sched_setaffinity(0, sizeof set, &set);
	struct sched_param prio = {.sched_priority = 10};
	sched_setscheduler(0, SCHED_FIFO, &prio);
	int64_t busy = atoll(argv[2]) * 1000000, free = atoll(argv[3]) * 1000000;
	for (int64_t t = now();; t += busy + free) {
		while (now() < t + busy) {}
		int64_t until = t + busy + free;
		struct timespec ts = {.tv_sec = until / 1000000000, .tv_nsec = until % 1000000000};
		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL);
	}
}
