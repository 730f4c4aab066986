//===- Door.h - Who is let in at a port -------------------------*- C++ -*-===//
//
// A process that listens does so through a Door: whoever connects is a stranger
// until the handshake (Handshake.h) is done. Strangers are few, say little and
// soon go. When there are too many, the oldest that has not even greeted makes
// room, then the oldest: a rank greets at once and answers within a moment, and
// one that was dropped all the same comes again. So a flood costs ranks some
// attempts, and memory and time of this process a fixed amount.
//
//===----------------------------------------------------------------------===//
#ifndef SHARDRT_COMM_BOOTSTRAP_DOOR_H
#define SHARDRT_COMM_BOOTSTRAP_DOOR_H

#include "Comm/Bootstrap/Handshake.h"
#include "Comm/Bootstrap/Socket.h"
#include <list>
#include <poll.h>
#include <vector>

namespace shardrt {

class Door {
public:
  static constexpr size_t mostStrangers = 64;
  static constexpr size_t mostBytes = 4096; ///< of one stranger
  static constexpr int64_t strangerMs = 5000;

  Door() = default;
  Door(Socket listener, const shardc::crypto::Key &secret, Link link)
      : listener(std::move(listener)), secret(secret), link(std::move(link)) {}
  ~Door() { shardc::crypto::wipe(secret); }
  Door(const Door &) = delete;
  Door &operator=(const Door &) = delete;

  bool isOpen() const { return listener.get() >= 0; }
  void open(Socket socket, const shardc::crypto::Key &key, Link to) {
    listener = std::move(socket);
    secret = key;
    link = std::move(to);
  }
  /// Listens no more, and drops who is still a stranger.
  void shut();

  /// Adds what it waits for to `files`. At most this many milliseconds may go
  /// by before the next look().
  int watch(std::vector<pollfd> &files) const;

  /// Somebody who has proven to be of the job, and to be `claim`.
  struct Guest {
    Socket socket;
    Claim claim;
    LinkKeys keys;
    std::string received; ///< what came behind the proof
  };
  /// Goes on with all who are there; those who are done.
  std::vector<Guest> look();

  size_t strangersNow() const { return strangers.size(); }

private:
  struct Stranger {
    Socket socket;
    Handshake handshake;
    int64_t since = 0;
    std::string received, toSend;
    bool hasGreeted = false;
  };
  enum class State { Waits, Proven, Over };
  State advance(Stranger &stranger);
  bool dropOne();
  void acceptSome(std::vector<Guest> &guests);

  Socket listener;
  shardc::crypto::Key secret = {};
  Link link;
  std::list<Stranger> strangers; ///< the oldest first
  int64_t acceptAt = 0;          ///< not before (nowNs)
};

/// The other side: what became of an attempt to get in.
enum class Knock {
  Proven,  ///< both sides are; the verdict on this one comes next
  Nobody,  ///< the connection was refused: nobody listens, or not yet
  Again,   ///< there was no answer
  Stranger ///< who listens does not hold the secret
};

/// Connects to `port` of `host` and proves `claim`, within `limit`; `why` not.
Knock knock(const std::string &host, int64_t port, WaitLimit limit,
            const shardc::crypto::Key &secret, const Link &link,
            const Claim &claim, Socket &made, LinkKeys &keys,
            std::string &received, std::string &why);

} // namespace shardrt

#endif // SHARDRT_COMM_BOOTSTRAP_DOOR_H
