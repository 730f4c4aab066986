//===- StableHLOToLinalg.h - What a StableHLO op means ----------*- C++ -*-===//
//
// One walk over a function: each op is passed to the lowering of its kind,
// which emits linalg, tensor, arith, math and scf in place of it. Rank-0
// tensors become plain values, so the region of a reduce or a sort is lowered
// by the same code as the function around it. Values keep their StableHLO type
// on the source side; that is where signedness is read.
//
//===----------------------------------------------------------------------===//
#ifndef SHARDC_LIB_LINALG_STABLEHLOTOLINALG_H
#define SHARDC_LIB_LINALG_STABLEHLOTOLINALG_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "llvm/ADT/DenseMap.h"

#include <functional>

namespace shardc::lowering {

/// The type that a source type is computed in: integers signless, else itself.
mlir::Type signlessType(mlir::Type type);

/// The element type of a tensor, or the type itself.
mlir::Type elementType(mlir::Type type);

/// True for ui8 ... ui64 and i1: comparison, division and conversion read them
/// as unsigned.
bool isUnsigned(mlir::Type type);

/// A source value seen through broadcasts, transposes and unit reshapes.
/// Result index `dims[i]` addresses dim i of `base`; -1: always index 0.
struct View {
  mlir::Value base;
  llvm::SmallVector<int64_t> dims;
};

/// (d0, ..., dn) -> the first `count` of them.
mlir::AffineMap leadingDims(unsigned loops, unsigned count,
                            mlir::MLIRContext *ctx);

class Lowerer;

/// Emits one op; an error on the op where it cannot.
using OpLowering =
    std::function<mlir::LogicalResult(Lowerer &, mlir::Operation *)>;

/// Emits one elementwise op on scalars (source types are on `op`); a null value
/// after an error on the op.
using ScalarLowering = std::function<mlir::Value(
    mlir::ImplicitLocOpBuilder &, mlir::Operation *, mlir::ValueRange)>;

/// The lowering of every kind of op, filled once by the families below.
struct LoweringTable {
  llvm::DenseMap<mlir::TypeID, OpLowering> ops;
  llvm::DenseMap<mlir::TypeID, ScalarLowering> scalars;

  template <typename OpT>
  void op(mlir::LogicalResult (*lower)(Lowerer &, OpT)) {
    ops[mlir::TypeID::get<OpT>()] = [lower](Lowerer &l, mlir::Operation *op) {
      return lower(l, mlir::cast<OpT>(op));
    };
  }
  template <typename OpT> void scalar(ScalarLowering lower) {
    scalars[mlir::TypeID::get<OpT>()] = std::move(lower);
  }
};

void addArithmetic(LoweringTable &table);
void addConversions(LoweringTable &table);
void addChlo(LoweringTable &table);
void addShapes(LoweringTable &table);
void addParts(LoweringTable &table);
void addContractions(LoweringTable &table);
void addReductions(LoweringTable &table);
void addWindows(LoweringTable &table);
void addAddressing(LoweringTable &table);
void addOrdering(LoweringTable &table);
void addControl(LoweringTable &table);
void addFourier(LoweringTable &table);
void addSolvers(LoweringTable &table);
void addDecompositions(LoweringTable &table);
void addEigenvalues(LoweringTable &table);
void addPairs(LoweringTable &table);
/// Lets a vendor's library do what it may: where that pays, or with `required`
/// wherever it can. Behind all of the above.
void addLibraries(LoweringTable &table, bool required);

/// Walks source IR and emits its meaning. `b` stands where the next op goes
/// and carries the location of the op being lowered.
class Lowerer {
public:
  Lowerer(const LoweringTable &table, mlir::MLIRContext *ctx)
      : b(mlir::UnknownLoc::get(ctx), ctx), table(table) {}

