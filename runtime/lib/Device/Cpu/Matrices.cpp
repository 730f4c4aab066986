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

/// Reads words from the sizes on.
struct Batch {
  int64_t rank;
  const int64_t *sizes, *next;

  Batch(const int64_t *words, int64_t rank)
      : rank(rank), sizes(words), next(words + rank) {}
  Operand read(int64_t bytes, int64_t dims) {
    Operand operand{reinterpret_cast<char *>(next[0]), bytes, dims, next + 1};
    next += 1 + dims;
    return operand;
  }
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
};
} // namespace

/// Gives `body` the number of each matrix and memory of its thread.
template <typename Body>
static bool overBatch(int64_t count, int64_t threads, int64_t scratch,
                      Pool &pool, Memory &memory, int64_t &needed,
                      const Body &body) {
  threads = std::clamp<int64_t>(threads, 1, count);
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
static const EigenKernels &kernelsOfLevel(bool isFixed) {
  return bestOf(eigenKernelsBase, eigenKernelsV3,
                isFixed ? eigenKernelsV3 : eigenKernelsV4);
}

bool shardrt::eigh(const int64_t *words, Pool &pool, Memory &memory,
                   int64_t &needed) {
  Batch batch(words + SHARDRT_EIGH_HEAD, words[SHARDRT_EIGH_RANK]);
  int64_t part = words[SHARDRT_EIGH_PART], rank = batch.rank;
  EighCall call;
  call.partBytes = part;
  call.isComplex = words[SHARDRT_EIGH_COMPLEX] != 0;
  call.isUpper = words[SHARDRT_EIGH_UPPER] != 0;
  call.n = batch.sizes[rank - 1];
  int64_t bytes = part * (call.isComplex ? 2 : 1);
  Operand matrix = batch.read(bytes, rank), values = batch.read(part, rank - 1),
          vectors;
  call.rowStride = matrix.last(2);
  call.columnStride = matrix.last(1);
  call.valueStride = values.last(1);
  if (words[SHARDRT_EIGH_RESULTS] > 1) {
    vectors = batch.read(bytes, rank);
    call.vectors = vectors.address;
    call.vectorRowStride = vectors.last(2);
    call.vectorColumnStride = vectors.last(1);
  }
  if (batch.count() == 0 || call.n == 0)
    return true;
  const EigenKernels &kernels =
      kernelsOfLevel(words[SHARDRT_EIGH_FIXED_LEVEL] != 0);
  return overBatch(batch.count(), words[SHARDRT_EIGH_THREADS],
                   kernels.eighScratch(call), pool, memory, needed,
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
  Batch batch(words + SHARDRT_SVD_HEAD, words[SHARDRT_SVD_RANK]);
  int64_t part = words[SHARDRT_SVD_PART], rank = batch.rank;
  SvdCall call;
  call.partBytes = part;
  call.isComplex = words[SHARDRT_SVD_COMPLEX] != 0;
  call.rows = batch.sizes[rank - 2];
  call.columns = batch.sizes[rank - 1];
  int64_t bytes = part * (call.isComplex ? 2 : 1);
  Operand matrix = batch.read(bytes, rank), values = batch.read(part, rank - 1),
          left, right;
  call.rowStride = matrix.last(2);
  call.columnStride = matrix.last(1);
  call.valueStride = values.last(1);
  if (words[SHARDRT_SVD_RESULTS] > 1) {
    left = batch.read(bytes, rank);
    right = batch.read(bytes, rank);
    call.leftRowStride = left.last(2);
    call.leftColumnStride = left.last(1);
    call.rightRowStride = right.last(2);
    call.rightColumnStride = right.last(1);
  }
  if (batch.count() == 0 || call.columns == 0)
    return true;
  const EigenKernels &kernels =
      kernelsOfLevel(words[SHARDRT_SVD_FIXED_LEVEL] != 0);
  return overBatch(batch.count(), words[SHARDRT_SVD_THREADS],
                   kernels.svdScratch(call), pool, memory, needed,
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
  Batch batch(words + SHARDRT_HOUSEHOLDER_HEAD,
              words[SHARDRT_HOUSEHOLDER_RANK]);
  int64_t part = words[SHARDRT_HOUSEHOLDER_PART], rank = batch.rank;
  HouseholderCall call;
  call.partBytes = part;
  call.isComplex = words[SHARDRT_HOUSEHOLDER_COMPLEX] != 0;
  call.kind =
      static_cast<HouseholderCall::Kind>(words[SHARDRT_HOUSEHOLDER_KIND]);
  call.rows = batch.sizes[rank - 2];
  call.columns = batch.sizes[rank - 1];
  call.count = words[SHARDRT_HOUSEHOLDER_COUNT];
  int64_t bytes = part * (call.isComplex ? 2 : 1);
  Operand matrix = batch.read(bytes, rank), result = batch.read(bytes, rank),
          taus = batch.read(bytes, rank - 1);
  call.rowStride = matrix.last(2);
  call.columnStride = matrix.last(1);
  call.resultRowStride = result.last(2);
  call.resultColumnStride = result.last(1);
  call.tauStride = taus.last(1);
  if (batch.count() == 0 || call.rows == 0 || call.columns == 0)
    return true;
  const EigenKernels &kernels =
      kernelsOfLevel(words[SHARDRT_HOUSEHOLDER_FIXED_LEVEL] != 0);
  return overBatch(batch.count(), words[SHARDRT_HOUSEHOLDER_THREADS],
                   kernels.householderScratch(call), pool, memory, needed,
                   [&](int64_t i, char *scratch) {
                     HouseholderCall one = call;
                     one.matrix = batch.at(matrix, i);
                     one.result = batch.at(result, i);
                     one.taus = batch.at(taus, i);
                     kernels.householder(one, scratch);
                   });
}
