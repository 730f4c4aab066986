//===- Ranks.cpp - What differs by rank -----------------------------------===//

#include "Plant.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "shardc/Dialect/Pairs/IR/Pairs.h"
#include "shardc/Dialect/StableHLO/IR/StableHLO.h"

using namespace mlir;
using namespace shardc;
using namespace shardc::fuzz;
using namespace shardc::spmd;

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

ArrayRef<Fault> shardc::fuzz::rankFaults() {
  static const Fault faults[] = {
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
      {"rank-values-of-the-next-rank", takeNextRank, "spmd-verify-local",
       "manual_rank_choice"},
  };
  return faults;
}
