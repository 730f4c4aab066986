//===- Program.cpp - Loading programs -------------------------------------===//
//
// All that a site table can get wrong is refused here, so that the ranks need
// not look again.
//
//===----------------------------------------------------------------------===//

#include "Program/Program.h"
#include "Host/WriteError.h"
#include "Program/CheckSite.h"
#include "shardc/Seal/Interface.h"
#include "shardc/Seal/PrivateFile.h"
#include "shardc/Seal/Processor.h"
#include "shardc/Seal/Seal.h"
#include "shardc/Seal/UserKey.h"
#include "shardrt/SiteWords.h"
#include "shardrt/Symbols.h"
#include "shardrt/TensorMap.h"
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <dlfcn.h>
#include <fcntl.h>
#include <functional>
#include <new>
#include <unistd.h>

using namespace shardrt;

void CloseLibrary::operator()(void *handle) const { dlclose(handle); }

OpenFile::~OpenFile() {
  if (descriptor >= 0)
    close(descriptor);
}

std::string Program::describe(int64_t site, bool full) const {
  if (site < 0 || site >= static_cast<int64_t>(table.sites.size()))
    return "no collective";
  const Site &info = table.sites[site];
  std::string text = info.report + " #" + std::to_string(site);
  if (!full)
    return text;
  if (!siteAxes[site].empty())
    text += " along \"" + siteAxes[site] + "\"";
  if (!info.name.empty())
    text += " for " + info.name;
  if (!info.location.empty())
    text += " at " + info.location;
  return text;
}

/// The names of the axes that `site` goes along, in the mesh's order.
static std::string axesOf(const Site &site, const SiteTable &table) {
  std::vector<int64_t> axes = site.groupAxes;
  for (const shardc::DimExchange &dim : site.exchange.dims)
    axes.insert(axes.end(), dim.axes.begin(), dim.axes.end());
  for (const shardc::DimExchange &dim : site.rows.dims)
    axes.insert(axes.end(), dim.axes.begin(), dim.axes.end());
  std::sort(axes.begin(), axes.end());
  axes.erase(std::unique(axes.begin(), axes.end()), axes.end());
  std::string text;
  for (int64_t axis : axes) {
    const std::string &name = table.axisNames[axis];
    text += (text.empty() ? "" : ",") +
            (name.empty() ? std::to_string(axis) : name);
  }
  return text;
}

/// The address of a symbol of a program's code; null if there is none.
using FindSymbol = std::function<void *(const char *)>;

std::string shardrt::checkSites(Program &program, bool hasPlaceholders) {
  program.siteAxes.clear();
  for (size_t i = 0; i < program.table.sites.size(); ++i) {
    Site &site = program.table.sites[i];
    if (site.report.empty())
      site.report = site.kind == SiteKind::Exchange      ? "exchange"
                    : site.kind == SiteKind::AllReduce   ? "all_reduce"
                    : site.kind == SiteKind::RowPlan     ? "row_plan"
                    : site.kind == SiteKind::GatherRows  ? "gather_rows"
                    : site.kind == SiteKind::ScatterRows ? "scatter_rows"
                                                         : "reduce_scatter";
    program.siteAxes.push_back(axesOf(site, program.table));
    if (std::string error = checkSite(site, hasPlaceholders); !error.empty())
      return "site " + std::to_string(i) + ": " +
             program.describe(static_cast<int64_t>(i), true) + ": " + error;
  }
  return {};
}

/// What is behind `key` in metadata that has
/// "arch":"native;cuda:sm_80,sm_90a;toolkit:13.0"; empty where it has no `key`.
static std::string archField(const std::string &metadata,
                             const std::string &key) {
  size_t begin = metadata.find(key);
  if (begin == std::string::npos)
    return {};
  begin += key.size();
  std::string field;
  for (char c :
       metadata.substr(begin, metadata.find_first_of("\";", begin) - begin))
    field += c == ',' ? std::string(", ") : std::string(1, c);
  return field;
}

