/* A server that streams SSE chunks on a fixed schedule and knows the truth.
 *
 *   pacedserver TTFT_US ITL_US TOKENS LOGFILE [JITTER]
 *
 * It prints its port. Each POST /N is answered with TOKENS events, the first
 * TTFT_US after the request came (plus a phase in 0..ITL_US that depends on
 * N), the others ITL_US apart on an absolute schedule, then [DONE]. On SIGTERM
 * it prints how many events it wrote and the median and 99th percentile of
 * their lateness in ns, writes the log and ends: a line "N request NS" with the kernel's stamp of
 * the request and lines "N INDEX NS LATE" with the moment just before each
 * event was written and by how much that was late, in ns of CLOCK_MONOTONIC.
 * LOGFILE "-" logs nothing. With JITTER, a percentage, each gap and the wait for the first event are drawn anew, up to
 * that much shorter or longer, and a chunk with a finish reason ends the answer, as a chat completion's. A path that
 * is no number is numbered in order of arrival. One thread, one epoll set; real-time priority where allowed. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { MAXFD = 65536, BUF = 16384 };

struct stream {
	int fd, index;          /* next event; -1: waits for a request */
	long id;
	int64_t next;           /* when, CLOCK_MONOTONIC */
	int heap;               /* place in the heap, -1: none */
	int got;
	char buf[BUF];
};

struct line { int64_t at, late; int32_t id, index; };

static struct stream *streams[MAXFD];
static struct stream *heap[MAXFD];
static int heaped;
static struct line *lines;
static size_t nlines, maxlines;
static int64_t ttft, itl;
static int jitter; /* percent */
static long serial;
static int tokens, logging;
static long written, late[65];   /* events; by lateness under 2^i ns */
static volatile sig_atomic_t stopping;

static int64_t now(clockid_t c) {
	struct timespec t;
	clock_gettime(c, &t);
	return t.tv_sec * 1000000000LL + t.tv_nsec;
}

/* A time drawn for an event of a stream: x, up to jitter percent off, most often near. */
static int64_t drawn(int64_t x, long id, int index) {
	uint64_t h = (uint64_t)id * 0x9e3779b97f4a7c15u + (uint64_t)(index + 2) * 0xbf58476d1ce4e5b9u;
	int64_t sum = 0;
	for (int i = 0; i < 3; i++) {
		h ^= h >> 30; h *= 0xbf58476d1ce4e5b9u; h ^= h >> 27; h *= 0x94d049bb133111ebu; h ^= h >> 31;
		sum += h % 2001 - 1000;
	}
	return x + x / 100 * jitter / 1000 * sum / 3;
}

static void put(int id, int index, int64_t at, int64_t late) {
	if (!logging) return;
	if (nlines == maxlines) {
		maxlines = maxlines ? 2 * maxlines : 1 << 16;
		lines = realloc(lines, maxlines * sizeof *lines);
		if (!lines) abort();
	}
	lines[nlines++] = (struct line){at, late, id, index};
}

static void swap(int i, int j) {
	struct stream *s = heap[i];
	heap[i] = heap[j];
	heap[j] = s;
	heap[i]->heap = i;
	heap[j]->heap = j;
}

static void down(int i) {
	for (;;) {
		int k = 2 * i + 1;
		if (k >= heaped) return;
		if (k + 1 < heaped && heap[k + 1]->next < heap[k]->next) k++;
		if (heap[i]->next <= heap[k]->next) return;
		swap(i, k);
		i = k;
	}
}

static void up(int i) {
	for (; i > 0 && heap[i]->next < heap[(i - 1) / 2]->next; i = (i - 1) / 2) swap(i, (i - 1) / 2);
}

static void push(struct stream *s) {
	heap[s->heap = heaped++] = s;
	up(s->heap);
}

static void drop(struct stream *s) {
	int i = s->heap;
	if (i < 0) return;
	swap(i, --heaped);
	s->heap = -1;
	if (i < heaped) { up(i); down(i); }
}

