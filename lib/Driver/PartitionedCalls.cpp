//===- PartitionedCalls.cpp - Calls that their author cuts ----------------===//
#include "shardc/Driver/PartitionedCalls.h"
#include "UseModel.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Pass/PassManager.h"
#include "shardc/Dialect/Sdy/IR/Sdy.h"
#include "shardc/Dialect/Spmd/IR/SpmdContracts.h"
#include "shardc/Dialect/Spmd/IR/SpmdGlobal.h"
#include "shardc/Dialect/StableHLO/Sinks.h"
#include "shardc/Support/ForeignProgram.h"
#include "shardc/Support/Refusal.h"
#include "llvm/Support/raw_ostream.h"
#include <set>

using namespace mlir;
using namespace shardc;
using shardc::stablehlo::CustomCallOp;

namespace {
/// One axis of a mesh, and how far apart its ranks are.
struct Axis {
  StringRef name;
  int64_t size, stride;
};
} // namespace

/// The axes of more than one rank, major to minor.
static SmallVector<Axis> axesOf(ArrayRef<StringRef> names,
                                ArrayRef<int64_t> sizes) {
  SmallVector<Axis> axes;
  int64_t stride = 1;
  for (auto [name, size] :
       llvm::zip_equal(llvm::reverse(names), llvm::reverse(sizes))) {
    if (size > 1)
      axes.insert(axes.begin(), {name, size, stride});
    stride *= size;
  }
  return axes;
}

/// The ranks at all places along `axes`, the last one fastest.
static std::vector<int64_t> ranksAlong(ArrayRef<Axis> axes) {
  std::vector<int64_t> ranks = {0};
  for (const Axis &axis : axes) {
    std::vector<int64_t> next;
    for (int64_t rank : ranks)
      for (int64_t i = 0; i < axis.size; ++i)
        next.push_back(rank + i * axis.stride);
    ranks = std::move(next);
  }
  return ranks;
}

/// Lets each call be one place of the program: a function with such a call that
/// is called from several places is there once for each.
static void separateCalls(ModuleOp module) {
  auto hasCall = [](func::FuncOp function) {
    return function
        .walk([](CustomCallOp call) {
          return stablehlo::isPartitioned(call) ? WalkResult::interrupt()
                                                : WalkResult::advance();
        })
        .wasInterrupted();
  };
  SymbolTable symbols(module);
  // Callers come to have such calls when what they call has.
  for (bool changed = true; changed;) {
    changed = false;
    llvm::DenseSet<Operation *> with;
    for (bool more = true; more;) {
      more = false;
      for (auto function : module.getOps<func::FuncOp>())
        if (!with.contains(function) &&
            (hasCall(function) ||
             function
                 .walk([&](func::CallOp call) {
                   return with.contains(symbols.lookup(call.getCallee()))
                              ? WalkResult::interrupt()
                              : WalkResult::advance();
                 })
                 .wasInterrupted()))
          more |= with.insert(function).second;
    }
    llvm::DenseSet<Operation *> called;
    module.walk([&](func::CallOp call) {
      auto callee = symbols.lookup<func::FuncOp>(call.getCallee());
      if (!callee || !with.contains(callee) || called.insert(callee).second)
        return;
      func::FuncOp twin = callee.clone();
      symbols.insert(twin);
      call.setCallee(twin.getSymName());
      changed = true;
    });
  }
}

/// The sharding of `value` over `axes` once that is decided. What is still to
/// be combined arrives combined.
static TiledValue describe(Value value, ArrayRef<Axis> axes) {
  // Where it is, not where the call's rule would have it.
  if (auto reshard = value.getDefiningOp<spmd::ReshardOp>())
    value = reshard->getOperand(0);
  auto type = cast<RankedTensorType>(value.getType());
  TiledValue described;
  llvm::raw_string_ostream(described.elementType) << type.getElementType();
  described.dims = type.getShape().vec();
  spmd::ShardingAttr sharding = spmd::getSharding(value);
  SmallVector<Axis> order;
  for (int64_t dim = 0; dim < type.getRank(); ++dim) {
    int64_t tiles = 1;
    if (sharding)
      for (StringAttr name : sharding.getDims()[dim].getAxes())
        for (const Axis &axis : axes)
          if (axis.name == name.getValue()) {
            order.push_back(axis);
            tiles *= axis.size;
          }
    described.tiling.tiles.push_back(tiles);
  }
  for (const Axis &axis : axes)
    if (llvm::none_of(order,
                      [&](const Axis &o) { return o.name == axis.name; })) {
      order.push_back(axis);
      described.tiling.copies *= axis.size;
    }
  described.tiling.ranks = ranksAlong(order);
  return described;
}

