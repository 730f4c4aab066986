//===- GenerateKernels.cpp - Loop nests from linalg on buffers ------------===//
//
// Finds a structured op, what fills its destination and what finishes its
// result, and writes one nest for the three.
//
//===----------------------------------------------------------------------===//
#include "Nest.h"
#include "ShareKernels.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "shardc/Analysis/StructuredOps.h"
#include "shardc/Dialect/Kernel/IR/KernelContracts.h"
#include "shardc/Dialect/Machine/IR/MachineDialect.h"
#include "shardc/Dialect/Spmd/IR/SpmdLevels.h"
#include "shardc/Dialect/Tune/IR/TuneDialect.h"
#include "shardc/KernelGen/Passes.h"
#include "shardc/Machine/Cost.h"
#include "shardc/Support/ElementBytes.h"
#include "shardc/Support/KernelAttributes.h"
#include "shardc/Support/UserLocation.h"
#include "shardc/Support/Views.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using shardc::cpu::filledWith;
using shardc::cpu::mayAlias;
using shardc::cpu::rootOf;

namespace shardc {
#define GEN_PASS_DEF_GENERATECPUKERNELSPASS
#include "shardc/KernelGen/Passes.h.inc"

Value cpu::rootOf(Value memref) {
  memref = rootOfView(memref);
  while (auto part = cpu::partOfComplex(memref))
    memref = rootOfView(part->memref);
  return memref;
}

bool cpu::mayAlias(Value a, Value b) {
  Value first = rootOf(a), second = rootOf(b);
  if (first == second)
    return !areDisjoint(wholeOf(a), wholeOf(b));
  // Loop-carried buffers that change roles are different ones in each
  // iteration.
  auto isOwn = [](Value root) {
    auto argument = dyn_cast<BlockArgument>(root);
    return isOwnMemory(root) ||
           (argument &&
            spmd::contract::Rotated::has(argument.getOwner()->getParentOp()));
  };
  return !isOwn(first) || !isOwn(second) || areOneInPlace(first, second);
}

Value cpu::elementOf(OpBuilder &b, Location loc, Value memref, Value index,
                     ArrayRef<int64_t> shape) {
  auto type = cast<MemRefType>(memref.getType());
  int64_t rank = type.getRank();
  SmallVector<OpFoldResult> offsets(rank, b.getIndexAttr(0)),
      sizes{b.getIndexAttr(1)}, strides(rank, b.getIndexAttr(1));
  offsets[0] = index;
  for (int64_t size : shape)
    sizes.push_back(b.getIndexAttr(size));
  auto reduced = cast<MemRefType>(memref::SubViewOp::inferRankReducedResultType(
      shape, type, offsets, sizes, strides));
  return memref::SubViewOp::create(b, loc, reduced, memref, offsets, sizes,
                                   strides);
}

Value cpu::filledWith(linalg::GenericOp op) {
  if (op.getNumReductionLoops() || op.getNumDpsInits() != 1)
    return {};
  Value value = op.getBody()->getTerminator()->getOperand(0);
  if (auto argument = dyn_cast<BlockArgument>(value);
      argument && argument.getOwner() == op.getBody()) {
    if (argument.getArgNumber() >= op.getNumDpsInputs())
      return {};
    Value input = op.getDpsInputs()[argument.getArgNumber()];
    return isa<ShapedType>(input.getType()) ? Value() : input;
  }
  Operation *producer = value.getDefiningOp();
  if (producer && producer->getBlock() == op.getBody())
    return {};
  return value;
}

/// Buffers that `op` reads or writes, also those that its body loads from.
static SmallVector<Value> buffersOf(Operation *op) {
  SmallVector<Value> buffers;
  op->walk([&](Operation *inner) {
    for (Value operand : inner->getOperands())
      if (isa<MemRefType>(operand.getType()))
        buffers.push_back(operand);
  });
  return buffers;
}

static bool touches(Operation *op, Value root) {
  return llvm::any_of(buffersOf(op),
                      [&](Value buffer) { return mayAlias(buffer, root); });
}

/// True if writing to `output` may change what `op` reads, its result aside.
static bool writesInputOf(linalg::GenericOp op, Value output) {
  return llvm::any_of(buffersOf(op), [&](Value buffer) {
    return buffer != op.getDpsInits()[0] && mayAlias(buffer, output);
  });
}

static bool isHarmless(Operation *op) {
  return isa<memref::AllocOp>(op) || isMemoryEffectFree(op);
}

linalg::GenericOp cpu::findFill(linalg::GenericOp op, unsigned index) {
  Value output = op.getDpsInits()[index];
  for (Operation *before = op->getPrevNode(); before;
       before = before->getPrevNode()) {
    if (auto generic = dyn_cast<linalg::GenericOp>(before);
        generic && generic.getNumDpsInits() == 1 &&
        generic.getDpsInits()[0] == output)
      return filledWith(generic) ? generic : nullptr;
    if (isHarmless(before))
      continue;
    if (!isa<linalg::LinalgOp>(before) || touches(before, output))
      return {};
  }
  return {};
}

/// True if nothing knows the memory but who uses `memref`: a buffer, or a
/// part's share of one that all parts have.
static bool isOwnBuffer(Value memref) {
  if (auto share = memref.getDefiningOp<memref::SubViewOp>())
    memref = share.getSource().hasOneUse() ? share.getSource() : Value();
  return memref && memref.getDefiningOp<memref::AllocOp>();
}

linalg::GenericOp cpu::findEpilogue(linalg::GenericOp op) {
  if (op.getNumDpsInits() != 1 || op.getNumReductionLoops() == 0)
    return {};
  Value result = op.getDpsInits()[0];
  if (!isOwnBuffer(result))
    return {};
  AffineMap map = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
  if (!map.isProjectedPermutation() ||
      map.getNumResults() != op.getNumParallelLoops())
    return {};
  linalg::GenericOp found;
  OpOperand *use = nullptr;
  for (OpOperand &candidate : result.getUses()) {
    Operation *user = candidate.getOwner();
    if (user == op)
      continue;
    auto generic = dyn_cast<linalg::GenericOp>(user);
    if (!generic || generic->getBlock() != op->getBlock())
      return {};
    if (generic->isBeforeInBlock(op)) {
      if (!filledWith(generic) || !generic.isDpsInit(&candidate))
        return {};
      continue;
    }
    if (found || !generic.isDpsInput(&candidate))
      return {};
    found = generic;
    use = &candidate;
  }
  if (!found || found.getNumReductionLoops())
    return {};
  AffineMap read = found.getMatchingIndexingMap(use);
  if (!read.isPermutation() || read.getNumDims() != map.getNumResults())
    return {};
  // The op moves down to the epilogue: nothing between may write what it reads,
  // nor may the epilogue's outputs.
  for (Value output : found.getDpsInits())
    if (writesInputOf(op, output))
      return {};
  for (Operation *between = op->getNextNode(); between != found;
       between = between->getNextNode()) {
    if (isHarmless(between))
      continue;
    auto other = dyn_cast<linalg::LinalgOp>(between);
    if (!other)
      return {};
    for (Value output : other.getDpsInits())
      if (writesInputOf(op, output))
        return {};
  }
  return found;
}

/// A fill of which the next op overwrites a box shrinks to what is around the
/// box: the edges of a padded buffer.
static void narrowFill(linalg::GenericOp fill, ShardSizes &sizes) {
  if (!filledWith(fill))
    return;
  Value buffer = fill.getDpsInits()[0];
  auto type = dyn_cast<MemRefType>(buffer.getType());
  bool isWhole =
      buffer.getDefiningOp<memref::AllocOp>() || isa<BlockArgument>(buffer);
  if (!type || !isWhole)
    return;
  memref::SubViewOp box;
  for (Operation *op = fill->getNextNode(); op; op = op->getNextNode()) {
    if (isHarmless(op))
      continue;
    auto generic = dyn_cast<linalg::GenericOp>(op);
    if (!generic)
      return;
    if (!touches(op, buffer))
      continue;
    if (generic.getNumDpsInits() != 1 || generic.getNumReductionLoops() ||
        !generic.getRegionOutputArgs()[0].use_empty() ||
        !generic.getMatchingIndexingMap(generic.getDpsInitOperand(0))
             .isPermutation())
      return;
    for (Value other : buffersOf(generic))
      if (other != generic.getDpsInits()[0] && mayAlias(other, buffer))
        return;
    box = generic.getDpsInits()[0].getDefiningOp<memref::SubViewOp>();
    break;
  }
  if (!box || box.getSource() != buffer || !box.hasUnitStride())
    return;
  OpBuilder builder(fill);
  unsigned rank = type.getRank();
  // For each dim, where the box begins, and what is in and behind it.
  SmallVector<OpFoldResult> lows, inside, ends, behind;
  for (unsigned dim : llvm::seq(rank)) {
    auto known = [&](OpFoldResult size) {
      auto value = dyn_cast<Value>(size);
      return value ? sizes.canonical(value) : size;
    };
    lows.push_back(known(box.getMixedOffsets()[dim]));
    inside.push_back(known(box.getMixedSizes()[dim]));
    ends.push_back(sizes.sum(lows[dim], inside[dim]));
    OpFoldResult whole = sizes.of(buffer, dim);
    if (!ends[dim] || !whole)
      return;
    behind.push_back(sizes.difference(whole, ends[dim]));
    if (!behind[dim])
      return;
  }
  OpFoldResult zero = builder.getIndexAttr(0);
  SmallVector<OpFoldResult> from(rank, zero), extent;
  for (unsigned dim : llvm::seq(rank))
    extent.push_back(sizes.of(buffer, dim));
  auto fillBox = [&] {
    if (llvm::any_of(extent, isZeroInteger))
      return;
    SmallVector<OpFoldResult> strides(rank, builder.getIndexAttr(1));
    Value slab = memref::SubViewOp::create(builder, fill.getLoc(), buffer, from,
                                           extent, strides);
    IRMapping map;
    map.map(buffer, slab);
    builder.clone(*fill, map);
  };
  for (unsigned dim : llvm::seq(rank)) {
    extent[dim] = lows[dim];
    fillBox();
    from[dim] = ends[dim];
    extent[dim] = behind[dim];
    fillBox();
    from[dim] = lows[dim];
    extent[dim] = inside[dim];
  }
  fill.erase();
}

/// True for numbers of fewer digits than f64 has room for twice.
static bool isExtended(Value value) {
  while (auto broadcast = value.getDefiningOp<vector::BroadcastOp>())
    value = broadcast.getSource();
  auto extended = value.getDefiningOp<arith::ExtFOp>();
  return extended && getElementTypeOrSelf(extended.getType()).isF64() &&
         getElementTypeOrSelf(extended.getIn().getType())
                 .getIntOrFloatBitWidth() <= 32;
}

/// A product that is not rounded: whether it and a sum are rounded once or one
/// after the other makes no difference.
static bool isExactProduct(arith::MulFOp product) {
  return isExtended(product.getLhs()) && isExtended(product.getRhs());
}

/// The product that `sum` adds, or null.
static arith::MulFOp productIn(arith::AddFOp sum) {
  auto product = sum.getRhs().getDefiningOp<arith::MulFOp>();
  return product ? product : sum.getLhs().getDefiningOp<arith::MulFOp>();
}

/// Makes one op of `sum` and the product in it, as vectors and as scalars.
static void fuse(arith::AddFOp sum) {
  arith::MulFOp product = productIn(sum);
  Value other =
      sum.getRhs() == product.getResult() ? sum.getLhs() : sum.getRhs();
  OpBuilder b(sum);
  Location loc = sum.getLoc();
  Value fused = isa<VectorType>(sum.getType())
                    ? vector::FMAOp::create(b, loc, product.getLhs(),
                                            product.getRhs(), other)
                          .getResult()
                    : math::FmaOp::create(b, loc, product.getLhs(),
                                          product.getRhs(), other)
                          .getResult();
  sum.replaceAllUsesWith(fused);
  sum.erase();
  if (product->use_empty())
    product.erase();
}

/// Lets LLVM round `op` and a neighbour once, where the processor can.
static void allowContraction(arith::ArithFastMathInterface op) {
  op->setAttr(op.getFastMathAttrName(),
              arith::FastMathFlagsAttr::get(op->getContext(),
                                            arith::FastMathFlags::contract));
}

/// Rounds a product and the total that it is added to once where the lowering
/// said so, which saw the op and no kernel. All other ops round by themselves:
/// were it up to what is in one kernel, a value that another program computes
/// again would have other bits. With `hasFma` by one op, since LLVM leaves out
/// products that have two users, or are in another block.
static void roundTotalsOnce(Operation *root, bool hasFma) {
  SmallVector<arith::AddFOp> sums;
  root->walk([&](arith::AddFOp sum) {
    if (productIn(sum))
      sums.push_back(sum);
  });
  for (arith::AddFOp sum : sums) {
    arith::MulFOp product = productIn(sum);
    bool isTotal = spmd::contract::RoundedOnce::has(sum);
    if (isTotal && hasFma) {
      fuse(sum);
    } else if (isTotal || isExactProduct(product)) {
      allowContraction(sum);
      allowContraction(product);
    }
  }
}

/// How many bytes `memref` has on the rank that has most, if that is known.
static std::optional<int64_t> bytesOf(Value memref, ShardSizes &sizes) {
  auto type = cast<MemRefType>(memref.getType());
  int64_t bytes = elementBytes(type.getElementType());
  for (int64_t dim : llvm::seq(type.getRank())) {
    OpFoldResult size = sizes.of(memref, dim);
    std::optional<int64_t> most =
        size ? std::optional(cpu::Quantity::of(size).guess()) : std::nullopt;
    if (!most || llvm::MulOverflow(bytes, *most, bytes))
      return std::nullopt;
  }
  return bytes;
}

/// True if something reads `memref`, or may: all but ops on buffers that only
/// write it, and sums that start from a scalar.
static bool isRead(Value memref) {
  return llvm::any_of(memref.getUses(), [](OpOperand &use) {
    Operation *user = use.getOwner();
    if (auto view = dyn_cast<ViewLikeOpInterface>(user))
      return isRead(view->getResult(0));
    if (auto store = dyn_cast<memref::StoreOp>(user))
      return use.get() != store.getMemRef();
    auto generic = dyn_cast<linalg::GenericOp>(user);
    bool isWritten = generic && generic.isDpsInit(&use) &&
                     (generic.getMatchingBlockArgument(&use).use_empty() ||
                      (generic.getNumReductionLoops() &&
                       cpu::findFill(generic, use.getOperandNumber() -
                                                  generic.getNumDpsInputs())));
    return !isWritten && !isa<memref::DimOp, func::ReturnOp>(user);
  });
}

/// The arguments of `function` that something in it reads.
static llvm::SmallDenseSet<Value> argumentsRead(func::FuncOp function) {
  llvm::SmallDenseSet<Value> read;
  for (Value argument : function.getArguments())
    if (isa<MemRefType>(argument.getType()) && isRead(argument))
      read.insert(argument);
  return read;
}

/// Which outputs of `last` are far: see Nest. It stores what `op`, which may be
/// another one, computes; `read` has the function's arguments that something
/// reads.
static SmallVector<bool> farOutputs(linalg::GenericOp op,
                                    linalg::GenericOp last, ShardSizes &sizes,
                                    const llvm::SmallDenseSet<Value> &read) {
  SmallVector<bool> far;
  double cache = Cost(machineOf(op)).getMachine().sharedCacheBytes;
  for (auto [i, output] : llvm::enumerate(last.getDpsInits())) {
    Value root = cpu::rootOf(output);
    // What is read in this program is read sooner than results.
    bool isResult = isa<func::FuncOp>(root.getParentBlock()->getParentOp()) &&
                    isa<BlockArgument>(root) && !read.contains(root);
    auto isRead = [&](Value input) {
      return isa<MemRefType>(input.getType()) && cpu::mayAlias(root, input);
    };
    // A reduction that starts from a scalar does not read its own.
    bool isOwnRead = !last.getNumReductionLoops() &&
                     !last.getRegionOutputArgs()[i].use_empty();
    std::optional<int64_t> bytes = bytesOf(root, sizes);
    far.push_back(bytes && *bytes >= (isResult ? 2 : 4) * cache && !isOwnRead &&
                  llvm::none_of(op.getDpsInputs(), isRead) &&
                  llvm::none_of(last.getDpsInputs(), isRead));
  }
  return far;
}

/// True for a reduction of so few elements each that it waits for memory.
static bool isShortReduction(const cpu::Nest &nest) {
  // Terms in a line or two of each operand. [shape]
  constexpr int64_t kMost = 64;
  int64_t terms = 1;
  for (const cpu::Dim &dim : nest.dims)
    if (dim.reduces && llvm::MulOverflow(terms, dim.size.guess(), terms))
      return false;
  return terms <= kMost &&
         llvm::all_of(nest.initial, [](Value start) { return start; });
}

/// True if the size of the panel of what `schedule` packs is known.
static bool hasFixedPanel(const cpu::Nest &nest,
                          const cpu::Schedule &schedule) {
  return llvm::all_of(schedule.reductions, [&](int dim) {
    return !nest.inputs[schedule.packed].usesDim(dim) ||
           nest.dims[dim].size.fixed;
  });
}

namespace {
/// Who says how products are cut: the op, a table by digests, or the estimates.
/// Notes what was chosen.
class Tiles {
public:
  /// `table`: null where there is none. `lists`: other tiles are noted as well.
  Tiles(DictionaryAttr table, bool lists) : table(table), lists(lists) {}

