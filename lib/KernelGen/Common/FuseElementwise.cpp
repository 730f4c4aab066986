//===- FuseElementwise.cpp - Fuse elementwise producers -------------------===//
//
// Fusion saves a pass over memory and costs repeated work where a value is
// read more than once: by several consumers, or by one consumer whose
// iterations outnumber the value's elements. So expensive producers fuse only
// into a single consumer that reads each element once; cheap ones anywhere but
// into contractions, whose operands must stay plain memory.
//
// Narrow floats are computed in f32. What ops that become one give one another
// stays that, where their conversions say so (the flag `contract`).
//
//===----------------------------------------------------------------------===//
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "shardc/Analysis/StructuredOps.h"
#include "shardc/KernelGen/Passes.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace shardc {
#define GEN_PASS_DEF_FUSEELEMENTWISEPASS
#include "shardc/KernelGen/Passes.h.inc"

/// Most inputs of an op that comes of fusion, and most ops in it: what a loop
/// reads has a register each for its address. [shape]
constexpr unsigned kMaxInputs = 12, kMaxBody = 1024;

/// Operations in a body; a call of a function counts for many.
static unsigned bodyCost(linalg::GenericOp op) {
  unsigned cost = 0;
  for (Operation &inner : op.getBody()->without_terminator()) {
    if (isa<arith::ConstantOp>(inner) || isa<linalg::IndexOp>(inner) ||
        isa<arith::ExtFOp, arith::TruncFOp, arith::IndexCastOp>(inner))
      continue;
    bool isFunction =
        inner.getDialect()->getNamespace() == "math" ||
        isa<arith::DivFOp, arith::DivSIOp, arith::DivUIOp, arith::RemFOp,
            arith::RemSIOp, arith::RemUIOp>(inner) ||
        inner.getNumRegions() || isa<tensor::ExtractOp>(inner);
    cost += isFunction ? 8 : 1;
  }
  return cost;
}

/// True if each iteration of `op` reads another element of the operand.
static bool readsOnce(OpOperand *operand) {
  auto op = cast<linalg::LinalgOp>(operand->getOwner());
  AffineMap map = op.getMatchingIndexingMap(operand);
  // A dim of one element needs no loop.
  if (!map.dropZeroResults().isProjectedPermutation())
    return false;
  // Once around a dim of one element is no repetition.
  for (auto [dim, size] : llvm::enumerate(op.getStaticLoopRanges()))
    if (size != 1 && !map.isFunctionOfDim(dim))
      return false;
  return true;
}

/// True if no iteration of `op` reads an element that another one reads too.
static bool readsEachOnce(linalg::GenericOp op) {
  return llvm::all_of(op.getDpsInputOperands(), readsOnce);
}

/// True if `op` may be repeated for each of its readers: a little arithmetic on
/// one value of full size costs less than to keep its result.
static bool isRepeatable(linalg::GenericOp op) {
  return bodyCost(op) <= 4 &&
         llvm::count_if(op.getDpsInputOperands(), [&](OpOperand *input) {
           return op.getMatchingIndexingMap(input).getNumResults() ==
                  op.getNumLoops();
         }) <= 1;
}

static bool shouldFuse(OpOperand *operand) {
  auto producer = operand->get().getDefiningOp<linalg::GenericOp>();
  auto consumer = dyn_cast<linalg::GenericOp>(operand->getOwner());
  if (!producer || !consumer)
    return false;
  unsigned cost = bodyCost(producer);
  if (isContraction(consumer) && !readsEachOnce(consumer)) {
    // Reading through a broadcast or transpose only changes strides.
    return cost == 0 && producer.getNumDpsInputs() <= 1 &&
           producer.getMatchingIndexingMap(producer.getDpsInitOperand(0))
               .isIdentity() &&
           llvm::none_of(
               producer.getBody()->without_terminator(),
               [](Operation &inner) { return isa<linalg::IndexOp>(inner); });
  }
  if (consumer.getNumDpsInputs() + producer.getNumDpsInputs() > kMaxInputs)
    return false;
  unsigned users = 0;
  for (Operation *user : producer->getUsers()) {
    (void)user;
    ++users;
  }
  bool once = readsOnce(operand);
  if (users == 1 && once)
    return true;
  if (cost == 0)
    return true;
  // Repeating a little arithmetic is cheaper than a pass over memory, as long
  // as it does not read more than it saves.
  return users == 1 ? cost <= 4 : once && isRepeatable(producer);
}

