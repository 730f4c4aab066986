//===- RaiseRings.cpp - Rings of their own as attention of whole tensors --===//
#include "MatchRings.h"
#include "Plain.h"
#include "Writer.h"
#include "shardc/Dialect/Pairs/IR/Pairs.h"
#include "shardc/Dialect/Spmd/IR/SpmdGlobal.h"
#include "shardc/Raise/Passes.h"

namespace shardc {
#define GEN_PASS_DEF_RAISERINGSPASS
#include "shardc/Raise/Passes.h.inc"
} // namespace shardc

using namespace mlir;
using namespace shardc;
using namespace shardc::raise;

namespace {
/// Regions that hand results to one another, and what they compute together.
struct RegionGroup {
  SmallVector<spmd::ManualOp> regions;
  std::optional<Ring> ring;
  SmallVector<OpResult> outputs, gradientResults;
  std::vector<RingGradient> gradients;
};

/// Writes a ring as plain attention of whole tensors.
class RingWriter : PlainOps {
public:
  /// Tensors in the shardings that regions gave them, by tensor and sharding:
  /// one for all uses.
  using LaidOut = std::map<std::pair<const void *, const void *>, Value>;

  RingWriter(Ring &ring, Operation *place, LaidOut &laidOut);
  Value writeOutput();
  Value writeGradient(const RingGradient &gradient);
  /// Puts `value` in the place of `result`.
  void replace(OpResult result, Value value);
  /// `value`, laid out as `sharding` says.
  Value constrain(Value value, spmd::ShardingAttr sharding) {
    return spmd::ConstrainOp::create(builder, loc, value.getType(), value,
                                     sharding);
  }

private:
  Placed operand(const RingOperand &operand);
  /// `poly` along queries and keys.
  Value write(PolyId poly);
  Value probabilities();

  Ring &ring;
  LaidOut &laidOut;
  SmallVector<unsigned> scoreDims, rowDims;
  Value raw;
};
} // namespace

static FloatType accumulatorOf(const Ring &ring, OpBuilder builder) {
  return typeOf(ring.query.value).getElementType().isF64()
             ? FloatType(builder.getF64Type())
             : FloatType(builder.getF32Type());
}

RingWriter::RingWriter(Ring &ring, Operation *place, LaidOut &laidOut)
    : PlainOps(OpBuilder(place), place->getLoc(), SmallVector<int64_t>(64, 1),
               accumulatorOf(ring, OpBuilder(place))),
      ring(ring), laidOut(laidOut) {
  // Sizes of whole tensors.
  for (const RingOperand &operand : {ring.query, ring.key, ring.value})
    for (auto [dim, parts] : llvm::enumerate(operand.layout))
      for (unsigned part : parts)
        sizes[part] = parts.size() == 1 ? typeOf(operand.value).getDimSize(dim)
                                        : ring.reader->sizeOf(part);
  for (unsigned part : flatten(ring.outputLayout))
    if (part != ring.queryDim && part != ring.featureDim)
      rowDims.push_back(part);
  rowDims.push_back(ring.queryDim);
  scoreDims = rowDims;
  scoreDims.push_back(kRingKey);
}

Placed RingWriter::operand(const RingOperand &operand) {
  Value &value = laidOut[{operand.value.getAsOpaquePointer(),
                          operand.sharding.getAsOpaquePointer()}];
  if (!value)
    value = constrain(operand.value, operand.sharding);
  Placed placed{value, flatten(operand.layout)};
  auto type = typeOf(operand.value).clone(shapeOf(placed.dims));
  if (type != placed.value.getType())
    placed.value =
        stablehlo::ReshapeOp::create(builder, loc, type, placed.value);
  return placed;
}

Value RingWriter::write(PolyId poly) {
  Algebra &algebra = *ring.algebra;
  SmallVector<int64_t> shape = shapeOf(scoreDims);
  Writer writer(algebra, builder, loc, accumulator, shape);
  SmallVector<TermId> terms;
  algebra.collectTerms(poly, terms);
  writer.terms[ring.raw] = raw;
  for (TermId id : terms) {
    Term term = algebra.getTerm(id);
    const BlockLeaf *leaf = ring.reader->leafOf(term);
    if (!leaf || (term.dims & ~(bit(kFirstBoundDim) - 1)))
      continue;
    Placed placed = operand({leaf->value, leaf->sharding, term.layouts[0]});
    writer.terms[id] = spread(placed, scoreDims);
  }
  for (auto [place, dim] : llvm::enumerate(scoreDims))
    writer.positions[dim] = stablehlo::IotaOp::create(
        builder, loc, RankedTensorType::get(shape, builder.getI32Type()),
        place);
  return writer.write(poly, accumulator);
}

