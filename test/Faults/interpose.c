//===- interpose.c - Faults of the machine, made in a process -------------===//
//
// Preloaded into a tool and what it starts. SHARDC_FAULT says what fails:
//
//   CALL:K          the K-th CALL on a file fails, as on a full disk. CALL is
//                   write, fsync, ftruncate, mmap, close, rename, link or open
//                   (for writing); all: the K-th of any of them. Or it is fork,
//                   pipe, memfd (memfd_create), pread or mkdir, which are no
//                   part of all
//   count           none; how many there were is appended to SHARDC_FAULT_COUNT
//   memory:RANK:N   the process of that rank gets N KiB more than it has before
//                   main
//   WHAT:RANK:MOMENT:SITE:N
//                   when rank RANK is at the N-th execution of a program's
//                   communication SITE, WHAT happens: kill, stop (the process),
//                   or sleepMS (that many milliseconds). MOMENT is before,
//                   during (others come 30 ms late, and it is 10 ms after its
//                   call), or after
//   WHAT:RANK:start:0:N
//                   when the process of rank RANK makes the N-th of the calls
//                   of the system by which a rank starts, WHAT happens to it
//   sites           none; what communicates is written to SHARDC_FAULT_LOG
//
// When a fault happens, SHARDC_FAULT_LOG gets CLOCK_MONOTONIC in ns.
//
//===----------------------------------------------------------------------===//
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

static atomic_long calls;
static long fatal = -1; // the number of the call that fails
static char wanted[16] = "";
static int isCounting;

static struct {
  char what[16], moment[16];
  long rank, site, number;
} plan = {.rank = -1};
static int isListing;
static atomic_long executions[256]; // by rank
static pid_t starting;              // the process whose calls are counted

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

/// Whether the call `name` on a file fails now.
static int fails(const char *name) {
  if (!isCounting && fatal < 0)
    return 0;
  if (strcmp(wanted, "all") != 0 && strcmp(wanted, name) != 0)
    return 0;
  return atomic_fetch_add(&calls, 1) + 1 == fatal;
}

/// The same of what `all` does not stand for.
static int failsAlone(const char *name) {
  return strcmp(wanted, name) == 0 && fails(name);
}

/// Whether `file` is one of a disk or of memory, and not a pipe or a socket.
static int isFile(int file) {
  struct stat status;
  int before = errno;
  int result = fstat(file, &status) == 0 && S_ISREG(status.st_mode) &&
               (fcntl(file, F_GETFL) & O_ACCMODE) != O_RDONLY;
  errno = before;
  return result;
}

__attribute__((constructor)) static void begin(void) {
  const char *fault = getenv("SHARDC_FAULT");
  const char *rank = getenv("SHARDRT_RANK");
  long victim, kilobytes;
  if (!fault)
    return;
  if (!rank)
    rank = getenv("RANK"); // without a launcher of ours
  if (strcmp(fault, "count") == 0) {
    strcpy(wanted, "all");
    isCounting = 1;
    return;
  }
  if (sscanf(fault, "memory:%ld:%ld", &victim, &kilobytes) == 2) {
    FILE *statm = fopen("/proc/self/statm", "r");
    long pages = 0;
    if (!rank || atol(rank) != victim || !statm ||
        fscanf(statm, "%ld", &pages) != 1)
      return;
    fclose(statm);
    rlim_t bytes = (rlim_t)pages * sysconf(_SC_PAGESIZE) + kilobytes * 1024;
    struct rlimit limit = {bytes, bytes};
    setrlimit(RLIMIT_AS, &limit);
    return;
  }
  if (strcmp(fault, "sites") == 0) {
    isListing = 1;
    return;
  }
  if (sscanf(fault, "%15[a-z0-9]:%ld:%15[a-z]:%ld:%ld", plan.what, &plan.rank,
             plan.moment, &plan.site, &plan.number) == 5) {
    // What a rank starts is not the rank.
    if (strcmp(plan.moment, "start") == 0 && rank && atol(rank) == plan.rank &&
        strcmp(program_invocation_short_name, "shard-run") == 0)
      starting = getpid();
    return;
  }
  plan.rank = -1;
  sscanf(fault, "%15[a-z]:%ld", wanted, &fatal);
}

__attribute__((destructor)) static void end(void) {
  const char *path = getenv("SHARDC_FAULT_COUNT");
  if (!isCounting || !path)
    return;
  isCounting = 0;
  int file = REAL(open)(path, O_WRONLY | O_CREAT | O_APPEND, 0600);
  char line[32];
  int size = snprintf(line, sizeof(line), "%ld\n", atomic_load(&calls));
  if (file >= 0 && REAL(write)(file, line, size) != size)
    abort();
}

static void happen(void);

/// A call by which a rank starts.
static void step(void) {
  int before = errno;
  if (starting && getpid() == starting &&
      atomic_fetch_add(&calls, 1) + 1 == plan.number)
    happen();
  errno = before;
}

