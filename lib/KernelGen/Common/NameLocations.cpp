//===- NameLocations.cpp - The name of each op, in its location -----------===//
#include "mlir/IR/BuiltinOps.h"
#include "shardc/KernelGen/Passes.h"
#include "shardc/Support/KernelAttributes.h"

using namespace mlir;

namespace shardc {
#define GEN_PASS_DEF_NAMELOCATIONSPASS
#include "shardc/KernelGen/Passes.h.inc"

namespace {
struct NameLocationsPass final
    : shardc::impl::NameLocationsPassBase<NameLocationsPass> {
  using Base::Base;
  void runOnOperation() override {
    getOperation().walk([&](Operation *op) {
      if (op == getOperation())
        return;
      auto name = StringAttr::get(&getContext(),
                                  kNamePrefix + op->getName().getStringRef());
      op->setLoc(NameLoc::get(name, op->getLoc()));
    });
  }
};
} // namespace
} // namespace shardc
