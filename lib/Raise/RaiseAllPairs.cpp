//===- RaiseAllPairs.cpp - Find attention, forward and backward -----------===//
#include "RaiseBlocks.h"
#include "shardc/Dialect/Pairs/IR/Pairs.h"
#include "shardc/Raise/Passes.h"

namespace shardc {
#define GEN_PASS_DEF_RAISEALLPAIRSPASS
#include "shardc/Raise/Passes.h.inc"
} // namespace shardc

namespace {
struct RaiseAllPairsPass final
    : shardc::impl::RaiseAllPairsPassBase<RaiseAllPairsPass> {
  using Base::Base;
  void runOnOperation() override { shardc::raise::raiseBlocks(getOperation()); }
};
} // namespace
