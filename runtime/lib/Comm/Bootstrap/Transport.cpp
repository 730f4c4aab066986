//===- Transport.cpp - How processes' devices reach one another -----------===//

#include "Comm/Bootstrap/Transport.h"
#include "Comm/Nccl/Library.h"
#include "shardrt/shardrt.h"
#include <map>
#include <sstream>

using namespace shardrt;

static std::string nameOf(int transport) {
  switch (transport) {
  case SHARDRT_TRANSPORT_AUTO:
    return "without a transport of its own";
  case SHARDRT_TRANSPORT_HOST:
    return "to go through host memory";
  case SHARDRT_TRANSPORT_DIRECT:
    return "with --transport=direct";
  case SHARDRT_TRANSPORT_NCCL:
    return "with --transport=nccl";
  default:
    return "with transport " + std::to_string(transport);
  }
}

/// Why ranks cannot go over NCCL by themselves; empty if they can.
static std::string obstacle(const std::vector<TransportOffer> &offers) {
  if (offers.size() == 1)
    return "there is one rank";
  std::map<std::string, size_t> owners;
  for (size_t rank = 0; rank < offers.size(); ++rank) {
    const TransportOffer &offer = offers[rank];
    std::string me = std::to_string(rank);
    if (offer.device.empty())
      return "rank " + me + " has no device that others can name";
    auto [owner, isNew] = owners.try_emplace(offer.device, rank);
    if (!isNew)
      return "ranks " + std::to_string(owner->second) + " and " + me +
             " share a device";
  }
  for (size_t rank = 0; rank < offers.size(); ++rank) {
    const TransportOffer &offer = offers[rank];
    if (!offer.lacks.empty())
      return "rank " + std::to_string(rank) + ": " + offer.lacks;
    if (offer.nccl != offers[0].nccl)
      return "rank 0 has NCCL " + nccl::versionName(offers[0].nccl) +
             ", rank " + std::to_string(rank) + " has NCCL " +
             nccl::versionName(offer.nccl);
  }
  return {};
}

bool shardrt::chooseTransport(const std::vector<TransportOffer> &offers,
                              TransportChoice &choice, std::string &error) {
  for (size_t rank = 1; rank < offers.size(); ++rank)
    if (offers[rank].asked != offers[0].asked) {
      error = "rank 0 was started " + nameOf(offers[0].asked) + ", rank " +
              std::to_string(rank) + " " + nameOf(offers[rank].asked) +
              ": start all ranks with the same --transport";
      return false;
    }
  choice.transport = offers[0].asked;
  choice.why = "asked for";
  if (choice.transport != SHARDRT_TRANSPORT_AUTO)
    return true;
  std::string why = obstacle(offers);
  choice.transport =
      why.empty() ? SHARDRT_TRANSPORT_NCCL : SHARDRT_TRANSPORT_HOST;
  choice.why = why.empty() ? "each process has a device of its own" : why;
  return true;
}

/// An offer in a line of its own for each part; the last may be of any text.
static std::string textOf(const TransportOffer &offer) {
  return std::to_string(offer.asked) + "\n" + offer.device + "\n" +
         std::to_string(offer.nccl) + "\n" + offer.lacks;
}

static TransportOffer offerOf(const std::string &text) {
  TransportOffer offer;
  std::istringstream in(text);
  std::string line;
  auto number = [&] {
    std::getline(in, line);
    return std::strtoll(line.c_str(), nullptr, 10);
  };
  offer.asked = static_cast<int>(number());
  std::getline(in, offer.device);
  offer.nccl = number();
  std::getline(in, offer.lacks, '\0');
  return offer;
}

static std::string keyOf(const std::string &world, int64_t rank) {
  return "transport/" + world + "@" + std::to_string(rank);
}

void shardrt::refuseTransport(Job &job, const std::string &world,
                              const std::string &why) {
  std::string unused;
  job.store->set(keyOf(world, job.launch.rank), textOf({-1, "", 0, why}),
                 unused);
}

bool shardrt::agreeOnTransport(Job &job, const std::string &world,
                               const TransportOffer &mine,
                               TransportChoice &choice, int &status,
                               std::string &error) {
  auto lost = [&] {
    status = job.store->status();
    return false;
  };
  if (!job.store->set(keyOf(world, job.launch.rank), textOf(mine), error))
    return lost();
  std::vector<TransportOffer> offers;
  for (int64_t rank = 0; rank < job.launch.size; ++rank) {
    std::string text;
    if (!job.store->get(keyOf(world, rank), job.timeoutMs, text, error))
      return lost();
    offers.push_back(offerOf(text));
    if (offers.back().asked < 0) {
      status = SHARDRT_LOST;
      error = offers.back().lacks;
      return false;
    }
  }
  status = SHARDRT_USAGE;
  if (chooseTransport(offers, choice, error))
    return true;
  // Rank 0 keeps the store: it stays until the others have read why as well.
  std::string ignored, text;
  auto hasRead = [&](int64_t rank) { return keyOf(world + "/read", rank); };
  job.store->set(hasRead(job.launch.rank), "1", ignored);
  for (int64_t rank = 1; job.launch.rank == 0 && rank < job.launch.size; ++rank)
    if (!job.store->get(hasRead(rank), job.timeoutMs, text, ignored))
      break;
  return false;
}
