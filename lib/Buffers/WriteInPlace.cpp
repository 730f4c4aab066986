//===- WriteInPlace.cpp - Results in the memory of donated arguments ------===//
//
// A donated argument and a result of as many bytes on every rank may be one
// buffer: if whatever reads the argument comes before what writes the result,
// or if one op does both, element by element. What reads it too late goes
// before the writer, with what it depends on, where nothing forbids it. Whether
// they are one buffer is known when the program runs: the program is right for
// both.
//
//===----------------------------------------------------------------------===//
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "shardc/Analysis/StructuredOps.h"
#include "shardc/Buffers/Passes.h"
#include "shardc/Dialect/Kernel/IR/KernelContracts.h"
#include "shardc/Dialect/Kernel/IR/KernelSites.h"
#include "shardc/Dialect/Spmd/IR/SpmdContracts.h"
#include "shardc/Layout/Exchange.h"
#include "shardc/Support/ElementBytes.h"
#include "shardc/Support/KernelAttributes.h"
#include "shardc/Support/Views.h"

using namespace mlir;

namespace shardc {
#define GEN_PASS_DEF_WRITEINPLACEPASS
#include "shardc/Buffers/Passes.h.inc"

/// Of results that may be written over a donated argument whose size they have,
/// at most this many are looked at.
static constexpr int kMostCandidates = 16;
/// Of what is between a writer and a later reader so much is looked at.
static constexpr size_t kMostMoved = 2048;

/// False where the buffers `a` and `b`, no views, surely are two.
static bool mayAlias(Value a, Value b) {
  return a == b || !isOwnMemory(a) || !isOwnMemory(b) || areOneInPlace(a, b);
}

namespace {
/// Who touches a buffer, under whatever name.
struct Uses {
  explicit Uses(Value buffer);
  SmallVector<Operation *> owners;
  SmallVector<spmd::ReleaseSiteOp> releases; ///< beside the function's ops
  bool isKnown = true; ///< false: it may go where it is not seen

  /// The first and the last op of `block` that touches it, or has one that
  /// does in it; null if none.
  std::pair<Operation *, Operation *> in(Block *block) const {
    std::pair<Operation *, Operation *> ends{nullptr, nullptr};
    for (Operation *owner : owners) {
      Operation *op = block->findAncestorOpInBlock(*owner);
      if (!op)
        continue;
      if (!ends.first || op->isBeforeInBlock(ends.first))
        ends.first = op;
      if (!ends.second || ends.second->isBeforeInBlock(op))
        ends.second = op;
    }
    return ends;
  }
};

/// What ranks hold of an argument or result.
struct Held {
  SmallVector<int64_t> bytes; ///< by rank, or one for all; empty: not known
  /// How cut dims follow from what is bound; `bytes` are those of one binding.
  SmallVector<spmd::FormulaAttr> formulas;
};

/// Pairs a function's donated arguments with its results.
class InPlace {
public:
  InPlace(func::FuncOp function, ArrayAttr inputs, ArrayAttr outputs)
      : function(function), inputs(inputs), outputs(outputs) {}
  void run();

private:
  Held heldByRank(unsigned position, Attribute attrs);
  bool tryPair(unsigned input, unsigned output);
  bool isInOrder(Block *block, Value argument, const Uses &reads, Value result,
                 const Uses &writes);
  bool hoistReaders(Value argument, const Uses &reads, Value result,
                    const Uses &writes);

  void writeEarly();

