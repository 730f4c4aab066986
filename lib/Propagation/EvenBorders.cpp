//===- EvenBorders.cpp - Equal shards where a program begins and ends -----===//
//
// Who calls a program may know equal shards alone, as JAX does. Inside, values
// are cut as it suits them; where they come in and leave they are resharded.
//
//===----------------------------------------------------------------------===//
#include "Bodies.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "shardc/Dialect/Spmd/IR/SpmdGlobal.h"
#include "shardc/Propagation/Passes.h"

using namespace mlir;
using namespace shardc;
using spmd::ShardingAttr;

namespace shardc {
#define GEN_PASS_DEF_EVENBORDERSPASS
#include "shardc/Propagation/Passes.h.inc"
} // namespace shardc

/// `sharding` with each dim in equal shards: balanced over its axes where their
/// number divides the dim, else whole.
static ShardingAttr evened(ShardingAttr sharding, spmd::MeshAttr mesh,
                           ArrayRef<int64_t> shape) {
  SmallVector<spmd::DimShardingAttr> dims;
  for (auto [dim, size] : llvm::zip_equal(sharding.getDims(), shape)) {
    bool divides = size % dim.getNumShards(mesh) == 0;
    dims.push_back(spmd::DimShardingAttr::get(
        sharding.getContext(),
        divides ? dim.getAxes() : ArrayRef<StringAttr>()));
  }
  return ShardingAttr::get(sharding.getContext(), sharding.getMesh(), dims,
                           sharding.getReplicated(), sharding.getPartial());
}

static ShardingAttr withoutPartial(ShardingAttr sharding) {
  return ShardingAttr::get(sharding.getContext(), sharding.getMesh(),
                           sharding.getDims(), sharding.getReplicated(), {});
}

/// Inserts the way of `value` from one sharding to the other.
static spmd::ReshardOp reshard(OpBuilder &builder, Location loc, Value value,
                               ShardingAttr from, ShardingAttr to,
                               const Twine &reason) {
  auto op = spmd::ReshardOp::create(builder, loc, value.getType(), value, from,
                                    to, builder.getStringAttr(reason));
  op->setAttr(spmd::kShardingsAttrName, builder.getArrayAttr({to}));
  return op;
}

static void evenBorders(func::FuncOp function, spmd::MeshAttr mesh) {
  OpBuilder builder(function.getContext());
  auto shapeOf = [](Type type) -> std::optional<ArrayRef<int64_t>> {
    if (auto tensor = dyn_cast<RankedTensorType>(type))
      return tensor.getShape();
    return std::nullopt;
  };
  StringRef name = spmd::kShardingAttrName;
  for (BlockArgument argument : function.getArguments()) {
    unsigned number = argument.getArgNumber();
    auto inner = function.getArgAttrOfType<ShardingAttr>(number, name);
    auto shape = shapeOf(argument.getType());
    if (!inner || !shape)
      continue;
    ShardingAttr border = evened(inner, mesh, *shape);
    if (border == inner)
      continue;
    function.setArgAttr(number, name, border);
    if (argument.use_empty())
      continue;
    builder.setInsertionPointToStart(&function.getBody().front());
    spmd::ReshardOp moved =
        reshard(builder, argument.getLoc(), argument, border, inner,
                "argument " + Twine(number) + " comes in equal shards");
    argument.replaceAllUsesExcept(moved.getResult(), moved);
  }
  Operation *terminator = function.getBody().front().getTerminator();
  for (OpOperand &operand : terminator->getOpOperands()) {
    unsigned number = operand.getOperandNumber();
    auto inner = function.getResultAttrOfType<ShardingAttr>(number, name);
    auto shape = shapeOf(operand.get().getType());
    if (!inner || !shape)
      continue;
    ShardingAttr border = evened(inner, mesh, *shape);
    if (border == inner)
      continue;
    function.setResultAttr(number, name, border);
    builder.setInsertionPoint(terminator);
    // What leaves in parts is whole until it does.
    operand.set(reshard(builder, terminator->getLoc(), operand.get(),
                        withoutPartial(inner), withoutPartial(border),
                        "result " + Twine(number) + " leaves in equal shards"));
  }
}

namespace {
struct EvenBordersPass final
    : shardc::impl::EvenBordersPassBase<EvenBordersPass> {
  using Base::Base;
  void runOnOperation() override {
    if (failed(propagation::forEachBody(
            getOperation(), [](func::FuncOp function, spmd::MeshOp mesh) {
              evenBorders(function, mesh.getMesh());
              return success();
            })))
      signalPassFailure();
  }
};
} // namespace
