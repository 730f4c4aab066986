//===- Touches.cpp - Which ops of a block touch a buffer ------------------===//
#include "Touches.h"
#include "mlir/Dialect/LLVMIR/LLVMTypes.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

using namespace mlir;

std::optional<llvm::SetVector<Operation *>> shardc::touchesIn(Block *block,
                                                              Value buffer) {
  llvm::SetVector<Operation *> touches;
  SmallVector<Value> work{buffer};
  while (!work.empty()) {
    Value value = work.pop_back_val();
    for (Operation *user : value.getUsers()) {
      Operation *ancestor = block->findAncestorOpInBlock(*user);
      if (!ancestor)
        return std::nullopt;
      if (isa<ViewLikeOpInterface>(user)) {
        work.append(user->result_begin(), user->result_end());
        continue;
      }
      touches.insert(ancestor);
      // Passed on through control flow or arithmetic.
      if (!isa<memref::DimOp>(user) &&
          llvm::any_of(
              user->getResultTypes(),
              llvm::IsaPred<BaseMemRefType, IndexType, LLVM::LLVMPointerType>))
        return std::nullopt;
      if (isa<RegionBranchOpInterface, RegionBranchTerminatorOpInterface>(user))
        return std::nullopt;
    }
  }
  return touches;
}
