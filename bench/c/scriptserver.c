/* A server that plays scripts and knows the truth.
 *
 *   scriptserver SCRIPT LOGFILE
 *
 * It prints its port. SCRIPT is a series of
 *
 *   page PATH LEN            what GET PATH is answered with: LEN raw bytes follow, and a newline
 *   plan PATH                a way to answer a POST to PATH; the steps below are its own
 *   step DELAY_US EVENT LEN  DELAY_US after the request came write the LEN raw bytes that follow; EVENT 1: log it
 *   end keep|close|reset|hold
 *
 * The k-th POST to a path is played by the path's plan k modulo their number. Other paths are 404. On SIGTERM it
 * prints how many events it wrote and the median and 99th percentile of their lateness in ns, writes the log and
 * ends: "N request NS PLAN" with the kernel's stamp of the request's last byte, "N INDEX NS LATE" with the moment
 * just before each event was written and by how much that was late, in ns of CLOCK_MONOTONIC. N counts all POSTs.
 * One thread, one epoll set; real-time priority where allowed. */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { MAXFD = 65536, KEEP, CLOSE, RESET, HOLD };

struct step { int64_t delay; int event, len; char *bytes; };
struct plan { struct step *steps; int n, end, id; };
struct path { char name[256]; struct plan *plans; int n, page_len; long posts; char *page; };
struct stream {
	int fd, step, index, heap, got, size, sent;
	long id;
	int64_t start;
	struct plan *plan;
	char *buf;
};
struct line { int64_t at, late; int32_t id, index; };

static struct path paths[64];
static int npaths, nplans;
static struct stream *streams[MAXFD], *heap[MAXFD];
static int heaped;
static struct line *lines;
static size_t nlines, maxlines;
static long posts, written, late[65];
static volatile sig_atomic_t stopping;

static int64_t now(clockid_t c) {
	struct timespec t;
	clock_gettime(c, &t);
	return t.tv_sec * 1000000000LL + t.tv_nsec;
}

static void *grow(void *p, size_t n) {
	p = realloc(p, n);
	if (!p) abort();
	return p;
}

static void put(int id, int index, int64_t at, int64_t late) {
	if (nlines == maxlines) lines = grow(lines, (maxlines = maxlines ? 2 * maxlines : 1 << 16) * sizeof *lines);
	lines[nlines++] = (struct line){at, late, id, index};
}

static int64_t due(struct stream *s) { return s->start + s->plan->steps[s->step].delay; }

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
		if (k + 1 < heaped && due(heap[k + 1]) < due(heap[k])) k++;
		if (due(heap[i]) <= due(heap[k])) return;
		swap(i, k);
		i = k;
	}
}

static void up(int i) {
	for (; i > 0 && due(heap[i]) < due(heap[(i - 1) / 2]); i = (i - 1) / 2) swap(i, (i - 1) / 2);
}

static void drop(struct stream *s) {
	int i = s->heap;
	if (i < 0) return;
	swap(i, --heaped);
	s->heap = -1;
	if (i < heaped) { up(i); down(i); }
}

static void hang_up(struct stream *s, int reset) {
	struct linger l = {.l_onoff = 1};
	drop(s);
	streams[s->fd] = NULL;
	if (reset) setsockopt(s->fd, SOL_SOCKET, SO_LINGER, &l, sizeof l);
	close(s->fd);
	free(s->buf);
	free(s);
}

static void request(struct stream *s, int64_t stamp);

/* Writes the step that is due and arranges the next. */
static void play(struct stream *s) {
	struct step *t = &s->plan->steps[s->step];
	if (t->event) {
		int64_t at = now(CLOCK_MONOTONIC), l = at - due(s);
		put(s->id, s->index++, at, l);
		written++;
		late[64 - __builtin_clzll((uint64_t)l | 1)]++;
	}
	if (send(s->fd, t->bytes, t->len, MSG_NOSIGNAL | MSG_DONTWAIT) != t->len) { hang_up(s, 0); return; }
	if (s->step + 1 < s->plan->n) {
		s->step++;
		down(s->heap);
		return;
	}
	drop(s);
	switch (s->plan->end) {
	case CLOSE: hang_up(s, 0); return;
	case RESET: hang_up(s, 1); return;
	case HOLD: return;
	}
	s->plan = NULL;
	if (s->got) request(s, now(CLOCK_MONOTONIC));
}

static void page(struct stream *s, struct path *p) {
	static const char missing[] = "HTTP/1.1 404 Not Found\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}";
	const char *bytes = p && p->page ? p->page : missing;
	int len = p && p->page ? p->page_len : (int)sizeof missing - 1;
	if (send(s->fd, bytes, len, MSG_NOSIGNAL | MSG_DONTWAIT) != len) hang_up(s, 0);
}

