//===- MarginsInPlace.cpp - A block computed inside its halo --------------===//
//
// An exchange that keeps the own block copies all of it for the sake of a few
// rows. If the block is computed inside the buffer of the exchange's result,
// only the margins are left to fill. What the exchange reads may be a buffer of
// its own, or one that a loop carries from one iteration to the next. A loop
// that writes over the block in place gets a second one, and carries both in
// turns.
//
// A block that another exchange makes before the loop is copied into the middle
// of the larger buffer: once, in place of each time.
//
// A block may move if nothing writes to it from when it is shown to others
// until what the exchange made is read for the last time, if that is only read,
// and if everything that uses the block takes a strided buffer.
//
//===----------------------------------------------------------------------===//
#include "UpdateSites.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "shardc/Buffers/Passes.h"
#include "shardc/Dialect/Kernel/IR/KernelContracts.h"
#include "shardc/Dialect/Kernel/IR/KernelSites.h"
#include "shardc/Dialect/Local/IR/LocalTables.h"
#include "shardc/Dialect/Spmd/IR/SpmdGlobal.h"
#include "llvm/ADT/MapVector.h"

namespace shardc {
#define GEN_PASS_DEF_MARGINSINPLACEPASS
#include "shardc/Buffers/Passes.h.inc"
} // namespace shardc

using namespace mlir;
using namespace shardc;
using namespace shardc::spmd;

namespace {
/// An exchange that could be in place.
struct Candidate {
  mutable RunSiteOp site;
  mutable StartSiteOp start; ///< null if the exchange is one op
  Operation *shown() const {
    return start ? start.getOperation() : site.getOperation();
  }
  Value block() const {
    return start ? start.getInput() : site.getInputs().front();
  }
  Value whole() const { return site.getInits().front(); }
};
} // namespace

/// True if every rank keeps what it owns and some gain more.
static bool growsOnly(const shardrt::Site &site) {
  if (site.kind != shardrt::SiteKind::Exchange || site.inPlace)
    return false;
  bool grows = false;
  for (const DimExchange &dim : site.exchange.dims) {
    if (dim.ownedFormula) {
      if (!alwaysContains(dim.neededFormula, dim.ownedFormula))
        return false;
      grows |= dim.ownedFormula != dim.neededFormula;
      continue;
    }
    for (auto [owned, needed] : llvm::zip_equal(dim.owned, dim.needed)) {
      if (!needed.contains(owned))
        return false;
      grows |= !(owned == needed);
    }
  }
  return grows;
}

//===----------------------------------------------------------------------===//
// What is done with a buffer
//===----------------------------------------------------------------------===//

namespace {
enum class Use { None, Reads, Writes, Unknown };
} // namespace

/// What `operand`'s owner does with the buffer. Only ops that take any strides.
static Use useOf(OpOperand &operand) {
  Operation *op = operand.getOwner();
  if (isa<memref::DimOp>(op))
    return Use::None;
  if (isa<memref::LoadOp>(op))
    return Use::Reads;
  if (isa<memref::StoreOp>(op))
    return Use::Writes;
  if (auto copy = dyn_cast<memref::CopyOp>(op))
    return operand.get() == copy.getTarget() ? Use::Writes : Use::Reads;
  if (auto structured = dyn_cast<linalg::LinalgOp>(op))
    return structured.isDpsInput(&operand) ? Use::Reads : Use::Writes;
  return Use::Unknown;
}

/// Calls `visit` with every use of `buffer` and of parts of it; false if one is
/// unknown or `visit` says so.
static bool forEachUse(Value buffer,
                       llvm::function_ref<bool(OpOperand &, Use)> visit) {
  for (OpOperand &operand : buffer.getUses()) {
    if (auto part = dyn_cast<memref::SubViewOp>(operand.getOwner())) {
      if (!forEachUse(part.getResult(), visit))
        return false;
      continue;
    }
    if (!visit(operand, useOf(operand)))
      return false;
  }
  return true;
}

