//===- ExpandUnreduced.cpp - Manual regions over unreduced values ---------===//
//
// Outside of a manual region a value is whole, whatever is still to be combined
// is. An operand that the region sees unreduced is therefore kept by the first
// coordinate of those axes and zero at the others: its sum is the value, as XLA
// has it. A result that leaves unreduced is combined where it leaves. A maximum
// or minimum of copies is the value: there is nothing to drop.
//
//===----------------------------------------------------------------------===//
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "shardc/Dialect/Spmd/IR/SpmdGlobal.h"
#include "shardc/Dialect/StableHLO/IR/StableHLO.h"
#include "shardc/Import/Passes.h"
#include "shardc/Layout/Exchange.h"

using namespace mlir;
using namespace shardc;
using spmd::ManualOp;
using spmd::ReductionKind;
using spmd::ShardingAttr;

namespace shardc {
#define GEN_PASS_DEF_EXPANDUNREDUCEDPASS
#include "shardc/Import/Passes.h.inc"
} // namespace shardc

using Axes = SmallVector<int64_t>;

/// The manual axes along which a value is to be combined by `kind`.
static Axes axesOf(ManualOp op, ShardingAttr boundary, spmd::MeshAttr mesh,
                   ReductionKind kind) {
  Axes axes;
  for (spmd::PartialAxisAttr partial : boundary.getPartial())
    if (op.isManual(partial.getAxis()) && partial.getKind() == kind)
      axes.push_back(mesh.getAxisIndex(partial.getAxis()));
  return axes;
}

static Value constantOf(ImplicitLocOpBuilder &b, RankedTensorType type,
                        uint64_t bits) {
  auto value =
      DenseElementsAttr::get(type, APInt(type.getElementTypeBitWidth(), bits));
  return stablehlo::ConstantOp::create(b, cast<ElementsAttr>(Attribute(value)));
}

static Value zerosOf(ImplicitLocOpBuilder &b, RankedTensorType type) {
  DenseElementsAttr zero;
  if (auto complex = dyn_cast<ComplexType>(type.getElementType())) {
    APFloat part =
        cast<FloatAttr>(b.getZeroAttr(complex.getElementType())).getValue();
    zero = DenseElementsAttr::get(type, std::complex<APFloat>(part, part));
  } else {
    zero = DenseElementsAttr::get(
        type, Attribute(b.getZeroAttr(type.getElementType())));
  }
  return stablehlo::ConstantOp::create(b, cast<ElementsAttr>(Attribute(zero)));
}

/// `value` on ranks whose coordinates along `axes` are all 0, else zeros.
static Value keepFirst(ImplicitLocOpBuilder &b, Value value,
                       ArrayRef<int64_t> axes, spmd::MeshAttr mesh) {
  auto word =
      RankedTensorType::get({}, b.getIntegerType(32, /*isSigned=*/false));
  Value rank = stablehlo::PartitionIdOp::create(b, word),
        zero = constantOf(b, word, 0), isFirst;
  ArrayRef<int64_t> sizes = mesh.getAxisSizes();
  for (int64_t axis : axes) {
    uint64_t step = 1;
    for (int64_t size : sizes.drop_front(axis + 1))
      step *= size;
    Value quotient =
        stablehlo::DivOp::create(b, rank, constantOf(b, word, step));
    Value coordinate =
        stablehlo::RemOp::create(b, quotient, constantOf(b, word, sizes[axis]));
    Value here = stablehlo::CompareOp::create(
        b, coordinate, zero, stablehlo::ComparisonDirection::EQ,
        stablehlo::ComparisonType::UNSIGNED);
    isFirst =
        isFirst ? Value(stablehlo::AndOp::create(b, isFirst, here)) : here;
  }
  return stablehlo::SelectOp::create(
      b, isFirst, value, zerosOf(b, cast<RankedTensorType>(value.getType())));
}

