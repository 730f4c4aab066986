//===- Door.cpp - Who is let in at a port ---------------------------------===//

#include "Comm/Bootstrap/Door.h"
#include "Host/Clock.h"
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

using namespace shardrt;
using namespace shardc::crypto;

static constexpr int64_t millisecond = 1'000'000;

void Door::shut() {
  listener = Socket();
  strangers.clear();
}

int Door::watch(std::vector<pollfd> &files) const {
  bool accepts = nowNs() >= acceptAt;
  if (isOpen() && accepts)
    files.push_back({listener.get(), POLLIN, 0});
  for (const Stranger &stranger : strangers)
    files.push_back(
        {stranger.socket.get(),
         static_cast<short>(POLLIN | (stranger.toSend.empty() ? 0 : POLLOUT)),
         0});
  return isOpen() && !accepts ? 50 : 1000;
}

Door::State Door::advance(Stranger &stranger) {
  std::string &received = stranger.received;
  // What comes behind the proof is for whoever takes the guest in.
  bool isHere = receiveSome(stranger.socket.get(), received, mostBytes);
  if (received.size() > mostBytes)
    return State::Over;
  if (!stranger.hasGreeted && received.size() >= Handshake::greetingBytes) {
    std::string_view greeting = received;
    stranger.toSend = stranger.handshake.challenge(
        greeting.substr(0, Handshake::greetingBytes));
    if (stranger.toSend.empty())
      return State::Over;
    received.erase(0, Handshake::greetingBytes);
    stranger.hasGreeted = true;
  }
  if (!stranger.toSend.empty()) {
    ssize_t count = send(stranger.socket.get(), stranger.toSend.data(),
                         stranger.toSend.size(), MSG_NOSIGNAL);
    if (count > 0)
      stranger.toSend.erase(0, static_cast<size_t>(count));
    else if (count < 0 && errno != EAGAIN && errno != EINTR)
      return State::Over;
  }
  if (stranger.hasGreeted && received.size() >= Handshake::proofBytes) {
    std::string_view proof = received;
    if (!stranger.handshake.check(proof.substr(0, Handshake::proofBytes)))
      return State::Over;
    received.erase(0, Handshake::proofBytes);
    return State::Proven;
  }
  bool isLate = nowNs() - stranger.since > strangerMs * millisecond;
  return isHere && !isLate ? State::Waits : State::Over;
}

bool Door::dropOne() {
  auto found = strangers.begin();
  for (auto it = strangers.begin(); it != strangers.end(); ++it)
    if (!it->hasGreeted) {
      found = it;
      break;
    }
  if (found == strangers.end())
    return false;
  strangers.erase(found);
  return true;
}

static Door::Guest guestOf(Socket socket, const Handshake &handshake,
                           std::string received) {
  return {std::move(socket), handshake.claim(), handshake.keys(),
          std::move(received)};
}

void Door::acceptSome(std::vector<Guest> &guests) {
  // Those who are there are served in between.
  for (int i = 0; i < 16; ++i) {
    int fd =
        accept4(listener.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (fd < 0) {
      if (errno == ECONNABORTED || errno == EINTR)
        continue;
      bool isFull = errno == EMFILE || errno == ENFILE || errno == ENOMEM ||
                    errno == ENOBUFS;
      // No descriptor is left: a stranger makes room, or others have to.
      if (isFull && !dropOne())
        acceptAt = nowNs() + 50 * millisecond;
      return;
    }
    int yes = 1;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes));
    Stranger &stranger = strangers.emplace_back(
        Stranger{Socket(fd), Handshake(secret, link), nowNs(), {}, {}, false});
    // A rank has greeted by now.
    State state = advance(stranger);
    if (state == State::Proven)
      guests.push_back(guestOf(std::move(stranger.socket), stranger.handshake,
                               std::move(stranger.received)));
    if (state != State::Waits)
      strangers.pop_back();
    if (strangers.size() > mostStrangers)
      dropOne();
  }
}

std::vector<Door::Guest> Door::look() {
  std::vector<Guest> guests;
  for (auto it = strangers.begin(); it != strangers.end();) {
    State state = advance(*it);
    if (state == State::Proven)
      guests.push_back(guestOf(std::move(it->socket), it->handshake,
                               std::move(it->received)));
    it = state == State::Waits ? std::next(it) : strangers.erase(it);
  }
  if (isOpen() && nowNs() >= acceptAt)
    acceptSome(guests);
  return guests;
}

Knock shardrt::knock(const std::string &host, int64_t port, WaitLimit limit,
                     const Key &secret, const Link &link, const Claim &claim,
                     Socket &made, LinkKeys &keys, std::string &received,
                     std::string &why) {
  received.clear();
  made = Socket();
  int failed = 0;
  made = connectTo(host, port, limit, failed, why);
  if (made.get() < 0)
    return failed == ECONNREFUSED ? Knock::Nobody : Knock::Again;
  Handshake handshake(secret, link);
  std::string challenge;
  why = "the connection was closed";
  if (!sendAll(made.get(), handshake.greet(claim), limit) ||
      !receiveBytes(made.get(), Handshake::challengeBytes, limit, received,
                    challenge, Door::mostBytes))
    return Knock::Again;
  std::string proof = handshake.answer(challenge);
  if (proof.empty()) {
    why = "who listens there is not of this job: it does not hold the job's "
          "secret";
    return Knock::Stranger;
  }
  keys = handshake.keys();
  return sendAll(made.get(), proof, limit) ? Knock::Proven : Knock::Again;
}
