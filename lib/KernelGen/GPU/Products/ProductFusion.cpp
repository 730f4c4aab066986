//===- ProductFusion.cpp - What a product's kernel does beside it ---------===//
//
// Before a product somebody sets its results to a number, and behind it
// elementwise work reads them: a bias, an activation, a residual, a cast. Both
// are done where results are still in registers, unless somebody else touches
// these buffers on the way.
//
//===----------------------------------------------------------------------===//
#include "../Fills.h"
#include "Product.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "shardc/Analysis/StructuredOps.h"

using namespace mlir;
using namespace shardc;
using namespace shardc::gpukernels;

/// What is worth being written for each result. [limit]
static constexpr int64_t kMostBody = 64;
static constexpr size_t kMostInputs = 6;

static bool isMemref(OpOperand *operand) {
  return isa<MemRefType>(operand->get().getType());
}

static bool touches(linalg::GenericOp op, Value root, bool writes) {
  return llvm::any_of(op->getOpOperands(), [&](OpOperand &operand) {
    return isMemref(&operand) && (!writes || op.isDpsInit(&operand)) &&
           rootOfView(operand.get()) == root;
  });
}

/// `op` can be done to each result of `product` by itself. Sets `result` to the
/// number of the operand that is the results.
static bool isElementwiseOn(linalg::GenericOp op, linalg::GenericOp product,
                            unsigned &result) {
  Value memref = product.getDpsInitOperand(0)->get(), root = rootOfView(memref);
  if (op.getNumReductionLoops() != 0 ||
      op.getDpsInputOperands().size() > kMostInputs ||
      op.getBody()->getOperations().size() > kMostBody ||
      llvm::any_of(op.getBody()->getOperations(),
                   [](Operation &inner) { return inner.getNumRegions() != 0; }))
    return false;
  OpOperand *found = nullptr;
  for (OpOperand *input : op.getDpsInputOperands())
    if (input->get() == memref && !found)
      found = input;
  if (!found || !op.getMatchingIndexingMap(found).isPermutation())
    return false;
  result = found->getOperandNumber();
  AffineMap map = op.getMatchingIndexingMap(found);
  for (OpOperand &operand : op->getOpOperands()) {
    if (!isMemref(&operand))
      continue;
    bool isOutput = op.isDpsInit(&operand);
    AffineMap own = op.getMatchingIndexingMap(&operand);
    if (isOutput && !own.isPermutation())
      return false;
    // Only its own element may be what another thread has written.
    if (&operand != found && rootOfView(operand.get()) == root &&
        (!isOutput || operand.get() != memref || own != map))
      return false;
    if (!isOutput)
      continue;
    // Blocks that still multiply must not see it.
    for (OpOperand *input : product.getDpsInputOperands())
      if (isMemref(input) &&
          rootOfView(input->get()) == rootOfView(operand.get()))
        return false;
    for (OpOperand &other : op->getOpOperands())
      if (&other != &operand && &other != found && isMemref(&other) &&
          rootOfView(other.get()) == rootOfView(operand.get()) &&
          (op.isDpsInit(&other) || other.get() != operand.get() ||
           op.getMatchingIndexingMap(&other) != own))
        return false;
  }
  return true;
}

