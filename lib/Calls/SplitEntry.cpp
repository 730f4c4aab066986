//===- SplitEntry.cpp - Long straight lines as several functions ----------===//
//
// The entry of a long program is a line of calls: kernels, and the runtime.
// LLVM's allocation of registers, and what it knows of a call's arguments, take
// quadratic time in the length of such a line. Cut into functions of a few
// hundred ops it is linear. Addresses and constants are made again in each
// part; what else one part gives to another is in a slot of the entry.
//
//===----------------------------------------------------------------------===//
#include "SplitEntry.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Builders.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace shardc;

/// Entries of fewer ops stay as they are.
static constexpr int64_t kLeastOps = 3000;
/// Ops of one part.
static constexpr size_t kPartOps = 512;
/// Ops behind one another that a part makes again rather than asks for.
static constexpr unsigned kMostAgain = 12;

/// Reads fields of descriptors from where they were put in, and drops what is
/// then of no use.
static void foldDescriptors(LLVM::LLVMFuncOp function) {
  for (Block &block : function.getBody())
    for (auto extract :
         llvm::make_early_inc_range(block.getOps<LLVM::ExtractValueOp>())) {
      Value from = extract.getContainer();
      while (auto insert = from.getDefiningOp<LLVM::InsertValueOp>()) {
        if (insert.getPosition() == extract.getPosition()) {
          extract.replaceAllUsesWith(insert.getValue());
          extract.erase();
          break;
        }
        // A field of a field, or a field that holds it.
        size_t common =
            std::min(insert.getPosition().size(), extract.getPosition().size());
        if (insert.getPosition().take_front(common) ==
            extract.getPosition().take_front(common))
          break;
        from = insert.getContainer();
      }
    }
}

static void dropDead(LLVM::LLVMFuncOp function) {
  for (Block &block : llvm::reverse(function.getBody()))
    for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
      if (isOpTriviallyDead(&op))
        op.erase();
}

/// Fixed places on the stack are the entry's.
static void hoistPlaces(LLVM::LLVMFuncOp function) {
  Block &first = function.getBody().front();
  for (auto place :
       llvm::make_early_inc_range(first.getOps<LLVM::AllocaOp>())) {
    Operation *size = place.getArraySize().getDefiningOp();
    if (!size || !size->hasTrait<OpTrait::ConstantLike>())
      continue;
    place->moveBefore(&first, first.begin());
    size->moveBefore(&first, first.begin());
  }
}

namespace {
/// Cuts the blocks of one function.
class Splitter {
public:
  Splitter(LLVM::LLVMFuncOp function, int64_t &count)
      : function(function), count(count), builder(function.getContext()) {}

  void split(Block &block) {
    auto begin = block.begin(), end = std::prev(block.end());
    if (block.isEntryBlock()) {
      // What the runtime gives once, and places on the stack, are for all.
      auto isKernel = [](Operation &op) {
        auto call = dyn_cast<LLVM::CallOp>(op);
        return call && call.getCallee() &&
               !call.getCallee()->starts_with("shardrt_");
      };
      begin = llvm::find_if(block, isKernel);
    }
    SmallVector<Operation *> piece;
    SmallVector<SmallVector<Operation *>> pieces;
    for (auto it = begin; it != block.end() && it != end; ++it) {
      if (isa<LLVM::AllocaOp, LLVM::StackSaveOp, LLVM::StackRestoreOp>(*it) ||
          it->getNumRegions() > 0 || it->getNumResults() > 1)
        return;
      if (isMadeAgain(&*it))
        continue;
      piece.push_back(&*it);
      if (piece.size() == kPartOps)
        pieces.push_back(std::exchange(piece, {}));
    }
    if (pieces.empty())
      return;
    pieces.push_back(piece);
    for (ArrayRef<Operation *> ops : pieces)
      if (!ops.empty())
        move(ops);
  }

private:
  /// Whether a part makes for itself what `op` makes: addresses, constants and
  /// a little arithmetic.
  bool isMadeAgain(Operation *op) {
    auto [it, isNew] = depths.try_emplace(op, 0);
    if (!isNew)
      return it->second <= kMostAgain;
    auto load = dyn_cast<LLVM::LoadOp>(op);
    unsigned depth = kMostAgain + 1;
    if (op->getNumResults() == 1 && op->getNumRegions() == 0 &&
        !isa<LLVM::CallOp>(op) &&
        (isMemoryEffectFree(op) || (load && load.getInvariant()))) {
      depth = 1;
      for (Value operand : op->getOperands())
        if (Operation *maker = operand.getDefiningOp();
            maker && isMadeAgain(maker))
          depth = std::max(depth, depths[maker] + 1);
    }
    depths[op] = depth;
    return depth <= kMostAgain;
  }