/// True for an op of one result whose iterations are its elements, each made
/// once from what the op reads.
static bool isElementwise(linalg::GenericOp op) {
  return op && op.hasPureTensorSemantics() && op->getNumResults() == 1 &&
         op.getNumParallelLoops() == op.getNumLoops() &&
         op.getMatchingIndexingMap(op.getDpsInitOperand(0)).isIdentity() &&
         op.getRegionOutputArgs().front().use_empty();
}

/// True if `user` reads, in each iteration, the element of `op` with the same
/// indices, and nothing else of it.
static bool readsAlike(linalg::GenericOp user, linalg::GenericOp op) {
  return llvm::all_of(user->getOpOperands(), [&](OpOperand &operand) {
    return operand.get() != op->getResult(0) ||
           (user.isDpsInput(&operand) &&
            user.getMatchingIndexingMap(&operand).isIdentity());
  });
}

namespace {
/// Elementwise ops that can run where the last of them does: who else reads
/// what they make comes after it.
struct Cone {
  SmallVector<linalg::GenericOp> members; ///< the last first
  SmallVector<linalg::GenericOp> results; ///< members that others read
  SetVector<Value> inputs;                ///< of all members, also from within
  unsigned ops = 0;
};
} // namespace

static unsigned bodySize(linalg::GenericOp op) {
  return op.getBody()->getOperations().size();
}

/// Makes one op of a cone, in the last one's place.
static void merge(Cone &cone) {
  linalg::GenericOp last = cone.members.front();
  IRRewriter rewriter(last.getContext());
  rewriter.setInsertionPoint(last);
  llvm::DenseSet<Value> made;
  for (linalg::GenericOp op : cone.members)
    made.insert(op->getResult(0));
  // Inputs, each once for each way in which it is read.
  SmallVector<Value> inputs, inits;
  SmallVector<AffineMap> maps;
  auto placeOf = [&](Value value, AffineMap map) {
    for (auto [place, known] : llvm::enumerate(inputs))
      if (known == value && maps[place] == map)
        return unsigned(place);
    inputs.push_back(value);
    maps.push_back(map);
    return unsigned(inputs.size() - 1);
  };
  for (linalg::GenericOp op : llvm::reverse(cone.members))
    for (OpOperand *operand : op.getDpsInputOperands())
      if (!made.contains(operand->get()))
        placeOf(operand->get(), op.getMatchingIndexingMap(operand));
  SmallVector<Type> types;
  for (linalg::GenericOp op : cone.results) {
    inits.push_back(op.getDpsInits().front());
    maps.push_back(op.getIndexingMapsArray().back());
    types.push_back(op->getResultTypes().front());
  }
  auto fused = linalg::GenericOp::create(
      rewriter, last.getLoc(), types, inputs, inits, maps,
      last.getIteratorTypesArray(),
      [&](OpBuilder &builder, Location loc, ValueRange arguments) {
        llvm::DenseMap<Value, Value> values;
        for (linalg::GenericOp op : llvm::reverse(cone.members)) {
          IRMapping map;
          for (OpOperand *operand : op.getDpsInputOperands()) {
            auto inner = values.find(operand->get());
            map.map(
                op.getMatchingBlockArgument(operand),
                inner != values.end()
                    ? inner->second
                    : arguments[placeOf(operand->get(),
                                        op.getMatchingIndexingMap(operand))]);
          }
          for (Operation &inner : op.getBody()->without_terminator())
            builder.clone(inner, map);
          values[op->getResult(0)] =
              map.lookupOrDefault(op.getBody()->getTerminator()->getOperand(0));
        }
        SmallVector<Value> yielded;
        for (linalg::GenericOp op : cone.results)
          yielded.push_back(values[op->getResult(0)]);
        linalg::YieldOp::create(builder, loc, yielded);
      });
  fused->setDiscardableAttrs(last->getDiscardableAttrDictionary());
  for (auto [op, result] : llvm::zip_equal(cone.results, fused.getResults()))
    rewriter.replaceAllUsesWith(op->getResult(0), result);
  for (linalg::GenericOp op : cone.members)
    rewriter.eraseOp(op);
}

/// True for what takes a value that the function returns.
static bool isReturn(Operation *op) {
  return isa<func::ReturnOp, bufferization::MaterializeInDestinationOp>(op);
}

/// True if a product, a window or a sum makes `value`, whose kernel may go on
/// with the one op that reads it.
static bool isReduced(Value value) {
  auto op = value.getDefiningOp<linalg::LinalgOp>();
  return op && op.getNumReductionLoops() > 0;
}

