//===- SeparateReaders.cpp - Many readers, or a long chain, in parts ------===//
//
// One-shot bufferization decides for each operand whether it may be written in
// place, and compares all reads with all writes of what may share its buffer
// for that: n readers of one tensor take n² steps, n updates of one tensor or n
// conditionals within one another n³.
//
// Where nothing writes to a tensor the answer is known, and readers need not be
// compared: each has a tensor of its own, of an argument's buffer or of memory
// in which an op's result is built. Where nothing that came before in a chain
// of updates is read again, its buffer is known: one part of the chain leaves
// its tensor in memory, and the next goes on with what is in it.
//
//===----------------------------------------------------------------------===//
#include "mlir/Dialect/Bufferization/IR/BufferizableOpInterface.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/CallInterfaces.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "shardc/Buffers/Passes.h"

using namespace mlir;

namespace shardc {
#define GEN_PASS_DEF_SEPARATEREADERSPASS
#include "shardc/Buffers/Passes.h.inc"

/// True if the result of `op` shows elements of its operand.
static bool isView(Operation *op) {
  return isa<tensor::ExtractSliceOp, tensor::ExpandShapeOp,
             tensor::CollapseShapeOp, tensor::CastOp>(op);
}

/// True if `user` may hand a tensor on to where its reads are not seen here:
/// into a region, to another function, or out of this one.
static bool mayForward(Operation *user) {
  return user->hasTrait<OpTrait::IsTerminator>() ||
         isa<CallOpInterface>(user) ||
         (user->getNumRegions() && !isa<linalg::LinalgOp>(user));
}

/// Counts the ops that read what `value` shows, by itself or by views of it;
/// none if some use may write there, or may hand the tensor on.
static std::optional<unsigned>
countReaders(Value value, const bufferization::AnalysisState &state) {
  unsigned count = 0;
  for (OpOperand &use : value.getUses()) {
    Operation *user = use.getOwner();
    if (isa<tensor::DimOp>(user))
      continue;
    if (isView(user)) {
      auto readers = countReaders(user->getResult(0), state);
      if (!readers)
        return std::nullopt;
      count += *readers;
      continue;
    }
    auto op = dyn_cast<bufferization::BufferizableOpInterface>(user);
    if (!op || mayForward(user) || op.bufferizesToMemoryWrite(use, state) ||
        op.getAliasingValues(use, state).getNumAliases())
      return std::nullopt;
    ++count;
  }
  return count;
}

/// Gives each of `uses` of `value`, which nothing writes, a tensor of its own
/// that shows the same buffer.
static void separate(BlockArgument value, ArrayRef<OpOperand *> uses,
                     OpBuilder &builder) {
  auto type = cast<RankedTensorType>(value.getType());
  Value buffer = bufferization::ToBufferOp::create(
      builder, value.getLoc(),
      MemRefType::get(type.getShape(), type.getElementType()), value,
      /*read_only=*/true);
  // The list of uses ends with the first.
  for (OpOperand *use : llvm::reverse(uses))
    use->set(bufferization::ToTensorOp::create(builder, value.getLoc(), type,
                                               buffer, /*restrict=*/true));
}

/// The uses of `argument` to be separated: all, if all are known to read; of
/// one that may not be written anyway, those that do not hand it on.
static SmallVector<OpOperand *>
readersOf(BlockArgument argument, const bufferization::AnalysisState &state,
          unsigned many) {
  auto function = cast<func::FuncOp>(argument.getOwner()->getParentOp());
  auto writable = function.getArgAttrOfType<BoolAttr>(
      argument.getArgNumber(),
      bufferization::BufferizationDialect::kWritableAttrName);
  bool isReadOnly = writable && !writable.getValue();
  if (!isReadOnly && countReaders(argument, state).value_or(0) < many)
    return {};
  SmallVector<OpOperand *> uses;
  unsigned count = 0;
  for (OpOperand &use : argument.getUses()) {
    Operation *user = use.getOwner();
    if (isReadOnly && mayForward(user))
      continue;
    uses.push_back(&use);
    count += isView(user) ? llvm::range_size(user->getUses()) : 1;
  }
  if (isReadOnly && count < many)
    uses.clear();
  return uses;
}

/// The result that takes over the buffer of `use`, if its op changes it.
static Value changed(OpOperand &use) {
  Operation *op = use.getOwner();
  if (auto destination = dyn_cast<DestinationStyleOpInterface>(op);
      destination && destination.isDpsInit(&use) && op->getNumResults())
    return destination.getTiedOpResult(&use);
  if (auto loop = dyn_cast<LoopLikeOpInterface>(op))
    return loop.getTiedLoopResult(&use);
  return {};
}

/// The use of `value` by the next update of a chain: the only one that changes
/// it, in the same block.
static OpOperand *nextUpdate(Value value) {
  OpOperand *next = nullptr;
  for (OpOperand &use : value.getUses()) {
    Value result = changed(use);
    if (!result)
      continue;
    if (next || use.getOwner()->getBlock() != value.getParentBlock() ||
        result.getType() != value.getType())
      return nullptr;
    next = &use;
  }
  return next;
}

/// Whether all that reads `value`, or what may show its elements, is before
/// `end` in its block, apart from `next`.
static bool isReadBefore(Value value, Operation *end, OpOperand *next) {
  for (OpOperand &use : value.getUses()) {
    if (&use == next)
      continue;
    Operation *user = end->getBlock()->findAncestorOpInBlock(*use.getOwner());
    if (!user || !user->isBeforeInBlock(end) ||
        isa<bufferization::ToBufferOp>(use.getOwner()))
      return false;
    // These read elements and show none.
    auto generic = dyn_cast<linalg::LinalgOp>(user);
    if (isa<tensor::DimOp, tensor::ExtractOp>(user) ||
        (generic && user == use.getOwner() && !generic.isDpsInit(&use)))
      continue;
    if (auto insert = dyn_cast<tensor::InsertSliceOp>(user);
        insert && &use == &insert.getSourceMutable())
      continue;
    for (Value result : user->getResults())
      if (isa<TensorType>(result.getType()) &&
          !isReadBefore(result, end, /*next=*/nullptr))
        return false;
  }
  return true;
}

static bool isEmptyTensor(Value value) {
  return isa_and_nonnull<tensor::EmptyOp, bufferization::AllocTensorOp>(
      value.getDefiningOp());
}

/// A chain of updates of one tensor, and those before which it is split.
struct Chain {
  Value begin;
  SmallVector<OpOperand *> cuts;
};

/// The chain that begins with `begin`, in parts of `part` updates or a few
/// more. What is only put together in an empty tensor stays in one: its parts
/// may be built there.
static Chain chainFrom(Value begin, size_t part) {
  Chain chain{begin, {}};
  bool isPutTogether = isEmptyTensor(begin);
  // The tensors of the part at hand, with the updates of each.
  SmallVector<std::pair<Value, OpOperand *>> tensors;
  size_t length = 0;
  for (Value value = begin; OpOperand *next = nextUpdate(value);
       value = changed(*next), ++length) {
    Operation *end = next->getOwner();
    isPutTogether &= isa<tensor::InsertSliceOp>(end);
    tensors.push_back({value, next});
    // What a part begins with stays to be read where it came from.
    bool isCut =
        tensors.size() > part &&
        llvm::all_of(ArrayRef(tensors).drop_front(chain.cuts.empty()),
                     [&](auto tensor) {
                       return isReadBefore(tensor.first, end, tensor.second);
                     });
    if (!isCut)
      continue;
    chain.cuts.push_back(next);
    tensors = {{value, next}};
  }
  if (length <= 2 * part || isPutTogether)
    chain.cuts.clear();
  return chain;
}

static Value allocLike(OpBuilder &builder, Value value) {
  auto type = cast<RankedTensorType>(value.getType());
  SmallVector<Value> sizes;
  for (int64_t dim = 0; dim < type.getRank(); ++dim)
    if (type.isDynamicDim(dim))
      sizes.push_back(
          tensor::DimOp::create(builder, value.getLoc(), value, dim));
  return memref::AllocOp::create(
      builder, value.getLoc(),
      MemRefType::get(type.getShape(), type.getElementType()), sizes);
}

static Value toTensor(OpBuilder &builder, Value value, Value memory) {
  return bufferization::ToTensorOp::create(builder, value.getLoc(),
                                           value.getType(), memory,
                                           /*restrict=*/true,
                                           /*writable=*/true);
}

/// Puts `value` in `memory`, at this point and not earlier.
static void store(OpBuilder &builder, Value value, Value memory) {
  auto op = bufferization::MaterializeInDestinationOp::create(
      builder, value.getLoc(), value, memory);
  op.setWritable(true);
}

static void split(const Chain &chain) {
  Value begin = chain.begin;
  OpOperand *first = nextUpdate(begin);
  OpBuilder builder(first->getOwner());
  Value memory = allocLike(builder, begin);
  // Of an alloc_tensor also what it copies would be an operand.
  bool isEmpty = isEmptyTensor(begin) && begin.hasOneUse() &&
                 llvm::all_of(begin.getDefiningOp()->getOperandTypes(),
                              [](Type type) { return type.isIndex(); });
  if (!isEmpty)
    store(builder, begin, memory);
  first->set(toTensor(builder, begin, memory));
  for (OpOperand *cut : chain.cuts) {
    builder.setInsertionPoint(cut->getOwner());
    Value value = cut->get();
    store(builder, value, memory);
    cut->set(toTensor(builder, value, memory));
  }
}

/// Whether `value` is what something within a loop carries: it has a buffer
/// that each iteration updates.
static bool isCarried(Value value) {
  auto argument = dyn_cast<BlockArgument>(value);
  return argument && !isa<func::FuncOp>(argument.getOwner()->getParentOp());
}

/// Whether `value` is made of another by an update in a chain.
static bool isUpdate(Value value) {
  Operation *op = value.getDefiningOp();
  return op && llvm::any_of(op->getOpOperands(), [&](OpOperand &operand) {
           return changed(operand) == value &&
                  nextUpdate(operand.get()) == &operand;
         });
}

/// How many conditionals are around `branch`.
static size_t depthOf(scf::IfOp branch) {
  size_t depth = 0;
  for (auto around = branch->getParentOfType<scf::IfOp>(); around;
       around = around->getParentOfType<scf::IfOp>())
    ++depth;
  return depth;
}

/// Gives the tensors of `branch` memory of their own.
static void storeResults(scf::IfOp branch) {
  OpBuilder builder(branch->getContext());
  builder.setInsertionPointAfter(branch);
  for (Value result : branch.getResults()) {
    if (!isa<RankedTensorType>(result.getType()) || result.use_empty())
      continue;
    SmallVector<OpOperand *> uses(llvm::make_pointer_range(result.getUses()));
    Value memory = allocLike(builder, result);
    store(builder, result, memory);
    Value stored = toTensor(builder, result, memory);
    for (OpOperand *use : uses)
      use->set(stored);
  }
}

/// The operand by which the op of `value` builds it in an empty tensor, or on
/// top of what another has put there; none if that may be some tensor's memory.
static OpOperand *beginOf(OpResult value) {
  auto op = dyn_cast<linalg::LinalgOp>(value.getOwner());
  if (!op)
    return nullptr;
  OpOperand *init = op.getTiedOpOperand(value);
  if (init->get().getDefiningOp<tensor::EmptyOp>())
    return init;
  auto below = dyn_cast<OpResult>(init->get());
  return below && below.hasOneUse() ? beginOf(below) : nullptr;
}

/// Whether `value` may be built within another tensor, or where the caller
/// wants it.
static bool hasDestination(Value value) {
  return llvm::any_of(value.getUsers(), [](Operation *user) {
    return isa<tensor::InsertSliceOp,
               bufferization::MaterializeInDestinationOp>(user);
  });
}

/// Lets `value`, which nothing writes once it is made, be built in memory of
/// its own, and gives each use a tensor of its own that shows it.
static void separateInMemory(OpResult value, OpOperand *begin) {
  SmallVector<OpOperand *> uses(llvm::make_pointer_range(value.getUses()));
  auto type = cast<RankedTensorType>(value.getType());
  // Others may begin in the same empty tensor.
  OpBuilder builder(begin->getOwner());
  auto empty =
      cast<tensor::EmptyOp>(builder.clone(*begin->get().getDefiningOp()));
  builder.setInsertionPoint(empty);
  Value memory = memref::AllocOp::create(
      builder, value.getLoc(),
      MemRefType::get(type.getShape(), type.getElementType()),
      empty.getDynamicSizes());
  begin->set(empty);
  builder.setInsertionPointAfter(value.getOwner());
  // Restricted: its op may write there.
  auto store = bufferization::MaterializeInDestinationOp::create(
      builder, value.getLoc(), value, memory);
  store.setRestrict(true);
  store.setWritable(true);
  for (OpOperand *use : llvm::reverse(uses))
    use->set(bufferization::ToTensorOp::create(builder, value.getLoc(), type,
                                               memory, /*restrict=*/true));
}

/// Splits long chains. Each has `part` updates or a few more before that.
static void splitChains(func::FuncOp function, size_t part) {
  SmallVector<Chain> chains;
  auto addChain = [&](Value value) {
    if (!isa<RankedTensorType>(value.getType()) || isCarried(value) ||
        !nextUpdate(value) || isUpdate(value))
      return;
    Chain chain = chainFrom(value, part);
    if (!chain.cuts.empty())
      chains.push_back(std::move(chain));
  };
  SmallVector<scf::IfOp> branches;
  llvm::for_each(function.getArguments(), addChain);
  function.walk([&](Operation *op) {
    llvm::for_each(op->getResults(), addChain);
    if (auto branch = dyn_cast<scf::IfOp>(op))
      if (size_t depth = depthOf(branch); depth && depth % part == 0)
        branches.push_back(branch);
  });
  // All that is asked is asked by now: what comes new into a block ends the
  // numbering of its ops.
  llvm::for_each(chains, split);
  llvm::for_each(branches, storeResults);
}

namespace {
struct SeparateReadersPass final
    : impl::SeparateReadersPassBase<SeparateReadersPass> {
  using Base::Base;
  void runOnOperation() override {
    if (getOperation().isExternal())
      return;
    // Of more than half as many all may be compared, in their third power.
    splitChains(getOperation(), std::max(1u, manyReaders / 4));
    bufferization::BufferizationOptions options;
    bufferization::AnalysisState state(options);
    OpBuilder builder(&getContext());
    builder.setInsertionPointToStart(&getOperation().front());
    for (BlockArgument argument : getOperation().getArguments())
      if (isa<RankedTensorType>(argument.getType()))
        if (auto uses = readersOf(argument, state, manyReaders); !uses.empty())
          separate(argument, uses, builder);
    SmallVector<std::pair<OpResult, OpOperand *>> results;
    getOperation().walk([&](linalg::LinalgOp op) {
      for (OpResult result : op->getResults())
        if (isa<RankedTensorType>(result.getType()) &&
            !hasDestination(result) &&
            countReaders(result, state).value_or(0) >= manyReaders)
          if (OpOperand *begin = beginOf(result))
            results.push_back({result, begin});
    });
    for (auto [result, begin] : results)
      separateInMemory(result, begin);
  }
};
} // namespace
} // namespace shardc
