//===- MemoryFile.h - Files without a name ----------------------*- C++ -*-===//
#ifndef SHARDC_SUPPORT_MEMORYFILE_H
#define SHARDC_SUPPORT_MEMORYFILE_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <string>

namespace shardc {

/// A file in memory. It has no name in any directory, and is gone with the last
/// process that has it open, however that ends.
class MemoryFile {
public:
  /// An empty one. `label` is what /proc shows.
  static llvm::Expected<MemoryFile> create(const char *label);
  /// Takes an open descriptor.
  explicit MemoryFile(int file) : file(file) {}
  MemoryFile(MemoryFile &&other) : file(other.release()) {}
  MemoryFile &operator=(MemoryFile &&other);
  ~MemoryFile();

  int descriptor() const { return file; }
  /// Gives the descriptor to whoever closes it.
  int release();
  /// A path by which this process can open it while the object lives.
  std::string path() const;
  /// Appends `bytes`.
  llvm::Error write(llvm::StringRef bytes);
  /// All bytes.
  llvm::Expected<std::string> read() const;

private:
  int file = -1;
};

} // namespace shardc

#endif // SHARDC_SUPPORT_MEMORYFILE_H
