//===- Compile.cpp - Models in memory to programs -------------------------===//

#include "Recovery.h"
#include "mlir/IR/Diagnostics.h"
#include "shardc/Driver/Balance.h"
#include "shardc/Driver/Cache.h"
#include "shardc/Driver/Carried.h"
#include "shardc/Driver/Options.h"
#include "shardc/Engine/Program.h"
#include "shardc/Seal/Seal.h"
#include "shardc/Seal/UserKey.h"
#include "shardc/Support/ProgramText.h"
#include "shardc/Support/UserLocation.h"
#include "shardc/Translation/Artifact.h"
#include "shardc/Translation/ObjectFile.h"
#include "llvm/ADT/Sequence.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace shardc::engine;

namespace {
/// Keeps what the compiler says.
class Keeper : public shardc::DiagnosticSink {
public:
  void take(mlir::Diagnostic &diagnostic) override {
    std::lock_guard lock(mutex);
    using mlir::DiagnosticSeverity;
    std::string text = diagnostic.str();
    std::string location = locationOf(diagnostic.getLocation());
    bool isError = diagnostic.getSeverity() == DiagnosticSeverity::Error;
    if (isError && message.empty()) {
      message = text;
      where = location;
    } else {
      std::string &to = isError ? message : remarks;
      if (!to.empty() && isError)
        to += "\n";
      if (!location.empty())
        to += location + ": ";
      to += isError ? "error"
            : diagnostic.getSeverity() == DiagnosticSeverity::Warning
                ? "warning"
                : "remark";
      to += ": " + text;
      if (!isError)
        to += "\n";
    }
    for (mlir::Diagnostic &note : diagnostic.getNotes()) {
      std::string &to = isError ? message : remarks;
      std::string at = locationOf(note.getLocation());
      to += (isError ? "\n" : "") + at + (at.empty() ? "" : ": ") +
            "note: " + note.str() + (isError ? "" : "\n");
    }
  }

  std::string message, where, remarks;

private:
  static std::string locationOf(mlir::Location loc) {
    std::string location = shardc::userLocation(loc);
    return location == "unknown" ? "" : location;
  }
  std::mutex mutex;
};
} // namespace

/// What `error` and the compiler have said.
static MaybeFailure failureOf(Error error, const Keeper &said) {
  MaybeFailure failure;
  handleAllErrors(
      std::move(error),
      [&](const shardc::ToolError &known) {
        if (!failure)
          failure = fail(static_cast<Status>(known.code), known.message);
      },
      [&](const ErrorInfoBase &other) {
        if (!failure)
          failure = fail(Status::Refused, other.message());
      });
  if (failure && failure->message.empty()) {
    failure->message = said.message.empty() ? "the model is refused, and the "
                                              "compiler does not say why"
                                            : said.message;
    failure->location = said.where;
  }
  return failure;
}

std::shared_ptr<shardc::ContextPool> shardc::engine::makeContexts() {
  return std::make_shared<shardc::ContextPool>();
}

std::shared_ptr<const shardc::CompileCache>
shardc::engine::makeCache(const std::optional<std::string> &folder) {
  shardc::CompileCache::Options options = shardc::CompileCache::defaults();
  if (folder) {
    options.directory = *folder;
    options.isGiven = true;
  }
  return std::make_shared<shardc::CompileCache>(std::move(options));
}

static MaybeFailure readOptions(const Engine &engine, std::string_view text,
                                const Program::Options &given,
                                shardc::ModelOptions &options) {
  std::vector<shardc::GivenOption> list = {{"target", engine.options.target}};
  if (engine.options.target == "cpu")
    list.push_back({"threads", std::to_string(engine.options.threads)});
  for (const auto &[name, value] : given)
    list.push_back({name, value});
  shardc::OptionReader reader;
  reader.isEngine = true;
  Expected<shardc::ModelOptions> read =
      shardc::readCompileOptions(list, reader);
  if (!read)
    return failureOf(read.takeError(), Keeper());
  options = std::move(*read);
  options.replicates = true;
  options.stages.hostCalls = true;
  options.text = std::string(text);
  // MLIR's parser takes any text; its reader of bytecode does not survive all
  // that may be wrong there.
  options.isOwn |= !text.starts_with(shardc::kBytecodeMagic);
  return nullptr;
}

