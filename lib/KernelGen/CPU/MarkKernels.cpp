//===- MarkKernels.cpp - Say before and behind each kernel which it is ----===//
//
// Whatever was written for one op has that op's location: what is side by
// side under one location is a kernel.
//
//===----------------------------------------------------------------------===//
#include "KernelWork.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "shardc/Dialect/Kernel/IR/KernelContracts.h"
#include "shardc/Dialect/Kernel/IR/KernelSites.h"
#include "shardc/Dialect/Spmd/IR/SpmdLevels.h"
#include "shardc/KernelGen/Passes.h"
#include "shardc/Support/KernelAttributes.h"
#include "shardc/Support/UserLocation.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;

namespace shardc {
#define GEN_PASS_DEF_MARKKERNELSPASS
#include "shardc/KernelGen/Passes.h.inc"
} // namespace shardc

using namespace shardc;

/// Loops and branches of the program: their bodies hold kernels of their own.
static bool isControl(Operation *op) {
  return op->getNumRegions() &&
         (llvm::is_contained(
              {"stablehlo.while", "stablehlo.if", "stablehlo.case"},
              namedOp(op->getLoc()).first) ||
          spmd::runsSites(op));
}

/// True where `op` does no work worth a name: views, sizes, memory to be had.
static bool isQuiet(Operation *op) {
  return isMemoryEffectFree(op) ||
         isa<memref::AllocOp, memref::AllocaOp, memref::DeallocOp,
             memref::LoadOp>(op) ||
         op->hasTrait<OpTrait::IsTerminator>();
}

namespace {
/// Writes the marks of a function.
class Marker {
public:
  explicit Marker(MLIRContext *context) : b(context) {}

  void run(Block &block) {
    SmallVector<Operation *> ops =
        llvm::to_vector(llvm::make_pointer_range(block));
    Operation *first = nullptr, *last = nullptr;
    auto close = [&] {
      if (first)
        mark(first, last);
      first = last = nullptr;
    };
    for (Operation *op : ops) {
      bool control = isControl(op);
      if (control || spmd::runsSites(op)) {
        close();
        for (Region &region : op->getRegions())
          for (Block &inner : region)
            run(inner);
        continue;
      }
      if (isQuiet(op))
        continue;
      if (first && first->getLoc() != op->getLoc())
        close();
      if (!first)
        first = op;
      last = op;
    }
    close();
  }

  bool hasMarks() const { return !numbers.empty(); }
  ArrayAttr names() {
    SmallVector<Attribute> list;
    for (auto &[entry, number] : numbers)
      list.push_back(b.getArrayAttr({entry.first, entry.second}));
    return b.getArrayAttr(list);
  }

private:
  void mark(Operation *first, Operation *last) {
    auto [name, place] = namedOp(first->getLoc());
    std::string location = userLocation(place);
    name = spmd::withoutDialect(name);
    auto [known, isNew] = numbers.insert(
        {{b.getStringAttr(name.empty() ? "kernel" : name),
          b.getStringAttr(location == "unknown" ? "" : location)},
         static_cast<int64_t>(numbers.size())});
    b.setInsertionPoint(first);
    Value number =
        arith::ConstantIntOp::create(b, first->getLoc(), known->second, 64);
    func::CallOp::create(b, first->getLoc(), kMarkFunction, TypeRange(),
                         number);
    b.setInsertionPointAfter(last);
    KernelWork work = countWork(b, first, last);
    func::CallOp::create(b, last->getLoc(), kEndMarkFunction, TypeRange(),
                         {work.bytes, work.operations});
  }

  OpBuilder b;
  llvm::MapVector<std::pair<StringAttr, StringAttr>, int64_t> numbers;
};

struct MarkKernelsPass final
    : shardc::impl::MarkKernelsPassBase<MarkKernelsPass> {
  using Base::Base;
  void runOnOperation() override {
    ModuleOp module = getOperation();
    auto main = module.lookupSymbol<func::FuncOp>(entry);
    if (!main || main.isExternal())
      return;
    Marker marker(&getContext());
    for (Block &block : main.getBody())
      marker.run(block);
    if (!marker.hasMarks())
      return;
    spmd::contract::Kernels::set(module, marker.names());
    OpBuilder builder(module.getBodyRegion());
    Type i64 = builder.getI64Type();
    auto declare = [&](StringRef name, TypeRange arguments) {
      func::FuncOp::create(builder, module.getLoc(), name,
                           builder.getFunctionType(arguments, {}))
          .setPrivate();
    };
    declare(kMarkFunction, i64);
    declare(kEndMarkFunction, {i64, i64});
  }
};
} // namespace