  func::FuncOp function;
  ArrayAttr inputs, outputs;
  SmallVector<bool> taken; ///< by result
};
} // namespace

Uses::Uses(Value buffer) {
  Block *body = buffer.getParentBlock();
  SmallVector<Value> work{buffer};
  DenseSet<Value> seen{buffer};
  auto follow = [&](auto &&values) {
    for (Value value : values)
      if (isa<BaseMemRefType>(value.getType()) && seen.insert(value).second)
        work.push_back(value);
  };
  while (!work.empty()) {
    for (Operation *user : work.pop_back_val().getUsers()) {
      if (isa<ViewLikeOpInterface>(user)) {
        follow(user->getResults());
        continue;
      }
      if (auto release = dyn_cast<spmd::ReleaseSiteOp>(user);
          release && release->getBlock() == body) {
        releases.push_back(release);
        continue;
      }
      if (isa<memref::DimOp>(user))
        continue;
      owners.push_back(user);
      // Through control flow it goes on under other names.
      Operation *op = isa<RegionBranchTerminatorOpInterface>(user)
                          ? user->getParentOp()
                          : user;
      if (isa<RegionBranchOpInterface>(op)) {
        follow(op->getResults());
        for (Region &region : op->getRegions())
          for (Block &block : region)
            follow(block.getArguments());
        continue;
      }
      isKnown &= llvm::none_of(user->getResultTypes(), [](Type type) {
        return isa<BaseMemRefType, IndexType, LLVM::LLVMPointerType>(type);
      });
    }
  }
}

Held InPlace::heldByRank(unsigned position, Attribute attr) {
  auto type = dyn_cast<MemRefType>(function.getArgument(position).getType());
  int64_t bytes = type ? elementBytes(type.getElementType()) : 0;
  if (bytes == 0 || !type.getLayout().isIdentity())
    return {};
  if (type.hasStaticShape())
    return {{bytes * type.getNumElements()}, {}};
  auto attrs = dyn_cast<DictionaryAttr>(attr);
  spmd::ShardingAttr sharding = spmd::contract::Sharding::in(attrs);
  TypeAttr global = spmd::contract::GlobalType::in(attrs);
  spmd::MeshAttr mesh = sharding
                            ? spmd::lookupMesh(function, sharding.getMesh())
                            : spmd::MeshAttr();
  auto whole = global ? dyn_cast<RankedTensorType>(global.getValue())
                      : RankedTensorType();
  if (!mesh || !whole ||
      whole.getRank() != static_cast<int64_t>(sharding.getDims().size()))
    return {};
  Held held;
  held.bytes.assign(mesh.getNumRanks(), bytes);
  for (auto [dim, size] :
       llvm::zip_equal(sharding.getDims(), whole.getShape())) {
    Boundaries boundaries = dim.getBoundaries(mesh, size);
    if (spmd::FormulaAttr cut =
            spmd::FormulaAttr::get(mesh.getContext(), boundaries.formula()))
      held.formulas.push_back(cut);
    SmallVector<int64_t> axes;
    for (StringAttr axis : dim.getAxes())
      axes.push_back(mesh.getAxisIndex(axis.getValue()));
    for (int64_t rank = 0; rank < mesh.getNumRanks(); ++rank)
      held.bytes[rank] *= boundaries.shardSize(
          coordinateAlong(mesh.getAxisSizes(), axes, rank));
  }
  // From an empty extent of this binding no factor follows.
  if (!held.formulas.empty() && llvm::is_contained(held.bytes, 0))
    return {};
  return held;
}

/// True if both hold as many bytes, on every rank and in every binding.
static bool sameBytes(const Held &a, const Held &b) {
  if (a.formulas != b.formulas)
    return false;
  if (a.bytes.size() == b.bytes.size())
    return !a.bytes.empty() && a.bytes == b.bytes;
  // One number stands for all ranks.
  ArrayRef<int64_t> longer = a.bytes.size() > 1 ? a.bytes : b.bytes,
                    shorter = a.bytes.size() > 1 ? b.bytes : a.bytes;
  return !shorter.empty() && llvm::all_of(longer, [&](int64_t size) {
    return size == shorter.front();
  });
}

bool InPlace::isInOrder(Block *block, Value argument, const Uses &reads,
                        Value result, const Uses &writes) {
  Operation *lastRead = reads.in(block).second,
            *firstWrite = writes.in(block).first;
  if (!lastRead || !firstWrite || lastRead->isBeforeInBlock(firstWrite))
    return true;
  if (lastRead != firstWrite)
    return false;
  if (!isa<scf::IfOp, scf::IndexSwitchOp>(lastRead))
    return readsAsItWrites(lastRead, argument, result);
  // One of the branches runs.
  return lastRead->getNumResults() == 0 &&
         llvm::all_of(lastRead->getRegions(), [&](Region &region) {
           return region.empty() ||
                  isInOrder(&region.front(), argument, reads, result, writes);
         });
}

namespace {
/// What an op of the function does with memory, by what it is a view of.
struct Access {
  explicit Access(Operation *op);
  bool mustStayBehind(const Access &earlier) const;

