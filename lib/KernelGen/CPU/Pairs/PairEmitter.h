//===- PairEmitter.h - Writes the loops of one pair step --------*- C++ -*-===//
#ifndef SHARDC_LIB_KERNELGEN_CPU_PAIRS_PAIREMITTER_H
#define SHARDC_LIB_KERNELGEN_CPU_PAIRS_PAIREMITTER_H

#include "PairKernels.h"
#include "shardc/Dialect/Pairs/IR/Pairs.h"

namespace shardc::cpu {

/// One tile of scores: rows [q0, q0 + rows) and keys [k0, k0 + keys).
struct Tile {
  Quantity q0, rows, k0, keys;
};

class PairEmitter {
public:
  PairEmitter(mlir::OpBuilder &b, spmd::PairStepOp op,
              mlir::ValueRange operands, mlir::FloatType type, unsigned bits)
      : b(b), loc(op.getLoc()), op(op), code(b, op.getLoc(), type, bits),
        arith(code.arith), type(type), lanes(code.lanes) {
    auto [first, count] = op.getODSOperandIndexAndLength(5);
    start = operands.slice(first, count);
    for (auto [operand, mine] : llvm::zip(op->getOperands(), operands))
      if (llvm::isa<mlir::ShapedType>(mine.getType()))
        tensors.push_back(mine);
  }

  /// Writes it; in parts if there are several threads and it is large.
  void emit(int64_t threads);
  bool keysDependOn(int dim) const;
  VectorCode &vectorCode() { return code; }

private:
  // Tensors, and the indices of the loops.
  Access tensor(mlir::Value memref, mlir::AffineMap map) {
    llvm::SmallVector<int> same = llvm::to_vector(llvm::seq<int>(0, numDims));
    return accessOf(arith, memref, map, same, numDims);
  }
  mlir::Value pointer(const Access &access,
                      llvm::ArrayRef<std::pair<int, Quantity>> at);
  /// `access` as a matrix over dims `row` and `column`, at the batch of now.
  Matrix matrix(const Access &access, int row, int column, Quantity first);
  /// The matrix itself if it is of our type with columns side by side, else a
  /// copy in `scratch` with rows `pitch` long.
  Matrix natural(const Matrix &from, mlir::Value scratch, Quantity rows,
                 Quantity columns, int64_t pitch);
  bool isNatural(const Access &access, int column) {
    return access.element == type && access.coef[column].is(1);
  }
  /// A copy with room for tiles is needed.
  mlir::Value scratchFor(const Access &access, int column, int64_t rows,
                         int64_t pitch) {
    return isNatural(access, column) ? mlir::Value()
                                     : code.scratch(Quantity::of(rows * pitch));
  }

  /// What a pass of the backward computes: gradients of what has queries, of
  /// what has keys alone, or all in one pass.
  enum class Made { All, Queries, Keys };
  bool isMade(const Access &state) const {
    return made == Made::All || state.usesDim(q) == (made == Made::Queries);
  }
  /// True if the gradients that queries get, and those that keys get, are made
  /// one after the other: more threads share them, though scores are computed
  /// twice.
  bool gainsByPasses(int64_t threads);
  /// Parts along each dim, of what is made.
  llvm::SmallVector<int64_t> cutsFor(int64_t threads);
  int64_t tileOf(int dim) const { return dim == q ? rowsOfTile : keysOfTile; }
  /// Writes the loops over tiles, in parts where that is worth it.
  void emitPass(int64_t threads);
  /// Cuts dims for `threads` parts and writes the loop over the parts around
  /// what follows, if that is worth it.
  void beginParts(int64_t threads);
  /// The indices of `dim` that this part has.
  Quantity fromOf(int dim) {
    return partFrom.empty() ? Quantity::of(0) : partFrom[dim];
  }
  Quantity toOf(int dim) { return partTo.empty() ? sizes[dim] : partTo[dim]; }
  void loops(llvm::ArrayRef<int> dims, llvm::function_ref<void()> body);
  void keyTile(mlir::Value k0);
  void queryTile(const Tile &tile);
  void visitTile(const Tile &tile);
  /// Finds what masks scores, whatever they are, with one large number.
  void findMask();
  /// True where the mask leaves any weight in the tile.
  mlir::Value hasWeight(const Tile &tile);
  void forwardRow(const Tile &tile, mlir::Value row);
  void backwardRow(const Tile &tile, mlir::Value row);
  void topK(const Tile &tile, mlir::Value row,
            llvm::ArrayRef<mlir::Value> scores);

  /// Lanes of vector `vector` in which this row pairs with a key; null: all.
  mlir::Value maskOf(const Tile &tile, mlir::Value row, int64_t vector);
  /// An element of each extra, then the positions.
  llvm::SmallVector<mlir::Value> surroundings(const Tile &tile, mlir::Value row,
                                              int64_t vector);
  mlir::Value extra(const Access &access, const Tile &tile, mlir::Value row,
                    int64_t vector);
  mlir::Value evaluate(mlir::Region &region, llvm::ArrayRef<mlir::Value> first,
                       llvm::ArrayRef<mlir::Value> surroundings,
                       unsigned result = 0);
  mlir::Value toI32(mlir::Value index) {
    return mlir::arith::IndexCastOp::create(b, loc, b.getI32Type(), index);
  }
  mlir::Value cell(mlir::Value scratch, mlir::Value row, int64_t vector) {
    Quantity offset =
        arith.add(arith.mul(Quantity::of(row), Quantity::of(keysOfTile)),
                  Quantity::of(vector * lanes));
    return code.pointerAt(scratch, type, offset);
  }
  mlir::Value row1(mlir::Value scratch, mlir::Value row) {
    return code.pointerAt(scratch, type, Quantity::of(row));
  }

  mlir::OpBuilder &b;
  mlir::Location loc;
  spmd::PairStepOp op;
  mlir::ValueRange start; // where the blocks begin
  llvm::SmallVector<mlir::Value> tensors;
  VectorCode code;
  Arith &arith;
  mlir::FloatType type;
  int64_t lanes;

  int numDims = 0, q = 0, k = 0, d = 0, e = 0;
  llvm::SmallVector<Quantity> sizes;
  llvm::SmallVector<Quantity> position; // of the batch dims
  llvm::SmallVector<Quantity> partFrom,
      partTo; // of this part, by dim; empty: all
  Access query, key, value;
  llvm::SmallVector<Access> rows, extras, states;
  bool hasValue = false;
  int64_t rowsOfTile = 48, keysOfTile = 128;
  Quantity tileRows;   // that a tile has at most: scratch is for these
  int64_t vectors = 8; // of a row of a tile
  mlir::Value keysPacked, valuesPacked, keyCopy, valueCopy, queryCopy,
      gradientCopy;
  mlir::Value scores, gradients, scale, keySums, valueSums;
  Matrix keyRows, valueRows; // of the key tile, natural
  bool backward = false;
  Made made = Made::All;
  /// Yields whether a score counts, from what is around it; empty if nothing
  /// says so.
  mlir::Region mask;
  bool masksWhereTrue = false;
  double masked = 0; // what the others are
};

} // namespace shardc::cpu

#endif // SHARDC_LIB_KERNELGEN_CPU_PAIRS_PAIREMITTER_H
