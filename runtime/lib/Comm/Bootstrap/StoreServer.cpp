//===- StoreServer.cpp - The store's side of rank 0 -----------------------===//

#include "Comm/Bootstrap/Secret.h"
#include "Comm/Bootstrap/StoreMessages.h"
#include "Host/Absence.h"
#include "Host/Clock.h"
#include "shardrt/shardrt.h"
#include <algorithm>
#include <arpa/inet.h>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <fcntl.h>
#include <list>
#include <map>
#include <mutex>
#include <poll.h>
#include <set>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>
#include <utility>
#include <vector>

using namespace shardrt;
namespace crypto = shardc::crypto;

/// `1 2;2`: the two lists of whoIsMissing.
static std::string textOf(const std::vector<int64_t> &parts,
                          const std::vector<int64_t> &strangers) {
  std::string text;
  for (int64_t rank : parts)
    text += std::to_string(rank) + " ";
  text += ";";
  for (int64_t rank : strangers)
    text += std::to_string(rank) + " ";
  return text;
}

namespace {
class ServerStore final : public Store {
public:
  explicit ServerStore(const Launch &launch) : Store(launch) {}
  ~ServerStore() override;
  bool listenAt(std::string &error);

  bool set(const std::string &name, const std::string &value,
           std::string &error) override;
  bool get(const std::string &name, int64_t timeoutMs, std::string &value,
           std::string &error) override;
  bool isBroken(Loss &loss) override {
    Loss stopped;
    siblings.isOneStopped(stopped);
    std::lock_guard lock(mutex);
    lose(stopped);
    if (gone)
      loss = gone;
    return static_cast<bool>(gone);
  }
  std::string address() const override { return ownAddress; }

private:
  Answer come(const std::string &name, int64_t timeoutMs,
              std::string &error) override {
    std::string value;
    return set(partOf(name, 0), "here", error)
               ? await(everybody(name), timeoutMs, value, error)
               : Answer::Refused;
  }
  Missing whoIsMissing(const std::string &name, std::vector<int64_t> &parts,
                       std::vector<int64_t> &strangers) override {
    std::lock_guard lock(mutex);
    findMissing(name, parts, strangers);
    return Missing::Known;
  }
  struct Connection {
    Socket socket;
    SealedStream stream;
    std::string received, toSend;
    int64_t rank = -1; ///< -1: is not let in
    std::vector<std::pair<uint32_t, std::string>> waiting; ///< gets
    bool isClosing = false;                                ///< when all is sent
  };
  Answer await(const std::string &name, int64_t timeoutMs, std::string &value,
               std::string &error);
  void serve();
  /// Answers what can be answered; false: it is time to end.
  bool answerAll();
  /// Reads, handles and writes what there is; false: the connection is over.
  bool advance(Connection &connection);
  void welcome(Door::Guest guest);
  std::list<Connection>::iterator
  remove(std::list<Connection>::iterator connection);
  /// All ranks are there: nobody else is let in.
  void closeDoor();
  void readNews();
  void answer(Connection &connection, uint32_t number, char verdict,
              const std::string &text);
  void handle(Connection &connection, const std::string &body);
  std::string admit(Connection &connection, const Claim &claim);
  /// Caller holds the mutex, here and below. NULL: there is no such value yet.
  const std::string *find(const std::string &name) const;
  bool put(const std::string &name, const std::string &value, int64_t rank,
           std::string &error);
  void findMissing(const std::string &name, std::vector<int64_t> &parts,
                   std::vector<int64_t> &strangers) const;
  /// The first loss is the one that all are told of.
  void lose(const Loss &loss) {
    if (!gone)
      gone = loss;
  }
  /// Says in vain, and why, to who waits.
  void answerGone(Connection &connection, uint32_t number) {
    answer(connection, number, gone.kind == Loss::Kind::Stopped ? 'P' : 'R',
           gone.text);
  }

  Socket wakeRead, wakeWrite, news;
  std::string ownAddress;
  std::thread thread;
  Door door;                         ///< the thread's
  std::list<Connection> connections; ///< the thread's
  std::mutex mutex;                  ///< guards what follows
  std::condition_variable changed;
  std::set<int64_t> joined;
  std::map<std::string, std::string> values;
  Loss gone; ///< who had joined and is not there any more
  bool stopping = false;
};
} // namespace

