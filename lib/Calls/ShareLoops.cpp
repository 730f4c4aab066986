//===- ShareLoops.cpp - Parallel loops to calls of the runtime ------------===//
//
// What a loop reads from outside is written to a structure on the stack, one
// slot of 8 bytes each; its body becomes a function of that and of the number
// of the part.
//
//===----------------------------------------------------------------------===//
#include "PassedValues.h"
#include "RuntimeCalls.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Transforms/RegionUtils.h"
#include "shardc/Calls/Passes.h"
#include "shardc/Dialect/Kernel/IR/KernelContracts.h"
#include "shardc/Support/KernelAttributes.h"

namespace shardc {
#define GEN_PASS_DEF_SHARELOOPSPASS
#include "shardc/Calls/Passes.h.inc"
} // namespace shardc

using namespace mlir;
using namespace shardc;

namespace {
/// Values that a loop's body reads from a structure on the stack.
class Environment final : public PassedValues {
public:
  /// `caller` writes slots before the loop, `callee` reads them from `env`.
  Environment(OpBuilder &caller, OpBuilder &callee, Value env, Location loc)
      : PassedValues(caller, callee, loc), env(env) {}

private:
  Value find(Type type, int64_t slot) override {
    Value at = LLVM::GEPOp::create(
        inside, loc, env.getType(), inside.getI64Type(), env,
        ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(slot)});
    return LLVM::LoadOp::create(inside, loc, type, at);
  }

  Value env;
};
} // namespace

/// Puts a call of shardrt_share in place of `loop`, whose function has the
/// context as its first argument. False, with the loop as it was, if something
/// that it reads cannot cross.
static bool shareLoop(scf::ForOp loop, EntryPoints &entries, StringRef name) {
  if (loop->getNumResults())
    return false;
  auto caller = loop->getParentOfType<func::FuncOp>();
  Location loc = loop.getLoc();
  MLIRContext *context = loop.getContext();
  Type ptr = LLVM::LLVMPointerType::get(context),
       i64 = IntegerType::get(context, 64);
  OpBuilder at(loop), inside(context);
  inside.setInsertionPoint(caller);
  auto function = func::FuncOp::create(inside, loc, name,
                                       inside.getFunctionType({ptr, i64}, {}));
  function.setPrivate();
  function->setAttr("llvm.linkage",
                    LLVM::LinkageAttr::get(context, LLVM::Linkage::Internal));
  Block *entry = function.addEntryBlock();
  inside.setInsertionPointToStart(entry);

  llvm::SetVector<Value> outside;
  getUsedValuesDefinedAbove(loop.getRegion(), outside);
  IRMapping map;
  Environment environment(at, inside, entry->getArgument(0), loc);
  for (Value value : outside) {
    Value mine = matchPattern(value, m_Constant())
                     ? inside.clone(*value.getDefiningOp())->getResult(0)
                     : environment.pass(value);
    if (!mine) {
      function.erase();
      return false;
    }
    map.map(value, mine);
  }
  map.map(loop.getInductionVar(),
          arith::IndexCastOp::create(inside, loc, inside.getIndexType(),
                                     entry->getArgument(1))
              .getResult());
  for (Operation &op : loop.getBody()->without_terminator())
    inside.clone(op, map);
  func::ReturnOp::create(inside, loc);

  // One place on the stack, however often the loop comes.
  OpBuilder first(context);
  first.setInsertionPointToStart(&caller.getBody().front());
  Value count = LLVM::ConstantOp::create(
      first, loc, i64,
      first.getI64IntegerAttr(std::max<size_t>(environment.slots().size(), 1)));
  Value env =
      LLVM::AllocaOp::create(first, loc, ptr, i64, count, /*alignment=*/64);
  for (auto [i, word] : llvm::enumerate(environment.slots())) {
    Value slot =
        LLVM::GEPOp::create(at, loc, ptr, i64, env,
                            ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(i)});
    LLVM::StoreOp::create(at, loc, word, slot);
  }
  Value body = func::ConstantOp::create(at, loc, function.getFunctionType(),
                                        SymbolRefAttr::get(function));
  body = UnrealizedConversionCastOp::create(at, loc, TypeRange(ptr), body)
             .getResult(0);
  IntegerAttr parts = spmd::contract::Parts::get(loop);
  Value number = arith::ConstantIntOp::create(at, loc, parts.getInt(), 64);
  entries.call(at, loc, "shardrt_share",
               {caller.getArgument(0), body, env, number});
  loop.erase();
  return true;
}

/// Gives `function`, which @shardc_step calls, the context as its first
/// argument.
static void passContext(ModuleOp module, func::FuncOp function) {
  Type ptr = LLVM::LLVMPointerType::get(module.getContext());
  (void)function.insertArgument(0, ptr, {}, function.getLoc());
  SmallVector<func::CallOp> calls;
  module.walk([&](func::CallOp call) {
    if (call.getCallee() == function.getSymName())
      calls.push_back(call);
  });
  for (func::CallOp call : calls) {
    SmallVector<Value> operands{
        call->getParentOfType<func::FuncOp>().getArgument(0)};
    llvm::append_range(operands, call.getOperands());
    OpBuilder builder(call);
    auto next =
        func::CallOp::create(builder, call.getLoc(), function, operands);
    call->replaceAllUsesWith(next.getResults());
    call.erase();
  }
}

namespace {
struct ShareLoopsPass final : shardc::impl::ShareLoopsPassBase<ShareLoopsPass> {
  using Base::Base;
  void runOnOperation() override {
    ModuleOp module = getOperation();
    auto step = module.lookupSymbol<func::FuncOp>("shardc_step");
    if (!step) {
      module.emitError()
          << "has no @shardc_step; run --spmd-call-runtime first";
      return signalPassFailure();
    }
    SmallVector<scf::ForOp> loops;
    llvm::SetVector<func::FuncOp> owners;
    module.walk([&](scf::ForOp loop) {
      if (spmd::contract::Parts::has(loop)) {
        loops.push_back(loop);
        owners.insert(loop->getParentOfType<func::FuncOp>());
      }
    });
    for (func::FuncOp owner : owners)
      if (owner != step)
        passContext(module, owner);
    EntryPoints entries(module);
    int64_t count = 0;
    for (scf::ForOp loop : loops)
      count +=
          shareLoop(loop, entries, ("__shardc_shared_" + Twine(count)).str());
  }
};
} // namespace
