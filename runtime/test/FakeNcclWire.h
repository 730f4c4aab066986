//===- FakeNcclWire.h - How the stand-in for NCCL goes between processes --===//
//
// The process that made an id keeps its communicators; others talk to it over
// a socket whose name the id says, one request after another. Buffers travel
// with the requests.
//
//===----------------------------------------------------------------------===//
#ifndef SHARDRT_TEST_FAKENCCLWIRE_H
#define SHARDRT_TEST_FAKENCCLWIRE_H

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
#include <vector>

namespace fakenccl {

/// What is written on one side and read on the other in the same order.
class Message {
public:
  template <typename T> void put(const T &value) {
    putBytes(&value, sizeof(T));
  }
  void putBytes(const void *data, size_t size) {
    auto *from = static_cast<const std::byte *>(data);
    bytes.insert(bytes.end(), from, from + size);
  }
  void putText(const std::string &text) {
    put<uint64_t>(text.size());
    putBytes(text.data(), text.size());
  }
  template <typename T> T get() {
    T value = {};
    getBytes(&value, sizeof(T));
    return value;
  }
  void getBytes(void *to, size_t size) {
    if (at + size > bytes.size())
      return;
    std::memcpy(to, bytes.data() + at, size);
    at += size;
  }
  std::string getText() {
    std::string text(get<uint64_t>(), '\0');
    getBytes(text.data(), text.size());
    return text;
  }

  bool send(int socket) const {
    uint64_t size = bytes.size();
    return all(socket, const_cast<uint64_t *>(&size), sizeof(size), true) &&
           all(socket, const_cast<std::byte *>(bytes.data()), size, true);
  }
  bool receive(int socket) {
    uint64_t size = 0;
    at = 0;
    if (!all(socket, &size, sizeof(size), false))
      return false;
    bytes.resize(size);
    return all(socket, bytes.data(), size, false);
  }

private:
  static bool all(int socket, void *data, size_t size, bool out) {
    auto *at = static_cast<char *>(data);
    while (size > 0) {
      ssize_t moved = out ? ::send(socket, at, size, MSG_NOSIGNAL)
                          : ::recv(socket, at, size, 0);
      if (moved <= 0)
        return false;
      at += moved;
      size -= static_cast<size_t>(moved);
    }
    return true;
  }

  std::vector<std::byte> bytes;
  size_t at = 0;
};

/// The socket that a process listens at: its name is no file.
inline socklen_t addressOf(const std::string &name, sockaddr_un &address) {
  std::memset(&address, 0, sizeof(address));
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path + 1, name.data(), name.size());
  return static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 +
                                name.size());
}

inline int connectTo(const std::string &name) {
  sockaddr_un address;
  socklen_t length = addressOf(name, address);
  int made = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (connect(made, reinterpret_cast<sockaddr *>(&address), length) == 0)
    return made;
  close(made);
  return -1;
}

inline int listenAs(const std::string &name) {
  sockaddr_un address;
  socklen_t length = addressOf(name, address);
  int made = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (bind(made, reinterpret_cast<sockaddr *>(&address), length) == 0 &&
      listen(made, 64) == 0)
    return made;
  close(made);
  return -1;
}

} // namespace fakenccl

#endif // SHARDRT_TEST_FAKENCCLWIRE_H
