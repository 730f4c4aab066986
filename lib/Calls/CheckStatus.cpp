//===- CheckStatus.cpp - Return where the runtime reports a failure -------===//
#include "RuntimeCalls.h"
#include "SplitEntry.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Builders.h"
#include "shardc/Analysis/SiteTables.h"
#include "shardc/Calls/Passes.h"
#include "shardc/Dialect/Kernel/IR/KernelContracts.h"
#include "shardrt/SiteWords.h"

namespace shardc {
#define GEN_PASS_DEF_CHECKSTATUSPASS
#include "shardc/Calls/Passes.h.inc"
} // namespace shardc

using namespace mlir;
using namespace shardc;
using namespace shardc::spmd;

/// What is returned where memory could not be had (shardrt.h); the runtime has
/// kept why.
static constexpr int32_t kMemoryStatus = 9;

/// Entry points whose result is a status to return, or memory.
static bool mayFail(LLVM::CallOp call) {
  std::optional<StringRef> callee = call.getCallee();
  if (!callee || call.getNumResults() != 1)
    return false;
  if (isa<LLVM::LLVMPointerType>(call.getResult().getType()))
    return callee->starts_with("shardrt_");
  if (callee->starts_with(kPartPrefix))
    return true;
  return llvm::is_contained(
      {"shardrt_exchange", "shardrt_exchange_wait", "shardrt_exchange_release",
       "shardrt_all_reduce", "shardrt_reduce_scatter", "shardrt_gather_rows",
       "shardrt_scatter_rows", "shardrt_launch", "shardrt_read",
       "shardrt_call_host", "shardrt_call_library", "shardrt_sort_lines",
       "shardrt_transform_dims", "shardrt_eigh", "shardrt_svd",
       "shardrt_householder"},
      *callee);
}

static void checkStatuses(LLVM::LLVMFuncOp function) {
  SmallVector<LLVM::CallOp> calls;
  function.walk([&](LLVM::CallOp call) {
    if (mayFail(call))
      calls.push_back(call);
  });
  if (calls.empty())
    return;
  OpBuilder builder(function.getContext());
  Type i32 = builder.getI32Type();
  Block *failed =
      builder.createBlock(&function.getBody(), function.getBody().end(), {i32},
                          {function.getLoc()});
  LLVM::ReturnOp::create(builder, function.getLoc(), failed->getArgument(0));
  // The last first: what is behind a call moves to a block of its own, which
  // takes as long as there is of it.
  for (LLVM::CallOp call : llvm::reverse(calls)) {
    Block *block = call->getBlock();
    Block *rest = block->splitBlock(std::next(call->getIterator()));
    builder.setInsertionPointToEnd(block);
    Location loc = call.getLoc();
    Value result = call.getResult(), status = result;
    Value zero = LLVM::ZeroOp::create(builder, loc, result.getType());
    bool isMemory = isa<LLVM::LLVMPointerType>(result.getType());
    if (isMemory)
      status = LLVM::ConstantOp::create(
          builder, loc, i32, builder.getI32IntegerAttr(kMemoryStatus));
    auto isFine = isMemory ? LLVM::ICmpPredicate::ne : LLVM::ICmpPredicate::eq;
    Value fine = LLVM::ICmpOp::create(builder, loc, isFine, result, zero);
    LLVM::CondBrOp::create(builder, loc, fine, rest, ValueRange(), failed,
                           ValueRange(status));
  }
}

namespace {
struct CheckStatusPass final
    : shardc::impl::CheckStatusPassBase<CheckStatusPass> {
  using Base::Base;
  void runOnOperation() override {
    ModuleOp module = getOperation();
    splitEntry(module);
    for (auto function : module.getOps<LLVM::LLVMFuncOp>())
      if (!function.isExternal())
        checkStatuses(function);

    if (!hasSites(module))
      return;
    FailureOr<shardrt::SiteTable> sites = readSites(module);
    if (failed(sites))
      return signalPassFailure();
    auto [words, text] = shardrt::encodeSites(*sites);
    OpBuilder builder(module.getBodyRegion());
    Location loc = module.getLoc();
    exportWords(builder, loc, "shardc_sites", words);
    int64_t length = text.size();
    // At least one byte, so that the symbol has an address.
    if (text.empty())
      text.push_back('\0');
    exportConstant(builder, loc,
                   LLVM::LLVMArrayType::get(builder.getI8Type(), text.size()),
                   "shardc_strings", builder.getStringAttr(text));
    exportConstant(builder, loc, builder.getI64Type(), "shardc_strings_length",
                   builder.getI64IntegerAttr(length));
    // Attributes of our own mean nothing to LLVM.
    contract::Sites::remove(module);
    contract::EntryInputs::remove(module);
    contract::EntryOutputs::remove(module);
  }
};
} // namespace
