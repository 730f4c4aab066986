//===- Cache.cpp - Compiled programs that are found again -----------------===//
//
// The directory is opened once a call and looked at as what was opened: nobody
// puts another in its place meanwhile. Files get their names when they are
// whole. Whoever reads takes all bytes before looking at one; who is cut off,
// by a signal or a full disk, leaves a file without a lasting name, which goes
// with the next clearing.
//
//===----------------------------------------------------------------------===//

#include "shardc/Driver/Cache.h"
#include "mlir/IR/Verifier.h"
#include "shardc/Driver/Carried.h"
#include "shardc/Seal/Seal.h"
#include "shardc/Translation/Artifact.h"
#include "shardc/Translation/ObjectFile.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/TargetParser/Host.h"
#include <atomic>
#include <cerrno>
#include <cstring>
#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace llvm;
using namespace shardc;

static constexpr StringLiteral kSuffix = ".program";
static constexpr StringLiteral kUnfinished = ".new";
/// How much was stored since the directory was looked through: the limit then,
/// in eight bytes, and a byte for each KiB.
static constexpr const char *kWritten = "written";
/// The share of the limit that is stored between two looks.
static constexpr int64_t kLooks = 16;
/// Nobody writes for so long.
static constexpr int64_t kMostSeconds = 600;
static constexpr const char *kKeyPart = "beside: cache key";
static constexpr const char *kSaidPart = "beside: diagnostics";
static constexpr const char *kLocalPart = "beside: local view";
static constexpr const char *kMemoryPart = "beside: memory plan";
static constexpr const char *kTilesPart = "beside: tiles";
/// What was measured of kernels.
static constexpr StringLiteral kTilesSuffix = ".tiles";
/// More kernels than that are not kept: those that were measured first go.
static constexpr size_t kMostTiles = 4096;

static void addLine(std::string &problem, const Twine &line) {
  if (!problem.empty())
    problem += '\n';
  problem += line.str();
}

//===----------------------------------------------------------------------===//
// Where it is
//===----------------------------------------------------------------------===//

/// "200M" in bytes; nullopt for what is none.
static std::optional<int64_t> readBytes(StringRef text) {
  int64_t unit = 1, count = 0;
  for (auto [letter, bytes] :
       {std::pair("K", int64_t(1) << 10), std::pair("M", int64_t(1) << 20),
        std::pair("G", int64_t(1) << 30)})
    if (text.consume_back_insensitive(letter)) {
      unit = bytes;
      break;
    }
  if (text.getAsInteger(10, count) || count < 1 || count > INT64_MAX / unit)
    return std::nullopt;
  return count * unit;
}

CompileCache::Options CompileCache::defaults() {
  Options options;
  if (const char *size = std::getenv("SHARDC_CACHE_SIZE"); size && *size) {
    if (std::optional<int64_t> bytes = readBytes(size))
      options.mostBytes = *bytes;
    else
      options.problem = (Twine("SHARDC_CACHE_SIZE=") + size +
                         ": expected bytes, such as 200M; it is 1G")
                            .str();
  }
  if (const char *given = std::getenv("SHARDC_CACHE_DIR")) {
    options.directory = given;
    options.isGiven = true;
    return options;
  }
  auto absolute = [](const char *path) { return path && path[0] == '/'; };
  if (const char *caches = std::getenv("XDG_CACHE_HOME"); absolute(caches))
    options.directory = std::string(caches) + "/shardc";
  else if (const char *home = std::getenv("HOME"); absolute(home))
    options.directory = std::string(home) + "/.cache/shardc";
  return options;
}

