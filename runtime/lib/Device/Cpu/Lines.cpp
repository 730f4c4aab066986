//===- Lines.cpp - Lines of a tensor, shared by threads -------------------===//
#include "Device/Cpu/Lines.h"
#include "Device/Cpu/Levels.h"
#include "Device/Cpu/LineKernels.h"
#include "Device/Cpu/TransformKernels.h"
#include "shardrt/LineCall.h"
#include <algorithm>
#include <atomic>
#include <bit>
#include <vector>

using namespace shardrt;

/// Reads `words`; operands, the positions last, go to `operands`.
static SortCall readCall(const int64_t *words,
                         std::vector<SortOperand> &operands) {
  SortCall call;
  call.order = words[SHARDRT_SORT_ORDER];
  call.isDescending = words[SHARDRT_SORT_DESCENDING] != 0;
  call.keep = words[SHARDRT_SORT_KEEP];
  call.numOperands = words[SHARDRT_SORT_OPERANDS];
  call.rank = words[SHARDRT_SORT_RANK];
  call.dim = words[SHARDRT_SORT_DIM];
  bool hasPositions = words[SHARDRT_SORT_POSITIONS] != 0;
  const int64_t *next = words + SHARDRT_SORT_HEAD;
  call.sizes = next;
  next += call.rank;
  for (int64_t i = 0; i < call.numOperands + hasPositions; ++i) {
    SortOperand operand;
    operand.bytes = next[0];
    operand.src = reinterpret_cast<const char *>(next[1]);
    operand.dst = reinterpret_cast<char *>(next[2]);
    operand.srcStrides = next + 3;
    operand.dstStrides = next + 3 + call.rank;
    operands.push_back(operand);
    next += 3 + 2 * call.rank;
  }
  call.operands = operands.data();
  call.positions = hasPositions ? &operands.back() : nullptr;
  call.length = call.sizes[call.dim];
  call.lines = 1;
  for (int64_t dim = 0; dim < call.rank; ++dim)
    call.lines *= dim == call.dim ? 1 : call.sizes[dim];
  call.keep = std::min(call.keep, call.length);
  return call;
}

/// Sorts lines [first, all) one after the other, each by all threads. Returns
/// the first whose keys do not say all.
static int64_t sortShared(const SortCall &call, const LineKernels &kernels,
                          SortRecord record, int64_t first, Pool &pool,
                          int64_t threads, char *records, char *spare) {
  int64_t n = call.length, bytes = bytesOf(record);
  for (int64_t line = first; line < call.lines; ++line) {
    std::atomic<bool> isWhole{true};
    share(pool, threads, [&](int64_t part) {
      int64_t from = bound(n, part, threads), to = bound(n, part + 1, threads);
      if (!kernels.sortPiece(call, record, line, from, to,
                             records + from * bytes, spare + from * bytes))
        isWhole = false;
    });
    if (!isWhole)
      return line;
    char *from = records, *to = spare;
    // Pieces [a, b) and [b, c) in parts of the threads, doubled each time.
    for (int64_t width = 1; width < threads; width *= 2) {
      for (int64_t at = 0; at < threads; at += 2 * width) {
        int64_t a = bound(n, at, threads),
                b = bound(n, std::min(at + width, threads), threads),
                c = bound(n, std::min(at + 2 * width, threads), threads);
        share(pool, threads, [&](int64_t part) {
          kernels.mergePieces(record, from + a * bytes, b - a, from + b * bytes,
                              c - b, bound(c - a, part, threads),
                              bound(c - a, part + 1, threads), to + a * bytes);
        });
      }
      std::swap(from, to);
    }
    share(pool, threads, [&](int64_t part) {
      kernels.writeLine(call, record, line, bound(call.keep, part, threads),
                        bound(call.keep, part + 1, threads), from);
    });
  }
  return call.lines;
}

/// Bytes for short lines, which each thread has on its stack.
static constexpr int64_t onStack = 16384;