/// True if `operand` is what an exchange outside of `body`, which runs more
/// often, makes of something else.
static bool isReceived(OpOperand &operand, Block *body) {
  auto site = dyn_cast<RunSiteOp>(operand.getOwner());
  return site && !body->findAncestorOpInBlock(*site) &&
         isa<LoopLikeOpInterface>(body->getParentOp()) &&
         site.getInits().size() == 1 && operand.get() == site.getInits()[0] &&
         !site.getAccumulates() &&
         !llvm::is_contained(site.getInputs(), operand.get());
}

/// True if the block may be part of the result as far as the exchange of
/// `candidate` goes. `others` are exchanges of the same block, judged alike.
static bool mayMerge(Candidate candidate, ArrayRef<Candidate> others) {
  Block *body = candidate.site->getBlock();
  Operation *site = candidate.site, *shown = candidate.shown(), *last = site;
  // The result is only read, once it is there.
  bool isRead = forEachUse(candidate.whole(), [&](OpOperand &operand, Use use) {
    if (operand.getOwner() == site)
      return operand.get() == candidate.whole();
    Operation *reader = body->findAncestorOpInBlock(*operand.getOwner());
    if (!reader || !site->isBeforeInBlock(reader))
      return false;
    if (last->isBeforeInBlock(reader))
      last = reader;
    return use == Use::None || use == Use::Reads;
  });
  if (!isRead || shown->getBlock() != body)
    return false;
  auto isAway = [&](Operation *op) {
    Operation *place = body->findAncestorOpInBlock(*op);
    return !place || place->isBeforeInBlock(shown) ||
           last->isBeforeInBlock(place);
  };
  auto argument = dyn_cast<BlockArgument>(candidate.block());
  bool isCarried = argument && argument.getOwner() == body;
  return forEachUse(candidate.block(), [&](OpOperand &operand, Use use) {
    Operation *user = operand.getOwner();
    if (user == site || user == candidate.start)
      return true;
    // What a loop carries it also yields; what a branch makes and yields goes
    // on to a buffer of the block's own type.
    if (user == body->getTerminator())
      return isCarried;
    for (Candidate other : others)
      if (user == other.start || (user == other.site && isAway(user)))
        return true;
    if (isReceived(operand, body))
      return true;
    return use == Use::None || use == Use::Reads ||
           (use == Use::Writes && isAway(user));
  });
}

//===----------------------------------------------------------------------===//
// Moving
//===----------------------------------------------------------------------===//

/// Puts `buffer` in the place of `old`, but for uses that `keeps` names; parts
/// of it get the type that follows.
static void replaceBuffer(
    OpBuilder &builder, Value old, Value buffer,
    llvm::function_ref<bool(OpOperand &)> keeps = [](OpOperand &) {
      return false;
    }) {
  SmallVector<OpOperand *> uses;
  for (OpOperand &operand : old.getUses())
    if (operand.getOwner() != buffer.getDefiningOp() && !keeps(operand))
      uses.push_back(&operand);
  for (OpOperand *operand : uses) {
    auto part = dyn_cast<memref::SubViewOp>(operand->getOwner());
    if (!part) {
      operand->set(buffer);
      continue;
    }
    builder.setInsertionPoint(part);
    MemRefType inferred = memref::SubViewOp::inferRankReducedResultType(
        cast<MemRefType>(part.getType()).getShape(),
        cast<MemRefType>(buffer.getType()), part.getMixedOffsets(),
        part.getMixedSizes(), part.getMixedStrides());
    Value replaced = memref::SubViewOp::create(
        builder, part.getLoc(), inferred, buffer, part.getMixedOffsets(),
        part.getMixedSizes(), part.getMixedStrides());
    replaceBuffer(builder, part.getResult(), replaced);
    part.erase();
  }
}

/// Moves what `value` is computed from before `place`; false if it cannot.
static bool hoist(Value value, Operation *place) {
  Operation *op = value.getDefiningOp();
  if (!op)
    return cast<BlockArgument>(value)
        .getOwner()
        ->getParentOp()
        ->isProperAncestor(place);
  Operation *ancestor = op->getBlock()->findAncestorOpInBlock(*place);
  if (ancestor && op->isBeforeInBlock(ancestor))
    return true;
  if (op->getBlock() != place->getBlock() &&
      !(ancestor == nullptr && place->getBlock()->findAncestorOpInBlock(*op)))
    return false;
  if (!isMemoryEffectFree(op) || op->getNumRegions() != 0)
    return false;
  for (Value operand : op->getOperands())
    if (!hoist(operand, place))
      return false;
  op->moveBefore(place);
  return true;
}

