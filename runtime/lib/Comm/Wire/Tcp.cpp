//===- Tcp.cpp - Messages over sockets ------------------------------------===//
//
// A connection for each pair of processes. A thread reads all of them, so that
// no two ranks that send at the same time wait for each other, and writes what
// did not fit at once.
//
// On the wire a frame is its head and a tag of 16 bytes, then its body in
// chunks, a tag behind each. Tags are numbered through all of a connection's
// direction: a frame that was changed, left out, repeated or moved is noticed
// before anything of it is used. The head is checked before there is memory for
// the body. Without encryption only tags are made (Poly1305 over what goes as it
// is, about 4 GB/s), with it the same bytes are encrypted too (ChaCha20). Chunks
// are small enough that what is checked is still in the cache that it came to.
//
//===----------------------------------------------------------------------===//

#include "Comm/Wire/Tcp.h"
#include "Comm/Bootstrap/Door.h"
#include "Comm/Wire/Contact.h"
#include "Core/Clock.h"
#include "shardrt/shardrt.h"
#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <deque>
#include <fcntl.h>
#include <mutex>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <thread>
#include <unistd.h>
#include <utility>
#include <vector>

using namespace shardrt;
namespace crypto = shardc::crypto;

static constexpr int64_t millisecond = 1'000'000;
static constexpr int64_t mostBytes = int64_t(1) << 46;
static constexpr int64_t tagBytes = crypto::sealBytes;
static constexpr int64_t headBytes = sizeof(Frame) + tagBytes;
static constexpr int64_t chunkBytes = 256 << 10;

static crypto::Bytes bytesAt(const void *at, int64_t bytes) {
  return {static_cast<const uint8_t *>(at), static_cast<size_t>(bytes)};
}

namespace {
class TcpCarrier final : public Carrier {
public:
  TcpCarrier(std::vector<Line> lines, bool encrypts);
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
    // Of the part of it that is being sent: a chunk, before the first the head.
    bool hasBegun = false;
    int64_t from = 0, size = 0; ///< of the chunk in the body
    int64_t done = 0;           ///< bytes of the part that are sent
    std::array<std::byte, headBytes> head;
    std::array<std::byte, tagBytes> tag;
  };
  struct Connection {
    int socket = -1;
    LinkKeys keys;
    std::mutex mutex; ///< guards the queue, and sending
    std::deque<Item> queue;
    uint64_t sealed = 0;              ///< tags made
    std::unique_ptr<std::byte[]> sealedChunk; ///< of the queue's first
    bool isBroken = false;
    Contact contact;
    // The thread's: what is being read.
    std::string early; ///< came before it began
    uint64_t opened = 0; ///< tags checked
    std::array<std::byte, headBytes> head;
    Frame frame;
    int64_t read = 0; ///< of the head or the chunk, tag included
    bool isInBody = false;
    int64_t from = 0; ///< of the chunk in the body
    std::unique_ptr<std::byte[]> body;
  };
  /// Seals the item's next part; false where there is none.
  bool prepare(Connection &connection, Item &item);
  /// Sends some of that part; false, with errno, where that cannot be.
  bool sendPart(Connection &connection, Item &item);
  static int64_t partBytes(const Item &item) {
    int64_t chunk = item.size > 0 ? item.size + tagBytes : 0;
    return chunk + (item.from == 0 ? headBytes : 0);
  }
  /// What is being read is complete: checks it; false with `why`.
  bool open(Connection &connection, std::string &why);
  void serve();
  /// Sends what goes at once; the mutex is held. True if a waiter may go on.
  bool push(Connection &connection);
  /// Reads what is there; false if the other side is gone, with `why`.
  bool pull(int64_t peer, Connection &connection, std::string &why);
  void wake() { (void)!write(wakeWrite, "x", 1); }

  std::vector<std::unique_ptr<Connection>> connections; ///< by peer
  const bool encrypts;
  Receiver *receiver = nullptr;
  std::thread thread;
  std::atomic<int64_t> stopAt{0}; ///< nowNs; 0: not yet
  int wakeRead = -1, wakeWrite = -1;
};
} // namespace