  mlir::ImplicitLocOpBuilder b;
  /// Bytes that the stages of a Fourier transform may hold at a time; 0: all.
  int64_t transformBlock = 0;
  /// Whether many threads do what is emitted: algorithms on lines stay ops.
  bool manyThreads = false;
  /// Whether what the runtime does has the same bits on all processors.
  bool fixedLevel = false;

  /// Replaces the body and type of `func` by what they mean.
  mlir::LogicalResult lowerFunction(mlir::func::FuncOp func);
  /// Emits all ops of `block` but its terminator.
  mlir::LogicalResult lowerOps(mlir::Block &block);
  mlir::LogicalResult lowerOp(mlir::Operation *op);

  /// The lowered tensor of a source value.
  mlir::Value tensor(mlir::Value source);
  /// The lowered element of a source value of rank 0.
  mlir::Value scalar(mlir::Value source);
  /// The lowered form control flow carries: an element for rank 0.
  mlir::Value carried(mlir::Value source);
  mlir::Type carriedType(mlir::Value source);
  /// Says what a source value became: a tensor (cast to the type that users
  /// expect) or, for rank 0, an element.
  void set(mlir::Value source, mlir::Value lowered);

  /// Emits the region of a reduce, sort, ... on elements; empty after an error.
  llvm::SmallVector<mlir::Value> scalarRegion(mlir::Region &region,
                                              mlir::ValueRange args);
  /// The scalar lowering of an elementwise op, or null.
  const ScalarLowering *scalarLowering(mlir::Operation *op) const;

  /// `source` seen through broadcasts, transposes and unit reshapes.
  View view(mlir::Value source, bool throughBroadcasts = true);
  /// The lowered base of a view, its always-zero dims collapsed away; `dims`
  /// becomes the result dim of each remaining dim.
  mlir::Value viewBase(View &view);
  /// The one element that fills `source` (a splat constant or a broadcast
  /// scalar), or null.
  mlir::Value splat(mlir::Value source);

  mlir::Value index(int64_t value);
  mlir::Value constant(mlir::TypedAttr value);
  mlir::Value zero(mlir::Type elementType);
  /// A float or integer constant of a scalar type.
  mlir::Value number(mlir::Type elementType, double value);
  /// An OpFoldResult as a value of index type.
  mlir::Value value(mlir::OpFoldResult size);
  /// The size of one dim of a lowered tensor, constant where known; looks
  /// through destinations, so that it needs no tensor to exist.
  mlir::OpFoldResult size(mlir::Value tensor, int64_t dim);
  llvm::SmallVector<mlir::OpFoldResult> sizes(mlir::Value tensor);
  /// A tensor with undefined elements.
  mlir::Value empty(llvm::ArrayRef<mlir::OpFoldResult> sizes,
                    mlir::Type elementType);
  mlir::Value filled(llvm::ArrayRef<mlir::OpFoldResult> sizes,
                     mlir::Value element);
  /// tensor.extract_slice and tensor.insert_slice, of nothing too; `type` drops
  /// dims of size one.
  mlir::Value slice(mlir::Value tensor,
                    llvm::ArrayRef<mlir::OpFoldResult> offsets,
                    llvm::ArrayRef<mlir::OpFoldResult> sizes,
                    llvm::ArrayRef<mlir::OpFoldResult> strides,
                    mlir::RankedTensorType type = {});
  mlir::Value insert(mlir::Value update, mlir::Value tensor,
                     llvm::ArrayRef<mlir::OpFoldResult> offsets,
                     llvm::ArrayRef<mlir::OpFoldResult> sizes,
                     llvm::ArrayRef<mlir::OpFoldResult> strides);
  /// Element of a scalar integer as index, by the signedness of its source
  /// type.
  mlir::Value toIndex(mlir::Value scalar, mlir::Type sourceType);
  /// Affine arithmetic on sizes, folded where constant.
  mlir::OpFoldResult affine(mlir::AffineExpr expr,
                            llvm::ArrayRef<mlir::OpFoldResult> symbols);

