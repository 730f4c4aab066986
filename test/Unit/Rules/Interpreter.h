//===- Interpreter.h - What StableHLO ops mean, on integers -----*- C++ -*-===//
//
// Written from StableHLO's definitions of the ops, to check rules against; it
// shares nothing with the compiler. Every element is an int64; of ops that are
// not integer arithmetic (exp, fft ...) only what they depend on counts: their
// results are hashes of it. Several ranks run one program in lockstep.
//
//===----------------------------------------------------------------------===//
#ifndef SHARDC_TEST_UNIT_RULES_INTERPRETER_H
#define SHARDC_TEST_UNIT_RULES_INTERPRETER_H

#include "mlir/IR/Block.h"
#include "mlir/IR/Operation.h"
#include "llvm/ADT/DenseMap.h"
#include <vector>

namespace shardc::test {

using Index = llvm::SmallVector<int64_t, 4>;

/// A tensor, or a scalar (no dims) that may also stand for an index.
struct Tensor {
  Tensor() : data(1, 0) {}
  explicit Tensor(llvm::ArrayRef<int64_t> shape, int64_t value = 0);
  static Tensor scalar(int64_t value);

  int64_t &at(llvm::ArrayRef<int64_t> index) { return data[offset(index)]; }
  int64_t at(llvm::ArrayRef<int64_t> index) const {
    return data[offset(index)];
  }
  bool contains(llvm::ArrayRef<int64_t> index) const;

  Index shape;
  std::vector<int64_t> data;

private:
  size_t offset(llvm::ArrayRef<int64_t> index) const;
};

/// Calls `visit` with each index of `shape` in row-major order.
void forEachIndex(llvm::ArrayRef<int64_t> shape,
                  llvm::function_ref<void(llvm::ArrayRef<int64_t>)> visit);

using Environment = llvm::DenseMap<mlir::Value, Tensor>;

/// The mesh of a lockstep run: names and sizes, major to minor.
struct TestMesh {
  std::vector<std::string> names;
  std::vector<int64_t> sizes;
  int64_t numRanks() const;
  /// Coordinate of `rank` along `axis`.
  int64_t coordinate(int64_t rank, llvm::StringRef axis) const;
};

/// Runs the ops of `block` but its terminator, with one environment a rank.
/// Returns an empty string, or what it could not do.
std::string run(mlir::Block &block, std::vector<Environment> &ranks,
                const TestMesh &mesh);

} // namespace shardc::test

#endif // SHARDC_TEST_UNIT_RULES_INTERPRETER_H
