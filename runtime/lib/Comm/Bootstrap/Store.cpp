//===- Store.cpp - What the processes of a job tell one another -----------===//
//
// A message is its length in 4 bytes and its body. A request's body: 4 bytes
// that number it, a letter (J join, S set, G get, M meet), the length of a name
// in 4 bytes, the name, a value. An answer's: the same number, K and a value,
// or R and why not. A get is answered when there is a value: who does not wait
// as long forgets its number. One thread serves all connections.
//
//===----------------------------------------------------------------------===//

#include "Comm/Bootstrap/Store.h"
#include "Core/Clock.h"
#include <algorithm>
#include <arpa/inet.h>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <fcntl.h>
#include <list>
#include <map>
#include <mutex>
#include <netdb.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <set>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>
#include <utility>
#include <vector>

using namespace shardrt;

static constexpr int64_t millisecond = 1'000'000;
static constexpr const char *greeting = "shardrt-store-1";

namespace {
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

private:
  int fd;
};
} // namespace

//===----------------------------------------------------------------------===//
// Messages
//===----------------------------------------------------------------------===//

static void append(std::string &text, uint32_t word) {
  for (int i = 0; i < 4; ++i)
    text.push_back(static_cast<char>(word >> (8 * i)));
}

static uint32_t wordAt(const std::string &text, size_t at) {
  uint32_t word = 0;
  for (int i = 0; i < 4; ++i)
    word |= static_cast<uint32_t>(static_cast<unsigned char>(text[at + i]))
            << (8 * i);
  return word;
}

static std::string framed(const std::string &body) {
  std::string text;
  append(text, static_cast<uint32_t>(body.size()));
  return text + body;
}

static std::string request(uint32_t number, char what, const std::string &name,
                           const std::string &value) {
  std::string body;
  append(body, number);
  body.push_back(what);
  append(body, static_cast<uint32_t>(name.size()));
  return framed(body + name + value);
}

/// Takes a message's body off the front of `received`; false if it is not
/// whole. `isTooLong` where it is none of ours.
static bool takeMessage(std::string &received, std::string &body,
                        bool &isTooLong) {
  isTooLong = false;
  if (received.size() < 4)
    return false;
  uint32_t length = wordAt(received, 0);
  if (length > 2 * Store::maxBytes) {
    isTooLong = true;
    return false;
  }
  if (received.size() < 4 + size_t(length))
    return false;
  body = received.substr(4, length);
  received.erase(0, 4 + size_t(length));
  return true;
}

/// Sends all of `text` within `deadline` (nowNs); false if that cannot be.
static bool sendAll(int fd, const std::string &text, int64_t deadline) {
  size_t sent = 0;
  while (sent < text.size()) {
    ssize_t count =
        send(fd, text.data() + sent, text.size() - sent, MSG_NOSIGNAL);
    if (count > 0) {
      sent += static_cast<size_t>(count);
      continue;
    }
    if (errno == EINTR)
      continue;
    int64_t left = (deadline - nowNs()) / millisecond;
    pollfd ready = {fd, POLLOUT, 0};
    if ((errno != EAGAIN && errno != EWOULDBLOCK) || left <= 0 ||
        poll(&ready, 1, static_cast<int>(std::min<int64_t>(left, 1000))) < 0)
      return false;
  }
  return true;
}

/// Adds what has come to `received`; false if the other side is gone.
static bool receiveSome(int fd, std::string &received) {
  char buffer[4096];
  while (true) {
    ssize_t count = recv(fd, buffer, sizeof(buffer), 0);
    if (count > 0) {
      received.append(buffer, static_cast<size_t>(count));
      continue;
    }
    if (count < 0 && errno == EINTR)
      continue;
    return count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK);
  }
}

static std::string waited(const Launch &launch, int64_t timeoutMs,
                          const std::string &what) {
  return "rank " + std::to_string(launch.rank) + " waited " +
         std::to_string(timeoutMs) + " ms for " + what;
}

static std::string isTooLarge(const std::string &name) {
  return "the value of '" + name + "' has more than " +
         std::to_string(Store::maxBytes) + " bytes";
}

/// What stands for the values that all ranks set when they meet at `name`.
static std::string everybody(const std::string &name) { return name + "/*"; }