/// What is the same on all ranks.
static MaybeFailure describe(const shardc::ValueMetadata &value,
                             ProgramValue &result) {
  auto type = shardrt::elementTypeNamed(value.elementType);
  if (!type)
    return fail(Status::Unsupported,
                "unsupported: element type '" + value.elementType + "'",
                value.location);
  result.name = value.name;
  result.location = value.location;
  result.type = *type;
  result.dims = value.shape;
  return nullptr;
}

/// `value`, of elements of `type`, on one rank of a mesh.
static LocalValue localOf(const shardc::ValueMetadata &value, ElementType type,
                          ArrayRef<int64_t> mesh, int64_t rank) {
  LocalValue local;
  local.box = shardc::boxOf(value, mesh, rank);
  SmallVector<int64_t> dims;
  for (shardc::Interval interval : local.box)
    dims.push_back(interval.size());
  local.dims = Dims(dims);
  local.bytes = bytesOf(type, dims);
  return local;
}

const RankValues &CompiledModel::ofRank(int64_t rank) const {
  OnceByRank &known = byRank[rank];
  std::call_once(known.once, [&] {
    std::vector<int64_t> mesh = values->meshShape();
    auto fill = [&](const auto &described, const auto &of, auto &list) {
      list.reserve(described.size());
      for (auto [value, placed] : zip_equal(described, of))
        list.push_back(localOf(placed, value.type, mesh, rank));
    };
    fill(arguments, values->arguments, known.values.arguments);
    fill(results, values->results, known.values.results);
  });
  return known.values;
}

/// True if `a` and `b` take as many bytes on each rank.
static bool haveSameBytes(const shardc::ProgramMetadata &metadata,
                          const shardc::ValueMetadata &a,
                          const shardc::ValueMetadata &b, ElementType typeOfA,
                          ElementType typeOfB) {
  if (shardrt::elementBytes(typeOfA) == shardrt::elementBytes(typeOfB) &&
      a.ranks == b.ranks && a.dims.size() == b.dims.size() &&
      all_of(zip_equal(a.dims, b.dims), [](auto dims) {
        auto &[one, other] = dims;
        return one.axes == other.axes &&
               one.boundaries.indices() == other.boundaries.indices();
      }))
    return true;
  std::vector<int64_t> mesh = metadata.meshShape();
  return all_of(seq<int64_t>(0, metadata.numRanks()), [&](int64_t rank) {
    return localOf(a, typeOfA, mesh, rank).bytes ==
           localOf(b, typeOfB, mesh, rank).bytes;
  });
}

/// Fills `model` with what `metadata` say of arguments and results.
static MaybeFailure fillValues(CompiledModel &model,
                               const shardc::ProgramMetadata &metadata) {
  model.arguments.clear();
  model.results.clear();
  model.hidden = 0;
  model.numRanks = metadata.numRanks();
  model.byRank = std::make_unique<CompiledModel::OnceByRank[]>(model.numRanks);
  for (const shardc::ValueMetadata &value : metadata.arguments) {
    if (MaybeFailure failure = describe(value, model.arguments.emplace_back()))
      return failure;
    if (value.donated)
      model.arguments.back().donated = 1;
  }
  for (const shardc::ValueMetadata &value : metadata.results) {
    model.hidden += !value.check.empty();
    if (MaybeFailure failure = describe(value, model.results.emplace_back()))
      return failure;
  }
  bool isBound = any_of(metadata.arguments, [](const auto &argument) {
    return any_of(argument.dims,
                  [](const auto &dim) { return dim.dynamic || dim.open; });
  });
  for (auto [i, value] : enumerate(metadata.results)) {
    if (!value.inPlace)
      continue;
    ProgramValue &result = model.results[i];
    result.donated = *value.inPlace;
    const ProgramValue &argument = model.arguments[result.donated];
    bool hasRoom =
        haveSameBytes(metadata, value, metadata.arguments[result.donated],
                      result.type, argument.type);
    // What is as large in one binding need not be in the next.
    if (!hasRoom && isBound)
      result.donated = -1;
    else if (!hasRoom)
      return fail(Status::Artifact,
                  "result " + std::to_string(i) +
                      " is to be written over an argument of another size");
  }
  Costs &costs = model.costs;
  costs.argumentBytes = costs.resultBytes = 0;
  costs.temporaryBytes = metadata.arenaBytes;
  const RankValues &first = model.ofRank(0);
  for (const LocalValue &value : first.arguments)
    costs.argumentBytes += value.bytes;
  for (const LocalValue &value : drop_end(first.results, model.hidden))
    costs.resultBytes += value.bytes;
  return nullptr;
}

