//===- Store.cpp - Values that the processes of a job share ---------------===//
//
// A connection begins at the door (Door.h); then messages are sealed.
// A request: 4 bytes that number it, a letter (S set, G get, M barrier, W who
// is missing, H is all well, L the sender leaves, and why), the length of a
// name in 4 bytes, the name, a value. An answer: the same number, K and a
// value, or R and why not; number 0 says whether who has proven itself is let
// in. A get is answered when there is a value: who does not wait as long
// forgets its number. One thread serves all connections.
//
//===----------------------------------------------------------------------===//

#include "Comm/Bootstrap/Store.h"
#include "Comm/Bootstrap/Door.h"
#include "Comm/Bootstrap/Secret.h"
#include "Host/Clock.h"
#include "shardrt/shardrt.h"
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
#include <poll.h>
#include <set>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>
#include <utility>
#include <vector>

using namespace shardrt;
namespace crypto = shardc::crypto;

static constexpr int64_t millisecond = 1'000'000;
static constexpr const char *purpose = "store";

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

static std::string request(uint32_t number, char what, const std::string &name,
                           const std::string &value) {
  std::string body;
  append(body, number);
  body.push_back(what);
  append(body, static_cast<uint32_t>(name.size()));
  return body + name + value;
}

/// How the error of a rank that waited in vain begins.
static std::string hasWaited(const Launch &launch) {
  return "rank " + std::to_string(launch.rank) + " waited ";
}
static std::string waited(const Launch &launch, int64_t timeoutMs,
                          const std::string &what) {
  return hasWaited(launch) + std::to_string(timeoutMs) + " ms for " + what;
}

/// What proven processes may send before it is handled.
static constexpr size_t mostWaiting = 4 * Store::maxBytes;

static std::string isTooLarge(const std::string &name) {
  return "the value of '" + name + "' has more than " +
         std::to_string(Store::maxBytes) + " bytes";
}

/// What each rank sets when it reaches `name`, and what stands for all of
/// them.
static std::string partOf(const std::string &name, int64_t rank) {
  return name + "@" + std::to_string(rank);
}
static std::string everybody(const std::string &name) { return name + "@*"; }

int64_t shardrt::ownerOf(const std::string &name) {
  size_t at = name.rfind('@');
  if (at == std::string::npos)
    return -1;
  std::string text = name.substr(at + 1, name.find('/', at) - at - 1);
  int64_t owner = std::strtoll(text.c_str(), nullptr, 10);
  return std::to_string(owner) == text && owner >= 0 ? owner : -1;
}

/// How the two sides of a connection to the store know it.
static Link linkOf(const Launch &launch) {
  return {purpose, launch.token, launch.port, 0};
}

static uint32_t flagsOf(const Launch &launch) { return launch.encrypts; }

/// Where nobody has a secret: the same for all who know the job's name.
static crypto::Key secretOfNobody() {
  return crypto::sha256(crypto::bytesOf("shardrt, insecure"));
}

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

void Store::explain(const std::string &name, std::string &error) {
  failedWith = SHARDRT_LOST;
  int64_t owner = ownerOf(name);
  std::vector<int64_t> parts, strangers;
  Missing known = whoIsMissing(name, parts, strangers);
  if (known == Missing::Gone)
    return;
  if (known == Missing::Silent) {
    failedWith = SHARDRT_WATCHDOG;
    error += "\nrank 0, which keeps what ranks tell one another, does not "
             "answer: its process may be stopped";
    return;
  }
  if (owner < 0 || owner == launch.rank)
    return;
  if (std::count(strangers.begin(), strangers.end(), owner)) {
    error += " of rank " + std::to_string(owner) + ", which has not joined";
    return;
  }
  failedWith = SHARDRT_WATCHDOG;
  error += " of rank " + std::to_string(owner) +
           ", which has joined and gone no further: it" + maybeStopped;
}

