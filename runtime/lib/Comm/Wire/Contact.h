//===- Contact.h - Whether anybody is at the other end ----------*- C++ -*-===//
#ifndef SHARDRT_COMM_WIRE_CONTACT_H
#define SHARDRT_COMM_WIRE_CONTACT_H

#include <cstdint>
#include <string>

namespace shardrt {

/// Lets the kernel ask the other end of a TCP connection whether it is there
/// when nothing is sent: reading fails some four seconds after a cable was cut.
void keepContact(int socket);

/// Looks at one connection from time to time.
class Contact {
public:
  /// Whether what was sent has been on its way for longer than any network that
  /// works takes: the other kernel has confirmed nothing for 3 s. A process
  /// that is slow or stopped is no such case. Says so in `why`.
  bool isLost(int socket, std::string &why);
  /// How long the other kernel had confirmed nothing of what had to be sent
  /// again, where that was so at the last look and is a second or more; else 0.
  /// Who ends the connection then, without a word, may have heard nothing
  /// either: its last word did not come through.
  int64_t silenceMs(int64_t nowNs) const;
  /// What a look found: whether something is on its way again, and how many
  /// bytes have been confirmed.
  void note(bool isOnItsWay, uint64_t bytes, int64_t nowNs);

private:
  bool isWaiting = false;
  uint64_t confirmed = 0; ///< bytes
  int64_t sinceNs = 0;    ///< when that was first seen
};

/// Whether `error`, of reading or writing, is about the network between two
/// processes and not about one that ended.
bool isOfNetwork(int error);

/// What is said of a connection on which nobody answers; `detail` may be empty.
std::string lostContact(const std::string &detail);

/// … of one on which nobody has answered for so long.
std::string noAnswer(int64_t ms);

/// Whether `why` is of lostContact().
bool saysLostContact(const std::string &why);

} // namespace shardrt

#endif // SHARDRT_COMM_WIRE_CONTACT_H