  SmallVector<Value> reads, writes;
  bool isSite = false;    ///< ranks take part in their order
  bool isUnknown = false; ///< it may do anything
};
} // namespace

Access::Access(Operation *op) {
  isSite = spmd::runsSites(op);
  if (isa<spmd::StartSiteOp, spmd::ReleaseSiteOp>(op)) {
    for (Value operand : op->getOperands())
      if (isa<BaseMemRefType>(operand.getType()))
        reads.push_back(rootOfView(operand));
    return;
  }
  auto effects = getEffectsRecursively(op);
  if (!effects) {
    isUnknown = true;
    return;
  }
  for (const MemoryEffects::EffectInstance &effect : *effects) {
    if (isa<MemoryEffects::Allocate>(effect.getEffect()))
      continue;
    Value value = effect.getValue();
    if (!value || !isa<BaseMemRefType>(value.getType()))
      // Of a site, one on nothing in particular says that peers take part.
      isUnknown |= !isa<spmd::RunSiteOp>(op);
    else if (isa<MemoryEffects::Read>(effect.getEffect()))
      reads.push_back(rootOfView(value));
    else
      writes.push_back(rootOfView(value));
  }
}

bool Access::mustStayBehind(const Access &earlier) const {
  auto overlap = [](ArrayRef<Value> some, ArrayRef<Value> others) {
    return llvm::any_of(some, [&](Value a) {
      return llvm::any_of(others, [&](Value b) { return mayAlias(a, b); });
    });
  };
  auto isIdle = [](const Access &access) {
    return !access.isUnknown && !access.isSite && access.reads.empty() &&
           access.writes.empty();
  };
  if (isUnknown || earlier.isUnknown)
    return !isIdle(*this) && !isIdle(earlier);
  return (isSite && earlier.isSite) || overlap(writes, earlier.writes) ||
         overlap(writes, earlier.reads) || overlap(reads, earlier.writes);
}

/// Moves what reads `argument` after `result` is first written, with all that
/// this depends on, before that writer.
bool InPlace::hoistReaders(Value argument, const Uses &reads, Value result,
                           const Uses &writes) {
  Block *body = &function.getBody().front();
  Operation *firstWrite = writes.in(body).first,
            *lastRead = reads.in(body).second;
  SmallVector<Operation *> window;
  DenseMap<Operation *, unsigned> place;
  for (Operation *op = firstWrite;; op = op->getNextNode()) {
    place[op] = window.size();
    window.push_back(op);
    if (op == lastRead)
      break;
    if (window.size() > kMostMoved)
      return false;
  }
  SmallVector<bool> moves(window.size(), false);
  for (Operation *owner : reads.owners) {
    Operation *op = body->findAncestorOpInBlock(*owner);
    auto known = place.find(op);
    if (known == place.end())
      continue;
    if (op != firstWrite)
      moves[known->second] = true;
    else if (!readsAsItWrites(op, argument, result))
      return false;
  }
  SmallVector<Access> accesses;
  for (Operation *op : window)
    accesses.emplace_back(op);
  for (unsigned i = window.size(); i-- > 0;) {
    if (!moves[i])
      continue;
    if (i == 0)
      return false;
    window[i]->walk([&](Operation *inner) {
      for (Value operand : inner->getOperands())
        if (Operation *definition = operand.getDefiningOp())
          if (auto known = place.find(definition); known != place.end())
            moves[known->second] = true;
    });
    for (unsigned j = 0; j < i; ++j)
      if (!moves[j] && accesses[i].mustStayBehind(accesses[j]))
        moves[j] = true;
  }
  for (unsigned i : llvm::seq<unsigned>(window.size()))
    if (moves[i])
      window[i]->moveBefore(firstWrite);
  return isInOrder(body, argument, reads, result, writes);
}

/// A copy of the argument to its result has nothing to do where they are one.
static void copyUnlessSame(linalg::GenericOp copy, Value argument,
                           Value result) {
  if (copy.getNumDpsInits() != 1 || copy.getNumDpsInputs() != 1 ||
      wholeBehind(copy.getDpsInputs()[0]) != argument ||
      wholeBehind(copy.getDpsInits()[0]) != result ||
      copy.getBody()->getTerminator()->getOperand(0) !=
          copy.getRegionInputArgs()[0])
    return;
  OpBuilder builder(copy);
  Location loc = copy.getLoc();
  auto addressOf = [&](Value buffer) {
    return memref::ExtractAlignedPointerAsIndexOp::create(builder, loc, buffer)
        .getResult();
  };
  Value differ = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ne,
                                       addressOf(argument), addressOf(result));
  auto branch = scf::IfOp::create(builder, loc, differ, /*withElse=*/false);
  copy->moveBefore(branch.thenBlock()->getTerminator());
}

bool InPlace::tryPair(unsigned input, unsigned output) {
  Value argument = function.getArgument(input),
        result = function.getArgument(inputs.size() + output);
  Uses reads(argument), writes(result);
  if (!reads.isKnown || !writes.isKnown)
    return false;
  Block *body = &function.getBody().front();
  if (!isInOrder(body, argument, reads, result, writes) &&
      !hoistReaders(argument, reads, result, writes))
    return false;
  Operation *firstWrite = writes.in(body).first;
  for (spmd::ReleaseSiteOp release : reads.releases)
    if (firstWrite && firstWrite->isBeforeInBlock(release))
      release->moveBefore(firstWrite);
  for (Operation *owner : writes.owners)
    if (auto generic = dyn_cast<linalg::GenericOp>(owner))
      copyUnlessSame(generic, argument, result);
  Builder builder(function.getContext());
  spmd::contract::InPlace::setOfArgument(function, inputs.size() + output,
                                         builder.getI64IntegerAttr(input));
  taken[output] = true;
  return true;
}