bool shardrt::sortLines(const int64_t *words, Pool &pool, Memory &memory,
                        int64_t &needed) {
  std::vector<SortOperand> operands;
  SortCall call = readCall(words, operands);
  if (call.length == 0 || call.lines == 0 || call.keep == 0)
    return true;
  const LineKernels &kernels =
      bestOf(lineKernelsBase, lineKernelsV3, lineKernelsV4);
  int64_t threads = std::max<int64_t>(1, words[SHARDRT_SORT_THREADS]);
  // Less is not worth a thread's attention.
  int64_t elements = call.lines * call.length;
  threads = std::min(threads, 1 + elements / 4096);
  // Whole blocks of lines are shared; long lines of which there are few are
  // split.
  int64_t blocks = (call.lines + 15) / 16;
  bool isSharedLine = threads > 1 && call.lines < threads &&
                      call.length >= 8192 && call.keep > call.length / 8;
  // Keys alone first: few have more to say.
  SortRecord record = recordOf(call), full = fullRecordOf(call);
  if (isSharedLine) {
    for (int64_t line = 0; line < call.lines; record = full) {
      needed = 2 * call.length * bytesOf(record);
      auto *records = static_cast<char *>(memory.allocate(needed));
      if (!records)
        return false;
      line = sortShared(call, kernels, record, line, pool, threads, records,
                        records + needed / 2);
      memory.release(records);
    }
    return true;
  }
  int64_t unit = blocks >= threads ? 16 : 1;
  int64_t units = (call.lines + unit - 1) / unit;
  threads = std::min(threads, units);
  auto endOf = [&](int64_t part) {
    return std::min(bound(units, part + 1, threads) * unit, call.lines);
  };
  std::vector<int64_t> next(threads);
  for (int64_t part = 0; part < threads; ++part)
    next[part] = bound(units, part, threads) * unit;
  for (bool isWhole = false; !isWhole; record = full) {
    int64_t scratch = (kernels.sortScratch(call, record) + 63) / 64 * 64;
    char *room = nullptr;
    if (scratch > onStack) {
      needed = threads * scratch;
      room = static_cast<char *>(memory.allocate(needed));
      if (!room)
        return false;
    }
    share(pool, threads, [&](int64_t part) {
      alignas(64) char small[onStack];
      next[part] = kernels.sortLines(call, record, next[part], endOf(part),
                                     room ? room + part * scratch : small);
    });
    if (room)
      memory.release(room);
    isWhole = true;
    for (int64_t part = 0; part < threads; ++part)
      isWhole &= next[part] >= endOf(part);
  }
  return true;
}

//===----------------------------------------------------------------------===//
// Transforms
//===----------------------------------------------------------------------===//

static TransformCall readTransform(const int64_t *words) {
  TransformCall call;
  call.partBytes = words[SHARDRT_TRANSFORM_PART];
  call.isForward = words[SHARDRT_TRANSFORM_INVERSE] == 0;
  call.factor = std::bit_cast<double>(words[SHARDRT_TRANSFORM_FACTOR]);
  call.rank = words[SHARDRT_TRANSFORM_RANK];
  call.dim = words[SHARDRT_TRANSFORM_DIM];
  auto address = [&](int word) {
    return reinterpret_cast<char *>(words[word]);
  };
  call.src = address(SHARDRT_TRANSFORM_SRC);
  call.dst = address(SHARDRT_TRANSFORM_DST);
  call.cosines = address(SHARDRT_TRANSFORM_COSINES);
  call.sines = address(SHARDRT_TRANSFORM_SINES);
  call.sizes = words + SHARDRT_TRANSFORM_HEAD;
  call.srcStrides = call.sizes + call.rank;
  call.dstStrides = call.srcStrides + call.rank;
  call.length = words[SHARDRT_TRANSFORM_LENGTH];
  call.isFromReal =
      words[SHARDRT_TRANSFORM_REAL] == SHARDRT_TRANSFORM_FROM_REAL;
  call.isToReal = words[SHARDRT_TRANSFORM_REAL] == SHARDRT_TRANSFORM_TO_REAL;
  call.lines = 1;
  for (int64_t dim = 0; dim < call.rank; ++dim)
    call.lines *= dim == call.dim ? 1 : call.sizes[dim];
  return call;
}

