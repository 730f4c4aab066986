//===- TestLaunch.h - Launches and stores, for tests ------------*- C++ -*-===//
#ifndef SHARDRT_TEST_TESTLAUNCH_H
#define SHARDRT_TEST_TESTLAUNCH_H

#include "Comm/Bootstrap/Door.h"
#include "Comm/Bootstrap/Secret.h"
#include "Comm/Bootstrap/Store.h"
#include "ThreeSites.h"
#include <arpa/inet.h>
#include <fcntl.h>
#include <map>

namespace shardrt::test {

using Map = std::map<std::string, std::string>;

inline std::string read(const Map &map, Launch &launch) {
  return readLaunch(
      [&](const char *name) -> const char * {
        auto found = map.find(name);
        return found == map.end() ? nullptr : found->second.c_str();
      },
      launch);
}

inline Launch launchOf(int64_t rank, int64_t size, int64_t port) {
  Launch launch;
  launch.launcher = "test";
  launch.rank = rank;
  launch.size = size;
  launch.host = "127.0.0.1";
  launch.port = port;
  launch.token = "job 1";
  launch.secret = shardc::crypto::sha256(shardc::crypto::bytesOf("a secret"));
  return launch;
}

/// A connection to a port of this host; -1 if nobody listens.
inline int connectRaw(int64_t port) {
  int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (connect(fd, reinterpret_cast<sockaddr *>(&address), sizeof(address)) == 0)
    return fd;
  close(fd);
  return -1;
}

inline Socket listenerAt(int64_t port) {
  std::string address, why;
  int64_t actual = 0;
  Socket listener = listenAt("127.0.0.1", port, address, actual, why);
  EXPECT_GE(listener.get(), 0) << why;
  fcntl(listener.get(), F_SETFL, O_NONBLOCK);
  return listener;
}

/// A process that gets no core for `ms` after somebody has proven to be of the
/// job: it lets that one in then, with what `welcome` makes of it, and nobody a
/// second time. Returns how many came before `isOver`.
inline int letInLate(Socket listener, const shardc::crypto::Key &secret,
                     const Link &link, int64_t ms,
                     const std::atomic<bool> &isOver,
                     const std::function<std::string(Door::Guest &)> &welcome) {
  Door door(std::move(listener), secret, link);
  std::vector<Door::Guest> guests;
  while (!isOver) {
    for (Door::Guest &guest : door.look()) {
      guests.push_back(std::move(guest));
      if (guests.size() > 1)
        continue;
      std::this_thread::sleep_for(std::chrono::milliseconds(ms));
      std::string word = welcome(guests[0]);
      (void)!send(guests[0].socket.get(), word.data(), word.size(),
                  MSG_NOSIGNAL);
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return static_cast<int>(guests.size());
}

} // namespace shardrt::test

#endif // SHARDRT_TEST_TESTLAUNCH_H