  /// `value` of the step as the part that is being filled has it.
  Value import(Value value) {
    Operation *maker = value.getDefiningOp();
    if (maker && maker->getParentOp() == part)
      return value;
    if (auto it = imported.find(value); it != imported.end())
      return it->second;
    Value here;
    if (maker && isMadeAgain(maker)) {
      SmallVector<Value> operands;
      for (Value operand : maker->getOperands())
        operands.push_back(import(operand));
      Operation *again = builder.clone(*maker);
      again->setOperands(operands);
      here = again->getResult(0);
    } else {
      parameters.push_back(value);
      here =
          part.getBody().front().addArgument(value.getType(), value.getLoc());
    }
    imported[value] = here;
    return here;
  }

  void move(ArrayRef<Operation *> ops) {
    Location loc = ops.front()->getLoc();
    Type i32 = builder.getI32Type();
    parameters.clear();
    imported.clear();
    builder.setInsertionPoint(function);
    part = LLVM::LLVMFuncOp::create(
        builder, loc, (kPartPrefix + Twine(count++)).str(),
        LLVM::LLVMFunctionType::get(i32, {}), LLVM::Linkage::Internal);
    part.setPassthroughAttr(builder.getStrArrayAttr({"noinline"}));
    Block *body = builder.createBlock(&part.getBody());
    // Stands where the call will.
    builder.setInsertionPoint(ops.front());
    Operation *place = LLVM::ZeroOp::create(builder, loc, i32);
    for (Operation *op : ops) {
      builder.setInsertionPointToEnd(body);
      for (OpOperand &operand : op->getOpOperands())
        operand.set(import(operand.get()));
      op->moveBefore(body, body->end());
    }
    // What others read of it.
    SmallVector<std::pair<Value, Value>> given;
    for (Operation *op : ops)
      for (Value result : op->getResults()) {
        if (llvm::all_of(result.getUsers(), [&](Operation *user) {
              return user->getParentOp() == part;
            }))
          continue;
        Block &first = function.getBody().front();
        builder.setInsertionPointToStart(&first);
        Value one = LLVM::ConstantOp::create(builder, loc, i32,
                                             builder.getI32IntegerAttr(1));
        Value slot = LLVM::AllocaOp::create(
            builder, loc, LLVM::LLVMPointerType::get(builder.getContext()),
            result.getType(), one);
        given.push_back({result, slot});
        parameters.push_back(slot);
        Value here = body->addArgument(slot.getType(), loc);
        builder.setInsertionPointAfter(op);
        LLVM::StoreOp::create(builder, loc, result, here);
      }
    builder.setInsertionPointToEnd(body);
    Value fine = LLVM::ConstantOp::create(builder, loc, i32,
                                          builder.getI32IntegerAttr(0));
    LLVM::ReturnOp::create(builder, loc, fine);
    part.setFunctionType(LLVM::LLVMFunctionType::get(
        i32, llvm::to_vector(body->getArgumentTypes())));
    builder.setInsertionPoint(place);
    LLVM::CallOp::create(builder, loc, part, parameters);
    for (auto [result, slot] : given) {
      Value read = LLVM::LoadOp::create(builder, loc, result.getType(), slot);
      result.replaceUsesWithIf(read, [&](OpOperand &use) {
        return use.getOwner()->getParentOp() != part;
      });
    }
    place->erase();
  }

  LLVM::LLVMFuncOp function, part;
  int64_t &count;
  OpBuilder builder;
  llvm::DenseMap<Operation *, unsigned> depths;
  llvm::DenseMap<Value, Value> imported;
  SmallVector<Value> parameters;
};
} // namespace

void shardc::splitEntry(ModuleOp module) {
  auto main = module.lookupSymbol<LLVM::LLVMFuncOp>("shardc_main");
  bool isHosts = llvm::all_of(module.getOps(), [](Operation &op) {
    return isa<LLVM::LLVMDialect>(op.getDialect());
  });
  if (!main || main.isExternal() || !isHosts)
    return;
  foldDescriptors(main);
  dropDead(main);
  int64_t ops = 0;
  for (Block &block : main.getBody())
    ops += std::distance(block.begin(), block.end());
  if (ops < kLeastOps)
    return;
  hoistPlaces(main);
  int64_t count = 0;
  Splitter splitter(main, count);
  for (Block &block : main.getBody())
    splitter.split(block);
  dropDead(main);
}
