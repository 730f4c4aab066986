//===- GenerateKernels.cpp - Loop nests from linalg on buffers ------------===//
//===----------------------------------------------------------------------===//
#include "shardc/KernelGen/Passes.h"

using namespace mlir;

namespace shardc {
#define GEN_PASS_DEF_GENERATECPUKERNELSPASS
#include "shardc/KernelGen/Passes.h.inc"

namespace {
struct GenerateCpuKernelsPass final
    : shardc::impl::GenerateCpuKernelsPassBase<GenerateCpuKernelsPass> {
  using Base::Base;
  void runOnOperation() override {}
};
} // namespace
} // namespace shardc
