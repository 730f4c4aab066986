//===- Model.cpp - From a model's text to a program -----------------------===//

#include "shardc/Driver/Model.h"
#include "Border.h"
#include "UseModel.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Pass/PassManager.h"
#include "shardc/Dialect/Spmd/IR/SpmdGlobal.h"
#include "shardc/Dialect/StableHLO/IR/StableHLO.h"
#include "shardc/Driver/Rounding.h"
#include "shardc/Layout/Limits.h"
#include "shardc/Support/ForeignProgram.h"
#include "shardc/Support/Misuse.h"
#include "shardc/Support/Refusal.h"
#include "shardc/Support/TextLimits.h"
#include "shardc/Translation/LocalText.h"
#include "shardc/Translation/ObjectFile.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"
#include <atomic>
#include <map>
#include <mutex>

using namespace llvm;
using namespace shardc;

// Text may say what artifacts may.
static_assert(kMaxDims == kMaxTensorDims);

DiagnosticSink::~DiagnosticSink() = default;

/// What a context has learnt of a model stays in it: after this many models it
/// goes.
static constexpr int kMostUses = 64;
/// At most this many wait for the next model.
static constexpr size_t kMostKept = 4;

struct ContextPool::State {
  std::mutex mutex;
  std::vector<std::unique_ptr<mlir::MLIRContext>> kept;
  std::map<mlir::MLIRContext *, int> uses;
};

ContextPool::ContextPool() : state(std::make_unique<State>()) {}
ContextPool::~ContextPool() = default;

std::unique_ptr<mlir::MLIRContext> ContextPool::take() {
  {
    std::lock_guard lock(state->mutex);
    if (!state->kept.empty()) {
      std::unique_ptr<mlir::MLIRContext> context =
          std::move(state->kept.back());
      state->kept.pop_back();
      return context;
    }
  }
  std::unique_ptr<mlir::MLIRContext> context = createCompilerContext();
  context->disableMultithreading();
  return context;
}

void ContextPool::give(std::unique_ptr<mlir::MLIRContext> context) {
  std::lock_guard lock(state->mutex);
  if (++state->uses[context.get()] < kMostUses &&
      state->kept.size() < kMostKept)
    state->kept.push_back(std::move(context));
  else
    state->uses.erase(context.get());
}

Error shardc::checkMeshOption(StringRef mesh, bool mayBeOpen) {
  StringSet<> names;
  for (StringRef axis : split(mesh, ',')) {
    auto [name, size] = axis.split('=');
    size = size.trim();
    int64_t value = 1;
    bool isOpen = mayBeOpen && size.consume_back("?");
    if (name.trim().empty() ||
        (!(isOpen && size.empty()) && size.getAsInteger(10, value)) ||
        value < 1)
      return toolError(ExitCode::Usage,
                       "--mesh=" + mesh + ": '" + axis +
                           "' is not an axis and a size of at least 1; "
                           "expected for example --mesh=x=2,y=2");
    if (value > kMaxRanks)
      return toolError(ExitCode::Usage, "--mesh=" + mesh +
                                            ": a mesh has at most " +
                                            Twine(kMaxRanks) + " ranks");
    if (!names.insert(name.trim()).second)
      return toolError(ExitCode::Usage, "--mesh=" + mesh + ": axis '" +
                                            name.trim() + "' is given twice");
  }
  return Error::success();
}

Error shardc::checkSizesOption(StringRef sizes) {
  auto [where, list] = sizes.split('=');
  auto [argument, dim] = where.split(':');
  int64_t value;
  auto isCount = [&](StringRef text) {
    return !text.getAsInteger(10, value) && value >= 0;
  };
  // The name of an axis without a size.
  bool ok = where.contains(':') ? isCount(argument) && isCount(dim)
                                : !where.trim().empty() && !isCount(where);
  ok = ok && !list.empty();
  SmallVector<StringRef> entries(split(list, ','));
  // A last word is the order of blocks.
  if (!entries.empty() && entries.back().trim() == "zigzag")
    entries.pop_back();
  for (StringRef size : entries)
    ok = ok && isCount(size.trim());
  if (!ok)
    return toolError(
        ExitCode::Usage,
        "--sizes=" + sizes +
            ": expected ARG:DIM= and the sizes of the shards, for example "
            "--sizes=0:2=300,200,0,524, or --sizes=0:2=zigzag for balanced "
            "ones from both ends, or AXIS= and what each coordinate along the "
            "axis gets, for example --sizes=x=3,1,2,2");
  return Error::success();
}

