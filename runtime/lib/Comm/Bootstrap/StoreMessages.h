//===- StoreMessages.h - What both sides of a store know --------*- C++ -*-===//
//
// A connection begins at the door (Door.h); then messages are sealed.
// A request: 4 bytes that number it, a letter (S set, G get, M barrier, W who
// is missing, H is all well, L the sender leaves, and why, P it leaves since a
// rank was stopped), the length of a name in 4 bytes, the name, a value. An
// answer: the same number, K and a value, or R and why not, or P and which rank
// was stopped; number 0 says whether who has proven itself is let in. A get is
// answered when there is a value: who does not wait as long forgets its number.
// One thread of rank 0 serves all connections.
//
//===----------------------------------------------------------------------===//
#ifndef SHARDRT_COMM_BOOTSTRAP_STOREMESSAGES_H
#define SHARDRT_COMM_BOOTSTRAP_STOREMESSAGES_H

#include "Comm/Bootstrap/Door.h"
#include "Comm/Bootstrap/Store.h"
#include <cstring>
#include <string>

namespace shardrt {

/// The side of rank 0, which listens from here on. NULL with a reason.
std::unique_ptr<Store> serveStore(const Launch &launch, std::string &error);
/// The side of another rank, once it is let in. NULL with a reason.
std::unique_ptr<Store> connectToStore(const Launch &launch, int64_t timeoutMs,
                                      std::string &error, int *status);

inline constexpr int64_t millisecond = 1'000'000;

/// What proven processes may send before it is handled.
inline constexpr size_t mostWaiting = 4 * Store::maxBytes;

inline void append(std::string &text, uint32_t word) {
  for (int i = 0; i < 4; ++i)
    text.push_back(static_cast<char>(word >> (8 * i)));
}

inline uint32_t wordAt(const std::string &text, size_t at) {
  uint32_t word = 0;
  for (int i = 0; i < 4; ++i)
    word |= static_cast<uint32_t>(static_cast<unsigned char>(text[at + i]))
            << (8 * i);
  return word;
}

inline std::string request(uint32_t number, char what, const std::string &name,
                           const std::string &value) {
  std::string body;
  append(body, number);
  body.push_back(what);
  append(body, static_cast<uint32_t>(name.size()));
  return body + name + value;
}

/// The error of a rank that waited in vain.
inline std::string waited(const Launch &launch, int64_t timeoutMs,
                          const std::string &what) {
  return "rank " + std::to_string(launch.rank) + " waited " +
         std::to_string(timeoutMs) + " ms for " + what;
}

inline std::string isTooLarge(const std::string &name) {
  return "the value of '" + name + "' has more than " +
         std::to_string(Store::maxBytes) + " bytes";
}

/// What each rank sets when it reaches `name`, and what stands for all of
/// them.
inline std::string partOf(const std::string &name, int64_t rank) {
  return name + "@" + std::to_string(rank);
}
inline std::string everybody(const std::string &name) { return name + "@*"; }

/// How the two sides of a connection to the store know it.
inline Link linkOf(const Launch &launch) {
  return {"store", launch.token, launch.port, 0};
}

inline uint32_t flagsOf(const Launch &launch) { return launch.encrypts; }

/// Where nobody has a secret: the same for all who know the job's name.
inline shardc::crypto::Key secretOfNobody() {
  return shardc::crypto::sha256(shardc::crypto::bytesOf("shardrt, insecure"));
}

} // namespace shardrt

#endif // SHARDRT_COMM_BOOTSTRAP_STOREMESSAGES_H
