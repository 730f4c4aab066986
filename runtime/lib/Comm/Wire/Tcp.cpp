//===- Tcp.cpp - Messages over sockets ------------------------------------===//
//
// A connection for each pair of processes. A thread reads all of them, so that
// no two ranks that send at the same time wait for each other, and writes what
// did not fit at once.
//
//===----------------------------------------------------------------------===//

#include "Comm/Wire/Tcp.h"
#include "Comm/Wire/Contact.h"
#include "Core/Clock.h"
#include <algorithm>
#include <arpa/inet.h>
#include <cerrno>
#include <cstring>
#include <deque>
#include <fcntl.h>
#include <mutex>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <thread>
#include <unistd.h>
#include <utility>
#include <vector>

using namespace shardrt;

static constexpr int64_t millisecond = 1'000'000;
static constexpr int64_t mostBytes = int64_t(1) << 46;

namespace {
class TcpCarrier final : public Carrier {
public:
  explicit TcpCarrier(std::vector<int> sockets);
  ~TcpCarrier() override { stop(0); }
  void start(Receiver &receiver) override;
  void send(int64_t peer, const Frame &frame, const void *body,
            std::atomic<int64_t> *pending) override;
  bool advance() override { return false; }
  void detach() override;
  void stop(int64_t ms) override;

private:
  struct Item {
    Frame frame;
    const std::byte *body = nullptr;
    std::unique_ptr<std::byte[]> own;
    std::atomic<int64_t> *pending = nullptr;
    int64_t done = 0; ///< bytes of head and body that are sent
  };
  struct Connection {
    int socket = -1;
    std::mutex mutex; ///< guards the queue, and sending
    std::deque<Item> queue;
    bool isBroken = false;
    Contact contact;
    // The thread's: what is being read.
    Frame frame;
    int64_t read = 0;
    std::unique_ptr<std::byte[]> body;
  };
  void serve();
  /// Sends what goes at once; the mutex is held. True if a waiter may go on.
  bool push(Connection &connection);
  /// Reads what is there; false if the other side is gone, with `why`.
  bool pull(int64_t peer, Connection &connection, std::string &why);
  void wake() { (void)!write(wakeWrite, "x", 1); }

  std::vector<std::unique_ptr<Connection>> connections; ///< by peer
  Receiver *receiver = nullptr;
  std::thread thread;
  std::atomic<int64_t> stopAt{0}; ///< nowNs; 0: not yet
  int wakeRead = -1, wakeWrite = -1;
};
} // namespace

TcpCarrier::TcpCarrier(std::vector<int> sockets) {
  for (int socket : sockets) {
    connections.push_back(std::make_unique<Connection>());
    connections.back()->socket = socket;
    if (socket < 0)
      continue;
    int yes = 1;
    setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes));
    keepContact(socket);
    fcntl(socket, F_SETFL, O_NONBLOCK);
  }
}

void TcpCarrier::start(Receiver &to) {
  receiver = &to;
  int ends[2];
  if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) == 0) {
    wakeRead = ends[0];
    wakeWrite = ends[1];
  }
  thread = std::thread([this] { serve(); });
}

void TcpCarrier::stop(int64_t ms) {
  if (!thread.joinable())
    return;
  stopAt.store(nowNs() + ms * millisecond + 1);
  wake();
  thread.join();
  for (auto &connection : connections)
    if (connection->socket >= 0)
      close(connection->socket);
  close(wakeRead);
  close(wakeWrite);
}

void TcpCarrier::send(int64_t peer, const Frame &frame, const void *body,
                      std::atomic<int64_t> *pending) {
  Connection &connection = *connections[peer];
  bool mayGo = false, isLeft = false;
  {
    std::lock_guard lock(connection.mutex);
    Item &item = connection.queue.emplace_back();
    item.frame = frame;
    item.body = static_cast<const std::byte *>(body);
    item.pending = pending;
    if (connection.queue.size() == 1)
      mayGo = push(connection);
    // Who does not wait for it takes its body away.
    if (!pending && !connection.queue.empty() && frame.bytes > 0) {
      Item &last = connection.queue.back();
      last.own.reset(new std::byte[frame.bytes]);
      std::memcpy(last.own.get(), body, frame.bytes);
      last.body = last.own.get();
    }
    isLeft = !connection.queue.empty();
  }
  if (isLeft)
    wake();
  if (mayGo && receiver && pending)
    receiver->sent();
}

