//===- Values.cpp - Blocks that hold something else -----------------------===//

#include "Plant.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "shardc/Dialect/StableHLO/IR/StableHLO.h"

using namespace mlir;
using namespace shardc;
using namespace shardc::fuzz;
using namespace shardc::spmd;

/// A constant of no dims like `type`'s elements: 0, or `value`.
static Value scalar(OpBuilder &builder, Location loc, Type type,
                    int64_t value) {
  auto element = cast<RankedTensorType>(type).getElementType();
  auto tensor = RankedTensorType::get({}, element);
  Attribute attr;
  if (isa<FloatType>(element))
    attr = builder.getFloatAttr(element, value);
  else
    attr = builder.getIntegerAttr(element,
                                  isa<IntegerType>(element) &&
                                          element.getIntOrFloatBitWidth() == 1
                                      ? value != 0
                                      : value);
  return stablehlo::ConstantOp::create(
      builder, loc,
      cast<ElementsAttr>(Attribute(DenseElementsAttr::get(tensor, attr))));
}

static bool isPlain(Value value) {
  Type element = cast<RankedTensorType>(value.getType()).getElementType();
  return isa<FloatType>(element) || element.isSignlessInteger();
}

/// Others' parts and one's own are zero: the buffer was read before it was
/// full.
template <typename OpTy> static bool readEarly(ModuleOp module) {
  bool any = false;
  for (OpTy op : all<OpTy>(module)) {
    Type element =
        cast<RankedTensorType>(op.getInput().getType()).getElementType();
    if (!isPlain(op.getInput()) || element.isInteger(1))
      continue;
    OpBuilder builder(op);
    op.getInputMutable().assign(stablehlo::SubtractOp::create(
        builder, op.getLoc(), op.getInput(), op.getInput()));
    any = true;
  }
  return any;
}

/// 1 where the rank's coordinate grows on the asked side, else 0.
static Value growsHere(OpBuilder &builder, HaloExchangeOp op, MeshAttr mesh,
                       const shardc::DimExchange &dim, bool first) {
  SmallVector<int64_t> table;
  for (auto [owned, needed] : llvm::zip(dim.owned, dim.needed))
    table.push_back(first ? needed.begin < owned.begin
                          : needed.end > owned.end);
  SmallVector<StringRef> axes;
  for (int64_t axis : dim.axes)
    axes.push_back(mesh.getAxisNames()[axis].getValue());
  return LookupOp::create(builder, op.getLoc(), builder.getIndexType(),
                          builder.getDenseI64ArrayAttr(table),
                          builder.getStrArrayAttr(axes), op.getMeshAttr());
}

/// Overwrites one element of the result: the first or the last of `dims` dims,
/// on the ranks whose blocks grow on that side of all of them.
static bool loseElement(ModuleOp module, bool first, size_t dims) {
  bool any = false;
  MeshAttr mesh = meshOf(module);
  for (HaloExchangeOp op : all<HaloExchangeOp>(module)) {
    auto type = cast<RankedTensorType>(op.getType());
    if (!isPlain(op.getResult()))
      continue;
    SmallVector<shardc::DimExchange> grown;
    SmallVector<bool> known(type.getRank());
    bool empty = false;
    for (int64_t d = 0; d < type.getRank(); ++d)
      known[d] = !type.isDynamicDim(d) && type.getDimSize(d) > 0;
    for (Attribute attr : op.getDims()) {
      shardc::DimExchange dim = cast<DimExchangeAttr>(attr).getExchange(mesh);
      known[dim.dim] = true;
      bool grows = false;
      for (auto [owned, needed] : llvm::zip(dim.owned, dim.needed)) {
        grows |= first ? needed.begin < owned.begin : needed.end > owned.end;
        empty |= needed.empty();
      }
      if (grows)
        grown.push_back(dim);
    }
    if (empty || grown.size() < dims ||
        !llvm::all_of(known, [](bool k) { return k; }))
      continue;
    Location loc = op.getLoc();
    OpBuilder builder(op->getContext());
    builder.setInsertionPointAfter(op);
    Value zero = arith::ConstantIndexOp::create(builder, loc, 0),
          one = arith::ConstantIndexOp::create(builder, loc, 1);
    SmallVector<Value> at(type.getRank(), zero);
    Value here = one;
    for (const shardc::DimExchange &dim : ArrayRef(grown).take_front(dims)) {
      here = arith::MulIOp::create(builder, loc, here,
                                   growsHere(builder, op, mesh, dim, first));
      if (!first) {
        Value size =
            tensor::DimOp::create(builder, loc, op.getResult(), dim.dim);
        at[dim.dim] = arith::SubIOp::create(builder, loc, size, one);
      }
    }
    Value lost = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq,
                                       here, one);
    Value before = tensor::ExtractOp::create(builder, loc, op.getResult(), at);
    Value nothing = tensor::ExtractOp::create(
        builder, loc, scalar(builder, loc, type, 0), ValueRange());
    Value written =
        arith::SelectOp::create(builder, loc, lost, nothing, before);
    auto insert =
        tensor::InsertOp::create(builder, loc, written, op.getResult(), at);
    op.getResult().replaceUsesWithIf(insert.getResult(), [&](OpOperand &use) {
      return use.getOwner() != insert &&
             !isa<tensor::DimOp, tensor::ExtractOp>(use.getOwner());
    });
    any = true;
  }
  return any;
}

