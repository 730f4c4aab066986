//===- interpose.c - Faults of the machine, made in a process -------------===//
//
// Preloaded into a tool and what it starts. SHARDC_FAULT says what fails:
//
//   CALL:K          the K-th CALL on a file fails, as on a full disk. CALL is
//                   write, fsync, ftruncate, mmap, close, rename, link or open
//                   (for writing); all: the K-th of any of them
//   count           none; how many there were is appended to SHARDC_FAULT_COUNT
//   memory:RANK:N   the process of that rank gets N KiB more than it has before
//                   main
//
//===----------------------------------------------------------------------===//
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

static atomic_long calls;
static long fatal = -1; // the number of the call that fails
static char wanted[16] = "";
static int isCounting;

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

/// Whether the call `name` on a file fails now.
static int fails(const char *name) {
  if (!isCounting && fatal < 0)
    return 0;
  if (strcmp(wanted, "all") != 0 && strcmp(wanted, name) != 0)
    return 0;
  return atomic_fetch_add(&calls, 1) + 1 == fatal;
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

#define FAIL(number)                                                           \
  do {                                                                         \
    errno = number;                                                            \
    return -1;                                                                 \
  } while (0)

ssize_t write(int file, const void *bytes, size_t size) {
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
  if (file >= 0 && fails("mmap")) {
    errno = ENOMEM;
    return MAP_FAILED;
  }
  return REAL(mmap)(at, size, protection, flags, file, offset);
}
void *mmap64(void *at, size_t size, int protection, int flags, int file,
             off64_t offset) {
  if (file >= 0 && fails("mmap")) {
    errno = ENOMEM;
    return MAP_FAILED;
  }
  return REAL(mmap64)(at, size, protection, flags, file, offset);
}
int close(int file) {
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
    if ((flags & O_ACCMODE) != O_RDONLY && strncmp(path, "/dev/", 5) != 0 &&   \
        fails("open"))                                                         \
      FAIL(ENOSPC);                                                            \
    return REAL(name)(path, flags, mode);                                      \
  }
OPEN(open)
OPEN(open64)
