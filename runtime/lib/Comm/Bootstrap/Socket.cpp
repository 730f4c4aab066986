//===- Socket.cpp - Connections between processes -------------------------===//

#include "Comm/Bootstrap/Socket.h"
#include "Host/Clock.h"
#include <algorithm>
#include <arpa/inet.h>
#include <cerrno>
#include <cstring>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

using namespace shardrt;

static constexpr int64_t millisecond = 1'000'000;

/// Waits for `events` of `fd`, a tenth of a second at most and within `limit`;
/// what there is.
static short await(int fd, short events, WaitLimit &limit) {
  int64_t left = (limit.leftNs() + millisecond - 1) / millisecond;
  pollfd ready = {fd, events, 0};
  poll(&ready, 1, static_cast<int>(std::clamp<int64_t>(left, 0, 100)));
  return ready.revents;
}

static addrinfo *resolve(const std::string &host, int64_t port,
                         std::string &why) {
  addrinfo hints = {}, *found = nullptr;
  hints.ai_family = AF_INET;
  hints.ai_socktype = SOCK_STREAM;
  // Whatever a file of names says of it.
  std::string name = host == "localhost" ? "127.0.0.1" : host;
  if (int failed = getaddrinfo(name.c_str(), std::to_string(port).c_str(),
                               &hints, &found)) {
    why = gai_strerror(failed);
    return nullptr;
  }
  return found;
}

Socket shardrt::connectTo(const std::string &host, int64_t port,
                          WaitLimit limit, int &failed, std::string &why) {
  addrinfo *found = resolve(host, port, why);
  failed = 0;
  wasHere(nowNs());
  Socket made;
  for (addrinfo *info = found; info && made.get() < 0; info = info->ai_next) {
    Socket attempt(
        socket(info->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    failed = 0;
    if (connect(attempt.get(), info->ai_addr, info->ai_addrlen) != 0)
      failed = errno;
    if (failed == EINPROGRESS) {
      short ready = 0;
      do
        ready = await(attempt.get(), POLLOUT, limit);
      while (ready == 0 && limit.leftNs() > 0);
      socklen_t size = sizeof(failed);
      if (ready == 0)
        failed = ETIMEDOUT;
      else
        getsockopt(attempt.get(), SOL_SOCKET, SO_ERROR, &failed, &size);
    }
    if (failed == 0)
      made = std::move(attempt);
    else
      why = std::strerror(failed);
  }
  if (found)
    freeaddrinfo(found);
  if (made.get() >= 0) {
    int yes = 1;
    setsockopt(made.get(), IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes));
  }
  return made;
}

static Socket listenAtAddress(sockaddr_in address, const std::string &host,
                              std::string &text, int64_t &port,
                              std::string &why) {
  char buffer[INET_ADDRSTRLEN] = "";
  inet_ntop(AF_INET, &address.sin_addr, buffer, sizeof(buffer));
  text = buffer;
  if (address.sin_addr.s_addr == htonl(INADDR_ANY)) {
    why = text + " is every network of this host; name one of its addresses";
    return Socket();
  }
  Socket listener(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  int yes = 1;
  setsockopt(listener.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
  socklen_t length = sizeof(address);
  auto *any = reinterpret_cast<sockaddr *>(&address);
  if (bind(listener.get(), any, length) != 0 ||
      listen(listener.get(), 4096) != 0 ||
      getsockname(listener.get(), any, &length) != 0) {
    why = errno == EADDRNOTAVAIL
              ? (host == text ? host : host + " is " + text + ", which") +
                    " is no address of this host"
              : std::strerror(errno);
    if (errno == EADDRINUSE)
      why += "; another job may use it: set MASTER_PORT to another one";
    return Socket();
  }
  port = ntohs(address.sin_port);
  return listener;
}

Socket shardrt::listenAt(const std::string &host, int64_t port,
                         std::string &address, int64_t &actualPort,
                         std::string &why) {
  addrinfo *found = resolve(host, port, why);
  Socket made;
  for (addrinfo *info = found; info && made.get() < 0; info = info->ai_next) {
    sockaddr_in wanted = {};
    std::memcpy(&wanted, info->ai_addr, sizeof(wanted));
    made = listenAtAddress(wanted, host, address, actualPort, why);
  }
  if (found)
    freeaddrinfo(found);
  return made;
}

bool shardrt::sendAll(int fd, std::string_view text, WaitLimit limit) {
  while (!text.empty()) {
    ssize_t count = send(fd, text.data(), text.size(), MSG_NOSIGNAL);
    if (count > 0) {
      text.remove_prefix(static_cast<size_t>(count));
      continue;
    }
    if (errno == EINTR)
      continue;
    if ((errno != EAGAIN && errno != EWOULDBLOCK) || limit.leftNs() <= 0)
      return false;
    await(fd, POLLOUT, limit);
  }
  return true;
}

bool shardrt::receiveSome(int fd, std::string &received, size_t most) {
  char buffer[4096];
  while (received.size() <= most) {
    ssize_t count = recv(fd, buffer, sizeof(buffer), MSG_DONTWAIT);
    if (count > 0) {
      received.append(buffer, static_cast<size_t>(count));
      continue;
    }
    if (count < 0 && errno == EINTR)
      continue;
    return count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK);
  }
  return true;
}

bool shardrt::receiveBytes(int fd, size_t count, WaitLimit limit,
                           std::string &received, std::string &bytes,
                           size_t most) {
  bool isHere = true;
  while (received.size() < count) {
    if (limit.leftNs() <= 0 || !isHere)
      return false;
    if (await(fd, POLLIN, limit) != 0)
      isHere = receiveSome(fd, received, most);
  }
  if (received.size() > most)
    return false;
  bytes = received.substr(0, count);
  received.erase(0, count);
  return true;
}
