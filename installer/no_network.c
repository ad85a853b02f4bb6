/*
 * no_network.c - keeps the C library's sockets, resolver, logger and run-time loader out of the static program
 *
 * libcrypto's BIO and DSO objects name these functions, so a static link would carry a resolver (which would load
 * shared libraries at run time) into a program that promises never to use a network. Definitions that come first win
 * against those of the archive: the real ones are then not in the file at all, which tests/cli/static-binary.sh
 * asserts. Each refuses, as the system does where the facility is missing. Not part of sanitizer builds, which are
 * dynamic.
 */
#undef _GNU_SOURCE	/* it would turn addresses into transparent unions, which ISO C cannot redefine */
#undef _FORTIFY_SOURCE	/* it would turn definitions into inline wrappers */
#define _DEFAULT_SOURCE 1
#include <dlfcn.h>
#include <errno.h>
#include <netdb.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/socket.h>
#include <syslog.h>

/* not in the headers without _GNU_SOURCE */
struct mmsghdr;
void *__wrap_dlopen(const char *file, int mode);
int recvmmsg(int fd, struct mmsghdr *msgs, unsigned int n, int flags, struct timespec *timeout);
int sendmmsg(int fd, struct mmsghdr *msgs, unsigned int n, int flags);
int dladdr(const void *addr, void *info);

static int
refuse(void)
{
	errno = ENOSYS;
	return -1;
}

int
socket(int domain, int type, int protocol)
{
	(void)domain, (void)type, (void)protocol;
	return refuse();
}

int
connect(int fd, const struct sockaddr *addr, socklen_t len)
{
	(void)fd, (void)addr, (void)len;
	return refuse();
}

int
bind(int fd, const struct sockaddr *addr, socklen_t len)
{
	(void)fd, (void)addr, (void)len;
	return refuse();
}

int
listen(int fd, int backlog)
{
	(void)fd, (void)backlog;
	return refuse();
}

int
accept(int fd, struct sockaddr *restrict addr, socklen_t *restrict len)
{
	(void)fd, (void)addr, (void)len;
	return refuse();
}

int
shutdown(int fd, int how)
{
	(void)fd, (void)how;
	return refuse();
}

int
getsockname(int fd, struct sockaddr *restrict addr, socklen_t *restrict len)
{
	(void)fd, (void)addr, (void)len;
	return refuse();
}

int
getpeername(int fd, struct sockaddr *restrict addr, socklen_t *restrict len)
{
	(void)fd, (void)addr, (void)len;
	return refuse();
}

int
getsockopt(int fd, int level, int name, void *restrict value, socklen_t *restrict len)
{
	(void)fd, (void)level, (void)name, (void)value, (void)len;
	return refuse();
}

int
setsockopt(int fd, int level, int name, const void *value, socklen_t len)
{
	(void)fd, (void)level, (void)name, (void)value, (void)len;
	return refuse();
}

ssize_t
recvfrom(int fd, void *restrict buf, size_t n, int flags, struct sockaddr *restrict addr, socklen_t *restrict len)
{
	(void)fd, (void)buf, (void)n, (void)flags, (void)addr, (void)len;
	return refuse();
}

ssize_t
sendto(int fd, const void *buf, size_t n, int flags, const struct sockaddr *addr, socklen_t len)
{
	(void)fd, (void)buf, (void)n, (void)flags, (void)addr, (void)len;
	return refuse();
}

ssize_t
recvmsg(int fd, struct msghdr *msg, int flags)
{
	(void)fd, (void)msg, (void)flags;
	return refuse();
}

ssize_t
sendmsg(int fd, const struct msghdr *msg, int flags)
{
	(void)fd, (void)msg, (void)flags;
	return refuse();
}

int
recvmmsg(int fd, struct mmsghdr *msgs, unsigned int n, int flags, struct timespec *timeout)
{
	(void)fd, (void)msgs, (void)n, (void)flags, (void)timeout;
	return refuse();
}

int
sendmmsg(int fd, struct mmsghdr *msgs, unsigned int n, int flags)
{
	(void)fd, (void)msgs, (void)n, (void)flags;
	return refuse();
}

int
getaddrinfo(const char *restrict node, const char *restrict service, const struct addrinfo *restrict hints,
    struct addrinfo **restrict res)
{
	(void)node, (void)service, (void)hints;
	*res = NULL;
	return EAI_FAIL;
}

void
freeaddrinfo(struct addrinfo *ai)
{
	(void)ai;	/* getaddrinfo above never makes one */
}

const char *
gai_strerror(int code)
{
	(void)code;
	return "no network in this program";
}

int
getnameinfo(const struct sockaddr *restrict addr, socklen_t addr_len, char *restrict host, socklen_t host_len,
    char *restrict service, socklen_t service_len, int flags)
{
	(void)addr, (void)addr_len, (void)host, (void)host_len, (void)service, (void)service_len, (void)flags;
	return EAI_FAIL;
}

struct hostent *
gethostbyname(const char *name)
{
	(void)name;
	return NULL;
}

struct servent *
getservbyname(const char *name, const char *protocol)
{
	(void)name, (void)protocol;
	return NULL;
}

void
openlog(const char *ident, int option, int facility)
{
	(void)ident, (void)option, (void)facility;
}

void
syslog(int priority, const char *fmt, ...)
{
	(void)priority, (void)fmt;
}

void
closelog(void)
{
}

/* the C library's own iconv keeps its dlopen in the file; libcrypto's calls come here (-Wl,--wrap=dlopen) */
void *
__wrap_dlopen(const char *file, int mode)
{
	(void)file, (void)mode;
	return NULL;
}

void *
dlsym(void *restrict handle, const char *restrict name)
{
	(void)handle, (void)name;
	return NULL;
}

int
dlclose(void *handle)
{
	(void)handle;
	return -1;
}

char *
dlerror(void)
{
	static char text[] = "no run-time loader in this program";

	return text;
}

int
dladdr(const void *addr, void *info)
{
	(void)addr, (void)info;
	return 0;
}