  /// A linalg.generic; `body` gets its block arguments and returns what to
  /// yield.
  using Body =
      llvm::function_ref<llvm::SmallVector<mlir::Value>(mlir::ValueRange)>;
  llvm::SmallVector<mlir::Value>
  generic(mlir::ValueRange ins, mlir::ValueRange outs,
          llvm::ArrayRef<mlir::AffineMap> maps,
          llvm::ArrayRef<mlir::utils::IteratorType> iterators, Body body);
  /// An elementwise one whose first operands use the identity map.
  mlir::Value map(mlir::ValueRange ins, mlir::Value out, Body body);

  /// `tensor` between and inside of `element`s: low and high may be negative,
  /// `interior` new elements between each two. StableHLO's pad.
  mlir::Value pad(mlir::Value tensor, mlir::Value element,
                  llvm::ArrayRef<mlir::OpFoldResult> low,
                  llvm::ArrayRef<mlir::OpFoldResult> high,
                  llvm::ArrayRef<int64_t> interior);
  /// `tensor` with dims reversed.
  mlir::Value reverse(mlir::Value tensor, llvm::ArrayRef<int64_t> dims);
  /// `tensor` in row-major order under another shape.
  mlir::Value reshape(mlir::Value tensor, mlir::RankedTensorType type,
                      llvm::ArrayRef<mlir::OpFoldResult> sizes);
  /// Splits dim `dim` of size n in (groups, n / groups).
  mlir::Value splitDim(mlir::Value tensor, int64_t dim, int64_t groups);
  /// Sizes of a rank-1 shape tensor's elements.
  llvm::SmallVector<mlir::OpFoldResult> shapeValues(mlir::Value source);

  /// A loop nest over `sizes` that carries values; `body` gets the induction
  /// variables and the carried values and returns their next values.
  using LoopBody = llvm::function_ref<llvm::SmallVector<mlir::Value>(
      mlir::ValueRange, mlir::ValueRange)>;
  llvm::SmallVector<mlir::Value> loops(llvm::ArrayRef<mlir::OpFoldResult> sizes,
                                       mlir::ValueRange carried, LoopBody body);

private:
  mlir::LogicalResult lowerElementwise(mlir::Operation *op,
                                       const ScalarLowering &lower);
  mlir::LogicalResult cloneOther(mlir::Operation *op);

  const LoweringTable &table;
  llvm::DenseMap<mlir::Value, mlir::Value> lowered;
};

/// The float type that `type` is computed in: f32 for narrower ones.
mlir::FloatType computeType(mlir::FloatType type);
/// `value` in another float type.
mlir::Value castFloat(mlir::ImplicitLocOpBuilder &b, mlir::Value value,
                      mlir::Type type);
/// An operand of an op as what it is computed in, and what is computed as the
/// op's result. Between two ops of one kernel both vanish, and with them a
/// rounding: they have the flag `contract`, which castFloat's have not, that
/// are what a program writes down and what comparisons see.
mlir::Value toComputeType(mlir::ImplicitLocOpBuilder &b, mlir::Value value);
mlir::Value fromComputeType(mlir::ImplicitLocOpBuilder &b, mlir::Value value,
                            mlir::Type type);
/// `value` of source type `from` as stablehlo.convert makes it one of type
/// `to`.
mlir::Value convertScalar(mlir::ImplicitLocOpBuilder &b, mlir::Value value,
                          mlir::Type from, mlir::Type to);
/// A float or integer constant.
mlir::Value numberConstant(mlir::ImplicitLocOpBuilder &b, mlir::Type type,
                           double value);
/// Maps a float's bits to a signed integer that orders as TOTALORDER does.
mlir::Value totalOrderKey(mlir::ImplicitLocOpBuilder &b, mlir::Value value);

} // namespace shardc::lowering

#endif // SHARDC_LIB_LINALG_STABLEHLOTOLINALG_H