ServerStore::~ServerStore() {
  if (thread.joinable()) {
    {
      std::lock_guard lock(mutex);
      stopping = true;
      lose(gaveUp);
    }
    (void)!write(wakeWrite.get(), "x", 1);
    thread.join();
  }
  removeSecret(launch, jobSecret);
}

bool ServerStore::listenAt(std::string &error) {
  if (launch.news >= 0) {
    news = Socket(launch.news);
    fcntl(news.get(), F_SETFD, FD_CLOEXEC);
    fcntl(news.get(), F_SETFL, O_NONBLOCK);
  }
  Socket listener;
  // Whoever started this process may have made sure of the port.
  if (launch.listener >= 0) {
    listener = Socket(launch.listener);
    fcntl(listener.get(), F_SETFD, FD_CLOEXEC);
    sockaddr_in mine = {};
    socklen_t length = sizeof(mine);
    char text[INET_ADDRSTRLEN] = "127.0.0.1";
    if (getsockname(listener.get(), reinterpret_cast<sockaddr *>(&mine),
                    &length) == 0)
      inet_ntop(AF_INET, &mine.sin_addr, text, sizeof(text));
    ownAddress = text;
  } else {
    int64_t port = 0;
    std::string why;
    listener =
        shardrt::listenAt(launch.host, launch.port, ownAddress, port, why);
    if (listener.get() < 0) {
      error = "rank 0 cannot listen at " + launch.host + ":" +
              std::to_string(launch.port) + ": " + why;
      return false;
    }
  }
  if (launch.secret) {
    jobSecret = *launch.secret;
  } else if (!launch.secretFile.empty()) {
    jobSecret = crypto::randomKey();
    error = shareSecret(launch, jobSecret);
    if (!error.empty()) {
      error = "rank 0: no secret for this job: " + error;
      return false;
    }
  } else {
    jobSecret = secretOfNobody();
  }
  fcntl(listener.get(), F_SETFL, O_NONBLOCK);
  door.open(std::move(listener), jobSecret, linkOf(launch));
  int ends[2];
  if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0) {
    error = std::string("no pipe: ") + std::strerror(errno);
    return false;
  }
  wakeRead = Socket(ends[0]);
  wakeWrite = Socket(ends[1]);
  joined.insert(0);
  if (launch.size == 1)
    closeDoor();
  thread = std::thread([this] { serve(); });
  return true;
}

const std::string *ServerStore::find(const std::string &name) const {
  auto found = values.find(name);
  if (found != values.end())
    return &found->second;
  static const std::string here;
  if (!name.ends_with("@*"))
    return nullptr;
  for (int64_t rank = 0; rank < launch.size; ++rank)
    if (!values.count(name.substr(0, name.size() - 1) + std::to_string(rank)))
      return nullptr;
  return &here;
}

bool ServerStore::put(const std::string &name, const std::string &value,
                      int64_t rank, std::string &error) {
  int64_t owner = ownerOf(name);
  if ((owner >= 0 && owner != rank) || name.ends_with("@*")) {
    error =
        "'" + name + "' is not for rank " + std::to_string(rank) + " to set";
    return false;
  }
  auto [entry, isNew] = values.try_emplace(name, value);
  if (isNew || entry->second == value)
    return true;
  error = "'" + name + "' is set already, to something else";
  return false;
}

void ServerStore::findMissing(const std::string &name,
                              std::vector<int64_t> &parts,
                              std::vector<int64_t> &strange) const {
  for (int64_t rank = 0; rank < launch.size; ++rank) {
    if (!values.count(partOf(name, rank)))
      parts.push_back(rank);
    if (!joined.count(rank))
      strange.push_back(rank);
  }
}

bool ServerStore::set(const std::string &name, const std::string &value,
                      std::string &error) {
  if (static_cast<int64_t>(name.size() + value.size()) > maxBytes) {
    error = isTooLarge(name);
    return false;
  }
  std::lock_guard lock(mutex);
  bool done = put(name, value, 0, error);
  changed.notify_all();
  (void)!write(wakeWrite.get(), "x", 1);
  return done;
}

bool ServerStore::get(const std::string &name, int64_t timeoutMs,
                      std::string &value, std::string &error) {
  failedWith = SHARDRT_LOST;
  Answer answer = await(name, timeoutMs, value, error);
  if (answer == Answer::Late)
    explain(name, error);
  return answer == Answer::Given;
}

