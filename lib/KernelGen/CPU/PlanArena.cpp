//===- PlanArena.cpp - One arena for all bounded buffers ------------------===//
//===----------------------------------------------------------------------===//
#include "shardc/KernelGen/Passes.h"

using namespace mlir;

namespace shardc {
#define GEN_PASS_DEF_PLANARENAPASS
#include "shardc/KernelGen/Passes.h.inc"

namespace {
struct PlanArenaPass final : shardc::impl::PlanArenaPassBase<PlanArenaPass> {
  using Base::Base;
  void runOnOperation() override {}
};
} // namespace
} // namespace shardc