/// Opens the directory. -1 where there is none to be used: silently, unless it
/// was asked for or others could have put files there.
int CompileCache::openDirectory(bool make, std::string &problem) const {
  const std::string &path = options.directory;
  {
    std::lock_guard lock(mutex);
    if (!options.problem.empty() && !std::exchange(isSizeSaid, true))
      addLine(problem, options.problem);
  }
  auto refuse = [&](const Twine &why, bool isSaid) {
    std::lock_guard lock(mutex);
    if (isSaid && !std::exchange(isComplained, true))
      addLine(problem, path + ": " + why + "; programs are compiled each time");
    return -1;
  };
  int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
  int directory = open(path.c_str(), flags);
  if (directory < 0 && errno == ENOENT) {
    if (!make)
      return -1;
    for (size_t at = 0; at != std::string::npos;) {
      at = path.find('/', at + 1);
      if (mkdir(path.substr(0, at).c_str(), 0700) != 0 && errno != EEXIST)
        return refuse(Twine("cannot be made: ") + std::strerror(errno),
                      options.isGiven);
    }
    directory = open(path.c_str(), flags);
  }
  if (directory < 0) {
    int why = errno;
    struct stat status;
    if (lstat(path.c_str(), &status) == 0 && S_ISLNK(status.st_mode))
      return refuse("is a symbolic link, which is not followed: name the "
                    "directory itself in SHARDC_CACHE_DIR",
                    true);
    return refuse(Twine("cannot be used: ") + std::strerror(why),
                  options.isGiven);
  }
  struct stat status;
  std::string why;
  if (fstat(directory, &status) != 0)
    why = std::strerror(errno);
  else if (status.st_uid != geteuid())
    why = "belongs to another user";
  else if ((status.st_mode & 022) != 0)
    why = "others may write to it (chmod 700)";
  if (why.empty())
    return directory;
  close(directory);
  return refuse(why, true);
}

/// The key that signs and is trusted; null where there is none: silently,
/// unless key or cache were asked for, or a key is there that is of no use.
const UserKey *CompileCache::userKey(std::string &problem) const {
  std::lock_guard lock(mutex);
  if (!key) {
    key.emplace();
    keyProblem = readUserKey(options.keyFile, /*make=*/true, *key);
    struct stat status;
    bool isSaid =
        key->isGiven || options.isGiven ||
        (!key->path.empty() && lstat(key->path.c_str(), &status) == 0);
    if (!keyProblem.empty() && isSaid)
      addLine(problem, keyProblem + "; programs are compiled each time");
  }
  return keyProblem.empty() ? &*key : nullptr;
}

//===----------------------------------------------------------------------===//
// Entries
//===----------------------------------------------------------------------===//

static std::string printMemory(const MemoryPlan &memory) {
  std::string text;
  raw_string_ostream(text) << json::Value(
      json::Object{{"planned_bytes", memory.plannedBytes},
                   {"repeated", memory.repeated},
                   {"loops", memory.loops},
                   {"added_percent", memory.addedPercent},
                   {"largest", json::fixUTF8(memory.largest)}});
  return text;
}

static bool readMemory(StringRef text, MemoryPlan &memory) {
  Expected<json::Value> value = json::parse(text);
  if (!value) {
    consumeError(value.takeError());
    return false;
  }
  json::Path::Root root;
  json::ObjectMapper map(*value, root);
  return map && map.map("planned_bytes", memory.plannedBytes) &&
         map.map("repeated", memory.repeated) &&
         map.map("loops", memory.loops) &&
         map.map("added_percent", memory.addedPercent) &&
         map.map("largest", memory.largest);
}

