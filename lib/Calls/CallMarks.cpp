//===- CallMarks.cpp - Marks of kernels to calls of the runtime -----------===//
#include "RuntimeCalls.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "shardc/Calls/Passes.h"
#include "shardc/Dialect/Kernel/IR/KernelContracts.h"
#include "shardc/Support/KernelAttributes.h"

namespace shardc {
#define GEN_PASS_DEF_CALLMARKSPASS
#include "shardc/Calls/Passes.h.inc"
} // namespace shardc

using namespace mlir;
using namespace shardc;

namespace {
struct CallMarksPass final : shardc::impl::CallMarksPassBase<CallMarksPass> {
  using Base::Base;
  void runOnOperation() override {
    ModuleOp module = getOperation();
    ArrayAttr names = spmd::contract::Kernels::get(module);
    if (!names)
      return;
    EntryPoints entries(module);
    for (auto [marks, entry] :
         {std::pair(kMarkFunction, "shardrt_mark"),
          std::pair(kEndMarkFunction, "shardrt_mark_end")}) {
      auto mark = module.lookupSymbol<func::FuncOp>(marks);
      if (!mark)
        continue;
      SmallVector<func::CallOp> calls;
      module.walk([&, name = marks](func::CallOp call) {
        if (call.getCallee() == name)
          calls.push_back(call);
      });
      for (func::CallOp call : calls) {
        OpBuilder builder(call);
        SmallVector<Value> operands = {
            call->getParentOfType<func::FuncOp>().getArgument(0)};
        llvm::append_range(operands, call.getOperands());
        entries.call(builder, call.getLoc(), entry, operands);
        call.erase();
      }
      mark.erase();
    }

    // A name and a line for each, with a NUL behind each.
    std::string text;
    for (Attribute entry : names)
      for (Attribute part : cast<ArrayAttr>(entry)) {
        text += cast<StringAttr>(part).getValue();
        text.push_back('\0');
      }
    OpBuilder builder(module.getBodyRegion());
    Location loc = module.getLoc();
    Type i64 = builder.getI64Type(),
         bytes = LLVM::LLVMArrayType::get(builder.getI8Type(), text.size());
    LLVM::GlobalOp::create(builder, loc, bytes, /*isConstant=*/true,
                           LLVM::Linkage::External, "shardc_traced_kernels",
                           builder.getStringAttr(text));
    LLVM::GlobalOp::create(builder, loc, i64, /*isConstant=*/true,
                           LLVM::Linkage::External,
                           "shardc_traced_kernels_length",
                           builder.getI64IntegerAttr(names.size()));
    spmd::contract::Kernels::remove(module);
  }
};
} // namespace
