//===- Program.h - A loaded program and its sites ---------------*- C++ -*-===//
#ifndef SHARDRT_PROGRAM_PROGRAM_H
#define SHARDRT_PROGRAM_PROGRAM_H

#include "Device/Device.h"
#include "shardrt/Formulas.h"
#include "shardrt/Sites.h"
#include "shardrt/shardrt.h"
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace shardrt {

/// Closes a shared object.
struct CloseLibrary {
  void operator()(void *handle) const;
};

/// The file that a shared object was opened as. Open as long as that is: the
/// system's loader takes another file under the same number for the same one.
struct OpenFile {
  OpenFile() = default;
  OpenFile(const OpenFile &) = delete;
  OpenFile &operator=(const OpenFile &) = delete;
  ~OpenFile();
  int descriptor = -1;
};

struct Program {
  OpenFile file;
  std::unique_ptr<void, CloseLibrary> library; ///< none for one in memory
  shardrt_main_fn main = nullptr;
  SiteTable table;
  uint64_t sitesHash = 0; ///< of the words and strings that `table` was read of
  std::string metadata;
  std::shared_ptr<DeviceCode> device; ///< none for a program of the host
  std::vector<std::string> siteAxes;  ///< "x,y" for each site
  /// Kernels that its code marks.
  struct Marked {
    const char *name, *location;
  };
  std::vector<Marked> marked;
  /// Of a program that is bound to sizes: its formulas, what the lookups among
  /// them say, and the one that it was bound from, which holds its code.
  std::shared_ptr<const Formulas> formulas;
  /// What it is bound to: of each dim whose sizes are given its indices.
  std::vector<std::vector<int64_t>> given;
  std::vector<shardc::BoundTable> numbers;                  ///< by lookup
  std::vector<std::vector<shardc::BoundTable>> bufferSizes; ///< of the arena
  std::shared_ptr<const Program> origin;
  std::vector<std::vector<int64_t>> borders; ///< of its metadata
  std::vector<int64_t> extents;              ///< that were open, as bound

  /// Its metadata, with what follows from what it is bound to: written when
  /// somebody asks for it, as it is about all ranks.
  const std::string &describeValues() const;

  /// False where extents are still open: it has to be bound before it runs.
  bool isComplete() const {
    return origin || !formulas || formulas->extents.empty();
  }

  /// `halo_exchange #3`, or, in full, with axes, name and location.
  std::string describe(int64_t site, bool full) const;

private:
  mutable std::once_flag described;
  mutable std::string ofBinding;
};

} // namespace shardrt

/// The C handle: worlds share what it holds.
struct shardrt_program {
  std::shared_ptr<const shardrt::Program> program;
};

namespace shardrt {

/// `program`, which has formulas, with the numbers that they say where dims of
/// arguments arrive cut as `given` says; balanced where it says nothing; on a
/// mesh with the axis sizes `mesh`. Or nothing, and why in `status` and
/// `error`.
std::shared_ptr<Program> bindProgram(
    std::shared_ptr<const Program> program, std::span<const int64_t> mesh,
    const std::map<std::pair<int64_t, int64_t>, std::vector<int64_t>> &given,
    int &status, std::string &error);

/// What `program` is bound to, as words: as many for every binding.
std::vector<int64_t> wordsOfBinding(const Program &program);
/// Where these words of ranks, which are to run `program` together, differ:
/// argument, dim, and the sizes of ranks. Empty where they agree.
std::string compareBindings(const Program &program,
                            std::span<const std::vector<int64_t>> byRank);

/// What `program`, which is bound, says for `rank`: by lookup, then the offsets
/// of its arena's buffers, then the arena's bytes. Nothing where these are more
/// than there can be.
std::optional<std::vector<int64_t>> numbersOfRank(const Program &program,
                                                  int64_t rank);

/// Whether the places of `formulas` are there in its metadata; an error, or an
/// empty string.
std::string checkBorders(const Program &program);

/// Reads sites into a program; an error, or an empty string. Sites are those of
/// one binding where it has formulas; of open extents they have placeholders,
/// whose product is no number of elements.
std::string checkSites(Program &program, bool hasPlaceholders = false);

/// FNV-1a of `bytes` bytes, which continues `hash`. It tells programs apart
/// that were mixed up, not those that somebody forged.
uint64_t hashBytes(const void *data, size_t bytes,
                   uint64_t hash = 14695981039346656037u);

} // namespace shardrt

#endif // SHARDRT_PROGRAM_PROGRAM_H
