//===- LineKernels.cpp - Sorting and selecting on one thread --------------===//
//
// Elements become records: unsigned numbers that are ordered as the keys are,
// with the position below where equals could be told apart. Short lines are
// sorted side by side, one a lane, by a network of comparators (K. E. Batcher,
// "Sorting networks and their applications", 1968); long ones by their digits,
// the lowest first; and where few elements of a line are wanted, those below a
// bound that comes down are collected.
//
//===----------------------------------------------------------------------===//
#include "Device/Cpu/LineKernels.h"
#include "shardrt/LineCall.h"
#include <algorithm>
#include <type_traits>

#ifndef SHARDRT_LEVEL
#define SHARDRT_LEVEL lineKernelsBase
#endif

using namespace shardrt;

namespace {
namespace sorts {

//===----------------------------------------------------------------------===//
// Keys
//===----------------------------------------------------------------------===//

/// Elements of unsigned type U as numbers in their order.
template <typename U> struct Keys {
  static constexpr int bits = 8 * sizeof(U);
  static constexpr U sign = U(U(1) << (bits - 1)), rest = U(~sign);
  bool isFloat, isNumbers;
  U flip, infinity = 0, quiet = 0;

  explicit Keys(const SortCall &call) {
    isNumbers = call.order == SHARDRT_SORT_NUMBERS ||
                call.order == SHARDRT_SORT_NUMBERS_HALF;
    isFloat = isNumbers || call.order == SHARDRT_SORT_TOTAL;
    flip = call.order == SHARDRT_SORT_UNSIGNED ? U(0) : sign;
    if (call.isDescending)
      flip = U(~flip);
    if constexpr (bits > 8) {
      int exponent = call.order == SHARDRT_SORT_NUMBERS_HALF ? 5
                     : bits == 64                            ? 11
                                                             : 8;
      infinity = U(((U(1) << exponent) - 1) << (bits - 1 - exponent));
      quiet = U(infinity | U(1) << (bits - 2 - exponent));
    }
  }

  /// Whether the key does not say which of several elements it was.
  [[gnu::always_inline]] bool loses(U x) const {
    return isNumbers && (x == sign || (U(x & rest) > infinity && x != quiet));
  }
  [[gnu::always_inline]] U operator()(U x) const {
    if (isNumbers) {
      U magnitude = x & rest;
      x = magnitude == 0 ? U(0) : x;
      x = magnitude > infinity ? quiet : x;
    }
    if (isFloat)
      x = x & sign ? U(x ^ rest) : x;
    return U(x ^ flip);
  }
  [[gnu::always_inline]] U back(U key) const {
    U x = U(key ^ flip);
    if (isFloat)
      x = x & sign ? U(x ^ rest) : x;
    return x;
  }
};

//===----------------------------------------------------------------------===//
// Records
//===----------------------------------------------------------------------===//

// Of types of this file's own, so that what the standard library makes of them
// is its own as well.

template <typename T> struct KeyRecord {
  using Word = T;
  static constexpr bool hasPlace = false;
  static constexpr int lowest = 0; ///< first byte of the key
  T word;
  static KeyRecord make(uint64_t key, int64_t) { return {T(key)}; }
  uint64_t key() const { return word; }
  int64_t place() const { return 0; }
  unsigned digit(int byte) const { return unsigned(word >> 8 * byte) & 255; }
  friend bool operator<(KeyRecord a, KeyRecord b) { return a.word < b.word; }
};
struct PairRecord {
  using Word = uint64_t;
  static constexpr bool hasPlace = true;
  static constexpr int lowest = 4;
  uint64_t word;
  static PairRecord make(uint64_t key, int64_t at) {
    return {key << 32 | uint32_t(at)};
  }
  uint64_t key() const { return word >> 32; }
  int64_t place() const { return uint32_t(word); }
  unsigned digit(int byte) const { return unsigned(word >> 8 * byte) & 255; }
  friend bool operator<(PairRecord a, PairRecord b) { return a.word < b.word; }
};
struct WideRecord {
  using Word = void;
  static constexpr bool hasPlace = true;
  static constexpr int lowest = 0;
  uint64_t word;
  int64_t at;
  static WideRecord make(uint64_t key, int64_t at) { return {key, at}; }
  uint64_t key() const { return word; }
  int64_t place() const { return at; }
  unsigned digit(int byte) const { return unsigned(word >> 8 * byte) & 255; }
  friend bool operator<(WideRecord a, WideRecord b) {
    return a.word != b.word ? a.word < b.word : a.at < b.at;
  }
};

template <typename T> struct Tag {
  using Type = T;
};

/// Calls `body` with a tag of the unsigned type of `bytes` bytes.
template <typename Body> void withType(int64_t bytes, Body body) {
  switch (bytes) {
  case 1:
    return body(Tag<uint8_t>());
  case 2:
    return body(Tag<uint16_t>());
  case 4:
    return body(Tag<uint32_t>());
  default:
    return body(Tag<uint64_t>());
  }
}
template <typename Body> void withRecord(SortRecord record, Body body) {
  switch (record) {
  case SortRecord::Key4:
    return body(Tag<KeyRecord<uint32_t>>());
  case SortRecord::Key8:
    return body(Tag<KeyRecord<uint64_t>>());
  case SortRecord::Pair:
    return body(Tag<PairRecord>());
  case SortRecord::Wide:
    return body(Tag<WideRecord>());
  }
}

//===----------------------------------------------------------------------===//
// Lines
//===----------------------------------------------------------------------===//

constexpr int64_t mostGroup = 16;

/// Some lines that are done at the same time.
struct Group {
  const SortCall &call;
  int64_t first, count;