/// "sm_90a" of PTX that says `.target sm_90a`.
static std::string targetOf(std::string_view ptx) {
  constexpr std::string_view key = ".target ";
  size_t begin = ptx.find(key);
  if (begin == std::string_view::npos)
    return {};
  begin += key.size();
  return std::string(
      ptx.substr(begin, ptx.find_first_of(", \n", begin) - begin));
}

uint64_t shardrt::hashBytes(const void *data, size_t bytes, uint64_t hash) {
  auto *at = static_cast<const unsigned char *>(data);
  for (size_t i = 0; i < bytes; ++i)
    hash = (hash ^ at[i]) * 1099511628211u;
  return hash;
}

/// Reads the table of sites; an error, or an empty string.
static std::string readSites(Program &program, std::span<const int64_t> words,
                             std::string_view strings) {
  program.sitesHash = hashBytes(strings.data(), strings.size(),
                                hashBytes(words.data(), words.size_bytes()));
  return decodeSites(words, strings, program.table);
}

/// Reads what the artifact says about kernels, if it has any; an error, or an
/// empty string.
static std::string readKernels(Program &program, const FindSymbol &symbol) {
  auto *table = static_cast<const int64_t *>(symbol("shardc_kernel_table"));
  if (!table)
    return {};
  auto *names = static_cast<const char *>(symbol("shardc_kernel_names"));
  if (table[0] != 2)
    return "its kernels are of format " + std::to_string(table[0]) +
           ", this build reads 2: compile the program again";
  if (!names || table[1] < 0 || table[1] > (int64_t(1) << 24))
    return "its table of kernels makes no sense";
  auto code = std::make_unique<DeviceCode>();
  for (int64_t i = 0; i < table[1]; ++i) {
    DeviceCode::Kernel kernel;
    const int64_t *words = table + 2 + 4 * i;
    kernel.threads = words[0];
    kernel.sharedBytes = words[1];
    kernel.maps = words[2];
    kernel.flags = words[3];
    if (kernel.threads < 1 || kernel.threads > 1024)
      return "kernel " + std::to_string(i) + " has blocks of " +
             std::to_string(kernel.threads) + " threads";
    if (kernel.sharedBytes < 0 || kernel.sharedBytes > 1 << 20 ||
        kernel.maps < 0 || kernel.maps > SHARDRT_MAP_MOST)
      return "kernel " + std::to_string(i) + " makes no sense";
    kernel.name = names;
    names += std::strlen(names) + 1;
    kernel.location = names;
    names += std::strlen(names) + 1;
    code->kernels.push_back(kernel);
  }
  code->image = symbol("shardc_device_image");
  code->archs = archField(program.metadata, ";cuda:");
  code->toolkit = archField(program.metadata, ";toolkit:");
  if (auto *text = static_cast<const char *>(symbol("shardc_device_ptx")))
    for (; *text; text += std::strlen(text) + 1)
      code->texts.push_back({targetOf(text), text});
  if (auto *bytes =
          static_cast<const int64_t *>(symbol("shardc_device_image_length")))
    code->imageBytes = *bytes;
  code->functions = static_cast<const shardrt_emulated_kernel *>(
      symbol("shardc_kernel_functions"));
  code->traits = static_cast<const int64_t *>(symbol("shardc_kernel_traits"));
  if (code->functions ? !code->traits : !code->image || code->imageBytes < 1)
    return "it names kernels but holds none";
  program.device = std::move(code);
  return {};
}

