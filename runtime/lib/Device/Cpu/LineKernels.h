//===- LineKernels.h - What is compiled for each level of CPUs --*- C++ -*-===//
//
// LineKernels.cpp is compiled several times, each time for a level of x86-64
// (SHARDRT_LEVEL), and gives one table each. Nothing in it may be shared with
// code for other CPUs: templates of the standard library are used on types of
// its own alone.
//
//===----------------------------------------------------------------------===//
#ifndef SHARDRT_DEVICE_CPU_LINEKERNELS_H
#define SHARDRT_DEVICE_CPU_LINEKERNELS_H

#include <cstdint>

namespace shardrt {

/// One operand of a sort, or where its positions go.
struct SortOperand {
  int64_t bytes = 0;
  const char *src = nullptr;
  char *dst = nullptr;
  const int64_t *srcStrides = nullptr, *dstStrides = nullptr; ///< in elements
};

/// A sort of lines, taken from its words.
struct SortCall {
  int64_t order = 0, keep = 0, rank = 0, dim = 0;
  bool isDescending = false;
  const int64_t *sizes = nullptr;
  const SortOperand *operands = nullptr; ///< the key first
  int64_t numOperands = 0;
  const SortOperand *positions = nullptr; ///< none: NULL
  int64_t length = 0, lines = 0;
};

/// What is moved while a line is sorted.
enum class SortRecord {
  Key4, ///< keys of up to 32 bits that say all about their elements
  Key8, ///< the same of 64 bits
  Pair, ///< a key of up to 32 bits and a position
  Wide  ///< any key and a position
};
inline int64_t bytesOf(SortRecord record) {
  return record == SortRecord::Key4 ? 4 : record == SortRecord::Wide ? 16 : 8;
}

struct LineKernels {
  /// Bytes that a thread needs for sortLines.
  int64_t (*sortScratch)(const SortCall &call, SortRecord record);
  /// Sorts lines [first, last). Returns the first that is not sorted, since the
  /// keys of it or a neighbour do not say all; `last` if there is none.
  int64_t (*sortLines)(const SortCall &call, SortRecord record, int64_t first,
                       int64_t last, char *scratch);

  // One line that several threads share: each sorts a piece, pieces are merged.

  /// Leaves elements [first, last) of the line as sorted records at `records`;
  /// as many at `spare` are overwritten. False if their keys do not say all.
  bool (*sortPiece)(const SortCall &call, SortRecord record, int64_t line,
                    int64_t first, int64_t last, char *records, char *spare);
  /// Writes records [first, last) of what two sorted pieces give.
  void (*mergePieces)(SortRecord record, const char *left, int64_t leftSize,
                      const char *right, int64_t rightSize, int64_t first,
                      int64_t last, char *merged);
  /// Writes elements [first, last) of the sorted line.
  void (*writeLine)(const SortCall &call, SortRecord record, int64_t line,
                    int64_t first, int64_t last, const char *records);
};

/// What moves least, if keys say all about elements.
SortRecord recordOf(const SortCall &call);
/// What can be moved whatever keys say.
SortRecord fullRecordOf(const SortCall &call);

extern const LineKernels lineKernelsBase, lineKernelsV3, lineKernelsV4;

} // namespace shardrt

#endif // SHARDRT_DEVICE_CPU_LINEKERNELS_H
