//===- Program.h - A loaded program and its sites ---------------*- C++ -*-===//
#ifndef SHARDRT_CORE_PROGRAM_H
#define SHARDRT_CORE_PROGRAM_H

#include "Device/Device.h"
#include "shardrt/Sites.h"
#include "shardrt/shardrt.h"
#include <memory>
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
  std::string metadata;
  std::unique_ptr<DeviceCode> device; ///< none for a program of the host
  std::vector<std::string> siteAxes;  ///< "x,y" for each site
  /// Kernels that its code marks.
  struct Marked {
    const char *name, *location;
  };
  std::vector<Marked> marked;

  /// `halo_exchange #3`, or, in full, with axes, name and location.
  std::string describe(int64_t site, bool full) const;
};

} // namespace shardrt

/// The C handle: worlds share what it holds.
struct shardrt_program {
  std::shared_ptr<const shardrt::Program> program;
};

namespace shardrt {

/// Writes `text` to a caller's buffer, cut to its size, with its NUL.
void writeError(char *buffer, size_t size, const std::string &text);

} // namespace shardrt

#endif // SHARDRT_CORE_PROGRAM_H
