//===- Contact.cpp - Whether anybody is at the other end ------------------===//
//
// A cut link gives no sign. While nothing is on its way keep-alives find it;
// while something is, the kernel goes on sending it for a quarter of an hour.
// TCP_USER_TIMEOUT would end that, but also connections to processes that are
// alive and do not read for a while.
//
//===----------------------------------------------------------------------===//

#include "Comm/Wire/Contact.h"
#include "Host/Clock.h"
#include <cerrno>
#include <netinet/in.h>
#include <sys/socket.h>
#ifdef __linux__
#include <linux/tcp.h> // what has been confirmed is not in netinet/tcp.h
#endif

using namespace shardrt;

static constexpr int64_t millisecond = 1'000'000;
static constexpr int64_t longestSilenceMs = 3000;

void shardrt::keepContact(int socket) {
  int yes = 1, seconds = 1, probes = 3;
  setsockopt(socket, SOL_SOCKET, SO_KEEPALIVE, &yes, sizeof(yes));
#ifdef __linux__
  setsockopt(socket, IPPROTO_TCP, TCP_KEEPIDLE, &seconds, sizeof(seconds));
  setsockopt(socket, IPPROTO_TCP, TCP_KEEPINTVL, &seconds, sizeof(seconds));
  setsockopt(socket, IPPROTO_TCP, TCP_KEEPCNT, &probes, sizeof(probes));
#endif
}

void Contact::note(bool isOnItsWay, uint64_t bytes, int64_t nowNs) {
  isWaiting = isOnItsWay;
  // Nothing is on its way, or more of it has come.
  if (!isWaiting || bytes != confirmed || sinceNs == 0) {
    confirmed = bytes;
    sinceNs = nowNs;
  }
}

int64_t Contact::silenceMs(int64_t nowNs) const {
  constexpr int64_t doubtMs = 1000;
  int64_t silence = (nowNs - sinceNs) / millisecond;
  return isWaiting && silence >= doubtMs ? silence : 0;
}

bool Contact::isLost(int socket, std::string &why) {
#ifdef __linux__
  tcp_info info = {};
  socklen_t size = sizeof(info);
  if (getsockopt(socket, IPPROTO_TCP, TCP_INFO, &info, &size) != 0)
    return false;
  int64_t now = nowNs();
  note(info.tcpi_unacked > 0 && info.tcpi_retransmits > 0,
       info.tcpi_bytes_acked, now);
  int64_t silence = (now - sinceNs) / millisecond;
  // Whoever does not read is asked whether it does now; its kernel answers.
  if (info.tcpi_probes > 0)
    silence = info.tcpi_last_ack_recv;
  if (silence < longestSilenceMs)
    return false;
  why = noAnswer(silence);
  return true;
#else
  return false;
#endif
}

bool shardrt::isOfNetwork(int error) {
  return error == ETIMEDOUT || error == EHOSTUNREACH || error == ENETUNREACH ||
         error == ENETDOWN || error == EHOSTDOWN;
}

std::string shardrt::lostContact(const std::string &detail) {
  return detail.empty() ? "lost contact" : "lost contact: " + detail;
}

std::string shardrt::noAnswer(int64_t ms) {
  return lostContact("no answer for " + std::to_string(ms) + " ms");
}

bool shardrt::saysLostContact(const std::string &why) {
  return why.rfind("lost contact", 0) == 0;
}
