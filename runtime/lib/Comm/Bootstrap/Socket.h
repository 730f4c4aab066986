//===- Socket.h - Connections between processes -----------------*- C++ -*-===//
#ifndef SHARDRT_COMM_BOOTSTRAP_SOCKET_H
#define SHARDRT_COMM_BOOTSTRAP_SOCKET_H

#include "Host/Absence.h"
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unistd.h>
#include <utility>

namespace shardrt {

/// A file descriptor that is closed at last.
class Socket {
public:
  explicit Socket(int fd = -1) : fd(fd) {}
  Socket(Socket &&other) : fd(std::exchange(other.fd, -1)) {}
  Socket &operator=(Socket &&other) {
    std::swap(fd, other.fd);
    return *this;
  }
  ~Socket() {
    if (fd >= 0)
      close(fd);
  }
  int get() const { return fd; }
  /// Gives the descriptor away.
  int take() { return std::exchange(fd, -1); }

private:
  int fd;
};

/// A socket, not blocking, that is connected to `port` of `host` (a name or an
/// address of IPv4) within `limit`; or none, and `why` not. `failed` is then
/// the system's code of the last attempt; 0 where the name has no address.
Socket connectTo(const std::string &host, int64_t port, WaitLimit limit,
                 int &failed, std::string &why);

/// A socket that listens at `port` (0: one that the system picks) of `host`,
/// one of this host's own addresses; it and the port are returned. Or none, and
/// `why` not.
Socket listenAt(const std::string &host, int64_t port, std::string &address,
                int64_t &actualPort, std::string &why);

/// Sends all of `text` within `limit`; false if that cannot be.
bool sendAll(int fd, std::string_view text, WaitLimit limit);

/// Adds what has come to `received`, until it has more than `most` bytes; false
/// if the other side is gone.
bool receiveSome(int fd, std::string &received, size_t most);

/// Takes `count` bytes off the front of what came and comes to `received`;
/// false if they do not within `limit`, or more than `most` do.
bool receiveBytes(int fd, size_t count, WaitLimit limit, std::string &received,
                  std::string &bytes, size_t most);

} // namespace shardrt

#endif // SHARDRT_COMM_BOOTSTRAP_SOCKET_H
