//===- FakeCudnn.h - Descriptors of the stand-in for cuDNN ------*- C++ -*-===//
#ifndef SHARDRT_TEST_FAKECUDNN_H
#define SHARDRT_TEST_FAKECUDNN_H

#include "FakeLibraries.h"
#include <functional>
#include <map>
#include <vector>

namespace fake {
struct Attribute {
  int type = 0;
  int64_t count = 0;
  std::vector<char> bytes;

  template <typename T> T get(int64_t i = 0) const {
    T value{};
    if ((i + 1) * sizeof(T) <= bytes.size())
      std::memcpy(&value, bytes.data() + i * sizeof(T), sizeof(T));
    return value;
  }
};

struct Descriptor {
  int kind = 0;
  bool isFinal = false;
  std::map<int, Attribute> attributes;
  int engine = -1; ///< of configurations and engines

  bool has(int name) const { return attributes.count(name) != 0; }
  const Attribute &at(int name) const { return attributes.at(name); }
  Descriptor *other(int name, int64_t i = 0) const {
    return static_cast<Descriptor *>(at(name).get<void *>(i));
  }
};

/// Nothing for types that are no floats.
std::optional<Number> dnnNumber(int type);

/// Whether a graph of ops of this kind is what `runOperations` does.
bool isOperation(int kind);
/// What is wrong with `graph`, of such ops; empty if nothing is.
std::string problemOf(const Descriptor &graph);
/// Does the ops of `graph` one after the other, each tensor rounded to its
/// type. `addressOf` finds what is not virtual, for the host; nothing is done,
/// and nothing said, where it finds none. Else says what was done.
std::string
runOperations(const Descriptor &graph,
              const std::function<char *(const Descriptor &)> &addressOf);
} // namespace fake

#endif // SHARDRT_TEST_FAKECUDNN_H
