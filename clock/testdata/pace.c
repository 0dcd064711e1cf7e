/* pace PERIOD_NS COUNT: sleeps to COUNT absolute moments, PERIOD_NS apart, and
 * prints how late each wake-up was, in ns: what the machine allows. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <time.h>

static long long now(void) {
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000LL + t.tv_nsec;
}

int main(int argc, char **argv) {
	if (argc != 3)
		return 2;
	long long period = atoll(argv[1]), count = atoll(argv[2]);
	long long *late = malloc(count * sizeof *late);
	if (!late)
		return 1;
	prctl(PR_SET_TIMERSLACK, 1);
	long long start = now() + period;
	for (long long i = 0; i < count; i++) {
		long long until = start + i * period;
		struct timespec t = {until / 1000000000, until % 1000000000};
		while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL))
			;
		late[i] = now() - until;
	}
	for (long long i = 0; i < count; i++)
		printf("%lld\n", late[i]);
	return 0;
}
