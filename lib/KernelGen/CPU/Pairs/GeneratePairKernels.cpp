//===- GeneratePairKernels.cpp - Loops for pair steps ---------------------===//
//
// Steps that are alike, as those of one ring are, share one function, however
// large their blocks are and whatever their offsets: a kernel takes long to
// compile, and knows little more where sizes are known.
//
//===----------------------------------------------------------------------===//
#include "../../Common/PairAlgebra.h"
#include "PairKernels.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "shardc/Dialect/Pairs/IR/Pairs.h"
#include "shardc/KernelGen/Passes.h"
#include "shardc/Support/OutlinedFunction.h"

using namespace mlir;

namespace shardc {
#define GEN_PASS_DEF_GENERATEPAIRKERNELSPASS
#include "shardc/KernelGen/Passes.h.inc"
} // namespace shardc

using namespace shardc;
using namespace shardc::cpu;

/// A type that values of both can be cast to: sizes, strides and offset are
/// unknown where they differ. Null where one has neighbours in a dim and the
/// other has not: what is read in one go has code of its own. Depth and feature
/// (`map` says which dims these are) must be known.
static Type commonType(Type a, Type c, AffineMap map) {
  if (a == c)
    return a;
  auto first = dyn_cast<MemRefType>(a), second = dyn_cast<MemRefType>(c);
  if (!first || !second || first.getRank() != second.getRank() ||
      first.getElementType() != second.getElementType() ||
      first.getMemorySpace() != second.getMemorySpace())
    return {};
  auto [strides, offset] = first.getStridesAndOffset();
  auto [otherStrides, otherOffset] = second.getStridesAndOffset();
  SmallVector<int64_t> shape(first.getShape());
  auto agree = [](int64_t &mine, int64_t other) {
    if (mine != other)
      mine = ShapedType::kDynamic;
  };
  for (auto [size, other, expr] :
       llvm::zip_equal(shape, second.getShape(), map.getResults())) {
    agree(size, other);
    if (ShapedType::isDynamic(size) &&
        cast<AffineDimExpr>(expr).getPosition() + 2 >= map.getNumDims())
      return {};
  }
  for (auto [stride, other] : llvm::zip_equal(strides, otherStrides)) {
    if ((stride == 1) != (other == 1))
      return {};
    agree(stride, other);
  }
  agree(offset, otherOffset);
  return MemRefType::get(
      shape, first.getElementType(),
      StridedLayoutAttr::get(a.getContext(), offset, strides),
      first.getMemorySpace());
}

/// Steps that one function can do, and the types of its arguments.
namespace {
struct Kind {
  SmallVector<spmd::PairStepOp> steps;
  SmallVector<Type> types;
};
} // namespace

/// Adds `step` to `kind` if one function can do its work as well.
static bool join(Kind &kind, spmd::PairStepOp step) {
  spmd::PairStepOp first = kind.steps.front();
  if (first->getNumOperands() != step->getNumOperands() ||
      first->getPropertiesAsAttribute() != step->getPropertiesAsAttribute())
    return false;
  for (auto [x, y] : llvm::zip(first->getRegions(), step->getRegions()))
    if (!OperationEquivalence::isRegionEquivalentTo(
            &x, &y, OperationEquivalence::IgnoreLocations))
      return false;
  SmallVector<Type> types;
  int64_t number = 0;
  for (auto [mine, other] :
       llvm::zip_equal(kind.types, step->getOperandTypes())) {
    // Indices have no map.
    types.push_back(commonType(
        mine, other, first.getMap(isa<MemRefType>(mine) ? number++ : 0)));
    if (!types.back())
      return false;
  }
  kind.types = std::move(types);
  kind.steps.push_back(step);
  return true;
}

/// Computes at the builder's place what `number` is where its function is
/// called; `values` has the arguments.
static Value computeAtCall(OpBuilder &b, Value number, IRMapping &values) {
  if (Value found = values.lookupOrNull(number))
    return found;
  Operation *op = number.getDefiningOp();
  for (Value operand : op->getOperands())
    computeAtCall(b, operand, values);
  b.clone(*op, values);
  return values.lookup(number);
}

/// One function for the steps of `kind`, and a call in place of each.
static void outline(const Kind &kind, StringRef name, unsigned vectorBits,
                    int64_t threads) {
  spmd::PairStepOp first = kind.steps.front();
  auto function = first->getParentOfType<func::FuncOp>();
  OpBuilder b(function);
  Location loc = first.getLoc();
  SmallVector<Type> types(kind.types);
  types.push_back(MemRefType::get({ShapedType::kDynamic}, b.getI8Type()));
  func::FuncOp callee = createOutlined(b, loc, name, types);
  Block *block = callee.addEntryBlock();
  b.setInsertionPointToStart(block);
  Quantity bytes =
      emitPairStep(b, first, block->getArguments().drop_back(),
                   block->getArguments().back(), vectorBits, threads);
  func::ReturnOp::create(b, loc);
  for (spmd::PairStepOp step : kind.steps) {
    b.setInsertionPoint(step);
    SmallVector<Value> operands;
    for (auto [operand, type] :
         llvm::zip_equal(step->getOperands(), kind.types))
      operands.push_back(
          operand.getType() == type
              ? operand
              : memref::CastOp::create(b, step.getLoc(), type, operand)
                    .getResult());
    auto pool = MemRefType::get(
        {bytes.fixed ? *bytes.fixed : ShapedType::kDynamic}, b.getI8Type());
    SmallVector<Value> size;
    if (!bytes.fixed) {
      IRMapping values;
      values.map(block->getArguments().drop_back(), operands);
      size.push_back(computeAtCall(b, bytes.value, values));
    }
    Value scratch = memref::AllocOp::create(b, step.getLoc(), pool, size,
                                            b.getI64IntegerAttr(64));
    operands.push_back(
        bytes.fixed
            ? memref::CastOp::create(b, step.getLoc(), types.back(), scratch)
                  .getResult()
            : scratch);
    func::CallOp::create(b, step.getLoc(), callee, operands);
    step.erase();
  }
}

namespace {
struct GeneratePairKernelsPass final
    : shardc::impl::GeneratePairKernelsPassBase<GeneratePairKernelsPass> {
  using Base::Base;
  void runOnOperation() override {
    SmallVector<Kind, 0> kinds;
    bool failed = false;
    getOperation().walk([&](spmd::PairStepOp op) {
      failed |= mlir::failed(pairs::verifyPairStep(op));
      if (llvm::none_of(kinds, [&](Kind &kind) { return join(kind, op); }))
        kinds.push_back({{op}, SmallVector<Type>(op->getOperandTypes())});
    });
    if (failed)
      return signalPassFailure();
    for (auto [number, kind] : llvm::enumerate(kinds)) {
      if (kind.steps.size() > 1) {
        outline(kind, ("__shardc_pair_step_" + Twine(number)).str(), vectorBits,
                threads);
        continue;
      }
      spmd::PairStepOp only = kind.steps.front();
      OpBuilder b(only);
      emitPairStep(b, only, only->getOperands(), {}, vectorBits, threads);
      only.erase();
    }
  }
};
} // namespace
