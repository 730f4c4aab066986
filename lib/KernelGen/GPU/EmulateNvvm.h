//===- EmulateNvvm.h - Kernels as host functions ----------------*- C++ -*-===//
#ifndef SHARDC_LIB_KERNELGEN_GPU_EMULATENVVM_H
#define SHARDC_LIB_KERNELGEN_GPU_EMULATENVVM_H

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Interfaces/DataLayoutInterfaces.h"
#include "llvm/ADT/StringMap.h"
#include <optional>

namespace shardc {
using namespace mlir;

/// Whether `op` is a product of warpgroups whose left matrix is in registers.
bool isFragmentProduct(Operation *op);

/// Makes host functions of the kernels of a module.
class Emulation {
public:
  /// How kernels share memory and synchronise: what the emulator must know
  /// before.
  struct Traits {
    int64_t sharedBytes = 0;
    int64_t flags = 0;
  };

  Emulation(ModuleOp module, gpu::GPUModuleOp kernels, bool check,
            StringRef gpu)
      : module(module), kernels(kernels), check(check), gpu(gpu),
        ptr(LLVM::LLVMPointerType::get(module.getContext())),
        i64(IntegerType::get(module.getContext(), 64)),
        i32(IntegerType::get(module.getContext(), 32)), layout(module) {}

  LogicalResult run();

private:
  LogicalResult placeShared(LLVM::LLVMFuncOp kernel);
  LogicalResult emulate(LLVM::LLVMFuncOp kernel, LLVM::LLVMFuncOp copy,
                        Traits &traits);
  LogicalResult rewrite(Operation *op, Traits &traits);

  /// An op of a kernel that is being rewritten.
  struct Rewrite {
    Operation *op;
    OpBuilder b; ///< before it
    Location loc;
    Traits &traits; ///< of the kernel
  };
  /// Replaces `at.op` by `value`.
  static LogicalResult replace(Rewrite &at, Value value) {
    at.op->getResult(0).replaceAllUsesWith(value);
    return erase(at);
  }
  static LogicalResult erase(Rewrite &at) {
    at.op->erase();
    return success();
  }
  /// An error: of such ops the emulator knows those that are `expected` alone.
  static LogicalResult unknown(Rewrite &at, const Twine &expected) {
    return at.op->emitOpError()
           << "is not known to the emulator; expected " << expected;
  }
  /// A number by which threads that synchronise know that they are at the same
  /// op.
  Value place(Rewrite &at) { return constant(at.b, at.loc, i32, places++); }

  // Families of ops; nullopt for an op that is of another one.
  /// Numbers of threads and blocks.
  std::optional<LogicalResult> rewriteIdentifier(Rewrite &at);
  /// Barriers of warps, blocks and clusters.
  std::optional<LogicalResult> rewriteBarrier(Rewrite &at);
  /// Shuffles, votes and elections of a warp; shared memory of other blocks.
  std::optional<LogicalResult> rewriteLanes(Rewrite &at);
  /// Products of a warp's fragments.
  std::optional<LogicalResult> rewriteFragments(Rewrite &at);
  /// cp.async.
  std::optional<LogicalResult> rewriteCopy(Rewrite &at);
  /// Loads, stores, atomics, fences and addresses of shared memory.
  std::optional<LogicalResult> rewriteMemory(Rewrite &at);
  /// mbarriers and copies by TMA.
  std::optional<LogicalResult> rewriteBulkCopy(Rewrite &at);
  /// Products of warpgroups.
  std::optional<LogicalResult> rewriteWarpgroup(Rewrite &at);
  /// What makes, or looks into, the sums of such products.
  std::optional<LogicalResult> rewriteSums(Rewrite &at);
  /// Tensor memory, and products into it.
  std::optional<LogicalResult> rewriteTensor(Rewrite &at);

  /// `at.op` becomes a call of what threads do in an order of their own; its
  /// result, where it has a use, the call's.
  LogicalResult callOrdered(Rewrite &at, StringRef name, Type result,
                            ValueRange arguments);

  LogicalResult rewriteAccess(Operation *op, OpOperand &address, Type type,
                              int64_t access);
  /// Flags in device memory by which blocks publish what they wrote.
  LogicalResult rewriteFlag(Operation *op, OpOperand &flag, Type type,
                            LLVM::AtomicOrdering ordering, Traits &traits);
  LogicalResult rewriteCall(LLVM::CallOp call);
  /// Sums of such products are handles in the emulation.
  void findSums(LLVM::LLVMFuncOp kernel);

  /// Field `offset` of this thread, of type i32 or a pointer.
  Value field(OpBuilder &b, Location loc, int64_t offset, Type type) {
    Value slot = LLVM::GEPOp::create(
        b, loc, ptr, b.getI8Type(), thread,
        ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(offset)});
    return LLVM::LoadOp::create(b, loc, type, slot);
  }
  Value constant(OpBuilder &b, Location loc, Type type, int64_t number) {
    return LLVM::ConstantOp::create(b, loc, type,
                                    b.getIntegerAttr(type, number));
  }
  /// Word number `word` of the thread's room for fragments.
  Value scratchAt(OpBuilder &b, Location loc, int64_t word) {
    return LLVM::GEPOp::create(
        b, loc, ptr, i32, scratch,
        ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(word)});
  }
  /// The first `count` numbers there, of a word or two each, as a struct of
  /// `type`.
  Value readWords(OpBuilder &b, Location loc, Type type, int64_t count) {
    Value result = LLVM::PoisonOp::create(b, loc, type);
    for (int64_t i = 0; i < count; ++i) {
      Type element = cast<LLVM::LLVMStructType>(type).getBody()[i];
      int64_t words = element.isF64() ? 2 : 1;
      Value word = LLVM::LoadOp::create(b, loc, element,
                                        scratchAt(b, loc, words * i), 4);
      result = LLVM::InsertValueOp::create(b, loc, result, word,
                                           ArrayRef<int64_t>{i});
    }
    return result;
  }
  /// The address of the source line of `loc`, NULL where there is none.
  Value where(OpBuilder &b, Location loc);
  /// Calls the host's function `name`.
  LLVM::CallOp callHost(OpBuilder &b, Location loc, StringRef name, Type result,
                        ValueRange arguments);
  void writeTables(ArrayRef<LLVM::LLVMFuncOp> functions,
                   ArrayRef<Traits> traits);

  ModuleOp module;
  gpu::GPUModuleOp kernels;
  bool check;
  StringRef gpu;
  Type ptr, i64, i32;
  DataLayout layout;
  llvm::StringMap<int64_t> shared;
  int64_t sharedBytes = 0;
  int64_t places = 1; ///< ops in which threads synchronise have numbers
  llvm::StringMap<std::string> lines;
  Value thread;
  llvm::SmallDenseSet<Type> sumTypes;
  llvm::DenseSet<Operation *> sumOps; ///< that make, or look into, sums
  Value scratch;                      ///< words: results, then operands
  /// Reads of words that were loaded from tensor memory.
  llvm::DenseSet<Operation *> loadedWords;
};

} // namespace shardc

#endif // SHARDC_LIB_KERNELGEN_GPU_EMULATENVVM_H
