//===- Measured.cpp - What ranks did in their steps -----------------------===//
#include "Measured.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>

using namespace llvm;
using namespace shardc;

std::vector<SiteReport> shardc::readSites(const shardrt_program *program,
                                          ArrayRef<shardrt_site_stats> all,
                                          int64_t steps, int64_t ranks) {
  std::vector<SiteReport> reports;
  for (int64_t site = 0; site < shardrt_program_num_sites(program); ++site) {
    shardrt_site_info info;
    if (shardrt_program_site_info(program, site, &info) != SHARDRT_OK)
      continue;
    const shardrt_site_stats &stats = all[site];
    double executions = static_cast<double>(steps) * ranks;
    reports.push_back({info.kind, info.axes, info.location, info.name,
                       stats.count / executions,
                       static_cast<double>(stats.bytes_received) / steps,
                       stats.total_ns / executions / 1e6,
                       stats.wait_ns / executions / 1e6,
                       stats.overlap_ns / executions / 1e6});
  }
  return reports;
}

TraceReport shardc::readTrace(const shardrt_program *program,
                              const shardrt_world *world, int64_t ranks) {
  TraceReport trace;
  for (int64_t i = 0; i < shardrt_program_num_kernels(program); ++i) {
    const char *name, *location;
    if (shardrt_program_kernel_info(program, i, &name, &location) == SHARDRT_OK)
      trace.kernels.push_back({name, location});
  }
  for (int64_t rank = 0; rank < ranks; ++rank) {
    TraceReport::Rank &mine = trace.ranks.emplace_back();
    const shardrt_trace_event *events;
    int64_t count = shardrt_world_trace(world, rank, &events, &mine.dropped);
    if (count > 0)
      mine.events.assign(events, events + count);
    for (int64_t site = 0; site < shardrt_program_num_sites(program); ++site) {
      std::vector<int64_t> &peers = mine.peers.emplace_back();
      peers.resize(std::max<int64_t>(
          shardrt_world_site_peers(world, rank, site, nullptr, 0), 0));
      shardrt_world_site_peers(world, rank, site, peers.data(), peers.size());
    }
  }
  return trace;
}

std::vector<shardrt_site_stats>
shardc::readStats(const shardrt_program *program, const shardrt_world *world) {
  std::vector<shardrt_site_stats> all(shardrt_program_num_sites(program));
  for (auto [site, stats] : enumerate(all))
    shardrt_world_site_stats(world, -1, site, &stats);
  return all;
}

/// Events of ranks of other hosts are shifted where these hosts' clocks began
/// at another time: the last steps of all end at the same time, at a barrier.
static void alignClocks(TraceReport &trace) {
  auto span = [](const TraceReport::Rank &rank) {
    std::pair<int64_t, int64_t> times(INT64_MAX, INT64_MIN);
    for (const shardrt_trace_event &event : rank.events) {
      times.first = std::min(times.first, event.begin_ns);
      times.second = std::max(times.second, event.end_ns);
    }
    return times;
  };
  auto [begin, end] = span(trace.ranks[0]);
  for (TraceReport::Rank &rank : trace.ranks) {
    auto [theirBegin, theirEnd] = span(rank);
    if (rank.events.empty() || (theirBegin <= end && begin <= theirEnd))
      continue;
    int64_t shift = end - theirEnd;
    for (shardrt_trace_event &event : rank.events)
      for (int64_t *time : {&event.begin_ns, &event.end_ns, &event.posted_ns})
        *time += shift;
  }
}

/// The same for lists that differ in length.
template <typename T>
static int gatherLists(shardrt_world *world, const std::vector<T> &mine,
                       int64_t ranks, bool isFirst,
                       std::vector<std::vector<T>> &lists) {
  int64_t size = mine.size();
  std::vector<int64_t> sizes;
  if (int status = gatherAll(world, &size, 1, ranks, sizes))
    return status;
  lists.assign(ranks, {});
  std::vector<void *> parts;
  std::vector<int64_t> bytes;
  for (int64_t rank = 0; rank < ranks; ++rank) {
    if (isFirst)
      lists[rank].resize(sizes[rank]);
    parts.push_back(lists[rank].data());
    bytes.push_back(isFirst ? sizes[rank] * sizeof(T) : 0);
  }
  // Nothing has an address too.
  T none = {};
  return shardrt_world_gather(world, 0, mine.empty() ? &none : mine.data(),
                              size * sizeof(T), parts.data(), bytes.data());
}

int shardc::gatherTrace(shardrt_world *world, int64_t me, TraceReport &trace) {
  int64_t ranks = trace.ranks.size();
  const TraceReport::Rank &mine = trace.ranks[me];
  // Of each site, how many peers, and which.
  std::vector<int64_t> words = {mine.dropped};
  for (const std::vector<int64_t> &peers : mine.peers) {
    words.push_back(peers.size());
    words.insert(words.end(), peers.begin(), peers.end());
  }
  std::vector<std::vector<shardrt_trace_event>> events;
  std::vector<std::vector<int64_t>> others;
  if (int status = gatherLists(world, mine.events, ranks, me == 0, events))
    return status;
  if (int status = gatherLists(world, words, ranks, me == 0, others))
    return status;
  for (int64_t rank = 0; me == 0 && rank < ranks; ++rank) {
    TraceReport::Rank &report = trace.ranks[rank];
    report.events = std::move(events[rank]);
    const int64_t *next = others[rank].data();
    report.dropped = *next++;
    for (std::vector<int64_t> &peers : report.peers) {
      int64_t count = *next++;
      peers.assign(next, next + count);
      next += count;
    }
  }
  if (me == 0)
    alignClocks(trace);
  return SHARDRT_OK;
}
