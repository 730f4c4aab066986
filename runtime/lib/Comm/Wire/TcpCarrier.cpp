//===- TcpCarrier.cpp - Frames over sockets -------------------------------===//
//
// A connection for each pair of processes. Somebody always reads all of them,
// so that no two ranks that send at the same time wait for each other, and
// writes what did not fit at once: the rank itself while it waits, which saves
// waking it for each message, and a thread while it does other things. The
// thread takes over when the rank has not waited for a millisecond or so, and
// leaves as soon as it does. What is small and goes to the same process goes in
// one call.
//
// On the wire a frame is its head and a tag of 16 bytes, then its body in
// chunks, a tag behind each. Tags are numbered through all of a connection's
// direction: a frame that was changed, left out, repeated or moved is noticed
// before anything of it is used. The head is checked before there is memory for
// the body. Without encryption only tags are made (Poly1305 over what goes as
// it is, about 4 GB/s), with it the same bytes are encrypted too (ChaCha20).
// Chunks are small enough that what is checked is still in the cache that it
// came to.
//
//===----------------------------------------------------------------------===//

#include "Comm/Bootstrap/Door.h"
#include "Comm/Wire/Contact.h"
#include "Comm/Wire/Tcp.h"
#include "Host/Absence.h"
#include "Host/Clock.h"
#include "shardrt/shardrt.h"
#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <list>
#include <mutex>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <optional>
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
/// Bodies that are copied, so as to be sent with others; the most of them; and
/// what is read at once where the next bytes are heads and small bodies.
static constexpr int64_t smallBytes = 4 << 10, batchBytes = 32 << 10,
                         readBytes = 16 << 10;

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
  void sendLater(int64_t peer, const Frame &frame) override;
  void advance() override {}
  void await(int64_t ms) override;
  void interrupt() override;
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
    std::list<Item> queue;
    /// Items that are sent: the next are made of them. The last is kept for a
    /// failure, which is sent when there is no memory.
    std::list<Item> spare;
    /// Small ones, sealed; they go before the queue. Has its capacity.
    std::vector<std::byte> batch;
    size_t batchDone = 0;
    bool isBlocked =
        false;           ///< the other side, or the system, takes no more now
    uint64_t sealed = 0; ///< tags made
    std::unique_ptr<std::byte[]> sealedChunk; ///< of the queue's first
    bool isBroken = false;
    Contact contact;
    // Of the reading thread: what is being read.
    bool isOpen = false;
    std::string early; ///< has come, from `earlyAt`
    size_t earlyAt = 0;
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
  /// The mutex is held, here and in the three that follow. Whether all is sent.
  static bool isEmpty(const Connection &connection) {
    return connection.queue.empty() &&
           connection.batchDone == connection.batch.size();
  }
  /// Appends to the queue. Where there is no memory it throws, and appends
  /// nothing.
  static Item &add(Connection &connection, const Frame &frame);
  /// Removes the first of the queue.
  static void pop(Connection &connection);
  /// Seals the small items at the head of the queue into the batch; true if a
  /// waiter may go on.
  bool fillBatch(Connection &connection);
  void append(Connection &connection, const void *bytes, int64_t size);
  /// Sends what goes at once. True if a waiter may go on.
  bool push(Connection &connection);
  /// By the thread that holds `readMutex`: looks at all connections, waits `ms`
  /// milliseconds at most, and does what there is to do. `wakeUp`: what else
  /// ends it.
  void look(int wakeUp, int64_t ms, std::atomic<bool> *isPolling);
  /// Sends what was left for later; false if something is left.
  bool flush();
  /// Reads what is there; false if the other side is gone, with `why`.
  bool pull(int64_t peer, Connection &connection, std::string &why);

  std::vector<std::unique_ptr<Connection>> connections; ///< by peer
  const bool encrypts;
  Receiver *receiver = nullptr;
  std::thread thread;
  std::atomic<int64_t> stopNs{0}; ///< to send what there is; 0: not yet

  std::mutex readMutex; ///< who has it reads, and guards what follows
  std::vector<pollfd> files;
  std::vector<int64_t> peers;
  int64_t lookedAt = 0;
  bool hasEarly = true;

  struct WakeUp {
    int read = -1, write = -1;
    void open() {
      int ends[2];
      if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) == 0) {
        read = ends[0];
        write = ends[1];
      }
    }
    void signal() const { (void)!::write(write, "x", 1); }
    void drain() const {
      char bytes[64];
      while (::read(read, bytes, sizeof(bytes)) == sizeof(bytes))
        ;
    }
  };
  WakeUp threadWakeUp, rankWakeUp;
  std::atomic<bool> isAwaiting{false}; ///< a rank waits,
  std::atomic<int64_t> awaitedNs{0};   ///< or did then
  std::atomic<bool> isWanted{false};   ///< `readMutex`, by a rank
  std::atomic<bool> isThreadPolling{false}, isRankPolling{false};
  std::atomic<bool> isInterrupted{false};
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
    connection.isOpen = true;
    connection.spare.emplace_back();
    connection.early.reserve(readBytes);
    connection.batch.reserve(batchBytes + smallBytes + sizeof(Frame) +
                             2 * tagBytes);
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
  // What looks at them needs no memory.
  files.reserve(connections.size() + 1);
  peers.reserve(connections.size() + 1);
  threadWakeUp.open();
  rankWakeUp.open();
  thread = std::thread([this] { serve(); });
}

