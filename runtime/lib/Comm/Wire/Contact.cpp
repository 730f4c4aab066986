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

bool Contact::isLost(int socket, std::string &why) {
#ifdef __linux__
  tcp_info info = {};
  socklen_t size = sizeof(info);
  if (getsockopt(socket, IPPROTO_TCP, TCP_INFO, &info, &size) != 0)
    return false;
  int64_t now = nowNs();
  // Nothing is on its way, or more of it has come.
  bool isWaiting = info.tcpi_unacked > 0 && info.tcpi_retransmits > 0;
  if (!isWaiting || info.tcpi_bytes_acked != confirmed || sinceNs == 0) {
    confirmed = info.tcpi_bytes_acked;
    sinceNs = now;
  }
  int64_t silence = (now - sinceNs) / millisecond;
  // Whoever does not read is asked whether it does now; its kernel answers.
  if (info.tcpi_probes > 0)
    silence = info.tcpi_last_ack_recv;
  if (silence < longestSilenceMs)
    return false;
  why = lostContact("no answer for " + std::to_string(silence) + " ms");
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

bool shardrt::saysLostContact(const std::string &why) {
  return why.rfind("lost contact", 0) == 0;
}