/// The cone of those that read `op`, if `op` can be part of it.
static Cone *coneToJoin(linalg::GenericOp op,
                        const llvm::DenseMap<Operation *, Cone *> &coneOf,
                        bool &isResult) {
  Cone *cone = nullptr;
  isResult = false;
  for (Operation *user : op->getUsers()) {
    if (isReturn(user)) {
      isResult = true;
      continue;
    }
    auto reader = dyn_cast<linalg::GenericOp>(user);
    Cone *other = reader ? coneOf.lookup(user) : nullptr;
    if (!other || (cone && other != cone) || !readsAlike(reader, op))
      return nullptr;
    cone = other;
  }
  if (!cone)
    return nullptr;
  // State that is read on the way to other state: moments of an optimizer.
  if (isResult) {
    linalg::GenericOp last = cone->members.front();
    for (Operation *user : op->getUsers())
      if (isReturn(user) &&
          (user->getBlock() != last->getBlock() || user->isBeforeInBlock(last)))
        return nullptr;
  }
  if (isResult || cone->results.size() > 1)
    if (llvm::any_of(op.getDpsInputs(), isReduced) ||
        llvm::any_of(cone->inputs, isReduced))
      return nullptr;
  auto isNew = [&](Value input) { return !cone->inputs.contains(input); };
  size_t inputs =
      cone->inputs.size() + llvm::count_if(op.getDpsInputs(), isNew);
  // What it makes is no input of the others any longer.
  return inputs <= kMaxInputs + 1 && cone->ops + bodySize(op) <= kMaxBody
             ? cone
             : nullptr;
}

/// Makes one op of elementwise ops that share what they read and make: a value
/// with several readers, all of which end in one result, stays in a register;
/// so does state that is returned, and read once more on the way to other
/// state.
static void mergeCones(func::FuncOp function) {
  SmallVector<std::unique_ptr<Cone>> cones;
  function.walk([&](Block *block) {
    llvm::DenseMap<Operation *, Cone *> coneOf;
    for (Operation &inner : llvm::reverse(*block)) {
      auto op = dyn_cast<linalg::GenericOp>(inner);
      if (!isElementwise(op) || op->use_empty())
        continue;
      bool isResult = true;
      Cone *cone = coneToJoin(op, coneOf, isResult);
      if (!cone) {
        cone = cones.emplace_back(std::make_unique<Cone>()).get();
        isResult = true;
      }
      coneOf[op] = cone;
      cone->members.push_back(op);
      if (isResult)
        cone->results.push_back(op);
      cone->inputs.remove(op->getResult(0));
      cone->inputs.insert_range(op.getDpsInputs());
      cone->ops += bodySize(op);
    }
  });
  for (std::unique_ptr<Cone> &cone : cones)
    if (cone->members.size() > 1)
      merge(*cone);
}

/// Work on elements that is other such work's, or a sum's, under another shape:
/// the one takes the shape of the other, so that both are one pass. `operand`
/// is of a tensor.collapse_shape, which the second reads, or that of a
/// tensor.expand_shape.
static bool shouldReshape(OpOperand *operand) {
  auto isPlain = [](linalg::GenericOp op) {
    return isElementwise(op) && !op.hasIndexSemantics() &&
           op.getBody()->getOps<tensor::ExtractOp>().empty();
  };
  auto producer = operand->get().getDefiningOp<linalg::GenericOp>();
  if (auto expand = dyn_cast<tensor::ExpandShapeOp>(operand->getOwner()))
    return producer && producer->hasOneUse() && isPlain(producer) &&
           llvm::any_of(expand->getUsers(), llvm::IsaPred<linalg::GenericOp>) &&
           // Dims of one element are folded away elsewhere.
           llvm::none_of(expand.getResultType().getShape(),
                         [](int64_t size) { return size == 1; });
  auto collapse = operand->get().getDefiningOp<tensor::CollapseShapeOp>();
  auto consumer = dyn_cast<linalg::GenericOp>(operand->getOwner());
  if (!collapse || !consumer || !collapse->hasOneUse())
    return false;
  producer = collapse.getSrc().getDefiningOp<linalg::GenericOp>();
  auto isSum = [](linalg::GenericOp op) {
    return op.getNumReductionLoops() > 0 && op->getNumResults() == 1 &&
           !op.hasIndexSemantics() && readsEachOnce(op);
  };
  return producer && isPlain(producer) &&
         (producer->hasOneUse() || isRepeatable(producer)) &&
         (isPlain(consumer) || isSum(consumer)) &&
         collapse.getSrcType().hasStaticShape() && readsOnce(operand) &&
         // Dims of one element are folded away elsewhere.
         llvm::none_of(collapse.getSrcType().getShape(),
                       [](int64_t size) { return size == 1; });
}

