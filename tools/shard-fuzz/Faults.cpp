//===- Faults.cpp - Mistakes to be found ----------------------------------===//

#include "Faults.h"
#include "PlantAfter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Dominance.h"
#include "mlir/IR/Matchers.h"
#include "shardc/Dialect/Kernel/IR/KernelContracts.h"
#include "shardc/Dialect/Kernel/IR/KernelSites.h"
#include "shardc/Dialect/Local/IR/LocalCommunication.h"
#include "shardc/Dialect/Local/IR/LocalValues.h"
#include "shardc/Dialect/Pairs/IR/Pairs.h"
#include "shardc/Dialect/Spmd/IR/SpmdGlobal.h"
#include "shardc/Dialect/StableHLO/IR/StableHLO.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace shardc;
using namespace shardc::spmd;

namespace {
struct Fault {
  const char *name;
  /// Makes the mistake wherever it can be made; returns whether it can be.
  bool (*plant)(ModuleOp);
  /// After this pass. The default: after Partition, before communication is
  /// optimised.
  const char *after = "spmd-verify-local";
  /// Kinds of ops, with commas between, three of four ops are to be of.
  const char *kinds = "";
  /// Whether the interpreter knows what the edit is made of, so that it can say
  /// that the local view is wrong.
  bool isInterpreted = true;
};
} // namespace

template <typename OpTy> static SmallVector<OpTy> all(ModuleOp module) {
  SmallVector<OpTy> ops;
  module.walk([&](OpTy op) { ops.push_back(op); });
  return ops;
}

static MeshAttr meshOf(ModuleOp module) {
  return (*module.getOps<MeshOp>().begin()).getMesh();
}

//===----------------------------------------------------------------------===//
// Tables of exchanges
//===----------------------------------------------------------------------===//

using Edit = llvm::function_ref<bool(shardc::DimExchange &, int64_t size)>;

/// Lets `edit` change the table of every dim of every OpTy.
template <typename OpTy> static bool editTables(ModuleOp module, Edit edit) {
  bool any = false;
  MeshAttr mesh = meshOf(module);
  for (OpTy op : all<OpTy>(module)) {
    SmallVector<Attribute> attrs;
    bool changed = false;
    for (Attribute attr : op.getDims()) {
      shardc::DimExchange dim = cast<DimExchangeAttr>(attr).getExchange(mesh);
      int64_t size = 0;
      for (Interval owned : dim.owned)
        size = std::max(size, owned.end);
      if (edit(dim, size)) {
        changed = true;
        attr = DimExchangeAttr::get(module.getContext(), mesh, dim);
      }
      attrs.push_back(attr);
    }
    if (changed)
      op.setDimsAttr(ArrayAttr::get(module.getContext(), attrs));
    any |= changed;
  }
  return any;
}

/// Shifts what coordinate `i` needs by `by`, where that stays inside.
static bool shift(shardc::DimExchange &dim, size_t i, int64_t by,
                  int64_t size) {
  Interval &needed = dim.needed[i];
  if (needed.empty() ||
      needed.begin + by < std::min<int64_t>(0, needed.begin) ||
      needed.end + by > std::max(size, needed.end))
    return false;
  needed.begin += by;
  needed.end += by;
  return true;
}

static bool shiftAll(shardc::DimExchange &dim, int64_t by, int64_t size) {
  bool any = false;
  if (dim.owned != dim.needed)
    for (size_t i = 0; i < dim.needed.size(); ++i)
      any |= shift(dim, i, by, size);
  return any;
}

static bool sameSizes(ArrayRef<Interval> intervals) {
  return llvm::all_of(
      intervals, [&](Interval i) { return i.size() == intervals[0].size(); });
}

/// Each coordinate takes the place of the one before it.
static bool rotate(std::vector<Interval> &intervals) {
  if (intervals.size() < 2 || !sameSizes(intervals) ||
      llvm::all_equal(intervals))
    return false;
  std::rotate(intervals.begin(), intervals.begin() + 1, intervals.end());
  return true;
}

/// Reads a table over two axes with the axes exchanged.
template <typename T>
static bool transposeTable(std::vector<T> &table, int64_t rows,
                           int64_t columns) {
  std::vector<T> old = table;
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t c = 0; c < columns; ++c)
      table[r * columns + c] = old[c * rows + r];
  return old != table;
}

