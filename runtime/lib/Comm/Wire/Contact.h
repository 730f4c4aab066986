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

private:
  uint64_t confirmed = 0; ///< bytes
  int64_t sinceNs = 0;    ///< when that was first seen
};

/// Whether `error`, of reading or writing, is about the network between two
/// processes and not about one that ended.
bool isOfNetwork(int error);

/// What is said of a connection on which nobody answers; `detail` may be empty.
std::string lostContact(const std::string &detail);

/// Whether `why` is of lostContact().
bool saysLostContact(const std::string &why);

} // namespace shardrt

#endif // SHARDRT_COMM_WIRE_CONTACT_H