//===----------------------------------------------------------------------===//
// Twins
//===----------------------------------------------------------------------===//

/// True if `op` writes all of the buffer `output`, whatever it held.
static bool writesAllOf(linalg::GenericOp op, OpOperand &output) {
  return op.getNumParallelLoops() == op.getNumLoops() &&
         op.getMatchingIndexingMap(&output).isPermutation() &&
         op.getMatchingBlockArgument(&output).use_empty();
}

/// True if the function returns what `block` holds, as arguments behind
/// `numInputs` do.
static bool isOutput(Value block, int64_t numInputs) {
  auto argument = dyn_cast<BlockArgument>(block);
  return argument && isa<func::FuncOp>(argument.getOwner()->getParentOp()) &&
         argument.getArgNumber() >= numInputs;
}

/// The sizes of `block`, an allocation or an argument, that are not in its
/// type.
static SmallVector<Value> dynamicSizesOf(OpBuilder &builder, Value block) {
  if (auto alloc = block.getDefiningOp<memref::AllocOp>())
    return SmallVector<Value>(alloc.getDynamicSizes());
  SmallVector<Value> sizes;
  auto type = cast<MemRefType>(block.getType());
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointAfterValue(block);
  for (int64_t dim = 0; dim < type.getRank(); ++dim)
    if (type.isDynamicDim(dim))
      sizes.push_back(
          memref::DimOp::create(builder, block.getLoc(), block, dim));
  return sizes;
}

/// What exchanges outside of `body` write to `block` is dense: it gets buffers
/// of its own, and is copied to `block` from there.
static void detach(OpBuilder &builder, Value block, Block *body) {
  SmallVector<OpOperand *> received;
  for (OpOperand &operand : block.getUses())
    if (isReceived(operand, body))
      received.push_back(&operand);
  for (OpOperand *operand : received) {
    Operation *site = operand->getOwner();
    SmallVector<Value> sizes = dynamicSizesOf(builder, block);
    builder.setInsertionPoint(site);
    Value dense = memref::AllocOp::create(builder, site->getLoc(),
                                          cast<MemRefType>(block.getType()),
                                          sizes, builder.getI64IntegerAttr(64));
    operand->set(dense);
    builder.setInsertionPointAfter(site);
    memref::CopyOp::create(builder, site->getLoc(), dense, block);
  }
}

