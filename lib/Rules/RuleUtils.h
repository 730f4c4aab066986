//===- RuleUtils.h - What the families of rules share -----------*- C++ -*-===//
//
// A family is two functions for each of its ops: the rule, from the op's
// attributes and static global shapes alone, and the local form. `attach` makes
// external models of them.
//
//===----------------------------------------------------------------------===//
#ifndef SHARDC_LIB_RULES_RULEUTILS_H
#define SHARDC_LIB_RULES_RULEUTILS_H

#include "shardc/Dialect/Spmd/IR/SpmdEnums.h"
#include "shardc/Dialect/StableHLO/IR/StableHLO.h"
#include "shardc/Interfaces/Localization.h"

namespace shardc::rules {

using LocalResults = llvm::FailureOr<llvm::SmallVector<mlir::Value>>;

//===----------------------------------------------------------------------===//
// Rules
//===----------------------------------------------------------------------===//

/// True if all tensors among operands and results have static shapes whose
/// numbers of elements fit 62 bits. Ops with other shapes have no rule.
bool hasStaticShapes(mlir::Operation *op);

/// The shape of `value`; none for scalars and values that are no tensors.
llvm::ArrayRef<int64_t> shapeOf(mlir::Value value);

/// Bytes of all elements of a tensor together, however large; 0 for other
/// values.
double bytesOf(mlir::Value value);

/// A tensor whose dims are new factors of `kind`, unchanged.
TensorRule newFactors(ShardingRule &rule, llvm::ArrayRef<int64_t> shape,
                      FactorKind kind = FactorKind::PassThrough);
/// A dim that must be whole: a factor of its own. A dim of one element takes no
/// factor.
IndexMap wholeDim(ShardingRule &rule, int64_t size);
/// A dim that is cut like others, by a new factor.
IndexMap passingDim(ShardingRule &rule, int64_t size);

/// How `body`, of a reduce or scatter of `count` tensors, combines two values:
/// the same known kind for each of them, in either order; nullopt for anything
/// else. The first `count` arguments are accumulators, the others elements.
std::optional<spmd::ReductionKind> recogniseReduction(mlir::Region &body,
                                                      unsigned count);
/// The same of one of its tensors, whatever becomes of the others.
std::optional<spmd::ReductionKind>
recogniseReductionOf(mlir::Region &body, unsigned count, unsigned result);
/// True if combining a value with itself changes nothing.
bool isIdempotent(spmd::ReductionKind kind);

//===----------------------------------------------------------------------===//
// Local forms
//===----------------------------------------------------------------------===//

/// Copies `op`, with its attributes (spmd's apart) and regions, onto the local
/// operands and result types.
mlir::Operation *cloneLocal(mlir::Operation *op, Localization &localization);
/// The same on other `operands`.
mlir::Operation *cloneLocal(mlir::Operation *op, Localization &localization,
                            mlir::ValueRange operands);

/// True if some dim of result `result` is of unknown size here.
bool isDynamic(Localization &localization, int64_t result);
/// Sizes of all dims of the local result.
llvm::SmallVector<mlir::OpFoldResult> resultSizes(Localization &localization,
                                                  int64_t result);
/// The same as a 1-d tensor of i64, for StableHLO's dynamic forms.
mlir::Value shapeTensor(mlir::OpBuilder &builder, mlir::Location loc,
                        llvm::ArrayRef<mlir::OpFoldResult> sizes);
/// `value` as `type`: itself, or a cast where `?` and sizes differ.
mlir::Value castTo(mlir::OpBuilder &builder, mlir::Location loc,
                   mlir::Value value, mlir::RankedTensorType type);
/// A dim of `value`: an attribute where it is static.
mlir::OpFoldResult dimOf(mlir::OpBuilder &builder, mlir::Location loc,
                         mlir::Value value, int64_t dim);
/// A 0-d tensor of `type` (an integer or float type, signless i64 inside) from
/// an index.
mlir::Value scalarFromIndex(mlir::OpBuilder &builder, mlir::Location loc,
                            mlir::OpFoldResult index, mlir::Type type);
/// A 0-d tensor, repeated over `type`, whose dims have `sizes`.
mlir::Value broadcastScalar(mlir::OpBuilder &builder, mlir::Location loc,
                            mlir::Value scalar, mlir::RankedTensorType type,
                            llvm::ArrayRef<mlir::OpFoldResult> sizes);
/// `spmd::neutralElement` as a 0-d constant; null where there is none.
mlir::Value neutralElement(mlir::OpBuilder &builder, mlir::Location loc,
                           spmd::ReductionKind kind, mlir::Type elementType);
/// `value` with `low` and `high` zeros around it, as `type`.
mlir::Value padWithZeros(mlir::OpBuilder &builder, mlir::Location loc,
                         mlir::Value value,
                         llvm::ArrayRef<mlir::OpFoldResult> low,
                         llvm::ArrayRef<mlir::OpFoldResult> high,
                         mlir::RankedTensorType type);
/// True if `value` is a constant throughout that partial values may all start
/// from: the neutral element of `kind`, or the other zero of a float sum.
bool isNeutral(mlir::Value value, spmd::ReductionKind kind);
/// `lhs` and `rhs`, of one type, combined elementwise.
mlir::Value combine(mlir::OpBuilder &builder, mlir::Location loc,
                    spmd::ReductionKind kind, mlir::Value lhs, mlir::Value rhs);

//===----------------------------------------------------------------------===//
// Models
//===----------------------------------------------------------------------===//

template <typename OpT, llvm::FailureOr<ShardingRule> (*getRule)(OpT)>
struct RuleModel
    : ShardingRuleOpInterface::ExternalModel<RuleModel<OpT, getRule>, OpT> {
  llvm::FailureOr<ShardingRule> getShardingRule(mlir::Operation *op) const {
    if (!hasStaticShapes(op))
      return llvm::failure();
    return getRule(llvm::cast<OpT>(op));
  }
};

template <typename OpT, LocalResults (*localizeOp)(OpT, Localization &)>
struct LocalizeModel
    : LocalizeOpInterface::ExternalModel<LocalizeModel<OpT, localizeOp>, OpT> {
  LocalResults localize(mlir::Operation *op, Localization &localization) const {
    return localizeOp(llvm::cast<OpT>(op), localization);
  }
};

/// Ops whose local form is the op itself.
template <typename OpT>
LocalResults localizeByCloning(OpT op, Localization &localization) {
  return llvm::SmallVector<mlir::Value>(
      cloneLocal(op, localization)->getResults());
}

template <typename OpT, llvm::FailureOr<ShardingRule> (*getRule)(OpT),
          LocalResults (*localizeOp)(OpT,
                                     Localization &) = &localizeByCloning<OpT>>
void attach(mlir::MLIRContext *context) {
  OpT::template attachInterface<RuleModel<OpT, getRule>,
                                LocalizeModel<OpT, localizeOp>>(*context);
}

// One function a family, each in the file of that name.
void attachAddressing(mlir::MLIRContext *context);
void attachAllPairs(mlir::MLIRContext *context);
/// Rules alone: Partition makes the local forms.
void attachCollectives(mlir::MLIRContext *context);
void attachContractions(mlir::MLIRContext *context);
void attachDeal(mlir::MLIRContext *context);
/// All ops of `dialect` with ElementwiseTrait, and ops like them.
void attachElementwise(mlir::MLIRContext *context, llvm::StringRef dialect);
/// Calls of the process that runs the program.
void attachHost(mlir::MLIRContext *context);
void attachParts(mlir::MLIRContext *context);
void attachReductions(mlir::MLIRContext *context);
void attachReshape(mlir::MLIRContext *context);
void attachPad(mlir::MLIRContext *context);
void attachShapes(mlir::MLIRContext *context);
/// Of the solver dialect.
void attachSolvers(mlir::MLIRContext *context);
void attachSources(mlir::MLIRContext *context);
void attachWholeDims(mlir::MLIRContext *context);
void attachSorting(mlir::MLIRContext *context);
void attachFourier(mlir::MLIRContext *context);
void attachTopK(mlir::MLIRContext *context);
void attachWindows(mlir::MLIRContext *context);

/// Combines a partial result over ranks like Localization::completeReduction,
/// but in f32 where it is f16 or bf16: `widen` makes the f32 form of `partial`.
/// So a cut sum is rounded once, as a whole one is.
mlir::Value completeInF32(Localization &localization, mlir::Value partial,
                          int64_t result,
                          llvm::function_ref<mlir::Value()> widen);

} // namespace shardc::rules

#endif // SHARDC_LIB_RULES_RULEUTILS_H
