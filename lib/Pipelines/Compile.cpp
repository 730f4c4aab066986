//===- Compile.cpp - A model file to a program ----------------------------===//
#include "shardc/Pipelines/Compile.h"
#include "OpenExtents.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Action.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Parser/Parser.h"
#include "shardc/Analysis/CommunicationReport.h"
#include "shardc/Dialect/Kernel/IR/KernelContracts.h"
#include "shardc/Dialect/Local/IR/LocalContracts.h"
#include "shardc/Dialect/Spmd/IR/SpmdContracts.h"
#include "shardc/Dialect/Spmd/IR/SpmdGlobal.h"
#include "shardc/Dialect/Tune/IR/TuneDialect.h"
#include "shardc/Pipelines/Register.h"
#include "shardc/Support/ForeignProgram.h"
#include "shardc/Support/KernelAttributes.h"
#include "shardc/Support/Refusal.h"
#include "shardc/Support/UserLocation.h"
#include "shardc/Translation/Artifact.h"
#include "shardc/Translation/DeviceImage.h"
#include "shardc/Translation/LocalText.h"
#include "shardc/Translation/ObjectFile.h"
#include "shardc/Translation/ThreadChecks.h"
#include "llvm/Support/SourceMgr.h"
#include <array>
#include <chrono>
#include <cmath>

using namespace mlir;
using namespace shardc;
using namespace shardc::spmd;

std::unique_ptr<MLIRContext>
shardc::createCompilerContext(void (*registerMore)(DialectRegistry &)) {
  DialectRegistry registry;
  registerShardcDialects(registry);
  if (registerMore)
    registerMore(registry);
  auto context = std::make_unique<MLIRContext>(registry);
  context->loadAllAvailableDialects();
  return context;
}

OwningOpRef<ModuleOp> shardc::parseModel(MLIRContext &context, StringRef path) {
  auto buffer = llvm::MemoryBuffer::getFileOrSTDIN(path, /*IsText=*/true);
  if (!buffer) {
    emitError(UnknownLoc::get(&context))
        << "cannot read '" << path << "': " << buffer.getError().message();
    return {};
  }
  return parseModel(context, std::move(*buffer));
}

OwningOpRef<ModuleOp>
shardc::parseModel(MLIRContext &context,
                   std::unique_ptr<llvm::MemoryBuffer> buffer) {
  FailureOr<std::unique_ptr<llvm::MemoryBuffer>> program =
      readForeignProgram(context, std::move(buffer));
  if (failed(program))
    return {};
  return parseProgram(context, std::move(*program));
}

namespace {
/// While it lives, no pass begins once `options.cancelled` is set. What a pass
/// leaves undone no later one may see, so whoever runs them asks afterwards.
class SkipPassesIfCancelled {
public:
  SkipPassesIfCancelled(MLIRContext *context, const StageOptions &options)
      : context(options.cancelled ? context : nullptr) {
    if (this->context)
      context->registerActionHandler([&options](llvm::function_ref<void()> act,
                                                const tracing::Action &action) {
        if (!isa<PassExecutionAction>(action) || !options.isCancelled())
          act();
      });
  }
  ~SkipPassesIfCancelled() {
    if (context)
      context->registerActionHandler({});
  }

private:
  MLIRContext *context;
};
} // namespace

static LogicalResult run(ModuleOp module, const StageOptions &options,
                         llvm::function_ref<void(OpPassManager &)> build) {
  if (options.isCancelled())
    return failure();
  PassManager pm(module.getContext(), ModuleOp::getOperationName(),
                 PassManager::Nesting::Implicit);
  // Fails where a tool has not registered them: then there are none to apply.
  (void)applyPassManagerCLOptions(pm);
  // After each stage, not each pass: that takes a quarter of the time.
  pm.enableVerifier(false);
  build(pm);
  if (options.instrument)
    options.instrument(pm);
  SkipPassesIfCancelled skip(module.getContext(), options);
  if (failed(pm.run(module)) || options.isCancelled())
    return failure();
  return verify(module);
}

//===----------------------------------------------------------------------===//
// Attributes that mean something to later stages
//===----------------------------------------------------------------------===//

/// Whether a model may say `name`. Attributes of the dialects that it is
/// lowered to are instructions to LLVM
/// (`llvm.module_asm` is machine code); most of spmd's are one stage's word to
/// the next.
static bool isOfModels(StringRef name) {
  auto [dialect, rest] = name.split('.');
  if (dialect == "spmd")
    return llvm::is_contained({"sharding", "shardings", "name", "order",
                               "group", "direction", "platform", "caller_dims",
                               "token"},
                              rest);
  if (dialect == "pairs")
    return rest == "way";
  return llvm::is_contained(
      {"mhlo", "stablehlo", "chlo", "vhlo", "sdy", "jax", "xla", "tf", "check"},
      dialect);
}