static void request(struct stream *s, int64_t stamp) {
	char *end = memmem(s->buf, s->got, "\r\n\r\n", 4);
	if (!end || s->plan) return;
	*end = 0;
	char *cl = strcasestr(s->buf, "\ncontent-length:");
	long whole = end + 4 - s->buf + (cl ? atol(cl + 16) : 0);
	char *target = strchr(s->buf, ' ');
	int post = !strncmp(s->buf, "POST", 4), expect = strcasestr(s->buf, "100-continue") != NULL;
	char name[256] = "";
	if (target) sscanf(target, " %255[^ ?]", name);
	*end = '\r';
	if (s->got < whole) {
		if (expect && s->got == end + 4 - s->buf) send(s->fd, "HTTP/1.1 100 Continue\r\n\r\n", 25, MSG_NOSIGNAL | MSG_DONTWAIT);
		return;
	}
	memmove(s->buf, s->buf + whole, s->got - whole);
	s->got -= whole;
	struct path *p = NULL;
	for (int i = 0; i < npaths; i++) if (!strcmp(paths[i].name, name)) p = &paths[i];
	if (!post || !p || !p->n) { page(s, p); return; }
	s->plan = &p->plans[p->posts++ % p->n];
	s->id = posts++;
	s->step = s->index = 0;
	s->start = stamp;
	put(s->id, -1 - s->plan->id, stamp, 0);
	heap[s->heap = heaped++] = s;
	up(s->heap);
}

static void readable(struct stream *s) {
	char control[128];
	if (s->size - s->got < 8192) s->buf = grow(s->buf, s->size = 2 * s->size + 16384);
	struct iovec iov = {s->buf + s->got, s->size - 1 - s->got};
	struct msghdr m = {.msg_iov = &iov, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
	ssize_t n = recvmsg(s->fd, &m, MSG_DONTWAIT);
	if (n < 0 && (errno == EAGAIN || errno == EINTR)) return;
	if (n <= 0 || s->size > 64 << 20) { hang_up(s, 0); return; }
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

static struct path *path(const char *name) {
	for (int i = 0; i < npaths; i++) if (!strcmp(paths[i].name, name)) return &paths[i];
	if (npaths == 64) abort();
	snprintf(paths[npaths].name, sizeof paths[0].name, "%s", name);
	return &paths[npaths++];
}

static char *raw(FILE *f, int len) {
	char *b = grow(NULL, len + 1);
	if ((int)fread(b, 1, len, f) != len || getc(f) != '\n') { fprintf(stderr, "script: cut short\n"); exit(2); }
	return b;
}

static void load(const char *name) {
	FILE *f = fopen(name, "r");
	if (!f) { perror(name); exit(2); }
	char line[512], word[256];
	struct plan *p = NULL;
	while (fgets(line, sizeof line, f)) {
		struct step t = {0};
		int len;
		if (sscanf(line, "page %255s %d", word, &len) == 2) {
			struct path *q = path(word);
			q->page_len = len;
			q->page = raw(f, len);
		} else if (sscanf(line, "plan %255s", word) == 1) {
			struct path *q = path(word);
			q->plans = grow(q->plans, (q->n + 1) * sizeof *q->plans);
			p = &q->plans[q->n++];
			*p = (struct plan){.end = KEEP, .id = nplans++};
		} else if (p && sscanf(line, "step %ld %d %d", &t.delay, &t.event, &t.len) == 3) {
			t.delay *= 1000;
			t.bytes = raw(f, t.len);
			p->steps = grow(p->steps, (p->n + 1) * sizeof t);
			p->steps[p->n++] = t;
		} else if (p && sscanf(line, "end %255s", word) == 1) {
			p->end = !strcmp(word, "close") ? CLOSE : !strcmp(word, "reset") ? RESET : !strcmp(word, "hold") ? HOLD : KEEP;
		} else {
			fprintf(stderr, "script: not understood: %s", line);
			exit(2);
		}
	}
	fclose(f);
}

static void save(const char *name) {
	FILE *f = fopen(name, "w");
	if (!f) { perror(name); exit(1); }
	for (size_t i = 0; i < nlines; i++)
		if (lines[i].index < 0) fprintf(f, "%d request %lld %d\n", lines[i].id, (long long)lines[i].at, -1 - lines[i].index);
		else fprintf(f, "%d %d %lld %lld\n", lines[i].id, lines[i].index, (long long)lines[i].at, (long long)lines[i].late);
	fclose(f);
}

static void stop(int sig) { (void)sig; stopping = 1; }

int main(int argc, char **argv) {
	if (argc != 3) { fprintf(stderr, "usage: scriptserver SCRIPT LOGFILE\n"); return 2; }
	load(argv[1]);
	struct rlimit lim;
	getrlimit(RLIMIT_NOFILE, &lim);
	lim.rlim_cur = lim.rlim_max;
	setrlimit(RLIMIT_NOFILE, &lim);
	struct sched_param prio = {.sched_priority = 50};
	sched_setscheduler(0, SCHED_FIFO, &prio);
	struct sigaction sa = {.sa_handler = stop};
	sigaction(SIGTERM, &sa, NULL);
	sigaction(SIGINT, &sa, NULL);
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
			int64_t wait = due(heap[0]) - now(CLOCK_MONOTONIC);
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
				s->heap = -1;
				struct epoll_event e = {.events = EPOLLIN, .data.fd = fd};
				epoll_ctl(ep, EPOLL_CTL_ADD, fd, &e);
			}
		}
		int64_t t0 = now(CLOCK_MONOTONIC);
		while (heaped && due(heap[0]) <= t0) play(heap[0]);
	}
	long sum = 0, p50 = 0, p99 = 0;
	for (int i = 0; i < 65; i++) {
		sum += late[i];
		if (!p50 && sum * 2 >= written) p50 = 1L << i;
		if (!p99 && sum * 100 >= written * 99) p99 = 1L << i;
	}
	printf("%ld %ld %ld\n", written, p50, p99);
	save(argv[2]);
	return 0;
}
