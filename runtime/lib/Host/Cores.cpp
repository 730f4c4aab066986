//===- Cores.cpp - Where threads run --------------------------------------===//

#include "Host/Cores.h"
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <string>
#include <thread>
#ifdef __linux__
#include <sched.h>
#endif

using namespace shardrt;

/// The first line of a file of the system; "" where there is none.
static std::string readLine(const std::string &path) {
  char line[4096] = "";
  if (std::FILE *file = std::fopen(path.c_str(), "re")) {
    if (!std::fgets(line, sizeof(line), file))
      line[0] = 0;
    std::fclose(file);
  }
  std::string text = line;
  return text.substr(0, text.find('\n'));
}

int64_t shardrt::coresOfGroup(const std::string &root, std::string group) {
  int64_t cores = 0;
  while (true) {
    // "50000 100000": so many of so many microseconds; or "max".
    std::string limit = readLine(root + group + "/cpu.max");
    char *rest = nullptr;
    int64_t quota = std::strtoll(limit.c_str(), &rest, 10);
    int64_t period = std::strtoll(rest, nullptr, 10);
    if (quota > 0 && period > 0) {
      int64_t here = (quota + period - 1) / period;
      cores = cores == 0 ? here : std::min(cores, here);
    }
    size_t slash = group.rfind('/');
    if (slash == std::string::npos)
      return cores;
    group.resize(slash);
  }
}

int64_t shardrt::countCores() {
#ifdef __linux__
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof(allowed), &allowed) == 0)
    return std::max(1, CPU_COUNT(&allowed));
#endif
  return std::max(1u, std::thread::hardware_concurrency());
}

int64_t shardrt::countGrantedCores() {
  int64_t cores = countCores();
#ifdef __linux__
  // "0::/user.slice": version 2 alone, or beside version 1.
  std::string group = readLine("/proc/self/cgroup");
  if (group.rfind("0::", 0) == 0) {
    group = group.substr(3);
    if (int64_t limit =
            coresOfGroup("/sys/fs/cgroup", group == "/" ? "" : group))
      cores = std::min(cores, limit);
  }
#endif
  return cores;
}

std::vector<int64_t> shardrt::spreadOverCores(std::span<const int64_t> work,
                                              int64_t cores,
                                              std::span<const int64_t> now) {
  std::vector<size_t> order(work.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return work[a] > work[b]; });
  std::vector<int64_t> load(cores), found(work.size());
  for (size_t thread : order) {
    auto least = std::min_element(load.begin(), load.end());
    *least += work[thread];
    found[thread] = least - load.begin();
  }
  std::vector<int64_t> before(cores);
  for (size_t thread = 0; thread < work.size(); ++thread)
    before[now[thread] % cores] += work[thread];
  int64_t most = *std::max_element(load.begin(), load.end()),
          mostBefore = *std::max_element(before.begin(), before.end());
  if (most >= mostBefore - mostBefore / 10)
    found.assign(now.begin(), now.end());
  return found;
}

void shardrt::moveToCore([[maybe_unused]] int64_t index,
                         [[maybe_unused]] bool bind) {
#ifdef __linux__
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof(allowed), &allowed) != 0)
    return;
  int64_t cores = CPU_COUNT(&allowed), at = 0;
  for (int core = 0; core < CPU_SETSIZE; ++core) {
    if (!CPU_ISSET(core, &allowed) || at++ != index % cores)
      continue;
    if (!bind && sched_getcpu() == core)
      return;
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(core, &one);
    sched_setaffinity(0, sizeof(one), &one);
    if (!bind)
      sched_setaffinity(0, sizeof(allowed), &allowed);
    return;
  }
#endif
}
