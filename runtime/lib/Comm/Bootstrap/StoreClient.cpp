//===- StoreClient.cpp - The store's side of ranks but 0 ------------------===//

#include "Comm/Bootstrap/Secret.h"
#include "Comm/Bootstrap/StoreMessages.h"
#include "Host/Absence.h"
#include "Host/Clock.h"
#include "shardrt/shardrt.h"
#include <algorithm>
#include <arpa/inet.h>
#include <cerrno>
#include <chrono>
#include <mutex>
#include <poll.h>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>
#include <vector>

using namespace shardrt;
namespace crypto = shardc::crypto;

/// Reads what the server wrote by textOf.
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
  bool isBroken(Loss &loss) override;
  std::string address() const override;

private:
  Answer come(const std::string &name, int64_t timeoutMs,
              std::string &error) override {
    std::string value;
    return ask('M', name, "", timeoutMs, value, error);
  }
  Missing whoIsMissing(const std::string &name, std::vector<int64_t> &parts,
                       std::vector<int64_t> &strangers) override;
  Answer ask(char what, const std::string &name, const std::string &value,
             int64_t timeoutMs, std::string &result, Loss &loss);
  Answer ask(char what, const std::string &name, const std::string &value,
             int64_t timeoutMs, std::string &result, std::string &error) {
    Loss loss;
    Answer answer = ask(what, name, value, timeoutMs, result, loss);
    if (loss)
      error = loss.text;
    return answer;
  }
  /// Reports to the others which ranks were stopped or did not come before this
  /// one leaves, so that they do not miss this one. Caller holds the mutex.
  void leaveBecause(const Loss &loss);
  /// Waits for the answer with this number.
  bool receive(uint32_t wanted, WaitLimit limit, std::string &result,
               Loss &loss, bool &isLate);
  enum class Attempt { Joined, Again, Refused };
  /// One connection and handshake, for a second, and its verdict, within
  /// `limit`: who has proven itself may have been let in, and nobody is twice.
  Attempt tryToJoin(WaitLimit limit, std::string &why);
  std::string place() const {
    return launch.host + ":" + std::to_string(launch.port);
  }
  Loss isGone() const {
    return {Loss::Kind::Gone, "rank " + std::to_string(launch.rank) +
                                  ": the process of rank 0 at " + place() +
                                  " is gone"};
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
  if (gaveUp)
    leaveBecause(gaveUp);
  // Who was killed while ranks came together did not clear up.
  Loss loss;
  if (hasJoined && !launch.secretFile.empty() &&
      access(launch.secretFile.c_str(), F_OK) == 0 && isBroken(loss))
    removeSecret(launch, jobSecret);
}

bool ClientStore::receive(uint32_t wanted, WaitLimit limit, std::string &result,
                          Loss &loss, bool &isLate) {
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
      std::string said = body.substr(5);
      if (body[4] == 'K')
        result = said;
      else
        loss = {body[4] == 'P' ? Loss::Kind::Stopped : Loss::Kind::Refused,
                said};
      return body[4] == 'K';
    }
    if (taken == SealedStream::Taken::Forged) {
      // Nothing that comes after can be believed.
      server = Socket();
      loss = {Loss::Kind::Refused,
              "rank " + std::to_string(launch.rank) + ": somebody changed " +
                  "what the process of rank 0 at " + place() + " said"};
      return false;
    }
    if (!isHere || server.get() < 0) {
      loss = isGone();
      return false;
    }
    int64_t left = (limit.leftNs() + millisecond - 1) / millisecond;
    if (left <= 0) {
      isLate = true;
      return false;
    }
    pollfd ready = {server.get(), POLLIN, 0};
    poll(&ready, 1, static_cast<int>(std::min<int64_t>(left, 100)));
    if (ready.revents != 0)
      isHere = receiveSome(server.get(), received, mostWaiting);
    else if (siblings.isOneStopped(loss))
      return false;
  }
}

Store::Answer ClientStore::ask(char what, const std::string &name,
                               const std::string &value, int64_t timeoutMs,
                               std::string &result, Loss &loss) {
  std::lock_guard lock(mutex);
  WaitLimit limit(timeoutMs * millisecond);
  std::string frame = stream.seal(request(++number, what, name, value));
  if (server.get() < 0 || !sendAll(server.get(), frame, limit)) {
    // Part of a frame may have gone: nothing can follow it.
    server = Socket();
    loss = isGone();
    return Answer::Refused;
  }
  bool isLate = false;
  if (receive(number, limit, result, loss, isLate))
    return Answer::Given;
  if (loss.kind == Loss::Kind::Stopped)
    leaveBecause(loss);
  if (!isLate)
    return Answer::Refused;
  loss = {Loss::Kind::Refused, waited(launch, timeoutMs, "'" + name + "'")};
  return Answer::Late;
}