/// The block of `candidates` is a buffer from outside a loop whose body
/// exchanges it and then writes over all of it in one op. That op now writes to
/// a twin, and the loop carries both, which change places; what the function
/// returns is copied in the end. False, with nothing changed, if anything else
/// is done with the block.
static bool giveTwin(ArrayRef<Candidate> candidates, int64_t numInputs) {
  Candidate first = candidates.front();
  Value block = first.block();
  auto type = cast<MemRefType>(block.getType());
  bool isReturned = isOutput(block, numInputs);
  auto loop = dyn_cast<scf::ForOp>(first.site->getParentOp());
  if (!loop || block.getParentBlock() != loop->getBlock() ||
      !(isReturned || block.getDefiningOp<memref::AllocOp>()))
    return false;
  Block *body = loop.getBody();
  auto isExchange = [&](Operation *op) {
    return llvm::any_of(candidates, [&](Candidate candidate) {
      return op == candidate.site || op == candidate.start;
    });
  };
  linalg::GenericOp writer;
  bool isKnown = forEachUse(block, [&](OpOperand &operand, Use use) {
    Operation *user = operand.getOwner();
    if (use == Use::Unknown && !isExchange(user))
      return false;
    if (use != Use::Writes || !loop->isProperAncestor(user))
      return true;
    auto generic = dyn_cast<linalg::GenericOp>(user);
    if (writer || !generic || generic->getBlock() != body ||
        operand.get() != block || !writesAllOf(generic, operand))
      return false;
    writer = generic;
    return true;
  });
  if (!isKnown || !writer ||
      !llvm::all_of(candidates, [&](Candidate candidate) {
        return candidate.site->getBlock() == body &&
               candidate.site->isBeforeInBlock(writer);
      }))
    return false;
  // Before the loop; in it up to the writer; in it behind the writer; behind
  // it.
  enum Place { Before, Old, New, After };
  auto placeOf = [&](Operation *op) {
    Operation *inBody = body->findAncestorOpInBlock(*op);
    if (inBody)
      return writer->isBeforeInBlock(inBody) ? New : Old;
    return loop->isBeforeInBlock(loop->getBlock()->findAncestorOpInBlock(*op))
               ? After
               : Before;
  };
  SmallVector<std::pair<OpOperand *, Place>> uses;
  for (OpOperand &use : block.getUses()) {
    Operation *user = use.getOwner();
    Place place =
        user == writer && !writer.isDpsInput(&use) ? New : placeOf(user);
    // A part is of the buffer that it is made of.
    auto part = dyn_cast<memref::SubViewOp>(user);
    if (part && !forEachUse(part, [&](OpOperand &operand, Use) {
          return placeOf(operand.getOwner()) == place;
        }))
      return false;
    uses.emplace_back(&use, place);
  }
  IRRewriter rewriter(loop.getContext());
  SmallVector<Value> sizes = dynamicSizesOf(rewriter, block);
  if (sizes.empty() || !isReturned)
    rewriter.setInsertionPointAfterValue(block);
  else
    rewriter.setInsertionPointAfter(sizes.back().getDefiningOp());
  auto alike = [&]() -> Value {
    return memref::AllocOp::create(rewriter, loop.getLoc(), type, sizes,
                                   rewriter.getI64IntegerAttr(64));
  };
  Value buffer = isReturned ? alike() : block, twin = alike();
  rewriter.setInsertionPoint(loop);
  unsigned number = loop.getNumResults();
  auto swap = [](OpBuilder &, Location, ArrayRef<BlockArgument> buffers) {
    return SmallVector<Value>{buffers[1], buffers[0]};
  };
  FailureOr<LoopLikeOpInterface> carrying = loop.replaceWithAdditionalYields(
      rewriter, {buffer, twin}, /*replaceInitOperandUsesInLoop=*/false, swap);
  if (failed(carrying))
    return false;
  auto next = cast<scf::ForOp>(carrying->getOperation());
  contract::Rotated::set(next);
  for (auto [use, place] : uses)
    use->set(place == Before ? buffer
             : place == After
                 ? next.getResult(number)
                 : Value(next.getRegionIterArg(number + (place == New))));
  if (isReturned) {
    rewriter.setInsertionPoint(next->getBlock()->getTerminator());
    memref::CopyOp::create(rewriter, next.getLoc(), next.getResult(number),
                           block);
  }
  return true;
}

namespace {
class Mover {
public:
  Mover(shardrt::SiteTable &table, MeshOp mesh, int64_t numInputs)
      : table(table), mesh(mesh), numInputs(numInputs),
        builder(mesh.getContext()) {}

  /// Each moves the block of the first candidate with all that exchange it, or
  /// returns false.
  bool moveBuffer(ArrayRef<Candidate> candidates);
  bool moveCarried(ArrayRef<Candidate> candidates);

private:
  const Exchange &exchangeOf(Candidate candidate) {
    return table.sites[candidate.site.getSite()].exchange;
  }
  /// True if all may be one buffer each, with the block at the same place.
  bool areAlike(ArrayRef<Candidate> candidates);
  /// Where the own block is in the whole, dim by dim; created before `place`.
  SmallVector<OpFoldResult> offsetsOf(Candidate candidate, Operation *place);
  Value partOf(Value whole, MemRefType block, ArrayRef<OpFoldResult> offsets,
               ValueRange dynamicSizes);
  void makeInPlace(Candidate candidate, Value whole);

  shardrt::SiteTable &table;
  MeshOp mesh;
  int64_t numInputs;
  OpBuilder builder;
};
} // namespace

