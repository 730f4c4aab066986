//===- Compile.cpp - Models in memory to programs -------------------------===//

#include "mlir/IR/Diagnostics.h"
#include "shardc/Driver/Options.h"
#include "shardc/Engine/Program.h"
#include "shardc/Support/UserLocation.h"
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

static MaybeFailure readOptions(const Engine &engine, std::string_view text,
                                const Program::Options &given,
                                shardc::ModelOptions &options) {
  std::vector<shardc::GivenOption> list = {{"target", engine.options.target}};
  if (engine.options.target == "cpu")
    list.push_back({"threads", std::to_string(engine.options.threads)});
  for (const auto &[name, value] : given)
    list.push_back({name, value});
  Expected<shardc::ModelOptions> read = shardc::readCompileOptions(list);
  if (!read)
    return failureOf(read.takeError(), Keeper());
  options = std::move(*read);
  options.replicates = true;
  options.isForeign = true;
  options.keepsTokens = true;
  options.stages.hostCalls = true;
  options.text = std::string(text);
  return nullptr;
}

/// `value` over the ranks of a mesh.
static MaybeFailure describe(const shardc::ValueMetadata &value,
                             const shardc::ProgramMetadata &program,
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
  std::vector<int64_t> mesh = program.meshShape();
  for (int64_t rank = 0; rank < program.numRanks(); ++rank) {
    LocalValue &local = result.ranks.emplace_back();
    local.box = shardc::boxOf(value, mesh, rank);
    std::vector<int64_t> dims;
    for (shardc::Interval interval : local.box)
      dims.push_back(interval.size());
    local.dims = Dims(dims);
    local.bytes = bytesOf(*type, dims);
  }
  return nullptr;
}

MaybeFailure shardc::engine::compileModel(const Engine &engine,
                                          std::string_view text,
                                          std::string_view name,
                                          const Program::Options &given,
                                          CompiledModel &model) {
  shardc::ModelOptions options;
  if (MaybeFailure failure = readOptions(engine, text, given, options))
    return failure;
  options.stages.localText = true;
  Keeper said;
  Expected<shardc::CompiledProgram> compiled = shardc::compileModel(
      StringRef(name.empty() ? std::string_view("model") : name), options,
      said);
  if (!compiled)
    return failureOf(compiled.takeError(), said);
  const shardc::ProgramMetadata &metadata = compiled->metadata;
  model.name = metadata.name;
  model.localText = std::move(compiled->localText);
  model.metadata = shardc::toJSON(metadata);
  model.remarks = std::move(said.remarks);
  model.numRanks = metadata.numRanks();
  for (const shardc::ValueMetadata &value : metadata.arguments)
    if (MaybeFailure failure =
            describe(value, metadata, model.arguments.emplace_back()))
      return failure;
  for (int64_t index : compiled->donated)
    if (static_cast<size_t>(index) < model.arguments.size())
      model.arguments[static_cast<size_t>(index)].donated = 1;
  for (const shardc::ValueMetadata &value : metadata.results) {
    model.hidden += !value.check.empty();
    if (MaybeFailure failure =
            describe(value, metadata, model.results.emplace_back()))
      return failure;
  }
  Costs &costs = model.costs;
  costs.codeBytes = static_cast<int64_t>(compiled->object.size());
  costs.temporaryBytes = metadata.arenaBytes;
  for (const shardc::SiteMetadata &site : metadata.communication)
    costs.bytesMoved +=
        static_cast<double>(std::max<int64_t>(site.bytesPerStep, 0));
  for (const ProgramValue &value : model.arguments)
    costs.argumentBytes += value.ranks[0].bytes;
  for (size_t i = 0; i + model.hidden < model.results.size(); ++i)
    costs.resultBytes += model.results[i].ranks[0].bytes;
  model.object = std::move(compiled->object);
  model.text = std::string(text);
  model.options = given;
  return nullptr;
}

MaybeFailure shardc::engine::printLocal(const Engine &engine,
                                        const CompiledModel &model,
                                        std::string &text) {
  shardc::ModelOptions options;
  if (MaybeFailure failure =
          readOptions(engine, model.text, model.options, options))
    return failure;
  Keeper said;
  raw_string_ostream out(text);
  if (Error error =
          shardc::emitLocalText(model.name, std::move(options), said, out))
    return failureOf(std::move(error), said);
  return nullptr;
}