/// Reads the names of the kernels that a program compiled for traces marks.
static std::string readMarked(Program &program, const FindSymbol &symbol) {
  auto *count =
      static_cast<const int64_t *>(symbol("shardc_traced_kernels_length"));
  auto *names = static_cast<const char *>(symbol("shardc_traced_kernels"));
  if (!count)
    return {};
  if (!names || *count < 0 || *count > (int64_t(1) << 24))
    return "its table of traced kernels makes no sense";
  for (int64_t i = 0; i < *count; ++i) {
    const char *location = names + std::strlen(names) + 1;
    program.marked.push_back({names, location});
    names = location + std::strlen(location) + 1;
  }
  return {};
}

/// Runs `body`, which may throw, behind the C ABI.
template <typename Body>
static int guarded(char *error, size_t errorSize, Body body) {
  try {
    return body();
  } catch (const std::exception &) {
    writeError(error, errorSize, "out of memory");
    return SHARDRT_MEMORY;
  }
}

/// Reads what the code of `loaded` holds. `name` is for messages.
static int readCode(std::shared_ptr<Program> loaded, const std::string &name,
                    const FindSymbol &symbol, shardrt_program **program,
                    char *error, size_t errorSize) {
  auto refuse = [&](int status, const std::string &why) {
    writeError(error, errorSize, name + ": " + why);
    return status;
  };
  auto *sites = static_cast<const int64_t *>(symbol("shardc_sites"));
  auto *sitesLength =
      static_cast<const int64_t *>(symbol("shardc_sites_length"));
  auto *strings = static_cast<const char *>(symbol("shardc_strings"));
  auto *stringsLength =
      static_cast<const int64_t *>(symbol("shardc_strings_length"));
  auto *metadata = static_cast<const char *>(symbol("shardc_metadata"));
  loaded->main = reinterpret_cast<shardrt_main_fn>(symbol("shardc_main"));
  if (!loaded->main || !sites || !sitesLength || !strings || !stringsLength ||
      !metadata)
    return refuse(SHARDRT_ARTIFACT,
                  "is no artifact of shardc: it does not export shardc_main, "
                  "shardc_sites, shardc_strings and shardc_metadata");
  constexpr int64_t limit = int64_t(1) << 40;
  if (*sitesLength < 0 || *sitesLength > limit || *stringsLength < 0 ||
      *stringsLength > limit)
    return refuse(SHARDRT_ARTIFACT, "lengths of its tables make no sense");
  loaded->metadata = metadata;
  if (std::string why = shardc::checkInterface(metadata); !why.empty())
    return refuse(SHARDRT_ARTIFACT, why + ": compile the program again");
  if (std::string why = shardc::checkProcessor(metadata); !why.empty())
    return refuse(SHARDRT_ARTIFACT, why + ": compile it here, or for less");
  std::string why =
      readSites(*loaded, {sites, static_cast<size_t>(*sitesLength)},
                {strings, static_cast<size_t>(*stringsLength)});
  if (why.empty())
    why = readKernels(*loaded, symbol);
  if (why.empty())
    why = readMarked(*loaded, symbol);
  auto *formulas = static_cast<const int64_t *>(symbol("shardc_formulas"));
  auto *formulasLength =
      static_cast<const int64_t *>(symbol("shardc_formulas_length"));
  if (why.empty() && formulas && formulasLength) {
    if (*formulasLength < 0 || *formulasLength > limit)
      return refuse(SHARDRT_ARTIFACT, "lengths of its tables make no sense");
    auto read = std::make_shared<Formulas>();
    why = decodeFormulas({formulas, static_cast<size_t>(*formulasLength)},
                         static_cast<int64_t>(loaded->table.meshShape.size()),
                         *read);
    loaded->formulas = std::move(read);
  }
  bool hasPlaceholders = loaded->formulas && !loaded->formulas->extents.empty();
  if (why.empty())
    why = checkSites(*loaded, hasPlaceholders);
  if (why.empty() && loaded->formulas) {
    // Extents have no default.
    if (int status = SHARDRT_OK; !hasPlaceholders)
      loaded = bindProgram(loaded, loaded->table.meshShape, {}, status, why);
    if (why.empty() && loaded->isComplete())
      why = checkBorders(*loaded);
  }
  if (!why.empty())
    return refuse(SHARDRT_ARTIFACT, why);
  *program = new shardrt_program{std::move(loaded)};
  return SHARDRT_OK;
}

