//===- PlanArena.cpp - One arena for all bounded buffers ------------------===//
//
// Every op of the function has a number in textual order. A buffer lives from
// its alloc to the last op that may use it; a use in a loop that the alloc is
// outside of keeps it until that loop ends. Buffers go, the largest first, to
// the lowest offset that no buffer living at the same time holds.
//
// Where sizes follow from what is bound, the plan is made for one binding. Of
// buffers that live at the same time one is above the other, and does so in
// every binding: at the end of those below it, wherever that is then.
//
// A buffer to which an exchange brings what may as well be read in place
// takes no room on ranks, and in bindings, where it is.
//
// A buffer that other ranks may read until it is released lives that long, or
// as long as the arena is no larger for it; it is released no later than that.
//
//===----------------------------------------------------------------------===//
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Interfaces/InferIntRangeInterface.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "shardc/Analysis/BoundNumbers.h"
#include "shardc/Analysis/SiteTables.h"
#include "shardc/Buffers/Passes.h"
#include "shardc/Dialect/Kernel/IR/KernelContracts.h"
#include "shardc/Dialect/Kernel/IR/KernelSites.h"
#include "shardc/Dialect/Spmd/IR/Spmd.h"
#include "shardc/Dialect/Spmd/IR/SpmdLevels.h"
#include "shardc/Layout/NumberFormula.h"
#include "shardc/Layout/TravelFormula.h"
#include "shardc/Support/ElementBytes.h"
#include "shardc/Support/UserLocation.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/Support/MathExtras.h"
#include <numeric>

using namespace mlir;

namespace shardc {
#define GEN_PASS_DEF_PLANARENAPASS
#include "shardc/Buffers/Passes.h.inc"

static constexpr int64_t kAlignment = 64;
/// Of the arena, what buffers that wait to be released may cost.
static constexpr int64_t kReleaseShare = 64;

namespace {
/// Upper bounds of index values: through arithmetic, sizes of buffers, and
/// whatever else knows its range.
class Bounds {
public:
  /// Largest value of `value` (which is not negative where it is a size), or
  /// nothing.
  std::optional<int64_t> largest(Value value) {
    ConstantIntRanges range = rangeOf(value);
    APInt most = range.smax();
    // No more than any memory holds: a part of what is not known is neither.
    if (most.isNegative() || most.ugt(int64_t(1) << 48))
      return std::nullopt;
    return most.getSExtValue();
  }

private:
  static ConstantIntRanges unknown(unsigned width) {
    return ConstantIntRanges::maxRange(width);
  }
  static ConstantIntRanges upTo(int64_t most) {
    return ConstantIntRanges::fromSigned(APInt(64, 0), APInt(64, most));
  }
  static unsigned widthOf(Type type) {
    return ConstantIntRanges::getStorageBitwidth(type);
  }

  ConstantIntRanges sizeOf(Value memref, int64_t dim) {
    auto type = dyn_cast<MemRefType>(memref.getType());
    if (!type)
      return unknown(64);
    if (!type.isDynamicDim(dim))
      return upTo(type.getDimSize(dim));
    Operation *op = memref.getDefiningOp();
    if (auto alloc = dyn_cast_or_null<memref::AllocOp>(op))
      return rangeOf(alloc.getDynamicSizes()[type.getDynamicDimIndex(dim)]);
    if (auto cast = dyn_cast_or_null<memref::CastOp>(op))
      return sizeOf(cast.getSource(), dim);
    if (auto view = dyn_cast_or_null<memref::ViewOp>(op))
      return rangeOf(view.getSizes()[type.getDynamicDimIndex(dim)]);
    return unknown(64);
  }

  ConstantIntRanges rangeOf(Value value) {
    unsigned width = widthOf(value.getType());
    if (width == 0)
      return unknown(64);
    if (std::optional<int64_t> number = getConstantIntValue(value))
      return ConstantIntRanges::constant(APInt(width, *number, true, true));
    auto known = ranges.find(value);
    if (known != ranges.end())
      return known->second;
    ranges.insert({value, unknown(width)}); // a cycle knows nothing
    ConstantIntRanges range = compute(value, width);
    ranges.insert_or_assign(value, range);
    return range;
  }