MaybeFailure shardc::engine::readMetadata(CompiledModel &model,
                                          const std::string &json) {
  Expected<shardc::ProgramMetadata> parsed = shardc::parseMetadata(json);
  if (!parsed)
    return fail(Status::Artifact, toString(parsed.takeError()));
  shardc::ProgramMetadata &metadata = *parsed;
  model.name = metadata.name;
  model.metadata = json;
  Costs &costs = model.costs;
  costs = {};
  auto ranks = static_cast<double>(metadata.numRanks());
  costs.flops = ranks * static_cast<double>(metadata.work.operations);
  costs.bytesAccessed = ranks * static_cast<double>(metadata.work.bytes);
  costs.transcendentals =
      ranks * static_cast<double>(metadata.work.transcendentals);
  for (const shardc::SiteMetadata &site : metadata.communication)
    costs.bytesMoved +=
        static_cast<double>(std::max<int64_t>(site.bytesPerStep, 0));
  // Nobody asks for them again.
  metadata.communication.clear();
  model.values = std::make_shared<shardc::ProgramMetadata>(metadata);
  return fillValues(model, metadata);
}

MaybeFailure
shardc::engine::makeBalance(const CompiledModel &model,
                            std::unique_ptr<shardc::Balance> &balance) {
  llvm::Expected<shardc::Balance> made = shardc::makeBalance(*model.values);
  if (!made)
    return usage(llvm::toString(made.takeError()));
  balance = std::make_unique<shardc::Balance>(std::move(*made));
  return nullptr;
}

MaybeFailure shardc::engine::readBinding(const CompiledModel &from,
                                         std::span<const int64_t> mesh,
                                         std::string_view json,
                                         CompiledModel &model) {
  auto metadata = std::make_shared<shardc::ProgramMetadata>(*from.values);
  for (auto [axis, size] : zip_equal(metadata->mesh, mesh))
    axis.size = size;
  auto damaged = [] {
    return fail(Status::Artifact, "the program's metadata cannot be bound");
  };
  // Those of the n-th dim of arguments and results are the n-th of the text.
  StringRef rest(json.data(), json.size());
  auto next = [&](StringRef key) {
    size_t at = rest.find(key);
    rest =
        at == StringRef::npos ? StringRef() : rest.drop_front(at + key.size());
    return at != StringRef::npos;
  };
  if (!next("\"arena_bytes\":") ||
      rest.consumeInteger(10, metadata->arenaBytes))
    return damaged();
  for (auto *values : {&metadata->arguments, &metadata->results})
    for (shardc::ValueMetadata &value : *values)
      for (auto [dim, size] : llvm::zip_equal(value.dims, value.shape)) {
        std::vector<int64_t> indices;
        if (!next("\"boundaries\":["))
          return damaged();
        do {
          if (rest.consumeInteger(10, indices.emplace_back()))
            return damaged();
        } while (rest.consume_front(","));
        auto bounds = shardc::Boundaries::fromBounds(std::move(indices));
        if (!bounds)
          return damaged();
        dim.boundaries = *bounds;
        size = bounds->size();
      }
  model.name = from.name;
  model.metadata = json;
  model.costs = from.costs;
  model.values = metadata;
  return fillValues(model, *metadata);
}

