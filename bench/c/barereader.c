/* The barest reader of N streams: epoll, one read for each chunk as it comes.
 *
 *   barereader PORT STREAMS WARMUP_MS WINDOW_MS
 *
 * It opens all streams, waits WARMUP_MS, and prints the CPU time in ns that it
 * used in the following WINDOW_MS, the chunks that it read in them, and by
 * how many calls. It keeps nothing but counts. */
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
	for (const char *p = b; (p = memmem(p, b + n - p, "\n\n", 2)); p += 2) k++;
	return k;
}

int main(int argc, char **argv) {
	if (argc != 5) { fprintf(stderr, "usage: barereader PORT STREAMS WARMUP_MS WINDOW_MS\n"); return 2; }
	int port = atoi(argv[1]), n = atoi(argv[2]), one = 1;
	int64_t warmup = atoll(argv[3]) * 1000000, window = atoll(argv[4]) * 1000000;
	struct rlimit lim;
	getrlimit(RLIMIT_NOFILE, &lim);
	lim.rlim_cur = lim.rlim_max;
	setrlimit(RLIMIT_NOFILE, &lim);
	int ep = epoll_create1(0);
	struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	for (int i = 0; i < n; i++) {
		int fd = socket(AF_INET, SOCK_STREAM, 0);
		char req[128];
		int len = snprintf(req, sizeof req, "POST /%d HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}", i);
		setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
		if (fd < 0 || connect(fd, (struct sockaddr *)&a, sizeof a) || write(fd, req, len) != len) { perror("connect"); return 1; }
		struct epoll_event e = {.events = EPOLLIN, .data.fd = fd};
		epoll_ctl(ep, EPOLL_CTL_ADD, fd, &e);
	}
	static char buf[65536];
	struct epoll_event evs[512];
	int64_t begin = now(CLOCK_MONOTONIC) + warmup, end = begin + window, cpu = 0;
	long chunks = 0, reads = 0, chunks0 = 0, reads0 = 0;
	for (;;) {
		int k = epoll_wait(ep, evs, 512, 100);
		int64_t t = now(CLOCK_MONOTONIC);
		if (!cpu && t >= begin) {
			cpu = now(CLOCK_PROCESS_CPUTIME_ID);
			chunks0 = chunks;
			reads0 = reads;
		}
		if (t >= end) break;
		for (int i = 0; i < k; i++) {
			ssize_t got = read(evs[i].data.fd, buf, sizeof buf);
			if (got <= 0) { close(evs[i].data.fd); continue; }
			chunks += events_in(buf, got);
			reads++;
		}
	}
	printf("%lld %ld %ld\n", (long long)(now(CLOCK_PROCESS_CPUTIME_ID) - cpu), chunks - chunks0, reads - reads0);
	return 0;
}
