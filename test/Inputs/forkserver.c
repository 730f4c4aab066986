/*===- forkserver.c - A tool that has started, many times ------------------===
 *
 * Preloaded into a tool, this stands before its main: libraries are loaded and
 * bound, and every object with a constructor is made. For each command line
 * that comes in on descriptor REQUESTS it forks; the child gets limits and
 * returns to main with that command line, so that all that a user's run does
 * from main on is done, by the same code. What became of it goes out on
 * descriptor ANSWERS. Nothing of the tool knows of this.
 *
 * SHARDC_FORK_SERVER=REQUESTS:ANSWERS. A request: five numbers of 64 bits
 * (bytes that follow; how many arguments; seconds of a core, seconds by the
 * clock and bytes of address space that it may take), then strings that end
 * in zero: the directory to be in, the file for stderr, and the arguments. An
 * answer: the status that waitpid gave, microseconds of a core, kibibytes of
 * memory at most (both of it and of what it started), and whether it was
 * ended here, by the clock.
 *
 *===----------------------------------------------------------------------===*/
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

typedef int (*Main)(int, char **, char **);
static Main mainOfTool;

typedef struct {
  uint64_t bytes, arguments, seconds, wait, memory;
} Request;
typedef struct {
  uint64_t status, microseconds, kibibytes, ended;
} Answer;

/* 0, or -1 where the other end is gone. */
static int readAll(int from, void *to, size_t size) {
  for (char *at = to; size > 0;) {
    ssize_t count = read(from, at, size);
    if (count < 0 && errno == EINTR)
      continue;
    if (count <= 0)
      return -1;
    at += count;
    size -= (size_t)count;
  }
  return 0;
}

static void limit(int which, uint64_t most) {
  struct rlimit limits = {most, most};
  setrlimit(which, &limits);
}

/* In the child: be as a process is that a shell has just started. */
static void become(const Request *request, const char *directory,
                   const char *said) {
  setpgid(0, 0);
  if (chdir(directory) != 0)
    _exit(125);
  int null = open("/dev/null", O_RDWR);
  int file = open(said, O_WRONLY | O_CREAT | O_TRUNC, 0600);
  if (null < 0 || file < 0)
    _exit(125);
  dup2(null, STDIN_FILENO);
  dup2(null, STDOUT_FILENO);
  dup2(file, STDERR_FILENO);
  syscall(SYS_close_range, 3, ~0u, 0);
  unsetenv("LD_PRELOAD");
  unsetenv("LD_BIND_NOW");
  unsetenv("SHARDC_FORK_SERVER");
  limit(RLIMIT_CORE, 0);
  limit(RLIMIT_CPU, request->seconds);
  limit(RLIMIT_AS, request->memory);
}

/* Waits for `child` and for what it has started. */
static void await(pid_t child, const Request *request, Answer *answer) {
  int handle = (int)syscall(SYS_pidfd_open, child, 0);
  struct pollfd ends = {handle, POLLIN, 0};
  int count;
  while ((count = poll(&ends, 1, (int)(request->wait * 1000))) < 0 &&
         errno == EINTR)
    ;
  answer->ended = count == 0;
  if (count == 0)
    kill(-child, SIGKILL);
  close(handle);
  int status = 0;
  struct rusage used;
  while (wait4(child, &status, 0, &used) < 0 && errno == EINTR)
    ;
  /* What it left behind must not run beside the next. */
  kill(-child, SIGKILL);
  answer->status = (uint64_t)status;
  answer->microseconds =
      (uint64_t)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) * 1000000 +
      (uint64_t)(used.ru_utime.tv_usec + used.ru_stime.tv_usec);
  answer->kibibytes = (uint64_t)used.ru_maxrss;
}

static int serve(int argc, char **argv, char **environment) {
  int requests, answers;
  const char *ends = getenv("SHARDC_FORK_SERVER");
  if (!ends || sscanf(ends, "%d:%d", &requests, &answers) != 2)
    return mainOfTool(argc, argv, environment);
  Request request;
  while (readAll(requests, &request, sizeof(request)) == 0) {
    char *text = malloc(request.bytes);
    if (!text || readAll(requests, text, request.bytes) != 0)
      break;
    Answer answer = {0, 0, 0, 0};
    pid_t child = fork();
    if (child == 0) {
      char **arguments = calloc(request.arguments + 1, sizeof(char *));
      char *directory = text, *said = text + strlen(text) + 1;
      char *at = said + strlen(said) + 1;
      for (uint64_t i = 0; i < request.arguments; ++i, at += strlen(at) + 1)
        arguments[i] = at;
      become(&request, directory, said);
      return mainOfTool((int)request.arguments, arguments, environ);
    }
    free(text);
    if (child < 0)
      answer.status = (uint64_t)-1;
    else
      await(child, &request, &answer);
    if (write(answers, &answer, sizeof(answer)) != sizeof(answer))
      break;
  }
  _exit(0);
}

int __libc_start_main(Main main, int argc, char **argv, void (*init)(void),
                      void (*fini)(void), void (*unload)(void), void *stack) {
  typedef int (*Start)(Main, int, char **, void (*)(void), void (*)(void),
                       void (*)(void), void *);
  Start start = (Start)dlsym(RTLD_NEXT, "__libc_start_main");
  mainOfTool = main;
  return start(serve, argc, argv, init, fini, unload, stack);
}
