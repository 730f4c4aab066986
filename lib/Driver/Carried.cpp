//===- Carried.cpp - Models that artifacts carry --------------------------===//
//
// A carried program is the size of what follows in 8 bytes, then, compressed by
// zlib: a line of JSON with the options, and the model as it was read.
//
//===----------------------------------------------------------------------===//

#include "shardc/Driver/Carried.h"
#include "shardc/Layout/Limits.h"
#include "shardc/Translation/ObjectFile.h"
#include "llvm/Support/Compression.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace shardc;

namespace {
/// Writes fields, or reads them into their places.
class Fields {
public:
  explicit Fields(json::Object &object) : to(&object) {}
  explicit Fields(const json::Object &object) : from(&object) {}

  void field(StringRef name, std::string &value) {
    if (to)
      (*to)[name] = json::fixUTF8(value);
    else if (std::optional<StringRef> known = from->getString(name))
      value = known->str();
    else
      missing(name);
  }
  void field(StringRef name, bool &value) {
    if (to)
      (*to)[name] = value;
    else if (std::optional<bool> known = from->getBoolean(name))
      value = *known;
    else
      missing(name);
  }
  void field(StringRef name, int64_t &value, int64_t least, int64_t most) {
    if (to) {
      (*to)[name] = value;
      return;
    }
    std::optional<int64_t> known = from->getInteger(name);
    if (known && *known >= least && *known <= most)
      value = *known;
    else
      missing(name);
  }

  /// What most do not have.
  void optional(StringRef name, std::string &value) {
    if (to ? !value.empty() : from->get(name) != nullptr)
      field(name, value);
  }
  void optional(StringRef name, bool &value) {
    if (to ? value : from->get(name) != nullptr)
      field(name, value);
  }

  std::string problem;

private:
  void missing(StringRef name) {
    if (problem.empty())
      problem = ("'" + name + "' is not there or makes no sense").str();
  }

  json::Object *to = nullptr;
  const json::Object *from = nullptr;
};
} // namespace

/// Visits all that says how a model is compiled. A new field of StageOptions
/// ends up here, as the binding must name all of them: a program is to be
/// compiled again to the same one.
static void visit(Fields &fields, ModelOptions &options) {
  auto &[shapes, mesh, sizes, dynamic, machine, unsharded, noFallback, noRaise,
         keepOrder, evenBorders, partialResults, deviceOrder, reproducible,
         exactSums, explain, localText, origins, hostCalls, threads, trace,
         memoryLimit, memoryLimitOf, quick, target, arch, gpuArch, checkKernels,
         kernels, instrument, inspectLocal, tf32, tiles, listTiles, cancelled] =
      options.stages;
  // What is printed or looked at is not the program's; a limit of memory that a
  // machine gives is not the program's either.
  (void)explain, (void)localText, (void)origins, (void)instrument,
      (void)memoryLimitOf, (void)inspectLocal, (void)listTiles, (void)cancelled;
  int64_t ranks = options.ranks.value_or(0);
  int64_t targetNumber = static_cast<int64_t>(target);
  fields.field("ranks", ranks, 0, kMaxRanks);
  fields.field("replicates", options.replicates);
  fields.field("keeps_tokens", options.keepsTokens);
  fields.field("keeps_layouts", options.keepsLayouts);
  fields.field("shapes", shapes);
  fields.field("mesh", mesh);
  fields.field("sizes", sizes);
  fields.field("dynamic", dynamic);
  fields.field("machine", machine);
  fields.field("unsharded", unsharded);
  fields.field("no_fallback", noFallback);
  fields.field("no_raise", noRaise);
  fields.field("keep_order", keepOrder);
  fields.field("even_borders", evenBorders);
  fields.field("partial_results", partialResults);
  fields.field("device_order", deviceOrder);
  fields.field("reproducible", reproducible);
  fields.field("exact_sums", exactSums);
  fields.field("host_calls", hostCalls);
  fields.field("threads", threads, 1, 1024);
  fields.field("trace", trace);
  fields.field("memory_limit", memoryLimit, 0, INT64_MAX);
  fields.optional("quick", quick);
  fields.field("target", targetNumber, 0,
               static_cast<int64_t>(Target::EmulatedCuda));
  fields.field("arch", arch);
  fields.field("gpu_arch", gpuArch);
  fields.field("check_kernels", checkKernels);
  fields.field("kernels", kernels);
  fields.field("tf32", tf32);
  fields.optional("tiles", tiles);
  if (ranks > 0)
    options.ranks = ranks;
  target = static_cast<Target>(targetNumber);
}

