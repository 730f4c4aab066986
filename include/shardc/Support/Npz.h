//===- Npz.h - NumPy array files --------------------------------*- C++ -*-===//
//
// Reads and writes .npy files and .npz archives (stored or deflated members,
// zip64). What is read is not trusted: every offset is checked, sizes are
// computed with overflow checks, memory is taken only for data that the file
// can hold, and checksums are compared. Arrays that NumPy would unpickle
// (object arrays) are refused: reading them could run code.
//
//===----------------------------------------------------------------------===//
#ifndef SHARDC_SUPPORT_NPZ_H
#define SHARDC_SUPPORT_NPZ_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace llvm {
class MemoryBuffer;
} // namespace llvm

namespace shardc {

/// What an array's elements are, as NumPy's type strings say it.
struct NpyType {
  /// 'b' bool, 'i' signed, 'u' unsigned, 'f' float, 'c' complex, 'V' raw bytes
  /// (how NumPy stores types it has no letter for, bfloat16 among them).
  char kind = 'f';
  int64_t bytes = 4; ///< of one element

  /// "<f4", "|b1": little-endian.
  std::string str() const;
  friend bool operator==(NpyType, NpyType) = default;
};

/// An array in memory: row-major, little-endian, without gaps.
struct NpyArray {
  NpyType type;
  std::vector<int64_t> shape;
  std::vector<char> data;
  /// Where it was asked for in place and is stored so in the file: the file,
  /// mapped, and the array's bytes in it. `data` is empty then.
  std::shared_ptr<const llvm::MemoryBuffer> file = nullptr;
  llvm::ArrayRef<char> inFile = {};
};

/// Where the bytes of an array to be written are.
struct NpyView {
  std::string name; ///< of the member, without ".npy"; unused for a .npy file
  NpyType type;
  llvm::ArrayRef<int64_t> shape;
  llvm::ArrayRef<char> data;
};

/// Reads `bytes`, the contents of a .npy file; `name` is what errors call it.
/// Fortran order and big-endian data are converted. An error names the byte at
/// which the file stops making sense.
llvm::Expected<NpyArray> parseNpy(llvm::ArrayRef<char> bytes,
                                  llvm::StringRef name);

/// Reads the .npy file at `path`. `inPlace`: what of it is used is read when it
/// is, where the file holds the array as it is in memory.
llvm::Expected<NpyArray> readNpy(llvm::StringRef path, bool inPlace = false);

/// The members of an .npz archive.
class NpzArchive {
public:
  /// Reads the directory of the archive at `path`.
  static llvm::Expected<NpzArchive> open(llvm::StringRef path);
  /// The same from memory; `name` is what errors call it.
  static llvm::Expected<NpzArchive>
  parse(std::unique_ptr<llvm::MemoryBuffer> buffer, llvm::StringRef name);
  NpzArchive(NpzArchive &&);
  NpzArchive &operator=(NpzArchive &&);
  ~NpzArchive();

  /// The members' names without ".npy", in the order of the directory.
  std::vector<std::string> names() const;
  bool contains(llvm::StringRef name) const;
  /// Reads one member; an error if there is none of this name, or if it is
  /// larger than `mostBytes`: a small archive can hold zeros without end.
  /// `inPlace` as above, for members that are stored; their checksum is not
  /// compared, as that would read all of them.
  llvm::Expected<NpyArray> read(llvm::StringRef name,
                                uint64_t mostBytes = UINT64_MAX,
                                bool inPlace = false) const;

private:
  struct Member {
    std::string name;
    uint64_t headerOffset = 0;
    uint64_t storedSize = 0; ///< as in the file
    uint64_t size = 0;       ///< inflated
    uint32_t checksum = 0;
    bool deflated = false;
  };
  NpzArchive();
  llvm::Error readDirectory();

  std::string path;
  std::shared_ptr<const llvm::MemoryBuffer> buffer;
  std::vector<Member> members;
};

/// Writes one .npy file. The file appears under its name whole or not at all.
llvm::Error writeNpy(llvm::StringRef path, const NpyView &array);

/// Writes an .npz archive, members stored. The file appears under its name
/// whole or not at all.
llvm::Error writeNpz(llvm::StringRef path, llvm::ArrayRef<NpyView> arrays);

} // namespace shardc

#endif // SHARDC_SUPPORT_NPZ_H