  /// Elements before the group's line `i`.
  int64_t offset(const int64_t *strides, int64_t i) const {
    int64_t result = 0, line = first + i;
    for (int64_t dim = call.rank - 1; dim >= 0; --dim) {
      if (dim == call.dim)
        continue;
      result += line % call.sizes[dim] * strides[dim];
      line /= call.sizes[dim];
    }
    return result;
  }

  /// Calls each(line, j, element) for elements [from, to) of the keys.
  template <typename U, typename Each>
  [[gnu::always_inline]] void read(int64_t from, int64_t to, Each each) const {
    const SortOperand &key = call.operands[0];
    int64_t stride = key.srcStrides[call.dim];
    const U *lines[mostGroup];
    for (int64_t i = 0; i < count; ++i)
      lines[i] =
          reinterpret_cast<const U *>(key.src) + offset(key.srcStrides, i);
    if (stride == 1) {
      for (int64_t i = 0; i < count; ++i)
        for (int64_t j = from; j < to; ++j)
          each(i, j, lines[i][j]);
    } else {
      for (int64_t j = from; j < to; ++j)
        for (int64_t i = 0; i < count; ++i)
          each(i, j, lines[i][j * stride]);
    }
  }

  /// Element j of a line of the result is value(line, j, the line it is from).
  template <typename U, typename Value>
  [[gnu::always_inline]] void write(const SortOperand &operand, int64_t from,
                                    int64_t to, Value value) const {
    int64_t stride = operand.dstStrides[call.dim];
    const U *sources[mostGroup];
    U *lines[mostGroup];
    for (int64_t i = 0; i < count; ++i) {
      sources[i] = operand.src ? reinterpret_cast<const U *>(operand.src) +
                                     offset(operand.srcStrides, i)
                               : nullptr;
      lines[i] =
          reinterpret_cast<U *>(operand.dst) + offset(operand.dstStrides, i);
    }
    if (stride == 1) {
      for (int64_t i = 0; i < count; ++i)
        for (int64_t j = from; j < to; ++j)
          lines[i][j] = value(i, j, sources[i]);
    } else {
      for (int64_t j = from; j < to; ++j)
        for (int64_t i = 0; i < count; ++i)
          lines[i][j * stride] = value(i, j, sources[i]);
    }
  }