/// No model is larger when it is unpacked.
static constexpr uint64_t kMostBytes = uint64_t(4) << 30;

std::string shardc::printOptions(const ModelOptions &options, StringRef path) {
  json::Object object;
  Fields fields(object);
  ModelOptions copy = options;
  visit(fields, copy);
  std::string name = path.str();
  fields.field("path", name);
  std::string text;
  raw_string_ostream(text) << json::Value(std::move(object));
  return text;
}

std::string shardc::packProgram(StringRef path, const ModelOptions &options,
                                StringRef text) {
  std::string plain = printOptions(options, path) + '\n' + text.str();
  SmallVector<uint8_t, 0> packed;
  // The best of zlib searches lists of thousands of ranks for a third of the
  // time that a program takes to compile, and packs them no better.
  compression::zlib::compress(arrayRefFromStringRef(plain), packed,
                              compression::zlib::DefaultCompression);
  char size[8];
  support::endian::write64le(size, plain.size());
  return std::string(size, sizeof(size)) + toStringRef(packed).str();
}

Expected<CarriedProgram> shardc::unpackProgram(StringRef packed) {
  auto refuse = [](const Twine &why) {
    return toolError(ExitCode::Artifact,
                     "the program that it carries cannot be read: " + why);
  };
  if (packed.size() < 8)
    return refuse("it is cut short");
  uint64_t size = support::endian::read64le(packed.data());
  packed = packed.drop_front(8);
  // zlib packs at most 1032 bytes into one.
  if (size > kMostBytes || size / 1040 > packed.size())
    return refuse("it says that it has " + Twine(size) + " bytes");
  SmallVector<uint8_t, 0> plain;
  if (Error error = compression::zlib::decompress(arrayRefFromStringRef(packed),
                                                  plain, size))
    return refuse(toString(std::move(error)));
  if (plain.size() != size)
    return refuse("it has another size than it says");
  auto [line, text] = toStringRef(plain).split('\n');
  if (line.size() > (1 << 20))
    return refuse("its options are too long");
  Expected<json::Value> value = json::parse(line);
  if (!value)
    return refuse(toString(value.takeError()));
  const json::Object *object = value->getAsObject();
  if (!object)
    return refuse("its options are no object");
  CarriedProgram carried;
  Fields fields(*object);
  visit(fields, carried.options);
  fields.field("path", carried.path);
  StageOptions &stages = carried.options.stages;
  if (fields.problem.empty() && !stages.mesh.empty())
    if (Error error = checkMeshOption(stages.mesh, /*mayBeOpen=*/true))
      fields.problem = toString(std::move(error));
  for (StringRef sizes : split(stages.sizes, ';'))
    if (fields.problem.empty() && !sizes.empty())
      if (Error error = checkSizesOption(sizes))
        fields.problem = toString(std::move(error));
  if (fields.problem.empty() &&
      !is_contained({"default", "generated", "auto", "library"},
                    stages.kernels))
    fields.problem = "'kernels' makes no sense";
  if (fields.problem.empty() && !parseTiles(stages.tiles))
    fields.problem = "'tiles' makes no sense";
  if (!fields.problem.empty())
    return refuse(fields.problem);
  // What was made for another processor is compiled for this one.
  stages.arch = archThatRuns(stages.arch);
  carried.options.text = text.str();
  carried.options.isForeign = true;
  return carried;
}
