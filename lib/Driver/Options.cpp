//===- Options.cpp - What can be said about compiling ---------------------===//

#include "shardc/Driver/Options.h"
#include "shardc/Driver/MachineFile.h"
#include "shardc/Layout/Limits.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"

using namespace llvm;
using namespace shardc;

static constexpr CompileOption kOptions[] = {
    {"ranks", "N", "Ranks; for a mesh of one axis its size", false},
    {"mesh", "x=2,y=2", "Other sizes for axes of the file's mesh", false},
    {"sizes", "ARG:DIM=300,200,0",
     "Sizes of the shards in which a dim of an argument arrives, and perhaps "
     "zigzag: the program has it in blocks from both ends; may be given "
     "several times",
     true},
    {"dynamic", "ARG:DIM,..|all",
     "Dims of arguments (all: whatever is cut) whose shards have sizes that "
     "are said when the program is run; extents that its types do not say (?) "
     "are left open as well; docs/Concepts/Binding.md",
     false},
    {"symbolic-mesh", "x,y",
     "Axes of the mesh whose sizes are said when the program is run, by "
     "--ranks "
     "or --mesh; all that is cut has sizes that are said then too; "
     "docs/Concepts/Binding.md",
     false},
    {"shapes", "ARG=8x6",
     "The shape of an argument whose type has '?'; may be given several times",
     true},
    {"machine", "h100,link.bandwidth=50GB/s",
     "What to compile for: a preset (generic, cluster, a100, h100, b200), "
     "figures that differ after it, or a file FILE.json; "
     "docs/Reference/machine.md",
     false},
    {"target", "name",
     "cpu (default), cuda, or emulated-cuda: kernels for GPUs, run on the host",
     false},
    {"arch", "name",
     "What code is generated for: native (default), x86-64-v3, a CPU's name; "
     "with kernels for GPUs these: sm_80,sm_90a",
     false},
    {"threads", "N", "Threads of each rank that share its loops (default 1)",
     false},
    {"no-fallback", nullptr, "An op that would be gathered is an error", false},
    {"verify-partition", nullptr,
     "Interpret what the compiler made of the program for all ranks, and "
     "refuse it where it is not what the text says",
     false},
    {"no-raise", nullptr, "Leave attention as the ops it is made of", false},
    {"keep-order", nullptr,
     "Put no dim in zigzag order through the program unless an annotation "
     "says so",
     false},
    {"even-borders", nullptr,
     "Arguments and results are cut in equal shards, or whole where a dim "
     "cannot be",
     false},
    {"partial-results", nullptr,
     "Results that are asked for unreduced leave as each rank's own part, for "
     "callers that combine them",
     false},
    {"device-order", nullptr,
     "Arguments come to the devices that their meshes' device_ids name, and "
     "results leave there; else a mesh's positions are the ranks",
     false, /*isForEngines=*/true},
    {"own", nullptr,
     "This process has written the model's bytecode, and it is read here; "
     "else another process looks at bytecode first, which may be damaged",
     false, /*isForEngines=*/true},
    {"memory-limit", "bytes",
     "Most bytes of temporaries of one rank; where a program needs more, "
     "values "
     "are computed again, and in blocks of rows",
     false, /*isForEngines=*/true},
    {"drop-tokens", nullptr,
     "Tokens among arguments and results are left out; else they are arrays of "
     "no elements",
     false, /*isForEngines=*/true},
    {"layouts", nullptr,
     "Arguments and results lie in memory as their mhlo.layout_mode says, in "
     "which case their dims come in that order; else row by row",
     false, /*isForEngines=*/true},
    {"quick", nullptr,
     "Compile without LLVM's optimisations: in half of the time, to code that "
     "is slower",
     false},
    {"tuned", nullptr,
     "Products are cut as --tune of shard-run has measured on this processor, "
     "where it has; else, and without, by estimates. The bits are the same",
     false},
    {"reproducible", nullptr,
     "The same bits on every mesh, for any cuts and threads; what cannot be "
     "had so is refused",
     false},
    {"exact-sums", nullptr,
     "With --reproducible: the same bits for other annotations of the same "
     "function too; slower",
     false},
    {"kernels", "name",
     "With kernels for GPUs: default: ours, but on GPUs with tcgen05 (sm_100a) "
     "what auto takes of products, convolutions and attention; generated: "
     "ours; auto: cuBLASLt, cuDNN and cuFFT where they are found and that "
     "pays; library: these wherever they can",
     false},
    {"precision", "name",
     "With kernels for GPUs: default: products of f32 whose precision is "
     "DEFAULT may round their factors to 10 bits (tf32), and attention of 16 "
     "bits its weights to 16; tf32: the same, asked for by name; highest: f32 "
     "stays f32, as it does on CPUs whatever is said",
     false},
};