bool ClientStore::get(const std::string &name, int64_t timeoutMs,
                      std::string &value, std::string &error) {
  failedWith = SHARDRT_LOST;
  Answer answer = ask('G', name, "", timeoutMs, value, error);
  if (answer == Answer::Late)
    explain(name, error);
  return answer == Answer::Given;
}

void ClientStore::leaveBecause(const Loss &loss) {
  failedWith = SHARDRT_WATCHDOG;
  char what = loss.kind == Loss::Kind::Stopped ? 'P' : 'L';
  if (server.get() >= 0)
    sendAll(server.get(), stream.seal(request(++number, what, "", loss.text)),
            WaitLimit(100 * millisecond));
}

bool ClientStore::isBroken(Loss &loss) {
  if (siblings.isOneStopped(loss)) {
    std::lock_guard lock(mutex);
    leaveBecause(loss);
    return true;
  }
  std::string none;
  Loss found;
  if (ask('H', "", "", 500, none, found) != Answer::Refused)
    return false;
  loss = found;
  return true;
}

Store::Missing ClientStore::whoIsMissing(const std::string &name,
                                         std::vector<int64_t> &parts,
                                         std::vector<int64_t> &strangers) {
  std::string text, why;
  Answer answer = ask('W', name, "", 500, text, why);
  if (answer != Answer::Given)
    return answer == Answer::Late ? Missing::Silent : Missing::Gone;
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
  return ask('S', name, value, 60'000, none, error) == Answer::Given;
}

ClientStore::Attempt ClientStore::tryToJoin(WaitLimit limit, std::string &why) {
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
  // Between attempts it is seen whether rank 0 was stopped.
  WaitLimit soon(std::min(limit.leftNs(), 1000 * millisecond));
  switch (knock(launch.host, launch.port, soon, jobSecret, linkOf(launch),
                {launch.rank, launch.size, flagsOf(launch)}, server, keys,
                received, why)) {
  case Knock::Proven:
    break;
  case Knock::Again:
    return Attempt::Again;
  case Knock::Nobody:
    // There somebody listens before ranks are started.
    if (launch.launcher != "shard-run")
      return Attempt::Again;
    why = "it is gone";
    return Attempt::Refused;
  case Knock::Stranger:
    // What was read may be of a job before this one.
    return launch.secret ? Attempt::Refused : Attempt::Again;
  }
  stream = SealedStream(keys);
  std::string none;
  Loss refusal;
  bool isLate = false;
  if (receive(0, limit, none, refusal, isLate))
    return Attempt::Joined;
  why = "there was no answer";
  // Who closes without a word may have had too many strangers there.
  if (refusal.kind != Loss::Kind::Stopped &&
      (isLate || server.get() < 0 || refusal.kind == Loss::Kind::Gone))
    return Attempt::Again;
  why = refusal.text;
  failedWith = refusal.status();
  return Attempt::Refused;
}

bool ClientStore::connectTo(int64_t timeoutMs, std::string &error) {
  WaitLimit limit(timeoutMs * millisecond);
  std::string why;
  for (int64_t pause = 1;; pause = std::min<int64_t>(2 * pause, 50)) {
    Attempt attempt = tryToJoin(limit, why);
    if (attempt == Attempt::Joined)
      break;
    server = Socket();
    Loss loss;
    if (siblings.isOneStopped(loss)) {
      error = loss.text;
      failedWith = loss.status();
      return false;
    }
    if (attempt == Attempt::Refused) {
      error = "rank " + std::to_string(launch.rank) + " cannot join at " +
              place() + ": " + why;
      return false;
    }
    if (limit.leftNs() <= 0) {
      error = waited(launch, timeoutMs,
                     "rank 0 to listen at " + place() + ": " + why);
      return false;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(pause));
  }
  return hasJoined = true;
}

std::unique_ptr<Store> shardrt::connectToStore(const Launch &launch,
                                               int64_t timeoutMs,
                                               std::string &error,
                                               int *status) {
  auto store = std::make_unique<ClientStore>(launch);
  if (store->connectTo(timeoutMs, error))
    return store;
  if (status)
    *status = store->status();
  return nullptr;
}