std::string shardc::printMesh(ArrayRef<MeshAxis> mesh) {
  std::string text;
  raw_string_ostream out(text);
  out << "<[";
  interleaveComma(mesh, out, [&](const MeshAxis &axis) {
    out << '"' << axis.name << "\"=" << axis.size;
  });
  out << "]>";
  return text;
}

/// The axes of the mesh that `module` is to be compiled for, with the sizes
/// that `options.mesh` gives. Imports a copy. Fails where the import does.
static FailureOr<std::vector<MeshAxis>> findMesh(mlir::ModuleOp module,
                                                 StageOptions options) {
  // These are of the mesh that is to be found.
  options.sizes.clear();
  if (!options.dynamic.empty())
    options.dynamic = "all";
  mlir::OwningOpRef<mlir::ModuleOp> copy = module.clone();
  mlir::PassManager pm(module.getContext());
  buildImportStage(pm, options);
  if (failed(pm.run(*copy)))
    return failure();
  std::vector<MeshAxis> axes;
  for (spmd::MeshOp mesh : copy->getOps<spmd::MeshOp>()) {
    for (auto [name, size] : zip_equal(mesh.getMesh().getAxisNames(),
                                       mesh.getMesh().getAxisSizes()))
      axes.push_back({name.str(), size});
    break;
  }
  return axes;
}

/// Whether `module` may be about more than one rank: it says so, or has ops
/// that are.
static bool mayHaveMesh(mlir::ModuleOp module) {
  for (mlir::NamedAttribute attr : module->getDiscardableAttrs()) {
    StringRef name = attr.getName();
    auto number = dyn_cast<mlir::IntegerAttr>(attr.getValue());
    bool isOne = number && number.getValue().getSExtValue() == 1;
    if (name.starts_with("mhlo.") && !isOne)
      return true;
  }
  auto found = module.walk([](mlir::Operation *op) {
    StringRef name = op->getName().getStringRef();
    StringRef rest = name;
    bool isPlain = isa<mlir::ModuleOp, mlir::FunctionOpInterface>(op) ||
                   (rest.consume_front("stablehlo.") &&
                    !rest.starts_with("all_") && !rest.contains("collective") &&
                    rest != "reduce_scatter" && rest != "partition_id" &&
                    rest != "replica_id" && rest != "custom_call") ||
                   name.starts_with("chlo.") || name.starts_with("func.");
    bool isCut = any_of(op->getDiscardableAttrs(), [](mlir::NamedAttribute a) {
      return a.getName().strref().contains("shard");
    });
    if (auto function = dyn_cast<mlir::FunctionOpInterface>(op))
      for (unsigned i = 0, n = function.getNumArguments(),
                    all = n + function.getNumResults();
           i < all; ++i)
        for (mlir::NamedAttribute a :
             i < n ? function.getArgAttrs(i) : function.getResultAttrs(i - n))
          isCut |= a.getName().strref().contains("shard");
    return isPlain && !isCut ? mlir::WalkResult::advance()
                             : mlir::WalkResult::interrupt();
  });
  return found.wasInterrupted();
}

/// Makes `options.stages.mesh`, or the mesh of `module`, agree with
/// `options.ranks`.
static Error fitMeshToRanks(mlir::ModuleOp module, ModelOptions &options) {
  FailureOr<std::vector<MeshAxis>> mesh = std::vector<MeshAxis>();
  if (mayHaveMesh(module))
    mesh = findMesh(module, options.stages);
  if (failed(mesh))
    return toolError(ExitCode::Refused, "");
  if (mesh->empty() && options.replicates && *options.ranks > 1) {
    mlir::MLIRContext *context = module.getContext();
    for (auto other : make_early_inc_range(module.getOps<spmd::MeshOp>()))
      other.erase();
    auto builder = mlir::OpBuilder::atBlockBegin(module.getBody());
    spmd::MeshOp::create(
        builder, module.getLoc(), "replicas",
        spmd::MeshAttr::get(context,
                            {mlir::StringAttr::get(context, "replica")},
                            {*options.ranks}));
    return Error::success();
  }
  int64_t needed = 1;
  for (const MeshAxis &axis : *mesh)
    needed *= axis.size;
  if (needed == *options.ranks)
    return Error::success();
  if (mesh->size() == 1 && options.stages.mesh.empty()) {
    options.stages.mesh =
        formatv("{0}={1}", mesh->front().name, *options.ranks).str();
    return Error::success();
  }
  if (mesh->empty())
    return toolError(
        ExitCode::Usage,
        "the program has no mesh, so 1 rank runs it, but --ranks gives " +
            Twine(*options.ranks) +
            "; leave --ranks out, or shard the program");
  return toolError(ExitCode::Usage,
                   "the mesh " + printMesh(*mesh) + " has " + Twine(needed) +
                       " ranks, but --ranks gives " + Twine(*options.ranks) +
                       "; say the sizes of its axes with --mesh");
}

