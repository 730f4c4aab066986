//===- Tables.cpp - Exchanges that move other blocks ----------------------===//

#include "Plant.h"
#include "shardc/Dialect/StableHLO/IR/StableHLO.h"

using namespace mlir;
using namespace shardc;
using namespace shardc::fuzz;
using namespace shardc::spmd;

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

template <typename OpTy> static bool swapAxes(ModuleOp module) {
  MeshAttr mesh = meshOf(module);
  return editTables<OpTy>(module, [&](shardc::DimExchange &dim, int64_t) {
    return dim.axes.size() == 2 && sameSizes(dim.owned) &&
           transposeTable(dim.owned, mesh.getAxisSizes()[dim.axes[0]],
                          mesh.getAxisSizes()[dim.axes[1]]);
  });
}

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

ArrayRef<Fault> shardc::fuzz::tableFaults() {
  static const Fault faults[] = {
      {"halo-one-too-low",
       [](ModuleOp m) {
         return editTables<HaloExchangeOp>(
             m, [](shardc::DimExchange &d, int64_t n) {
               return shiftAll(d, -1, n);
             });
       }},
      {"halo-one-too-high",
       [](ModuleOp m) {
         return editTables<HaloExchangeOp>(
             m, [](shardc::DimExchange &d, int64_t n) {
               return shiftAll(d, 1, n);
             });
       }},
      {"halo-of-the-last-rank-off-by-one",
       [](ModuleOp m) {
         return editTables<HaloExchangeOp>(m, [](shardc::DimExchange &d,
                                                 int64_t n) {
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
             m,
             [](shardc::DimExchange &d, int64_t) { return rotate(d.needed); });
       }},
      {"halo-of-a-stale-buffer", readStale<HaloExchangeOp>},
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
         return editTables<RebalanceOp>(m,
                                        [](shardc::DimExchange &d, int64_t n) {
                                          return shiftAll(d, -1, n);
                                        });
       }},
      {"rebalance-of-a-stale-buffer", readStale<RebalanceOp>},
      {"gather-in-the-wrong-order",
       [](ModuleOp m) {
         return editTables<AllGatherOp>(m, [](shardc::DimExchange &d, int64_t) {
           return rotate(d.owned);
         });
       }},
      {"gather-with-swapped-axes", swapAxes<AllGatherOp>},
      {"gather-of-a-stale-buffer", readStale<AllGatherOp>},
      {"all-to-all-in-the-wrong-order",
       [](ModuleOp m) {
         return editTables<AllToAllOp>(m, [](shardc::DimExchange &d, int64_t) {
           return rotate(d.needed);
         });
       }},
      {"exchange-left-out", leaveExchangesOut},
      {"every-rank-needs-what-the-first-does", needAsTheFirst},
      {"owned-blocks-as-if-in-reverse", ownInReverse},
      {"padding-of-another-mode", mistakePadding},
      {"different-exchanges-merged", mergeExchanges},
      {"exchange-hoisted-out-of-a-loop", readBeforeLoop},
  };
  return faults;
}
