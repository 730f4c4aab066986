//===- Shards.h - Whole arrays to every rank's buffers and back -*- C++ -*-===//
#ifndef SHARDC_TOOLS_SHARD_RUN_SHARDS_H
#define SHARDC_TOOLS_SHARD_RUN_SHARDS_H

#include "HostArray.h"
#include "shardc/Translation/Metadata.h"
#include <cstdlib>
#include <memory>

namespace shardc {

/// Memory aligned to 64 bytes, as generated code expects its buffers, and in
/// huge pages from two of them on, where the system has any; never null.
class AlignedBuffer {
public:
  explicit AlignedBuffer(int64_t bytes);
  char *data() const { return memory.get(); }

private:
  struct Free {
    void operator()(char *memory) const { std::free(memory); }
  };
  std::unique_ptr<char[], Free> memory;
};

/// Buffers of all ranks for the arguments, or the results, of a program.
class ShardBuffers {
public:
  /// Makes a buffer for every rank's box of every value; for that of rank
  /// `only` alone, if it is not -1.
  ShardBuffers(llvm::ArrayRef<ValueMetadata> values,
               llvm::ArrayRef<int64_t> meshShape, int64_t numRanks,
               int64_t only = -1);

  /// Copies every rank's box out of `array`, which is value number `index`,
  /// whole. Of a value that is to be combined along axes the first rank along
  /// them gets it; the others get what changes nothing.
  void scatter(size_t index, const HostArray &array);
  /// Puts value number `index` together. Where several ranks hold the same
  /// elements the highest rank's are taken.
  HostArray gather(size_t index) const;
  /// Where ranks that hold the same box of value `index` hold different bits:
  /// the lowest such rank; -1 if there is none. `whole` is what `gather` gives.
  int64_t firstDisagreement(size_t index, const HostArray &whole) const;

  /// Bytes of one rank's shard of a value.
  int64_t bytesOf(size_t index, int64_t rank) const;

  /// Whether the shards of value `index` are those of value `other` of
  /// `others`, rank by rank: the first rank where they are not; -1 if they are.
  int64_t firstOtherBox(size_t index, const ShardBuffers &others,
                        size_t other) const;
  /// Exchanges the buffers of two such values, of the ranks for which both are
  /// here: nothing is copied.
  void swap(size_t index, ShardBuffers &others, size_t other);

  const Box &box(size_t index, int64_t rank) const {
    return shards[index][rank].box;
  }
  char *data(size_t index, int64_t rank) const {
    return shards[index][rank].buffer.data();
  }
  bool isHere(size_t index, int64_t rank) const {
    return shards[index][rank].isHere;
  }
  ElementType type(size_t index) const { return types[index]; }

  /// Addresses as the runtime takes them: [rank][value].
  void *const *const *addresses() const { return rankAddresses.data(); }

private:
  struct Shard {
    Box box;
    AlignedBuffer buffer;
    bool isHere = true;
  };
  std::vector<ValueMetadata> values;
  std::vector<int64_t> meshShape;
  std::vector<ElementType> types;
  std::vector<std::vector<Shard>> shards; ///< [value][rank]
  std::vector<std::vector<void *>> rankBuffers;
  std::vector<void *const *> rankAddresses;
};

/// Copies what two boxes of one array have in common, elements of `width`
/// bytes, from one dense row-major buffer to the other.
void copyCommon(const Box &from, const char *source, const Box &to,
                char *target, int64_t width);

/// Bytes that all shards of `value` take together.
int64_t bytesOfShards(const ValueMetadata &value,
                      llvm::ArrayRef<int64_t> meshShape, int64_t numRanks);

} // namespace shardc

#endif // SHARDC_TOOLS_SHARD_RUN_SHARDS_H