Value RingWriter::probabilities() {
  raw =
      contract(operand(ring.query), operand(ring.key), {kRingDepth}, scoreDims);
  Value score = write(ring.score);
  Placed largest =
      reduce<stablehlo::MaxOp>({score, scoreDims}, rowDims, -INFINITY);
  Value shifted =
      binary<stablehlo::SubtractOp>(score, spread(largest, scoreDims));
  Value p = stablehlo::ExpOp::create(builder, loc, shifted.getType(), shifted);
  Placed sum = reduce<stablehlo::AddOp>({p, scoreDims}, rowDims, 0);
  return binary<stablehlo::DivOp>(p, spread(sum, scoreDims));
}

Value RingWriter::writeOutput() {
  SmallVector<unsigned> dims = flatten(ring.outputLayout);
  Value p = probabilities();
  return contract({p, scoreDims}, operand(ring.value), {kRingKey}, dims);
}

Value RingWriter::writeGradient(const RingGradient &gradient) {
  Placed p{probabilities(), scoreDims}, dout = operand(gradient.cotangent);
  if (gradient.kind == GradientKind::Value)
    return contract(p, dout, {ring.queryDim}, flatten(ring.value.layout));
  SmallVector<unsigned> features;
  if (ring.featureDim != kNoFeature)
    features.push_back(ring.featureDim);
  Value dp = contract(dout, operand(ring.value), features, scoreDims);
  Placed delta = reduce<stablehlo::AddOp>(
      {binary<stablehlo::MulOp>(p.value, dp), scoreDims}, rowDims, 0);
  Value ds = binary<stablehlo::MulOp>(
      p.value, binary<stablehlo::SubtractOp>(dp, spread(delta, scoreDims)));
  Placed draw{binary<stablehlo::MulOp>(ds, write(gradient.slope)), scoreDims};
  if (gradient.kind == GradientKind::Query)
    return contract(draw, operand(ring.key), {kRingKey},
                    flatten(ring.query.layout));
  return contract(draw, operand(ring.query), {ring.queryDim},
                  flatten(ring.key.layout));
}

void RingWriter::replace(OpResult result, Value value) {
  auto type = cast<RankedTensorType>(result.getType());
  value = convert(value, type.getElementType());
  if (value.getType() != type)
    value = stablehlo::ReshapeOp::create(builder, loc, type, value);
  auto manual = cast<spmd::ManualOp>(result.getOwner());
  result.replaceAllUsesWith(constrain(
      value, cast<spmd::ShardingAttr>(
                 manual.getOutShardings()[result.getResultNumber()])));
}

//===----------------------------------------------------------------------===//
// Regions
//===----------------------------------------------------------------------===//

/// Groups of regions of `block` that hand results to one another, those in
/// which blocks travel.
static std::vector<RegionGroup> findGroups(Block &block) {
  std::vector<RegionGroup> groups;
  for (auto region : block.getOps<spmd::ManualOp>()) {
    RegionGroup merged;
    for (size_t i = 0; i < groups.size();) {
      bool isFed = llvm::any_of(region.getInputs(), [&](Value input) {
        return llvm::is_contained(groups[i].regions,
                                  input.getDefiningOp<spmd::ManualOp>());
      });
      if (!isFed) {
        ++i;
        continue;
      }
      llvm::append_range(merged.regions, groups[i].regions);
      groups.erase(groups.begin() + i);
    }
    merged.regions.push_back(region);
    llvm::sort(merged.regions, [](spmd::ManualOp a, spmd::ManualOp b) {
      return a->isBeforeInBlock(b);
    });
    groups.push_back(std::move(merged));
  }
  llvm::erase_if(groups, [](RegionGroup &group) {
    return llvm::none_of(group.regions, [](spmd::ManualOp region) {
      return region
          .walk([](stablehlo::CollectivePermuteOp) {
            return WalkResult::interrupt();
          })
          .wasInterrupted();
    });
  });
  return groups;
}