/// Moves what writes in place alone to where all that it reads is there: what
/// an update is computed from need not be held until the end, where the
/// program's author updates everything.
void InPlace::writeEarly() {
  Block *body = &function.getBody().front();
  auto isInPlace = [&](Value buffer) {
    auto argument = dyn_cast<BlockArgument>(rootOfView(buffer));
    return argument && argument.getOwner() == body &&
           spmd::contract::InPlace::ofArgument(function,
                                               argument.getArgNumber());
  };
  DenseMap<Operation *, Access> accesses;
  auto accessOf = [&](Operation *op) -> const Access & {
    auto known = accesses.find(op);
    if (known == accesses.end())
      known = accesses.insert({op, Access(op)}).first;
    return known->second;
  };
  SmallVector<linalg::GenericOp> writers;
  for (auto generic : body->getOps<linalg::GenericOp>())
    if (llvm::all_of(generic.getDpsInits(), isInPlace))
      writers.push_back(generic);
  for (linalg::GenericOp writer : writers) {
    // All that it is given outside of itself.
    DenseSet<Operation *> definitions;
    writer->walk([&](Operation *inner) {
      for (Value operand : inner->getOperands())
        if (Operation *definition = operand.getDefiningOp())
          definitions.insert(definition);
    });
    Access mine = accessOf(writer);
    Operation *place = writer;
    size_t passed = 0;
    for (Operation *before = writer->getPrevNode();
         before && passed < kMostMoved && !definitions.contains(before) &&
         !mine.mustStayBehind(accessOf(before));
         before = before->getPrevNode(), ++passed)
      place = before;
    if (place != writer)
      writer->moveBefore(place);
  }
}

void InPlace::run() {
  taken.assign(outputs.size(), false);
  SmallVector<Held> sizes;
  for (auto [i, attrs] : llvm::enumerate(outputs))
    sizes.push_back(heldByRank(inputs.size() + i, attrs));
  auto fits = [&](const Held &held, int64_t output) {
    return sameBytes(held, sizes[output]);
  };
  // Those that are meant for a result come first.
  SmallVector<std::pair<unsigned, Held>> others;
  for (auto [i, attr] : llvm::enumerate(inputs)) {
    auto donated = spmd::contract::Donated::in(cast<DictionaryAttr>(attr));
    if (!donated)
      continue;
    Held held = heldByRank(i, attr);
    int64_t meant = donated.getInt();
    if (meant >= 0 && meant < static_cast<int64_t>(taken.size()) &&
        !taken[meant] && fits(held, meant) && tryPair(i, meant))
      continue;
    if (!held.bytes.empty())
      others.emplace_back(i, std::move(held));
  }
  for (auto &[i, held] : others) {
    Type type = function.getArgument(i).getType();
    int left = kMostCandidates;
    bool isPaired = false;
    for (bool sameType : {true, false})
      for (unsigned output = 0; output < taken.size() && !isPaired && left;
           ++output) {
        bool isSame =
            function.getArgument(inputs.size() + output).getType() == type;
        if (taken[output] || isSame != sameType || !fits(held, output))
          continue;
        --left;
        isPaired = tryPair(i, output);
      }
  }
  if (llvm::is_contained(taken, true))
    writeEarly();
}

namespace {
struct WriteInPlacePass final
    : shardc::impl::WriteInPlacePassBase<WriteInPlacePass> {
  using Base::Base;
  void runOnOperation() override {
    ModuleOp module = getOperation();
    auto function = module.lookupSymbol<func::FuncOp>(entry);
    ArrayAttr inputs = spmd::contract::EntryInputs::get(module),
              outputs = spmd::contract::EntryOutputs::get(module);
    if (!function || function.isDeclaration() || !inputs || !outputs ||
        function.getNumArguments() != inputs.size() + outputs.size() ||
        !function.getBody().hasOneBlock())
      return;
    InPlace(function, inputs, outputs).run();
    SmallVector<int64_t> written;
    for (unsigned i : llvm::seq<unsigned>(outputs.size())) {
      IntegerAttr number =
          spmd::contract::InPlace::ofArgument(function, inputs.size() + i);
      written.push_back(number ? number.getInt() : -1);
    }
    if (llvm::any_of(written, [](int64_t number) { return number >= 0; }))
      spmd::contract::WrittenInPlace::set(
          module, Builder(&getContext()).getDenseI64ArrayAttr(written));
  }
};
} // namespace
} // namespace shardc