/// `rank 3`, or `ranks 1, 2, 5`: the first of them.
static std::string namesOf(const std::vector<int64_t> &ranks) {
  constexpr size_t most = 16;
  std::string text = ranks.size() == 1 ? "rank " : "ranks ";
  for (size_t i = 0; i < ranks.size() && i < most; ++i)
    text += (i ? ", " : "") + std::to_string(ranks[i]);
  if (ranks.size() > most)
    text += " and " + std::to_string(ranks.size() - most) + " more";
  return text;
}

bool Store::meet(const std::string &name, int64_t timeoutMs,
                 std::string &error) {
  if (come(name, timeoutMs, error))
    return true;
  std::string value;
  if (error.find(" waited ") == std::string::npos)
    return false;
  std::vector<int64_t> missing;
  for (int64_t rank = 0; rank < launch.size; ++rank)
    if (std::string other;
        !get(name + "/" + std::to_string(rank), 20, value, other))
      missing.push_back(rank);
  if (!missing.empty())
    error = waited(launch, timeoutMs,
                   namesOf(missing) + " to come to '" + name + "'");
  return false;
}

//===----------------------------------------------------------------------===//
// Rank 0
//===----------------------------------------------------------------------===//

namespace {
class ServerStore final : public Store {
public:
  explicit ServerStore(const Launch &launch) : Store(launch) {}
  ~ServerStore() override;
  bool listenAt(std::string &error);
  bool bindAndListen(sockaddr_in &address, std::string &error);

  bool set(const std::string &name, const std::string &value,
           std::string &error) override;
  bool get(const std::string &name, int64_t timeoutMs, std::string &value,
           std::string &error) override;
  std::string address() const override {
    return launch.host == "localhost" ? "127.0.0.1" : launch.host;
  }

private:
  bool come(const std::string &name, int64_t timeoutMs,
            std::string &error) override {
    std::string value;
    return set(name + "/0", "here", error) &&
           get(everybody(name), timeoutMs, value, error);
  }
  struct Connection {
    Socket socket;
    std::string received, toSend;
    int64_t rank = -1; ///< -1: has not joined
    int64_t since = 0;
    std::vector<std::pair<uint32_t, std::string>> waiting; ///< gets
    bool isClosing = false;                                ///< when all is sent
  };
  void serve();
  void answer(Connection &connection, uint32_t number, char verdict,
              const std::string &text);
  void handle(Connection &connection, const std::string &body);
  std::string join(Connection &connection, const std::string &name);
  /// Caller holds the mutex, here and below. NULL: there is no such value yet.
  const std::string *find(const std::string &name) const;
  bool put(const std::string &name, const std::string &value,
           std::string &error);

  Socket listener, wakeRead, wakeWrite;
  std::thread thread;
  std::list<Connection> connections; ///< the thread's
  std::set<int64_t> joined;          ///< the thread's
  std::mutex mutex;                  ///< guards what follows
  std::condition_variable changed;
  std::map<std::string, std::string> values;
  std::string gone; ///< who had joined and is not there any more; "" if nobody
  bool stopping = false;
};
} // namespace

ServerStore::~ServerStore() {
  if (!thread.joinable())
    return;
  {
    std::lock_guard lock(mutex);
    stopping = true;
  }
  (void)!write(wakeWrite.get(), "x", 1);
  thread.join();
}

bool ServerStore::listenAt(std::string &error) {
  bool isLocal = launch.host == "127.0.0.1" || launch.host == "localhost";
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(launch.port));
  address.sin_addr.s_addr = htonl(isLocal ? INADDR_LOOPBACK : INADDR_ANY);
  // Whoever started this process may have made sure of the port.
  if (launch.listener >= 0) {
    listener = Socket(launch.listener);
    fcntl(listener.get(), F_SETFD, FD_CLOEXEC);
  } else if (!bindAndListen(address, error)) {
    return false;
  }
  fcntl(listener.get(), F_SETFL, O_NONBLOCK);
  int ends[2];
  if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0) {
    error = std::string("no pipe: ") + std::strerror(errno);
    return false;
  }
  wakeRead = Socket(ends[0]);
  wakeWrite = Socket(ends[1]);
  joined.insert(0);
  thread = std::thread([this] { serve(); });
  return true;
}

