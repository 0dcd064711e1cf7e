/* A lean reader of N chat streams, on a tick: every TICK_US it reads what has
 * come since the last, so that the processors are the server's.
 *
 *   chatreader PORT STREAMS TOKENS WARMUP_MS WINDOW_MS TICK_US PID
 *
 * It asks for answers of TOKENS tokens, waits WARMUP_MS after the last stream
 * has begun, prints "begin", and WINDOW_MS later the window in ns, the CPU time
 * in ns of process PID (the server) and of its own in the window, and the
 * events that it read in it. */
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

static int64_t now(clockid_t c) {
	struct timespec t;
	clock_gettime(c, &t);
	return t.tv_sec * 1000000000LL + t.tv_nsec;
}

static long events_in(const char *b, ssize_t n) {
	long k = 0;
	for (const char *p = b, *end = b + n; p < end && (p = memmem(p, end - p, "\n\n", 2)); p += 2) k++;
	return k;
}

static int open_stream(struct sockaddr_in *a, int i, long tokens) {
	int fd = socket(AF_INET, SOCK_STREAM, 0), one = 1;
	char body[256], req[512];
	int len = snprintf(body, sizeof body, "{\"messages\":[{\"role\":\"user\",\"content\":\"stream %d\"}],\"max_tokens\":%ld,\"ignore_eos\":true,\"stream\":true}", i, tokens);
	len = snprintf(req, sizeof req, "POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", len, body);
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
	if (fd < 0 || connect(fd, (struct sockaddr *)a, sizeof *a) || write(fd, req, len) != len) { perror("connect"); exit(1); }
	return fd;
}

int main(int argc, char **argv) {
	if (argc != 8) { fprintf(stderr, "usage: chatreader PORT STREAMS TOKENS WARMUP_MS WINDOW_MS TICK_US PID\n"); return 2; }
	int n = atoi(argv[2]), ep = epoll_create1(0);
	int64_t warmup = atoll(argv[4]) * 1000000, window = atoll(argv[5]) * 1000000, tick = atoll(argv[6]) * 1000;
	clockid_t server = (~(clockid_t)atoi(argv[7]) << 3) | 2; /* the process' CPU clock, as clock_getcpuclockid has it */
	struct rlimit lim;
	getrlimit(RLIMIT_NOFILE, &lim);
	lim.rlim_cur = lim.rlim_max;
	setrlimit(RLIMIT_NOFILE, &lim);
	struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons(atoi(argv[1])), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	for (int i = 0; i < n; i++) {
		struct epoll_event e = {.events = EPOLLIN, .data.fd = open_stream(&a, i, atol(argv[3]))};
		epoll_ctl(ep, EPOLL_CTL_ADD, e.data.fd, &e);
	}
	static char buf[1 << 16];
	static struct epoll_event evs[8192];
	int64_t begin = now(CLOCK_MONOTONIC) + warmup, next = begin - warmup, began = 0, cpu = 0, own = 0;
	long events = 0, events0 = 0;
	for (;;) {
		int64_t t = now(CLOCK_MONOTONIC);
		if (!began && t >= begin) {
			cpu = now(server);
			own = now(CLOCK_PROCESS_CPUTIME_ID);
			began = now(CLOCK_MONOTONIC);
			events0 = events;
			puts("begin");
			fflush(stdout);
		}
		if (began && t >= began + window) break;
		int k = epoll_wait(ep, evs, 8192, 0);
		for (int i = 0; i < k; i++) {
			ssize_t got = read(evs[i].data.fd, buf, sizeof buf);
			if (got <= 0) { close(evs[i].data.fd); continue; }
			events += events_in(buf, got);
		}
		next += tick;
		if (next < (t = now(CLOCK_MONOTONIC))) next = t;
		struct timespec until = {next / 1000000000, next % 1000000000};
		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
	}
	int64_t took = now(CLOCK_MONOTONIC) - began;
	printf("%lld %lld %lld %ld\n", (long long)took, (long long)(now(server) - cpu), (long long)(now(CLOCK_PROCESS_CPUTIME_ID) - own), events - events0);
	return 0;
}