/// `attributes` without those that no model may say; null where all stay.
static DictionaryAttr withoutForeign(DictionaryAttr attributes,
                                     bool keepsPlain) {
  if (!attributes)
    return {};
  SmallVector<NamedAttribute> kept;
  for (NamedAttribute attribute : attributes) {
    StringRef name = attribute.getName();
    if (isOfModels(name) || (keepsPlain && !name.contains('.')))
      kept.push_back(attribute);
  }
  return kept.size() == attributes.size()
             ? DictionaryAttr()
             : DictionaryAttr::get(attributes.getContext(), kept);
}

/// Takes away what a model says to the compiler behind this one. Nothing else
/// reads it.
static void dropForeignAttributes(ModuleOp module) {
  module->walk([](Operation *op) {
    // Functions become LLVM's with all attributes that they have, by whatever
    // name.
    bool isSymbol = isa<ModuleOp, FunctionOpInterface>(op);
    if (DictionaryAttr kept = withoutForeign(op->getDiscardableAttrDictionary(),
                                             /*keepsPlain=*/!isSymbol))
      op->setDiscardableAttrs(kept);
    auto function = dyn_cast<FunctionOpInterface>(op);
    for (unsigned i = 0; function && i < function.getNumArguments(); ++i)
      if (DictionaryAttr kept =
              withoutForeign(function.getArgAttrDict(i), /*keepsPlain=*/false))
        function.setArgAttrs(i, kept);
    for (unsigned i = 0; function && i < function.getNumResults(); ++i)
      if (DictionaryAttr kept = withoutForeign(function.getResultAttrDict(i),
                                               /*keepsPlain=*/false))
        function.setResultAttrs(i, kept);
  });
}

LogicalResult shardc::compileToLocal(ModuleOp module,
                                     const StageOptions &options) {
  dropForeignAttributes(module);
  auto runAll = [&](ModuleOp on, auto stages) {
    return success(llvm::all_of(stages, [&](auto build) {
      return succeeded(
          run(on, options, [&](OpPassManager &pm) { build(pm, options); }));
    }));
  };
  std::array local{buildRaiseStage, buildPropagateStage, buildPartitionStage};
  OwningOpRef<ModuleOp> original;
  if (!options.dynamic.empty())
    original = module.clone();
  if (failed(runAll(module, std::array{buildImportStage})))
    return failure();
  bool isOpen = llvm::any_of(module.getOps<spmd::MeshOp>(), [](auto mesh) {
    return bool(mesh.getMesh().getExtents());
  });
  if (failed(runAll(module, local)))
    return failure();
  auto twinOf = [&](PlaceholderSet placeholders) -> OwningOpRef<ModuleOp> {
    // Whatever it has to say has been said.
    ScopedDiagnosticHandler quiet(module.getContext(),
                                  [](Diagnostic &) { return success(); });
    OwningOpRef<ModuleOp> twin = original->clone();
    auto import = [&](OpPassManager &pm, const StageOptions &options) {
      buildImportStageForTwin(pm, options, placeholders);
    };
    if (failed(runAll(*twin, std::array{import})) ||
        failed(runAll(*twin, local)))
      return {};
    return twin;
  };
  if (isOpen && failed(checkOpenExtents(module, twinOf)))
    return failure();
  if (failed(runAll(module, std::array{buildCommunicateStage})))
    return failure();
  return options.inspectLocal ? options.inspectLocal(module) : success();
}

LogicalResult shardc::lowerToLLVM(ModuleOp module,
                                  const StageOptions &options) {
  if (options.target != Target::Cpu)
    return run(module, options,
               [&](OpPassManager &pm) { buildLowerCudaStage(pm, options); });
  if (failed(run(module, options, [&](OpPassManager &pm) {
        buildCpuBuffersStage(pm, options);
      })))
    return failure();
  return run(module, options,
             [&](OpPassManager &pm) { buildCpuCodeStage(pm, options); });
}

//===----------------------------------------------------------------------===//
// Metadata
//===----------------------------------------------------------------------===//

/// The name that the model's author gave to an argument or result.
static std::string nameOf(DictionaryAttr attrs, Location loc) {
  if (attrs)
    if (StringAttr name = contract::Name::in(attrs))
      return name.str();
  if (auto name = dyn_cast<NameLoc>(loc))
    return name.getName().str();
  return {};
}