/// How far apart ranks are along what cuts the dims of `tiling`, and behind it,
/// where they are a transposed count of all ranks.
static void addStrides(const Tiling &tiling, std::set<int64_t> &strides) {
  auto apart = static_cast<int64_t>(tiling.ranks.size());
  for (int64_t tiles : tiling.tiles) {
    if (tiles < 1 || apart % tiles != 0)
      return;
    apart /= tiles;
    auto at = [&](int64_t i) { return tiling.ranks[i * apart]; };
    for (int64_t done = 1; done < tiles;) {
      int64_t stride = at(done) - at(0), size = 2;
      while (tiles % (done * size) != 0 ||
             (done * size < tiles && at(done * size) - at(0) == size * stride))
        ++size;
      strides.insert({stride, stride * size});
      done *= size;
    }
  }
}

/// The axes that cut each dim in `tiling`, major to minor; what is wrong goes
/// to `wrong`.
static SmallVector<SmallVector<Axis>>
axesThatCut(const Tiling &tiling, ArrayRef<Axis> axes, std::string &wrong) {
  SmallVector<SmallVector<Axis>> dims(tiling.tiles.size());
  SmallVector<Axis> order;
  auto refuse = [&] {
    wrong = "blocks lie over the ranks as along no axes of the mesh";
    return dims;
  };
  int64_t numRanks = 1, blocks = 1;
  for (const Axis &axis : axes)
    numRanks *= axis.size;
  for (int64_t tiles : tiling.tiles) {
    if (tiles < 1 || tiles > numRanks / blocks)
      return refuse();
    blocks *= tiles;
  }
  if (blocks * tiling.copies != numRanks ||
      static_cast<int64_t>(tiling.ranks.size()) != numRanks)
    return refuse();
  int64_t apart = numRanks;
  for (auto [dim, tiles] : llvm::enumerate(tiling.tiles)) {
    apart /= tiles;
    // From the minor end: the axis that the next place is along.
    for (int64_t done = 1; done < tiles;) {
      int64_t stride = tiling.ranks[done * apart] - tiling.ranks[0];
      const Axis *axis = llvm::find_if(
          axes, [&](const Axis &one) { return one.stride == stride; });
      if (axis == axes.end() || tiles / done % axis->size != 0)
        return refuse();
      dims[dim].insert(dims[dim].begin(), *axis);
      done *= axis->size;
    }
    llvm::append_range(order, dims[dim]);
  }
  for (const Axis &axis : axes) {
    auto uses = llvm::count_if(
        order, [&](const Axis &one) { return one.name == axis.name; });
    if (uses > 1)
      return refuse();
  }
  // Ranks that have the same block are in no order.
  for (const Axis &axis : axes)
    if (llvm::none_of(order,
                      [&](const Axis &one) { return one.name == axis.name; }))
      order.push_back(axis);
  std::vector<int64_t> found = ranksAlong(order), given = tiling.ranks;
  for (int64_t block = 0; block < blocks; ++block) {
    int64_t first = block * tiling.copies;
    std::sort(given.begin() + first, given.begin() + first + tiling.copies);
    std::sort(found.begin() + first, found.begin() + first + tiling.copies);
  }
  return given == found ? dims : refuse();
}

namespace {
/// Puts what authors say in the place of their calls.
class Partitioner {
public:
  Partitioner(ModuleOp module, const ModelOptions &options,
              const PartitionFunction &partition)
      : module(module), options(options), partition(partition),
        symbols(module) {}
  LogicalResult run();
  std::string said; ///< what an author says is wrong

private:
  /// Decides the shardings of all values of a copy, and asks for each call.
  LogicalResult layOut();
  LogicalResult findMesh(spmd::MeshAttr decided);
  void useMesh();
  void refineMesh(const PartitionAnswer &answer);
  LogicalResult replace(CustomCallOp call, const PartitionedCall &asked);
  FailureOr<SmallVector<sdy::TensorShardingAttr>>
  shardingsOf(CustomCallOp call, ArrayRef<Tiling> tilings, TypeRange types,
              SmallVectorImpl<Type> &blocks);
  FailureOr<func::FuncOp> takeModel(CustomCallOp call, const std::string &text);

