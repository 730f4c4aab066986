//===- MinimumCutTest.cpp - Choices between two sides ---------------------===//
#include "shardc/Propagation/MinimumCut.h"
#include <gtest/gtest.h>
#include <random>

using namespace shardc::propagation;

namespace {
struct GivenEdge {
  int32_t from, to;
  int64_t capacity;
};
} // namespace

/// What it costs where bit v of `side` says that vertex v is on the source's.
static int64_t costOf(const std::vector<GivenEdge> &edges, uint32_t side) {
  int64_t cost = 0;
  for (const GivenEdge &edge : edges)
    if ((side >> edge.from & 1) && !(side >> edge.to & 1))
      cost += edge.capacity;
  return cost;
}

static uint32_t cutOf(const std::vector<GivenEdge> &edges, int vertices) {
  MinimumCut graph;
  for (int v = 2; v < vertices; ++v)
    EXPECT_EQ(graph.addVertex(), v);
  for (const GivenEdge &edge : edges)
    graph.addEdge(edge.from, edge.to, edge.capacity);
  std::vector<bool> side = graph.cut();
  EXPECT_EQ(side.size(), size_t(vertices));
  uint32_t bits = 0;
  for (int v = 0; v < vertices; ++v)
    bits |= uint32_t(side[v]) << v;
  return bits;
}

TEST(MinimumCut, TheCheapestOfAllSidesAndTheFewestOnTheSources) {
  std::mt19937 random(7);
  auto below = [&](int limit) { return int(random() % limit); };
  for (int round = 0; round < 2000; ++round) {
    int vertices = 2 + below(7);
    std::vector<GivenEdge> edges;
    for (int e = below(4 * vertices); e > 0; --e)
      edges.push_back({below(vertices), below(vertices), below(6)});
    int64_t least = std::numeric_limits<int64_t>::max();
    uint32_t fewest = 0;
    for (uint32_t side = 0; side < 1u << vertices; ++side) {
      bool isCut =
          (side >> MinimumCut::Source & 1) && !(side >> MinimumCut::Sink & 1);
      if (!isCut)
        continue;
      int64_t cost = costOf(edges, side);
      if (cost < least || (cost == least && __builtin_popcount(side) <
                                                __builtin_popcount(fewest))) {
        least = cost;
        fewest = side;
      }
    }
    // The smallest side of all cheapest cuts is in every other one.
    EXPECT_EQ(cutOf(edges, vertices), fewest) << "round " << round;
  }
}

TEST(MinimumCut, WhatIsTiedTogetherIsOnOneSide) {
  MinimumCut graph;
  int32_t a = graph.addVertex(), b = graph.addVertex();
  graph.addEdge(a, b, MinimumCut::kInfinite);
  graph.addEdge(b, a, MinimumCut::kInfinite);
  graph.addEdge(MinimumCut::Source, a, 5);
  graph.addEdge(b, MinimumCut::Sink, 4);
  EXPECT_EQ(graph.cut(), (std::vector<bool>{true, false, true, true}));
}