  /// Writes elements [from, to) of all that is wanted; place(line, j) is where
  /// in its line element j was.
  template <typename Place>
  void writePlaced(int64_t from, int64_t to, Place place) const {
    struct Two {
      uint64_t low, high;
    };
    for (int64_t k = 0; k < call.numOperands; ++k) {
      const SortOperand &operand = call.operands[k];
      if (!operand.dst)
        continue;
      int64_t stride = operand.srcStrides[call.dim];
      auto move = [&](auto tag) {
        using U = typename decltype(tag)::Type;
        write<U>(operand, from, to, [&](int64_t i, int64_t j, const U *line) {
          return line[place(i, j) * stride];
        });
      };
      if (operand.bytes == 16)
        move(Tag<Two>());
      else
        withType(operand.bytes, move);
    }
    if (call.positions)
      withType(call.positions->bytes, [&](auto tag) {
        using U = typename decltype(tag)::Type;
        write<U>(*call.positions, from, to,
                 [&](int64_t i, int64_t j, const U *) {
                   return static_cast<U>(place(i, j));
                 });
      });
  }
  /// The same of keys that say all; key(line, j) is that of element j.
  template <typename U, typename Key>
  void writeKeys(int64_t from, int64_t to, Key key) const {
    Keys<U> keys(call);
    write<U>(call.operands[0], from, to, [&](int64_t i, int64_t j, const U *) {
      return keys.back(static_cast<U>(key(i, j)));
    });
  }
};

/// Writes elements [from, to) of sorted records; those of a line are `pitch`
/// behind those of the one before.
template <typename U, typename R>
void writeRecords(const Group &group, int64_t from, int64_t to,
                  const R *records, int64_t pitch) {
  if constexpr (R::hasPlace)
    group.writePlaced(from, to, [&](int64_t i, int64_t j) {
      return records[i * pitch + j].place();
    });
  else
    group.writeKeys<U>(from, to, [&](int64_t i, int64_t j) {
      return records[i * pitch + j].key();
    });
}

//===----------------------------------------------------------------------===//
// Side by side
//===----------------------------------------------------------------------===//

template <typename T> constexpr int64_t lanes = 64 / sizeof(T);
template <typename T> struct Vectors {
  typedef T Type __attribute__((vector_size(64)));
};
template <typename T> using Vector = typename Vectors<T>::Type;

template <typename V> [[gnu::always_inline]] void order(V &low, V &high) {
  V a = low, b = high;
  low = b < a ? b : a;
  high = b < a ? a : b;
}

/// Sorts n vectors, each lane by itself. Comparators that reach beyond the end
/// are left out, as if there were infinities.
template <typename V> void runNetwork(V *x, int64_t n) {
  for (int64_t p = 1; p < n; p *= 2)
    for (int64_t k = p; k >= 1; k /= 2)
      for (int64_t j = k % p; j + k < n; j += 2 * k) {
        int64_t most = std::min(k, n - j - k);
        for (int64_t i = 0; i < most; ++i)
          if (((i + j) ^ (i + j + k)) < 2 * p)
            order(x[i + j], x[i + j + k]);
      }
}

/// Comparators of the network.
int64_t comparators(int64_t n) {
  int64_t levels = 0;
  while ((int64_t(1) << levels) < n)
    ++levels;
  return n * (levels * levels - levels + 4) / 4;
}

/// Reads a group of as many lines as there are lanes; false if keys lose.
template <typename U, typename R>
bool readBlock(const Group &group, typename R::Word *block) {
  using T = typename R::Word;
  constexpr int64_t width = lanes<T>;
  Keys<U> keys(group.call);
  bool loses = false;
  group.read<U>(0, group.call.length, [&](int64_t i, int64_t j, U x) {
    loses |= keys.loses(x);
    block[j * width + i] = R::make(keys(x), j).word;
  });
  for (int64_t j = 0; group.count < width && j < group.call.length; ++j)
    for (int64_t i = group.count; i < width; ++i)
      block[j * width + i] = 0;
  return R::hasPlace || !loses;
}

template <typename U, typename R>
void writeBlock(const Group &group, const typename R::Word *block) {
  constexpr int64_t width = lanes<typename R::Word>;
  auto record = [&](int64_t i, int64_t j) { return R{block[j * width + i]}; };
  if constexpr (R::hasPlace)
    group.writePlaced(0, group.call.keep, [&](int64_t i, int64_t j) {
      return record(i, j).place();
    });
  else
    group.writeKeys<U>(0, group.call.keep, [&](int64_t i, int64_t j) {
      return record(i, j).key();
    });
}

template <typename U, typename R>
void sortSideBySide(const SortCall &call, int64_t first, int64_t last,
                    char *scratch) {
  using T = typename R::Word;
  auto *block = reinterpret_cast<T *>(scratch);
  for (int64_t line = first; line < last; line += lanes<T>) {
    Group group{call, line, std::min(lanes<T>, last - line)};
    if (readBlock<U, R>(group, block)) {
      runNetwork(reinterpret_cast<Vector<T> *>(scratch), call.length);
      writeBlock<U, R>(group, block);
    } else if constexpr (!std::is_same_v<R, KeyRecord<uint64_t>>) {
      sortSideBySide<U, PairRecord>(call, line, line + group.count, scratch);
    }
  }
}

/// The first few elements of short lines. Each element that comes takes its
/// place among the best.
template <typename U>
void selectSideBySide(const SortCall &call, int64_t first, int64_t last,
                      char *scratch) {
  auto *block = reinterpret_cast<uint64_t *>(scratch);
  auto *x = reinterpret_cast<Vector<uint64_t> *>(scratch);
  constexpr int64_t width = lanes<uint64_t>;
  for (int64_t line = first; line < last; line += width) {
    Group group{call, line, std::min(width, last - line)};
    readBlock<U, PairRecord>(group, block);
    // The best so far are the first ones.
    for (int64_t j = 1; j < call.length; ++j) {
      Vector<uint64_t> next = x[j];
      for (int64_t i = 0; i < std::min(j, call.keep); ++i)
        order(x[i], next);
      x[j] = next;
    }
    writeBlock<U, PairRecord>(group, block);
  }
}

//===----------------------------------------------------------------------===//
// One by one
//===----------------------------------------------------------------------===//

/// Sorts n records; returns where they are then, at one of the two.
template <typename R>
R *sortRecords(R *records, R *spare, int64_t n, int keyBytes) {
  if (n < 128) {
    std::sort(records, records + n);
    return records;
  }
  int64_t counts[8][256];
  for (int byte = 0; byte < keyBytes; ++byte)
    for (int64_t &count : counts[byte])
      count = 0;
  for (int64_t i = 0; i < n; ++i)
    for (int byte = 0; byte < keyBytes; ++byte)
      ++counts[byte][records[i].digit(R::lowest + byte)];
  for (int byte = 0; byte < keyBytes; ++byte) {
    int64_t *next = counts[byte];
    if (next[records[0].digit(R::lowest + byte)] == n)
      continue;
    int64_t sum = 0;
    for (int digit = 0; digit < 256; ++digit) {
      int64_t count = next[digit];
      next[digit] = sum;
      sum += count;
    }
    for (int64_t i = 0; i < n; ++i)
      spare[next[records[i].digit(R::lowest + byte)]++] = records[i];
    std::swap(records, spare);
  }
  return records;
}

/// Reads records of elements [from, to) of a line; false if keys lose.
template <typename U, typename R>
bool readRecords(const Group &group, int64_t from, int64_t to, R *records,
                 int64_t pitch) {
  Keys<U> keys(group.call);
  bool loses = false;
  group.read<U>(from, to, [&](int64_t i, int64_t j, U x) {
    if constexpr (!R::hasPlace)
      loses |= keys.loses(x);
    records[i * pitch + j - from] = R::make(keys(x), j);
  });
  return !loses;
}

/// Lines whose elements are side by side are read together.
int64_t groupOf(const SortCall &call) {
  return call.operands[0].srcStrides[call.dim] == 1 ? 1 : mostGroup;
}

/// Whether a line's records may be where the line itself goes.
bool sortsInPlace(const SortCall &call, SortRecord record) {
  const SortOperand &key = call.operands[0];
  return (record == SortRecord::Key4 || record == SortRecord::Key8) &&
         key.bytes == bytesOf(record) && key.dst && groupOf(call) == 1 &&
         key.dstStrides[call.dim] == 1 && call.keep == call.length;
}

template <typename U, typename R>
int64_t sortOneByOne(const SortCall &call, SortRecord record, int64_t first,
                     int64_t last, char *scratch) {
  int64_t n = call.length, most = groupOf(call);
  bool isInPlace = sortsInPlace(call, record);
  auto *all = reinterpret_cast<R *>(scratch),
       *spare = isInPlace ? all : all + most * n;
  for (int64_t line = first; line < last; line += most) {
    Group group{call, line, std::min(most, last - line)};
    const SortOperand &key = call.operands[0];
    R *records = isInPlace ? reinterpret_cast<R *>(key.dst) +
                                 group.offset(key.dstStrides, 0)
                           : all;
    if (!readRecords<U>(group, 0, n, records, n))
      return line;
    for (int64_t i = 0; i < group.count; ++i) {
      R *here = records + i * n;
      R *sorted = sortRecords(here, spare, n, sizeof(U));
      for (int64_t j = 0; sorted != here && j < n; ++j)
        here[j] = sorted[j];
    }
    writeRecords<U>(group, 0, call.keep, records, n);
  }
  return last;
}

/// Records that are kept before the bound comes down.
int64_t roomOf(const SortCall &call) { return 2 * call.keep + 512; }

/// The first few elements of long lines.
template <typename U, typename R>
void selectOneByOne(const SortCall &call, int64_t first, int64_t last,
                    char *scratch) {
  constexpr int64_t block = 64 / sizeof(U);
  int64_t n = call.length, most = groupOf(call), room = roomOf(call);
  Keys<U> keys(call);
  auto *found = reinterpret_cast<R *>(scratch);
  auto *line = reinterpret_cast<U *>(found + most * room);
  for (int64_t at = first; at < last; at += most) {
    Group group{call, at, std::min(most, last - at)};
    group.read<U>(
        0, n, [&](int64_t i, int64_t j, U x) { line[i * n + j] = keys(x); });
    for (int64_t i = 0; i < group.count; ++i) {
      R *best = found + i * room;
      const U *key = line + i * n;
      int64_t count = 0;
      U bound = U(~U(0));
      auto lower = [&] {
        std::nth_element(best, best + call.keep - 1, best + count);
        count = call.keep;
        bound = U(best[count - 1].key());
      };
      int64_t j = 0;
      auto take = [&](int64_t to) {
        for (; j < to; ++j) {
          // Of equals the first one stays.
          best[count] = R::make(key[j], j);
          count += key[j] < bound || count < call.keep;
        }
      };
      take(std::min(n, call.keep));
      if (j < n)
        lower();
      while (j < n) {
        int64_t to = std::min(n, j + block);
        if (to - j == block) {
          bool any = false;
          for (int64_t k = 0; k < block; ++k)
            any |= key[j + k] < bound;
          if (!any) {
            j = to;
            continue;
          }
        }
        take(to);
        if (count > room - block)
          lower();
      }
      std::partial_sort(best, best + call.keep, best + count);
    }
    writeRecords<U>(group, 0, call.keep, found, room);
  }
}

//===----------------------------------------------------------------------===//
// Which way
//===----------------------------------------------------------------------===//

enum class Way { Network, Few, Select, Digits };

Way wayOf(const SortCall &call) {
  bool isWide = fullRecordOf(call) == SortRecord::Wide;
  int64_t n = call.length;
  if (call.keep <= 16 && n <= 512 && !isWide)
    return Way::Few;
  if (call.keep <= n / 8)
    return Way::Select;
  // Keys of 64 bits, with a place should they lose, are too wide for lanes.
  if (isWide)
    return Way::Digits;
  int64_t width = recordOf(call) == SortRecord::Key4 ? 16 : 8;
  int64_t blocks = (call.lines + width - 1) / width;
  // In cycles; beyond the first-level caches a network gets slow.
  int64_t network = blocks * comparators(n) * (n > 1024 ? 7 : 4);
  int64_t digits = call.lines * (n * 6 * call.operands[0].bytes + 2000);
  return n <= 4096 && network < digits ? Way::Network : Way::Digits;
}

int64_t sortScratch(const SortCall &call, SortRecord record) {
  int64_t n = call.length, most = groupOf(call);
  switch (wayOf(call)) {
  case Way::Network:
  case Way::Few:
    return 64 * n;
  case Way::Select:
    return most * (roomOf(call) * bytesOf(fullRecordOf(call)) +
                   n * call.operands[0].bytes);
  case Way::Digits:
    return (most + !sortsInPlace(call, record)) * n * bytesOf(record);
  }
  return 0;
}

int64_t sortSome(const SortCall &call, SortRecord record, int64_t first,
                 int64_t last, char *scratch) {
  Way way = wayOf(call);
  int64_t end = last;
  withType(call.operands[0].bytes, [&](auto type) {
    using U = typename decltype(type)::Type;
    constexpr bool isNarrow = sizeof(U) <= 4;
    if (way == Way::Few)
      return selectSideBySide<U>(call, first, last, scratch);
    withRecord(way == Way::Select    ? fullRecordOf(call)
               : way == Way::Network ? recordOf(call)
                                     : record,
               [&](auto tag) {
                 using R = typename decltype(tag)::Type;
                 constexpr bool fits =
                     isNarrow ? !std::is_same_v<R, KeyRecord<uint64_t>>
                              : !std::is_same_v<R, KeyRecord<uint32_t>> &&
                                    !std::is_same_v<R, PairRecord>;
                 if constexpr (fits) {
                   if constexpr (isNarrow && !std::is_same_v<R, WideRecord>)
                     if (way == Way::Network)
                       return sortSideBySide<U, R>(call, first, last, scratch);
                   if constexpr (R::hasPlace)
                     if (way == Way::Select)
                       return selectOneByOne<U, R>(call, first, last, scratch);
                   end = sortOneByOne<U, R>(call, record, first, last, scratch);
                 }
               });
  });
  return end;
}

//===----------------------------------------------------------------------===//
// One line by several threads
//===----------------------------------------------------------------------===//

bool sortPiece(const SortCall &call, SortRecord record, int64_t line,
               int64_t first, int64_t last, char *records, char *spare) {
  bool isWhole = true;
  withType(call.operands[0].bytes, [&](auto type) {
    using U = typename decltype(type)::Type;
    withRecord(record, [&](auto tag) {
      using R = typename decltype(tag)::Type;
      auto *here = reinterpret_cast<R *>(records);
      isWhole =
          readRecords<U>(Group{call, line, 1}, first, last, here, last - first);
      if (!isWhole)
        return;
      R *sorted = sortRecords(here, reinterpret_cast<R *>(spare), last - first,
                              sizeof(U));
      for (int64_t j = 0; sorted != here && j < last - first; ++j)
        here[j] = sorted[j];
    });
  });
  return isWhole;
}

/// How many of the first `count` merged records are of the left piece.
template <typename R>
int64_t fromLeft(const R *left, int64_t leftSize, const R *right,
                 int64_t rightSize, int64_t count) {
  int64_t low = std::max<int64_t>(0, count - rightSize),
          high = std::min(count, leftSize);
  while (low < high) {
    int64_t middle = (low + high) / 2;
    // Of equals the left one goes first.
    if (right[count - middle - 1] < left[middle])
      high = middle;
    else
      low = middle + 1;
  }
  return low;
}

void mergePieces(SortRecord record, const char *leftRecords, int64_t leftSize,
                 const char *rightRecords, int64_t rightSize, int64_t first,
                 int64_t last, char *merged) {
  withRecord(record, [&](auto tag) {
    using R = typename decltype(tag)::Type;
    auto *left = reinterpret_cast<const R *>(leftRecords);
    auto *right = reinterpret_cast<const R *>(rightRecords);
    auto *out = reinterpret_cast<R *>(merged);
    int64_t i = fromLeft(left, leftSize, right, rightSize, first),
            j = first - i, at = first;
    for (; at < last && i < leftSize && j < rightSize; ++at) {
      R a = left[i], b = right[j];
      bool takesRight = b < a;
      out[at] = takesRight ? b : a;
      i += !takesRight;
      j += takesRight;
    }
    for (; at < last && i < leftSize; ++at)
      out[at] = left[i++];
    for (; at < last; ++at)
      out[at] = right[j++];
  });
}

void writeLine(const SortCall &call, SortRecord record, int64_t line,
               int64_t first, int64_t last, const char *records) {
  withType(call.operands[0].bytes, [&](auto type) {
    using U = typename decltype(type)::Type;
    withRecord(record, [&](auto tag) {
      using R = typename decltype(tag)::Type;
      writeRecords<U>(Group{call, line, 1}, first, last,
                      reinterpret_cast<const R *>(records), 0);
    });
  });
}

} // namespace sorts
} // namespace

const LineKernels shardrt::SHARDRT_LEVEL = {
    sorts::sortScratch, sorts::sortSome, sorts::sortPiece, sorts::mergePieces,
    sorts::writeLine};
