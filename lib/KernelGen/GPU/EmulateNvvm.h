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
  LogicalResult rewriteAccess(Operation *op, OpOperand &address, Type type,
                              int64_t access);
  /// Flags in device memory by which blocks publish what they wrote.
  LogicalResult rewriteFlag(Operation *op, OpOperand &flag, Type type,
                            LLVM::AtomicOrdering ordering, Traits &traits);
  LogicalResult rewriteCall(LLVM::CallOp call);
  /// mbarriers, TMA copies and products of warpgroups; nothing for other ops.
  std::optional<LogicalResult> rewriteAsync(Operation *op, Traits &traits);
  /// The same for tensor memory, and products into it.
  std::optional<LogicalResult> rewriteTensor(Operation *op, Traits &traits);
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
  /// The first `count` words there, as a struct of `type`.
  Value readWords(OpBuilder &b, Location loc, Type type, int64_t count) {
    Value result = LLVM::PoisonOp::create(b, loc, type);
    for (int64_t i = 0; i < count; ++i) {
      Type element = cast<LLVM::LLVMStructType>(type).getBody()[i];
      Value word = LLVM::LoadOp::create(b, loc, element, scratchAt(b, loc, i));
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