bool TcpCarrier::push(Connection &connection) {
  bool mayGo = false;
  while (!connection.queue.empty()) {
    Item &item = connection.queue.front();
    constexpr int64_t head = sizeof(Frame);
    while (!connection.isBroken && item.done < head + item.frame.bytes) {
      iovec parts[2];
      int count = 0;
      if (item.done < head)
        parts[count++] = {reinterpret_cast<char *>(&item.frame) + item.done,
                          static_cast<size_t>(head - item.done)};
      int64_t from = std::max<int64_t>(0, item.done - head);
      if (item.frame.bytes > from)
        parts[count++] = {const_cast<std::byte *>(item.body) + from,
                          static_cast<size_t>(item.frame.bytes - from)};
      msghdr message = {};
      message.msg_iov = parts;
      message.msg_iovlen = count;
      ssize_t bytes = sendmsg(connection.socket, &message, MSG_NOSIGNAL);
      if (bytes >= 0)
        item.done += bytes;
      else if (errno == EAGAIN || errno == EWOULDBLOCK)
        return mayGo;
      else if (errno != EINTR)
        connection.isBroken = true; // Reading finds out as well, and says so.
    }
    if (item.pending) {
      item.pending->fetch_sub(1);
      mayGo = true;
    }
    connection.queue.pop_front();
  }
  return mayGo;
}

void TcpCarrier::detach() {
  for (auto &connection : connections) {
    std::lock_guard lock(connection->mutex);
    for (Item &item : connection->queue) {
      if (item.own || item.frame.bytes == 0)
        continue;
      item.own.reset(new std::byte[item.frame.bytes]);
      std::memcpy(item.own.get(), item.body, item.frame.bytes);
      item.body = item.own.get();
    }
  }
}

bool TcpCarrier::pull(int64_t peer, Connection &connection, std::string &why) {
  constexpr int64_t head = sizeof(Frame);
  // Others have their turn after a while.
  for (int round = 0; round < 64; ++round) {
    std::byte *to;
    int64_t left;
    if (connection.read < head) {
      to = reinterpret_cast<std::byte *>(&connection.frame) + connection.read;
      left = head - connection.read;
    } else {
      to = connection.body.get() + (connection.read - head);
      left = head + connection.frame.bytes - connection.read;
    }
    if (left > 0) {
      ssize_t bytes = recv(connection.socket, to, left, 0);
      if (bytes == 0)
        return false;
      if (bytes < 0 && errno == EINTR)
        continue;
      if (bytes < 0) {
        if (errno == EAGAIN || errno == EWOULDBLOCK)
          return true;
        if (isOfNetwork(errno))
          why = lostContact(std::strerror(errno));
        else if (errno != ECONNRESET)
          why = std::strerror(errno);
        return false;
      }
      connection.read += bytes;
    }
    if (connection.read == head) {
      Frame &frame = connection.frame;
      if (frame.magic != Frame::magicWord || frame.bytes < 0 ||
          frame.bytes > mostBytes) {
        why = "a damaged message";
        return false;
      }
      if (frame.bytes > 0 && !connection.body)
        connection.body.reset(new (std::nothrow) std::byte[frame.bytes]);
      if (frame.bytes > 0 && !connection.body) {
        why = "no memory for a message of " + std::to_string(frame.bytes) +
              " bytes";
        return false;
      }
    }
    if (connection.read >= head &&
        connection.read == head + connection.frame.bytes) {
      receiver->deliver(peer, connection.frame, std::move(connection.body));
      connection.read = 0;
      connection.body.reset();
    }
  }
  return true;
}