namespace {
/// Transforms of several dims. Elements that have the same indices before a dim
/// are a plane of it; planes of an outer dim are made of those of an inner one.
/// What one transform leaves of a plane the next one finds in a cache: all are
/// done of a plane before the next plane. (Depth first, so for caches of any
/// size: M. Frigo et al., "Cache-oblivious algorithms", 1999.)
class DimTransforms {
public:
  DimTransforms(std::vector<TransformCall> calls,
                const TransformKernels &kernels)
      : calls(std::move(calls)), kernels(kernels) {
    isOutward = this->calls.front().dim > this->calls.back().dim;
    if (isOutward)
      std::reverse(this->calls.begin(), this->calls.end());
    for (const TransformCall &call : this->calls) {
      int64_t count = 1;
      for (int64_t dim = 0; dim < call.dim; ++dim)
        count *= call.sizes[dim];
      planes.push_back(count);
    }
  }

  int64_t scratch() const {
    int64_t most = 0;
    for (const TransformCall &call : calls)
      most = std::max(most, (kernels.scratch(call) + 63) / 64 * 64);
    return most;
  }

  /// Dims from number `first` on, outermost first, of all planes.
  void run(size_t first, int64_t threads, Pool &pool, char *room) const {
    const TransformCall &call = calls[first];
    bool isLast = first + 1 == calls.size();
    int64_t count = planes[first], each = scratch();
    // Threads have as many planes each, or many.
    if (!isLast && (count % threads == 0 || count >= 8 * threads)) {
      share(pool, threads, [&](int64_t part) {
        runPlanes(first, bound(count, part, threads),
                  bound(count, part + 1, threads), room + part * each);
      });
      return;
    }
    if (!isLast && isOutward)
      run(first + 1, threads, pool, room);
    int64_t unit = kernels.group(call), units = (call.lines + unit - 1) / unit,
            parts = std::min(threads, units);
    share(pool, parts, [&](int64_t part) {
      kernels.transform(
          call, bound(units, part, parts) * unit,
          std::min(bound(units, part + 1, parts) * unit, call.lines),
          room + part * each);
    });
    if (!isLast && !isOutward)
      run(first + 1, threads, pool, room);
  }

private:
  /// Of planes [from, to), one after the other; small ones some at a time, for
  /// lines are done side by side.
  void runPlanes(size_t first, int64_t from, int64_t to, char *room) const {
    constexpr int64_t someBytes = 1 << 17;
    const TransformCall &call = calls[first];
    int64_t lines = call.lines / planes[first];
    bool isLast = first + 1 == calls.size();
    int64_t bytes = 2 * call.partBytes * lines * call.length,
            some = isLast ? to - from : std::max<int64_t>(1, someBytes / bytes);
    for (int64_t at = from; at < to; at += some) {
      int64_t end = std::min(to, at + some);
      auto inner = [&] {
        int64_t ratio = planes[first + 1] / planes[first];
        runPlanes(first + 1, at * ratio, end * ratio, room);
      };
      if (!isLast && isOutward)
        inner();
      kernels.transform(call, at * lines, end * lines, room);
      if (!isLast && !isOutward)
        inner();
    }
  }

  std::vector<TransformCall> calls; ///< by their dims, whatever the order
  std::vector<int64_t> planes;      ///< of each one's dim
  const TransformKernels &kernels;
  bool isOutward; ///< inner dims come first
};
} // namespace

bool shardrt::transformDims(const int64_t *words, Pool &pool, Memory &memory,
                            int64_t &needed) {
  int64_t threads = std::max<int64_t>(1, words[SHARDRT_TRANSFORM_THREADS]);
  std::vector<TransformCall> calls;
  for (int64_t next = -1; next != 0; words += next) {
    calls.push_back(readTransform(words));
    if (calls.back().length == 0 || calls.back().lines == 0)
      return true;
    next = words[SHARDRT_TRANSFORM_NEXT];
  }
  const TransformKernels &kernels =
      bestOf(transformKernelsBase, transformKernelsV3, transformKernelsV4);
  // Less is not worth a thread's attention.
  for (const TransformCall &call : calls)
    threads = std::min(threads, 1 + call.lines * call.length / 4096);
  DimTransforms transforms(std::move(calls), kernels);
  needed = threads * transforms.scratch();
  auto *room = static_cast<char *>(memory.allocate(needed));
  if (!room)
    return false;
  transforms.run(0, threads, pool, room);
  memory.release(room);
  return true;
}