static void hang_up(struct stream *s) {
	drop(s);
	streams[s->fd] = NULL;
	close(s->fd);
	free(s);
}

/* Writes the event that is due; 0 if the stream is gone. */
static void event(struct stream *s) {
	static const char json[] = "data: {\"id\":\"chatcmpl-0123456789abcdef\",\"object\":\"chat.completion.chunk\",\"created\":1700000000,"
		"\"model\":\"paced\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\" tok%05d\"},\"finish_reason\":null}]}\n\n";
	static char chunk[512];
	static int chunk_len, digits;
	char out[1024];
	int m = 0;
	if (!chunk_len) { /* the chunk is the same but for five digits */
		char data[512];
		int n = snprintf(data, sizeof data, json, 0);
		chunk_len = snprintf(chunk, sizeof chunk, "%x\r\n%s\r\n", n, data);
		digits = strstr(chunk, "tok0") + 3 - chunk;
	}
	if (s->index == 0)
		m = snprintf(out, sizeof out, "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n");
	memcpy(out + m, chunk, chunk_len);
	for (int i = 4, k = s->index; i >= 0; i--, k /= 10) out[m + digits + i] = '0' + k % 10;
	m += chunk_len;
	if (s->index == tokens - 1)
	{
		if (jitter) {
			char end[256];
			int n = snprintf(end, sizeof end, "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"length\"}],"
				"\"usage\":{\"prompt_tokens\":16,\"completion_tokens\":%d,\"total_tokens\":%d}}\n\n", tokens, tokens + 16);
			m += snprintf(out + m, sizeof out - m, "%x\r\n%s\r\n", n, end);
		}
		m += snprintf(out + m, sizeof out - m, "e\r\ndata: [DONE]\n\n\r\n0\r\n\r\n");
	}
	int64_t at = now(CLOCK_MONOTONIC);
	put(s->id, s->index, at, at - s->next);
	written++;
	late[64 - __builtin_clzll((uint64_t)(at - s->next) | 1)]++;
	if (send(s->fd, out, m, MSG_NOSIGNAL | MSG_DONTWAIT) != m) {
		hang_up(s);
		return;
	}
	if (++s->index == tokens) {
		drop(s);
		s->index = -1;
		return;
	}
	s->next += drawn(itl, s->id, s->index);
	down(s->heap);
}

static void request(struct stream *s, int64_t stamp) {
	char *end = memmem(s->buf, s->got, "\r\n\r\n", 4);
	if (!end) return;
	*end = 0;
	char *cl = strcasestr(s->buf, "content-length:");
	long body = cl ? atol(cl + 15) : 0;
	if (s->got < end + 4 + body - s->buf) { *end = '\r'; return; }
	char *slash = strchr(s->buf, '/');
	s->id = slash && slash[1] >= '0' && slash[1] <= '9' ? atol(slash + 1) : serial++;
	s->got = 0;
	put(s->id, -1, stamp, 0);
	s->index = 0;
	s->next = stamp + drawn(ttft, s->id, -1) + (int64_t)((uint64_t)s->id * 2654435761u % 1000003u) * itl / 1000003;
	push(s);
}