static bool changeFill(ModuleOp module) {
  bool any = false;
  module.walk([&](ExchangeOpInterface op) {
    Value fill = op.getFillValue();
    if (!fill || !isPlain(fill))
      return;
    OpBuilder builder(op);
    Value other = scalar(builder, op->getLoc(), fill.getType(), 7);
    for (OpOperand &operand : op->getOpOperands())
      if (operand.get() == fill &&
          operand.getOperandNumber() == op->getNumOperands() - 1) {
        operand.set(other);
        any = true;
      }
  });
  for (tensor::PadOp op : all<tensor::PadOp>(module)) {
    OpBuilder builder(op);
    Value constant = op.getConstantPaddingValue();
    if (!constant || !isa<FloatType>(constant.getType()))
      continue;
    Value other = arith::ConstantOp::create(
        builder, op.getLoc(), builder.getFloatAttr(constant.getType(), 7));
    op.getRegion().front().getTerminator()->setOperand(0, other);
    any = true;
  }
  return any;
}

static bool swapEdges(ModuleOp module) {
  bool any = false;
  for (tensor::PadOp op : all<tensor::PadOp>(module)) {
    SmallVector<OpFoldResult> low = op.getMixedLowPad(),
                              high = op.getMixedHighPad();
    if (low == high)
      continue;
    OpBuilder builder(op);
    auto padded = tensor::PadOp::create(
        builder, op.getLoc(), op.getResultType(), op.getSource(), high, low);
    padded.getRegion().takeBody(op.getRegion());
    op.replaceAllUsesWith(padded.getResult());
    op.erase();
    any = true;
  }
  return any;
}

/// Of two results of one type the second is taken for the first.
static bool swapResults(ModuleOp module) {
  bool any = false;
  module.walk([&](Operation *op) {
    if (!isa<stablehlo::WhileOp, stablehlo::IfOp, stablehlo::CaseOp>(op))
      return;
    for (unsigned i = 1; i < op->getNumResults(); ++i) {
      Value one = op->getResult(i - 1), other = op->getResult(i);
      if (one.getType() != other.getType() || one.use_empty())
        continue;
      one.replaceAllUsesWith(other);
      any = true;
    }
  });
  return any;
}

ArrayRef<Fault> shardc::fuzz::valueFaults() {
  static const Fault faults[] = {
      {"halo-without-corner",
       [](ModuleOp m) { return loseElement(m, /*first=*/true, 2); },
       "spmd-verify-local", "", /*isInterpreted=*/false},
      {"halo-without-last-element",
       [](ModuleOp m) { return loseElement(m, /*first=*/false, 1); },
       "spmd-verify-local", "", /*isInterpreted=*/false},
      {"halo-read-before-it-is-there", readEarly<HaloExchangeOp>},
      {"fill-forgotten", changeFill},
      {"edge-filled-on-the-wrong-side", swapEdges},
      {"results-of-a-branch-or-loop-swapped", swapResults},
  };
  return faults;
}
