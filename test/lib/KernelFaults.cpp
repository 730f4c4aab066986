//===- KernelFaults.cpp - Kernels made wrong, to see whether it is found --===//
//
// What a programmer of kernels forgets or mixes up, done to kernels that are
// right, as ops of the NVVM dialect: shard-run-planted is shard-run with this
// in it, and has --plant-fault. Tests plant each and expect the emulator to
// report it, or results to differ, in one schedule at least.
//
//===----------------------------------------------------------------------===//
#include "../../tools/shard-run/Options.h"
#include "PlantAfter.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/IR/Matchers.h"
#include "shardc/KernelGen/GPU.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/CommandLine.h"
#include <cstdlib>

using namespace mlir;

namespace shardc {

/// A constant of the type of `like`.
static Value constantOf(OpBuilder &b, Value like, int64_t number) {
  return LLVM::ConstantOp::create(b, like.getLoc(), like.getType(),
                                  b.getIntegerAttr(like.getType(), number));
}

/// Sets `operand`, a constant, to what `change` makes of it.
static void changeConstant(OpBuilder &b, OpOperand &operand,
                           llvm::function_ref<int64_t(int64_t)> change) {
  APInt number;
  matchPattern(operand.get(), m_ConstantInt(&number));
  operand.set(constantOf(b, operand.get(), change(number.getSExtValue())));
}

static void addTo(OpBuilder &b, OpOperand &operand, int64_t number) {
  Value more = constantOf(b, operand.get(), number);
  operand.set(LLVM::AddOp::create(b, more.getLoc(), operand.get(), more));
}

static NVVM::MMALayout other(NVVM::MMALayout layout) {
  return layout == NVVM::MMALayout::col ? NVVM::MMALayout::row
                                        : NVVM::MMALayout::col;
}

/// A condition that says whether something is inside an edge.
static bool isEdge(Value condition) {
  if (auto both = condition.getDefiningOp<LLVM::AndOp>())
    return isEdge(both.getLhs()) || isEdge(both.getRhs());
  auto compare = condition.getDefiningOp<LLVM::ICmpOp>();
  return compare && compare.getPredicate() == LLVM::ICmpPredicate::ult;
}

namespace {
/// A kind of fault. Each `plant` returns false for an op that it cannot be done
/// to; else does it, where `really`.
struct Fault {
  StringLiteral name;
  bool (*plant)(Operation *op, bool really);
};
} // namespace

/// Lets `change(op, builder)` be done to ops of a kind that `fits` takes.
template <typename Op, typename Change, typename Fits>
static bool change(Operation *op, bool really, Change change, Fits fits) {
  auto one = dyn_cast<Op>(op);
  if (!one || !fits(one))
    return false;
  if (really) {
    OpBuilder b(op);
    change(one, b);
  }
  return true;
}
template <typename Op, typename Change>
static bool change(Operation *op, bool really, Change doIt) {
  return change<Op>(op, really, doIt, [](Op) { return true; });
}
template <typename Op> static bool drop(Operation *op, bool really) {
  return change<Op>(op, really, [](Op one, OpBuilder &) { one->erase(); });
}

/// Lets `change` be done to loads or stores of flags, which are atomic.
template <typename Op, typename Change>
static bool changeFlag(Operation *op, bool really, Change doIt) {
  return change<Op>(op, really, doIt, [](Op access) {
    return access.getOrdering() != LLVM::AtomicOrdering::not_atomic;
  });
}

using NVVM::CpAsyncBulkTensorGlobalToSharedClusterOp;
static const Fault kFaults[] = {
    {"barrier",
     [](Operation *op, bool really) {
       return drop<NVVM::Barrier0Op>(op, really) ||
              drop<NVVM::BarrierOp>(op, really);
     }},
    {"warp-barrier", drop<NVVM::SyncWarpOp>},
    // Copies.
    {"copy", drop<NVVM::CpAsyncOp>},
    {"copy-commit", drop<NVVM::CpAsyncCommitGroupOp>},
    {"copy-wait", drop<NVVM::CpAsyncWaitGroupOp>},
    {"copy-wait-late",
     [](Operation *op, bool really) {
       return change<NVVM::CpAsyncWaitGroupOp>(
           op, really,
           [](auto wait, OpBuilder &) { wait.setN(wait.getN() + 1); });
     }},
    // Edges and places.
    {"edge",
     [](Operation *op, bool really) {
       return change<LLVM::CondBrOp>(
           op, really,
           [](auto branch, OpBuilder &b) {
             branch.getConditionMutable().assign(
                 constantOf(b, branch.getCondition(), 1));
           },
           [](auto branch) { return isEdge(branch.getCondition()); });
     }},
    {"swizzle",
     [](Operation *op, bool really) {
       return change<LLVM::XOrOp>(
           op, really,
           [](auto swap, OpBuilder &) {
             swap.getResult().replaceAllUsesWith(swap.getLhs());
           },
           [](auto swap) {
             return swap.getType().isInteger(64) &&
                    !matchPattern(swap.getRhs(), m_Constant());
           });
     }},
    {"shared-store",
     [](Operation *op, bool really) {
       return change<LLVM::StoreOp>(
           op, really, [](auto store, OpBuilder &) { store->erase(); },
           [](auto store) {
             return cast<LLVM::LLVMPointerType>(store.getAddr().getType())
                        .getAddressSpace() == 3;
           });
     }},
    {"store-place",
     [](Operation *op, bool really) {
       return change<LLVM::StoreOp>(op, really, [](auto store, OpBuilder &b) {
         Value next =
             LLVM::GEPOp::create(b, store.getLoc(), store.getAddr().getType(),
                                 store.getValue().getType(), store.getAddr(),
                                 ArrayRef<LLVM::GEPArg>{1});
         store.getAddrMutable().assign(next);
       });
     }},
    // Warps.
    {"shuffle-distance",
     [](Operation *op, bool really) {
       return change<NVVM::ShflOp>(
           op, really,
           [](auto shuffle, OpBuilder &b) {
             changeConstant(b, shuffle.getOffsetMutable(),
                            [](int64_t by) { return by > 1 ? by / 2 : 2; });
           },
           [](auto shuffle) {
             return matchPattern(shuffle.getOffset(), m_Constant());
           });
     }},
    {"matrix-direction",
     [](Operation *op, bool really) {
       return change<NVVM::LdMatrixOp>(op, really, [](auto load, OpBuilder &) {
         load.setLayout(other(load.getLayout()));
       });
     }},
    {"fragment",
     [](Operation *op, bool really) {
       return change<NVVM::MmaOp>(op, really, [](auto multiply, OpBuilder &) {
         Value one = multiply->getOperand(1);
         multiply->setOperand(1, multiply->getOperand(2));
         multiply->setOperand(2, one);
       });
     }},
    // Blocks that wait for one another.
    {"ticket",
     [](Operation *op, bool really) {
       return change<LLVM::AtomicRMWOp>(
           op, really, [](auto ticket, OpBuilder &b) {
             Value block =
                 NVVM::BlockIdXOp::create(b, ticket.getLoc(), ticket.getType());
             ticket.getResult().replaceAllUsesWith(block);
           });
     }},
    {"flag",
     [](Operation *op, bool really) {
       return changeFlag<LLVM::StoreOp>(
           op, really, [](auto flag, OpBuilder &) { flag->erase(); });
     }},
    {"flag-release",
     [](Operation *op, bool really) {
       return changeFlag<LLVM::StoreOp>(op, really, [](auto flag, OpBuilder &) {
         flag.setOrdering(LLVM::AtomicOrdering::monotonic);
       });
     }},
    {"flag-wait",
     [](Operation *op, bool really) {
       return changeFlag<LLVM::LoadOp>(op, really, [](auto flag, OpBuilder &b) {
         flag.getResult().replaceAllUsesWith(
             constantOf(b, flag.getResult(), INT32_MAX)); // set or counted
         flag->erase();
       });
     }},
    {"flag-fence", drop<LLVM::FenceOp>},
    // mbarriers and TMA copies.
    {"mbarrier-wait",
     [](Operation *op, bool really) {
       return change<NVVM::MBarrierTryWaitOp>(
           op, really, [](auto wait, OpBuilder &b) {
             wait.getRes().replaceAllUsesWith(constantOf(b, wait.getRes(), 1));
             wait->erase();
           });
     }},
    {"mbarrier-phase",
     [](Operation *op, bool really) {
       return change<NVVM::MBarrierTryWaitOp>(
           op, really, [](auto wait, OpBuilder &b) {
             addTo(b, wait.getStateOrPhaseMutable(), 1);
           });
     }},
    {"mbarrier-arrive", drop<NVVM::MBarrierArriveOp>},
    {"mbarrier-count",
     [](Operation *op, bool really) {
       return change<NVVM::MBarrierInitOp>(
           op, really, [](auto init, OpBuilder &b) {
             addTo(b, init.getCountMutable(), 1);
           });
     }},
    {"mbarrier-fewer",
     [](Operation *op, bool really) {
       return change<NVVM::MBarrierInitOp>(
           op, really,
           [](auto init, OpBuilder &b) {
             changeConstant(b, init.getCountMutable(),
                            [](int64_t) { return 1; });
           },
           [](auto init) {
             return matchPattern(init.getCount(), m_Constant()) &&
                    !matchPattern(init.getCount(), m_One());
           });
     }},
    {"mbarrier-bytes",
     [](Operation *op, bool really) {
       return change<NVVM::MBarrierArriveExpectTxOp>(
           op, really, [](auto arrive, OpBuilder &b) {
             addTo(b, arrive.getTxcountMutable(), -128);
           });
     }},
    {"mbarrier-fence", drop<NVVM::FenceMbarrierInitOp>},
    {"store-fence", drop<NVVM::FenceProxyOp>},
    {"bulk-copy", drop<CpAsyncBulkTensorGlobalToSharedClusterOp>},
    {"bulk-copy-place",
     [](Operation *op, bool really) {
       return change<CpAsyncBulkTensorGlobalToSharedClusterOp>(
           op, really, [](auto copy, OpBuilder &) {
             unsigned at = copy.getCoordinates().getBeginOperandIndex();
             Value first = copy->getOperand(at);
             copy->setOperand(at, copy->getOperand(at + 1));
             copy->setOperand(at + 1, first);
           });
     }},
    {"windows-offset",
     [](Operation *op, bool really) {
       return change<CpAsyncBulkTensorGlobalToSharedClusterOp>(
           op, really,
           [](auto copy, OpBuilder &) {
             unsigned at = copy.getIm2colOffsets().getBeginOperandIndex();
             Value first = copy->getOperand(at);
             copy->setOperand(at, copy->getOperand(at + 1));
             copy->setOperand(at + 1, first);
           },
           [](auto copy) { return copy.getIm2colOffsets().size() > 1; });
     }},
    // Products of warpgroups.
    {"product-fence", drop<NVVM::WgmmaFenceAlignedOp>},
    {"product-commit", drop<NVVM::WgmmaGroupSyncAlignedOp>},
    {"product-wait", drop<NVVM::WgmmaWaitGroupSyncOp>},
    {"product-wait-late",
     [](Operation *op, bool really) {
       return change<NVVM::WgmmaWaitGroupSyncOp>(
           op, really,
           [](auto wait, OpBuilder &) { wait.setGroup(wait.getGroup() + 1); });
     }},
    {"product-direction",
     [](Operation *op, bool really) {
       return change<NVVM::WgmmaMmaAsyncOp>(
           op, really, [](auto product, OpBuilder &) {
             product.setLayoutB(other(product.getLayoutB()));
           });
     }},
    // Of 8-bit floats the other kind.
    {"product-type",
     [](Operation *op, bool really) {
       auto isE4M3 = [](NVVM::WgmmaMmaAsyncOp product) {
         return product.getTypeA() == NVVM::WGMMATypes::e4m3;
       };
       return change<NVVM::WgmmaMmaAsyncOp>(
           op, really,
           [](auto product, OpBuilder &) {
             product.setTypeA(NVVM::WGMMATypes::e5m2);
           },
           isE4M3);
     }},
    {"product-descriptor",
     [](Operation *op, bool really) {
       return change<NVVM::WgmmaMmaAsyncOp>(
           op, really, [](auto product, OpBuilder &b) {
             addTo(b, product.getDescriptorAMutable(), 1);
           });
     }},
    {"product-fragment",
     [](Operation *op, bool really) {
       return change<LLVM::InlineAsmOp>(
           op, really,
           [](auto product, OpBuilder &) {
             Value one = product->getOperand(2);
             product->setOperand(2, product->getOperand(3));
             product->setOperand(3, one);
           },
           [](auto product) { return product->getNumOperands() == 6; });
     }},
    {"product-stride",
     [](Operation *op, bool really) {
       return change<NVVM::WgmmaMmaAsyncOp>(
           op, really, [](auto product, OpBuilder &b) {
             addTo(b, product.getDescriptorBMutable(), int64_t(1) << 32);
           });
     }},
    // Clusters.
    {"cluster-barrier",
     [](Operation *op, bool really) {
       return change<NVVM::ClusterArriveOp>(op, really,
                                            [](auto arrive, OpBuilder &) {
                                              arrive->getNextNode()->erase();
                                              arrive->erase();
                                            });
     }},
    {"cluster-block",
     [](Operation *op, bool really) {
       return change<NVVM::MapaOp>(op, really, [](auto map, OpBuilder &b) {
         changeConstant(b, map.getBMutable(),
                        [](int64_t rank) { return rank ^ 1; });
       });
     }},
    {"bulk-copy-alone",
     [](Operation *op, bool really) {
       return change<CpAsyncBulkTensorGlobalToSharedClusterOp>(
           op, really, [](auto copy, OpBuilder &) { copy.removeGroupAttr(); },
           [](auto copy) { return copy.getGroup().has_value(); });
     }},
    {"bulk-copy-blocks",
     [](Operation *op, bool really) {
       return change<CpAsyncBulkTensorGlobalToSharedClusterOp>(
           op, really,
           [](auto copy, OpBuilder &b) {
             changeConstant(b, copy.getMulticastMaskMutable()[0],
                            [](int64_t) { return 1; });
           },
           [](auto copy) { return copy.getMulticastMask() != nullptr; });
     }},
    {"commit-alone",
     [](Operation *op, bool really) {
       return change<NVVM::Tcgen05CommitOp>(
           op, really,
           [](auto commit, OpBuilder &b) {
             changeConstant(b, commit.getMulticastMaskMutable()[0],
                            [](int64_t) { return 1; });
           },
           [](auto commit) {
             return static_cast<bool>(commit.getMulticastMask());
           });
     }},
    // Tensor memory.
    {"tensor-wait", drop<NVVM::Tcgen05WaitOp>},
    {"tensor-commit", drop<NVVM::Tcgen05CommitOp>},
    {"tensor-fence", drop<NVVM::Tcgen05FenceOp>},
    {"tensor-release", drop<NVVM::Tcgen05DeallocOp>},
    {"tensor-columns",
     [](Operation *op, bool really) {
       return change<NVVM::Tcgen05AllocOp>(
           op, really, [](auto alloc, OpBuilder &b) {
             changeConstant(b, alloc.getNColsMutable(),
                            [](int64_t columns) { return columns / 2; });
           });
     }},
    {"tensor-lane",
     [](Operation *op, bool really) {
       return change<NVVM::Tcgen05LdOp>(
           op, really, [](auto load, OpBuilder &b) {
             Location loc = load.getLoc();
             Value word = LLVM::PtrToIntOp::create(b, loc, b.getI32Type(),
                                                   load.getTmemAddr());
             Value columns =
                 LLVM::AndOp::create(b, loc, word, constantOf(b, word, 0xffff));
             load.getTmemAddrMutable().assign(LLVM::IntToPtrOp::create(
                 b, loc, load.getTmemAddr().getType(), columns));
           });
     }},
    {"tensor-adds",
     [](Operation *op, bool really) {
       return change<NVVM::Tcgen05MMAOp>(
           op, really, [](auto product, OpBuilder &b) {
             Value adds = product.getEnableInputD();
             product.getEnableInputDMutable().assign(LLVM::XOrOp::create(
                 b, adds.getLoc(), adds, constantOf(b, adds, 1)));
           });
     }},
    {"tensor-direction",
     [](Operation *op, bool really) {
       return change<NVVM::Tcgen05MMAOp>(
           op, really, [](auto product, OpBuilder &b) {
             changeConstant(b, product.getIdescMutable(), [](int64_t bits) {
               return bits ^ int64_t(1) << 16;
             });
           });
     }},
    {"tensor-type",
     [](Operation *op, bool really) {
       return change<NVVM::Tcgen05MMAOp>(
           op, really, [](auto product, OpBuilder &b) {
             changeConstant(b, product.getIdescMutable(), [](int64_t bits) {
               return bits ^ int64_t(1) << 10;
             });
           });
     }},
    {"tensor-descriptor",
     [](Operation *op, bool really) {
       return change<NVVM::Tcgen05MMAOp>(
           op, really, [](auto product, OpBuilder &b) {
             Value left = product.getMatrixA();
             if (left.getType().isInteger())
               return addTo(b, product.getMatrixAMutable(), 1);
             // An address of tensor memory.
             Value next = LLVM::GEPOp::create(b, left.getLoc(), left.getType(),
                                              b.getI8Type(), left,
                                              ArrayRef<LLVM::GEPArg>{1});
             product.getMatrixAMutable().assign(next);
           });
     }},
    {"tensor-store", drop<NVVM::Tcgen05StOp>},
    {"tensor-stride",
     [](Operation *op, bool really) {
       return change<NVVM::Tcgen05MMAOp>(
           op, really, [](auto product, OpBuilder &b) {
             addTo(b, product.getMatrixBMutable(), int64_t(1) << 32);
           });
     }},
};

/// The fault that `text` names, and which of its places.
static std::pair<const Fault *, int64_t> readFault(StringRef text) {
  auto [name, place] = text.split(':');
  int64_t number = 0;
  const Fault *kind = llvm::find_if(
      kFaults, [name = name](const Fault &one) { return one.name == name; });
  bool isRead = place.empty() || !place.getAsInteger(10, number);
  return {kind != std::end(kFaults) && isRead ? kind : nullptr, number};
}

/// Ends the process: what follows would say nothing of the fault.
[[noreturn]] static void end(const llvm::Twine &why) {
  llvm::errs() << "error: " << why << "\n";
  std::_Exit(2);
}

static void plantKernelFault(ModuleOp module, StringRef text) {
  auto [kind, number] = readFault(text);
  if (!kind) {
    auto names = llvm::map_range(
        kFaults, [](const Fault &one) -> StringRef { return one.name; });
    end("unknown fault '" + text + "': expected KIND or KIND:NUMBER, of " +
        llvm::join(names, ", "));
  }
  SmallVector<Operation *> places;
  if (auto kernels = module.lookupSymbol<gpu::GPUModuleOp>(kKernelModuleName))
    kernels.walk([&, kind = kind](Operation *op) {
      if (kind->plant(op, /*really=*/false))
        places.push_back(op);
    });
  if (number < 0 || number >= static_cast<int64_t>(places.size()))
    end("no place for fault '" + text + "': there are " +
        llvm::Twine(places.size()) + " of its kind");
  kind->plant(places[number], /*really=*/true);
}

static llvm::cl::opt<std::string> plantFault(
    "plant-fault",
    llvm::cl::desc("With emulated-cuda: make a kernel wrong, to see whether "
                   "that is found"),
    llvm::cl::value_desc("KIND:NUMBER"));

/// After the last pass before kernels become code.
static void plantInKernels(StageOptions &stages) {
  if (plantFault.empty())
    return;
  stages.instrument = [](PassManager &pm) {
    pm.addInstrumentation(
        std::make_unique<PlantAfter>("spmd-check-status", [](ModuleOp module) {
          plantKernelFault(module, plantFault);
        }));
  };
}

[[maybe_unused]] static const bool isSet = (changeStages = plantInKernels);
} // namespace shardc