#define FAIL(number)                                                           \
  do {                                                                         \
    errno = number;                                                            \
    return -1;                                                                 \
  } while (0)

ssize_t write(int file, const void *bytes, size_t size) {
  step();
  if (isFile(file) && fails("write"))
    FAIL(ENOSPC);
  return REAL(write)(file, bytes, size);
}
ssize_t pwrite(int file, const void *bytes, size_t size, off_t at) {
  if (isFile(file) && fails("write"))
    FAIL(ENOSPC);
  return REAL(pwrite)(file, bytes, size, at);
}
ssize_t pwrite64(int file, const void *bytes, size_t size, off64_t at) {
  if (isFile(file) && fails("write"))
    FAIL(ENOSPC);
  return REAL(pwrite64)(file, bytes, size, at);
}
ssize_t writev(int file, const struct iovec *parts, int count) {
  if (isFile(file) && fails("write"))
    FAIL(ENOSPC);
  return REAL(writev)(file, parts, count);
}
int fsync(int file) {
  if (fails("fsync"))
    FAIL(EIO);
  return REAL(fsync)(file);
}
int fdatasync(int file) {
  if (fails("fsync"))
    FAIL(EIO);
  return REAL(fdatasync)(file);
}
int ftruncate(int file, off_t size) {
  step();
  if (fails("ftruncate"))
    FAIL(ENOSPC);
  return REAL(ftruncate)(file, size);
}
int ftruncate64(int file, off64_t size) {
  if (fails("ftruncate"))
    FAIL(ENOSPC);
  return REAL(ftruncate64)(file, size);
}
void *mmap(void *at, size_t size, int protection, int flags, int file,
           off_t offset) {
  if (file >= 0)
    step();
  if (file >= 0 && fails("mmap")) {
    errno = ENOMEM;
    return MAP_FAILED;
  }
  return REAL(mmap)(at, size, protection, flags, file, offset);
}
void *mmap64(void *at, size_t size, int protection, int flags, int file,
             off64_t offset) {
  if (file >= 0)
    step();
  if (file >= 0 && fails("mmap")) {
    errno = ENOMEM;
    return MAP_FAILED;
  }
  return REAL(mmap64)(at, size, protection, flags, file, offset);
}
int close(int file) {
  step();
  int failing = isFile(file) && fails("close");
  int result = REAL(close)(file);
  if (failing)
    FAIL(EIO);
  return result;
}
int rename(const char *from, const char *to) {
  if (fails("rename"))
    FAIL(ENOSPC);
  return REAL(rename)(from, to);
}
int renameat(int fromAt, const char *from, int toAt, const char *to) {
  if (fails("rename"))
    FAIL(ENOSPC);
  return REAL(renameat)(fromAt, from, toAt, to);
}
int linkat(int fromAt, const char *from, int toAt, const char *to, int flags) {
  if (fails("link"))
    FAIL(ENOSPC);
  return REAL(linkat)(fromAt, from, toAt, to, flags);
}
#define OPEN(name)                                                             \
  int name(const char *path, int flags, ...) {                                 \
    va_list list;                                                              \
    va_start(list, flags);                                                     \
    mode_t mode = va_arg(list, mode_t);                                        \
    va_end(list);                                                              \
    step();                                                                    \
    if ((flags & O_ACCMODE) != O_RDONLY && strncmp(path, "/dev/", 5) != 0 &&   \
        fails("open"))                                                         \
      FAIL(ENOSPC);                                                            \
    return REAL(name)(path, flags, mode);                                      \
  }
OPEN(open)
OPEN(open64)

pid_t fork(void) {
  step();
  if (failsAlone("fork"))
    FAIL(EAGAIN);
  return REAL(fork)();
}
int pipe2(int ends[2], int flags) {
  step();
  if (failsAlone("pipe"))
    FAIL(EMFILE);
  return REAL(pipe2)(ends, flags);
}
int memfd_create(const char *name, unsigned flags) {
  step();
  if (failsAlone("memfd"))
    FAIL(ENOMEM);
  return REAL(memfd_create)(name, flags);
}
ssize_t pread(int file, void *bytes, size_t size, off_t at) {
  if (failsAlone("pread"))
    FAIL(EIO);
  return REAL(pread)(file, bytes, size, at);
}
ssize_t pread64(int file, void *bytes, size_t size, off64_t at) {
  if (failsAlone("pread"))
    FAIL(EIO);
  return REAL(pread64)(file, bytes, size, at);
}
int mkdir(const char *path, mode_t mode) {
  if (failsAlone("mkdir"))
    FAIL(ENOSPC);
  return REAL(mkdir)(path, mode);
}

// Of these only the moment counts.
#define STEP(result, name, parameters, ...)                                    \
  result name parameters {                                                     \
    step();                                                                    \
    return REAL(name)(__VA_ARGS__);                                            \
  }
STEP(int, socket, (int domain, int type, int protocol), domain, type, protocol)
STEP(int, bind, (int file, const struct sockaddr *at, socklen_t size), file, at,
     size)
