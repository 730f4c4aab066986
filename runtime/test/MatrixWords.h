//===- MatrixWords.h - Words of a call on matrices, by name -----*- C++ -*-===//
#ifndef SHARDRT_TEST_MATRIXWORDS_H
#define SHARDRT_TEST_MATRIXWORDS_H

#include "shardrt/MatrixCall.h"
#include <cstdint>
#include <initializer_list>
#include <utility>
#include <vector>

namespace shardrt::test {

/// Words of MatrixCall.h, 0 but for those that are `named`, then the sizes, and
/// operand by operand what is added.
struct MatrixWords {
  MatrixWords(std::initializer_list<std::pair<int, int64_t>> named,
              const std::vector<int64_t> &sizes)
      : words(SHARDRT_MATRIX_HEAD) {
    for (auto [word, value] : named)
      words[word] = value;
    words.insert(words.end(), sizes.begin(), sizes.end());
  }
  void add(const void *address, const std::vector<int64_t> &strides) {
    words.push_back(reinterpret_cast<int64_t>(address));
    words.insert(words.end(), strides.begin(), strides.end());
  }
  const int64_t *data() const { return words.data(); }

private:
  std::vector<int64_t> words;
};

} // namespace shardrt::test

#endif // SHARDRT_TEST_MATRIXWORDS_H
