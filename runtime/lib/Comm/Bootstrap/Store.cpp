//===- Store.cpp - Values that the processes of a job share ---------------===//
//
// What both sides do: who joins, and what is said of those who do not come.
//
//===----------------------------------------------------------------------===//

#include "Comm/Bootstrap/Store.h"
#include "Comm/Bootstrap/StoreMessages.h"
#include "shardrt/shardrt.h"
#include <algorithm>
#include <cstdlib>
#include <vector>

using namespace shardrt;

int64_t shardrt::ownerOf(const std::string &name) {
  size_t at = name.rfind('@');
  if (at == std::string::npos)
    return -1;
  std::string text = name.substr(at + 1, name.find('/', at) - at - 1);
  int64_t owner = std::strtoll(text.c_str(), nullptr, 10);
  return std::to_string(owner) == text && owner >= 0 ? owner : -1;
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
           ", which has joined and gone no further: it may be stopped";
}

bool Store::barrier(const std::string &name, int64_t timeoutMs,
                    std::string &error) {
  failedWith = SHARDRT_LOST;
  gaveUp = {};
  Answer came = come(name, timeoutMs, error);
  if (came != Answer::Late)
    return came == Answer::Given;
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
             std::string(parts.size() == 1 ? "it" : "they") + " may be stopped";
  }
  gaveUp = {haveJoined ? Loss::Kind::Stopped : Loss::Kind::Gone, error};
  return false;
}

std::unique_ptr<Store> Store::join(const Launch &launch, int64_t timeoutMs,
                                   std::string &error, int *status) {
  if (status)
    *status = SHARDRT_LOST;
  if (!launch.secret && launch.secretFile.empty() && !launch.isInsecure) {
    error = "there is no secret by which ranks know one another";
    return nullptr;
  }
  return launch.rank == 0 ? serveStore(launch, error)
                          : connectToStore(launch, timeoutMs, error, status);
}