bool ServerStore::bindAndListen(sockaddr_in &address, std::string &error) {
  listener = Socket(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  int yes = 1;
  setsockopt(listener.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
  if (bind(listener.get(), reinterpret_cast<sockaddr *>(&address),
           sizeof(address)) != 0 ||
      listen(listener.get(), 1024) != 0) {
    error = "rank 0 cannot listen at port " + std::to_string(launch.port) +
            ": " + std::strerror(errno) +
            (errno == EADDRINUSE
                 ? "; another job may use it: set MASTER_PORT to another one"
                 : "");
    return false;
  }
  return true;
}

const std::string *ServerStore::find(const std::string &name) const {
  auto found = values.find(name);
  if (found != values.end())
    return &found->second;
  static const std::string here;
  if (name.size() < 2 || name.compare(name.size() - 2, 2, "/*") != 0)
    return nullptr;
  for (int64_t rank = 0; rank < launch.size; ++rank)
    if (!values.count(name.substr(0, name.size() - 1) + std::to_string(rank)))
      return nullptr;
  return &here;
}

bool ServerStore::put(const std::string &name, const std::string &value,
                      std::string &error) {
  auto [entry, isNew] = values.try_emplace(name, value);
  if (isNew || entry->second == value)
    return true;
  error = "'" + name + "' is set already, to something else";
  return false;
}

bool ServerStore::set(const std::string &name, const std::string &value,
                      std::string &error) {
  if (static_cast<int64_t>(name.size() + value.size()) > maxBytes) {
    error = isTooLarge(name);
    return false;
  }
  std::lock_guard lock(mutex);
  bool done = put(name, value, error);
  changed.notify_all();
  (void)!write(wakeWrite.get(), "x", 1);
  return done;
}

bool ServerStore::get(const std::string &name, int64_t timeoutMs,
                      std::string &value, std::string &error) {
  std::unique_lock lock(mutex);
  bool isOver = changed.wait_for(lock, std::chrono::milliseconds(timeoutMs),
                                 [&] { return find(name) || !gone.empty(); });
  if (!find(name)) {
    error = isOver ? gone : waited(launch, timeoutMs, "'" + name + "'");
    return false;
  }
  value = *find(name);
  return true;
}

void ServerStore::answer(Connection &connection, uint32_t number, char verdict,
                         const std::string &text) {
  std::string body;
  append(body, number);
  body.push_back(verdict);
  connection.toSend += framed(body + text);
}

/// Lets a process join with `name`, its greeting; why not, or an empty string.
std::string ServerStore::join(Connection &connection, const std::string &name) {
  std::vector<std::string> parts;
  size_t at = 0;
  while (parts.size() < 3) {
    size_t end = name.find('\n', at);
    if (end == std::string::npos)
      return "this is not a process of shardrt's";
    parts.push_back(name.substr(at, end - at));
    at = end + 1;
  }
  std::string token = name.substr(at);
  if (parts[0] != greeting)
    return "this process is of another version";
  if (token != launch.token)
    return "this is job '" + launch.token + "', not '" + token + "'";
  if (parts[2] != std::to_string(launch.size))
    return "this job has " + std::to_string(launch.size) + " ranks, not " +
           parts[2];
  int64_t rank = std::strtoll(parts[1].c_str(), nullptr, 10);
  if (std::to_string(rank) != parts[1] || rank < 0 || rank >= launch.size)
    return "this job has no rank " + parts[1];
  if (!joined.insert(rank).second)
    return "rank " + parts[1] + " has joined already";
  connection.rank = rank;
  return {};
}

void ServerStore::handle(Connection &connection, const std::string &body) {
  if (body.size() < 9 || body.size() - 9 < wordAt(body, 5)) {
    connection.isClosing = true;
    return;
  }
  uint32_t number = wordAt(body, 0), length = wordAt(body, 5);
  std::string name = body.substr(9, length), value = body.substr(9 + length);
  if (connection.rank < 0) {
    std::string why =
        body[4] == 'J' ? join(connection, name) : "join the job first";
    answer(connection, number, why.empty() ? 'K' : 'R', why);
    connection.isClosing = !why.empty();
    return;
  }
  if (body[4] == 'G') {
    connection.waiting.push_back({number, name});
    return;
  }
  if (body[4] == 'M') {
    // Who has come waits already: the last one may go at once, rank 0 as well.
    std::string none;
    std::lock_guard lock(mutex);
    put(name + "/" + std::to_string(connection.rank), "here", none);
    changed.notify_all();
    connection.waiting.push_back({number, everybody(name)});
    return;
  }
  std::string why = "there is no such request";
  bool done = false;
  if (body[4] == 'S') {
    std::lock_guard lock(mutex);
    done = put(name, value, why);
    changed.notify_all();
  }
  answer(connection, number, done ? 'K' : 'R', done ? "" : why);
}

void ServerStore::serve() {
  constexpr int64_t joinNs = 10'000 * millisecond;
  int64_t stopAt = 0;
  while (true) {
    {
      std::lock_guard lock(mutex);
      bool isDone = true;
      for (Connection &connection : connections) {
        std::erase_if(connection.waiting, [&](const auto &get) {
          const std::string *value = find(get.second);
          // Who has gone does not bring what others wait for.
          bool isVain = !value && !gone.empty();
          if (value)
            answer(connection, get.first, 'K', *value);
          else if (isVain)
            answer(connection, get.first, 'R', gone);
          return value || isVain;
        });
        isDone &= connection.toSend.empty();
      }
      // What was asked and can be answered is answered before it goes.
      if (stopping && stopAt == 0)
        stopAt = nowNs() + 2000 * millisecond;
      if (stopping && (isDone || nowNs() > stopAt))
        return;
    }
    std::vector<pollfd> files = {{listener.get(), POLLIN, 0},
                                 {wakeRead.get(), POLLIN, 0}};
    for (Connection &connection : connections)
      files.push_back({connection.socket.get(),
                       static_cast<short>(
                           POLLIN | (connection.toSend.empty() ? 0 : POLLOUT)),
                       0});
    poll(files.data(), files.size(), 1000);
    char drain[64];
    while (read(wakeRead.get(), drain, sizeof(drain)) > 0)
      ;
    size_t at = 2;
    for (auto it = connections.begin(); it != connections.end();) {
      Connection &connection = *it;
      bool isHere = true;
      if (files[at++].revents & (POLLIN | POLLHUP | POLLERR))
        isHere = receiveSome(connection.socket.get(), connection.received);
      std::string body;
      bool isTooLong = false;
      while (!connection.isClosing &&
             takeMessage(connection.received, body, isTooLong))
        handle(connection, body);
      if (!connection.toSend.empty()) {
        ssize_t count = send(connection.socket.get(), connection.toSend.data(),
                             connection.toSend.size(), MSG_NOSIGNAL);
        if (count > 0)
          connection.toSend.erase(0, static_cast<size_t>(count));
        else if (count < 0 && errno != EAGAIN && errno != EWOULDBLOCK &&
                 errno != EINTR)
          isHere = false;
      }
      bool isIdle = connection.rank < 0 && nowNs() - connection.since > joinNs;
      bool isDone = connection.isClosing && connection.toSend.empty();
      if (isHere && !isTooLong && !isIdle && !isDone) {
        ++it;
        continue;
      }
      if (connection.rank >= 0) {
        std::lock_guard lock(mutex);
        if (gone.empty())
          gone = "rank " + std::to_string(connection.rank) +
                 " is gone: its process ended, or gave up, before the others";
        changed.notify_all();
      }
      it = connections.erase(it);
    }
    if (files[0].revents & POLLIN) {
      int fd = accept4(listener.get(), nullptr, nullptr,
                       SOCK_NONBLOCK | SOCK_CLOEXEC);
      if (fd >= 0) {
        connections.emplace_back();
        connections.back().socket = Socket(fd);
        connections.back().since = nowNs();
      }
    }
  }
}

//===----------------------------------------------------------------------===//
// The other ranks
//===----------------------------------------------------------------------===//

namespace {
class ClientStore final : public Store {
public:
  explicit ClientStore(const Launch &launch) : Store(launch) {}
  bool connectTo(int64_t timeoutMs, std::string &error);

  bool set(const std::string &name, const std::string &value,
           std::string &error) override;
  bool get(const std::string &name, int64_t timeoutMs, std::string &value,
           std::string &error) override {
    return ask('G', name, "", timeoutMs, value, error);
  }
  std::string address() const override;

private:
  bool come(const std::string &name, int64_t timeoutMs,
            std::string &error) override {
    std::string value;
    return ask('M', name, "", timeoutMs, value, error);
  }
  bool ask(char what, const std::string &name, const std::string &value,
           int64_t timeoutMs, std::string &result, std::string &error);
  std::string place() const {
    return launch.host + ":" + std::to_string(launch.port);
  }

  std::mutex mutex; ///< one request at a time
  Socket server;
  std::string received;
  uint32_t number = 0;
};
} // namespace

bool ClientStore::ask(char what, const std::string &name,
                      const std::string &value, int64_t timeoutMs,
                      std::string &result, std::string &error) {
  std::lock_guard lock(mutex);
  int64_t deadline = nowNs() + timeoutMs * millisecond;
  std::string gone = "rank " + std::to_string(launch.rank) +
                     ": the process of rank 0 at " + place() + " is gone";
  if (!sendAll(server.get(), request(++number, what, name, value), deadline)) {
    error = gone;
    return false;
  }
  bool isHere = true;
  while (true) {
    std::string body;
    bool isTooLong = false;
    while (takeMessage(received, body, isTooLong)) {
      // Answers to what was waited for in vain.
      if (body.size() < 5 || wordAt(body, 0) != number)
        continue;
      (body[4] == 'K' ? result : error) = body.substr(5);
      return body[4] == 'K';
    }
    if (!isHere || isTooLong) {
      error = gone;
      return false;
    }
    int64_t left = (deadline - nowNs() + millisecond - 1) / millisecond;
    if (left <= 0) {
      error = waited(launch, timeoutMs, "'" + name + "'");
      return false;
    }
    pollfd ready = {server.get(), POLLIN, 0};
    poll(&ready, 1, static_cast<int>(std::min<int64_t>(left, 1000)));
    if (ready.revents != 0)
      isHere = receiveSome(server.get(), received);
  }
}

std::string ClientStore::address() const {
  sockaddr_in mine = {};
  socklen_t length = sizeof(mine);
  char text[INET_ADDRSTRLEN] = "";
  if (getsockname(server.get(), reinterpret_cast<sockaddr *>(&mine), &length) !=
          0 ||
      !inet_ntop(AF_INET, &mine.sin_addr, text, sizeof(text)))
    return {};
  return text;
}

bool ClientStore::set(const std::string &name, const std::string &value,
                      std::string &error) {
  if (static_cast<int64_t>(name.size() + value.size()) > maxBytes) {
    error = isTooLarge(name);
    return false;
  }
  std::string none;
  return ask('S', name, value, 60'000, none, error);
}

/// A connection to `host`, or none; `why` not.
static Socket connectOnce(const std::string &host, int64_t port,
                          std::string &why) {
  addrinfo hints = {}, *found = nullptr;
  hints.ai_family = AF_INET;
  hints.ai_socktype = SOCK_STREAM;
  if (int failed = getaddrinfo(host.c_str(), std::to_string(port).c_str(),
                               &hints, &found)) {
    why = gai_strerror(failed);
    return Socket();
  }
  Socket made;
  for (addrinfo *info = found; info && made.get() < 0; info = info->ai_next) {
    Socket attempt(socket(info->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
    if (connect(attempt.get(), info->ai_addr, info->ai_addrlen) == 0)
      made = std::move(attempt);
    else
      why = std::strerror(errno);
  }
  freeaddrinfo(found);
  if (made.get() >= 0) {
    int yes = 1;
    setsockopt(made.get(), IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes));
    fcntl(made.get(), F_SETFL, O_NONBLOCK);
  }
  return made;
}

bool ClientStore::connectTo(int64_t timeoutMs, std::string &error) {
  int64_t deadline = nowNs() + timeoutMs * millisecond;
  std::string why;
  int64_t pause = 1;
  while ((server = connectOnce(launch.host, launch.port, why)).get() < 0) {
    if (nowNs() >= deadline) {
      error = waited(launch, timeoutMs,
                     "rank 0 to listen at " + place() + ": " + why);
      return false;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(pause));
    pause = std::min<int64_t>(2 * pause, 50);
  }
  int64_t left = std::max<int64_t>((deadline - nowNs()) / millisecond, 1000);
  std::string none, hello = std::string(greeting) + "\n" +
                            std::to_string(launch.rank) + "\n" +
                            std::to_string(launch.size) + "\n" + launch.token;
  if (ask('J', hello, "", left, none, error))
    return true;
  error = "rank " + std::to_string(launch.rank) + " cannot join at " + place() +
          ": " + error;
  return false;
}

std::unique_ptr<Store> Store::join(const Launch &launch, int64_t timeoutMs,
                                   std::string &error) {
  if (launch.rank == 0) {
    auto store = std::make_unique<ServerStore>(launch);
    if (!store->listenAt(error))
      return nullptr;
    return store;
  }
  auto store = std::make_unique<ClientStore>(launch);
  if (!store->connectTo(timeoutMs, error))
    return nullptr;
  return store;
}