/// Moves reductions down to their single consumer, with what fills their
/// destination, so that the kernel generator finds them side by side.
static void sinkToConsumers(func::FuncOp function) {
  SmallVector<linalg::LinalgOp> ops;
  function.walk([&](linalg::LinalgOp op) { ops.push_back(op); });
  for (linalg::LinalgOp op : llvm::reverse(ops)) {
    if (op->getNumResults() != 1 || !op->hasOneUse())
      continue;
    Operation *user = *op->user_begin();
    if (user->getBlock() != op->getBlock() || !isa<linalg::LinalgOp>(user))
      continue;
    bool isFill = isa<linalg::FillOp>(op);
    if (!isFill && op.getNumReductionLoops() == 0)
      continue;
    op->moveBefore(user);
  }
}

/// Where `extract` reads what it is of, or what that is a slice of; nothing
/// where the slice may begin anywhere.
static std::optional<SmallVector<Value>> placeIn(tensor::ExtractOp extract) {
  auto slice = extract.getTensor().getDefiningOp<tensor::ExtractSliceOp>();
  if (!slice)
    return llvm::to_vector_of<Value>(extract.getIndices());
  if (!slice.hasUnitStride() ||
      !llvm::all_of(slice.getStaticOffsets(), [](int64_t offset) {
        return !ShapedType::isDynamic(offset);
      }))
    return std::nullopt;
  OpBuilder b(extract);
  Location loc = extract.getLoc();
  llvm::SmallBitVector dropped = slice.getDroppedDims();
  SmallVector<Value> place;
  auto index = extract.getIndices().begin();
  for (auto [dim, offset] : llvm::enumerate(slice.getStaticOffsets())) {
    Value at;
    if (offset || dropped[dim])
      at = arith::ConstantIndexOp::create(b, loc, offset);
    if (!dropped[dim]) {
      at = at ? arith::AddIOp::create(b, loc, at, *index) : *index;
      ++index;
    }
    place.push_back(at);
  }
  return place;
}

/// Loops that read single integers (where a scatter's updates go) compute what
/// takes a little arithmetic, as other readers do.
static void fuseIntoExtracts(func::FuncOp function) {
  SmallVector<tensor::ExtractOp> extracts;
  function.walk(
      [&](tensor::ExtractOp extract) { extracts.push_back(extract); });
  auto isExtract = [](Operation *user) { return isa<tensor::ExtractOp>(user); };
  for (tensor::ExtractOp extract : extracts) {
    Value whole = extract.getTensor();
    auto slice = whole.getDefiningOp<tensor::ExtractSliceOp>();
    auto op =
        (slice ? slice.getSource() : whole).getDefiningOp<linalg::GenericOp>();
    if (extract->getParentOfType<linalg::LinalgOp>() || !isElementwise(op) ||
        !isRepeatable(op) || !extract.getType().isIntOrIndex() ||
        !llvm::all_of(
            op.getIndexingMapsArray(),
            [](AffineMap map) { return map.isProjectedPermutation(); }) ||
        !llvm::all_of(op->getUsers(), [&](Operation *user) {
          return isExtract(user) || (isa<tensor::ExtractSliceOp>(user) &&
                                     llvm::all_of(user->getUsers(), isExtract));
        }))
      continue;
    // A tensor that the loop changes would have to be kept as it was.
    bool isChanged = false;
    for (auto loop = extract->getParentOfType<LoopLikeOpInterface>(); loop;
         loop = loop->getParentOfType<LoopLikeOpInterface>())
      isChanged |= llvm::any_of(loop.getInits(), [&](Value init) {
        return llvm::is_contained(op->getOperands(), init);
      });
    std::optional<SmallVector<Value>> place;
    if (isChanged || !(place = placeIn(extract)))
      continue;
    OpBuilder b(extract);
    IRMapping map;
    for (OpOperand *input : op.getDpsInputOperands()) {
      SmallVector<Value> at;
      for (AffineExpr position : op.getMatchingIndexingMap(input).getResults())
        at.push_back((*place)[cast<AffineDimExpr>(position).getPosition()]);
      Value element = input->get();
      if (isa<RankedTensorType>(element.getType()))
        element = tensor::ExtractOp::create(b, extract.getLoc(), element, at);
      map.map(op.getMatchingBlockArgument(input), element);
    }
    for (Operation &inner : op.getBody()->without_terminator()) {
      auto index = dyn_cast<linalg::IndexOp>(inner);
      if (index)
        map.map(index.getResult(), (*place)[index.getDim()]);
      else
        b.clone(inner, map);
    }
    Value made = op.getBody()->getTerminator()->getOperand(0);
    extract.replaceAllUsesWith(map.lookupOrDefault(made));
    extract.erase();
    for (Operation *dead : {slice.getOperation(), op.getOperation()})
      if (dead && isOpTriviallyDead(dead))
        dead->erase();
  }
}

