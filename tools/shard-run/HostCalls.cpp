//===- HostCalls.cpp - Calls of the program, answered over two pipes ------===//

#include "HostCalls.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

using namespace llvm;
using namespace shardc;

/// Calls `move`, a read or write of the rest, until all is done; false where
/// the other side is gone.
template <typename Move> static bool moveAll(size_t count, Move move) {
  for (size_t done = 0; done < count;) {
    ssize_t moved = move(done, count - done);
    if (moved > 0)
      done += moved;
    else if (moved == 0 || errno != EINTR)
      return false;
  }
  return true;
}

bool HostCalls::write(StringRef bytes) {
  return moveAll(bytes.size(), [&](size_t from, size_t count) {
    return ::write(requests, bytes.data() + from, count);
  });
}

bool HostCalls::read(char *bytes, size_t count) {
  return moveAll(count, [&](size_t from, size_t rest) {
    return ::read(answers, bytes + from, rest);
  });
}

bool HostCalls::readLine(std::string &line) {
  char next;
  line.clear();
  while (line.size() < 64 && read(&next, 1)) {
    if (next == '\n')
      return true;
    line.push_back(next);
  }
  return false;
}

static json::Array describe(const shardrt_host_buffer *buffers, int64_t count) {
  json::Array list;
  for (int64_t i = 0; i < count; ++i)
    list.push_back(json::Object{
        {"type", buffers[i].element_type},
        {"shape",
         json::Array(ArrayRef(buffers[i].dims, buffers[i].num_dims))}});
  return list;
}

int HostCalls::answer(const shardrt_host_call &call, std::string &why) {
  const int lost = SHARDRT_LOST;
  why = "the process that answers calls is gone";
  std::string request;
  raw_string_ostream(request)
      << json::Value(json::Object{
             {"index", call.index},
             {"ordered", call.ordered != 0},
             {"rank", call.rank},
             {"location", json::fixUTF8(call.location)},
             {"operands", describe(call.operands, call.num_operands)},
             {"results", describe(call.results, call.num_results)}})
      << '\n';
  if (!write(request))
    return lost;
  for (int64_t i = 0; i < call.num_operands; ++i)
    if (!write({static_cast<const char *>(call.operands[i].data),
                static_cast<size_t>(call.operands[i].bytes)}))
      return lost;
  std::string line;
  if (!readLine(line))
    return lost;
  StringRef rest = line;
  if (rest.consume_front("error ")) {
    size_t length;
    if (rest.getAsInteger(10, length) || length > (1u << 20))
      return lost;
    std::string text(length, '\0');
    if (!read(text.data(), length))
      return lost;
    why = text;
    return lost;
  }
  if (line != "ok")
    return lost;
  for (int64_t i = 0; i < call.num_results; ++i)
    if (!read(static_cast<char *>(call.results[i].data), call.results[i].bytes))
      return lost;
  return SHARDRT_OK;
}

namespace {
/// Held by one process of those that shard-run --processes started.
class ProcessLock {
public:
  ProcessLock() {
    const char *calls = std::getenv("SHARDRT_CALLS");
    if (!calls)
      return;
    // Opened once more: those who inherit one descriptor share its lock.
    file = open((std::string("/proc/self/fd/") + calls).c_str(),
                O_RDWR | O_CLOEXEC);
    while (file >= 0 && flock(file, LOCK_EX) != 0 && errno == EINTR)
      ;
  }
  ~ProcessLock() {
    // With the file goes the lock.
    if (file >= 0)
      close(file);
  }
  ProcessLock(const ProcessLock &) = delete;
  ProcessLock &operator=(const ProcessLock &) = delete;

private:
  int file = -1;
};
} // namespace

int HostCalls::call(void *self, const shardrt_host_call *call, char *message,
                    size_t messageSize) {
  auto &calls = *static_cast<HostCalls *>(self);
  std::lock_guard lock(calls.mutex);
  // One of the processes that share the pipes at a time.
  ProcessLock turn;
  std::string why;
  int status = calls.answer(*call, why);
  if (status != SHARDRT_OK)
    std::snprintf(message, messageSize, "%s", why.c_str());
  return status;
}
