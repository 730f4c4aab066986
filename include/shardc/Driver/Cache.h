//===- Cache.h - Compiled programs that are found again ---------*- C++ -*-===//
//
// A directory of files that belong to this user. Each is an artifact: the code,
// what the compiler said beside it, and a seal with the user's signature
// (Seal/Seal.h). Its name is the digest of all that the code follows from,
// which it holds as well. Files appear whole; what is used least recently goes
// when there is too much. docs/Reference/cache.md says what can be relied on.
//
// Nothing that is wrong with it is an error: the program is compiled then.
//
//===----------------------------------------------------------------------===//
#ifndef SHARDC_DRIVER_CACHE_H
#define SHARDC_DRIVER_CACHE_H

#include "shardc/Driver/Model.h"
#include "shardc/Seal/Seal.h"
#include "shardc/Seal/UserKey.h"
#include <mutex>

namespace shardc {

class CompileCache {
public:
  struct Options {
    std::string directory; ///< made when something is stored; empty: no cache
    bool isGiven = false;  ///< somebody asked for it: what is wrong is said
    int64_t mostBytes = int64_t(1) << 30;
    std::string keyFile; ///< as readUserKey's
    std::string problem; ///< with what was given, to be said
  };
  explicit CompileCache(Options options) : options(std::move(options)) {}

  /// SHARDC_CACHE_DIR, where it is set (to nothing: there is none); else the
  /// user's cache directory, where one is known. SHARDC_CACHE_SIZE, "200M",
  /// says how much it may hold.
  static Options defaults();

  /// What is kept of a program.
  struct Entry {
    std::string code; ///< an object file, linked or not
    std::string said; ///< what the compiler said, as the caller prints it
    std::string localText;
    MemoryPlan memory;
    std::string tiles; ///< as CompiledProgram::tiles
  };

  bool isOn() const { return !options.directory.empty(); }
  /// The entry under `key`, if there is one that this user's key signed. Words
  /// on what is wrong go to `problem`.
  std::optional<Entry> find(llvm::StringRef key, std::string &problem) const;
  void store(llvm::StringRef key, const Entry &entry,
             std::string &problem) const;

  /// What was measured here of kernels for `arch`, as resolveArch reads it,
  /// with this version of the compiler: their tiles.
  TileTable findTiles(llvm::StringRef arch, std::string &problem) const;
  /// Adds `tiles`, and takes those of `dropped` away. Whether they are kept.
  bool storeTiles(llvm::StringRef arch, const TileTable &tiles,
                  llvm::ArrayRef<std::string> dropped,
                  std::string &problem) const;

private:
  std::optional<std::vector<std::pair<std::string, Tile>>>
  readTiles(int directory, llvm::StringRef name, std::string &problem) const;
  std::optional<std::string> readSealed(int directory, const std::string &file,
                                        llvm::StringRef name, Seal &seal,
                                        llvm::StringRef consequence,
                                        std::string &problem) const;
  int openDirectory(bool make, std::string &problem) const;
  const UserKey *userKey(std::string &problem) const;
  std::string writeFile(int directory, const std::string &name,
                        llvm::StringRef bytes) const;
  bool isTimeToTrim(int directory, int64_t bytes) const;
  void trim(int directory) const;

  const Options options;
  mutable std::mutex mutex; ///< guards what follows
  mutable std::optional<UserKey> key;
  mutable std::string keyProblem;
  mutable bool isComplained = false; ///< about the directory: once is enough
  mutable bool isSizeSaid = false;   ///< what is wrong with it
};

/// Where `options` ask for what was measured, makes `stages.tiles` of what
/// `cache` knows.
void takeTiles(const CompileCache &cache, ModelOptions &options,
               std::string &problem);

/// What `compileThrough` calls where nothing is found. `said` is what the
/// compiler says, as it is to be shown again.
using CompileFunction = llvm::function_ref<llvm::Expected<CompiledProgram>(
    ModelOptions, std::string &said)>;

/// Whether the code of a program follows from its text and options, so that it
/// can be kept. Limits that a machine gives, libraries that it may have and
/// what a tool makes of passes are not in them.
bool isCacheable(const ModelOptions &options);

/// The digest of all that the program and `said` follow from: the model
/// `options.text` and its name, all options, the processor, the compiler and
/// `form`, what the caller does besides.
std::string cacheKey(llvm::StringRef name, const ModelOptions &options,
                     llvm::StringRef form);

/// What `compile` makes of the model `options.text`, or what `cache` has of it.
/// `isFound` says which; words about the cache itself go to `problem`, lines
/// without an end.
llvm::Expected<CompiledProgram>
compileThrough(const CompileCache &cache, llvm::StringRef name,
               ModelOptions options, llvm::StringRef form,
               CompileFunction compile, std::string &said, bool &isFound,
               std::string &problem);

} // namespace shardc

#endif // SHARDC_DRIVER_CACHE_H
