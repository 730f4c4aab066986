//===- Matrices.cpp - Matrices of a batch, shared by threads --------------===//
#include "Device/Cpu/Matrices.h"
#include "Device/Cpu/EigenKernels.h"
#include "Device/Cpu/Levels.h"
#include "shardrt/MatrixCall.h"
#include <algorithm>

using namespace shardrt;

namespace {
/// One operand of a batch: matrices, or vectors with a dim less.
struct Operand {
  char *address = nullptr;
  int64_t bytes = 0, dims = 0;
  const int64_t *strides = nullptr;

  int64_t last(int64_t fromEnd) const { return strides[dims - fromEnd]; }
};

/// Reads the words of a call, the operands one after the other.
struct Batch {
  const int64_t *words;
  int64_t part, bytes, rank; ///< of a real part; of an element
  const int64_t *sizes, *next;

  explicit Batch(const int64_t *words)
      : words(words), part(words[SHARDRT_MATRIX_PART]),
        bytes(words[SHARDRT_MATRIX_COMPLEX] ? 2 * part : part),
        rank(words[SHARDRT_MATRIX_RANK]), sizes(words + SHARDRT_MATRIX_HEAD),
        next(sizes + rank) {}

  int64_t size(int64_t fromEnd) const { return sizes[rank - fromEnd]; }
  int64_t kind() const { return words[SHARDRT_MATRIX_KIND]; }
  int64_t number() const { return words[SHARDRT_MATRIX_COUNT]; }
  Operand matrices() { return read(bytes, rank); }
  /// Vectors of elements, or of their real parts.
  Operand vectors() { return read(bytes, rank - 1); }
  Operand realVectors() { return read(part, rank - 1); }
  int64_t count() const {
    int64_t product = 1;
    for (int64_t dim = 0; dim < rank - 2; ++dim)
      product *= sizes[dim];
    return product;
  }
  char *at(const Operand &operand, int64_t index) const {
    char *address = operand.address;
    for (int64_t dim = rank - 3; address && dim >= 0; --dim) {
      address += index % sizes[dim] * operand.strides[dim] * operand.bytes;
      index /= sizes[dim];
    }
    return address;
  }

private:
  Operand read(int64_t bytes, int64_t dims) {
    Operand operand{reinterpret_cast<char *>(next[0]), bytes, dims, next + 1};
    next += 1 + dims;
    return operand;
  }
};
} // namespace

/// The call of one matrix of `batch`, but for addresses and strides.
template <typename Call> static Call callOf(const Batch &batch) {
  Call call;
  call.partBytes = batch.part;
  call.isComplex = batch.words[SHARDRT_MATRIX_COMPLEX] != 0;
  return call;
}

/// Gives `body` the number of each matrix and memory of its thread.
template <typename Body>
static bool overBatch(const Batch &batch, int64_t scratch, Pool &pool,
                      Memory &memory, int64_t &needed, const Body &body) {
  int64_t count = batch.count();
  int64_t threads =
      std::clamp<int64_t>(batch.words[SHARDRT_MATRIX_THREADS], 1, count);
  needed = threads * scratch;
  auto *room = static_cast<char *>(memory.allocate(needed));
  if (!room)
    return false;
  share(pool, threads, [&](int64_t part) {
    for (int64_t i = bound(count, part, threads);
         i < bound(count, part + 1, threads); ++i)
      body(i, room + part * scratch);
  });
  memory.release(room);
  return true;
}

/// Sums have a part for each lane: registers of one width give the same bits.
static const EigenKernels &kernelsFor(const Batch &batch) {
  bool isFixed = batch.words[SHARDRT_MATRIX_FIXED_LEVEL] != 0;
  return bestOf(eigenKernelsBase, eigenKernelsV3,
                isFixed ? eigenKernelsV3 : eigenKernelsV4);
}

bool shardrt::eigh(const int64_t *words, Pool &pool, Memory &memory,
                   int64_t &needed) {
  Batch batch(words);
  auto call = callOf<EighCall>(batch);
  call.isUpper = batch.kind() == SHARDRT_EIGH_UPPER;
  call.n = batch.size(1);
  Operand matrix = batch.matrices(), values = batch.realVectors(), vectors;
  call.rowStride = matrix.last(2);
  call.columnStride = matrix.last(1);
  call.valueStride = values.last(1);
  if (batch.number() > 1) {
    vectors = batch.matrices();
    call.vectors = vectors.address;
    call.vectorRowStride = vectors.last(2);
    call.vectorColumnStride = vectors.last(1);
  }
  if (batch.count() == 0 || call.n == 0)
    return true;
  const EigenKernels &kernels = kernelsFor(batch);
  return overBatch(batch, kernels.eighScratch(call), pool, memory, needed,
                   [&](int64_t i, char *scratch) {
                     EighCall one = call;
                     one.matrix = batch.at(matrix, i);
                     one.values = batch.at(values, i);
                     one.vectors = batch.at(vectors, i);
                     kernels.eigh(one, scratch);
                   });
}

bool shardrt::svd(const int64_t *words, Pool &pool, Memory &memory,
                  int64_t &needed) {
  Batch batch(words);
  auto call = callOf<SvdCall>(batch);
  call.rows = batch.size(2);
  call.columns = batch.size(1);
  Operand matrix = batch.matrices(), values = batch.realVectors(), left, right;
  call.rowStride = matrix.last(2);
  call.columnStride = matrix.last(1);
  call.valueStride = values.last(1);
  if (batch.number() > 1) {
    left = batch.matrices();
    right = batch.matrices();
    call.leftRowStride = left.last(2);
    call.leftColumnStride = left.last(1);
    call.rightRowStride = right.last(2);
    call.rightColumnStride = right.last(1);
  }
  if (batch.count() == 0 || call.columns == 0)
    return true;
  const EigenKernels &kernels = kernelsFor(batch);
  return overBatch(batch, kernels.svdScratch(call), pool, memory, needed,
                   [&](int64_t i, char *scratch) {
                     SvdCall one = call;
                     one.matrix = batch.at(matrix, i);
                     one.values = batch.at(values, i);
                     one.left = batch.at(left, i);
                     one.right = batch.at(right, i);
                     kernels.svd(one, scratch);
                   });
}

bool shardrt::householder(const int64_t *words, Pool &pool, Memory &memory,
                          int64_t &needed) {
  Batch batch(words);
  auto call = callOf<HouseholderCall>(batch);
  call.kind = static_cast<HouseholderCall::Kind>(batch.kind());
  call.rows = batch.size(2);
  call.columns = batch.size(1);
  call.count = batch.number();
  Operand matrix = batch.matrices(), result = batch.matrices(),
          taus = batch.vectors();
  call.rowStride = matrix.last(2);
  call.columnStride = matrix.last(1);
  call.resultRowStride = result.last(2);
  call.resultColumnStride = result.last(1);
  call.tauStride = taus.last(1);
  if (batch.count() == 0 || call.rows == 0 || call.columns == 0)
    return true;
  const EigenKernels &kernels = kernelsFor(batch);
  return overBatch(batch, kernels.householderScratch(call), pool, memory,
                   needed, [&](int64_t i, char *scratch) {
                     HouseholderCall one = call;
                     one.matrix = batch.at(matrix, i);
                     one.result = batch.at(result, i);
                     one.taus = batch.at(taus, i);
                     kernels.householder(one, scratch);
                   });
}