void TcpCarrier::stop(int64_t ms) {
  if (!thread.joinable())
    return;
  stopNs.store(ms * millisecond + 1);
  threadWakeUp.signal();
  thread.join();
  for (auto &connection : connections) {
    if (connection->socket >= 0)
      close(connection->socket);
    crypto::wipe(connection->keys.send);
    crypto::wipe(connection->keys.receive);
  }
  for (const WakeUp &wakeUp : {threadWakeUp, rankWakeUp}) {
    close(wakeUp.read);
    close(wakeUp.write);
  }
}

void TcpCarrier::send(int64_t peer, const Frame &frame, const void *body,
                      std::atomic<int64_t> *pending) {
  Connection &connection = *connections[peer];
  // Who does not wait for it takes its body away.
  std::unique_ptr<std::byte[]> own;
  if (!pending && frame.bytes > 0) {
    own.reset(new std::byte[frame.bytes]);
    std::memcpy(own.get(), body, frame.bytes);
    body = own.get();
  }
  bool mayGo = false, isLeft = false;
  {
    std::lock_guard lock(connection.mutex);
    // From here on nothing needs memory: what is in the queue is sent whole.
    Item &item = add(connection, frame);
    item.body = static_cast<const std::byte *>(body);
    item.own = std::move(own);
    item.pending = pending;
    if (!connection.isBlocked)
      mayGo = push(connection);
    isLeft = !isEmpty(connection);
  }
  if (isLeft)
    threadWakeUp.signal();
  if (mayGo && receiver && pending)
    receiver->sent();
}

void TcpCarrier::sendLater(int64_t peer, const Frame &frame) {
  Connection &connection = *connections[peer];
  std::lock_guard lock(connection.mutex);
  add(connection, frame);
}

TcpCarrier::Item &TcpCarrier::add(Connection &connection, const Frame &frame) {
  std::list<Item> &spare = connection.spare, made;
  if (spare.size() > 1 || (spare.size() == 1 && frame.kind == Frame::Fail))
    made.splice(made.end(), spare, spare.begin());
  else
    made.emplace_back();
  made.front().frame = frame;
  connection.queue.splice(connection.queue.end(), made);
  return connection.queue.back();
}

void TcpCarrier::pop(Connection &connection) {
  constexpr size_t mostSpare = 16;
  std::list<Item> &queue = connection.queue, &spare = connection.spare;
  queue.front() = Item();
  if (spare.size() < mostSpare)
    spare.splice(spare.end(), queue, queue.begin());
  else
    queue.pop_front();
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
    crypto::seal(key, connection.sealed++, {}, chunk,
                 {reinterpret_cast<uint8_t *>(connection.sealedChunk.get()),
                  chunk.size() + tagBytes});
  else
    crypto::seal(key, connection.sealed++, chunk, {},
                 {reinterpret_cast<uint8_t *>(item.tag.data()), tagBytes});
  return true;
}

