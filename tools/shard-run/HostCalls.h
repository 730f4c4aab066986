//===- HostCalls.h - Answers over two pipes ---------------------*- C++ -*-===//
//
// Whoever starts the tool (the Python package) can answer what a program asks
// of its process. A request is one line of JSON,
//   {"index":0,"ordered":false,"rank":0,"location":"model.py:3",
//    "operands":[{"type":"f32","shape":[4,3]}],"results":[...]}
// and the operands' bytes, one behind the other, dense and row-major. The
// answer is the line "ok" and the results' bytes, or "error N" and a message of
// N bytes.
//
//===----------------------------------------------------------------------===//
#ifndef SHARDC_TOOLS_SHARD_RUN_HOSTCALLS_H
#define SHARDC_TOOLS_SHARD_RUN_HOSTCALLS_H

#include "shardrt/shardrt.h"
#include "llvm/ADT/StringRef.h"
#include <mutex>
#include <string>

namespace shardc {

/// One request after the other, whichever rank makes it.
class HostCalls {
public:
  /// Answers are read from `answers`, requests written to `requests`: open file
  /// descriptors.
  HostCalls(int answers, int requests) : answers(answers), requests(requests) {}

  /// A shardrt_host_fn; `self` is a HostCalls.
  static int call(void *self, const shardrt_host_call *call, char *message,
                  size_t messageSize);

private:
  int answer(const shardrt_host_call &call, std::string &why);
  bool write(llvm::StringRef bytes);
  bool read(char *bytes, size_t count);
  bool readLine(std::string &line);

  int answers, requests;
  std::mutex mutex;
};

} // namespace shardc

#endif // SHARDC_TOOLS_SHARD_RUN_HOSTCALLS_H
