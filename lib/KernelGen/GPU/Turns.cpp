//===- Turns.cpp - Blocks of a launch that wait for one another -----------===//
#include "Turns.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "shardc/Support/IndexBuilder.h"

using namespace mlir;
using namespace shardc;
using namespace shardc::gpukernels;

/// Numbers that others of the GPU change.
static constexpr StringLiteral kScope = "device";

Value gpukernels::drawNumber(OpBuilder &b, Location loc, gpu::LaunchOp launch,
                             Value counter) {
  IndexBuilder i(b, loc);
  auto space =
      gpu::AddressSpaceAttr::get(b.getContext(), gpu::AddressSpace::Workgroup);
  Value shared = launch.addWorkgroupAttribution(
      MemRefType::get({1}, b.getI32Type(), MemRefLayoutAttrInterface(), space),
      loc);
  Value first = i.index(0);
  {
    auto leads = scf::IfOp::create(
        b, loc, i.equal(launch.getThreadIds().x, first), false);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(leads.thenBlock());
    Value one = arith::ConstantIntOp::create(b, loc, 1, 32);
    Value drawn =
        LLVM::AtomicRMWOp::create(b, loc, LLVM::AtomicBinOp::add, counter, one,
                                  LLVM::AtomicOrdering::monotonic, kScope);
    memref::StoreOp::create(b, loc, drawn, shared, first);
  }
  gpu::BarrierOp::create(b, loc);
  return shared;
}

Value gpukernels::loadNumber(OpBuilder &b, Location loc, Value drawn) {
  Value first = arith::ConstantIndexOp::create(b, loc, 0);
  return arith::IndexCastUIOp::create(
      b, loc, b.getIndexType(),
      memref::LoadOp::create(b, loc, drawn, first).getResult());
}

void gpukernels::awaitFlags(OpBuilder &b, Location loc, ArrayRef<Value> flags,
                            llvm::function_ref<Value(ArrayRef<Value>)> isSet) {
  auto loop = scf::WhileOp::create(b, loc, TypeRange(), ValueRange());
  OpBuilder::InsertionGuard guard(b);
  b.createBlock(&loop.getBefore());
  SmallVector<Value> found;
  for (Value flag : flags)
    found.push_back(LLVM::LoadOp::create(
        b, loc, b.getI32Type(), flag, /*alignment=*/4, /*isVolatile=*/false,
        /*isNonTemporal=*/false, /*isInvariant=*/false,
        /*isInvariantGroup=*/false, LLVM::AtomicOrdering::monotonic, kScope));
  Value yes = arith::ConstantIntOp::create(b, loc, 1, 1);
  Value waits = arith::XOrIOp::create(b, loc, isSet(found), yes);
  scf::ConditionOp::create(b, loc, waits, ValueRange());
  b.createBlock(&loop.getAfter());
  scf::YieldOp::create(b, loc);
  b.setInsertionPointAfter(loop);
  LLVM::FenceOp::create(b, loc, LLVM::AtomicOrdering::acquire, kScope);
}

void gpukernels::setFlag(OpBuilder &b, Location loc, Value flag, Value value) {
  LLVM::StoreOp::create(b, loc, value, flag, /*alignment=*/4,
                        /*isVolatile=*/false, /*isNonTemporal=*/false,
                        /*isInvariantGroup=*/false,
                        LLVM::AtomicOrdering::release, kScope);
}

//===----------------------------------------------------------------------===//
// Turns
//===----------------------------------------------------------------------===//

Turns::Turns(OpBuilder &b, Location loc, int64_t known, Value places)
    : b(b), loc(loc) {
  if (ShapedType::isStatic(known)) {
    memory = memref::AllocOp::create(
        b, loc, MemRefType::get({known + 1}, b.getI32Type()));
    return;
  }
  IndexBuilder i(b, loc);
  Value count = i.add(places, i.index(1));
  memory = memref::AllocOp::create(
      b, loc, MemRefType::get({ShapedType::kDynamic}, b.getI32Type()), count);
}

Value Turns::counter(int64_t behind, Value place) {
  IndexBuilder i(b, loc);
  Value at = i.index(behind);
  return addressOf(b, loc, memory, place ? i.add(place, at) : at);
}

void Turns::await(Value place, Value turn) {
  Value number = arith::IndexCastOp::create(b, loc, b.getI32Type(), turn);
  awaitFlags(b, loc, counter(1, place), [&](ArrayRef<Value> found) -> Value {
    return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sge,
                                 found.front(), number);
  });
}

void Turns::pass(Value place, Value turn) {
  IndexBuilder i(b, loc);
  Value next = arith::IndexCastOp::create(b, loc, b.getI32Type(),
                                          i.add(turn, i.index(1)));
  setFlag(b, loc, counter(1, place), next);
}