bool TcpCarrier::sendPart(Connection &connection, Item &item) {
  std::byte *chunk = encrypts ? connection.sealedChunk.get()
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

void TcpCarrier::append(Connection &connection, const void *bytes,
                        int64_t size) {
  const crypto::Key &key = connection.keys.send;
  crypto::Bytes plain = bytesAt(bytes, size);
  size_t at = connection.batch.size();
  connection.batch.resize(at + size + tagBytes);
  auto *to = reinterpret_cast<uint8_t *>(connection.batch.data() + at);
  if (encrypts) {
    crypto::seal(key, connection.sealed++, {}, plain,
                 {to, plain.size() + tagBytes});
    return;
  }
  std::memcpy(to, plain.data(), plain.size());
  crypto::seal(key, connection.sealed++, plain, {}, {to + size, tagBytes});
}

bool TcpCarrier::fillBatch(Connection &connection) {
  bool mayGo = false;
  connection.batch.clear();
  connection.batchDone = 0;
  while (!connection.queue.empty()) {
    Item &item = connection.queue.front();
    int64_t bytes = item.frame.bytes;
    if (item.hasBegun || bytes > smallBytes ||
        static_cast<int64_t>(connection.batch.size()) > batchBytes)
      break;
    append(connection, &item.frame, sizeof(Frame));
    if (bytes > 0)
      append(connection, item.body, bytes);
    if (item.pending) {
      item.pending->fetch_sub(1);
      mayGo = true;
    }
    pop(connection);
  }
  return mayGo;
}

bool TcpCarrier::push(Connection &connection) {
  bool mayGo = false;
  connection.isBlocked = false;
  // True where a call is to be made again; reading finds out what is broken as
  // well, and says so.
  auto mayTryAgain = [&] {
    connection.isBlocked = errno == EAGAIN || errno == EWOULDBLOCK;
    connection.isBroken |= !connection.isBlocked && errno != EINTR;
    return !connection.isBlocked;
  };
  while (!isEmpty(connection)) {
    if (size_t left = connection.batch.size() - connection.batchDone) {
      ssize_t bytes =
          connection.isBroken
              ? static_cast<ssize_t>(left)
              : ::send(connection.socket,
                       connection.batch.data() + connection.batchDone, left,
                       MSG_NOSIGNAL);
      if (bytes >= 0)
        connection.batchDone += bytes;
      else if (!mayTryAgain())
        return mayGo;
      continue;
    }
    mayGo |= fillBatch(connection);
    if (!connection.batch.empty())
      continue;
    Item &item = connection.queue.front();
    while (!connection.isBroken) {
      if ((!item.hasBegun || item.done == partBytes(item)) &&
          !prepare(connection, item))
        break;
      if (!sendPart(connection, item) && !mayTryAgain())
        return mayGo;
    }
    if (item.pending) {
      item.pending->fetch_sub(1);
      mayGo = true;
    }
    pop(connection);
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
    isGenuine = encrypts
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
  bool isDry = false;
  // Others are served after a while.
  for (int round = 0;
       round < 64 || connection.earlyAt < connection.early.size(); ++round) {
    int64_t size = std::min(chunkBytes, frame.bytes - connection.from);
    std::byte *to = connection.isInBody
                        ? connection.body.get() + connection.from
                        : connection.head.data();
    int64_t whole = connection.isInBody ? size + tagBytes : headBytes;
    int64_t left = whole - connection.read;
    ssize_t bytes;
    std::string &early = connection.early;
    bool isAhead = left < readBytes;
    if (connection.earlyAt < early.size()) {
      bytes = std::min<int64_t>(left, early.size() - connection.earlyAt);
      std::memcpy(to + connection.read, early.data() + connection.earlyAt,
                  bytes);
      connection.earlyAt += bytes;
    } else if (isDry) {
      return true;
    } else {
      // Who gets less than there was room for has all that there is.
      int64_t room = isAhead ? readBytes : left;
      if (isAhead)
        early.resize(room);
      bytes = recv(connection.socket,
                   isAhead ? early.data()
                           : reinterpret_cast<char *>(to) + connection.read,
                   room, 0);
      isDry = bytes > 0 && bytes < room;
      if (isAhead) {
        early.resize(std::max<ssize_t>(bytes, 0));
        connection.earlyAt = 0;
        if (bytes > 0)
          continue;
      }
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
        connection.body.reset(new (std::nothrow)
                                  std::byte[frame.bytes + tagBytes]);
      if (frame.bytes > 0 && !connection.body) {
        receiver->starved(peer, frame.bytes);
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

bool TcpCarrier::flush() {
  bool isAllSent = true, mayGo = false;
  for (auto &connection : connections) {
    if (connection->socket < 0)
      continue;
    std::lock_guard lock(connection->mutex);
    if (!connection->isBlocked)
      mayGo |= push(*connection);
    isAllSent &= isEmpty(*connection) || connection->isBroken;
  }
  if (mayGo)
    receiver->sent();
  return isAllSent;
}

void TcpCarrier::look(int wakeUp, int64_t ms, std::atomic<bool> *isPolling) {
  files.assign(1, {wakeUp, POLLIN, 0});
  peers.assign(1, -1);
  for (size_t peer = 0; peer < connections.size(); ++peer) {
    Connection &connection = *connections[peer];
    if (!connection.isOpen)
      continue;
    std::lock_guard lock(connection.mutex);
    bool waits = connection.isBlocked && !connection.isBroken;
    files.push_back({connection.socket,
                     static_cast<short>(POLLIN | (waits ? POLLOUT : 0)), 0});
    peers.push_back(static_cast<int64_t>(peer));
  }
  bool isEarly = std::exchange(hasEarly, false);
  isPolling->store(true);
  // Whoever wants to read, or calls a rank, signals if it sees `isPolling`.
  bool isAsked = isPolling == &isThreadPolling ? isWanted.load()
                                               : isInterrupted.exchange(false);
  poll(files.data(), files.size(),
       isEarly || isAsked ? 0 : static_cast<int>(ms));
  isPolling->store(false);
  if (files[0].revents)
    (wakeUp == threadWakeUp.read ? threadWakeUp : rankWakeUp).drain();
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
    bool isFull = isReadable || connection.earlyAt < connection.early.size();
    if ((isFull && !pull(peers[i], connection, why)) ||
        (looksAround && !isFull &&
         connection.contact.isLost(connection.socket, why))) {
      // On any connection: the same link may be that of others.
      int64_t silence = 0;
      for (auto &other : connections)
        if (other->isOpen)
          silence = std::max(silence, other->contact.silenceMs(nowNs()));
      if (why.empty() && silence > 0)
        why = noAnswer(silence);
      connection.isOpen = false;
      // What follows is not read: the other side is not to wait for that.
      shutdown(connection.socket, SHUT_RDWR);
      {
        std::lock_guard lock(connection.mutex);
        connection.isBroken = true;
      }
      receiver->lost(peers[i], why);
    }
  }
}

void TcpCarrier::await(int64_t ms) {
  isAwaiting.store(true);
  {
    std::unique_lock mine(readMutex, std::try_to_lock);
    if (!mine.owns_lock()) {
      isWanted.store(true);
      if (isThreadPolling.load())
        threadWakeUp.signal();
      mine.lock();
      isWanted.store(false);
    }
    flush();
    look(rankWakeUp.read, ms, &isRankPolling);
  }
  awaitedNs.store(nowNs());
  isAwaiting.store(false);
}

void TcpCarrier::interrupt() {
  isInterrupted.store(true);
  if (isRankPolling.load())
    rankWakeUp.signal();
}

void TcpCarrier::serve() {
  constexpr int64_t leastNap = 1, mostNap = 8;
  int64_t nap = leastNap;
  std::optional<WaitLimit> limit;
  while (true) {
    int64_t stops = stopNs.load();
    // A rank that waits, or soon does again, reads for itself.
    while (stops == 0 && (isWanted.load() || isAwaiting.load() ||
                          nowNs() - awaitedNs.load() < nap * millisecond)) {
      pollfd wakeUp = {threadWakeUp.read, POLLIN, 0};
      bool isSignalled = poll(&wakeUp, 1, static_cast<int>(nap)) > 0;
      nap = std::min(2 * nap, mostNap);
      stops = stopNs.load();
      if (!isSignalled)
        continue;
      threadWakeUp.drain();
      // Something is left to be sent, and the rank may not come by.
      if (!isWanted.load() && !isAwaiting.load())
        break;
    }
    std::lock_guard lock(readMutex);
    nap = leastNap;
    bool isAllSent = flush();
    if (stops != 0 && !limit)
      limit.emplace(stops);
    if (limit && (isAllSent || limit->leftNs() <= 0))
      return;
    look(threadWakeUp.read, limit ? 20 : 300, &isThreadPolling);
  }
}

std::unique_ptr<Carrier> shardrt::carryOver(std::vector<Line> lines,
                                            bool encrypts) {
  return std::make_unique<TcpCarrier>(std::move(lines), encrypts);
}