/// As shard-run reads it in an artifact's metadata.
static std::string describe(CheckAttr check) {
  std::string text = stringifyCheckKind(check.getKind()).str();
  llvm::raw_string_ostream os(text);
  if (FloatAttr tolerance = check.getTolerance())
    os << " " << tolerance.getValueAsDouble();
  if (check.getKind() == CheckKind::Close)
    os << " " << check.getMinUlps() << " " << check.getMaxUlps();
  return text;
}

/// `argument`: its number; none of a result.
static ValueMetadata describeValue(MeshAttr mesh, DictionaryAttr attrs,
                                   Location loc,
                                   std::optional<int64_t> argument) {
  ValueMetadata value;
  value.name = nameOf(attrs, loc);
  ShardingAttr sharding = contract::Sharding::in(attrs);
  auto type =
      cast<RankedTensorType>(contract::GlobalType::in(attrs).getValue());
  llvm::raw_string_ostream(value.elementType) << type.getElementType();
  if (!isa<NameLoc>(loc))
    if (std::string location = userLocation(loc); location != "unknown")
      value.location = location;
  if (CheckAttr check = contract::Check::in(attrs))
    value.check = describe(check);
  if (IntegerAttr donated = contract::Donated::in(attrs))
    value.donated = donated.getInt();
  if (StringAttr memory = contract::MemoryKind::in(attrs))
    value.memory = memory.str();
  if (DenseI64ArrayAttr ranks = contract::Ranks::in(attrs))
    value.ranks = ranks.asArrayRef();
  if (DenseI64ArrayAttr dims = contract::CallerDims::in(attrs))
    value.callerDims = dims.asArrayRef();
  value.isToken = bool(contract::Token::in(attrs));
  value.shape.assign(type.getShape().begin(), type.getShape().end());
  for (auto [dim, size] : llvm::zip(sharding.getDims(), type.getShape())) {
    DimPlacement placement;
    for (StringAttr axis : dim.getAxes())
      placement.axes.push_back(mesh.getAxisIndex(axis.getValue()));
    placement.boundaries = dim.getBoundaries(mesh, size).with({});
    Formula bound = dim.getBoundaries(mesh, size).formula();
    if (bound && !dim.isWhole()) {
      // Sizes of an argument may follow from those of another.
      int64_t number = value.dims.size();
      placement.dynamic = !argument || (bound.kind() == FormulaKind::Given &&
                                        bound.numbers()[0] == *argument &&
                                        bound.numbers()[1] == number);
    }
    placement.open = mesh.isOpen(size);
    value.dims.push_back(std::move(placement));
  }
  for (PartialAxisAttr partial : sharding.getPartial())
    value.partial.push_back({mesh.getAxisIndex(partial.getAxis().getValue()),
                             stringifyReductionKind(partial.getKind()).str()});
  return value;
}

/// Reasons of ops that became one are behind one another: as many as are
/// read.
static std::string shortReason(StringRef reason) {
  constexpr size_t kLongest = 2048;
  if (reason.size() <= kLongest)
    return reason.str();
  StringRef first = reason.take_front(kLongest);
  return (first.take_front(first.rfind("; ")) + "; and more").str();
}