/// Maps the artifact in the file `descriptor`, which it owns, and reads what
/// it holds. `name` is for messages.
static int loadCode(const std::string &name, int descriptor,
                    shardrt_program **program, char *error, size_t errorSize) {
  auto loaded = std::make_shared<Program>();
  loaded->file.descriptor = descriptor;
  auto refuse = [&](int status, const std::string &why) {
    writeError(error, errorSize, name + ": " + why);
    return status;
  };
  std::string path = "/proc/self/fd/" + std::to_string(descriptor);
  loaded->library.reset(dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL));
  if (!loaded->library) {
    const char *why = dlerror();
    return refuse(SHARDRT_ARTIFACT, why ? why : "cannot be opened");
  }
  return readCode(
      loaded, name,
      [&](const char *symbol) { return dlsym(loaded->library.get(), symbol); },
      program, error, errorSize);
}

/// Loads the artifact at `path` once its digests hold and, unless `trusted`,
/// its signature is of the user's key.
static int loadArtifact(const char *path, bool trusted,
                        shardrt_program **program, char *error,
                        size_t errorSize) {
  return guarded(error, errorSize, [&]() -> int {
    if (!path || !program) {
      writeError(error, errorSize, "a NULL argument");
      return SHARDRT_USAGE;
    }
    auto refuse = [&](int status, const std::string &why) {
      writeError(error, errorSize, std::string(path) + ": " + why);
      return status;
    };
    shardc::PrivateFile file;
    if (std::string why = file.readArtifact(path); !why.empty())
      return refuse(SHARDRT_IO, why);
    shardc::Seal seal;
    if (std::string why = shardc::readSeal(file.bytes(), seal); !why.empty())
      return refuse(SHARDRT_ARTIFACT, "refused: " + why);
    if (!trusted) {
      shardc::UserKey key;
      std::string why = shardc::readUserKey("", /*make=*/false, key);
      if (!key.trusts(seal.signer))
        return refuse(
            SHARDRT_ARTIFACT,
            "refused: its machine code is not signed with your key (" +
                (why.empty() ? key.path : why) + "); shard-translate " + path +
                " -o NEW compiles it again from the program that it carries, "
                "and signs that");
    }
    // The type in the ELF header: 1 is what a compiler leaves to a linker.
    if (file.bytes().size() > 16 && file.bytes()[16] == 1)
      return refuse(SHARDRT_ARTIFACT,
                    std::string("refused: its machine code is not linked; "
                                "shard-translate ") +
                        path + " -o NEW links it");
    return loadCode(path, file.release(), program, error, errorSize);
  });
}