bool Store::barrier(const std::string &name, int64_t timeoutMs,
                    std::string &error) {
  failedWith = SHARDRT_LOST;
  gaveUp.clear();
  if (come(name, timeoutMs, error))
    return true;
  if (!error.starts_with(hasWaited(launch)))
    return false;
  std::vector<int64_t> parts, strangers;
  if (whoIsMissing(name, parts, strangers) != Missing::Known) {
    explain(name, error);
    return false;
  }
  if (parts.empty())
    return false;
  error =
      waited(launch, timeoutMs, namesOf(parts) + " to come to '" + name + "'");
  bool haveJoined = std::none_of(parts.begin(), parts.end(), [&](int64_t rank) {
    return std::count(strangers.begin(), strangers.end(), rank) != 0;
  });
  if (haveJoined) {
    failedWith = SHARDRT_WATCHDOG;
    error += ", which joined and went no further: " +
             std::string(parts.size() == 1 ? "it" : "they") + maybeStopped;
  }
  gaveUp = error;
  return false;
}

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

static void readMissing(const std::string &text, std::vector<int64_t> &parts,
                        std::vector<int64_t> &strangers) {
  std::vector<int64_t> *list = &parts;
  for (const char *at = text.c_str(); *at;) {
    if (*at == ';' || *at == ' ') {
      if (*at++ == ';')
        list = &strangers;
      continue;
    }
    char *end = nullptr;
    list->push_back(std::strtoll(at, &end, 10));
    if (end == at)
      return;
    at = end;
  }
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

  bool set(const std::string &name, const std::string &value,
           std::string &error) override;
  bool get(const std::string &name, int64_t timeoutMs, std::string &value,
           std::string &error) override;
  bool isBroken(std::string &who) override {
    std::string stopped;
    siblings.isOneStopped(stopped);
    std::lock_guard lock(mutex);
    if (gone.empty())
      gone = stopped;
    who = gone;
    return !gone.empty();
  }
  std::string address() const override { return ownAddress; }

private:
  bool come(const std::string &name, int64_t timeoutMs,
            std::string &error) override {
    std::string value;
    return set(partOf(name, 0), "here", error) &&
           await(everybody(name), timeoutMs, value, error);
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
  bool await(const std::string &name, int64_t timeoutMs, std::string &value,
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

  Socket wakeRead, wakeWrite, news;
  std::string ownAddress;
  std::thread thread;
  Door door;                         ///< the thread's
  std::list<Connection> connections; ///< the thread's
  std::mutex mutex;                  ///< guards what follows
  std::condition_variable changed;
  std::set<int64_t> joined;
  std::map<std::string, std::string> values;
  std::string gone; ///< who had joined and is not there any more; "" if nobody
  bool stopping = false;
};
} // namespace

ServerStore::~ServerStore() {
  if (thread.joinable()) {
    {
      std::lock_guard lock(mutex);
      stopping = true;
      if (gone.empty())
        gone = gaveUp;
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
  if (await(name, timeoutMs, value, error))
    return true;
  if (error.starts_with(hasWaited(launch)))
    explain(name, error);
  return false;
}

bool ServerStore::await(const std::string &name, int64_t timeoutMs,
                        std::string &value, std::string &error) {
  int64_t deadline = nowNs() + timeoutMs * millisecond;
  std::unique_lock lock(mutex);
  bool isOver = false;
  while (!isOver && nowNs() < deadline) {
    int64_t left = (deadline - nowNs() + millisecond - 1) / millisecond;
    isOver = changed.wait_for(
        lock, std::chrono::milliseconds(std::min<int64_t>(left, 100)),
        [&] { return find(name) || !gone.empty(); });
    if (isOver)
      break;
    lock.unlock();
    std::string who;
    bool isStopped = siblings.isOneStopped(who);
    lock.lock();
    // Those who wait for an answer get the reason as well.
    if (isStopped && gone.empty()) {
      gone = who;
      (void)!write(wakeWrite.get(), "x", 1);
    }
  }
  if (!find(name)) {
    if (saysStopped(gone))
      failedWith = SHARDRT_WATCHDOG;
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
    if (gone.empty())
      gone = value;
    changed.notify_all();
    return;
  case 'H':
    answer(connection, number, gone.empty() ? 'K' : 'R', gone);
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
      bool isVain = !value && !gone.empty();
      if (value)
        answer(connection, get.first, 'K', *value);
      else if (isVain)
        answer(connection, get.first, 'R', gone);
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
    if (gone.empty())
      gone = "rank " + std::to_string(connection->rank) +
             " is gone: its process ended, or gave up, before the others";
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
  if (gone.empty())
    gone = "rank " + std::to_string(rank) +
           " is gone: its process was ended "
           "by signal " +
           std::to_string(number) + " before the others";
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

//===----------------------------------------------------------------------===//
// The other ranks
//===----------------------------------------------------------------------===//

namespace {
class ClientStore final : public Store {
public:
  explicit ClientStore(const Launch &launch) : Store(launch) {}
  ~ClientStore() override;
  bool connectTo(int64_t timeoutMs, std::string &error);

  bool set(const std::string &name, const std::string &value,
           std::string &error) override;
  bool get(const std::string &name, int64_t timeoutMs, std::string &value,
           std::string &error) override;
  bool isBroken(std::string &who) override;
  std::string address() const override;

private:
  bool come(const std::string &name, int64_t timeoutMs,
            std::string &error) override {
    std::string value;
    return ask('M', name, "", timeoutMs, value, error);
  }
  Missing whoIsMissing(const std::string &name, std::vector<int64_t> &parts,
                       std::vector<int64_t> &strangers) override;
  bool ask(char what, const std::string &name, const std::string &value,
           int64_t timeoutMs, std::string &result, std::string &error);
  /// Reports to the others which ranks were stopped or did not come before this
  /// one leaves, so that they do not miss this one. Caller holds the mutex.
  void leaveBecause(const std::string &why);
  /// Waits for the answer with this number.
  bool receive(uint32_t wanted, int64_t deadline, std::string &result,
               std::string &error, bool &isLate);
  enum class Attempt { Joined, Again, Refused };
  /// One connection and handshake, until `soon`, and its verdict, until
  /// `deadline`: who has proven itself may have been let in, and nobody is
  /// twice.
  Attempt tryToJoin(int64_t soon, int64_t deadline, std::string &why);
  std::string place() const {
    return launch.host + ":" + std::to_string(launch.port);
  }
  std::string isGone() const {
    return "rank " + std::to_string(launch.rank) +
           ": the process of rank 0 at " + place() + " is gone";
  }

  std::mutex mutex; ///< one request at a time
  Socket server;
  SealedStream stream;
  std::string received;
  uint32_t number = 0;
  bool hasJoined = false;
};
} // namespace

ClientStore::~ClientStore() {
  if (!gaveUp.empty())
    leaveBecause(gaveUp);
  // Who was killed while ranks came together did not clear up.
  std::string who;
  if (hasJoined && !launch.secretFile.empty() &&
      access(launch.secretFile.c_str(), F_OK) == 0 && isBroken(who))
    removeSecret(launch, jobSecret);
}

bool ClientStore::receive(uint32_t wanted, int64_t deadline,
                          std::string &result, std::string &error,
                          bool &isLate) {
  isLate = false;
  bool isHere = true;
  while (true) {
    std::string body;
    SealedStream::Taken taken;
    while ((taken = stream.take(received, body, 2 * maxBytes)) ==
           SealedStream::Taken::Frame) {
      // Answers to what was waited for in vain.
      if (body.size() < 5 || wordAt(body, 0) != wanted)
        continue;
      (body[4] == 'K' ? result : error) = body.substr(5);
      return body[4] == 'K';
    }
    if (taken == SealedStream::Taken::Forged) {
      // Nothing that comes after can be believed.
      server = Socket();
      error = "rank " + std::to_string(launch.rank) + ": somebody changed " +
              "what the process of rank 0 at " + place() + " said";
      return false;
    }
    if (!isHere || server.get() < 0) {
      error = isGone();
      return false;
    }
    int64_t left = (deadline - nowNs() + millisecond - 1) / millisecond;
    if (left <= 0) {
      isLate = true;
      return false;
    }
    pollfd ready = {server.get(), POLLIN, 0};
    poll(&ready, 1, static_cast<int>(std::min<int64_t>(left, 100)));
    if (ready.revents != 0)
      isHere = receiveSome(server.get(), received, mostWaiting);
    else if (siblings.isOneStopped(error))
      return false;
  }
}

bool ClientStore::ask(char what, const std::string &name,
                      const std::string &value, int64_t timeoutMs,
                      std::string &result, std::string &error) {
  std::lock_guard lock(mutex);
  int64_t deadline = nowNs() + timeoutMs * millisecond;
  std::string frame = stream.seal(request(++number, what, name, value));
  if (server.get() < 0 || !sendAll(server.get(), frame, deadline)) {
    // Part of a frame may have gone: nothing can follow it.
    server = Socket();
    error = isGone();
    return false;
  }
  bool isLate = false;
  if (receive(number, deadline, result, error, isLate))
    return true;
  if (saysStopped(error))
    leaveBecause(error);
  if (isLate)
    error = waited(launch, timeoutMs, "'" + name + "'");
  return false;
}

bool ClientStore::get(const std::string &name, int64_t timeoutMs,
                      std::string &value, std::string &error) {
  failedWith = SHARDRT_LOST;
  if (ask('G', name, "", timeoutMs, value, error))
    return true;
  if (error.starts_with(hasWaited(launch)))
    explain(name, error);
  return false;
}

void ClientStore::leaveBecause(const std::string &why) {
  failedWith = SHARDRT_WATCHDOG;
  if (server.get() >= 0)
    sendAll(server.get(), stream.seal(request(++number, 'L', "", why)),
            nowNs() + 100 * millisecond);
}

bool ClientStore::isBroken(std::string &who) {
  if (siblings.isOneStopped(who)) {
    std::lock_guard lock(mutex);
    leaveBecause(who);
    return true;
  }
  std::string none;
  return !ask('H', "", "", 500, none, who) &&
         !who.starts_with(hasWaited(launch));
}

Store::Missing ClientStore::whoIsMissing(const std::string &name,
                                         std::vector<int64_t> &parts,
                                         std::vector<int64_t> &strangers) {
  std::string text, why;
  if (!ask('W', name, "", 500, text, why))
    return why.starts_with(hasWaited(launch)) ? Missing::Silent : Missing::Gone;
  readMissing(text, parts, strangers);
  return Missing::Known;
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
  failedWith = SHARDRT_LOST;
  return ask('S', name, value, 60'000, none, error);
}

ClientStore::Attempt ClientStore::tryToJoin(int64_t soon, int64_t deadline,
                                            std::string &why) {
  if (launch.secret) {
    jobSecret = *launch.secret;
  } else if (launch.secretFile.empty()) {
    jobSecret = secretOfNobody();
  } else if (std::string unread =
                 crypto::readSecretFile(launch.secretFile, jobSecret);
             !unread.empty()) {
    why = "no secret from rank 0: " + unread;
    return Attempt::Again;
  }
  LinkKeys keys;
  switch (knock(launch.host, launch.port, soon, jobSecret, linkOf(launch),
                {launch.rank, launch.size, flagsOf(launch)}, server, keys,
                received, why)) {
  case Knock::Proven:
    break;
  case Knock::Again:
    // There somebody listens before ranks are started.
    if (launch.launcher != "shard-run" || why != std::strerror(ECONNREFUSED))
      return Attempt::Again;
    why = "it is gone";
    return Attempt::Refused;
  case Knock::Stranger:
    // What was read may be of a job before this one.
    return launch.secret ? Attempt::Refused : Attempt::Again;
  }
  stream = SealedStream(keys);
  std::string none, refusal;
  bool isLate = false;
  if (receive(0, deadline, none, refusal, isLate))
    return Attempt::Joined;
  why = "there was no answer";
  // Who closes without a word may have had too many strangers there.
  if (!saysStopped(refusal) &&
      (isLate || server.get() < 0 || refusal == isGone()))
    return Attempt::Again;
  why = refusal;
  return Attempt::Refused;
}

bool ClientStore::connectTo(int64_t timeoutMs, std::string &error) {
  int64_t deadline = nowNs() + timeoutMs * millisecond;
  std::string why;
  for (int64_t pause = 1;; pause = std::min<int64_t>(2 * pause, 50)) {
    // Between attempts it looks whether rank 0 was stopped.
    int64_t soon = std::min(deadline, nowNs() + 1000 * millisecond);
    Attempt attempt = tryToJoin(soon, deadline, why);
    if (attempt == Attempt::Joined)
      break;
    server = Socket();
    if (siblings.isOneStopped(error))
      return false;
    if (attempt == Attempt::Refused) {
      error = "rank " + std::to_string(launch.rank) + " cannot join at " +
              place() + ": " + why;
      return false;
    }
    if (nowNs() >= deadline) {
      error = waited(launch, timeoutMs,
                     "rank 0 to listen at " + place() + ": " + why);
      return false;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(pause));
  }
  return hasJoined = true;
}

std::unique_ptr<Store> Store::join(const Launch &launch, int64_t timeoutMs,
                                   std::string &error) {
  if (!launch.secret && launch.secretFile.empty() && !launch.isInsecure) {
    error = "there is no secret by which ranks know one another";
    return nullptr;
  }
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