void TcpCarrier::serve() {
  std::vector<bool> isOpen;
  for (auto &connection : connections)
    isOpen.push_back(connection->socket >= 0);
  int64_t lookedAt = 0;
  while (true) {
    std::vector<pollfd> files = {{wakeRead, POLLIN, 0}};
    std::vector<int64_t> peers = {-1};
    bool isEmpty = true;
    for (size_t peer = 0; peer < connections.size(); ++peer) {
      if (!isOpen[peer])
        continue;
      Connection &connection = *connections[peer];
      std::lock_guard lock(connection.mutex);
      bool waits = !connection.queue.empty() && !connection.isBroken;
      isEmpty &= !waits;
      files.push_back({connection.socket,
                       static_cast<short>(POLLIN | (waits ? POLLOUT : 0)), 0});
      peers.push_back(static_cast<int64_t>(peer));
    }
    if (int64_t at = stopAt.load(); at != 0 && (isEmpty || nowNs() > at))
      return;
    poll(files.data(), files.size(), stopAt.load() ? 20 : 300);
    char drain[64];
    while (read(wakeRead, drain, sizeof(drain)) > 0)
      ;
    bool looksAround = nowNs() - lookedAt > 250 * millisecond;
    if (looksAround)
      lookedAt = nowNs();
    for (size_t i = 1; i < files.size(); ++i) {
      Connection &connection = *connections[peers[i]];
      if (files[i].revents & POLLOUT) {
        bool mayGo;
        {
          std::lock_guard lock(connection.mutex);
          mayGo = push(connection);
        }
        if (mayGo)
          receiver->sent();
      }
      std::string why;
      bool isReadable = files[i].revents & (POLLIN | POLLHUP | POLLERR);
      if ((isReadable && !pull(peers[i], connection, why)) ||
          (looksAround && !isReadable &&
           connection.contact.isLost(connection.socket, why))) {
        isOpen[peers[i]] = false;
        receiver->lost(peers[i], why);
      }
    }
  }
}

//===----------------------------------------------------------------------===//
// Connecting
//===----------------------------------------------------------------------===//

namespace {
/// What a process says when it connects.
struct Hello {
  uint64_t secret = 0;
  int64_t rank = 0;
};

/// Closes descriptors unless they are taken.
struct Sockets {
  std::vector<int> list;
  int listener = -1;
  ~Sockets() {
    for (int socket : list)
      if (socket >= 0)
        close(socket);
    if (listener >= 0)
      close(listener);
  }
};
} // namespace

/// Reads or writes all of `bytes` by `deadline`.
static bool transfer(int socket, void *data, size_t bytes, bool isRead,
                     int64_t deadline) {
  auto *at = static_cast<char *>(data);
  while (bytes > 0) {
    int64_t left = (deadline - nowNs()) / millisecond;
    pollfd ready = {socket, static_cast<short>(isRead ? POLLIN : POLLOUT), 0};
    if (left <= 0 ||
        poll(&ready, 1, static_cast<int>(std::min<int64_t>(left, 1000))) < 0)
      return false;
    if (ready.revents == 0)
      continue;
    ssize_t count = isRead ? recv(socket, at, bytes, 0)
                           : ::send(socket, at, bytes, MSG_NOSIGNAL);
    if (count <= 0)
      return false;
    at += count;
    bytes -= static_cast<size_t>(count);
  }
  return true;
}

static int connectTo(const std::string &place, std::string &why) {
  size_t colon = place.rfind(':');
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  if (colon == std::string::npos ||
      inet_pton(AF_INET, place.substr(0, colon).c_str(), &address.sin_addr) !=
          1) {
    why = "'" + place + "' is no address";
    return -1;
  }
  address.sin_port = htons(static_cast<uint16_t>(
      std::strtol(place.c_str() + colon + 1, nullptr, 10)));
  int made = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (made >= 0 && connect(made, reinterpret_cast<sockaddr *>(&address),
                           sizeof(address)) == 0)
    return made;
  why = "cannot connect to " + place + ": " + std::strerror(errno);
  if (made >= 0)
    close(made);
  return -1;
}