  cpu::Schedule choose(const cpu::Nest &nest, const cpu::ScheduleTarget &target,
                       int64_t parts) {
    cpu::Schedule chosen = cpu::chooseSchedule(nest, target);
    linalg::GenericOp main = nest.main;
    auto given =
        dyn_cast_or_null<tune::TileAttr>(main->getDiscardableAttr(tune::kTile));
    if (!given && !table && !lists)
      return chosen;
    std::optional<Tile> estimated = cpu::tileOf(nest, chosen);
    std::string digest;
    if (estimated && (table || lists)) {
      digest = cpu::digestOf(nest, target, parts);
      if (!given && table)
        given = table.getAs<tune::TileAttr>(digest);
    }
    cpu::Schedule schedule = chosen;
    if (given) {
      std::optional<cpu::Schedule> obeyed =
          cpu::withTile(nest, target, chosen, given.getTile());
      if (obeyed)
        schedule = *obeyed;
      else
        main.emitRemark() << "this kernel cannot be cut as " << given
                          << " says: an estimate decides";
      if (!obeyed)
        given = {};
    }
    if (!estimated || digest.empty())
      return schedule;
    MLIRContext *context = main.getContext();
    auto [name, place] = namedOp(main.getLoc());
    std::string location = userLocation(place);
    SmallVector<Attribute> others;
    if (lists)
      for (const Tile &other : cpu::otherTiles(nest, target, chosen, schedule))
        others.push_back(tune::TileAttr::get(context, other));
    // As in a trace (MarkKernels).
    name = spmd::withoutDialect(name);
    auto text = [&](StringRef value) {
      return StringAttr::get(context, value);
    };
    tiled.push_back(tune::TiledKernelAttr::get(
        context, text(name.empty() ? "kernel" : name),
        text(location == "unknown" ? "" : location), text(digest),
        tune::TileAttr::get(context, *cpu::tileOf(nest, schedule)), bool(given),
        others.empty() ? ArrayAttr() : ArrayAttr::get(context, others)));
    return schedule;
  }

