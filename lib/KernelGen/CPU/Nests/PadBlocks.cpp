//===- PadBlocks.cpp - Padded operands block by block ---------------------===//
#include "PaddedBlocks.h"
#include "shardc/Dialect/Kernel/IR/KernelContracts.h"
#include "shardc/KernelGen/Passes.h"

using namespace mlir;
using namespace shardc;

namespace shardc {
#define GEN_PASS_DEF_PADBLOCKSPASS
#include "shardc/KernelGen/Passes.h.inc"
} // namespace shardc

static bool isInParts(Operation *op) {
  while ((op = op->getParentOp()))
    if (spmd::contract::Parts::has(op))
      return true;
  return false;
}

namespace {
struct PadBlocksPass final : shardc::impl::PadBlocksPassBase<PadBlocksPass> {
  using Base::Base;
  void runOnOperation() override {
    ShardSizes sizes(getOperation());
    SmallVector<memref::AllocOp> buffers;
    getOperation().walk(
        [&](memref::AllocOp buffer) { buffers.push_back(buffer); });
    for (memref::AllocOp buffer : buffers) {
      std::optional<cpu::Padded> padded = cpu::findPaddedBlocks(buffer, sizes);
      // A buffer that is made in a part is there once for all of them.
      if (padded && !isInParts(padded->reader))
        cpu::emitPaddedBlocks(*padded, threads);
    }
    for (memref::AllocOp buffer : buffers)
      if (buffer.use_empty())
        buffer.erase();
  }
};
} // namespace