/// Whether an error of MLIR's parser is about a dialect that it has never heard
/// of. MLIR has words alone for it. They are matched whole, from the first or
/// to the last, so that no name in a program passes for them.
static bool isUnknownDialect(StringRef message) {
  if (message.ends_with(
          " created with unregistered dialect. If this is intended, please "
          "call allowUnregisteredDialects() on the MLIRContext, or use "
          "-allow-unregistered-dialect with the MLIR opt tool used") ||
      message == "operation being parsed with an unregistered dialect. If this "
                 "is intended, please use -allow-unregistered-dialect with the "
                 "MLIR tool used")
    return true;
  if (!message.consume_front("Dialect `") &&
      !message.consume_front("dialect `"))
    return false;
  size_t end = message.find('\'');
  return message.substr(end).starts_with("' not found for custom op '");
}

/// The name of the op where an error of MLIR's parser is about one that its
/// dialect does not have, as for isUnknownDialect; empty for other errors.
static StringRef unknownOp(StringRef message) {
  for (auto [before, after] :
       {std::pair("unregistered operation '", "' found in dialect"),
        std::pair("custom op '", "' is unknown")}) {
    if (!message.consume_front(before))
      continue;
    size_t end = message.find('\'');
    if (message.substr(end).starts_with(after))
      return message.take_front(end);
  }
  return {};
}

/// Why the catalogue lacks an op that StableHLO has, and what to do; empty for
/// names that no version has.
static StringRef adviceFor(StringRef op) {
  op.consume_front("stablehlo.");
  return StringSwitch<StringRef>(op)
      .Cases({"uniform_quantize", "uniform_dequantize"},
             "quantised types are not known; legalise them before")
      .Default("");
}

/// Passes on what the compiler says, in words for its users, and notes why it
/// refused.
namespace {
class Listener : public mlir::ScopedDiagnosticHandler {
public:
  Listener(mlir::MLIRContext *context, DiagnosticSink &sink)
      : ScopedDiagnosticHandler(context), sink(sink) {
    setHandler([this](mlir::Diagnostic &diagnostic) { keep(diagnostic); });
  }

  ExitCode refused = ExitCode::Refused;
  bool isParsing = true; ///< what comes may be MLIR's word on the text

private:
  void keep(mlir::Diagnostic &diagnostic) {
    if (diagnostic.getSeverity() != mlir::DiagnosticSeverity::Error ||
        !std::exchange(isFirst, false))
      return sink.take(diagnostic);
    std::string message = diagnostic.str();
    if (isAboutMemory(diagnostic))
      refused = ExitCode::Memory;
    else if (isFileTrouble(diagnostic))
      refused = ExitCode::IO;
    else if (isMisuse(diagnostic))
      refused = ExitCode::Usage;
    StringRef op = isParsing ? unknownOp(message) : StringRef();
    if (adviceFor(op).empty())
      op = {};
    bool isDeclared = isUnsupported(diagnostic);
    bool isUnknown = isParsing && isUnknownDialect(message);
    if (!isDeclared && !isUnknown && op.empty())
      return sink.take(diagnostic);
    refused = ExitCode::Unsupported;
    if (isDeclared)
      return sink.take(diagnostic);
    mlir::Diagnostic other(diagnostic.getLocation(),
                           mlir::DiagnosticSeverity::Error);
    if (!op.empty())
      other << "unsupported: '" << op << "': " << adviceFor(op);
    else
      // MLIR's own advice is for those who can change the tool.
      other << "unsupported: " << StringRef(message).split(". If this").first
            << "; expected types and ops of stablehlo, chlo, sdy, spmd and "
               "func";
    sink.take(other);
  }

  DiagnosticSink &sink;
  bool isFirst = true;
};
} // namespace

/// The function that a model is.
static mlir::func::FuncOp mainOf(mlir::ModuleOp module) {
  return module.lookupSymbol<mlir::func::FuncOp>("main");
}