/// How options that do not come from a tool differ.
static void prepare(const Engine &engine, shardc::ModelOptions &options) {
  options.isForeign = true;
  constexpr size_t kSmallText = 1 << 18;
  if (options.text->size() <= kSmallText)
    options.contexts = &engine.contexts();
}

static std::string compiling(StringRef path) {
  return "compiling '" + path.str() + "'";
}

/// The first of two steps: asks the caller how calls are cut.
static MaybeFailure cutCalls(const Engine &engine, StringRef path,
                             shardc::ModelOptions &options) {
  prepare(engine, options);
  if (!engine.options.partition ||
      !shardc::mayHavePartitionedCalls(*options.text))
    return nullptr;
  if (MaybeFailure failure =
          recoverably(compiling(path), [&]() -> MaybeFailure {
            Keeper keeper;
            Expected<std::string> cut = shardc::partitionCalls(
                path, options, keeper, engine.options.partition);
            if (!cut)
              return failureOf(cut.takeError(), keeper);
            options.text = std::move(*cut);
            return nullptr;
          }))
    return failure;
  options.isOwn = true;
  return nullptr;
}

/// The second step: compiles what `options` have the text of, or finds it in
/// `cache`.
static MaybeFailure compileCut(const shardc::CompileCache &cache,
                               StringRef path, shardc::ModelOptions options,
                               CompiledModel &model) {
  std::string what = compiling(path);
  model.path = path.str();
  auto source = std::make_shared<shardc::ModelOptions>(options);
  source->stages.cancelled = nullptr;
  model.source = std::move(source);
  options.stages.localText = true;
  auto isCancelled = [cancelled = options.stages.cancelled] {
    return cancelled && cancelled->load();
  };
  Keeper keeper;
  MaybeFailure fault;
  std::string problem;
  bool isFound;
  Expected<shardc::CompiledProgram> compiled = shardc::compileThrough(
      cache, path, std::move(options), "engine",
      [&](shardc::ModelOptions options,
          std::string &said) -> Expected<shardc::CompiledProgram> {
        std::optional<Expected<shardc::CompiledProgram>> program;
        fault = recoverably(what, [&]() -> MaybeFailure {
          program.emplace(
              shardc::compileModel(path, std::move(options), keeper));
          return nullptr;
        });
        if (fault)
          return shardc::toolError(shardc::ExitCode::Refused, "");
        said = keeper.remarks;
        return std::move(*program);
      },
      model.remarks, isFound, problem);
  if (!compiled && isCancelled()) {
    consumeError(compiled.takeError());
    return usage("the compilation was cancelled");
  }
  if (!compiled) {
    MaybeFailure failure = failureOf(compiled.takeError(), keeper);
    return fault ? std::move(fault) : std::move(failure);
  }
  if (MaybeFailure failure =
          readMetadata(model, shardc::toJSON(compiled->metadata)))
    return failure;
  for (StringRef line : split(problem, '\n'))
    if (!line.empty())
      model.remarks += "cache: warning: " + line.str() + "\n";
  // Saved, it carries the tiles that it has.
  if (!compiled->tiles.empty()) {
    auto source = std::make_shared<shardc::ModelOptions>(*model.source);
    source->stages.tiles = compiled->tiles;
    source->isTuned = false;
    model.source = std::move(source);
  }
  model.object = std::move(compiled->object);
  model.costs.codeBytes = static_cast<int64_t>(model.object.size());
  model.localText = std::move(compiled->localText);
  return nullptr;
}

MaybeFailure shardc::engine::compileModel(Engine &engine, std::string_view text,
                                          std::string_view name,
                                          const Program::Options &given,
                                          CompiledModel &model) {
  std::function<MaybeFailure(CompiledModel &)> work;
  MaybeFailure failure =
      prepareCompile(engine, text, name, given, engine.makeCancelFlag(), work);
  return failure ? std::move(failure) : work(model);
}

