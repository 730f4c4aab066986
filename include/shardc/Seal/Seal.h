//===- Seal.h - What says that an artifact is whole, and whose --*- C++ -*-===//
//
// An artifact is a shared object, then the program that it was compiled from,
// then a seal: the names, places and SHA-256 of all parts of the file, which
// leave no byte out, and an Ed25519 signature over these. A loader of shared
// objects sees the first part alone. docs/Reference/artifact.md has the bytes.
//
// Files are not trusted here: whatever they hold, reading ends in a message.
//
//===----------------------------------------------------------------------===//
#ifndef SHARDC_SEAL_SEAL_H
#define SHARDC_SEAL_SEAL_H

#include "shardc/Crypto/Crypto.h"
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace shardc {

/// The one number of the format of artifacts: seal, metadata and program.
/// Others are refused by their number.
inline constexpr uint32_t kArtifactFormat = 3;

/// A part of the file: a section of the shared object, what is between
/// sections, or the program.
struct SealedSection {
  std::string name; ///< ".text", "ELF header", "padding before .dynamic"
  uint64_t offset = 0;
  uint64_t bytes = 0;
  crypto::Digest digest = {};
};

/// A seal whose digests all hold.
struct Seal {
  /// By offset; each begins where the one before ends, the last ends where the
  /// seal begins.
  std::vector<SealedSection> sections;
  uint64_t codeBytes = 0; ///< of the shared object, at the file's begin
  crypto::Bytes program;  ///< a view of the file; empty where none is carried
  /// What else is behind the code, by name (kBeside): views of the file.
  std::map<std::string, crypto::Bytes, std::less<>> beside;
  /// Whose signature is under it. nullopt: nobody signed.
  std::optional<crypto::PublicKey> signer;
};

/// Whether `end`, the last bytes of a file (16 or more), are those of a seal.
bool endsInSeal(crypto::Bytes end);
/// How many of the `size` bytes of an open file are worth reading: all, or so
/// few that it is refused, where it is large and does not end in a seal (it was
/// cut short, or has grown).
uint64_t countWorthReading(int file, uint64_t size);
/// How many bytes at the end of a file decide that.
inline constexpr size_t kSealEndBytes = 16;

/// How names of parts begin that are behind the code and are not the program.
inline constexpr std::string_view kBeside = "beside: ";

/// Puts `program` and a seal behind the shared object `code`; signed if `key`
/// is not null. The same arguments give the same bytes.
std::string sealArtifact(std::string_view code, std::string_view program,
                         const crypto::SigningKey *key);

/// The same with other parts than a program. Their names begin with kBeside;
/// those without bytes are left out.
struct SealedPart {
  std::string name;
  std::string_view bytes;
};
std::string sealArtifact(std::string_view code,
                         const std::vector<SealedPart> &parts,
                         const crypto::SigningKey *key);

/// Reads the seal at the end of `file` and compares every digest. Returns an
/// empty string, or what is wrong: no seal, another format, the name of the
/// part that is damaged, a signature that does not hold.
std::string readSeal(crypto::Bytes file, Seal &seal);

} // namespace shardc

#endif // SHARDC_SEAL_SEAL_H
