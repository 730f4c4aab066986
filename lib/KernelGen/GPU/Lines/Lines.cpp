//===- Lines.cpp - What kernels of algorithms on lines share --------------===//
#include "Lines.h"
#include "shardc/Dialect/Kernel/IR/KernelLines.h"

using namespace mlir;
using namespace shardc;
using namespace shardc::gpukernels;
using namespace shardc::gpukernels::lines;

LineEmitter::LineEmitter(OpBuilder &b, spmd::LinesOp op)
    : IndexBuilder(b, op.getLoc()), op(op), dim(op.getDim()) {
  Value input = op.getInputs().front();
  auto type = cast<MemRefType>(input.getType());
  SmallVector<Value> others;
  for (auto [i, size] : llvm::enumerate(type.getShape())) {
    sizes.push_back(ShapedType::isStatic(size)
                        ? index(size)
                        : memref::DimOp::create(b, loc, input, i).getResult());
    if (i == dim)
      continue;
    others.push_back(sizes.back());
    isInnermost &= i < dim || size == 1;
    if (ShapedType::isDynamic(size) || ShapedType::isDynamic(knownLines))
      knownLines = ShapedType::kDynamic;
    else
      knownLines *= size;
  }
  length = sizes[dim];
  knownLength = type.getDimSize(dim);
  lines = product(b, loc, others);
}

void LineEmitter::when(Value condition, llvm::function_ref<void()> body) {
  auto branch = scf::IfOp::create(b, loc, condition, /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  body();
}

void LineEmitter::forEach(Value first, Value end, Value step,
                          llvm::function_ref<void(Value)> body) {
  auto loop = scf::ForOp::create(b, loc, first, end, step);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  body(loop.getInductionVar());
}

Value LineEmitter::share(gpu::LaunchOp launch, int64_t count, Type element) {
  auto space =
      gpu::AddressSpaceAttr::get(b.getContext(), gpu::AddressSpace::Workgroup);
  return launch.addWorkgroupAttribution(
      MemRefType::get({count}, element, MemRefLayoutAttrInterface(), space),
      loc);
}

Value LineEmitter::scratch(int64_t known, Value count, Type element) {
  auto type = MemRefType::get({known}, element);
  if (ShapedType::isStatic(known))
    return memref::AllocOp::create(b, loc, type);
  return memref::AllocOp::create(b, loc, type, count);
}

SmallVector<Value> LineEmitter::subscripts(Value line, Value at) {
  SmallVector<Value> place(sizes.size());
  unsigned left = sizes.size() - 1;
  for (unsigned i = sizes.size(); i-- > 0;) {
    if (i == dim) {
      place[i] = at;
      continue;
    }
    if (--left == 0) {
      place[i] = line;
      continue;
    }
    place[i] = rem(line, sizes[i]);
    line = div(line, sizes[i]);
  }
  return place;
}

SmallVector<Value> LineEmitter::body(ValueRange arguments) {
  Block &block = op.getBody().front();
  IRMapping map;
  map.map(block.getArguments(), arguments);
  for (Operation &inner : block.without_terminator())
    b.clone(inner, map);
  return llvm::map_to_vector(
      block.getTerminator()->getOperands(),
      [&](Value value) { return map.lookupOrDefault(value); });
}

/// The largest prime factor of `n`; 1 if there is none.
static int64_t largestPrime(int64_t n) {
  int64_t largest = 1;
  for (int64_t factor = 2; n > 1; ++factor)
    for (; n % factor == 0; n /= factor)
      largest = factor;
  return largest;
}

LogicalResult gpukernels::launchLines(spmd::LinesOp op) {
  auto type = cast<MemRefType>(op.getInputs().front().getType());
  if (op.getKind() == spmd::LineKind::Fourier) {
    int64_t most = kMostTransform * 32 / type.getElementTypeBitWidth();
    int64_t n = type.getDimSize(op.getDim());
    if (n > most)
      return op.emitOpError()
             << "transforms lines of " << n << " elements, expected at most "
             << most << ": take factors off in stages before";
    if (int64_t prime = largestPrime(n); prime > kMostRadix)
      return op.emitOpError()
             << "transforms lines of " << n << " elements, of which each "
             << prime << " are summed up one by one, expected at most "
             << kMostRadix << ": take this factor off in a stage before";
  }
  hoistRankValues(op);
  if (!llvm::is_contained(type.getShape(), 0)) {
    OpBuilder b(op);
    if (op.getKind() == spmd::LineKind::Sort)
      launchSort(b, op);
    else if (op.getKind() == spmd::LineKind::Scan)
      launchScan(b, op);
    else
      launchFourier(b, op);
  }
  op.erase();
  return success();
}