bool Mover::areAlike(ArrayRef<Candidate> candidates) {
  const Exchange &reference = exchangeOf(candidates.front());
  auto first = candidates.front().whole().getDefiningOp<memref::AllocOp>();
  if (!first)
    return false;
  return llvm::all_of(candidates, [&](Candidate candidate) {
    const Exchange &exchange = exchangeOf(candidate);
    auto sameTables = [](const auto &pair) {
      const auto &[a, b] = pair;
      return a.dim == b.dim && a.axes == b.axes && a.owned == b.owned &&
             a.needed == b.needed && a.ownedFormula == b.ownedFormula &&
             a.neededFormula == b.neededFormula;
    };
    auto whole = candidate.whole().template getDefiningOp<memref::AllocOp>();
    return whole && whole->getBlock() == candidate.site->getBlock() &&
           whole.getType() == candidates.front().whole().getType() &&
           whole.getDynamicSizes() == first.getDynamicSizes() &&
           exchange.globalShape == reference.globalShape &&
           exchange.dims.size() == reference.dims.size() &&
           llvm::all_of(llvm::zip_equal(exchange.dims, reference.dims),
                        sameTables) &&
           mayMerge(candidate, candidates);
  });
}

SmallVector<OpFoldResult> Mover::offsetsOf(Candidate candidate,
                                           Operation *place) {
  builder.setInsertionPoint(place);
  SmallVector<OpFoldResult> offsets(
      cast<MemRefType>(candidate.block().getType()).getRank(),
      builder.getIndexAttr(0));
  for (const DimExchange &dim : exchangeOf(candidate).dims) {
    SmallVector<int64_t> first;
    for (auto [owned, needed] : llvm::zip_equal(dim.owned, dim.needed))
      first.push_back(owned.empty() ? 0 : owned.begin - needed.begin);
    Formula offset;
    if (dim.ownedFormula)
      offset = Formula::offset(dim.ownedFormula, dim.neededFormula);
    offsets[dim.dim] = lookUp(builder, place->getLoc(), mesh.getMesh(),
                              FlatSymbolRefAttr::get(mesh.getSymNameAttr()),
                              first, dim.axes, offset);
  }
  return offsets;
}

Value Mover::partOf(Value whole, MemRefType block,
                    ArrayRef<OpFoldResult> offsets, ValueRange dynamicSizes) {
  SmallVector<OpFoldResult> sizes,
      strides(block.getRank(), builder.getIndexAttr(1));
  size_t next = 0;
  for (int64_t size : block.getShape())
    sizes.push_back(ShapedType::isDynamic(size)
                        ? OpFoldResult(dynamicSizes[next++])
                        : builder.getIndexAttr(size));
  return memref::SubViewOp::create(builder, whole.getLoc(), whole, offsets,
                                   sizes, strides);
}

/// The exchange reads and fills `whole`.
void Mover::makeInPlace(Candidate candidate, Value whole) {
  table.sites[candidate.site.getSite()].inPlace = true;
  if (candidate.start)
    candidate.start.getInputMutable().assign(whole);
  candidate.site.getInputsMutable()[0].set(whole);
  candidate.site.getInitsMutable()[0].set(whole);
}

/// The block is a buffer of its own, or what the function returns and a loop
/// works on: that is copied in the end.
bool Mover::moveBuffer(ArrayRef<Candidate> candidates) {
  Candidate first = candidates.front();
  Value block = first.block();
  auto alloc = block.getDefiningOp<memref::AllocOp>();
  auto output = dyn_cast<BlockArgument>(block);
  Operation *place = alloc;
  if (output) {
    if (!isOutput(block, numInputs) ||
        first.site->getBlock() == output.getOwner())
      return false;
    place = &output.getOwner()->front();
  }
  if (!place || !areAlike(candidates))
    return false;
  auto whole = first.whole().getDefiningOp<memref::AllocOp>();
  for (OpOperand &size : whole->getOpOperands()) {
    // The size of the block itself is known where it is made.
    auto dim = size.get().getDefiningOp<memref::DimOp>();
    if (alloc && dim && dim.getSource() == block && dim.getConstantIndex())
      size.set(alloc.getDynamicSizes()[alloc.getType().getDynamicDimIndex(
          *dim.getConstantIndex())]);
    if (!hoist(size.get(), place))
      return false;
  }
  detach(builder, block, first.site->getBlock());
  SmallVector<Value> sizes = dynamicSizesOf(builder, block);
  SmallVector<OpFoldResult> offsets = offsetsOf(first, place);
  builder.setInsertionPoint(place);
  Value moved = memref::AllocOp::create(
      builder, whole.getLoc(), whole.getType(), whole.getDynamicSizes(),
      whole.getAlignmentAttr());
  Value part = partOf(moved, cast<MemRefType>(block.getType()), offsets, sizes);
  SmallVector<memref::AllocOp> replaced;
  for (Candidate candidate : candidates)
    replaced.push_back(candidate.whole().getDefiningOp<memref::AllocOp>());
  for (Candidate candidate : candidates)
    makeInPlace(candidate, moved);
  for (memref::AllocOp old : replaced) {
    replaceBuffer(builder, old, moved);
    old.erase();
  }
  // The part's own sizes are those of what the function returns.
  replaceBuffer(builder, block, part, [&](OpOperand &operand) {
    return output && isa<memref::DimOp>(operand.getOwner());
  });
  if (alloc) {
    alloc.erase();
  } else {
    Operation *end = output.getOwner()->getTerminator();
    builder.setInsertionPoint(end);
    memref::CopyOp::create(builder, end->getLoc(), part, block);
  }
  return true;
}