template <typename OpTy> static bool swapAxes(ModuleOp module) {
  MeshAttr mesh = meshOf(module);
  return editTables<OpTy>(module, [&](shardc::DimExchange &dim, int64_t) {
    return dim.axes.size() == 2 && sameSizes(dim.owned) &&
           transposeTable(dim.owned, mesh.getAxisSizes()[dim.axes[0]],
                          mesh.getAxisSizes()[dim.axes[1]]);
  });
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

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

/// A value that is not what the exchange should read: of the same type, made
/// before.
static Value earlierValue(Operation *op, Value like) {
  Value found;
  for (Operation &other : *op->getBlock()) {
    if (&other == op)
      break;
    for (Value result : other.getResults())
      if (result != like && result.getType() == like.getType())
        found = result;
  }
  if (!found)
    for (Value argument : op->getBlock()->getArguments())
      if (argument != like && argument.getType() == like.getType())
        found = argument;
  return found;
}

template <typename OpTy> static bool readStale(ModuleOp module) {
  bool any = false;
  for (OpTy op : all<OpTy>(module))
    if (Value stale = earlierValue(op, op.getInput())) {
      op.getInputMutable().assign(stale);
      any = true;
    }
  return any;
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

//===----------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------===//

template <typename OpTy> static bool changeKind(ModuleOp module) {
  bool any = false;
  for (OpTy op : all<OpTy>(module)) {
    ReductionKind kind = op.getKind();
    bool boolean =
        cast<RankedTensorType>(op.getType()).getElementType().isInteger(1);
    ReductionKind other = kind == ReductionKind::Max   ? ReductionKind::Min
                          : kind == ReductionKind::And ? ReductionKind::Or
                          : kind == ReductionKind::Or  ? ReductionKind::And
                          : kind == ReductionKind::Xor ? ReductionKind::Or
                                                       : ReductionKind::Max;
    if (boolean && other == ReductionKind::Max)
      continue;
    op.setKind(other);
    any = true;
  }
  return any;
}

static bool dropAllReduce(ModuleOp module) {
  auto ops = all<AllReduceOp>(module);
  for (AllReduceOp op : ops) {
    op.replaceAllUsesWith(op.getInput());
    op.erase();
  }
  return !ops.empty();
}

static bool reduceTwice(ModuleOp module) {
  bool any = false;
  for (AllReduceOp op : all<AllReduceOp>(module)) {
    if (op.getKind() != ReductionKind::Sum)
      continue;
    OpBuilder builder(op->getContext());
    builder.setInsertionPointAfter(op);
    Operation *again = builder.clone(*op);
    again->setOperand(0, op.getResult());
    op.getResult().replaceAllUsesExcept(again->getResult(0), again);
    any = true;
  }
  return any;
}

static bool dropAxis(ModuleOp module) {
  bool any = false;
  for (AllReduceOp op : all<AllReduceOp>(module))
    if (op.getAxes().size() > 1) {
      op.setAxesAttr(ArrayAttr::get(module.getContext(),
                                    op.getAxes().getValue().drop_back()));
      any = true;
    }
  return any;
}

static bool otherAxis(ModuleOp module) {
  bool any = false;
  MeshAttr mesh = meshOf(module);
  for (AllReduceOp op : all<AllReduceOp>(module)) {
    if (op.getAxes().size() != 1)
      continue;
    for (StringAttr axis : mesh.getAxisNames())
      if (axis != op.getAxes()[0]) {
        op.setAxesAttr(ArrayAttr::get(module.getContext(), {axis}));
        any = true;
        break;
      }
  }
  return any;
}

/// The initial value, or a bias, is added before the sum and not after it.
static bool addOnEveryRank(ModuleOp module) {
  bool any = false;
  for (AllReduceOp op : all<AllReduceOp>(module)) {
    if (op.getKind() != ReductionKind::Sum || !op->hasOneUse())
      continue;
    auto sum = dyn_cast<stablehlo::AddOp>(*op->user_begin());
    if (!sum || sum.getType() != op.getType())
      continue;
    Value other = sum->getOperand(0) == op.getResult() ? sum->getOperand(1)
                                                       : sum->getOperand(0);
    sum->moveBefore(op);
    // What is between needs not dominate.
    if (Operation *made = other.getDefiningOp();
        made &&
        (made->getBlock() != sum->getBlock() || !made->isBeforeInBlock(sum))) {
      sum->moveAfter(op);
      continue;
    }
    sum->replaceUsesOfWith(op.getResult(), op.getInput());
    sum->getResult(0).replaceAllUsesWith(op.getResult());
    op.getInputMutable().assign(sum->getResult(0));
    any = true;
  }
  return any;
}

//===----------------------------------------------------------------------===//
// What differs by rank
//===----------------------------------------------------------------------===//

using EditTable = llvm::function_ref<bool(std::vector<int64_t> &, LookupOp)>;

/// Lets `edit` change the tables of offsets: those that begin at 0 and grow.
/// Entries only become smaller, so that everything stays inside its buffer.
static bool editOffsets(ModuleOp module, EditTable edit) {
  bool any = false;
  for (LookupOp op : all<LookupOp>(module)) {
    std::vector<int64_t> table = op.getTable().vec(), old = table;
    if (table.front() != 0 || table.back() == 0 || !llvm::is_sorted(table) ||
        !edit(table, op))
      continue;
    for (auto [now, before] : llvm::zip(table, old))
      now = std::max<int64_t>(0, std::min(now, before));
    if (table == old)
      continue;
    op.setTable(table);
    any = true;
  }
  return any;
}

static bool swapLookupAxes(ModuleOp module) {
  MeshAttr mesh = meshOf(module);
  return editOffsets(module, [&](std::vector<int64_t> &table, LookupOp op) {
    return op.getAxes().size() == 2 &&
           transposeTable(
               table,
               mesh.getAxisSize(cast<StringAttr>(op.getAxes()[0]).getValue()),
               mesh.getAxisSize(cast<StringAttr>(op.getAxes()[1]).getValue()));
  });
}

static bool shiftPhase(ModuleOp module) {
  auto ops = all<DilateOp>(module);
  for (DilateOp op : ops) {
    OpBuilder builder(op);
    Value one = arith::ConstantIndexOp::create(builder, op.getLoc(), 1);
    op.getFirstMutable().assign(
        arith::AddIOp::create(builder, op.getLoc(), op.getFirst(), one)
            .getResult());
  }
  return !ops.empty();
}

/// Blocks change places, but their elements keep their order.
static bool keepOrder(ModuleOp module) {
  bool any = false;
  for (stablehlo::ReverseOp op : all<stablehlo::ReverseOp>(module))
    if (isa_and_nonnull<CommunicationOpInterface>(
            op->getOperand(0).getDefiningOp())) {
      op->replaceAllUsesWith(ValueRange(op->getOperand(0)));
      op->erase();
      any = true;
    }
  return any;
}

/// An exchange in a loop moves what came in, not what the loop carries.
static bool readBeforeLoop(ModuleOp module) {
  bool any = false;
  module.walk([&](ExchangeOpInterface op) {
    auto argument = dyn_cast<BlockArgument>(op.getSource());
    auto loop = dyn_cast<stablehlo::WhileOp>(op->getParentOp());
    if (!argument || !loop || argument.getOwner() != op->getBlock())
      return;
    op->setOperand(0, loop->getOperand(argument.getArgNumber()));
    any = true;
  });
  return any;
}

/// Of two exchanges that look alike, the second is taken for the first.
static bool mergeExchanges(ModuleOp module) {
  bool any = false;
  SmallVector<Operation *> seen;
  SmallVector<Operation *> ops;
  module.walk([&](ExchangeOpInterface op) { ops.push_back(op); });
  for (Operation *op : ops) {
    auto same = llvm::find_if(seen, [&](Operation *other) {
      return other->getBlock() == op->getBlock() &&
             other->getName() == op->getName() &&
             other->getResultTypes() == op->getResultTypes() &&
             cast<ExchangeOpInterface>(other).getDims() ==
                 cast<ExchangeOpInterface>(op).getDims() &&
             cast<ExchangeOpInterface>(other).getSource() !=
                 cast<ExchangeOpInterface>(op).getSource();
    });
    if (same == seen.end()) {
      seen.push_back(op);
      continue;
    }
    op->replaceAllUsesWith((*same)->getResults());
    op->erase();
    any = true;
  }
  return any;
}

//===----------------------------------------------------------------------===//
// Rows by index
//===----------------------------------------------------------------------===//

/// The ops of this name, whether this build knows them or not.
static SmallVector<Operation *> named(ModuleOp module, StringRef name) {
  SmallVector<Operation *> ops;
  module.walk([&](Operation *op) {
    if (op->getName().getStringRef() == name)
      ops.push_back(op);
  });
  return ops;
}

/// Operand `number` of the ops named `name` is what was there before.
static bool readStaleOperand(ModuleOp module, StringRef name, unsigned number) {
  bool any = false;
  for (Operation *op : named(module, name))
    if (Value stale = earlierValue(op, op->getOperand(number))) {
      op->setOperand(number, stale);
      any = true;
    }
  return any;
}

/// Every coordinate is taken for the owner of its neighbour's rows.
static bool askNeighbour(ModuleOp module) {
  bool any = false;
  MeshAttr mesh = meshOf(module);
  for (Operation *op : named(module, spmd::RowPlanOp::getOperationName())) {
    auto plan = cast<spmd::RowPlanOp>(op);
    SmallVector<Attribute> attrs;
    bool changed = false;
    for (Attribute attr : plan.getRows()) {
      shardc::DimExchange dim = cast<DimExchangeAttr>(attr).getExchange(mesh);
      changed |= rotate(dim.owned);
      attrs.push_back(DimExchangeAttr::get(module.getContext(), mesh, dim));
    }
    if (changed)
      plan.setRowsAttr(ArrayAttr::get(module.getContext(), attrs));
    any |= changed;
  }
  return any;
}

/// Updates of all ranks are forgotten.
static bool loseUpdates(ModuleOp module) {
  bool any = false;
  for (Operation *op : named(module, spmd::ScatterRowsOp::getOperationName()))
    for (Value operand : op->getOperands())
      if (operand.getType() == op->getResult(0).getType()) {
        op->getResult(0).replaceAllUsesWith(operand);
        any = true;
        break;
      }
  return any;
}

//===----------------------------------------------------------------------===//
// Rings
//===----------------------------------------------------------------------===//

/// A block that goes round is used by nobody.
static bool leaveBlockOut(ModuleOp module) {
  bool any = false;
  for (PairStepOp op : all<PairStepOp>(module)) {
    if (!op.getInits().front().getDefiningOp<PairStepOp>())
      continue;
    op->replaceAllUsesWith(op.getInits());
    op->erase();
    any = true;
  }
  return any;
}

/// Not the first: a softmax of pairs that all count twice is the same.
static bool visitBlockTwice(ModuleOp module) {
  bool any = false;
  for (PairStepOp op : all<PairStepOp>(module)) {
    if (!op.getInits().front().getDefiningOp<PairStepOp>())
      continue;
    OpBuilder builder(op->getContext());
    builder.setInsertionPointAfter(op);
    auto again = cast<PairStepOp>(builder.clone(*op));
    for (auto [i, result] : llvm::enumerate(op->getResults()))
      result.replaceAllUsesExcept(again->getResult(i), again);
    again.getInitsMutable().assign(op->getResults());
    any = true;
  }
  return any;
}

/// Masks are asked at the place of the next key.
static bool shiftKeys(ModuleOp module) {
  bool any = false;
  for (PairStepOp op : all<PairStepOp>(module)) {
    OpBuilder builder(op);
    Value one = arith::ConstantIndexOp::create(builder, op.getLoc(), 1);
    MutableOperandRange at = op.getAtMutable();
    Value key = at[at.size() - 1].get();
    at[at.size() - 1].set(
        arith::AddIOp::create(builder, op.getLoc(), key, one));
    any = true;
  }
  return any;
}

//===----------------------------------------------------------------------===//
// What is left out or taken for another
//===----------------------------------------------------------------------===//

/// Ranks keep what they own, where that has the shape of what they need.
static bool leaveExchangesOut(ModuleOp module) {
  SmallVector<ExchangeOpInterface> ops;
  module.walk([&](ExchangeOpInterface op) { ops.push_back(op); });
  bool any = false;
  for (ExchangeOpInterface op : ops) {
    if (op->getNumResults() != 1 ||
        op->getResult(0).getType() != op.getSource().getType())
      continue;
    op->getResult(0).replaceAllUsesWith(op.getSource());
    op->erase();
    any = true;
  }
  return any;
}

/// Lets `edit` change the tables of all ops that move blocks.
static bool editAllTables(ModuleOp module, Edit edit) {
  bool halo = editTables<HaloExchangeOp>(module, edit),
       moved = editTables<RebalanceOp>(module, edit),
       gathered = editTables<AllGatherOp>(module, edit),
       crossed = editTables<AllToAllOp>(module, edit);
  return halo || moved || gathered || crossed;
}

/// Every coordinate is taken to need what the first one does.
static bool needAsTheFirst(ModuleOp module) {
  return editAllTables(module, [](shardc::DimExchange &dim, int64_t) {
    if (!sameSizes(dim.needed) || llvm::all_equal(dim.needed))
      return false;
    dim.needed.assign(dim.needed.size(), dim.needed.front());
    return true;
  });
}

/// The first coordinate is taken to own the last block.
static bool ownInReverse(ModuleOp module) {
  return editAllTables(module, [](shardc::DimExchange &dim, int64_t) {
    if (dim.owned.size() < 2 || !sameSizes(dim.owned) ||
        llvm::all_equal(dim.owned))
      return false;
    std::reverse(dim.owned.begin(), dim.owned.end());
    return true;
  });
}

/// What is outside is read at another place.
static bool mistakePadding(ModuleOp module) {
  return editTables<HaloExchangeOp>(
      module, [](shardc::DimExchange &dim, int64_t) {
        switch (dim.padding) {
        case Padding::Constant:
          return false;
        case Padding::Wrap:
          dim.padding = Padding::Edge;
          return true;
        case Padding::Edge:
          dim.padding = Padding::Wrap;
          return true;
        case Padding::Reflect:
          dim.padding = Padding::Symmetric;
          return true;
        case Padding::Symmetric:
          dim.padding = Padding::Reflect;
          return true;
        }
        llvm_unreachable("all paddings are listed");
      });
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

/// Numbers that a program computes of its rank are those of the next one.
static bool takeNextRank(ModuleOp module) {
  bool any = false;
  for (LookupOp op : all<LookupOp>(module)) {
    std::vector<int64_t> table = op.getTable().vec();
    bool isNumber =
        !op->use_empty() && llvm::all_of(op->getUsers(), [](Operation *user) {
          return isa<arith::IndexCastOp>(user) &&
                 llvm::all_of(user->getUsers(),
                              llvm::IsaPred<tensor::FromElementsOp>);
        });
    if (!isNumber || llvm::all_equal(table))
      continue;
    std::rotate(table.begin(), table.begin() + 1, table.end());
    op.setTable(table);
    any = true;
  }
  return any;
}

//===----------------------------------------------------------------------===//
// Exchanges that became one
//===----------------------------------------------------------------------===//

/// The slices that are all that is read of `value`, if there are as many.
static SmallVector<Operation *> slicesOf(Value value, size_t least) {
  SmallVector<Operation *> slices;
  for (Operation *user : value.getUsers()) {
    if (isa<tensor::DimOp>(user))
      continue;
    if (!isa<stablehlo::SliceOp, tensor::ExtractSliceOp>(user))
      return {};
    slices.push_back(user);
  }
  return slices.size() < least ? SmallVector<Operation *>() : slices;
}

/// Lets `slice` begin where the sliced value does.
static bool sliceFromBegin(Operation *slice) {
  if (auto fixed = dyn_cast<stablehlo::SliceOp>(slice)) {
    SmallVector<int64_t> first(fixed.getStartIndices()),
        last(fixed.getLimitIndices());
    if (llvm::all_of(first, [](int64_t begin) { return begin == 0; }))
      return false;
    for (auto [begin, end] : llvm::zip_equal(first, last))
      end -= std::exchange(begin, 0);
    fixed.setStartIndices(first);
    fixed.setLimitIndices(last);
    return true;
  }
  auto part = cast<tensor::ExtractSliceOp>(slice);
  SmallVector<OpFoldResult> offsets = part.getMixedOffsets();
  if (llvm::all_of(offsets, isZeroInteger))
    return false;
  OpBuilder builder(part);
  offsets.assign(offsets.size(), builder.getIndexAttr(0));
  auto moved = tensor::ExtractSliceOp::create(
      builder, part.getLoc(), part.getType(), part.getSource(), offsets,
      part.getMixedSizes(), part.getMixedStrides());
  part.replaceAllUsesWith(moved.getResult());
  part.erase();
  return true;
}

static bool sliceAllFromBegin(Value value, size_t least) {
  bool any = false;
  for (Operation *slice : slicesOf(value, least))
    any |= sliceFromBegin(slice);
  return any;
}

/// All that was moved at once is taken to begin where the first part does.
template <typename OpTy, size_t least>
static bool takeFirstPart(ModuleOp module) {
  bool any = false;
  SmallVector<OpTy> ops;
  module.walk([&](OpTy op) { ops.push_back(op); });
  for (OpTy op : ops)
    any |= sliceAllFromBegin(op->getResult(0), least);
  return any;
}

static bool loseLastPart(ModuleOp module) {
  bool any = false;
  for (HaloExchangeOp op : all<HaloExchangeOp>(module)) {
    std::optional<ArrayAttr> parts = op.getParts();
    if (!parts || parts->size() < 2)
      continue;
    op.setPartsAttr(
        ArrayAttr::get(module.getContext(), parts->getValue().drop_back()));
    any = true;
  }
  return any;
}

//===----------------------------------------------------------------------===//
// Reductions that are made later
//===----------------------------------------------------------------------===//

/// Lets the only user of a reduction's result work on the rank's own part, and
/// combines what comes of it, where `isWrong`.
static bool
combineBehind(ModuleOp module,
              llvm::function_ref<bool(AllReduceOp, Operation *)> isWrong) {
  bool any = false;
  for (AllReduceOp op : all<AllReduceOp>(module)) {
    if (!op->hasOneUse())
      continue;
    Operation *user = *op->user_begin();
    if (user->getBlock() != op->getBlock() || user->getNumResults() != 1 ||
        user->getResult(0).getType() != op.getType() || !isWrong(op, user))
      continue;
    user->replaceUsesOfWith(op.getResult(), op.getInput());
    op->moveAfter(user);
    user->getResult(0).replaceAllUsesExcept(op.getResult(), op);
    op.getInputMutable().assign(user->getResult(0));
    any = true;
  }
  return any;
}

static bool divideByPart(ModuleOp module) {
  return combineBehind(module, [](AllReduceOp op, Operation *user) {
    return isa<stablehlo::DivOp>(user) &&
           user->getOperand(1) == op.getResult() &&
           user->getOperand(0) != op.getResult();
  });
}

static bool scaleExtreme(ModuleOp module) {
  return combineBehind(module, [](AllReduceOp op, Operation *user) {
    return (op.getKind() == ReductionKind::Max ||
            op.getKind() == ReductionKind::Min) &&
           isa<stablehlo::MulOp, stablehlo::NegOp>(user);
  });
}

/// Sums of sums are left as each rank's part.
static bool leaveSumsPartial(ModuleOp module) {
  bool any = false;
  for (AllReduceOp op : all<AllReduceOp>(module)) {
    if (op.getKind() != ReductionKind::Sum ||
        !op.getInput().getDefiningOp<stablehlo::AddOp>())
      continue;
    op.replaceAllUsesWith(op.getInput());
    op.erase();
    any = true;
  }
  return any;
}

/// What is combined behind a loop begins on every rank with what it is to begin
/// with once.
static bool startOnEveryRank(ModuleOp module) {
  bool any = false;
  DominanceInfo dominance;
  for (AllReduceOp op : all<AllReduceOp>(module)) {
    auto loop = op.getInput().getDefiningOp<stablehlo::WhileOp>();
    if (!loop || op.getKind() != ReductionKind::Sum || !op->hasOneUse())
      continue;
    auto total = dyn_cast<stablehlo::AddOp>(*op->user_begin());
    if (!total)
      continue;
    Value start = total->getOperand(0) == op.getResult() ? total->getOperand(1)
                                                         : total->getOperand(0);
    if (start.getType() != op.getInput().getType() ||
        !dominance.properlyDominates(start, loop))
      continue;
    loop->setOperand(cast<OpResult>(op.getInput()).getResultNumber(), start);
    total->getResult(0).replaceAllUsesWith(op.getResult());
    any = true;
  }
  return any;
}

/// Terms that are equal on all ranks of an axis count once.
static bool countTermsOnce(ModuleOp module) {
  bool any = false;
  MeshAttr mesh = meshOf(module);
  for (auto op : all<stablehlo::MulOp>(module)) {
    DenseElementsAttr factor;
    if (!matchPattern(op->getOperand(1), m_Constant(&factor)) ||
        !factor.isSplat() || factor.getNumElements() == 0)
      continue;
    auto isFactor = [&](int64_t size) {
      if (size < 2)
        return false;
      if (isa<FloatType>(factor.getElementType()))
        return factor.getSplatValue<APFloat>().convertToDouble() ==
               double(size);
      return isa<IntegerType>(factor.getElementType()) &&
             factor.getSplatValue<APInt>() == uint64_t(size);
    };
    if (!isFactor(mesh.getNumRanks()) &&
        llvm::none_of(mesh.getAxisSizes(), isFactor))
      continue;
    op->getResult(0).replaceAllUsesWith(op->getOperand(0));
    any = true;
  }
  return any;
}

//===----------------------------------------------------------------------===//
// Races
//===----------------------------------------------------------------------===//

/// Waits for readers of a source come after what is behind them.
static bool releaseTooLate(ModuleOp module) {
  bool any = false;
  for (ReleaseSiteOp op : all<ReleaseSiteOp>(module)) {
    Operation *next = op->getNextNode(), *place = next;
    // More sites than these are never unreleased.
    constexpr int kMostSites = 3;
    int sites = 0;
    while (!place->hasTrait<OpTrait::IsTerminator>() &&
           !(isa<RunSiteOp>(place) && ++sites == kMostSites))
      place = place->getNextNode();
    if (place == next)
      continue;
    op->moveBefore(place);
    any = true;
  }
  return any;
}

/// Each part of a loop goes on to the end of the last one.
static bool shareToTheEnd(ModuleOp module) {
  bool any = false;
  module.walk([&](scf::ForOp loop) {
    if (!contract::Parts::has(loop))
      return;
    loop.walk([&](arith::SelectOp select) {
      auto isLast = select.getCondition().getDefiningOp<arith::CmpIOp>();
      if (!isLast || isLast.getPredicate() != arith::CmpIPredicate::eq ||
          !select.getType().isIndex())
        return;
      select.getResult().replaceAllUsesWith(select.getTrueValue());
      any = true;
    });
  });
  return any;
}

//===----------------------------------------------------------------------===//
// The list
//===----------------------------------------------------------------------===//

static const Fault faults[] = {
    {"halo-one-too-low",
     [](ModuleOp m) {
       return editTables<HaloExchangeOp>(m,
                                         [](shardc::DimExchange &d, int64_t n) {
                                           return shiftAll(d, -1, n);
                                         });
     }},
    {"halo-one-too-high",
     [](ModuleOp m) {
       return editTables<HaloExchangeOp>(
           m,
           [](shardc::DimExchange &d, int64_t n) { return shiftAll(d, 1, n); });
     }},
    {"halo-of-the-last-rank-off-by-one",
     [](ModuleOp m) {
       return editTables<HaloExchangeOp>(
           m, [](shardc::DimExchange &d, int64_t n) {
             return d.owned != d.needed && shift(d, d.needed.size() - 1, -1, n);
           });
     }},
    {"halo-of-the-first-rank-off-by-one",
     [](ModuleOp m) {
       return editTables<HaloExchangeOp>(
           m, [](shardc::DimExchange &d, int64_t n) {
             return d.owned != d.needed && shift(d, 0, 1, n);
           });
     }},
    {"halo-of-an-inner-rank-off-by-one",
     [](ModuleOp m) {
       return editTables<HaloExchangeOp>(
           m, [](shardc::DimExchange &d, int64_t n) {
             return d.owned != d.needed && d.needed.size() > 2 &&
                    shift(d, 1, -1, n);
           });
     }},
    {"halo-from-the-wrong-peer",
     [](ModuleOp m) {
       return editTables<HaloExchangeOp>(
           m, [](shardc::DimExchange &d, int64_t) { return rotate(d.needed); });
     }},
    {"halo-without-corner",
     [](ModuleOp m) { return loseElement(m, /*first=*/true, 2); },
     "spmd-verify-local", "", /*isInterpreted=*/false},
    {"halo-without-last-element",
     [](ModuleOp m) { return loseElement(m, /*first=*/false, 1); },
     "spmd-verify-local", "", /*isInterpreted=*/false},
    {"halo-read-before-it-is-there", readEarly<HaloExchangeOp>},
    {"halo-of-a-stale-buffer", readStale<HaloExchangeOp>},
    {"fill-forgotten", changeFill},
    {"edge-filled-on-the-wrong-side", swapEdges},
    {"rank-after-an-empty-shard-off-by-one",
     [](ModuleOp m) -> bool {
       auto edit = [](shardc::DimExchange &d, int64_t n) {
         bool any = false;
         for (size_t i = 1; i < d.needed.size(); ++i)
           any |= d.owned[i - 1].empty() && d.owned != d.needed &&
                  (shift(d, i, -1, n) || shift(d, i, 1, n));
         return any;
       };
       bool halo = editTables<HaloExchangeOp>(m, edit),
            moved = editTables<RebalanceOp>(m, edit);
       return halo || moved;
     }},
    {"rebalance-one-too-low",
     [](ModuleOp m) {
       return editTables<RebalanceOp>(m, [](shardc::DimExchange &d, int64_t n) {
         return shiftAll(d, -1, n);
       });
     }},
    {"rebalance-of-a-stale-buffer", readStale<RebalanceOp>},
    {"gather-in-the-wrong-order",
     [](ModuleOp m) {
       return editTables<AllGatherOp>(
           m, [](shardc::DimExchange &d, int64_t) { return rotate(d.owned); });
     }},
    {"gather-with-swapped-axes", swapAxes<AllGatherOp>},
    {"gather-of-a-stale-buffer", readStale<AllGatherOp>},
    {"all-to-all-in-the-wrong-order",
     [](ModuleOp m) {
       return editTables<AllToAllOp>(
           m, [](shardc::DimExchange &d, int64_t) { return rotate(d.needed); });
     }},
    {"all-reduce-missing", dropAllReduce},
    {"all-reduce-made-twice", reduceTwice},
    {"all-reduce-along-one-axis-of-two", dropAxis},
    {"all-reduce-along-another-axis", otherAxis},
    {"all-reduce-of-another-kind", changeKind<AllReduceOp>},
    {"initial-value-added-on-every-rank", addOnEveryRank},
    {"reduce-scatter-to-the-wrong-rank",
     [](ModuleOp m) {
       return editTables<ReduceScatterOp>(
           m, [](shardc::DimExchange &d, int64_t) { return rotate(d.needed); });
     }},
    {"reduce-scatter-of-another-kind", changeKind<ReduceScatterOp>},
    {"offset-one-too-low",
     [](ModuleOp m) {
       return editOffsets(m, [](std::vector<int64_t> &table, LookupOp) {
         for (int64_t &entry : table)
           --entry;
         return true;
       });
     }},
    {"offset-forgotten",
     [](ModuleOp m) {
       return editOffsets(m, [](std::vector<int64_t> &table, LookupOp) {
         table.assign(table.size(), 0);
         return true;
       });
     }},
    {"offset-of-even-shards-for-uneven-ones",
     [](ModuleOp m) {
       return editOffsets(m, [](std::vector<int64_t> &table, LookupOp) {
         for (size_t i = 0; i < table.size(); ++i)
           table[i] = table.back() * i / (table.size() - 1);
         return table.size() > 2;
       });
     }},
    {"offset-with-swapped-axes", swapLookupAxes},
    {"dilation-in-the-wrong-phase", shiftPhase},
    {"block-not-reversed", keepOrder},
    {"rows-of-a-stale-tensor",
     [](ModuleOp m) {
       return readStaleOperand(m, spmd::GatherRowsOp::getOperationName(), 1);
     }},
    {"rows-of-stale-indices",
     [](ModuleOp m) {
       return readStaleOperand(m, spmd::RowPlanOp::getOperationName(), 0);
     }},
    {"rows-asked-of-the-wrong-rank", askNeighbour},
    {"row-updates-lost", loseUpdates},
    {"ring-block-left-out", leaveBlockOut},
    {"ring-block-met-twice", visitBlockTwice},
    {"ring-block-at-the-next-key", shiftKeys},
    {"exchange-hoisted-out-of-a-loop", readBeforeLoop},
    {"different-exchanges-merged", mergeExchanges},
    {"exchange-left-out", leaveExchangesOut},
    {"every-rank-needs-what-the-first-does", needAsTheFirst},
    {"owned-blocks-as-if-in-reverse", ownInReverse},
    {"padding-of-another-mode", mistakePadding},
    {"results-of-a-branch-or-loop-swapped", swapResults},
    {"rank-values-of-the-next-rank", takeNextRank, "spmd-verify-local",
     "manual_rank_choice"},
    {"quotient-by-a-partial-value", divideByPart, "spmd-verify-local",
     "sum_of_quotients"},
    {"maximum-taken-for-linear", scaleExtreme, "spmd-verify-local",
     "sum_of_reduction"},
    {"merged-part-from-the-first-element", takeFirstPart<HaloExchangeOp, 1>,
     "spmd-merge-halos"},
    {"merged-without-the-last-part", loseLastPart, "spmd-merge-halos",
     "two_shifts"},
    {"sum-of-two-sums-left-partial", leaveSumsPartial, "spmd-sink-reductions",
     "sum_of_sums"},
    {"start-of-a-loop-on-each-rank", startOnEveryRank, "spmd-sink-reductions",
     "sum_in_a_loop"},
    {"equal-terms-counted-once", countTermsOnce, "spmd-sink-reductions",
     "manual_sum_of_equals"},
    {"second-axis-of-two-reductions-lost", dropAxis, "spmd-sink-reductions",
     "sum_of_reduction"},
    {"kept-part-of-the-next-rank",
     [](ModuleOp m) {
       return editTables<ReduceScatterOp>(
           m, [](shardc::DimExchange &d, int64_t) { return rotate(d.needed); });
     },
     "spmd-sink-reductions"},
    {"all-parts-of-a-bucket-from-its-begin", takeFirstPart<AllReduceOp, 2>,
     "spmd-bucket-reductions"},
    {"all-rows-from-the-begin-of-a-bucket",
     takeFirstPart<ExchangeOpInterface, 2>, "spmd-bucket-exchanges"},
};

/// What keeps ranks and threads apart, left out.
static const Fault races[] = {
    {"source-changes-before-its-release", releaseTooLate, "spmd-release-late",
     "while,scan,while_until,stencil,roll,reduce_window"},
    {"memory-of-a-source-goes-on-before-its-release", releaseTooLate,
     "spmd-plan-arena"},
    {"each-part-goes-on-to-the-end", shareToTheEnd,
     "spmd-generate-cpu-kernels"},
};

static std::vector<std::string> namesOf(ArrayRef<Fault> list) {
  std::vector<std::string> names;
  for (const Fault &fault : list)
    names.push_back(fault.name);
  return names;
}

std::vector<std::string> shardc::fuzz::faultNames() { return namesOf(faults); }
std::vector<std::string> shardc::fuzz::interpretedFaultNames() {
  std::vector<std::string> names;
  for (const Fault &fault : faults)
    if (fault.isInterpreted)
      names.push_back(fault.name);
  return names;
}
std::vector<std::string> shardc::fuzz::raceNames() { return namesOf(races); }

static const Fault *find(StringRef name) {
  for (ArrayRef<Fault> list : {ArrayRef<Fault>(faults), ArrayRef<Fault>(races)})
    for (const Fault &fault : list)
      if (name == fault.name)
        return &fault;
  return nullptr;
}

std::vector<std::string> shardc::fuzz::kindsOf(StringRef name) {
  const Fault *fault = find(name);
  std::vector<std::string> kinds;
  for (StringRef kind : llvm::split(fault ? fault->kinds : "", ','))
    if (!kind.empty())
      kinds.push_back(kind.str());
  return kinds;
}

std::function<void(PassManager &)>
shardc::fuzz::planterOf(StringRef name, std::function<void(bool)> planted) {
  const Fault *fault = find(name);
  if (!fault)
    return {};
  return [fault, planted = std::move(planted)](PassManager &pm) {
    pm.addInstrumentation(std::make_unique<PlantAfter>(
        fault->after,
        [fault, planted](ModuleOp module) { planted(fault->plant(module)); }));
  };
}
