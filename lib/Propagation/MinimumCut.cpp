//===- MinimumCut.cpp - Choices between two sides -------------------------===//
#include "shardc/Propagation/MinimumCut.h"
#include <algorithm>
#include <queue>

using namespace shardc::propagation;

int32_t MinimumCut::addVertex() {
  edgesOf.emplace_back();
  return edgesOf.size() - 1;
}

void MinimumCut::addEdge(int32_t from, int32_t to, int64_t capacity) {
  if (capacity <= 0 || from == to)
    return;
  edgesOf[from].push_back(edges.size());
  edges.push_back({to, capacity});
  edgesOf[to].push_back(edges.size());
  edges.push_back({from, 0});
}

std::vector<bool> MinimumCut::cut() {
  while (findLevels())
    augment();
  std::vector<bool> side(edgesOf.size());
  for (size_t i = 0; i < side.size(); ++i)
    side[i] = level[i] >= 0;
  return side;
}

/// How many edges with capacity left lead from the source to each vertex; false
/// if the sink is not reached.
bool MinimumCut::findLevels() {
  level.assign(edgesOf.size(), -1);
  level[Source] = 0;
  std::queue<int32_t> next({Source});
  while (!next.empty()) {
    int32_t at = next.front();
    next.pop();
    for (int32_t number : edgesOf[at])
      if (const Edge &edge = edges[number];
          edge.left > 0 && level[edge.to] < 0) {
        level[edge.to] = level[at] + 1;
        next.push(edge.to);
      }
  }
  return level[Sink] >= 0;
}

/// Fills all shortest paths, one after the other; without recursion, since
/// programs are long.
void MinimumCut::augment() {
  std::vector<size_t> tried(edgesOf.size(), 0);
  std::vector<int32_t> path;
  while (true) {
    int32_t at = path.empty() ? int32_t(Source) : edges[path.back()].to;
    if (at == Sink) {
      int64_t amount = kInfinite;
      for (int32_t number : path)
        amount = std::min(amount, edges[number].left);
      size_t keep = path.size();
      for (size_t i = path.size(); i-- > 0;) {
        edges[path[i]].left -= amount;
        edges[path[i] ^ 1].left += amount;
        if (edges[path[i]].left == 0)
          keep = i;
      }
      path.resize(keep);
      continue;
    }
    bool found = false;
    for (size_t &i = tried[at]; i < edgesOf[at].size(); ++i) {
      const Edge &edge = edges[edgesOf[at][i]];
      if (edge.left > 0 && level[edge.to] == level[at] + 1) {
        path.push_back(edgesOf[at][i]);
        found = true;
        break;
      }
    }
    if (found)
      continue;
    if (path.empty())
      return;
    int32_t back = edges[path.back() ^ 1].to;
    path.pop_back();
    ++tried[back];
  }
}