static void readable(struct stream *s) {
	char control[128];
	struct iovec iov = {s->buf + s->got, BUF - 1 - s->got};
	struct msghdr m = {.msg_iov = &iov, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
	ssize_t n = recvmsg(s->fd, &m, MSG_DONTWAIT);
	if (n < 0 && (errno == EAGAIN || errno == EINTR)) return;
	if (n <= 0 || s->got + n >= BUF - 1) { hang_up(s); return; }
	int64_t mono = now(CLOCK_MONOTONIC), stamp = mono;
	for (struct cmsghdr *c = CMSG_FIRSTHDR(&m); c; c = CMSG_NXTHDR(&m, c))
		if (c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_TIMESTAMPNS) {
			struct timespec t;
			memcpy(&t, CMSG_DATA(c), sizeof t);
			int64_t real = t.tv_sec * 1000000000LL + t.tv_nsec;
			if (real) stamp = mono - (now(CLOCK_REALTIME) - real);
		}
	s->got += n;
	s->buf[s->got] = 0;
	request(s, stamp);
}

static void stop(int sig) { (void)sig; stopping = 1; }

int main(int argc, char **argv) {
	if (argc != 5 && argc != 6) { fprintf(stderr, "usage: pacedserver TTFT_US ITL_US TOKENS LOGFILE [JITTER]\n"); return 2; }
	ttft = atoll(argv[1]) * 1000;
	itl = atoll(argv[2]) * 1000;
	tokens = atoi(argv[3]);
	jitter = argc == 6 ? atoi(argv[5]) : 0;
	logging = strcmp(argv[4], "-") != 0;
	struct rlimit lim;
	getrlimit(RLIMIT_NOFILE, &lim);
	lim.rlim_cur = lim.rlim_max;
	setrlimit(RLIMIT_NOFILE, &lim);
	struct sched_param prio = {.sched_priority = 50};
	sched_setscheduler(0, SCHED_FIFO, &prio);
	struct sigaction sa = {.sa_handler = stop};
	sigaction(SIGTERM, &sa, NULL);
	int one = 1, l = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
	setsockopt(l, SOL_SOCKET, SO_TIMESTAMPNS, &one, sizeof one);
	struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t len = sizeof a;
	if (bind(l, (struct sockaddr *)&a, len) || listen(l, 8192) || getsockname(l, (struct sockaddr *)&a, &len)) { perror("listen"); return 1; }
	int ep = epoll_create1(0);
	struct epoll_event ev = {.events = EPOLLIN, .data.fd = l}, evs[512];
	epoll_ctl(ep, EPOLL_CTL_ADD, l, &ev);
	printf("%d\n", ntohs(a.sin_port));
	fflush(stdout);
	while (!stopping) {
		struct timespec t = {.tv_sec = 1};
		if (heaped) {
			int64_t wait = heap[0]->next - now(CLOCK_MONOTONIC);
			if (wait < 0) wait = 0;
			t = (struct timespec){.tv_sec = wait / 1000000000, .tv_nsec = wait % 1000000000};
		}
		int n = epoll_pwait2(ep, evs, 512, &t, NULL);
		for (int i = 0; i < n; i++) {
			if (evs[i].data.fd != l) {
				if (streams[evs[i].data.fd]) readable(streams[evs[i].data.fd]);
				continue;
			}
			for (int fd; (fd = accept4(l, NULL, NULL, SOCK_NONBLOCK)) >= 0;) {
				if (fd >= MAXFD) { close(fd); continue; }
				setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
				struct stream *s = streams[fd] = calloc(1, sizeof *s);
				if (!s) abort();
				s->fd = fd;
				s->index = s->heap = -1;
				struct epoll_event e = {.events = EPOLLIN, .data.fd = fd};
				epoll_ctl(ep, EPOLL_CTL_ADD, fd, &e);
			}
		}
		int64_t t0 = now(CLOCK_MONOTONIC);
		while (heaped && heap[0]->next <= t0) event(heap[0]);
	}
	long sum = 0, p50 = 0, p99 = 0;
	for (int i = 0; i < 65; i++) {
		sum += late[i];
		if (!p50 && sum * 2 >= written) p50 = 1L << i;
		if (!p99 && sum * 100 >= written * 99) p99 = 1L << i;
	}
	printf("%ld %ld %ld\n", written, p50, p99);
	if (logging) {
		FILE *f = fopen(argv[4], "w");
		if (!f) { perror(argv[4]); return 1; }
		for (size_t i = 0; i < nlines; i++)
			if (lines[i].index < 0) fprintf(f, "%d request %lld\n", lines[i].id, (long long)lines[i].at);
			else fprintf(f, "%d %d %lld %lld\n", lines[i].id, lines[i].index, (long long)lines[i].at, (long long)lines[i].late);
		fclose(f);
	}
	return 0;
}