/// withModel in `context`.
static Error withModelIn(mlir::MLIRContext *context, StringRef name,
                         ModelOptions &options, DiagnosticSink &sink,
                         function_ref<LogicalResult(mlir::ModuleOp)> use) {
  // The source line says enough: users meet few of our ops.
  context->printOpOnDiagnostic(false);
  sink.begin(*context);
  llvm::scope_exit ended([&] { sink.end(); });
  Listener listener(context, sink);
  auto text = MemoryBuffer::getMemBufferCopy(*options.text, name);
  mlir::OwningOpRef<mlir::ModuleOp> module =
      options.isOwn ? readOwnProgram(*context, std::move(text))
                    : parseModel(*context, std::move(text));
  if (!module)
    return toolError(listener.refused, "");
  listener.isParsing = false;
  if (options.keepsTokens)
    makeTokensArrays(mainOf(*module));
  if (options.keepsLayouts && failed(keepLayouts(mainOf(*module))))
    return toolError(listener.refused, "");
  if (options.ranks)
    if (Error error = fitMeshToRanks(*module, options))
      return listener.refused != ExitCode::Refused
                 ? withCode(listener.refused, std::move(error))
                 : std::move(error);
  if (failed(use(*module)))
    return toolError(listener.refused, "");
  return Error::success();
}

Error shardc::withModel(StringRef name, ModelOptions &options,
                        DiagnosticSink &sink,
                        function_ref<LogicalResult(mlir::ModuleOp)> use) {
  std::unique_ptr<mlir::MLIRContext> context =
      options.contexts ? options.contexts->take()
                       : createCompilerContext(options.registerMore);
  Error error = withModelIn(context.get(), name, options, sink, use);
  if (options.contexts)
    options.contexts->give(std::move(context));
  return error;
}

/// Brings a copy of `text` with smaller dims to its local view, as `stages`
/// say, and compares both.
static LogicalResult verifySmaller(mlir::ModuleOp text, StageOptions stages) {
  stages.inspectLocal = nullptr;
  mlir::MLIRContext *context = text.getContext();
  std::string unknown;
  for (int64_t most : {512, 128, 32, 8}) {
    mlir::OwningOpRef<mlir::ModuleOp> small = interpreter::smaller(text, most);
    if (!small)
      break;
    if (interpreter::countElements(*small) > kVerifiedWork / 4)
      continue;
    mlir::OwningOpRef<mlir::ModuleOp> local = small->clone();
    std::string refused;
    {
      mlir::ScopedDiagnosticHandler handler(
          context, [&](mlir::Diagnostic &diagnostic) {
            if (refused.empty() &&
                diagnostic.getSeverity() == mlir::DiagnosticSeverity::Error)
              refused = diagnostic.str();
            return mlir::success();
          });
      if (mlir::succeeded(compileToLocal(*local, stages)))
        refused.clear();
    }
    if (!refused.empty()) {
      emitRemark(text.getLoc())
          << "partition not verified: with dims of at most " << most
          << " elements the program is refused: " << refused;
      return mlir::success();
    }
    interpreter::Options limits;
    limits.maxWork = kVerifiedWork;
    auto verified = [&] {
      mlir::ScopedDiagnosticHandler handler(
          context, [&](mlir::Diagnostic &diagnostic) {
            if (diagnostic.getSeverity() != mlir::DiagnosticSeverity::Remark)
              return mlir::failure();
            unknown = diagnostic.str();
            return mlir::success();
          });
      return interpreter::verifyLocal(*small, *local, limits);
    }();
    // Products take more than their elements say: a smaller copy may do.
    if (mlir::succeeded(verified) &&
        *verified == interpreter::Verification::NotKnown)
      continue;
    if (mlir::succeeded(verified))
      emitRemark(text.getLoc())
          << "partition verified on a smaller copy: its "
          << interpreter::countElements(text)
          << " elements are too many, with dims of at most " << most
          << " they are " << interpreter::countElements(*small);
    return verified;
  }
  if (!unknown.empty()) {
    emitRemark(text.getLoc()) << unknown;
    return mlir::success();
  }
  emitRemark(text.getLoc())
      << "partition not verified: its " << interpreter::countElements(text)
      << " elements are too many, and no copy with smaller dims has few enough";
  return mlir::success();
}

/// Lets `options.stages` compare the local view with `module` as it is now.
static mlir::OwningOpRef<mlir::ModuleOp> verifyAgainst(mlir::ModuleOp module,
                                                       ModelOptions &options) {
  if (!options.verifyPartition)
    return nullptr;
  mlir::OwningOpRef<mlir::ModuleOp> text = module.clone();
  options.stages.inspectLocal = [text = *text, &stages = options.stages](
                                    mlir::ModuleOp local) -> LogicalResult {
    if (interpreter::countElements(text) > kVerifiedWork)
      return verifySmaller(text, stages);
    interpreter::Options limits;
    limits.maxWork = kVerifiedWork;
    return interpreter::verifyLocal(text, local, limits);
  };
  return text;
}

static std::atomic<int64_t> numCompiled{0};