/// The block is a buffer that a loop carries and that changes places with
/// others: all of these get margins.
bool Mover::moveCarried(ArrayRef<Candidate> all) {
  auto loop = dyn_cast<scf::ForOp>(all.front().site->getParentOp());
  if (!loop)
    return false;
  auto numberOf = [&](Value value) -> std::optional<unsigned> {
    auto argument = dyn_cast<BlockArgument>(value);
    if (!argument || argument.getOwner() != loop.getBody() ||
        argument.getArgNumber() == 0)
      return std::nullopt;
    return argument.getArgNumber() - 1;
  };
  std::optional<unsigned> first = numberOf(all.front().block());
  if (!first)
    return false;
  SmallVector<unsigned> group{*first};
  for (size_t i = 0; i < group.size(); ++i) {
    std::optional<unsigned> next = numberOf(loop.getYieldedValues()[group[i]]);
    if (!next)
      return false;
    if (!llvm::is_contained(group, *next))
      group.push_back(*next);
  }
  SmallVector<Candidate> candidates;
  for (Candidate candidate : all)
    if (std::optional<unsigned> number = numberOf(candidate.block());
        number && llvm::is_contained(group, *number))
      candidates.push_back(candidate);
  auto type = cast<MemRefType>(all.front().whole().getType());
  if (!areAlike(candidates))
    return false;
  auto initial = loop.getInitArgs()[*first].getDefiningOp<memref::AllocOp>();
  ValueRange wholeSizes =
      all.front().whole().getDefiningOp<memref::AllocOp>().getDynamicSizes();
  auto yieldsOrRuns = [&](OpOperand &operand) {
    return operand.getOwner() == loop.getBody()->getTerminator() ||
           llvm::any_of(candidates, [&](Candidate candidate) {
             return operand.getOwner() == candidate.site ||
                    operand.getOwner() == candidate.start;
           });
  };
  auto isPlain = [&](Value buffer,
                     llvm::function_ref<bool(OpOperand &)> isOther) {
    return forEachUse(buffer, [&](OpOperand &operand, Use use) {
      return use != Use::Unknown || isOther(operand);
    });
  };
  for (unsigned number : group) {
    auto alloc = loop.getInitArgs()[number].getDefiningOp<memref::AllocOp>();
    if (!alloc || alloc->getBlock() != loop->getBlock() || !initial ||
        alloc.getType() != initial.getType() ||
        alloc.getDynamicSizes() != initial.getDynamicSizes() ||
        llvm::count(loop.getInitArgs(), Value(alloc)) != 1 ||
        !isPlain(alloc,
                 [&](OpOperand &operand) {
                   return operand.getOwner() == loop ||
                          isReceived(operand, loop.getBody());
                 }) ||
        !isPlain(loop.getRegionIterArg(number), yieldsOrRuns) ||
        !isPlain(loop.getResult(number), [](OpOperand &) { return false; }))
      return false;
  }

  auto block = cast<MemRefType>(loop.getInitArgs()[*first].getType());
  Operation *earliest = loop;
  for (unsigned number : group)
    if (Operation *alloc = loop.getInitArgs()[number].getDefiningOp();
        alloc->isBeforeInBlock(earliest))
      earliest = alloc;
  for (Value size : wholeSizes)
    if (!hoist(size, earliest))
      return false;
  SmallVector<OpFoldResult> offsets = offsetsOf(candidates.front(), earliest);
  SmallVector<Value> sizes(initial.getDynamicSizes()), grown(wholeSizes);
  for (unsigned number : group) {
    auto alloc = loop.getInitArgs()[number].getDefiningOp<memref::AllocOp>();
    detach(builder, alloc, loop.getBody());
    builder.setInsertionPoint(alloc);
    Value whole = memref::AllocOp::create(builder, alloc.getLoc(), type, grown,
                                          alloc.getAlignmentAttr());
    Value part = partOf(whole, block, offsets, sizes);
    loop.getInitArgsMutable()[number].set(whole);
    replaceBuffer(builder, alloc, part);
    alloc.erase();
    // The terminator and the exchanges see all of it, the others the block.
    BlockArgument argument = loop.getRegionIterArg(number);
    argument.setType(type);
    builder.setInsertionPointToStart(loop.getBody());
    replaceBuffer(builder, argument, partOf(argument, block, offsets, sizes),
                  yieldsOrRuns);
    loop.getResult(number).setType(type);
    builder.setInsertionPointAfter(loop);
    replaceBuffer(builder, loop.getResult(number),
                  partOf(loop.getResult(number), block, offsets, sizes));
  }
  for (Candidate candidate : candidates) {
    auto whole = candidate.whole().getDefiningOp<memref::AllocOp>();
    Value carried = candidate.block();
    makeInPlace(candidate, carried);
    replaceBuffer(builder, whole, carried);
    whole.erase();
  }
  return true;
}