Store::Answer ServerStore::await(const std::string &name, int64_t timeoutMs,
                                 std::string &value, std::string &error) {
  WaitLimit limit(timeoutMs * millisecond);
  std::unique_lock lock(mutex);
  auto isOver = [&] { return find(name) || gone; };
  for (int64_t left; !isOver() && (left = limit.leftNs()) > 0;) {
    if (changed.wait_for(lock,
                         std::chrono::nanoseconds(
                             std::min<int64_t>(left, 100 * millisecond)),
                         isOver))
      break;
    lock.unlock();
    Loss stopped;
    siblings.isOneStopped(stopped);
    lock.lock();
    // Those who wait for an answer get the reason as well.
    if (stopped && !gone) {
      gone = stopped;
      (void)!write(wakeWrite.get(), "x", 1);
    }
  }
  if (!find(name)) {
    if (!gone) {
      error = waited(launch, timeoutMs, "'" + name + "'");
      return Answer::Late;
    }
    if (gone.kind == Loss::Kind::Stopped)
      failedWith = gone.status();
    error = gone.text;
    return Answer::Refused;
  }
  value = *find(name);
  return Answer::Given;
}

void ServerStore::answer(Connection &connection, uint32_t number, char verdict,
                         const std::string &text) {
  std::string body;
  append(body, number);
  body.push_back(verdict);
  connection.toSend += connection.stream.seal(body + text);
}

/// Lets a process in that has proven `claim`; why not, or an empty string.
std::string ServerStore::admit(Connection &connection, const Claim &claim) {
  std::string rank = std::to_string(claim.rank);
  if (claim.size != launch.size)
    return "this job has " + std::to_string(launch.size) + " ranks, not " +
           std::to_string(claim.size);
  if (claim.rank >= launch.size)
    return "this job has no rank " + rank;
  if (claim.flags != flagsOf(launch))
    return "rank " + rank + " was started " +
           (launch.encrypts ? "without" : "with") + " --encrypt, rank 0 " +
           (launch.encrypts ? "with it" : "without") +
           ": start all ranks with the same options";
  std::lock_guard lock(mutex);
  if (!joined.insert(claim.rank).second)
    return "rank " + rank + " has joined already";
  connection.rank = claim.rank;
  return {};
}

void ServerStore::handle(Connection &connection, const std::string &body) {
  if (body.size() < 9 || body.size() - 9 < wordAt(body, 5)) {
    connection.isClosing = true;
    return;
  }
  uint32_t number = wordAt(body, 0), length = wordAt(body, 5);
  std::string name = body.substr(9, length), value = body.substr(9 + length);
  std::string why = "there is no such request";
  bool done = false;
  std::lock_guard lock(mutex);
  switch (body[4]) {
  case 'G':
    connection.waiting.push_back({number, name});
    return;
  case 'M':
    // Who has come waits already: the last one may go at once, rank 0 as well.
    put(partOf(name, connection.rank), "here", connection.rank, why);
    changed.notify_all();
    connection.waiting.push_back({number, everybody(name)});
    return;
  case 'W': {
    std::vector<int64_t> parts, strange;
    findMissing(name, parts, strange);
    answer(connection, number, 'K', textOf(parts, strange));
    return;
  }
  case 'L':
  case 'P':
    lose({body[4] == 'P' ? Loss::Kind::Stopped : Loss::Kind::Gone, value});
    changed.notify_all();
    return;
  case 'H':
    if (gone)
      answerGone(connection, number);
    else
      answer(connection, number, 'K', {});
    return;
  case 'S':
    done = put(name, value, connection.rank, why);
    changed.notify_all();
    break;
  }
  answer(connection, number, done ? 'K' : 'R', done ? "" : why);
}

bool ServerStore::answerAll() {
  std::lock_guard lock(mutex);
  bool isDone = true;
  for (Connection &connection : connections) {
    std::erase_if(connection.waiting, [&](const auto &get) {
      const std::string *value = find(get.second);
      // Who has gone does not set what others wait for.
      bool isVain = !value && gone;
      if (value)
        answer(connection, get.first, 'K', *value);
      else if (isVain)
        answerGone(connection, get.first);
      return value || isVain;
    });
    isDone &= connection.toSend.empty();
  }
  return !stopping || !isDone;
}