TcpCarrier::TcpCarrier(std::vector<Line> lines, bool encrypts)
    : encrypts(encrypts) {
  for (Line &line : lines) {
    Connection &connection =
        *connections.emplace_back(std::make_unique<Connection>());
    connection.socket = line.socket.take();
    connection.keys = line.keys;
    connection.early = std::move(line.received);
    if (connection.socket < 0)
      continue;
    if (encrypts)
      connection.sealedChunk.reset(new std::byte[chunkBytes + tagBytes]);
    int yes = 1;
    setsockopt(connection.socket, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes));
    fcntl(connection.socket, F_SETFL, O_NONBLOCK);
    keepContact(connection.socket);
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
  for (auto &connection : connections) {
    if (connection->socket >= 0)
      close(connection->socket);
    crypto::wipe(connection->keys.send);
    crypto::wipe(connection->keys.receive);
  }
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

bool TcpCarrier::prepare(Connection &connection, Item &item) {
  const crypto::Key &key = connection.keys.send;
  if (item.hasBegun) {
    item.from += item.size;
    if (item.from >= item.frame.bytes)
      return false;
  } else {
    crypto::Bytes head = bytesAt(&item.frame, sizeof(Frame));
    auto *to = reinterpret_cast<uint8_t *>(item.head.data());
    if (encrypts) {
      crypto::seal(key, connection.sealed++, {}, head, {to, headBytes});
    } else {
      std::memcpy(to, head.data(), head.size());
      crypto::seal(key, connection.sealed++, head, {},
                   {to + head.size(), tagBytes});
    }
    item.hasBegun = true;
  }
  item.done = 0;
  item.size = std::min(chunkBytes, item.frame.bytes - item.from);
  if (item.size == 0)
    return true;
  crypto::Bytes chunk = bytesAt(item.body + item.from, item.size);
  if (encrypts)
    crypto::seal(
        key, connection.sealed++, {}, chunk,
        {reinterpret_cast<uint8_t *>(connection.sealedChunk.get()),
         chunk.size() + tagBytes});
  else
    crypto::seal(key, connection.sealed++, chunk, {},
                 {reinterpret_cast<uint8_t *>(item.tag.data()), tagBytes});
  return true;
}

bool TcpCarrier::sendPart(Connection &connection, Item &item) {
  std::byte *chunk = encrypts
                         ? connection.sealedChunk.get()
                         : const_cast<std::byte *>(item.body) + item.from;
  std::byte *tag = encrypts ? chunk + item.size : item.tag.data();
  struct {
    std::byte *at;
    int64_t bytes;
  } pieces[] = {{item.head.data(), item.from == 0 ? headBytes : 0},
                {chunk, item.size},
                {tag, item.size > 0 ? tagBytes : 0}};
  iovec parts[3];
  int count = 0;
  int64_t skip = item.done;
  for (auto [at, bytes] : pieces) {
    int64_t past = std::min(skip, bytes);
    skip -= past;
    if (bytes > past)
      parts[count++] = {at + past, static_cast<size_t>(bytes - past)};
  }
  msghdr message = {};
  message.msg_iov = parts;
  message.msg_iovlen = count;
  ssize_t bytes = sendmsg(connection.socket, &message, MSG_NOSIGNAL);
  if (bytes < 0)
    return false;
  item.done += bytes;
  return true;
}

bool TcpCarrier::push(Connection &connection) {
  bool mayGo = false;
  while (!connection.queue.empty()) {
    Item &item = connection.queue.front();
    while (!connection.isBroken) {
      if ((!item.hasBegun || item.done == partBytes(item)) &&
          !prepare(connection, item))
        break;
      if (sendPart(connection, item))
        continue;
      if (errno == EAGAIN || errno == EWOULDBLOCK)
        return mayGo;
      if (errno != EINTR)
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

bool TcpCarrier::open(Connection &connection, std::string &why) {
  const crypto::Key &key = connection.keys.receive;
  Frame &frame = connection.frame;
  bool isGenuine;
  if (!connection.isInBody) {
    auto *head = reinterpret_cast<uint8_t *>(connection.head.data());
    std::span<uint8_t> to(reinterpret_cast<uint8_t *>(&frame), sizeof(Frame));
    if (encrypts) {
      isGenuine =
          crypto::open(key, connection.opened++, {}, {head, headBytes}, to);
    } else {
      isGenuine = crypto::open(key, connection.opened++, {head, sizeof(Frame)},
                               {head + sizeof(Frame), tagBytes}, {});
      std::memcpy(to.data(), head, to.size());
    }
  } else {
    int64_t size = std::min(chunkBytes, frame.bytes - connection.from);
    auto *at =
        reinterpret_cast<uint8_t *>(connection.body.get()) + connection.from;
    std::span<uint8_t> chunk(at, size), all(at, size + tagBytes);
    isGenuine =
        encrypts
            ? crypto::open(key, connection.opened++, {}, all, chunk)
            : crypto::open(key, connection.opened++, chunk,
                           all.last(tagBytes), {});
  }
  if (isGenuine)
    return true;
  why = "a message that was changed on its way, or is not of this job";
  return false;
}

bool TcpCarrier::pull(int64_t peer, Connection &connection, std::string &why) {
  Frame &frame = connection.frame;
  // Others have their turn after a while.
  for (int round = 0; round < 64; ++round) {
    int64_t size = std::min(chunkBytes, frame.bytes - connection.from);
    std::byte *to = connection.isInBody ? connection.body.get() + connection.from
                                        : connection.head.data();
    int64_t whole = connection.isInBody ? size + tagBytes : headBytes;
    int64_t left = whole - connection.read;
    ssize_t bytes;
    if (!connection.early.empty()) {
      bytes = std::min<int64_t>(left, connection.early.size());
      std::memcpy(to + connection.read, connection.early.data(), bytes);
      connection.early.erase(0, bytes);
    } else {
      bytes = recv(connection.socket, to + connection.read, left, 0);
    }
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
    if (connection.read < whole)
      continue;
    connection.read = 0;
    if (!open(connection, why))
      return false;
    if (connection.isInBody) {
      connection.from += size;
    } else {
      connection.isInBody = true;
      connection.from = 0;
      if (frame.magic != Frame::magicWord || frame.bytes < 0 ||
          frame.bytes > mostBytes) {
        why = "a damaged message";
        return false;
      }
      if (frame.bytes > 0)
        connection.body.reset(
            new (std::nothrow) std::byte[frame.bytes + tagBytes]);
      if (frame.bytes > 0 && !connection.body) {
        why = "no memory for a message of " + std::to_string(frame.bytes) +
              " bytes";
        return false;
      }
    }
    if (connection.from < frame.bytes)
      continue;
    connection.isInBody = false;
    connection.from = 0;
    receiver->deliver(peer, frame, std::move(connection.body));
    connection.body.reset();
  }
  return true;
}

void TcpCarrier::serve() {
  bool hasEarly = true;
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
    bool isEarly = std::exchange(hasEarly, false);
    poll(files.data(), files.size(),
         isEarly ? 0 : stopAt.load() ? 20 : 300);
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
      bool isFull = isReadable || !connection.early.empty();
      if ((isFull && !pull(peers[i], connection, why)) ||
          (looksAround && !isFull &&
           connection.contact.isLost(connection.socket, why))) {
        isOpen[peers[i]] = false;
        // What follows is not read: the other side is not to wait for that.
        shutdown(connection.socket, SHUT_RDWR);
        receiver->lost(peers[i], why);
      }
    }
  }
}

std::unique_ptr<Carrier> shardrt::carryOver(std::vector<Line> lines,
                                            bool encrypts) {
  return std::make_unique<TcpCarrier>(std::move(lines), encrypts);
}

//===----------------------------------------------------------------------===//
// Connecting
//===----------------------------------------------------------------------===//

/// How the two sides of a connection know it.
static Link linkOf(const Job &job, const std::string &world, int64_t port,
                   int64_t listener) {
  return {"world " + world, job.launch.token, port, listener};
}

/// Connects to rank `peer`, which listens at `place`.
static bool callRank(Job &job, const std::string &world, int64_t peer,
                      const std::string &place, int64_t deadline, Line &line,
                      std::string &error) {
  const Launch &launch = job.launch;
  size_t colon = place.rfind(':');
  std::string host = place.substr(0, colon), why = "no address";
  int64_t port = colon == std::string::npos
                     ? 0
                     : std::strtol(place.c_str() + colon + 1, nullptr, 10);
  Claim claim = {launch.rank, launch.size, launch.encrypts};
  Link link = linkOf(job, world, port, peer);
  while (port > 0) {
    int64_t soon =
        std::min(deadline, nowNs() + Door::strangerMs * millisecond);
    std::string word, none;
    Knock done = knock(host, port, soon, job.store->secret(), link, claim,
                       line.socket, line.keys, line.received, why);
    if (done == Knock::Stranger)
      break;
    // Who was dropped among many strangers comes again.
    if (done == Knock::Proven &&
        receiveBytes(line.socket.get(), 1, soon, line.received, word,
                     Door::mostBytes))
      return true;
    std::string who;
    if (nowNs() >= deadline || why == std::strerror(ECONNREFUSED) ||
        job.store->isBroken(who)) {
      if (!who.empty())
        why = who;
      break;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  error = "rank " + std::to_string(launch.rank) +
          " cannot connect to rank " + std::to_string(peer) + " at " + place +
          ": " + why;
  return false;
}

/// Waits for those behind this rank to connect.
static bool letIn(Job &job, Door &door, std::vector<Line> &lines,
                  int64_t deadline, std::string &error) {
  const Launch &launch = job.launch;
  int64_t asked = nowNs();
  for (int64_t missing = launch.size - 1 - launch.rank; missing > 0;) {
    std::vector<pollfd> files;
    int longest = std::min(door.watch(files), 100);
    poll(files.data(), files.size(), longest);
    for (Door::Guest &guest : door.look()) {
      int64_t peer = guest.claim.rank;
      if (peer <= launch.rank || peer >= launch.size ||
          guest.claim.size != launch.size ||
          guest.claim.flags != launch.encrypts ||
          lines[peer].socket.get() >= 0 ||
          !sendAll(guest.socket.get(), "K", nowNs() + 100 * millisecond))
        continue;
      lines[peer].socket = std::move(guest.socket);
      lines[peer].keys = guest.keys;
      lines[peer].received = std::move(guest.received);
      --missing;
    }
    // Who was killed meanwhile does not come.
    if (missing > 0 && nowNs() - asked > 100 * millisecond) {
      if (job.store->isBroken(error))
        return false;
      asked = nowNs();
    }
    if (missing == 0 || nowNs() < deadline)
      continue;
    error = "rank " + std::to_string(launch.rank) + " waited " +
            std::to_string(job.timeoutMs) + " ms for connections of ranks";
    for (int64_t peer = launch.rank + 1; peer < launch.size; ++peer)
      if (lines[peer].socket.get() < 0)
        error += " " + std::to_string(peer);
    return false;
  }
  return true;
}

std::unique_ptr<Carrier> shardrt::connectTcp(Job &job, const std::string &world,
                                             int &status, std::string &error) {
  const Launch &launch = job.launch;
  Store &store = *job.store;
  int64_t deadline = nowNs() + job.timeoutMs * millisecond;
  std::vector<Line> lines(launch.size);
  std::string address = store.address(), text, why;
  int64_t port = 0;
  status = SHARDRT_LOST;
  Socket listener = listenAt(address, 0, address, port, why);
  if (listener.get() < 0) {
    error = "rank " + std::to_string(launch.rank) +
            " cannot listen: " + why;
    return nullptr;
  }
  fcntl(listener.get(), F_SETFL, O_NONBLOCK);
  Door door(std::move(listener), store.secret(),
            linkOf(job, world, port, launch.rank));
  // All have joined: who does not come now was stopped.
  auto tooLate = [&] {
    status = nowNs() >= deadline ? SHARDRT_WATCHDOG : SHARDRT_LOST;
    return nullptr;
  };
  auto key = [&](int64_t rank) {
    return "tcp/" + world + "@" + std::to_string(rank);
  };
  if (!store.set(key(launch.rank), address + ":" + std::to_string(port),
                 error)) {
    status = store.status();
    return nullptr;
  }
  // Each connects to those before it.
  for (int64_t peer = 0; peer < launch.rank; ++peer) {
    if (!store.get(key(peer), job.timeoutMs, text, error)) {
      status = store.status();
      return nullptr;
    }
    if (!callRank(job, world, peer, text, deadline, lines[peer], error))
      return tooLate();
  }
  if (!letIn(job, door, lines, deadline, error))
    return tooLate();
  return carryOver(std::move(lines), launch.encrypts);
}