  ModuleOp module;
  const ModelOptions &options;
  const PartitionFunction &partition;
  SymbolTable symbols;
  SmallVector<CustomCallOp> calls;
  std::vector<PartitionedCall> asked;
  sdy::MeshOp mesh;
  SmallVector<Axis> axes; ///< of `mesh`
};
} // namespace

LogicalResult Partitioner::layOut() {
  for (auto [i, call] : llvm::enumerate(calls))
    spmd::contract::PartitionedCall::set(
        call, Builder(module.getContext()).getI64IntegerAttr(i));
  OwningOpRef<ModuleOp> copy = module.clone();
  for (CustomCallOp call : calls)
    spmd::contract::PartitionedCall::remove(call);
  PassManager pm(module.getContext());
  buildImportStage(pm, options.stages);
  buildRaiseStage(pm, options.stages);
  buildPropagateStage(pm, options.stages);
  if (failed(pm.run(*copy)))
    return failure();
  spmd::MeshOp decided = spmd::getOnlyMesh(*copy);
  if (!decided || failed(findMesh(decided.getMesh())))
    return failure();
  SmallVector<StringRef> names;
  for (StringAttr name : decided.getMesh().getAxisNames())
    names.push_back(name);
  SmallVector<Axis> over = axesOf(names, decided.getMesh().getAxisSizes());
  asked.resize(calls.size());
  WalkResult result = copy->walk([&](CustomCallOp call) {
    IntegerAttr number = spmd::contract::PartitionedCall::get(call);
    if (!number)
      return WalkResult::advance();
    if (call->getParentOfType<spmd::ManualOp>()) {
      emitUnsupported(call, "custom call @")
          << call.getCallTargetName()
          << " is in a manual region of some of the mesh's axes; use it "
             "outside of shard_map, or in one over all axes";
      return WalkResult::interrupt();
    }
    PartitionedCall &to = asked[number.getInt()];
    to.numRanks = decided.getMesh().getNumRanks();
    for (Value operand : call.getInputs())
      to.operands.push_back(describe(operand, over));
    for (Value value : call.getResults())
      to.results.push_back(describe(value, over));
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

/// Remembers the axes of `mesh`.
void Partitioner::useMesh() {
  SmallVector<StringRef> names;
  SmallVector<int64_t> sizes;
  for (sdy::MeshAxisAttr axis : mesh.getMesh().getAxes()) {
    names.push_back(axis.getName());
    sizes.push_back(axis.getSize());
  }
  axes = axesOf(names, sizes);
}

/// Makes a mesh of finer axes where those of `answer` are no axes of this one;
/// leaves it where none can be made.
void Partitioner::refineMesh(const PartitionAnswer &answer) {
  std::set<int64_t> strides = {1, mesh.getMesh().getTotalSize()}, known;
  for (const Axis &axis : axes)
    strides.insert({axis.stride, axis.stride * axis.size});
  known = strides;
  for (const Tiling &tiling : answer.operands)
    addStrides(tiling, strides);
  for (const Tiling &tiling : answer.results)
    addStrides(tiling, strides);
  if (strides == known)
    return;
  SmallVector<sdy::MeshAxisAttr> finer;
  for (auto it = strides.begin(); std::next(it) != strides.end(); ++it) {
    if (*it < 1 || *std::next(it) % *it != 0)
      return;
    finer.insert(finer.begin(),
                 sdy::MeshAxisAttr::get(module.getContext(),
                                        "part" + std::to_string(finer.size()),
                                        *std::next(it) / *it));
  }
  if (*std::prev(strides.end()) != mesh.getMesh().getTotalSize())
    return;
  auto builder = OpBuilder::atBlockBegin(module.getBody());
  mesh =
      sdy::MeshOp::create(builder, module.getLoc(), "mesh",
                          sdy::MeshAttr::get(module.getContext(), finer, {}));
  symbols.insert(mesh);
  useMesh();
}

/// The module's own mesh; else `decided`.
LogicalResult Partitioner::findMesh(spmd::MeshAttr decided) {
  for (auto op : module.getOps<sdy::MeshOp>())
    if (!mesh && op.getMesh().getTotalSize() == decided.getNumRanks() &&
        !op.getMesh().getAxes().empty())
      mesh = op;
  if (mesh && !mesh.getMesh().getDeviceIds().empty())
    return emitUnsupported(mesh)
           << "the mesh has its devices in another order, and the program a "
              "call of @"
           << stablehlo::kPartitionedCall << "; use a mesh of devices in order";
  if (!mesh) {
    MLIRContext *context = module.getContext();
    SmallVector<sdy::MeshAxisAttr> all;
    for (auto [name, size] :
         llvm::zip_equal(decided.getAxisNames(), decided.getAxisSizes()))
      all.push_back(sdy::MeshAxisAttr::get(context, name.getValue(), size));
    auto builder = OpBuilder::atBlockBegin(module.getBody());
    mesh = sdy::MeshOp::create(builder, module.getLoc(), "mesh",
                               sdy::MeshAttr::get(context, all, {}));
    symbols.insert(mesh);
  }
  useMesh();
  return success();
}

FailureOr<SmallVector<sdy::TensorShardingAttr>>
Partitioner::shardingsOf(CustomCallOp call, ArrayRef<Tiling> tilings,
                         TypeRange types, SmallVectorImpl<Type> &blocks) {
  MLIRContext *context = call.getContext();
  SmallVector<sdy::TensorShardingAttr> shardings;
  if (tilings.size() != types.size())
    return call.emitError("is partitioned with ")
           << tilings.size() << " shardings for " << types.size() << " values";
  for (auto [tiling, given] : llvm::zip_equal(tilings, types)) {
    auto type = cast<RankedTensorType>(given);
    std::string wrong;
    SmallVector<SmallVector<Axis>> dims = axesThatCut(tiling, axes, wrong);
    if (wrong.empty() && dims.size() != static_cast<size_t>(type.getRank()))
      wrong = std::to_string(dims.size()) + " dims are cut of " +
              std::to_string(type.getRank());
    if (!wrong.empty())
      return emitUnsupported(call, "custom call @")
             << call.getCallTargetName()
             << ": in the sharding that its partition gives, " << wrong;
    SmallVector<int64_t> shape(type.getShape());
    SmallVector<sdy::DimensionShardingAttr> entries;
    for (auto [dim, cut] : llvm::enumerate(dims)) {
      SmallVector<sdy::AxisRefAttr> refs;
      for (const Axis &axis : cut)
        refs.push_back(sdy::AxisRefAttr::get(context, axis.name, {}));
      entries.push_back(sdy::DimensionShardingAttr::get(
          context, refs, /*isClosed=*/true, std::nullopt));
      int64_t tiles = tiling.tiles[dim];
      if (shape[dim] % tiles != 0)
        return call.emitError("is partitioned so that dim ")
               << dim << " of " << type << " is cut into " << tiles
               << " blocks, which do not divide it; partitions of "
                  "custom_partitioning cut in equal blocks";
      shape[dim] /= tiles;
    }
    blocks.push_back(type.clone(shape));
    shardings.push_back(sdy::TensorShardingAttr::get(
        context, FlatSymbolRefAttr::get(mesh.getSymNameAttr()), entries, {}, {},
        sdy::ReductionKind::Sum));
  }
  return shardings;
}

/// Takes the functions of the model `text` over. Returns its @main, renamed.
FailureOr<func::FuncOp> Partitioner::takeModel(CustomCallOp call,
                                               const std::string &text) {
  auto buffer =
      llvm::MemoryBuffer::getMemBufferCopy(text, "the partition's function");
  OwningOpRef<ModuleOp> model =
      options.isOwn ? readOwnProgram(*call.getContext(), std::move(buffer))
                    : parseModel(*call.getContext(), std::move(buffer));
  if (!model)
    return failure();
  func::FuncOp main = model->lookupSymbol<func::FuncOp>("main");
  if (!main)
    return call.emitError("is partitioned to a program without @main");
  SymbolTable theirs(*model);
  for (Operation &op : llvm::make_early_inc_range(*model->getBody())) {
    auto function = dyn_cast<func::FuncOp>(op);
    if (!function)
      continue;
    SmallString<32> name("partition_");
    (name += function.getSymName());
    unsigned next = 0;
    StringAttr unused =
        StringAttr::get(call.getContext(), SymbolTable::generateSymbolName<32>(
                                               name,
                                               [&](StringRef one) {
                                                 return symbols.lookup(one) ||
                                                        theirs.lookup(one);
                                               },
                                               next));
    if (failed(theirs.rename(function, unused)))
      return failure();
  }
  for (Operation &op : llvm::make_early_inc_range(*model->getBody())) {
    if (auto function = dyn_cast<func::FuncOp>(op)) {
      function.setPrivate();
      function->remove();
      symbols.insert(function);
    }
  }
  // Attributes of borders say how arrays of callers are sharded.
  main.removeArgAttrsAttr();
  main.removeResAttrsAttr();
  return main;
}

LogicalResult Partitioner::replace(CustomCallOp call,
                                   const PartitionedCall &asked) {
  PartitionAnswer answer;
  if (said = partition(asked, answer); !said.empty())
    return failure();
  refineMesh(answer);
  SmallVector<Type> in, out;
  auto operands =
      shardingsOf(call, answer.operands, call.getInputs().getTypes(), in);
  if (failed(operands))
    return failure();
  auto results = shardingsOf(call, answer.results, call.getResultTypes(), out);
  if (failed(results))
    return failure();
  FailureOr<func::FuncOp> function = takeModel(call, answer.model);
  if (failed(function))
    return failure();
  if (function->getArgumentTypes() != ArrayRef<Type>(in) ||
      function->getResultTypes() != ArrayRef<Type>(out))
    return call.emitError("is partitioned to a function of type ")
           << function->getFunctionType() << ", expected "
           << FunctionType::get(call.getContext(), in, out);
  OpBuilder builder(call);
  MLIRContext *context = call.getContext();
  SmallVector<StringAttr> manual;
  for (sdy::MeshAxisAttr axis : mesh.getMesh().getAxes())
    manual.push_back(builder.getStringAttr(axis.getName()));
  auto region = sdy::ManualComputationOp::create(
      builder, call.getLoc(), call.getResultTypes(), call.getInputs(),
      sdy::TensorShardingPerValueAttr::get(context, *operands),
      sdy::TensorShardingPerValueAttr::get(context, *results),
      sdy::ManualAxesAttr::get(context, manual));
  Block &body = region.getBody().emplaceBlock();
  body.addArguments(in, SmallVector<Location>(in.size(), call.getLoc()));
  builder.setInsertionPointToStart(&body);
  auto inner = func::CallOp::create(builder, call.getLoc(), *function,
                                    body.getArguments());
  sdy::ReturnOp::create(builder, call.getLoc(), inner.getResults());
  call.replaceAllUsesWith(region.getResults());
  call.erase();
  return success();
}

LogicalResult Partitioner::run() {
  separateCalls(module);
  WalkResult found = module.walk([&](CustomCallOp call) {
    if (!stablehlo::isPartitioned(call))
      return WalkResult::advance();
    for (Type type :
         llvm::concat<const Type>(llvm::to_vector(call.getOperandTypes()),
                                  llvm::to_vector(call.getResultTypes())))
      if (auto tensor = dyn_cast<RankedTensorType>(type);
          !tensor || !tensor.hasStaticShape()) {
        emitUnsupported(call, "custom call @")
            << call.getCallTargetName() << " has a value of type " << type
            << ", expected tensors of known shapes";
        return WalkResult::interrupt();
      }
    calls.push_back(call);
    return WalkResult::advance();
  });
  if (found.wasInterrupted())
    return failure();
  if (calls.empty())
    return success();
  if (failed(layOut()))
    return failure();
  for (auto [call, about] : llvm::zip_equal(calls, asked)) {
    // What no path from @main reaches is asked about by nobody.
    if (about.operands.size() != call.getInputs().size())
      continue;
    auto config = dyn_cast_or_null<StringAttr>(call.getBackendConfigAttr());
    about.config = config ? config.str() : "";
    if (failed(replace(call, about)))
      return failure();
  }
  return verify(module);
}

bool shardc::mayHavePartitionedCalls(StringRef text) {
  return text.contains(stablehlo::kPartitionedCall);
}

llvm::Expected<std::string>
shardc::partitionCalls(StringRef name, ModelOptions options,
                       DiagnosticSink &sink,
                       const PartitionFunction &partition) {
  // The text is read again: what changes the model's border is for then.
  options.keepsTokens = options.keepsLayouts = false;
  std::string text, said;
  llvm::Error error =
      withModel(name, options, sink, [&](ModuleOp module) -> LogicalResult {
        Partitioner partitioner(module, options, partition);
        LogicalResult done = partitioner.run();
        said = partitioner.said;
        if (failed(done))
          return done;
        llvm::raw_string_ostream out(text);
        module.print(out, OpPrintingFlags().enableDebugInfo());
        return success();
      });
  if (error && !said.empty()) {
    llvm::consumeError(std::move(error));
    return toolError(ExitCode::Refused, said);
  }
  if (error)
    return std::move(error);
  return text;
}