ProgramMetadata shardc::describeProgram(ModuleOp local) {
  ProgramMetadata metadata;
  metadata.name = local.getName().value_or("").str();
  metadata.compiler = "shardc " SHARDC_VERSION;
  MeshOp meshOp = *local.getOps<MeshOp>().begin();
  MeshAttr mesh = meshOp.getMesh();
  for (auto [name, size] : llvm::zip(mesh.getAxisNames(), mesh.getAxisSizes()))
    metadata.mesh.push_back({name.str(), size});
  auto main = local.lookupSymbol<func::FuncOp>("main");
  for (BlockArgument argument : main.getArguments())
    metadata.arguments.push_back(
        describeValue(mesh, main.getArgAttrDict(argument.getArgNumber()),
                      argument.getLoc(), argument.getArgNumber()));
  for (unsigned i = 0; i < main.getNumResults(); ++i)
    metadata.results.push_back(
        describeValue(mesh, main.getResultAttrDict(i),
                      UnknownLoc::get(local.getContext()), std::nullopt));
  for (CommunicationSite &site : reportCommunication(local))
    metadata.communication.push_back(
        {site.kind, site.axes, site.dims.size() == 1 ? site.dims.front() : -1,
         site.bytes.value_or(-1), site.location, shortReason(site.reason)});
  return metadata;
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

static int64_t arenaOf(ModuleOp module) {
  IntegerAttr bytes = contract::ArenaBytes::get(module);
  return bytes ? bytes.getInt() : 0;
}

/// Lowers as far as bytes of temporaries are known.
static LogicalResult lowerToBuffers(ModuleOp module,
                                    const StageOptions &options) {
  return run(module, options, [&](OpPassManager &pm) {
    if (options.target == Target::Cpu)
      buildCpuBuffersStage(pm, options);
    else
      buildLowerCudaStage(pm, options);
  });
}

static LogicalResult lowerBuffersToLLVM(ModuleOp module,
                                        const StageOptions &options) {
  return run(module, options, [&](OpPassManager &pm) {
    if (options.target == Target::Cpu)
      buildCpuCodeStage(pm, options);
  });
}

/// Puts what `from` holds in place of what `module` holds.
static void replaceModule(ModuleOp module, ModuleOp from) {
  module.getBodyRegion().takeBody(from.getBodyRegion());
  module->setAttrs(from->getAttrDictionary());
}

/// Lowers the local view in `module` to buffers. Where its temporaries are then
/// above `limit`, it is planned again from the local view on, to an estimate
/// that is corrected by what came of the one before. Keeps the smallest.
static FailureOr<MemoryPlan> lowerWithin(ModuleOp module, int64_t limit,
                                         const StageOptions &options,
                                         ProgramMetadata &metadata) {
  MemoryPlan memory;
  OwningOpRef<ModuleOp> local = module.clone();
  if (failed(lowerToBuffers(module, options)))
    return failure();
  int64_t best = memory.plannedBytes = arenaOf(module);
  if (best <= limit)
    return memory;
  auto planOf = [](ModuleOp fitted) {
    return contract::MemoryPlan::get(fitted.lookupSymbol<func::FuncOp>("main"));
  };
  // What is smaller than the limit may as well be a little larger.
  constexpr double kEnough = 0.93;
  constexpr int kAttempts = 6;
  double target = double(limit);
  // The largest estimate that came out small enough, the smallest that did not.
  double lower = 0, upper = INFINITY;
  for (int attempt = 0; attempt < kAttempts && target >= 1; ++attempt) {
    OwningOpRef<ModuleOp> fitted = (*local).clone();
    if (failed(run(*fitted, options, [&](OpPassManager &pm) {
          buildFitMemoryStage(pm, int64_t(target));
        })))
      return failure();
    MemoryPlanAttr plan = planOf(*fitted);
    if (!plan)
      break;
    int64_t arena = memory.plannedBytes;
    if (plan.getRepeated() > 0 || plan.getLoops() > 0) {
      ProgramMetadata description = describeProgram(*fitted);
      if (failed(lowerToBuffers(*fitted, options)))
        return failure();
      arena = arenaOf(*fitted);
      // Of what fits, that which adds least; else the smallest.
      bool isBetter = arena <= limit ? best > limit || plan.getAddedPercent() <
                                                           memory.addedPercent
                                     : arena < best;
      if (isBetter) {
        best = arena;
        memory.repeated = plan.getRepeated();
        memory.loops = plan.getLoops();
        memory.addedPercent = plan.getAddedPercent();
        metadata.communication = std::move(description.communication);
        replaceModule(module, *fitted);
      }
    }
    if (StringAttr largest = plan.getLargest())
      memory.largest = largest.str();
    if (arena <= limit) {
      lower = target;
      if (double(arena) >= kEnough * double(limit) || attempt >= 2)
        break;
    } else {
      upper = target;
      if (!plan.getFits() && attempt > 0)
        break;
    }
    target *= 0.98 * double(limit) / double(std::max<int64_t>(arena, 1));
    if (target >= upper || target <= lower)
      target = std::isinf(upper) ? target : (lower + upper) / 2;
  }
  return memory;
}

/// What is held where most is, in the arena as it is planned in the end.
static std::string largestOf(ModuleOp module) {
  StringAttr largest = contract::ArenaLargest::get(module);
  return largest ? largest.str() : std::string();
}

//===----------------------------------------------------------------------===//
// Tiles
//===----------------------------------------------------------------------===//

/// Hands tiles that were measured to who makes kernels.
static LogicalResult giveTiles(ModuleOp module, const StageOptions &options) {
  if (options.tiles.empty() || options.target != Target::Cpu)
    return success();
  std::optional<TileTable> tiles = parseTiles(options.tiles);
  if (!tiles)
    return emitError(module.getLoc())
           << "tiles of kernels: expected DIGEST:row=0,rows=1,... separated by "
              "';'";
  SmallVector<NamedAttribute> entries;
  for (const auto &[digest, tile] : *tiles)
    entries.emplace_back(StringAttr::get(module.getContext(), digest),
                         tune::TileAttr::get(module.getContext(), tile));
  module->setDiscardableAttr(tune::kTiles,
                             DictionaryAttr::get(module.getContext(), entries));
  return success();
}

/// Takes what who makes kernels has noted of them.
static void takeTiled(ModuleOp module, CompiledProgram &program) {
  auto tiled =
      dyn_cast_or_null<ArrayAttr>(module->getDiscardableAttr(tune::kTiled));
  if (!tiled)
    return;
  TileTable given;
  for (auto kernel : tiled.getAsRange<tune::TiledKernelAttr>()) {
    TiledKernel &taken = program.tiled.emplace_back();
    taken.name = kernel.getName().str();
    taken.location = kernel.getLocation().str();
    taken.digest = kernel.getDigest().str();
    taken.tile = kernel.getTile().getTile();
    taken.isGiven = kernel.getGiven();
    if (taken.isGiven)
      given[taken.digest] = taken.tile;
    if (kernel.getOthers())
      for (auto other : kernel.getOthers().getAsRange<tune::TileAttr>())
        taken.others.push_back(other.getTile());
  }
  program.tiles = printTiles(given);
  module->removeDiscardableAttr(tune::kTiled);
}

FailureOr<MemoryPlan> shardc::lowerProgram(ModuleOp module,
                                           const StageOptions &options,
                                           ProgramMetadata &metadata) {
  if (failed(giveTiles(module, options)))
    return failure();
  int64_t limit = options.memoryLimit;
  if (limit <= 0 && options.memoryLimitOf)
    limit = options.memoryLimitOf(metadata);
  if (limit <= 0) {
    if (failed(lowerToLLVM(module, options)))
      return failure();
    MemoryPlan memory;
    memory.largest = largestOf(module);
    return memory;
  }
  FailureOr<MemoryPlan> memory = lowerWithin(module, limit, options, metadata);
  if (failed(memory) || failed(lowerBuffersToLLVM(module, options)))
    return failure();
  if (memory->largest.empty())
    memory->largest = largestOf(module);
  return memory;
}

//===----------------------------------------------------------------------===//
// Everything
//===----------------------------------------------------------------------===//

Optimization shardc::optimizationOf(const StageOptions &options) {
  // Emulated kernels are run for what they compute, not for how fast they do.
  return options.quick || options.target == Target::EmulatedCuda
             ? Optimization::None
             : Optimization::Full;
}

FailureOr<CompiledProgram> shardc::compileProgram(ModuleOp module,
                                                  const StageOptions &options) {
  auto start = std::chrono::steady_clock::now();
  CompiledProgram program;
  StageOptions explained = options;
  explained.origins = true;
  if (failed(compileToLocal(module, explained)))
    return failure();
  program.metadata = describeProgram(module);
  if (options.localText)
    program.localText =
        printLocalProgram(module, /*lines=*/true, &program.metadata.work);
  program.metadata.arch = options.arch;
  if (checksThreads())
    program.metadata.arch += ";thread-sanitizer";
  program.metadata.processor = featuresOf(options.arch);
  if (options.target == Target::Cpu)
    program.metadata.threads = options.threads;
  program.metadata.reproducible = options.reproducible;
  FailureOr<MemoryPlan> memory =
      lowerProgram(module, options, program.metadata);
  if (failed(memory))
    return failure();
  program.memory = std::move(*memory);
  takeTiled(module, program);
  if (options.target == Target::Cuda) {
    FailureOr<DeviceImage> image =
        emitDeviceImage(module, options.gpuArch, DeviceImageKind::Fatbin);
    if (failed(image))
      return failure();
    embedDeviceImage(module, *image);
    program.metadata.arch += ";cuda:" + image->archs;
    if (!image->toolkit.empty())
      program.metadata.arch += ";toolkit:" + image->toolkit;
  }
  if (IntegerAttr bytes = contract::ArenaBytes::get(module))
    program.metadata.arenaBytes = bytes.getInt();
  if (DenseI64ArrayAttr inPlace = contract::WrittenInPlace::get(module))
    for (auto [value, argument] :
         llvm::zip_equal(program.metadata.results, inPlace.asArrayRef()))
      if (argument >= 0)
        value.inPlace = argument;
  embedMetadata(module, program.metadata);
  llvm::SmallVector<char, 0> object;
  llvm::raw_svector_ostream stream(object);
  if (failed(emitObjectFile(module, options.arch, stream,
                            optimizationOf(options), options.cancelled.get())))
    return failure();
  program.object.assign(object.begin(), object.end());
  program.compileMs = std::chrono::duration<double, std::milli>(
                          std::chrono::steady_clock::now() - start)
                          .count();
  return program;
}