  ArrayRef<Attribute> getTiled() const { return tiled; }

private:
  DictionaryAttr table;
  bool lists;
  SmallVector<Attribute> tiled;
};
} // namespace

static void generate(linalg::GenericOp op, const cpu::ScheduleTarget &target,
                     int64_t threads, Tiles &tiles, ShardSizes &sizes,
                     const llvm::SmallDenseSet<Value> &read,
                     const DenseSet<Operation *> &apart) {
  SmallVector<Value> initial(op.getNumDpsInits());
  SmallVector<linalg::GenericOp> fills;
  linalg::GenericOp epilogue = cpu::findEpilogue(op);
  if (epilogue && (!cpu::canDescribe(epilogue) || apart.contains(epilogue)))
    epilogue = {};
  if (!cpu::canDescribe(op))
    return;
  if (op.getNumReductionLoops())
    for (unsigned i : llvm::seq<unsigned>(initial.size()))
      if (linalg::GenericOp fill = cpu::findFill(op, i);
          fill && !apart.contains(fill)) {
        initial[i] = filledWith(fill);
        fills.push_back(fill);
      }
  if (epilogue && !initial[0])
    epilogue = {};
  OpBuilder builder(op);
  auto describe = [&] {
    builder.setInsertionPoint(epilogue ? epilogue : op);
    FailureOr<cpu::Nest> nest =
        cpu::describe(builder, op, epilogue, initial, sizes);
    if (failed(nest))
      return nest;
    if (!op.getNumReductionLoops() || isShortReduction(*nest))
      nest->far = farOutputs(op, epilogue ? epilogue : op, sizes, read);
    cpu::collapseDims(builder, *nest, sizes);
    return nest;
  };
  FailureOr<cpu::Nest> nest = describe();
  if (epilogue && succeeded(nest) && cpu::finishesApart(*nest, target)) {
    epilogue = {};
    nest = describe();
  }
  if (failed(nest))
    return;
  cpu::Schedule schedule = tiles.choose(*nest, target, threads);
  // What is a part already has no parts of its own, and a panel of which
  // nobody knows the size before parts begin cannot be one of each.
  for (Operation *loop = op->getParentOp(); loop; loop = loop->getParentOp())
    if (spmd::contract::Parts::has(loop)) {
      threads = 1;
      if (schedule.packed >= 0 && !hasFixedPanel(*nest, schedule)) {
        schedule.packed = -1;
        schedule.pairs = schedule.widens = false;
      }
    }
  cpu::emitNest(builder, *nest, schedule, threads);
  Value result = op.getDpsInits()[0];
  if (epilogue)
    epilogue.erase();
  op.erase();
  for (linalg::GenericOp fill : fills)
    fill.erase();
  auto share = result.getDefiningOp<memref::SubViewOp>();
  if (share && share->use_empty()) {
    result = share.getSource();
    share.erase();
  }
  if (auto alloc = result.getDefiningOp<memref::AllocOp>();
      alloc && alloc->use_empty())
    alloc.erase();
}

namespace {
struct GenerateCpuKernelsPass final
    : shardc::impl::GenerateCpuKernelsPassBase<GenerateCpuKernelsPass> {
  using Base::Base;
  void runOnOperation() override {
    for (auto function : getOperation().getOps<func::FuncOp>()) {
      ShardSizes sizes(function);
      SmallVector<linalg::GenericOp> fills;
      function.walk([&](linalg::GenericOp op) { fills.push_back(op); });
      for (linalg::GenericOp op : fills)
        narrowFill(op, sizes);
    }
    cpu::splitComplex(getOperation());
    ModuleOp module = getOperation();
    for (auto function : module.getOps<func::FuncOp>()) {
      ShardSizes sizes(function);
      cpu::widenFactors(function, sizes, {vectorBits, exact, dotBf16});
    }
    Tiles tiles(dyn_cast_or_null<DictionaryAttr>(
                    module->getDiscardableAttr(tune::kTiles)),
                listTiles);
    SmallVector<cpu::KernelsAlike> alike;
    auto main = module.lookupSymbol<func::FuncOp>(entry);
    if (main && !main.isExternal() && shareFrom > 0)
      alike = cpu::findKernelsAlike(main, shareFrom);
    DenseSet<Operation *> apart;
    for (const cpu::KernelsAlike &kind : alike)
      for (const cpu::KernelOps &place : kind.places)
        apart.insert(place.ops.begin(), place.ops.end());
    for (auto function : module.getOps<func::FuncOp>())
      generateIn(function, tiles, apart);
    if (!alike.empty()) {
      cpu::callKernels(alike);
      generateIn(main, tiles, {}); // what cannot be called
    }
    module->removeDiscardableAttr(tune::kTiles);
    if (!tiles.getTiled().empty())
      module->setDiscardableAttr(
          tune::kTiled, ArrayAttr::get(&getContext(), tiles.getTiled()));
    // Processors with vectors of 256 bits and AVX2 have it; under
    // --reproducible the others take a function's time for the same bits.
    roundTotalsOnce(getOperation(), /*hasFma=*/exact || vectorBits >= 256);
    cpu::eraseUnusedParts(getOperation());
  }

  void generateIn(func::FuncOp function, Tiles &tiles,
                  const DenseSet<Operation *> &apart) {
    ShardSizes sizes(function);
    // While ops say what they do with their operands.
    llvm::SmallDenseSet<Value> read = argumentsRead(function);
    // Reductions first: they take fills and epilogues with them.
    for (bool reductions : {true, false}) {
      SmallVector<linalg::GenericOp> ops;
      function.walk([&](linalg::GenericOp op) {
        if ((op.getNumReductionLoops() != 0) == reductions &&
            !apart.contains(op))
          ops.push_back(op);
      });
      for (linalg::GenericOp op : ops)
        generate(op, {vectorBits, exact, dotBf16}, threads, tiles, sizes, read,
                 apart);
    }
  }
};
} // namespace
} // namespace shardc
