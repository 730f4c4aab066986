//===- Paused.h - A process that is stopped while it waits ------*- C++ -*-===//
#ifndef SHARDRT_TEST_PAUSED_H
#define SHARDRT_TEST_PAUSED_H

#include <chrono>
#include <csignal>
#include <functional>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace shardrt::test {

/// What a process of its own does; it is stopped and continued, as by Ctrl-Z
/// and fg.
class PausedProcess {
public:
  /// Begins; `body` returns whether all is well.
  explicit PausedProcess(std::function<bool(PausedProcess &)> body) {
    EXPECT_EQ(pipe(waiting), 0);
    EXPECT_EQ(pipe(word), 0);
    process = fork();
    if (process == 0)
      _exit(body(*this) ? 0 : 1);
  }
  ~PausedProcess() {
    for (int end : {waiting[0], waiting[1], word[0], word[1]})
      close(end);
  }
  PausedProcess(const PausedProcess &) = delete;
  PausedProcess &operator=(const PausedProcess &) = delete;

  /// In that process: it waits from here on.
  void waits() { (void)!write(waiting[1], "w", 1); }
  /// In that process: returns once the other has given the word.
  void awaitWord() {
    char byte;
    (void)!read(word[0], &byte, 1);
  }

  /// Stops it once it waits; then lets it go on.
  void stop() {
    char byte;
    EXPECT_EQ(read(waiting[0], &byte, 1), 1);
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    kill(process, SIGSTOP);
  }
  void goOn() { kill(process, SIGCONT); }
  void giveWord() { (void)!write(word[1], "x", 1); }
  /// Waits for its end: whether all was well.
  bool isWell() {
    int status = 0;
    waitpid(process, &status, 0);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
  }

private:
  int waiting[2], word[2];
  pid_t process = -1;
};

} // namespace shardrt::test

#endif // SHARDRT_TEST_PAUSED_H
