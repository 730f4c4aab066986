//===- ThreadChecks.cpp - Code that ThreadSanitizer watches ---------------===//

#include "shardc/Translation/ThreadChecks.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Transforms/Instrumentation/ThreadSanitizer.h"

using namespace llvm;

// There in a process that is linked with ThreadSanitizer, null in all others.
extern "C" void __tsan_init() __attribute__((weak));

bool shardc::checksThreads() { return __tsan_init != nullptr; }

namespace {
/// Reports what LLVM's pass leaves out.
class WideAccesses {
public:
  explicit WideAccesses(Module &module)
      : layout(module.getDataLayout()), builder(module.getContext()),
        reads(declare(module, "__tsan_read_range")),
        writes(declare(module, "__tsan_write_range")) {}

  /// False if `op` touches memory in a way that is not known.
  bool report(Instruction &op) {
    builder.SetInsertPoint(&op);
    if (auto *load = dyn_cast<LoadInst>(&op))
      return load->isAtomic() ||
             reportWhole(reads, load->getPointerOperand(), load->getType());
    if (auto *store = dyn_cast<StoreInst>(&op))
      return store->isAtomic() ||
             reportWhole(writes, store->getPointerOperand(),
                         store->getValueOperand()->getType());
    if (auto *call = dyn_cast<CallBase>(&op); call && call->isInlineAsm())
      return !call->mayReadOrWriteMemory();
    if (auto *intrinsic = dyn_cast<IntrinsicInst>(&op))
      return reportIntrinsic(*intrinsic);
    return true;
  }

private:
  static FunctionCallee declare(Module &module, StringRef name) {
    LLVMContext &context = module.getContext();
    FunctionCallee callee = module.getOrInsertFunction(
        name, Type::getVoidTy(context), PointerType::getUnqual(context),
        Type::getInt64Ty(context));
    auto *function = cast<Function>(callee.getCallee());
    function->setDoesNotThrow();
    // What is a function's own stays so.
    function->addParamAttr(
        0, Attribute::getWithCaptureInfo(context, CaptureInfo::none()));
    return callee;
  }

  bool reportWhole(FunctionCallee check, Value *pointer, Type *type) {
    TypeSize size = layout.getTypeStoreSize(type);
    if (size.isScalable() || pointer->getType()->getPointerAddressSpace() != 0)
      return false;
    uint64_t bytes = size.getFixedValue();
    if (bytes > 16 || !isPowerOf2_64(bytes))
      builder.CreateCall(check, {pointer, builder.getInt64(bytes)});
    return true;
  }

  bool reportIntrinsic(IntrinsicInst &op) {
    switch (op.getIntrinsicID()) {
    case Intrinsic::masked_load:
      return reportLanes(reads, op, op.getType());
    case Intrinsic::masked_gather:
      return reportLanes(reads, op, op.getType());
    case Intrinsic::masked_store:
    case Intrinsic::masked_scatter:
      return reportLanes(writes, op, op.getArgOperand(0)->getType());
    case Intrinsic::masked_expandload:
      return reportPacked(reads, op, op.getType());
    case Intrinsic::masked_compressstore:
      return reportPacked(writes, op, op.getArgOperand(0)->getType());
    default:
      break;
    }
    // Those LLVM's pass knows, and those that touch nothing.
    if (isa<MemIntrinsic>(op) || op.isLifetimeStartOrEnd() ||
        op.isAssumeLikeIntrinsic() || !op.mayReadOrWriteMemory() ||
        op.getIntrinsicID() == Intrinsic::prefetch)
      return true;
    return none_of(op.args(), [](Value *argument) {
      return argument->getType()->isPtrOrPtrVectorTy();
    });
  }

  /// What an intrinsic reads or writes under a mask.
  struct Masked {
    Value *pointer = nullptr; ///< or pointers
    Value *mask = nullptr;
    FixedVectorType *lanes = nullptr;
    uint64_t bytes = 0; ///< of a lane
  };

  /// The access of `op`, of `vector`; nothing if its lanes cannot be told
  /// apart.
  std::optional<Masked> maskedBy(IntrinsicInst &op, Type *vector) {
    Masked found;
    for (Value *argument : op.args()) {
      Type *type = argument->getType();
      if (type->isPtrOrPtrVectorTy())
        found.pointer = argument;
      else if (type->isVectorTy() && type->isIntOrIntVectorTy(1))
        found.mask = argument;
    }
    found.lanes = dyn_cast<FixedVectorType>(vector);
    uint64_t bits =
        layout.getTypeSizeInBits(vector->getScalarType()).getFixedValue();
    found.bytes = bits / 8;
    if (!found.pointer || !found.mask || !found.lanes || bits == 0 || bits % 8)
      return std::nullopt;
    return found;
  }

  bool reportLanes(FunctionCallee check, IntrinsicInst &op, Type *vector) {
    std::optional<Masked> access = maskedBy(op, vector);
    if (!access)
      return false;
    auto [pointer, mask, lanes, bytes] = *access;
    for (unsigned i = 0; i < lanes->getNumElements(); ++i) {
      Value *size =
          builder.CreateSelect(builder.CreateExtractElement(mask, i),
                               builder.getInt64(bytes), builder.getInt64(0));
      if (auto *known = dyn_cast<ConstantInt>(size); known && known->isZero())
        continue;
      Value *at = pointer->getType()->isVectorTy()
                      ? builder.CreateExtractElement(pointer, i)
                      : builder.CreateConstGEP1_64(builder.getInt8Ty(), pointer,
                                                   i * bytes);
      builder.CreateCall(check, {at, size});
    }
    return true;
  }

  /// Lanes whose bit is set are side by side.
  bool reportPacked(FunctionCallee check, IntrinsicInst &op, Type *vector) {
    std::optional<Masked> access = maskedBy(op, vector);
    if (!access)
      return false;
    auto [pointer, mask, lanes, bytes] = *access;
    Value *ones = builder.CreateZExt(
        mask, FixedVectorType::get(builder.getInt64Ty(), lanes));
    Value *size = builder.CreateMul(builder.CreateAddReduce(ones),
                                    builder.getInt64(bytes));
    builder.CreateCall(check, {pointer, size});
    return true;
  }

  const DataLayout &layout;
  IRBuilder<> builder;
  FunctionCallee reads, writes;
};
} // namespace

std::string shardc::addThreadChecks(Module &module, TargetMachine *machine) {
  WideAccesses wide(module);
  for (Function &function : module) {
    if (function.isDeclaration())
      continue;
    function.addFnAttr(Attribute::SanitizeThread);
    for (Instruction &op : make_early_inc_range(instructions(function)))
      if (!wide.report(op)) {
        auto *call = dyn_cast<CallBase>(&op);
        return call && call->getCalledFunction()
                   ? call->getCalledFunction()->getName().str()
                   : op.getOpcodeName();
      }
  }
  LoopAnalysisManager loops;
  FunctionAnalysisManager functions;
  CGSCCAnalysisManager sccs;
  ModuleAnalysisManager modules;
  PassBuilder passes(machine);
  passes.registerModuleAnalyses(modules);
  passes.registerCGSCCAnalyses(sccs);
  passes.registerFunctionAnalyses(functions);
  passes.registerLoopAnalyses(loops);
  passes.crossRegisterProxies(loops, functions, sccs, modules);
  ModulePassManager pipeline;
  pipeline.addPass(createModuleToFunctionPassAdaptor(ThreadSanitizerPass()));
  pipeline.run(module, modules);
  return {};
}