MaybeFailure shardc::engine::prepareCompile(
    const Engine &engine, std::string_view text, std::string_view name,
    const Program::Options &given,
    std::shared_ptr<const std::atomic<bool>> cancelled,
    std::function<MaybeFailure(CompiledModel &)> &work) {
  auto options = std::make_shared<shardc::ModelOptions>();
  if (MaybeFailure failure = readOptions(engine, text, given, *options))
    return failure;
  std::string path = name.empty() ? "model" : std::string(name);
  if (MaybeFailure failure = cutCalls(engine, path, *options))
    return failure;
  options->stages.cancelled = std::move(cancelled);
  // Whoever does the work may outlive the engine.
  work = [path, options, contexts = engine.sharedContexts(),
          cache = engine.sharedCache()](CompiledModel &model) {
    return compileCut(*cache, path, std::move(*options), model);
  };
  return nullptr;
}

MaybeFailure shardc::engine::printLocal(const Engine &engine,
                                        const CompiledModel &model,
                                        std::string &text) {
  return recoverably("printing '" + model.path + "'", [&]() -> MaybeFailure {
    Keeper keeper;
    raw_string_ostream out(text);
    if (Error error =
            shardc::emitLocalText(model.path, *model.source, keeper, out))
      return failureOf(std::move(error), keeper);
    return nullptr;
  });
}

//===----------------------------------------------------------------------===//
// Artifacts
//===----------------------------------------------------------------------===//

MaybeFailure shardc::engine::makeArtifact(const CompiledModel &model,
                                          std::string &artifact) {
  // Whoever loads it links it, if nobody has: that takes no process.
  const std::string &code = model.code.empty() ? model.object : model.code;
  // Without a key it is not signed: whoever loads it compiles it again.
  shardc::UserKey key;
  std::string problem = shardc::readUserKey("", /*make=*/true, key);
  if (!problem.empty() && key.isGiven)
    return fail(Status::IO, problem);
  artifact = shardc::sealArtifact(
      code, shardc::packProgram(model.path, *model.source, *model.source->text),
      problem.empty() && key.secret ? &*key.secret : nullptr);
  return nullptr;
}

MaybeFailure shardc::engine::openArtifact(const Engine &engine,
                                          std::string_view bytes,
                                          CompiledModel &model) {
  shardc::Seal seal;
  if (std::string why = shardc::readSeal(shardc::crypto::bytesOf(bytes), seal);
      !why.empty())
    return fail(Status::Artifact, "the artifact is refused: " + why);
  Expected<shardc::CarriedProgram> carried = shardc::unpackProgram(
      {reinterpret_cast<const char *>(seal.program.data()),
       seal.program.size()});
  if (!carried)
    return failureOf(carried.takeError(), Keeper());
  shardc::UserKey key;
  bool hasKey = shardc::readUserKey("", /*make=*/false, key).empty();
  std::string_view code = bytes.substr(0, seal.codeBytes);
  if (!hasKey || !key.trusts(seal.signer) ||
      !shardc::checkArtifactInterface({code.data(), code.size()}).empty()) {
    MaybeFailure failure = cutCalls(engine, carried->path, carried->options);
    return failure ? std::move(failure)
                   : compileCut(engine.cache(), carried->path,
                                std::move(carried->options), model);
  }
  Expected<shardc::ProgramMetadata> metadata =
      shardc::readArtifactMetadata({code.data(), code.size()});
  if (!metadata)
    return fail(Status::Artifact,
                "the artifact is refused: " + toString(metadata.takeError()));
  if (MaybeFailure failure = readMetadata(model, shardc::toJSON(*metadata)))
    return failure;
  prepare(engine, carried->options);
  carried->options.isOwn = true; // the key says so
  model.path = carried->path;
  model.source =
      std::make_shared<shardc::ModelOptions>(std::move(carried->options));
  (shardc::isLinked({code.data(), code.size()}) ? model.code : model.object) =
      code;
  model.costs.codeBytes = static_cast<int64_t>(code.size());
  return nullptr;
}