  ConstantIntRanges compute(Value value, unsigned width) {
    Operation *op = value.getDefiningOp();
    if (!op) {
      // A loop's index stays below its bound.
      auto argument = cast<BlockArgument>(value);
      if (auto loop = dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp()))
        if (value == loop.getInductionVar())
          return upTo(largest(loop.getUpperBound()).value_or(INT64_MAX));
      return unknown(width);
    }
    if (auto dim = dyn_cast<memref::DimOp>(op)) {
      if (std::optional<int64_t> number = dim.getConstantIndex())
        return sizeOf(dim.getSource(), *number);
      return unknown(width);
    }
    if (isa<affine::AffineApplyOp, affine::AffineMinOp, affine::AffineMaxOp>(
            op))
      return affineRange(op);
    auto infer = dyn_cast<InferIntRangeInterface>(op);
    if (!infer)
      return unknown(width);
    SmallVector<ConstantIntRanges> operands;
    for (Value operand : op->getOperands())
      operands.push_back(rangeOf(operand));
    ConstantIntRanges found = unknown(width);
    infer.inferResultRanges(operands,
                            [&](Value result, const ConstantIntRanges &range) {
                              if (result == value)
                                found = range;
                            });
    return found;
  }

  /// Interval arithmetic over an affine expression.
  std::optional<std::pair<int64_t, int64_t>>
  evaluate(AffineExpr expr, unsigned dims, ValueRange operands) {
    using Interval = std::pair<int64_t, int64_t>;
    if (auto number = dyn_cast<AffineConstantExpr>(expr))
      return Interval{number.getValue(), number.getValue()};
    auto operand = [&](unsigned i) -> std::optional<Interval> {
      ConstantIntRanges range = rangeOf(operands[i]);
      if (range.smax().isMaxSignedValue() || range.smin().isMinSignedValue())
        return std::nullopt;
      return Interval{range.smin().getSExtValue(), range.smax().getSExtValue()};
    };
    if (auto dim = dyn_cast<AffineDimExpr>(expr))
      return operand(dim.getPosition());
    if (auto symbol = dyn_cast<AffineSymbolExpr>(expr))
      return operand(dims + symbol.getPosition());
    auto binary = cast<AffineBinaryOpExpr>(expr);
    auto left = evaluate(binary.getLHS(), dims, operands);
    auto right = evaluate(binary.getRHS(), dims, operands);
    if (!left || !right)
      return std::nullopt;
    auto corners = [&](auto combine) {
      int64_t all[] = {combine(left->first, right->first),
                       combine(left->first, right->second),
                       combine(left->second, right->first),
                       combine(left->second, right->second)};
      return Interval{*std::min_element(all, all + 4),
                      *std::max_element(all, all + 4)};
    };
    switch (binary.getKind()) {
    case AffineExprKind::Add:
      return Interval{left->first + right->first, left->second + right->second};
    case AffineExprKind::Mul:
      return corners([](int64_t x, int64_t y) { return x * y; });
    case AffineExprKind::FloorDiv:
      if (right->first <= 0)
        return std::nullopt;
      return corners(
          [](int64_t x, int64_t y) { return llvm::divideFloorSigned(x, y); });
    case AffineExprKind::CeilDiv:
      if (right->first <= 0)
        return std::nullopt;
      return corners(
          [](int64_t x, int64_t y) { return llvm::divideCeilSigned(x, y); });
    case AffineExprKind::Mod:
      return Interval{0, right->second - 1};
    default:
      return std::nullopt;
    }
  }