int64_t shardc::numCompiledModels() { return numCompiled.load(); }

Expected<CompiledProgram> shardc::compileModel(StringRef name,
                                               ModelOptions options,
                                               DiagnosticSink &sink) {
  numCompiled.fetch_add(1);
  FailureOr<CompiledProgram> program = failure();
  if (Error error = withModel(
          name, options, sink, [&](mlir::ModuleOp module) -> LogicalResult {
            auto text = verifyAgainst(module, options);
            program = compileProgram(module, options.stages);
            return program;
          }))
    return std::move(error);
  program->model = std::move(*options.text);
  return std::move(*program);
}

Expected<InterpretedModel>
shardc::interpretModel(StringRef name, ModelOptions options,
                       DiagnosticSink &sink,
                       function_ref<Expected<std::vector<interpreter::Array>>(
                           ArrayRef<mlir::RankedTensorType>)>
                           argumentsFor) {
  // The ranks that it is cut for are none of its business.
  options.ranks.reset();
  InterpretedModel model;
  Error failed = Error::success();
  Error error = withModel(
      name, options, sink, [&](mlir::ModuleOp module) -> LogicalResult {
        auto types = interpreter::argumentTypes(module);
        if (mlir::failed(types))
          return failure();
        Expected<std::vector<interpreter::Array>> arguments =
            argumentsFor(*types);
        if (!arguments) {
          failed = joinErrors(std::move(failed), arguments.takeError());
          return mlir::success();
        }
        auto outcome = interpreter::interpret(module, *arguments);
        if (mlir::failed(outcome))
          return failure();
        model.results = std::move(outcome->results);
        for (mlir::Type type : outcome->resultTypes)
          raw_string_ostream(model.elementTypes.emplace_back())
              << mlir::getElementTypeOrSelf(type);
        model.checksHeld = outcome->checksHeld;
        for (const interpreter::FailedCheck &check : outcome->failedChecks) {
          std::string text;
          raw_string_ostream out(text);
          if (auto at = check.loc->findInstanceOf<mlir::FileLineColLoc>())
            out << at.getFilename().getValue() << ":" << at.getLine() << ": ";
          out << check.message;
          model.failedChecks.push_back(std::move(text));
        }
        return mlir::success();
      });
  if (error) {
    consumeError(std::move(failed));
    return std::move(error);
  }
  if (failed)
    return std::move(failed);
  return model;
}

Expected<std::vector<double>> shardc::roundingOfResults(StringRef name,
                                                        ModelOptions options,
                                                        DiagnosticSink &sink,
                                                        int64_t openExtent) {
  options.ranks.reset();
  std::vector<double> bounds;
  if (Error error = withModel(name, options, sink, [&](mlir::ModuleOp module) {
        bounds = roundingOfResults(mainOf(module), openExtent);
        return mlir::success();
      }))
    return std::move(error);
  return bounds;
}

Error shardc::emitModelIR(StringRef name, ModelOptions options,
                          DiagnosticSink &sink, raw_ostream &out) {
  return withModel(name, options, sink,
                   [&](mlir::ModuleOp module) -> LogicalResult {
                     auto text = verifyAgainst(module, options);
                     if (failed(compileToLocal(module, options.stages)))
                       return failure();
                     ProgramMetadata metadata = describeProgram(module);
                     if (failed(lowerProgram(module, options.stages, metadata)))
                       return failure();
                     return emitLLVMIR(module, options.stages.arch, out,
                                       optimizationOf(options.stages));
                   });
}

Error shardc::emitLocalText(StringRef name, ModelOptions options,
                            DiagnosticSink &sink, raw_ostream &out) {
  return withModel(name, options, sink,
                   [&](mlir::ModuleOp module) -> LogicalResult {
                     auto text = verifyAgainst(module, options);
                     if (failed(compileToLocal(module, options.stages)))
                       return failure();
                     out << printLocalProgram(module, /*lines=*/false);
                     return mlir::success();
                   });
}

Expected<DeviceImage> shardc::compileDeviceImage(StringRef name,
                                                 ModelOptions options,
                                                 DiagnosticSink &sink,
                                                 DeviceImageKind kind) {
  FailureOr<DeviceImage> image = failure();
  if (Error error = withModel(
          name, options, sink, [&](mlir::ModuleOp module) -> LogicalResult {
            auto text = verifyAgainst(module, options);
            if (failed(compileToLocal(module, options.stages)) ||
                failed(lowerToLLVM(module, options.stages)))
              return failure();
            image = emitDeviceImage(module, options.stages.gpuArch, kind);
            return image;
          }))
    return std::move(error);
  return std::move(*image);
}