ArrayRef<CompileOption> shardc::compileOptions() { return kOptions; }

/// `mesh` with what says that the sizes of `axes` are open: `x=?`, or `x=4?`.
static std::string withSymbolic(StringRef mesh, StringRef axes) {
  SmallVector<std::string> entries;
  for (StringRef entry : split(mesh, ','))
    if (!entry.trim().empty())
      entries.push_back(entry.str());
  for (StringRef axis : split(axes, ',')) {
    if (axis.trim().empty())
      continue;
    auto known = find_if(entries, [&](StringRef entry) {
      return entry.split('=').first.trim() == axis.trim();
    });
    if (known == entries.end())
      entries.push_back(axis.trim().str() + "=?");
    else
      *known += '?';
  }
  return join(entries, ",");
}

static Error usage(const Twine &message) {
  return toolError(ExitCode::Usage, message);
}

namespace {
/// What was given, by name.
class Given {
public:
  Error add(const GivenOption &option, const OptionReader &reader) {
    StringRef name = option.name;
    if (name == reader.targetName)
      name = "target";
    const CompileOption *known = find_if(
        kOptions, [&](const CompileOption &o) { return name == o.name; });
    if (known == std::end(kOptions))
      return usage("there is no option '" + name + "'; expected one of " +
                   join(map_range(kOptions,
                                  [](const CompileOption &o) {
                                    return std::string(o.name);
                                  }),
                        ", "));
    if (!known->value &&
        !is_contained({"", "true", "false", "1", "0"}, StringRef(option.value)))
      return usage("--" + name + "=" + option.value +
                   ": expected true or false");
    if (!known->repeats)
      erase_if(all, [&](const auto &other) { return other.first == name; });
    all.push_back({name, option.value});
    return Error::success();
  }
  bool has(StringRef name) const {
    return any_of(all, [&](const auto &o) { return o.first == name; });
  }
  StringRef get(StringRef name, StringRef otherwise = "") const {
    for (const auto &[known, value] : all)
      if (known == name)
        return value;
    return otherwise;
  }
  SmallVector<StringRef> list(StringRef name) const {
    SmallVector<StringRef> values;
    for (const auto &[known, value] : all)
      if (known == name)
        values.push_back(value);
    return values;
  }
  bool flag(StringRef name) const {
    return has(name) && !is_contained({"false", "0"}, get(name));
  }
  Error number(StringRef name, int64_t least, int64_t most,
               std::optional<int64_t> &value) const {
    if (!has(name))
      return Error::success();
    int64_t read;
    if (get(name).getAsInteger(10, read) || read < least || read > most)
      return usage("--" + name + "=" + get(name) +
                   ": expected a whole number of at least " + Twine(least) +
                   " and at most " + Twine(most));
    value = read;
    return Error::success();
  }

private:
  SmallVector<std::pair<StringRef, StringRef>> all;
};
} // namespace