  ConstantIntRanges affineRange(Operation *op) {
    AffineMap map;
    bool isMin = isa<affine::AffineMinOp>(op);
    if (auto apply = dyn_cast<affine::AffineApplyOp>(op))
      map = apply.getAffineMap();
    else if (auto min = dyn_cast<affine::AffineMinOp>(op))
      map = min.getMap();
    else
      map = cast<affine::AffineMaxOp>(op).getMap();
    std::optional<std::pair<int64_t, int64_t>> total;
    for (AffineExpr expr : map.getResults()) {
      auto range = evaluate(expr, map.getNumDims(), op->getOperands());
      if (!range) {
        // One bounded side bounds a minimum from above.
        if (isMin)
          continue;
        return unknown(64);
      }
      if (!total)
        total = range;
      else if (isMin)
        total = {std::min(total->first, range->first),
                 std::min(total->second, range->second)};
      else
        total = {std::max(total->first, range->first),
                 std::max(total->second, range->second)};
    }
    if (!total)
      return unknown(64);
    return ConstantIntRanges::fromSigned(APInt(64, total->first, true),
                                         APInt(64, total->second, true));
  }

  DenseMap<Value, ConstantIntRanges> ranges;
};

/// Bytes of a buffer as what they are made of: `unit` times the sizes. Sizes
/// are formulas of what is bound, or numbers that are part of the unit.
struct Extent {
  int64_t unit = 0;
  SmallVector<spmd::FormulaAttr> sizes;
  int64_t ofOneBinding = 0; ///< the most of any rank
  /// 0 in that binding, where no rank needs the buffer; else 1.
  int64_t isNeeded = 1;
};

struct Buffer {
  memref::AllocOp alloc;
  Extent extent;
  int64_t bytes = 0;
  int64_t from = 0, to = 0;
  int64_t offset = -1;
  /// The last use by this rank, and where others have read it.
  int64_t lastUse = 0;
  SmallVector<spmd::ReleaseSiteOp> releases;
};

class Planner {
public:
  explicit Planner(func::FuncOp function) : function(function) {
    int64_t next = 0;
    number(function, next);
  }

  /// Places the function's bounded buffers; returns the arena's bytes.
  FailureOr<int64_t> run();

private:
  void number(Operation *op, int64_t &next) {
    int64_t first = next++;
    for (Region &region : op->getRegions())
      for (Block &block : region)
        for (Operation &inner : block)
          number(&inner, next);
    span[op] = {first, next - 1};
  }

  LogicalResult settleReceived();
  bool lifetime(Buffer &buffer);
  std::optional<int64_t> bytesOf(memref::AllocOp alloc);
  std::optional<Extent> extentOf(memref::AllocOp alloc);
  std::optional<Extent> extentOf(Value size);
  int64_t writePlan(ArrayRef<Buffer> planned);
  void freeAfterUse(Buffer &buffer, bool escapes);
  void releaseBy(Buffer &buffer, int64_t limit);
  int64_t placeAndRelease(MutableArrayRef<Buffer> planned);

  func::FuncOp function;
  DenseMap<Operation *, std::pair<int64_t, int64_t>> span;
  Bounds bounds;
  /// Of buffers that some ranks may not need: which do.
  DenseMap<Operation *, std::pair<spmd::FormulaAttr, int64_t>> needs;
};
} // namespace

//===----------------------------------------------------------------------===//
// What exchanges bring
//===----------------------------------------------------------------------===//

/// The site that writes `received`, and nothing else does; none where the
/// argument that it reads may be written over while what was received is read.
static spmd::RunSiteOp siteOf(spmd::ReceivedOp received,
                              func::FuncOp function) {
  spmd::RunSiteOp site;
  for (Operation *user : received->getUsers())
    if (auto run = dyn_cast<spmd::RunSiteOp>(user);
        run && llvm::is_contained(run.getInits(), received.getResult())) {
      if (site || run.getSite() != received.getSite())
        return {};
      site = run;
    }
  BlockArgument argument = site ? argumentOf(site) : BlockArgument();
  if (!argument)
    return {};
  for (unsigned i = 0; i < function.getNumArguments(); ++i)
    if (IntegerAttr over = spmd::contract::InPlace::ofArgument(function, i);
        over && over.getInt() == argument.getArgNumber())
      return {};
  return site;
}

