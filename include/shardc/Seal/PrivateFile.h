//===- PrivateFile.h - Bytes that nobody can change any more ----*- C++ -*-===//
//
// What is checked and then loaded must be the same bytes. So a file is read
// once, into memory that has a descriptor but no name and that the kernel lets
// nobody write to again; it is checked there, and loaded from there. Processes
// that inherit the descriptor share the memory.
//
//===----------------------------------------------------------------------===//
#ifndef SHARDC_SEAL_PRIVATEFILE_H
#define SHARDC_SEAL_PRIVATEFILE_H

#include "shardc/Crypto/Crypto.h"
#include <string>
#include <string_view>

namespace shardc {

class PrivateFile {
public:
  PrivateFile() = default;
  ~PrivateFile();
  PrivateFile(PrivateFile &&other) noexcept;
  PrivateFile &operator=(PrivateFile &&other) noexcept;

  /// Reads the file at `path`; a file that is one of these already is shared,
  /// not copied. Returns an empty string or why it cannot be read: it must be a
  /// regular file.
  std::string read(const std::string &path) { return read(path, false); }
  /// The same of an artifact, as much of it as is worth reading.
  std::string readArtifact(const std::string &path) { return read(path, true); }
  /// Takes `bytes`. `name` is what debuggers show.
  std::string hold(std::string_view bytes, const std::string &name);
  /// Takes what has been written to `descriptor`, which is of memfd_create with
  /// MFD_ALLOW_SEALING, and owns it from now on.
  std::string take(int descriptor);

  crypto::Bytes bytes() const { return {data, size}; }
  std::string_view text() const {
    return {reinterpret_cast<const char *>(data), size};
  }
  int descriptor() const { return file; }
  /// The name under which this process, or one that inherited the descriptor,
  /// can open it.
  std::string path() const;
  /// Lets processes that this one starts inherit the descriptor.
  void shareWithChildren() const;
  /// The descriptor, which is the caller's to close.
  int release();

private:
  std::string read(const std::string &path, bool isArtifact);
  std::string map();
  void reset();

  int file = -1;
  const uint8_t *data = nullptr;
  size_t size = 0;
};

} // namespace shardc

#endif // SHARDC_SEAL_PRIVATEFILE_H