Expected<ModelOptions> shardc::readCompileOptions(ArrayRef<GivenOption> list,
                                                  const OptionReader &reader) {
  Given given;
  for (const GivenOption &option : list)
    if (Error error = given.add(option, reader))
      return std::move(error);
  std::string named = "--" + reader.targetName.str();
  StringRef target = given.get("target", "cpu");
  StringRef arch = given.get("arch", "native");
  StringRef kernels = given.get("kernels", StageOptions().kernels);
  StringRef precision = given.get("precision", "default");
  if (!is_contained({"cpu", "cuda", "emulated-cuda"}, target))
    return usage(named + "=" + target +
                 ": expected cpu, cuda or emulated-cuda");
  if (given.has("threads") && target != "cpu")
    return usage("--threads says how kernels of the host are shared, but " +
                 named + "=" + target + " has kernels of its own");
  if (!is_contained({"default", "generated", "auto", "library"}, kernels))
    return usage("--kernels=" + kernels +
                 ": expected default, generated, auto or library");
  if (!is_contained({"default", "highest", "tf32"}, precision))
    return usage("--precision=" + precision +
                 ": expected default, tf32 or highest");
  // What a CPU does is both of the other two.
  for (StringRef name : {"precision", "kernels"})
    if (given.has(name) && target == "cpu" &&
        (name == "kernels" || precision == "tf32"))
      return usage("--" + name + (name == "precision" ? "=tf32" : "") +
                   " is about GPUs: it goes with " + named + "=cuda or " +
                   named + "=emulated-cuda");
  bool reproducible = given.flag("reproducible");
  if (given.flag("exact-sums") && !reproducible)
    return usage("--exact-sums says how --reproducible sums: it goes with "
                 "--reproducible");
  if (reproducible && given.flag("quick"))
    return usage("--reproducible gives the bits of optimised code, and --quick "
                 "leaves LLVM's optimisations out; leave one of the two out");
  if (reproducible && target != "cpu")
    return toolError(ExitCode::Unsupported,
                     "unsupported: --reproducible with " + named + "=" +
                         target +
                         ": kernels for GPUs sum in orders of their own; "
                         "leave one of the two out");
  if (given.flag("tuned") && target != "cpu")
    return usage("--tuned is about kernels of CPUs, but " + named + "=" +
                 target + " has kernels of its own");
  // Whether the arch is for kernels; else it is for the host's code.
  bool namesGpus =
      arch.starts_with("sm_") ||
      (reader.writesKernels && given.has("arch") && target == "cuda");
  if (namesGpus) {
    if (target == "cpu")
      return usage("--arch=" + arch + " is a GPU: it goes with " + named +
                   "=cuda or " + named + "=emulated-cuda");
    if (std::string problem = checkGpuArchs(arch); !problem.empty())
      return usage("--arch=" + arch + ": " + problem);
  }
  StringSet<> symbolic;
  for (StringRef axis : split(given.get("symbolic-mesh"), ','))
    if (!symbolic.insert(axis.trim()).second)
      return usage("--symbolic-mesh=" + given.get("symbolic-mesh") +
                   ": axis '" + axis.trim() + "' is given twice");
  StringSet<> open;
  for (StringRef place : split(given.get("dynamic"), ','))
    if (!open.insert(place.trim()).second)
      return usage("--dynamic=" + given.get("dynamic") + ": '" + place.trim() +
                   "' is given twice");
  if (given.has("symbolic-mesh") && given.flag("even-borders"))
    return usage("--even-borders cuts what divides by the ranks, and "
                 "--symbolic-mesh leaves their number open; leave one of the "
                 "two out");
  if (given.has("mesh"))
    if (Error error = checkMeshOption(given.get("mesh")))
      return std::move(error);
  for (StringRef text : given.list("sizes"))
    if (Error error = checkSizesOption(text))
      return std::move(error);

  ModelOptions options;
  StageOptions &stages = options.stages;
  std::optional<int64_t> threads, memoryLimit;
  if (Error error = joinErrors(
          given.number("ranks", 1, kMaxRanks, options.ranks),
          joinErrors(given.number("threads", 1, 1024, threads),
                     given.number("memory-limit", 1, INT64_MAX, memoryLimit))))
    return std::move(error);
  stages.mesh = withSymbolic(given.get("mesh"), given.get("symbolic-mesh"));
  stages.sizes = join(given.list("sizes"), ";");
  stages.dynamic = given.get("dynamic").str();
  stages.shapes = join(given.list("shapes"), ";");
  if (given.has("machine")) {
    Expected<Machine> figures = readMachine(given.get("machine"));
    if (!figures)
      return figures.takeError();
    stages.machine = printMachine(*figures);
  }
  if (target != "cpu")
    stages.target = target == "cuda" ? Target::Cuda : Target::EmulatedCuda;
  (namesGpus ? stages.gpuArch : stages.arch) = arch;
  stages.threads = threads.value_or(1);
  stages.noFallback = given.flag("no-fallback");
  options.verifyPartition = given.flag("verify-partition");
  options.isOwn = reader.isEngine && given.flag("own");
  options.keepsTokens = reader.isEngine && !given.flag("drop-tokens");
  options.keepsLayouts = given.flag("layouts");
  options.isTuned = given.flag("tuned");
  stages.memoryLimit = memoryLimit.value_or(0);
  stages.noRaise = given.flag("no-raise");
  stages.quick = given.flag("quick");
  stages.keepOrder = given.flag("keep-order");
  stages.evenBorders = given.flag("even-borders");
  stages.partialResults = given.flag("partial-results");
  stages.deviceOrder = given.flag("device-order");
  stages.reproducible = reproducible;
  stages.exactSums = given.flag("exact-sums");
  stages.kernels = kernels;
  stages.tf32 = target != "cpu" && precision != "highest";
  return options;
}