namespace {
struct MarginsInPlacePass final
    : shardc::impl::MarginsInPlacePassBase<MarginsInPlacePass> {
  using Base::Base;
  void runOnOperation() override {
    ModuleOp module = getOperation();
    auto meshes = llvm::to_vector(module.getOps<MeshOp>());
    if (!hasSites(module) || meshes.size() != 1)
      return;
    FailureOr<shardrt::SiteTable> sites = readSites(module);
    if (failed(sites))
      return signalPassFailure();
    shardrt::SiteTable &table = *sites;
    ArrayAttr inputs = contract::EntryInputs::get(module);
    int64_t numInputs = inputs ? inputs.size() : 0;
    Mover mover(table, meshes.front(), numInputs);
    llvm::MapVector<Value, SmallVector<Candidate>> byBlock;
    module.walk([&](RunSiteOp op) {
      int64_t number = op.getSite();
      if (number < 0 || number >= static_cast<int64_t>(table.sites.size()) ||
          !growsOnly(table.sites[number]))
        return;
      auto start = op.getToken() ? op.getToken().getDefiningOp<StartSiteOp>()
                                 : StartSiteOp();
      if (static_cast<bool>(op.getToken()) == static_cast<bool>(start))
        byBlock[Candidate{op, start}.block()].push_back({op, start});
    });
    bool changed = false;
    SmallVector<ArrayRef<Candidate>> left;
    for (auto &[block, candidates] : byBlock) {
      if (mover.moveBuffer(candidates))
        changed = true;
      else
        left.push_back(candidates);
    }
    for (ArrayRef<Candidate> candidates : left)
      giveTwin(candidates, numInputs);
    llvm::MapVector<Operation *, SmallVector<Candidate>> byLoop;
    for (ArrayRef<Candidate> candidates : left)
      llvm::append_range(byLoop[candidates.front().site->getParentOp()],
                         candidates);
    for (auto &[loop, candidates] : byLoop)
      while (!candidates.empty()) {
        changed |= mover.moveCarried(candidates);
        // Those that have moved are in place now.
        candidates.erase(candidates.begin());
        llvm::erase_if(candidates, [&](Candidate candidate) {
          return table.sites[candidate.site.getSite()].inPlace;
        });
      }
    if (changed)
      updateSites(module, table);
  }
};
} // namespace