std::optional<ImagePadding> gpukernels::findPadding(linalg::GenericOp op,
                                                    OpOperand &operand) {
  auto alloc = operand.get().getDefiningOp<memref::AllocOp>();
  if (!alloc || !alloc.getType().hasStaticShape() ||
      llvm::count(op->getOperands(), operand.get()) != 1)
    return std::nullopt;
  linalg::GenericOp fill, copy;
  memref::SubViewOp inside;
  for (Operation *user : alloc->getUsers()) {
    auto view = dyn_cast<memref::SubViewOp>(user);
    auto generic = dyn_cast<linalg::GenericOp>(user);
    if (view && !inside)
      inside = view;
    else if (generic && generic != op && !fill)
      fill = generic;
    else if (user != op)
      return std::nullopt;
  }
  if (!inside || !inside->hasOneUse() || !fill)
    return std::nullopt;
  copy = dyn_cast<linalg::GenericOp>(*inside->user_begin());
  Value zero = filledWith(fill, alloc);
  if (!zero || !matchPattern(zero, m_PosZeroFloat()) || !copy ||
      copy->getNumOperands() != 2 || copy.getNumDpsInits() != 1 ||
      copy.getDpsInitOperand(0)->get() != inside.getResult() ||
      !llvm::hasSingleElement(*copy.getBody()) ||
      copy.getBody()->getTerminator()->getOperand(0) !=
          copy.getRegionInputArgs()[0] ||
      !llvm::all_of(copy.getIndexingMapsArray(),
                    [](AffineMap map) { return map.isIdentity(); }))
    return std::nullopt;
  Value source = copy.getDpsInputOperand(0)->get();
  auto type = dyn_cast<MemRefType>(source.getType());
  auto isNumber = [](OpFoldResult one) { return isConstantIntValue(one, 1); };
  if (!type || !type.hasStaticShape() ||
      !llvm::all_of(inside.getMixedStrides(), isNumber) ||
      llvm::any_of(inside.getStaticOffsets(), ShapedType::isDynamic))
    return std::nullopt;
  Block *block = op->getBlock();
  if (fill->getBlock() != block || copy->getBlock() != block ||
      !fill->isBeforeInBlock(copy) || !copy->isBeforeInBlock(op))
    return std::nullopt;
  // Nobody writes to the tensor between its copy and what reads it instead.
  Value root = rootOfView(source);
  if (!isOnlyName(root))
    return std::nullopt;
  for (Operation *between = copy->getNextNode(); between != op;
       between = between->getNextNode())
    if (mayTouch(between, source, root))
      return std::nullopt;
  return ImagePadding{
      source, llvm::to_vector(inside.getStaticOffsets()), {fill, copy}};
}

bool gpukernels::mayStartFromNegativeZero(linalg::GenericOp op) {
  Value start;
  if (!findFill(op, op.getDpsInitOperand(0)->get(), start) ||
      !isa<FloatType>(start.getType()))
    return false;
  FloatAttr number;
  return !matchPattern(start, m_Constant(&number)) ||
         number.getValue().isNegZero();
}

Fusion gpukernels::fuseAround(linalg::GenericOp op,
                              llvm::DenseSet<Operation *> &taken) {
  Fusion fusion;
  OpOperand *output = op.getDpsInitOperand(0);
  Value memref = output->get(), root = rootOfView(memref);
  AffineMap map = op.getMatchingIndexingMap(output);
  if (!map.isProjectedPermutation())
    return fusion;
  if (linalg::GenericOp fill = findFill(op, memref, fusion.start)) {
    fusion.done.push_back(fill);
    taken.insert(fill);
  }
  int64_t looked = 0;
  for (Operation *behind = op->getNextNode(); behind && looked < kMostOps;
       behind = behind->getNextNode(), ++looked) {
    if (isHarmless(behind))
      continue;
    auto generic = dyn_cast<linalg::GenericOp>(behind);
    if (!generic || taken.contains(generic))
      break;
    if (touches(generic, root, /*writes=*/false)) {
      if (!isElementwiseOn(generic, op, fusion.result))
        break;
      fusion.behind = generic;
      fusion.done.push_back(generic);
      taken.insert(generic);
      break;
    }
    // The product is moved behind it.
    if (llvm::any_of(op.getDpsInputOperands(), [&](OpOperand *input) {
          return isMemref(input) &&
                 touches(generic, rootOfView(input->get()), /*writes=*/true);
        }))
      break;
  }
  if (!fusion.behind)
    return fusion;
  op->moveBefore(fusion.behind);
  AffineMap own = fusion.behind.getMatchingIndexingMap(
      &fusion.behind->getOpOperand(fusion.result));
  for (auto [mine, theirs] :
       llvm::zip_equal(map.getResults(), own.getResults()))
    fusion.dims.push_back({cast<AffineDimExpr>(mine).getPosition(),
                           cast<AffineDimExpr>(theirs).getPosition()});
  // Results are stored as well where somebody else looks at them.
  SmallVector<Value> views = {root};
  fusion.keeps = !root.getDefiningOp<memref::AllocOp>();
  while (!views.empty() && !fusion.keeps)
    for (Operation *user : views.pop_back_val().getUsers()) {
      if (auto view = dyn_cast<ViewLikeOpInterface>(user))
        views.push_back(view->getResult(0));
      else
        fusion.keeps |= user != op && !llvm::is_contained(fusion.done, user);
    }
  return fusion;
}