/// Listens at a port that the system picks; its number, or 0 with a reason.
static int listenAnywhere(bool isLocal, int &listener, std::string &error) {
  listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(isLocal ? INADDR_LOOPBACK : INADDR_ANY);
  socklen_t length = sizeof(address);
  auto *any = reinterpret_cast<sockaddr *>(&address);
  if (listener < 0 || bind(listener, any, length) != 0 ||
      listen(listener, 1024) != 0 || getsockname(listener, any, &length) != 0) {
    error = std::string("cannot listen: ") + std::strerror(errno);
    return 0;
  }
  return ntohs(address.sin_port);
}

std::unique_ptr<Carrier> shardrt::connectTcp(Job &job, const std::string &world,
                                             std::string &error) {
  const Launch &launch = job.launch;
  Store &store = *job.store;
  int64_t deadline = nowNs() + job.timeoutMs * millisecond;
  Sockets sockets;
  sockets.list.assign(launch.size, -1);
  std::string address = store.address(), text;
  int port = listenAnywhere(address == "127.0.0.1", sockets.listener, error);
  if (port == 0)
    return nullptr;
  auto key = [&](const std::string &name) {
    return "tcp/" + world + "/" + name;
  };
  Hello hello;
  hello.rank = launch.rank;
  if (launch.rank == 0) {
    int random = open("/dev/urandom", O_RDONLY | O_CLOEXEC);
    bool done =
        random >= 0 && read(random, &hello.secret, sizeof(hello.secret)) ==
                           sizeof(hello.secret);
    if (random >= 0)
      close(random);
    if (!done) {
      error = "no random numbers";
      return nullptr;
    }
    if (!store.set(key("secret"), std::to_string(hello.secret), error))
      return nullptr;
  } else {
    if (!store.get(key("secret"), job.timeoutMs, text, error))
      return nullptr;
    hello.secret = std::strtoull(text.c_str(), nullptr, 10);
  }
  if (!store.set(key(std::to_string(launch.rank)),
                 address + ":" + std::to_string(port), error))
    return nullptr;
  // Each connects to those before it.
  for (int64_t peer = 0; peer < launch.rank; ++peer) {
    if (!store.get(key(std::to_string(peer)), job.timeoutMs, text, error))
      return nullptr;
    int made = connectTo(text, error);
    if (made < 0)
      return nullptr;
    sockets.list[peer] = made;
    if (!transfer(made, &hello, sizeof(hello), /*isRead=*/false, deadline)) {
      error = "rank " + std::to_string(peer) + " does not answer at " + text;
      return nullptr;
    }
  }
  for (int64_t missing = launch.size - 1 - launch.rank; missing > 0;) {
    int64_t left = (deadline - nowNs()) / millisecond;
    pollfd ready = {sockets.listener, POLLIN, 0};
    if (left <= 0) {
      error = "rank " + std::to_string(launch.rank) + " waited " +
              std::to_string(job.timeoutMs) + " ms for connections of ranks";
      for (int64_t peer = launch.rank + 1; peer < launch.size; ++peer)
        if (sockets.list[peer] < 0)
          error += " " + std::to_string(peer);
      return nullptr;
    }
    if (poll(&ready, 1, static_cast<int>(std::min<int64_t>(left, 1000))) <= 0)
      continue;
    int made = accept4(sockets.listener, nullptr, nullptr, SOCK_CLOEXEC);
    if (made < 0)
      continue;
    // Strangers have a second, and are let go.
    Hello theirs;
    int64_t soon = std::min(deadline, nowNs() + 1000 * millisecond);
    bool isOurs = transfer(made, &theirs, sizeof(theirs), true, soon) &&
                  theirs.secret == hello.secret && theirs.rank > launch.rank &&
                  theirs.rank < launch.size && sockets.list[theirs.rank] < 0;
    if (!isOurs) {
      close(made);
      continue;
    }
    sockets.list[theirs.rank] = made;
    --missing;
  }
  return std::make_unique<TcpCarrier>(std::exchange(sockets.list, {}));
}