extern "C" {

int shardrt_program_create(shardrt_main_fn main, const int64_t *sites,
                           int64_t sitesLength, const char *strings,
                           int64_t stringsLength, const char *metadata,
                           shardrt_program **program, char *error,
                           size_t errorSize) {
  return guarded(error, errorSize, [&]() -> int {
    if (!main || !sites || sitesLength < 0 || stringsLength < 0 ||
        (stringsLength > 0 && !strings) || !program) {
      writeError(error, errorSize, "a NULL or negative argument");
      return SHARDRT_USAGE;
    }
    auto loaded = std::make_shared<Program>();
    loaded->main = main;
    loaded->metadata = metadata ? metadata : "";
    std::string why =
        readSites(*loaded, {sites, static_cast<size_t>(sitesLength)},
                  {strings ? strings : "", static_cast<size_t>(stringsLength)});
    if (why.empty())
      why = checkSites(*loaded);
    if (!why.empty()) {
      writeError(error, errorSize, why);
      return SHARDRT_ARTIFACT;
    }
    *program = new shardrt_program{std::move(loaded)};
    return SHARDRT_OK;
  });
}

int shardrt_program_create_from(shardrt_find_fn find, void *user,
                                shardrt_program **program, char *error,
                                size_t errorSize) {
  return guarded(error, errorSize, [&]() -> int {
    if (!find || !program) {
      writeError(error, errorSize, "a NULL argument");
      return SHARDRT_USAGE;
    }
    return readCode(
        std::make_shared<Program>(), "the program",
        [&](const char *symbol) { return find(user, symbol); }, program, error,
        errorSize);
  });
}

int shardrt_program_load(const char *path, shardrt_program **program,
                         char *error, size_t errorSize) {
  return loadArtifact(path, /*trusted=*/false, program, error, errorSize);
}

int shardrt_program_load_trusted(const char *path, shardrt_program **program,
                                 char *error, size_t errorSize) {
  return loadArtifact(path, /*trusted=*/true, program, error, errorSize);
}

int shardrt_program_load_checked(const char *name, int descriptor,
                                 shardrt_program **program, char *error,
                                 size_t errorSize) {
  return guarded(error, errorSize, [&]() -> int {
    if (!name || !program || descriptor < 0) {
      writeError(error, errorSize, "a NULL or negative argument");
      return SHARDRT_USAGE;
    }
    int own = fcntl(descriptor, F_DUPFD_CLOEXEC, 3);
    if (own < 0) {
      writeError(error, errorSize,
                 std::string(name) + ": " + std::strerror(errno));
      return SHARDRT_IO;
    }
    return loadCode(name, own, program, error, errorSize);
  });
}

int shardrt_program_bind(const shardrt_program *program,
                         const shardrt_given *given, int64_t count,
                         shardrt_program **bound, char *error,
                         size_t errorSize) {
  if (!program) {
    writeError(error, errorSize, "a NULL or negative argument");
    return SHARDRT_USAGE;
  }
  const std::vector<int64_t> &mesh = program->program->table.meshShape;
  return shardrt_program_bind_mesh(program, mesh.data(),
                                   static_cast<int64_t>(mesh.size()), given,
                                   count, bound, error, errorSize);
}

int shardrt_program_bind_mesh(const shardrt_program *program,
                              const int64_t *mesh, int64_t numAxes,
                              const shardrt_given *given, int64_t count,
                              shardrt_program **bound, char *error,
                              size_t errorSize) {
  return guarded(error, errorSize, [&]() -> int {
    if (!program || count < 0 || (count > 0 && !given) || !bound ||
        numAxes < 0 || (numAxes > 0 && !mesh)) {
      writeError(error, errorSize, "a NULL or negative argument");
      return SHARDRT_USAGE;
    }
    std::map<std::pair<int64_t, int64_t>, std::vector<int64_t>> boundaries;
    for (int64_t i = 0; i < count; ++i) {
      if (!given[i].sizes || given[i].shards < 1) {
        writeError(error, errorSize, "a NULL or negative argument");
        return SHARDRT_USAGE;
      }
      std::vector<int64_t> &indices =
          boundaries[{given[i].argument, given[i].dim}];
      if (!indices.empty()) {
        writeError(error, errorSize,
                   "argument " + std::to_string(given[i].argument) + ", dim " +
                       std::to_string(given[i].dim) +
                       ": its sizes are given twice");
        return SHARDRT_USAGE;
      }
      indices.assign(1, 0);
      for (int64_t shard = 0; shard < given[i].shards; ++shard) {
        int64_t next = 0;
        if (given[i].sizes[shard] < 0 ||
            __builtin_add_overflow(indices.back(), given[i].sizes[shard],
                                   &next)) {
          writeError(error, errorSize,
                     "argument " + std::to_string(given[i].argument) +
                         ", dim " + std::to_string(given[i].dim) + ": size " +
                         std::to_string(given[i].sizes[shard]) + " of shard " +
                         std::to_string(shard) +
                         (given[i].sizes[shard] < 0
                              ? " is negative"
                              : " makes the dim larger than 2^63"));
          return SHARDRT_USAGE;
        }
        indices.push_back(next);
      }
    }
    std::string why;
    int status = SHARDRT_OK;
    std::shared_ptr<Program> result =
        bindProgram(program->program, {mesh, static_cast<size_t>(numAxes)},
                    boundaries, status, why);
    if (!result) {
      writeError(error, errorSize, why);
      return status;
    }
    *bound = new shardrt_program{std::move(result)};
    return SHARDRT_OK;
  });
}

void shardrt_program_destroy(shardrt_program *program) { delete program; }

const char *shardrt_program_metadata(const shardrt_program *program) {
  if (!program)
    return "";
  try {
    return program->program->describeValues().c_str();
  } catch (const std::exception &) {
    return ""; // No memory for it.
  }
}

int64_t shardrt_program_num_ranks(const shardrt_program *program) {
  return program ? program->program->table.numRanks() : 0;
}

int64_t shardrt_program_num_mesh_axes(const shardrt_program *program) {
  if (!program)
    return 0;
  return static_cast<int64_t>(program->program->table.meshShape.size());
}

int64_t shardrt_program_mesh_axis_size(const shardrt_program *program,
                                       int64_t axis) {
  if (axis < 0 || axis >= shardrt_program_num_mesh_axes(program))
    return 0;
  return program->program->table.meshShape[axis];
}

int shardrt_program_mesh_axis_is_open(const shardrt_program *program,
                                      int64_t axis) {
  if (!program)
    return 0;
  const std::shared_ptr<const Formulas> &formulas = program->program->formulas;
  return formulas &&
         std::find(formulas->symbolicAxes.begin(), formulas->symbolicAxes.end(),
                   axis) != formulas->symbolicAxes.end();
}

const char *shardrt_program_mesh_axis_name(const shardrt_program *program,
                                           int64_t axis) {
  if (axis < 0 || axis >= shardrt_program_num_mesh_axes(program))
    return "";
  return program->program->table.axisNames[axis].c_str();
}

int64_t shardrt_program_num_sites(const shardrt_program *program) {
  if (!program)
    return 0;
  return static_cast<int64_t>(program->program->table.sites.size());
}

int shardrt_program_site_info(const shardrt_program *program, int64_t site,
                              shardrt_site_info *info) {
  if (!info || site < 0 || site >= shardrt_program_num_sites(program))
    return SHARDRT_USAGE;
  const Program &loaded = *program->program;
  const Site &from = loaded.table.sites[site];
  // Names of types and reductions are literals, hence end with NUL.
  *info = {from.report.c_str(),
           loaded.siteAxes[site].c_str(),
           elementTypeName(from.type).data(),
           reductionName(from.reduction).data(),
           from.name.c_str(),
           from.location.c_str()};
  return SHARDRT_OK;
}

int64_t shardrt_program_num_kernels(const shardrt_program *program) {
  if (!program)
    return 0;
  const Program &loaded = *program->program;
  return static_cast<int64_t>(loaded.device ? loaded.device->kernels.size()
                                            : loaded.marked.size());
}

int shardrt_program_kernel_info(const shardrt_program *program, int64_t kernel,
                                const char **name, const char **location) {
  if (!name || !location || kernel < 0 ||
      kernel >= shardrt_program_num_kernels(program))
    return SHARDRT_USAGE;
  const Program &loaded = *program->program;
  if (loaded.device) {
    *name = loaded.device->kernels[kernel].name;
    *location = loaded.device->kernels[kernel].location;
  } else {
    *name = loaded.marked[kernel].name;
    *location = loaded.marked[kernel].location;
  }
  return SHARDRT_OK;
}

const char *shardrt_version(void) { return SHARDC_VERSION; }

} // extern "C"
