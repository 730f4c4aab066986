//===- MinimumCut.h - Choices between two sides -----------------*- C++ -*-===//
//
// Things that take one of two sides: each has a price for being on either, and
// pairs of them for being apart. The sides that cost least together are a
// minimum cut.
//
//===----------------------------------------------------------------------===//
#ifndef SHARDC_PROPAGATION_MINIMUMCUT_H
#define SHARDC_PROPAGATION_MINIMUMCUT_H

#include <cstdint>
#include <limits>
#include <vector>

namespace shardc::propagation {

/// A directed graph whose edges have capacities.
class MinimumCut {
public:
  /// The capacity of an edge that is never cut. [maths]
  static constexpr int64_t kInfinite = std::numeric_limits<int64_t>::max() / 4;
  enum : int32_t { Source = 0, Sink = 1 };

  MinimumCut() : edgesOf(2) {}

  /// Returns the number of a vertex that is on either side.
  int32_t addVertex();
  /// An edge that costs `capacity` where `from` is on the source's side and
  /// `to` on the sink's. None is added for a capacity of 0 or less.
  void addEdge(int32_t from, int32_t to, int64_t capacity);
  /// The cut of least capacity: by vertex, true on the source's side. Of
  /// several such cuts the one with the fewest vertices there. May be called
  /// once: it uses up capacities. Dinic's algorithm.
  std::vector<bool> cut();

private:
  struct Edge {
    int32_t to;
    int64_t left; ///< of its capacity
  };
  bool findLevels();
  void augment();

  /// Of each vertex its edges. An edge and its reverse are neighbours in
  /// `edges`: their numbers differ in the last bit.
  std::vector<std::vector<int32_t>> edgesOf;
  std::vector<Edge> edges;
  std::vector<int32_t> level; ///< by vertex, from the source; -1: not reached
};

} // namespace shardc::propagation

#endif // SHARDC_PROPAGATION_MINIMUMCUT_H
