//===- ExpandRaggedExchange.cpp - Exchanges of any sizes as ops -----------===//
//
// How many rows go where is known only when the program runs. Who sends tells
// who receives (an all-to-all of numbers), all rows of the group are gathered,
// and each rank picks, for each row of its output, the row that is sent there.
//
//===----------------------------------------------------------------------===//
#include "ExpandRaggedExchange.h"
#include "OpBuilding.h"

using namespace mlir;
using namespace shardc;
using namespace shardc::import;

/// Operand, output, and for each group member one or more pieces: where they
/// begin here, how long they are, where they go there, how long those are that
/// come. Null and a diagnostic where the types do not fit.
static DenseIntElementsAttr groupsOf(stablehlo::CustomCallOp call,
                                     DictionaryAttr config) {
  auto groups = config ? config.getAs<DenseIntElementsAttr>("replica_groups")
                       : DenseIntElementsAttr();
  auto refuse = [&]() -> InFlightDiagnostic {
    return call.emitError("custom call @ragged_all_to_all ");
  };
  if (!groups || groups.getType().getRank() != 2 ||
      call.getInputs().size() != 6 || call.getNumResults() != 1) {
    refuse() << "has " << call.getInputs().size()
             << " operands, expected six, one result and replica_groups in its "
                "backend_config";
    return {};
  }
  auto from = dyn_cast<RankedTensorType>(call.getInputs()[0].getType()),
       to = dyn_cast<RankedTensorType>(call.getInputs()[1].getType());
  if (!from || !to || from.getRank() == 0 || to.getRank() == 0 ||
      !from.hasStaticShape() || !to.hasStaticShape() ||
      from.getElementType() != to.getElementType() ||
      from.getShape().drop_front() != to.getShape().drop_front() ||
      call.getResultTypes()[0] != to) {
    refuse() << "sends rows of " << call.getInputs()[0].getType() << " into "
             << call.getInputs()[1].getType()
             << ", expected rows of one type and a result of the second";
    return {};
  }
  Type pieces = call.getInputs()[2].getType();
  auto type = dyn_cast<RankedTensorType>(pieces);
  int64_t members = groups.getType().getDimSize(1);
  if (!type || type.getRank() != 1 || !type.hasStaticShape() || members == 0 ||
      type.getDimSize(0) % members != 0 ||
      !isa<IntegerType>(type.getElementType()) ||
      llvm::any_of(call.getInputs().drop_front(2),
                   [&](Value value) { return value.getType() != pieces; })) {
    refuse() << "has offsets of type " << pieces
             << ", expected four vectors of "
             << "integers of one type, as long as a group of " << members
             << " or a multiple of it";
    return {};
  }
  return groups;
}

LogicalResult shardc::expandRaggedAllToAll(stablehlo::CustomCallOp call,
                                           DictionaryAttr config) {
  DenseIntElementsAttr groups = groupsOf(call, config);
  if (!groups)
    return failure();
  Ops ops(call);
  Value operand = call.getInputs()[0], output = call.getInputs()[1];
  RankedTensorType from = Ops::typeOf(operand), to = Ops::typeOf(output);
  int64_t members = groups.getType().getDimSize(1),
          pieces = Ops::typeOf(call.getInputs()[2]).getDimSize(0),
          rows = from.getDimSize(0), received = to.getDimSize(0);
  if (pieces == 0 || from.getNumElements() == 0 || to.getNumElements() == 0) {
    call.getResult(0).replaceAllUsesWith(output);
    call.erase();
    return success();
  }
  auto channel = stablehlo::ChannelHandleAttr::get(call.getContext(),
                                                   /*handle=*/1, /*type=*/1);
  // Of each piece that comes here: where it begins there, how long it is, where
  // it goes. 64 bits, so that no sum overflows.
  Type number = ops.b.getI64Type();
  auto table = RankedTensorType::get({received, pieces}, number);
  auto announced = [&](unsigned input) {
    Value mine = ops.convert(call.getInputs()[input], number);
    Value theirs = stablehlo::AllToAllOp::create(
                       ops.b, TypeRange(mine.getType()), ValueRange(mine),
                       /*split_dimension=*/0, /*concat_dimension=*/0,
                       /*split_count=*/members, groups, channel)
                       .getResult(0);
    return ops.broadcast(theirs, table.getShape(), {1});
  };
  Value begin = announced(2), length = announced(3), place = announced(4);
  // The row, of all rows of the group, that goes to each row here; -1: none.
  Value row = ops.iota(table, 0), piece = ops.iota(table, 1);
  Value within = ops.op<stablehlo::SubtractOp>(row, place);
  Value starts = ops.compare("GE", within, ops.splat(table, 0)),
        ends = ops.compare("LT", within, length);
  Value isSent = ops.op<stablehlo::AndOp>(starts, ends);
  Value sender =
      ops.op<stablehlo::DivOp>(piece, ops.splat(table, pieces / members));
  Value first = ops.op<stablehlo::MulOp>(sender, ops.splat(table, rows));
  Value at = ops.op<stablehlo::AddOp>(begin, within);
  Value source = ops.op<stablehlo::AddOp>(first, at);
  Value chosen = ops.select(isSent, source, ops.splat(table, -1));
  Value picked = ops.reduce<stablehlo::MaxOp>(chosen, -1, {1});
  SmallVector<int64_t> all(from.getShape()), slice(from.getShape());
  all[0] *= members;
  slice[0] = 1;
  auto allType = RankedTensorType::get(all, from.getElementType());
  Value gathered = stablehlo::AllGatherOp::create(
                       ops.b, TypeRange(allType), ValueRange(operand),
                       /*all_gather_dim=*/0, groups, channel,
                       /*use_global_device_ids=*/true)
                       .getResult(0);
  auto numbers = stablehlo::GatherDimensionNumbersAttr::get(
      call.getContext(), llvm::to_vector(llvm::seq<int64_t>(1, from.getRank())),
      {0}, {}, {}, {0},
      /*indexVectorDim=*/1);
  Value taken = stablehlo::GatherOp::create(
      ops.b, gathered, picked, numbers, slice, /*indices_are_sorted=*/false);
  Value comes = ops.compare("GE", picked, ops.splat(Ops::typeOf(picked), 0));
  Value result =
      ops.select(ops.broadcast(comes, to.getShape(), {0}), taken, output);
  call.getResult(0).replaceAllUsesWith(result);
  call.erase();
  return success();
}