/// Finds out what the results of `group` are that others use; true if all of
/// them are of one ring.
static bool matchGroup(RegionGroup &group, const Numbering &numbering,
                       spmd::MeshAttr mesh, RingMiss &miss) {
  SmallVector<OpResult> wanted;
  for (spmd::ManualOp region : group.regions) {
    int64_t blocks = 1;
    for (Attribute axis : region.getManualAxes())
      blocks *= mesh.getAxisSize(cast<StringAttr>(axis));
    if (blocks != mesh.getNumRanks()) {
      miss = {region, "axes of its mesh are not manual"};
      return false;
    }
    for (OpResult result : region->getResults())
      if (llvm::any_of(result.getUsers(), [&](Operation *user) {
            return !llvm::is_contained(group.regions,
                                       dyn_cast<spmd::ManualOp>(user));
          }))
        wanted.push_back(result);
  }
  // The first result that is an output says what the ring is.
  SmallVector<OpResult> others;
  for (OpResult result : wanted) {
    RingMiss one;
    if (!group.ring && (group.ring = matchRing(result, numbering, mesh, one)))
      group.outputs.push_back(result);
    else
      others.push_back(result);
    if (!miss.op || one.steps > miss.steps)
      miss = std::move(one);
  }
  if (!group.ring)
    return false;
  // Gradients of queries first: they say what the cotangent is.
  for (int attempt = 0; attempt < 2; ++attempt)
    llvm::erase_if(others, [&](OpResult result) {
      std::optional<RingGradient> gradient =
          matchRingGradient(result, *group.ring, numbering, group.gradients);
      if (!gradient)
        return false;
      group.gradients.push_back(std::move(*gradient));
      group.gradientResults.push_back(result);
      return true;
    });
  if (others.empty())
    return true;
  miss = {others.front().getOwner(),
          whyNoGradient(*group.ring, others.front())};
  return false;
}

/// The product inside of `group` that makes what travels; null if blocks of
/// operands travel.
static Operation *findProjection(RegionGroup &group) {
  Operation *found = nullptr;
  auto hasExponential = [](spmd::ManualOp region) {
    return region.walk([](stablehlo::ExpOp) { return WalkResult::interrupt(); })
        .wasInterrupted();
  };
  if (llvm::none_of(group.regions, hasExponential))
    return nullptr;
  for (spmd::ManualOp region : group.regions)
    region.walk([&](stablehlo::CollectivePermuteOp permute) {
      Value value = permute.getOperand();
      for (int steps = 0; steps < 32 && !found; ++steps) {
        if (auto argument = dyn_cast<BlockArgument>(value)) {
          auto loop =
              dyn_cast<stablehlo::WhileOp>(argument.getOwner()->getParentOp());
          if (!loop)
            return;
          value = loop->getOperand(argument.getArgNumber());
          continue;
        }
        Operation *op = value.getDefiningOp();
        // A gradient that travels is made of exponentials: that is no
        // projection.
        auto isOfScores = [](Value operand) {
          return isBefore(operand, 64, llvm::IsaPred<stablehlo::ExpOp>);
        };
        if (isa<stablehlo::DotGeneralOp>(op)) {
          if (llvm::none_of(op->getOperands(), isOfScores))
            found = op;
          return;
        }
        if (op->getNumOperands() == 0 || op->getNumRegions() != 0)
          return;
        value = op->getOperand(0);
      }
    });
  return found;
}

static void writeGroup(RegionGroup &group) {
  Operation *first = group.regions.front();
  RingWriter::LaidOut laidOut;
  for (OpResult output : group.outputs) {
    RingWriter writer(*group.ring, first, laidOut);
    writer.replace(output, writer.writeOutput());
  }
  // In the order of the regions, so that what is laid out for one is there for
  // the next.
  for (spmd::ManualOp region : group.regions)
    for (auto [result, gradient] :
         llvm::zip_equal(group.gradientResults, group.gradients))
      if (result.getOwner() == region) {
        RingWriter writer(*group.ring, region, laidOut);
        writer.replace(result, writer.writeGradient(gradient));
      }
  // Those that take results of others first.
  for (spmd::ManualOp region : llvm::reverse(group.regions))
    region.erase();
}

namespace {
struct RaiseRingsPass final : shardc::impl::RaiseRingsPassBase<RaiseRingsPass> {
  using Base::Base;
  void runOnOperation() override {
    func::FuncOp func = getOperation();
    if (func.isExternal() || !func.getBody().hasOneBlock())
      return;
    std::vector<RegionGroup> groups = findGroups(func.getBody().front());
    if (groups.empty())
      return;
    Numbering numbering(func);
    SmallVector<RegionGroup *> found;
    for (RegionGroup &group : groups) {
      auto sharding = group.regions.front().getInShardings().empty()
                          ? nullptr
                          : cast<spmd::ShardingAttr>(
                                group.regions.front().getInShardings()[0]);
      spmd::MeshAttr mesh =
          sharding ? spmd::lookupMesh(func, sharding.getMesh()) : nullptr;
      RingMiss miss;
      if (mesh && matchGroup(group, numbering, mesh, miss))
        found.push_back(&group);
      else if (Operation *projection =
                   explain && !group.ring ? findProjection(group) : nullptr)
        emitRemark(projection->getLoc())
            << "looks like attention round a ring, but is left as it is: '"
            << projection->getName()
            << "' makes keys or values inside of the region; make them before "
               "it";
      else if (explain && miss.op && !miss.why.empty())
        emitRemark(miss.op->getLoc())
            << "looks like attention round a ring, but is left as it is: "
            << miss.why;
    }
    for (RegionGroup *group : found)
      writeGroup(*group);
  }
};
} // namespace