/// 1 for ranks by which `exchange` moves something, or which need not what
/// they own, and 0 for others; none where formulas do not say it.
static Formula movesFormula(const Exchange &exchange) {
  std::vector<Formula> pairs;
  for (const DimExchange &dim : exchange.dims) {
    if (dim.ownedFormula)
      pairs.insert(pairs.end(), {dim.ownedFormula, dim.neededFormula});
    else if (dim.owned != dim.needed)
      return {};
  }
  return differsFormula(std::move(pairs));
}

/// Decides which buffers may be the arguments that are received to them:
/// `kernel.received` is left where they may.
LogicalResult Planner::settleReceived() {
  SmallVector<spmd::ReceivedOp> all;
  function.walk([&](spmd::ReceivedOp op) { all.push_back(op); });
  if (all.empty())
    return success();
  FailureOr<shardrt::SiteTable> table =
      readSites(function->getParentOfType<ModuleOp>());
  if (failed(table))
    return failure();
  for (spmd::ReceivedOp received : all) {
    spmd::RunSiteOp site = siteOf(received, function);
    if (!site) {
      received.replaceAllUsesWith(received.getBuffer());
      received.erase();
      continue;
    }
    auto alloc = received.getBuffer().getDefiningOp<memref::AllocOp>();
    const Exchange &exchange = table->sites[site.getSite()].exchange;
    spmd::FormulaAttr moves =
        spmd::FormulaAttr::get(function.getContext(), movesFormula(exchange));
    bool isSeen = alloc && llvm::all_of(alloc->getUsers(), [&](Operation *op) {
                    return op == received || isa<memref::DimOp>(op);
                  });
    if (moves && isSeen)
      needs[alloc] = {moves, llvm::any_of(exchange.dims, [](const auto &dim) {
                        return dim.owned != dim.needed;
                      })};
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Lives and sizes
//===----------------------------------------------------------------------===//

/// Results of `op` that may be (a pointer into) the same memory as an operand.
static bool passesOn(Operation *op) {
  return isa<ViewLikeOpInterface, memref::ExtractAlignedPointerAsIndexOp,
             memref::ExtractStridedMetadataOp, memref::ReshapeOp, arith::AddIOp,
             arith::IndexCastOp, arith::SelectOp, LLVM::IntToPtrOp, LLVM::GEPOp,
             UnrealizedConversionCastOp>(op);
}

static bool isReference(Type type) {
  return isa<BaseMemRefType, LLVM::LLVMPointerType, IndexType>(type) ||
         type.isInteger(64);
}

/// Sets where the buffer lives; false if a loop carries it to its next
/// iteration, so that one place does not do.
bool Planner::lifetime(Buffer &buffer) {
  buffer.from = buffer.to = span[buffer.alloc].first;
  bool single = true;
  SmallVector<Value> work{buffer.alloc.getResult()};
  DenseSet<Value> seen{buffer.alloc.getResult()};
  auto follow = [&](Value value) {
    if (seen.insert(value).second)
      work.push_back(value);
  };
  while (!work.empty()) {
    Value value = work.pop_back_val();
    for (OpOperand &use : value.getUses()) {
      Operation *user = use.getOwner();
      int64_t end = span[user].second;
      auto release = dyn_cast<spmd::ReleaseSiteOp>(user);
      for (Operation *parent = user->getParentOp();
           parent && parent != function; parent = parent->getParentOp())
        if (isa<LoopLikeOpInterface>(parent) &&
            !parent->isProperAncestor(buffer.alloc))
          end = std::max(end, span[parent].second);
      if (release && end == span[user].second) {
        buffer.releases.push_back(release);
        continue;
      }
      buffer.to = std::max(buffer.to, end);
      if (passesOn(user)) {
        for (Value result : user->getResults())
          if (isReference(result.getType()))
            follow(result);
      } else if (isa<RegionBranchOpInterface>(user)) {
        for (Value result : user->getResults())
          if (isa<BaseMemRefType>(result.getType()))
            follow(result);
        for (Region &region : user->getRegions())
          for (BlockArgument argument : region.getArguments())
            if (isa<BaseMemRefType>(argument.getType()))
              follow(argument);
      } else if (isa<RegionBranchTerminatorOpInterface>(user) &&
                 isa<BaseMemRefType>(value.getType())) {
        Operation *parent = user->getParentOp();
        if (parent == function)
          continue;
        if (isa<LoopLikeOpInterface>(parent) &&
            parent->isProperAncestor(buffer.alloc))
          single = false;
        for (Value result : parent->getResults())
          if (isa<BaseMemRefType>(result.getType()))
            follow(result);
        for (Region &region : parent->getRegions())
          for (BlockArgument argument : region.getArguments())
            if (isa<BaseMemRefType>(argument.getType()))
              follow(argument);
      }
    }
  }
  buffer.lastUse = buffer.to;
  return single;
}

std::optional<int64_t> Planner::bytesOf(memref::AllocOp alloc) {
  MemRefType type = alloc.getType();
  if (!type.getLayout().isIdentity())
    return std::nullopt;
  int64_t bytes = elementBytes(type.getElementType());
  if (bytes == 0)
    return std::nullopt;
  unsigned next = 0;
  for (int64_t size : type.getShape()) {
    if (ShapedType::isDynamic(size)) {
      std::optional<int64_t> most =
          bounds.largest(alloc.getDynamicSizes()[next++]);
      if (!most)
        return std::nullopt;
      size = *most;
    }
    if (llvm::MulOverflow(bytes, size, bytes))
      return std::nullopt;
  }
  return bytes;
}

/// What `size` is, if it is a number, or one that follows from what is bound.
std::optional<Extent> Planner::extentOf(Value size) {
  if (std::optional<int64_t> number = getConstantIntValue(size))
    return Extent{*number, {}, *number};
  Operation *op = size.getDefiningOp();
  if (auto cast = dyn_cast_or_null<arith::IndexCastOp>(op))
    return extentOf(cast.getIn());
  if (isa_and_nonnull<arith::MulIOp>(op)) {
    std::optional<Extent> result = extentOf(op->getOperand(0)),
                          other = extentOf(op->getOperand(1));
    if (!result || !other ||
        llvm::MulOverflow(result->unit, other->unit, result->unit) ||
        llvm::MulOverflow(result->ofOneBinding, other->ofOneBinding,
                          result->ofOneBinding))
      return std::nullopt;
    result->sizes.append(other->sizes);
    return result;
  }
  if (std::optional<BoundNumber> number = boundNumber(size)) {
    if (std::optional<int64_t> known = constantOf(number->formula))
      return Extent{
          std::max<int64_t>(0, *known), {}, std::max<int64_t>(0, *known)};
    return Extent{1,
                  {spmd::FormulaAttr::get(size.getContext(), number->formula)},
                  std::max<int64_t>(0, *llvm::max_element(number->byRank))};
  }
  // At most what is left of it, or what it is clamped to: a dim's whole extent,
  // which is what is known else, grows with the ranks.
  if (isa_and_nonnull<arith::SubIOp, arith::DivSIOp, arith::FloorDivSIOp>(op)) {
    std::optional<int64_t> number = getConstantIntValue(op->getOperand(1));
    if (number && *number >= !isa<arith::SubIOp>(op))
      return extentOf(op->getOperand(0));
  }
  if (isa_and_nonnull<arith::MaxSIOp>(op) &&
      getConstantIntValue(op->getOperand(1)) == 0)
    return extentOf(op->getOperand(0));
  return std::nullopt;
}

std::optional<Extent> Planner::extentOf(memref::AllocOp alloc) {
  Extent extent{elementBytes(alloc.getType().getElementType()), {}, 0};
  if (extent.unit == 0 || !alloc.getType().getLayout().isIdentity())
    return std::nullopt;
  extent.ofOneBinding = extent.unit;
  auto times = [&](const Extent &size) {
    extent.sizes.append(size.sizes);
    return !llvm::MulOverflow(extent.unit, size.unit, extent.unit) &&
           !llvm::MulOverflow(extent.ofOneBinding, size.ofOneBinding,
                              extent.ofOneBinding);
  };
  unsigned next = 0;
  for (int64_t size : alloc.getType().getShape()) {
    std::optional<Extent> known = Extent{size, {}, size};
    if (ShapedType::isDynamic(size))
      known = extentOf(alloc.getDynamicSizes()[next++]);
    if (!known || !times(*known))
      return std::nullopt;
  }
  if (auto found = needs.find(alloc); found != needs.end()) {
    auto [formula, isNeeded] = found->second;
    extent.sizes.push_back(formula);
    extent.isNeeded = isNeeded;
  }
  return extent.sizes.empty() ? std::nullopt : std::optional(extent);
}

/// Says of each buffer how large it is and which ones are under it; returns the
/// bytes of all in the binding that the plan was made for.
int64_t Planner::writePlan(ArrayRef<Buffer> planned) {
  Builder builder(function.getContext());
  auto overlap = [](const Buffer &a, const Buffer &b) {
    return a.to >= b.from && b.to >= a.from;
  };
  // The lower ones first: the plan is read in this order.
  SmallVector<unsigned> order =
      llvm::to_vector(llvm::seq<unsigned>(0, planned.size()));
  llvm::stable_sort(order, [&](unsigned a, unsigned b) {
    return planned[a].offset < planned[b].offset;
  });
  SmallVector<Attribute> plan;
  SmallVector<llvm::BitVector> under; // directly or not
  SmallVector<int64_t> ends;
  for (auto [place, number] : llvm::enumerate(order)) {
    const Buffer &buffer = planned[number];
    SmallVector<int64_t> below;
    llvm::BitVector covered(place);
    // What is under one of these need not be said.
    for (unsigned other = place; other-- > 0;) {
      if (covered[other] || !overlap(planned[order[other]], buffer))
        continue;
      below.push_back(other);
      covered.set(other);
      llvm::BitVector more = under[other];
      more.resize(place);
      covered |= more;
    }
    under.push_back(covered);
    llvm::sort(below);
    int64_t begin = 0;
    for (int64_t other : below)
      begin = std::max(begin, ends[other]);
    ends.push_back(begin + (buffer.extent.isNeeded ? buffer.bytes : 0));
    SmallVector<Attribute> sizes(buffer.extent.sizes.begin(),
                                 buffer.extent.sizes.end());
    plan.push_back(spmd::ArenaBufferAttr::get(
        builder.getContext(),
        buffer.extent.sizes.empty() ? buffer.bytes : buffer.extent.unit,
        sizes.empty() ? ArrayAttr() : builder.getArrayAttr(sizes),
        below.empty() ? DenseI64ArrayAttr()
                      : builder.getDenseI64ArrayAttr(below)));
  }
  spmd::contract::ArenaPlan::set(function->getParentOfType<ModuleOp>(),
                                 builder.getArrayAttr(plan));
  for (auto [place, number] : llvm::enumerate(order)) {
    memref::AllocOp alloc = planned[number].alloc;
    OpBuilder at(alloc);
    Value offset = spmd::ArenaPlaceOp::create(at, alloc.getLoc(),
                                              at.getIndexType(), place);
    Value view = memref::ViewOp::create(at, alloc.getLoc(), alloc.getType(),
                                        function.getArguments().back(), offset,
                                        alloc.getDynamicSizes());
    alloc.replaceAllUsesWith(view);
    alloc.erase();
  }
  return *llvm::max_element(ends);
}

/// An unbounded buffer is freed where its life ends, if that is in its block.
void Planner::freeAfterUse(Buffer &buffer, bool escapes) {
  if (escapes)
    return;
  Operation *last = nullptr;
  for (Operation &op : *buffer.alloc->getBlock())
    if (span.contains(&op) && span[&op].first <= buffer.to)
      last = &op;
  if (!last || span[last].second < buffer.to)
    return;
  OpBuilder builder(last);
  if (!last->hasTrait<OpTrait::IsTerminator>())
    builder.setInsertionPointAfter(last);
  memref::DeallocOp::create(builder, buffer.alloc.getLoc(), buffer.alloc);
}

/// Moves releases behind the op `limit` forward, though not before the last
/// use, and lets the buffer live until the last of them. Uses are in the block
/// of each release, or in blocks inside of it.
void Planner::releaseBy(Buffer &buffer, int64_t limit) {
  buffer.to = buffer.lastUse;
  for (spmd::ReleaseSiteOp release : buffer.releases) {
    if (span[release].second <= limit) {
      buffer.to = std::max(buffer.to, span[release].second);
      continue;
    }
    Operation *before = release->getPrevNode();
    while (!span.contains(before) ||
           (span[before].second > limit && span[before].first > buffer.lastUse))
      before = before->getPrevNode();
    release->moveAfter(before);
    buffer.to = std::max(buffer.to, span[before].second);
  }
}

/// Gives each buffer its offset; returns the bytes of all.
static int64_t place(MutableArrayRef<Buffer> planned) {
  SmallVector<Buffer *> order;
  for (Buffer &buffer : planned)
    order.push_back(&buffer);
  // Of equals the first in the program first: they are in one vector.
  llvm::sort(order, [](Buffer *a, Buffer *b) {
    return std::pair(b->bytes, a) < std::pair(a->bytes, b);
  });
  int64_t total = 0;
  SmallVector<Buffer *> placed; // by offset
  for (Buffer *buffer : order) {
    int64_t offset = 0;
    for (Buffer *other : placed) {
      if (other->to < buffer->from || buffer->to < other->from)
        continue;
      if (offset + buffer->bytes <= other->offset)
        break;
      offset = std::max(offset, other->offset + other->bytes);
    }
    buffer->offset = offset;
    total = std::max(total, offset + buffer->bytes);
    placed.insert(llvm::upper_bound(placed, buffer,
                                    [](Buffer *a, Buffer *b) {
                                      return a->offset < b->offset;
                                    }),
                  buffer);
  }
  return total;
}

/// Lets each buffer live until it is released, as far as hardly more bytes live
/// at once than without that. If buffers of such lives do not fit side by side,
/// they live until the next one begins that is more than scratch of a kernel.
/// Returns the bytes of all.
int64_t Planner::placeAndRelease(MutableArrayRef<Buffer> planned) {
  int64_t least = place(planned);
  if (llvm::all_of(planned, [](const Buffer &buffer) {
        return buffer.releases.empty();
      }))
    return least;
  std::vector<int64_t> live(span[function].second + 2, 0), begins;
  for (const Buffer &buffer : planned) {
    live[buffer.from] += buffer.bytes;
    live[buffer.to + 1] -= buffer.bytes;
    if (buffer.bytes > least / kReleaseShare)
      begins.push_back(buffer.from);
  }
  std::partial_sum(live.begin(), live.end(), live.begin());
  int64_t most = *llvm::max_element(live);
  most += most / kReleaseShare;
  for (Buffer &buffer : planned) {
    int64_t limit = buffer.lastUse, last = limit;
    for (spmd::ReleaseSiteOp release : buffer.releases)
      last = std::max(last, span[release].second);
    while (limit < last && live[limit + 1] + buffer.bytes <= most)
      ++limit;
    releaseBy(buffer, limit);
    for (int64_t at = buffer.lastUse + 1; at <= buffer.to; ++at)
      live[at] += buffer.bytes;
  }
  if (int64_t total = place(planned); total <= least + least / kReleaseShare)
    return total;
  llvm::sort(begins);
  begins.push_back(live.size());
  for (Buffer &buffer : planned)
    releaseBy(buffer, *llvm::upper_bound(begins, buffer.lastUse) - 1);
  return place(planned);
}

/// The largest buffers of those that live where most bytes do: "1024 bytes of
/// f32 [16, 16] at model.py:3", by "; ". Empty without buffers.
static std::string nameLargest(ArrayRef<Buffer> planned) {
  constexpr size_t kMost = 3;
  // Lives begin before others end at the same place.
  SmallVector<std::pair<int64_t, int64_t>> changes;
  for (const Buffer &buffer : planned) {
    changes.push_back({2 * int64_t(buffer.from), buffer.bytes});
    changes.push_back({2 * int64_t(buffer.to) + 1, -buffer.bytes});
  }
  llvm::sort(changes);
  int64_t live = 0, most = 0, place = 0;
  for (auto [at, bytes] : changes) {
    live += bytes;
    if (live > most) {
      most = live;
      place = at / 2;
    }
  }
  SmallVector<const Buffer *> largest;
  for (const Buffer &buffer : planned)
    if (int64_t(buffer.from) <= place && place <= int64_t(buffer.to))
      largest.push_back(&buffer);
  llvm::sort(largest, [](const Buffer *a, const Buffer *b) {
    return std::pair(b->bytes, a) < std::pair(a->bytes, b);
  });
  largest.resize(std::min(largest.size(), kMost));
  std::string text;
  llvm::raw_string_ostream os(text);
  for (const Buffer *buffer : largest) {
    memref::AllocOp alloc = buffer->alloc;
    os << (text.empty() ? "" : "; ") << buffer->bytes << " bytes of "
       << alloc.getType().getElementType() << " [";
    llvm::interleaveComma(alloc.getType().getShape(), os, [&](int64_t size) {
      if (ShapedType::isDynamic(size))
        os << '?';
      else
        os << size;
    });
    os << "]";
    auto [name, place] = namedOp(alloc.getLoc());
    name = spmd::withoutDialect(name);
    if (!name.empty())
      os << " of " << name;
    if (std::string where = userLocation(place); where != "unknown")
      os << " at " << where;
  }
  return text;
}

FailureOr<int64_t> Planner::run() {
  if (failed(settleReceived()))
    return failure();
  SmallVector<Buffer> planned;
  bool followsBinding = false;
  function.walk([&](memref::AllocOp alloc) {
    Buffer buffer;
    buffer.alloc = alloc;
    bool single = lifetime(buffer);
    // What follows from the binding is known there, bounded or not.
    std::optional<Extent> extent = single ? extentOf(alloc) : std::nullopt;
    std::optional<int64_t> bytes =
        extent ? extent->ofOneBinding : bytesOf(alloc);
    if (!bytes || !single) {
      releaseBy(buffer, buffer.lastUse);
      return freeAfterUse(buffer, !single);
    }
    if (extent) {
      buffer.extent = std::move(*extent);
      followsBinding = true;
    }
    buffer.bytes = llvm::alignTo(std::max<int64_t>(*bytes, 1), kAlignment);
    planned.push_back(buffer);
  });
  int64_t total = placeAndRelease(planned);

  OpBuilder builder(function.getContext());
  if (std::string largest = nameLargest(planned); !largest.empty())
    spmd::contract::ArenaLargest::set(function->getParentOfType<ModuleOp>(),
                                      builder.getStringAttr(largest));
  auto type = MemRefType::get({ShapedType::kDynamic}, builder.getI8Type());
  DictionaryAttr marked = builder.getDictionaryAttr(builder.getNamedAttr(
      spmd::contract::Arena::name(), builder.getUnitAttr()));
  unsigned position = function.getNumArguments();
  if (failed(
          function.insertArgument(position, type, marked, function.getLoc())))
    return failure();
  if (followsBinding)
    return writePlan(planned);
  Value arena = function.getArgument(position);
  for (Buffer &buffer : planned) {
    builder.setInsertionPoint(buffer.alloc);
    Location loc = buffer.alloc.getLoc();
    Value offset = arith::ConstantIndexOp::create(builder, loc, buffer.offset);
    Value view =
        memref::ViewOp::create(builder, loc, buffer.alloc.getType(), arena,
                               offset, buffer.alloc.getDynamicSizes());
    buffer.alloc.replaceAllUsesWith(view);
    buffer.alloc.erase();
  }
  return total;
}

namespace {
struct PlanArenaPass final : shardc::impl::PlanArenaPassBase<PlanArenaPass> {
  using Base::Base;
  void runOnOperation() override {
    auto function = getOperation().lookupSymbol<func::FuncOp>(entry);
    if (!function || function.isDeclaration())
      return;
    FailureOr<int64_t> bytes = Planner(function).run();
    if (failed(bytes))
      return signalPassFailure();
    spmd::contract::ArenaBytes::set(
        getOperation(), Builder(&getContext()).getI64IntegerAttr(*bytes));
  }
};
} // namespace
} // namespace shardc
