//===- Handshake.h - Two processes prove that they are of a job -*- C++ -*-===//
//
// Both sides of a connection hold the job's secret, 256 bits, and prove it
// before either reads anything else. Nothing that goes over the wire holds the
// secret or the job's name, and nothing of an earlier connection helps:
//
//   connecter                                  listener
//   greeting: rank, ranks, flags, nonce   ->
//                                         <-   nonce, proof "listener"
//   proof "connecter"                     ->
//                                         <-   sealed frames, both ways
//
// A proof is an HMAC-SHA-256 under the secret, of the side that gives it and of
// all that the connection is: its purpose, the job, the port, both ranks, the
// greeting and both nonces. So it is worth nothing on another connection, for
// another rank or port, or from the other side. Keys of both directions follow
// from the same words: who only carried the bytes of a true handshake cannot
// make, change, repeat or reorder a frame.
//
// There is no forward secrecy: who learns the secret later can read what was
// recorded. A job's secret is made for it and goes with it.
//
//===----------------------------------------------------------------------===//
#ifndef SHARDRT_COMM_BOOTSTRAP_HANDSHAKE_H
#define SHARDRT_COMM_BOOTSTRAP_HANDSHAKE_H

#include "shardc/Crypto/Crypto.h"
#include <cstdint>
#include <string>
#include <string_view>

namespace shardrt {

/// What both sides know of a connection without saying it.
struct Link {
  std::string purpose;  ///< "store", or which world
  std::string job;      ///< identifies the job; may be public
  int64_t port = 0;     ///< at which the listener listens
  int64_t listener = 0; ///< its rank
};

/// What the connecter says of itself, and proves.
struct Claim {
  int64_t rank = 0;
  int64_t size = 0;   ///< of the job
  uint32_t flags = 0; ///< what both must have been started with
};

/// The keys of a proven connection: for what this side sends, and receives.
struct LinkKeys {
  shardc::crypto::Key send = {}, receive = {};
};

/// One side of one handshake. Whatever is called out of order, or twice, fails.
class Handshake {
public:
  static constexpr size_t greetingBytes = 8 + 3 * 4 + 32;
  static constexpr size_t challengeBytes = 32 + 32;
  static constexpr size_t proofBytes = 32;

  Handshake(const shardc::crypto::Key &secret, Link link)
      : secret(secret), link(std::move(link)) {}
  ~Handshake() { shardc::crypto::wipe(secret); }
  Handshake(const Handshake &) = default;
  Handshake &operator=(const Handshake &) = default;

  // The connecter.

  std::string greet(const Claim &claim);
  /// Its proof, for the listener's challenge; an empty string if the listener
  /// did not prove itself.
  std::string answer(std::string_view challenge);

  // The listener.

  /// Its challenge; an empty string for what is no greeting.
  std::string challenge(std::string_view greeting);
  /// Whether the connecter holds the secret and is who it claims to be.
  bool check(std::string_view proof);

  /// What the connecter claims; proven once check() has been true.
  const Claim &claim() const { return claimed; }
  /// Once both sides are proven.
  const LinkKeys &keys() const { return made; }

private:
  enum class State { Begin, Greeted, Challenged, Done };
  shardc::crypto::Digest prove(std::string_view side) const;
  void makeKeys(bool isConnecter);

  shardc::crypto::Key secret;
  Link link;
  Claim claimed;
  State state = State::Begin;
  std::string greeting, nonce; ///< the connecter's words, the listener's nonce
  LinkKeys made;
};

/// What one side sends over a proven connection, in frames: their length in 4
/// bytes, then the sealed body.
class SealedStream {
public:
  SealedStream() = default;
  explicit SealedStream(const LinkKeys &keys) : keys(keys) {}
  SealedStream(const SealedStream &) = delete;
  SealedStream &operator=(const SealedStream &) = delete;
  SealedStream(SealedStream &&) = default;
  SealedStream &operator=(SealedStream &&) = default;
  ~SealedStream() {
    shardc::crypto::wipe(keys.send);
    shardc::crypto::wipe(keys.receive);
  }

  /// The frame that carries `body`.
  std::string seal(std::string_view body);

  enum class Taken { Frame, Nothing, Forged };
  /// Takes the body of a frame off the front of `received`; `most` bytes of it
  /// are no forgery. After a forgery the connection is worth nothing.
  Taken take(std::string &received, std::string &body, size_t most);

private:
  LinkKeys keys;
  uint64_t sent = 0, taken = 0;
};

} // namespace shardrt

#endif // SHARDRT_COMM_BOOTSTRAP_HANDSHAKE_H
