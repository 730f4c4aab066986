//===- Crypto.h - Digests, keys, proofs, sealed frames ----------*- C++ -*-===//
//
// The cryptography that the compiler and the runtime need, in one place, over
// libsodium. Nothing here is an algorithm of our own: SHA-256 (FIPS 180-4),
// HMAC-SHA-256 (RFC 2104), Ed25519 (RFC 8032), ChaCha20-Poly1305 (RFC 8439).
//
// Who holds what:
//   a job's secret   256 random bits; whoever knows them belongs to the job
//   a signing key    of one user; says that machine code was made by that user
//   a frame key      of one direction of one connection
//
//===----------------------------------------------------------------------===//
#ifndef SHARDC_CRYPTO_CRYPTO_H
#define SHARDC_CRYPTO_CRYPTO_H

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace shardc::crypto {

using Bytes = std::span<const uint8_t>;

/// 32 bytes: a SHA-256 digest, an HMAC, a job's secret, or a frame key.
using Digest = std::array<uint8_t, 32>;
using Key = std::array<uint8_t, 32>;

/// The bytes of `text`.
inline Bytes bytesOf(std::string_view text) {
  return {reinterpret_cast<const uint8_t *>(text.data()), text.size()};
}

/// SHA-256 of what `update` is given, in order.
class Sha256 {
public:
  Sha256();
  ~Sha256();
  Sha256(Sha256 &&) noexcept;
  Sha256 &operator=(Sha256 &&) noexcept;
  void update(Bytes bytes);
  /// The digest of all that came. Call it once; nothing may follow.
  Digest finish();

private:
  struct State;
  std::unique_ptr<State> state;
};

Digest sha256(Bytes bytes);

/// HMAC-SHA-256 of `bytes` under `key`. As a key derivation: `bytes` name the
/// purpose, and different purposes give keys that say nothing of each other.
Digest hmacSha256(const Key &key, Bytes bytes);

/// Fills `bytes` from the system's random generator.
void fillRandom(std::span<uint8_t> bytes);
Key randomKey();

/// Whether both hold the same bytes, in a time that depends on their sizes
/// alone: a peer cannot find a proof byte by byte.
bool equal(Bytes a, Bytes b);

/// Overwrites `bytes` with zeros, also where nobody reads them afterwards.
void wipe(std::span<uint8_t> bytes);

/// Lower-case hexadecimal digits, two for each byte.
std::string toHex(Bytes bytes);
/// The bytes that `text` spells; nullopt unless it is pairs of hexadecimal
/// digits and nothing else.
std::optional<std::vector<uint8_t>> fromHex(std::string_view text);
/// The 32 bytes that 64 hexadecimal digits spell; nullopt for anything else.
std::optional<Key> keyFromHex(std::string_view text);

//===----------------------------------------------------------------------===//
// Signatures
//===----------------------------------------------------------------------===//

using PublicKey = std::array<uint8_t, 32>;
using Signature = std::array<uint8_t, 64>;

/// An Ed25519 key: its seed, which is the secret, and what checks signatures.
struct SigningKey {
  Key seed;
  PublicKey publicKey;
};

SigningKey makeSigningKey();
SigningKey signingKeyFromSeed(const Key &seed);
/// The same key and bytes give the same signature.
Signature sign(const SigningKey &key, Bytes bytes);
bool verify(const PublicKey &key, Bytes bytes, const Signature &signature);

//===----------------------------------------------------------------------===//
// Frames
//===----------------------------------------------------------------------===//

/// Bytes that a sealed frame is longer than what it carries.
inline constexpr size_t sealBytes = 16;

/// Encrypts and authenticates `plain` into `sealed`, which is `sealBytes`
/// longer, and authenticates `header`, which goes beside it as it is. `number`
/// must never come twice under one key: count the frames of one direction.
/// `plain` and `sealed` may start at the same address.
void seal(const Key &key, uint64_t number, Bytes header, Bytes plain,
          std::span<uint8_t> sealed);

/// Undoes `seal`; false, with `plain` of no meaning, where key, number, header
/// or a byte is another one. `plain` is `sealBytes` shorter than `sealed`.
[[nodiscard]] bool open(const Key &key, uint64_t number, Bytes header,
                        Bytes sealed, std::span<uint8_t> plain);

//===----------------------------------------------------------------------===//
// Files that hold secrets
//===----------------------------------------------------------------------===//

/// Reads a secret of exactly `out.size()` bytes, written as hexadecimal digits
/// with or without a line break after them. The file must be a regular one, no
/// link, belong to this process's effective user and be closed to all others
/// (mode 0600 or less). Returns an empty string, or what is wrong, with the
/// file's name and what to do.
std::string readSecretFile(const std::string &path, std::span<uint8_t> out);

/// Writes `bytes` as readSecretFile reads them, with mode 0600. The file
/// appears whole or not at all and is never written over: where a name is
/// taken this is an error, and `taken` (if given) is set. Returns an empty
/// string, or what went wrong.
std::string writeSecretFile(const std::string &path, Bytes bytes,
                            bool *taken = nullptr);

} // namespace shardc::crypto

#endif // SHARDC_CRYPTO_CRYPTO_H