STEP(int, listen, (int file, int backlog), file, backlog)
STEP(int, connect, (int file, const struct sockaddr *at, socklen_t size), file,
     at, size)
STEP(int, accept, (int file, struct sockaddr *at, socklen_t *size), file, at,
     size)
STEP(int, accept4, (int file, struct sockaddr *at, socklen_t *size, int flags),
     file, at, size, flags)
STEP(int, poll, (struct pollfd * files, nfds_t count, int ms), files, count, ms)
STEP(ssize_t, read, (int file, void *bytes, size_t size), file, bytes, size)
STEP(ssize_t, send, (int file, const void *bytes, size_t size, int flags), file,
     bytes, size, flags)
STEP(ssize_t, recv, (int file, void *bytes, size_t size, int flags), file,
     bytes, size, flags)
STEP(ssize_t, sendmsg, (int file, const struct msghdr *message, int flags),
     file, message, flags)
STEP(ssize_t, recvmsg, (int file, struct msghdr *message, int flags), file,
     message, flags)

//===----------------------------------------------------------------------===//
// Ranks
//===----------------------------------------------------------------------===//

long shardrt_rank(void *context);

static void note(const char *text) {
  const char *path = getenv("SHARDC_FAULT_LOG");
  int file = path ? REAL(open)(path, O_WRONLY | O_CREAT | O_APPEND, 0600) : -1;
  if (file >= 0 && REAL(write)(file, text, strlen(text)) < 0)
    abort();
  if (file >= 0)
    REAL(close)(file);
}

static void noteTime(long later) {
  struct timespec now;
  char line[40];
  clock_gettime(CLOCK_MONOTONIC, &now);
  snprintf(line, sizeof(line), "%lld\n",
           now.tv_sec * 1000000000ll + now.tv_nsec + later);
  note(line);
}

static void happen(void) {
  noteTime(0);
  if (strcmp(plan.what, "kill") == 0)
    kill(getpid(), SIGKILL);
  else if (strcmp(plan.what, "stop") == 0)
    kill(getpid(), SIGSTOP);
  else if (strncmp(plan.what, "sleep", 5) == 0)
    usleep(1000 * atol(plan.what + 5));
}

static void happenSoon(void) {
  const long wait = 10000000;
  struct sigevent event = {.sigev_notify = SIGEV_SIGNAL};
  event.sigev_signo = strcmp(plan.what, "kill") == 0 ? SIGKILL : SIGSTOP;
  struct itimerspec once = {.it_value = {.tv_nsec = wait}};
  timer_t timer;
  noteTime(wait);
  if (timer_create(CLOCK_MONOTONIC, &event, &timer) != 0 ||
      timer_settime(timer, 0, &once, NULL) != 0)
    abort();
}

/// The number of this execution of `site`, where the plan is about it; else 0.
static long arrive(void *context, long site, const char *call) {
  if (plan.rank < 0 && !isListing)
    return 0;
  long rank = shardrt_rank(context);
  if (isListing) {
    char line[80];
    snprintf(line, sizeof(line), "%ld %ld %s\n", rank, site, call);
    note(line);
    return 0;
  }
  if (site != plan.site || rank > 255)
    return 0;
  long number = atomic_fetch_add(&executions[rank], 1) + 1;
  if (number != plan.number)
    return 0;
  int isDuring = strcmp(plan.moment, "during") == 0;
  if (rank != plan.rank) {
    if (isDuring)
      usleep(30000);
    return 0;
  }
  if (isDuring)
    happenSoon();
  else if (strcmp(plan.moment, "before") == 0)
    happen();
  return number;
}

static void leave(long number) {
  if (number != 0 && strcmp(plan.moment, "after") == 0)
    happen();
}

#define COLLECTIVE(result, name, parameters, ...)                              \
  result name parameters;                                                      \
  result name parameters {                                                     \
    long number = arrive(context, site, #name);                                \
    result status = REAL(name)(context, site, ##__VA_ARGS__);                  \
    leave(number);                                                             \
    return status;                                                             \
  }

COLLECTIVE(int, shardrt_exchange,
           (void *context, long site, const void *source, void *target,
            const void *fill),
           source, target, fill)
COLLECTIVE(long, shardrt_exchange_start,
           (void *context, long site, const void *source), source)
COLLECTIVE(int, shardrt_all_reduce,
           (void *context, long site, const void *source, void *target,
            long count),
           source, target, count)
COLLECTIVE(int, shardrt_reduce_scatter,
           (void *context, long site, const void *source, void *target), source,
           target)
COLLECTIVE(long, shardrt_plan_rows,
           (void *context, long site, const void *indices), indices)
COLLECTIVE(int, shardrt_gather_rows,
           (void *context, long site, long rows, const void *source,
            void *target),
           rows, source, target)
COLLECTIVE(int, shardrt_scatter_rows,
           (void *context, long site, long rows, const void *updates,
            void *target),
           rows, updates, target)