/// `value` combined over the ranks that differ along `axes` alone.
static Value combine(ImplicitLocOpBuilder &b, Value value,
                     ArrayRef<int64_t> axes, spmd::MeshAttr mesh,
                     ReductionKind kind) {
  ArrayRef<int64_t> sizes = mesh.getAxisSizes();
  SmallVector<int64_t> table;
  int64_t members = 1;
  for (int64_t axis : axes)
    members *= sizes[axis];
  for (int64_t rank = 0, e = mesh.getNumRanks(); rank < e; ++rank) {
    std::vector<int64_t> group = groupAlong(sizes, axes, rank);
    if (group.front() == rank)
      llvm::append_range(table, group);
  }
  auto groups = DenseIntElementsAttr::get(
      RankedTensorType::get({int64_t(table.size()) / members, members},
                            b.getI64Type()),
      ArrayRef<int64_t>(table));
  auto reduce = stablehlo::AllReduceOp::create(
      b, value.getType(), value, groups,
      stablehlo::ChannelHandleAttr::get(b.getContext(), 1, 1),
      /*useGlobalDeviceIds=*/true);
  OpBuilder::InsertionGuard guard(b);
  Block &block = reduce.getComputation().emplaceBlock();
  auto scalar = RankedTensorType::get(
      {}, cast<RankedTensorType>(value.getType()).getElementType());
  Value lhs = block.addArgument(scalar, b.getLoc()),
        rhs = block.addArgument(scalar, b.getLoc());
  b.setInsertionPointToStart(&block);
  Value result = kind == ReductionKind::Max
                     ? Value(stablehlo::MaxOp::create(b, lhs, rhs))
                 : kind == ReductionKind::Min
                     ? Value(stablehlo::MinOp::create(b, lhs, rhs))
                     : Value(stablehlo::AddOp::create(b, lhs, rhs));
  stablehlo::ReturnOp::create(b, result);
  return reduce.getResult(0);
}

static ArrayAttr withoutPartial(ArrayAttr shardings) {
  SmallVector<Attribute> kept;
  for (auto sharding : shardings.getAsRange<ShardingAttr>())
    kept.push_back(ShardingAttr::get(sharding.getContext(), sharding.getMesh(),
                                     sharding.getDims(),
                                     sharding.getReplicated(), {}));
  return ArrayAttr::get(shardings.getContext(), kept);
}

/// Leaves no value at the edge of `op` partial.
static LogicalResult expand(ManualOp op, spmd::MeshAttr mesh) {
  auto isPartial = [](ShardingAttr sharding) {
    return !sharding.getPartial().empty();
  };
  if (llvm::none_of(op.getInShardings().getAsRange<ShardingAttr>(),
                    isPartial) &&
      llvm::none_of(op.getOutShardings().getAsRange<ShardingAttr>(), isPartial))
    return success();
  Block &body = op.getBody().front();
  ImplicitLocOpBuilder b(op.getLoc(), op);
  b.setInsertionPointToStart(&body);
  for (auto [argument, attr] :
       llvm::zip(body.getArguments(), op.getInShardings())) {
    Axes axes = axesOf(op, cast<ShardingAttr>(attr), mesh, ReductionKind::Sum);
    if (axes.empty())
      continue;
    SmallVector<OpOperand *> uses;
    for (OpOperand &use : argument.getUses())
      uses.push_back(&use);
    Value kept = keepFirst(b, argument, axes, mesh);
    for (OpOperand *use : uses)
      use->set(kept);
  }
  Operation *terminator = body.getTerminator();
  b.setInsertionPoint(terminator);
  for (auto [i, attr] : llvm::enumerate(op.getOutShardings()))
    for (ReductionKind kind :
         {ReductionKind::Sum, ReductionKind::Max, ReductionKind::Min})
      if (Axes axes = axesOf(op, cast<ShardingAttr>(attr), mesh, kind);
          !axes.empty())
        terminator->setOperand(
            i, combine(b, terminator->getOperand(i), axes, mesh, kind));
  for (auto attr : op.getOutShardings().getAsRange<ShardingAttr>())
    for (spmd::PartialAxisAttr partial : attr.getPartial())
      if (op.isManual(partial.getAxis()) &&
          !llvm::is_contained(
              {ReductionKind::Sum, ReductionKind::Max, ReductionKind::Min},
              partial.getKind()))
        return op.emitOpError() << "has a result that is combined by " << attr
                                << ", expected sum, max or min";
  op.setInShardingsAttr(withoutPartial(op.getInShardings()));
  op.setOutShardingsAttr(withoutPartial(op.getOutShardings()));
  return success();
}

namespace {
struct ExpandUnreducedPass final
    : shardc::impl::ExpandUnreducedPassBase<ExpandUnreducedPass> {
  using Base::Base;
  void runOnOperation() override {
    auto meshes = getOperation().getOps<spmd::MeshOp>();
    if (meshes.empty())
      return;
    spmd::MeshAttr mesh = (*meshes.begin()).getMesh();
    WalkResult result = getOperation().walk(
        [&](ManualOp op) { return WalkResult(expand(op, mesh)); });
    if (result.wasInterrupted())
      signalPassFailure();
  }
};
} // namespace