bool ServerStore::advance(Connection &connection) {
  bool isHere =
      receiveSome(connection.socket.get(), connection.received, mostWaiting);
  std::string body;
  while (!connection.isClosing) {
    auto taken =
        connection.stream.take(connection.received, body, 2 * maxBytes);
    if (taken == SealedStream::Taken::Forged)
      return false;
    if (taken == SealedStream::Taken::Nothing)
      break;
    handle(connection, body);
  }
  if (!connection.toSend.empty()) {
    ssize_t count = send(connection.socket.get(), connection.toSend.data(),
                         connection.toSend.size(), MSG_NOSIGNAL);
    if (count > 0)
      connection.toSend.erase(0, static_cast<size_t>(count));
    else if (count < 0 && errno != EAGAIN && errno != EWOULDBLOCK &&
             errno != EINTR)
      return false;
  }
  return isHere && !(connection.isClosing && connection.toSend.empty());
}

void ServerStore::welcome(Door::Guest guest) {
  Connection &connection = connections.emplace_back();
  connection.socket = std::move(guest.socket);
  connection.stream = SealedStream(guest.keys);
  connection.received = std::move(guest.received);
  std::string why = admit(connection, guest.claim);
  answer(connection, 0, why.empty() ? 'K' : 'R', why);
  connection.isClosing = !why.empty();
  if (!advance(connection))
    remove(std::prev(connections.end()));
}

std::list<ServerStore::Connection>::iterator
ServerStore::remove(std::list<Connection>::iterator connection) {
  if (connection->rank >= 0) {
    std::lock_guard lock(mutex);
    lose({Loss::Kind::Gone,
          "rank " + std::to_string(connection->rank) +
              " is gone: its process ended, or gave up, before the others"});
    changed.notify_all();
  }
  return connections.erase(connection);
}

void ServerStore::closeDoor() {
  door.shut();
  removeSecret(launch, jobSecret);
}

void ServerStore::readNews() {
  char text[256];
  ssize_t count = recv(news.get(), text, sizeof(text) - 1, 0);
  if (count < 0 && (errno == EAGAIN || errno == EINTR))
    return;
  if (count <= 0) {
    news = Socket();
    return;
  }
  text[count] = 0;
  char *end = nullptr;
  int64_t rank = std::strtoll(text, &end, 10);
  int64_t number = std::strtoll(end, nullptr, 10);
  std::lock_guard lock(mutex);
  lose({Loss::Kind::Gone, "rank " + std::to_string(rank) +
                              " is gone: its process was ended by signal " +
                              std::to_string(number) + " before the others"});
  changed.notify_all();
}

void ServerStore::serve() {
  int64_t stopAt = 0;
  while (true) {
    // What was asked and can be answered is answered before it goes.
    if (!answerAll())
      return;
    {
      std::lock_guard lock(mutex);
      if (stopping && stopAt == 0)
        stopAt = nowNs() + 2000 * millisecond;
      if (stopping && nowNs() > stopAt)
        return;
    }
    std::vector<pollfd> files = {{wakeRead.get(), POLLIN, 0},
                                 {news.get(), POLLIN, 0}};
    for (Connection &connection : connections)
      files.push_back({connection.socket.get(),
                       static_cast<short>(
                           POLLIN | (connection.toSend.empty() ? 0 : POLLOUT)),
                       0});
    int longest = door.watch(files);
    poll(files.data(), files.size(), longest);
    char drain[64];
    while (read(wakeRead.get(), drain, sizeof(drain)) > 0)
      ;
    if (files[1].revents != 0)
      readNews();
    for (auto it = connections.begin(); it != connections.end();)
      it = advance(*it) ? std::next(it) : remove(it);
    for (Door::Guest &guest : door.look())
      welcome(std::move(guest));
    if (door.isOpen()) {
      std::unique_lock lock(mutex);
      bool isComplete = static_cast<int64_t>(joined.size()) == launch.size;
      lock.unlock();
      if (isComplete)
        closeDoor();
    }
  }
}

std::unique_ptr<Store> shardrt::serveStore(const Launch &launch,
                                           std::string &error) {
  auto store = std::make_unique<ServerStore>(launch);
  return store->listenAt(error) ? std::move(store) : nullptr;
}