static bool canVanish(arith::ArithFastMathInterface cast) {
  auto flags = cast.getFastMathFlagsAttr();
  return flags &&
         bitEnumContainsAll(flags.getValue(), arith::FastMathFlags::contract);
}

/// `value` before it was rounded from `wide`, if the rounding may vanish.
static Value beforeRounding(Value value, Type wide) {
  auto rounding = value.getDefiningOp<arith::TruncFOp>();
  return rounding && rounding.getIn().getType() == wide && canVanish(rounding)
             ? rounding.getIn()
             : Value();
}

/// What `cast` widens, without the rounding on its way here; null if there is
/// none, or it has to stay.
static Value asItWas(arith::ExtFOp cast) {
  Type wide = cast.getType();
  if (!canVanish(cast))
    return {};
  if (Value value = beforeRounding(cast.getIn(), wide))
    return value;
  auto choice = cast.getIn().getDefiningOp<arith::SelectOp>();
  if (!choice)
    return {};
  Value yes = beforeRounding(choice.getTrueValue(), wide),
        no = beforeRounding(choice.getFalseValue(), wide);
  if (!yes && !no)
    return {};
  OpBuilder b(cast);
  auto widened = [&](Value known, Value narrow) {
    return known ? known
                 : arith::ExtFOp::create(b, cast.getLoc(), wide, narrow);
  };
  return arith::SelectOp::create(b, cast.getLoc(), choice.getCondition(),
                                 widened(yes, choice.getTrueValue()),
                                 widened(no, choice.getFalseValue()));
}

/// What ops of one kernel give one another stays in the type that they compute
/// in, where conversions may vanish: here, and nowhere behind.
static void keepWide(func::FuncOp function) {
  SmallVector<Operation *> casts;
  function.walk([&](Operation *op) {
    if (isa<arith::ExtFOp, arith::TruncFOp>(op))
      casts.push_back(op);
  });
  for (Operation *op : casts)
    if (auto cast = dyn_cast<arith::ExtFOp>(op))
      if (Value wide = asItWas(cast))
        cast.replaceAllUsesWith(wide);
  // Backwards: the last reader goes first.
  for (Operation *op : llvm::reverse(casts))
    if (isOpTriviallyDead(op))
      op->erase();
    else
      op->removeAttr(
          cast<arith::ArithFastMathInterface>(op).getFastMathAttrName());
}

namespace {
struct FuseElementwisePass final
    : shardc::impl::FuseElementwisePassBase<FuseElementwisePass> {
  using Base::Base;
  void runOnOperation() override {
    MLIRContext *context = &getContext();
    RewritePatternSet patterns(context);
    linalg::populateElementwiseOpsFusionPatterns(patterns, shouldFuse);
    linalg::populateFoldReshapeOpsByExpansionPatterns(patterns, shouldReshape);
    linalg::populateEraseUnusedOperandsAndResultsPatterns(patterns);
    linalg::populateConstantFoldLinalgOperations(
        patterns,
        [](OpOperand *operand) { return operand->get().hasOneUse(); });
    linalg::GenericOp::getCanonicalizationPatterns(patterns, context);
    tensor::EmptyOp::getCanonicalizationPatterns(patterns, context);
    tensor::CastOp::getCanonicalizationPatterns(patterns, context);
    tensor::ExpandShapeOp::getCanonicalizationPatterns(patterns, context);
    tensor::CollapseShapeOp::getCanonicalizationPatterns(patterns, context);
    context->getLoadedDialect<linalg::LinalgDialect>()
        ->getCanonicalizationPatterns(patterns);
    GreedyRewriteConfig config;
    config.setUseTopDownTraversal();
    if (failed(
            applyPatternsGreedily(getOperation(), std::move(patterns), config)))
      return signalPassFailure();
    mergeCones(getOperation());
    fuseIntoExtracts(getOperation());
    keepWide(getOperation());
    sinkToConsumers(getOperation());
  }
};
} // namespace
} // namespace shardc