/// All of the regular file `name`; nullopt where there is none. Files that
/// others can read or write are somebody else's.
static std::optional<std::string>
readFile(int directory, const std::string &name, std::string &why) {
  int file = openat(directory, name.c_str(),
                    O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  if (file < 0) {
    if (errno != ENOENT)
      why = std::strerror(errno);
    return std::nullopt;
  }
  llvm::scope_exit closed([&] { close(file); });
  struct stat status;
  if (fstat(file, &status) != 0 || !S_ISREG(status.st_mode) ||
      status.st_uid != geteuid() || (status.st_mode & 077) != 0) {
    why = "is not a file of yours alone";
    return std::nullopt;
  }
  std::string bytes(countWorthReading(file, status.st_size), '\0');
  size_t done = 0;
  while (done < bytes.size()) {
    ssize_t count = read(file, bytes.data() + done, bytes.size() - done);
    if (count < 0 && errno == EINTR)
      continue;
    if (count <= 0) {
      why = count < 0 ? std::strerror(errno) : "is cut short";
      return std::nullopt;
    }
    done += count;
  }
  // It was of use now.
  futimens(file, nullptr);
  return bytes;
}

/// The bytes of a part of a file behind its code.
static StringRef partOf(const Seal &seal, const char *name) {
  auto found = seal.beside.find(name);
  return found == seal.beside.end()
             ? StringRef()
             : StringRef(reinterpret_cast<const char *>(found->second.data()),
                         found->second.size());
}

/// All of `file` and its seal, which says that this user's key signed it as
/// `name`; nullopt where there is none. What is wrong, and what follows of it,
/// goes to `problem`.
std::optional<std::string>
CompileCache::readSealed(int directory, const std::string &file, StringRef name,
                         Seal &seal, StringRef consequence,
                         std::string &problem) const {
  std::string why;
  std::optional<std::string> bytes = readFile(directory, file, why);
  auto refuse = [&](const Twine &why) {
    addLine(problem,
            options.directory + "/" + file + ": " + why + "; " + consequence);
    return std::nullopt;
  };
  if (!bytes)
    return why.empty() ? std::nullopt : refuse(why);
  const UserKey *mine = userKey(problem);
  if (!mine)
    return std::nullopt;
  if (std::string damaged = readSeal(crypto::bytesOf(*bytes), seal);
      !damaged.empty())
    return refuse(damaged);
  if (!mine->trusts(seal.signer))
    return refuse("is not signed with your key (" + mine->path + ")");
  if (partOf(seal, kKeyPart) != name)
    return refuse("is of another program");
  return bytes;
}

std::optional<CompileCache::Entry>
CompileCache::find(StringRef name, std::string &problem) const {
  if (!isOn())
    return std::nullopt;
  int directory = openDirectory(/*make=*/false, problem);
  if (directory < 0)
    return std::nullopt;
  llvm::scope_exit closed([&] { close(directory); });
  std::string file = (name + kSuffix).str();
  constexpr StringLiteral again = "the program is compiled again";
  Seal seal;
  std::optional<std::string> bytes =
      readSealed(directory, file, name, seal, again, problem);
  if (!bytes)
    return std::nullopt;
  Entry entry;
  if (!readMemory(partOf(seal, kMemoryPart), entry.memory)) {
    addLine(problem, options.directory + "/" + file +
                         ": is of another program; " + again);
    return std::nullopt;
  }
  entry.said = partOf(seal, kSaidPart).str();
  entry.localText = partOf(seal, kLocalPart).str();
  entry.tiles = partOf(seal, kTilesPart).str();
  bytes->resize(seal.codeBytes);
  entry.code = std::move(*bytes);
  return entry;
}

/// Writes `bytes` under a name that nobody has, then gives it `name`. Returns
/// why it could not.
std::string CompileCache::writeFile(int directory, const std::string &name,
                                    StringRef bytes) const {
  static std::atomic<int64_t> number{0};
  // Of processes of several hosts, some have the same number.
  uint64_t random = 0;
  crypto::fillRandom({reinterpret_cast<uint8_t *>(&random), sizeof(random)});
  std::string made = name + "." + utohexstr(random) + "." +
                     std::to_string(number.fetch_add(1)) + kUnfinished.str();
  int file = openat(directory, made.c_str(),
                    O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (file < 0)
    return std::strerror(errno);
  std::string why;
  while (!bytes.empty() && why.empty()) {
    ssize_t count = write(file, bytes.data(), bytes.size());
    if (count > 0)
      bytes = bytes.drop_front(count);
    else if (count == 0 || errno != EINTR)
      why = std::strerror(count == 0 ? ENOSPC : errno);
  }
  if (close(file) != 0 && why.empty())
    why = std::strerror(errno);
  if (why.empty() &&
      renameat(directory, made.c_str(), directory, name.c_str()) != 0)
    why = std::strerror(errno);
  if (!why.empty())
    unlinkat(directory, made.c_str(), 0);
  return why;
}

void CompileCache::store(StringRef name, const Entry &entry,
                         std::string &problem) const {
  if (!isOn())
    return;
  int directory = openDirectory(/*make=*/true, problem);
  if (directory < 0)
    return;
  llvm::scope_exit closed([&] { close(directory); });
  const UserKey *mine = userKey(problem);
  if (!mine || !mine->secret)
    return;
  std::string memory = printMemory(entry.memory);
  std::string bytes =
      sealArtifact(entry.code,
                   std::vector<SealedPart>{{kKeyPart, name},
                                           {kMemoryPart, memory},
                                           {kSaidPart, entry.said},
                                           {kLocalPart, entry.localText},
                                           {kTilesPart, entry.tiles}},
                   &*mine->secret);
  // One must not drive out all others.
  auto size = static_cast<int64_t>(bytes.size());
  if (size > options.mostBytes / 4)
    return;
  std::string why = writeFile(directory, (name + kSuffix).str(), bytes);
  if (!why.empty()) {
    std::lock_guard lock(mutex);
    if (options.isGiven && !std::exchange(isComplained, true))
      addLine(problem, options.directory + ": cannot be written to: " + why +
                           "; the program is not kept");
  }
  if (!why.empty() || isTimeToTrim(directory, size))
    trim(directory);
}

/// Counts `bytes` bytes that were stored. True where the directory may be too
/// full, which takes as long to find out as there are files: so not each time,
/// and not once for each process either.
bool CompileCache::isTimeToTrim(int directory, int64_t bytes) const {
  int file = openat(directory, kWritten,
                    O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (file < 0)
    return true;
  llvm::scope_exit closed([&] { close(file); });
  constexpr int64_t unit = 1024;
  int64_t limit = 0, units = (bytes + unit - 1) / unit;
  struct stat status = {};
  bool isKnown =
      fstat(file, &status) == 0 && S_ISREG(status.st_mode) &&
      pread(file, &limit, sizeof(limit), 0) == ssize_t(sizeof(limit)) &&
      limit <= options.mostBytes;
  int64_t since = status.st_size - int64_t(sizeof(limit)) + units;
  if (isKnown && since <= options.mostBytes / kLooks / unit) {
    // At the end, whoever else adds to it.
    std::string more(units, '\0');
    return write(file, more.data(), more.size()) != ssize_t(more.size());
  }
  limit = options.mostBytes;
  if (ftruncate(file, 0) == 0)
    (void)!write(file, &limit, sizeof(limit));
  return true;
}

void CompileCache::trim(int directory) const {
  struct File {
    timespec used;
    int64_t bytes;
    std::string name;
  };
  std::vector<File> files;
  int64_t total = 0;
  int list = openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR *entries = list < 0 ? nullptr : fdopendir(list);
  if (!entries) {
    if (list >= 0)
      close(list);
    return;
  }
  timespec now = {};
  clock_gettime(CLOCK_REALTIME, &now);
  while (dirent *item = readdir(entries)) {
    StringRef name = item->d_name;
    bool isUnfinished = name.ends_with(kUnfinished) &&
                        (name.contains((kSuffix + ".").str()) ||
                         name.contains((kTilesSuffix + ".").str()));
    struct stat status;
    // What else is there is not ours to delete.
    if ((!name.ends_with(kSuffix) && !name.ends_with(kTilesSuffix) &&
         !isUnfinished) ||
        fstatat(directory, item->d_name, &status, AT_SYMLINK_NOFOLLOW) != 0 ||
        !S_ISREG(status.st_mode))
      continue;
    if (isUnfinished && now.tv_sec - status.st_mtim.tv_sec > kMostSeconds) {
      unlinkat(directory, item->d_name, 0);
      continue;
    }
    total += status.st_size;
    if (!isUnfinished)
      files.push_back({status.st_mtim, status.st_size, name.str()});
  }
  closedir(entries);
  // What is stored until the next look has room.
  if (total <= options.mostBytes - options.mostBytes / kLooks)
    return;
  sort(files, [](const File &a, const File &b) {
    return std::tie(a.used.tv_sec, a.used.tv_nsec, a.name) <
           std::tie(b.used.tv_sec, b.used.tv_nsec, b.name);
  });
  for (const File &file : files) {
    if (total <= options.mostBytes / 4 * 3)
      break;
    if (unlinkat(directory, file.name.c_str(), 0) == 0)
      total -= file.bytes;
  }
}

//===----------------------------------------------------------------------===//
// Tiles of kernels
//===----------------------------------------------------------------------===//

/// The name under which tiles are kept of kernels for `arch` that were measured
/// on this processor. All tools know the same: their files are not in it.
static std::string tilesName(StringRef arch) {
  CpuArch host = resolveArch("native"), target = resolveArch(arch);
  std::string text =
      join(std::vector<std::string>{"tiles", SHARDC_VERSION,
                                    LLVM_VERSION_STRING, host.cpu,
                                    host.features, target.cpu, target.features},
           "\n");
  return crypto::toHex(crypto::sha256(crypto::bytesOf(text)));
}

/// What a file has, the first measured first; nullopt where there is none, or
/// it is damaged.
std::optional<std::vector<std::pair<std::string, Tile>>>
CompileCache::readTiles(int directory, StringRef name,
                        std::string &problem) const {
  Seal seal;
  std::string file = (name + kTilesSuffix).str();
  constexpr StringLiteral consequence = "estimates decide how kernels are cut";
  std::optional<std::string> bytes =
      readSealed(directory, file, name, seal, consequence, problem);
  if (!bytes)
    return std::nullopt;
  std::vector<std::pair<std::string, Tile>> list;
  for (StringRef entry : split(partOf(seal, kTilesPart), ';')) {
    std::optional<TileTable> one = parseTiles(entry);
    if (!one) {
      addLine(problem, options.directory + "/" + file +
                           ": holds what is no tile; " + consequence);
      return std::nullopt;
    }
    list.insert(list.end(), one->begin(), one->end());
  }
  return list;
}

TileTable CompileCache::findTiles(StringRef arch, std::string &problem) const {
  int directory = isOn() ? openDirectory(/*make=*/false, problem) : -1;
  if (directory < 0)
    return {};
  llvm::scope_exit closed([&] { close(directory); });
  auto list = readTiles(directory, tilesName(arch), problem);
  return list ? TileTable(list->begin(), list->end()) : TileTable();
}

bool CompileCache::storeTiles(StringRef arch, const TileTable &tiles,
                              ArrayRef<std::string> dropped,
                              std::string &problem) const {
  int directory = isOn() ? openDirectory(/*make=*/true, problem) : -1;
  if (directory < 0)
    return false;
  llvm::scope_exit closed([&] { close(directory); });
  const UserKey *mine = userKey(problem);
  if (!mine || !mine->secret)
    return false;
  // One at a time, so that nobody loses what another adds. A file system
  // without locks has the last one's.
  while (flock(directory, LOCK_EX) != 0 && errno == EINTR)
    ;
  std::string name = tilesName(arch);
  auto list = readTiles(directory, name, problem)
                  .value_or(std::vector<std::pair<std::string, Tile>>());
  erase_if(list, [&](const auto &entry) {
    return tiles.count(entry.first) || is_contained(dropped, entry.first);
  });
  list.insert(list.end(), tiles.begin(), tiles.end());
  if (list.size() > kMostTiles)
    list.erase(list.begin(), list.end() - kMostTiles);
  std::string text =
      join(map_range(list,
                     [](const auto &entry) {
                       return printTiles({{entry.first, entry.second}});
                     }),
           ";");
  std::string why = writeFile(
      directory, name + kTilesSuffix.str(),
      sealArtifact(
          "", std::vector<SealedPart>{{kKeyPart, name}, {kTilesPart, text}},
          &*mine->secret));
  if (!why.empty())
    addLine(problem, options.directory + ": cannot be written to: " + why +
                         "; what was measured is not kept");
  return why.empty();
}

void shardc::takeTiles(const CompileCache &cache, ModelOptions &options,
                       std::string &problem) {
  if (!std::exchange(options.isTuned, false))
    return;
  if (!cache.isOn()) {
    addLine(problem, "there is none, so nothing is known that was measured; "
                     "estimates decide how kernels are cut");
    return;
  }
  options.stages.tiles =
      printTiles(cache.findTiles(options.stages.arch, problem));
}

//===----------------------------------------------------------------------===//
// What a program follows from
//===----------------------------------------------------------------------===//

/// Size and time of a file: what is built or installed anew has others.
static std::string describeFile(const char *path) {
  struct stat file;
  if (!path || stat(path, &file) != 0)
    return "?";
  return (Twine(file.st_size) + " " + Twine(file.st_mtim.tv_sec) + "." +
          Twine(file.st_mtim.tv_nsec))
      .str();
}

/// The same of the file that `function` was loaded from.
template <typename Function>
static std::string describeFileOf(Function *function) {
  Dl_info here;
  if (!dladdr(reinterpret_cast<void *>(function), &here))
    return "?";
  // Of the program itself it is the word that it was called by.
  bool isProgram = StringRef(here.dli_fname) == program_invocation_name;
  return describeFile(isProgram ? "/proc/self/exe" : here.dli_fname);
}

/// The compiler, with LLVM and MLIR, and the processor.
static const std::string &thisCompiler() {
  static const std::string text = [] {
    CpuArch host = resolveArch("native");
    return join(
        std::vector<std::string>{
            SHARDC_VERSION, LLVM_VERSION_STRING, describeFileOf(&cacheKey),
            describeFileOf(&sys::getHostCPUName),
            describeFileOf(
                static_cast<LogicalResult (*)(mlir::Operation *, bool)>(
                    &mlir::verify)),
            host.cpu, host.features},
        "\n");
  }();
  return text;
}

bool shardc::isCacheable(const ModelOptions &options) {
  const StageOptions &stages = options.stages;
  return !stages.memoryLimitOf && !stages.instrument && !stages.explain &&
         !stages.inspectLocal && !stages.listTiles &&
         is_contained({"default", "generated"}, stages.kernels);
}

std::string shardc::cacheKey(StringRef name, const ModelOptions &options,
                             StringRef form) {
  crypto::Sha256 hash;
  auto add = [&](StringRef part) {
    uint64_t size = part.size();
    hash.update({reinterpret_cast<const uint8_t *>(&size), sizeof(size)});
    hash.update(crypto::bytesOf(part));
  };
  add(thisCompiler());
  if (options.stages.target == Target::Cuda) {
    CudaToolkit toolkit = findCudaToolkit();
    for (const std::string &path :
         {toolkit.ptxas, toolkit.fatbinary, toolkit.libdevice})
      add(path + " " + describeFile(path.c_str()));
  }
  add(printOptions(options, name));
  add(options.verifyPartition ? "verified" : "");
  add(options.isOwn ? "own" : "");
  add(options.isForeign ? "foreign" : "");
  add(options.stages.localText ? "local" : "");
  add(form);
  add(*options.text);
  return crypto::toHex(hash.finish());
}

Expected<CompiledProgram>
shardc::compileThrough(const CompileCache &cache, StringRef name,
                       ModelOptions options, StringRef form,
                       CompileFunction compile, std::string &said,
                       bool &isFound, std::string &problem) {
  isFound = false;
  takeTiles(cache, options, problem);
  if (!cache.isOn() || !isCacheable(options))
    return compile(std::move(options), said);
  std::string key = cacheKey(name, options, form);
  if (std::optional<CompileCache::Entry> entry = cache.find(key, problem)) {
    Expected<ProgramMetadata> metadata = readArtifactMetadata(entry->code);
    if (metadata) {
      isFound = true;
      CompiledProgram program;
      program.metadata = std::move(*metadata);
      program.memory = std::move(entry->memory);
      program.object = std::move(entry->code);
      program.model = std::move(*options.text);
      program.localText = std::move(entry->localText);
      program.tiles = std::move(entry->tiles);
      said = std::move(entry->said);
      return program;
    }
    addLine(problem, "a program that was found is compiled again: " +
                         toString(metadata.takeError()));
  }
  Expected<CompiledProgram> program = compile(std::move(options), said);
  if (program)
    cache.store(key,
                {program->object, said, program->localText, program->memory,
                 program->tiles},
                problem);
  return program;
}
