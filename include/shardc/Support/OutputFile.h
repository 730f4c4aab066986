//===- OutputFile.h - Files that are there whole or not at all --*- C++ -*-===//
#ifndef SHARDC_SUPPORT_OUTPUTFILE_H
#define SHARDC_SUPPORT_OUTPUTFILE_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <string>
#include <system_error>

namespace llvm {
class raw_fd_ostream;
} // namespace llvm

namespace shardc {

/// A file that is being written. It has no name before it is whole, so that
/// nothing is left of it whenever the process ends (on file systems without
/// such files: a name beside the final one). Errors start with the path.
class OutputFile {
public:
  /// Begins the file that is to be at `path`. What is there and is no file (a
  /// device, a pipe, /dev/stdout) stays what it is, and gets the bytes in the
  /// end. `mode` is that of open(2).
  static llvm::Expected<OutputFile> create(llvm::StringRef path,
                                           unsigned mode = 0666);
  OutputFile(OutputFile &&other);
  OutputFile &operator=(OutputFile &&) = delete;
  /// Takes the file away if it was not kept.
  ~OutputFile();

  /// Where to write.
  int descriptor() const { return file; }
  /// Brings what was written to the disk, then puts it in the place of what was
  /// at the path, in one step.
  llvm::Error keep();

private:
  OutputFile(llvm::StringRef path) : path(path) {}
  llvm::Error fail(const llvm::Twine &what,
                   std::error_code code = llvm::inconvertibleErrorCode()) const;
  llvm::Error copyTo(int target) const;

  std::string path;
  std::string name; ///< that the file has already; empty: none
  int file = -1;
  bool isInPlace = false; ///< what is at `path` stays there, and gets the bytes
};

/// Calls `write` on a new file, and keeps it if that went well. An error says
/// after how many bytes writing stopped, and why.
llvm::Error
writeOutputFile(llvm::StringRef path,
                llvm::function_ref<void(llvm::raw_fd_ostream &)> write,
                unsigned mode = 0666);

/// An error if no file can be written at `path`, as far as that can be said
/// before there is one.
llvm::Error checkOutputFile(llvm::StringRef path);

} // namespace shardc

#endif // SHARDC_SUPPORT_OUTPUTFILE_H
