//===- PairKernels.h - Blocks of queries against blocks of keys -*- C++ -*-===//
#ifndef SHARDC_LIB_KERNELGEN_CPU_PAIRS_PAIRKERNELS_H
#define SHARDC_LIB_KERNELGEN_CPU_PAIRS_PAIRKERNELS_H

#include "../Nests/Nest.h"
#include "shardc/Dialect/Pairs/IR/PairsForward.h"

namespace shardc::cpu {

/// A matrix in memory; steps are in elements. Where it is read or written by
/// vectors its columns are side by side.
struct Matrix {
  mlir::Value pointer;
  mlir::Type element;
  Quantity row, column;
};

/// c[i, j] = start + Σ_r a[i, r] * b[r, j], all of one float type, on register
/// tiles: elements of `a` are broadcast, rows of `b` and `c` are vectors.
struct Contraction {
  enum class Start { Zero, Memory, Scaled };
  Matrix a, b, c;
  Quantity rows, reductions, columns;
  Start start = Start::Zero;
  /// With Start::Scaled: the factor of each row of `c`.
  mlir::Value scale;
  /// Takes the place of the product, if not null.
  mlir::Region *pair = nullptr;
};

/// Arithmetic on vectors in memory, for registers of `bits` bits.
class VectorCode {
public:
  VectorCode(mlir::OpBuilder &b, mlir::Location loc, mlir::FloatType type,
             unsigned bits)
      : b(b), loc(loc), arith(b, loc), type(type),
        lanes(bits / type.getWidth()), registers(bits == 512 ? 32 : 16) {}

  using Body = llvm::function_ref<void(mlir::Value)>;
  /// A loop over [from, to) in steps; none where it is surely empty.
  void loop(Quantity from, Quantity to, int64_t step, Body body);
  mlir::Value pointerAt(mlir::Value pointer, mlir::Type element,
                        Quantity offset);
  Matrix at(const Matrix &matrix, Quantity row, Quantity column);
  mlir::Value number(double value, int64_t count);
  /// A vector of `count` (a scalar of 1) in the float type, from memory that
  /// holds any float type. With a mask, lanes that are off are zero.
  mlir::Value load(mlir::Value pointer, mlir::Type element, int64_t count,
                   mlir::Value mask = {});
  void store(mlir::Value value, mlir::Value pointer, mlir::Value mask = {});
  /// Lanes below `count`.
  mlir::Value firstLanes(Quantity count);
  mlir::Value multiplyAdd(mlir::Value x, mlir::Value y, mlir::Value z);
  /// The greater (smaller); y where x is NaN.
  mlir::Value greater(mlir::Value x, mlir::Value y);
  mlir::Value smaller(mlir::Value x, mlir::Value y);
  /// e to the power of x, for x up to 88 (f64: 709): within 3e-7 (f64: 1e-15),
  /// and exactly 0 below the least normal number. NaN stays.
  mlir::Value power(mlir::Value x);
  /// Max is `greater`, which may lose NaN; Maximum and Minimum are StableHLO's.
  enum class Fold { Sum, Max, Maximum, Minimum };
  mlir::Value fold(mlir::Value vector, Fold kind);
  /// All elements of vectors that are side by side, in one order for
  /// registers of any width: as in vectors of 512 bits, which are folded in
  /// halves.
  mlir::Value foldAll(llvm::ArrayRef<mlir::Value> vectors, Fold kind);
  mlir::Value combine(mlir::Value x, mlir::Value y, Fold kind);
  void contract(const Contraction &c);
  /// Copies `rows` x `columns` into dense rows `pitch` long, as the float type,
  /// zeros behind them; transposed if asked.
  void copy(const Matrix &from, mlir::Value to, Quantity rows, Quantity columns,
            int64_t pitch, int64_t padRows, bool transposed);
  /// Scratch for `count` numbers of the float type: of `pool`, if there is one,
  /// of which `used` bytes are taken.
  mlir::Value scratch(Quantity count);
  mlir::Value pool; // memref<?xi8>
  Quantity used = Quantity::of(0);
  /// Around all that follows, if threads share it: scratch is for each part.
  mlir::scf::ForOp partLoop;
  int64_t parts = 1;
  mlir::Value splat(mlir::Value value, int64_t count) {
    return cpu::splat(b, loc, value, count);
  }

  mlir::OpBuilder &b;
  mlir::Location loc;
  Arith arith;
  mlir::FloatType type;
  int64_t lanes, registers;

private:
  /// The first rows of copy's transposition, as many as whole vectors hold, by
  /// squares that are transposed in registers. Returns how many there are.
  Quantity copyAcross(const Matrix &from, mlir::Value to, Quantity rows,
                      int64_t columns, int64_t pitch);
  void contractBlock(const Contraction &c, int64_t vectors, mlir::Value mask);
  void contractTile(const Contraction &c, int64_t rows, int64_t vectors,
                    mlir::Value mask);
};

/// Writes the loops of a verified `op` at the builder's place, on `operands` of
/// the same types; a large one in up to `threads` parts that may run at the
/// same time (spmd::contract::Parts). Scratch comes from `pool` (memref<?xi8>),
/// or is allocated where that is null. Returns the bytes taken of it, a number
/// or one computed from sizes of the operands.
Quantity emitPairStep(mlir::OpBuilder &b, spmd::PairStepOp op,
                      mlir::ValueRange operands, mlir::Value pool,
                      unsigned vectorBits, int64_t threads = 1);

} // namespace shardc::cpu

#endif // SHARDC_LIB_KERNELGEN_CPU_PAIRS_PAIRKERNELS_H
