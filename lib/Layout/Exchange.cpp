//===- Exchange.cpp - Owned to needed: who sends what to whom -------------===//
//
// Every rank can compute every transfer from the tables alone: a box travels
// from the rank that serves it to each rank whose needed box it overlaps.
//
//===----------------------------------------------------------------------===//

#include "shardc/Layout/Exchange.h"
#include <functional>
#include <numeric>
#include <optional>
#include <utility>

using namespace shardc;

//===----------------------------------------------------------------------===//
// Mesh coordinates
//===----------------------------------------------------------------------===//

/// How far apart in rank number two neighbours along `axis` are.
static int64_t strideOf(std::span<const int64_t> meshShape, int64_t axis) {
  int64_t stride = 1;
  for (size_t i = axis + 1; i < meshShape.size(); ++i)
    stride *= meshShape[i];
  return stride;
}

static int64_t numRanks(const Exchange &exchange) {
  return std::accumulate(exchange.meshShape.begin(), exchange.meshShape.end(),
                         int64_t(1), std::multiplies<>());
}

int64_t shardc::coordinateAlong(std::span<const int64_t> meshShape,
                                std::span<const int64_t> axes, int64_t rank) {
  int64_t coordinate = 0;
  for (int64_t axis : axes)
    coordinate = coordinate * meshShape[axis] +
                 rank / strideOf(meshShape, axis) % meshShape[axis];
  return coordinate;
}

/// `axes` from major to minor, each once.
static std::vector<int64_t> sortedAxes(std::span<const int64_t> axes) {
  std::vector<int64_t> sorted(axes.begin(), axes.end());
  std::sort(sorted.begin(), sorted.end());
  sorted.erase(std::unique(sorted.begin(), sorted.end()), sorted.end());
  return sorted;
}

int64_t shardc::firstAlong(std::span<const int64_t> meshShape,
                           std::span<const int64_t> axes, int64_t rank) {
  int64_t first = rank;
  for (int64_t axis : sortedAxes(axes))
    first -= coordinateAlong(meshShape, {&axis, 1}, rank) *
             strideOf(meshShape, axis);
  return first;
}

std::vector<int64_t> shardc::groupAlong(std::span<const int64_t> meshShape,
                                        std::span<const int64_t> axes,
                                        int64_t rank) {
  // From major to minor, each step keeps the ranks in ascending order.
  std::vector<int64_t> sorted = sortedAxes(axes);
  std::vector<int64_t> group = {firstAlong(meshShape, axes, rank)};
  for (int64_t axis : sorted) {
    int64_t stride = strideOf(meshShape, axis);
    std::vector<int64_t> next;
    next.reserve(group.size() * meshShape[axis]);
    for (int64_t start : group)
      for (int64_t i = 0; i < meshShape[axis]; ++i)
        next.push_back(start + i * stride);
    group = std::move(next);
  }
  return group;
}

//===----------------------------------------------------------------------===//
// Boxes
//===----------------------------------------------------------------------===//

static Box wholeBox(const Exchange &exchange) {
  Box box;
  box.reserve(exchange.globalShape.size());
  for (int64_t size : exchange.globalShape)
    box.push_back({0, size});
  return box;
}

static Box boxOf(const Exchange &exchange, int64_t rank,
                 std::vector<Interval> DimExchange::*table) {
  Box box = wholeBox(exchange);
  for (const DimExchange &dim : exchange.dims)
    box[dim.dim] =
        (dim.*table)[coordinateAlong(exchange.meshShape, dim.axes, rank)];
  return box;
}

Box shardc::ownedBox(const Exchange &exchange, int64_t rank) {
  return boxOf(exchange, rank, &DimExchange::owned);
}

Box shardc::neededBox(const Exchange &exchange, int64_t rank) {
  return boxOf(exchange, rank, &DimExchange::needed);
}

int64_t DimExchange::size() const {
  int64_t size = 0;
  for (Interval interval : owned)
    size = std::max(size, interval.end);
  return size;
}

static bool isEmpty(const Box &box) {
  return std::any_of(box.begin(), box.end(),
                     [](Interval interval) { return interval.empty(); });
}

static Box intersectBoxes(const Box &a, const Box &b) {
  Box box;
  box.reserve(a.size());
  for (size_t i = 0; i < a.size(); ++i)
    box.push_back(intersect(a[i], b[i]));
  return box;
}

void shardc::appendOutside(const Box &box, const Box &hole,
                           std::vector<Box> &out) {
  if (isEmpty(box))
    return;
  if (isEmpty(intersectBoxes(box, hole))) {
    out.push_back(box);
    return;
  }
  // What is below and above in each dim, inside the hole's extent of the dims
  // before it.
  Box rest = box;
  for (size_t dim = 0; dim < box.size(); ++dim) {
    for (Interval side : {Interval{rest[dim].begin, hole[dim].begin},
                          Interval{hole[dim].end, rest[dim].end}}) {
      if (side.empty())
        continue;
      Box piece = rest;
      piece[dim] = side;
      out.push_back(std::move(piece));
    }
    rest[dim] = intersect(rest[dim], hole[dim]);
  }
}

std::vector<Box> shardc::arrivingBoxes(const Exchange &exchange, int64_t rank) {
  Box needed = neededBox(exchange, rank);
  std::vector<Box> result;
  if (exchange.parts.empty()) {
    if (!isEmpty(needed))
      result.push_back(std::move(needed));
    return result;
  }
  for (const auto &part : exchange.parts) {
    Box box = needed;
    for (size_t i = 0; i < exchange.dims.size(); ++i) {
      const DimExchange &dim = exchange.dims[i];
      box[dim.dim] =
          part[i][coordinateAlong(exchange.meshShape, dim.axes, rank)];
    }
    // What no part before it has.
    std::vector<Box> fresh;
    if (!isEmpty(box))
      fresh.push_back(std::move(box));
    for (const Box &known : result) {
      std::vector<Box> rest;
      for (const Box &piece : fresh)
        appendOutside(piece, known, rest);
      fresh = std::move(rest);
    }
    result.insert(result.end(), fresh.begin(), fresh.end());
  }
  return result;
}

//===----------------------------------------------------------------------===//
// Verification
//===----------------------------------------------------------------------===//

/// Sums and differences of indices below this cannot overflow.
static constexpr int64_t largestIndex = int64_t(1) << 61;

static std::string toString(const Box &box) {
  std::string text;
  for (Interval interval : box)
    text += (text.empty() ? "[" : " x [") + std::to_string(interval.begin) +
            ", " + std::to_string(interval.end) + ")";
  return text;
}

/// Returns what is wrong with one dim's table, or an empty string.
static std::string verifyDim(const Exchange &exchange, const DimExchange &dim) {
  std::string name = "dim " + std::to_string(dim.dim);
  int64_t coordinates = 1;
  for (size_t i = 0; i < dim.axes.size(); ++i) {
    int64_t axis = dim.axes[i];
    if (axis < 0 || axis >= static_cast<int64_t>(exchange.meshShape.size()))
      return name + " names mesh axis " + std::to_string(axis) +
             ", but the mesh has " + std::to_string(exchange.meshShape.size()) +
             " axes";
    if (std::find(dim.axes.begin(), dim.axes.begin() + i, axis) !=
        dim.axes.begin() + i)
      return name + " lists mesh axis " + std::to_string(axis) + " twice";
    coordinates *= exchange.meshShape[axis];
  }
  for (auto [table, word] :
       {std::pair(&dim.owned, "owned"), std::pair(&dim.needed, "needed")}) {
    if (static_cast<int64_t>(table->size()) != coordinates)
      return name + " has " + std::to_string(table->size()) + " " + word +
             " intervals for " + std::to_string(coordinates) +
             " coordinates along its axes";
    for (Interval interval : *table)
      if (std::min(interval.begin, interval.end) < -largestIndex ||
          std::max(interval.begin, interval.end) > largestIndex)
        return name + " has " + word + " interval " + toString({interval}) +
               ", which is too large";
  }
  Interval domain = {0, exchange.globalShape[dim.dim]};
  for (Interval interval : dim.owned)
    if (!domain.contains(interval))
      return name + " has owned interval " + toString({interval}) +
             " outside its " + std::to_string(domain.end) + " elements";
  return "";
}

/// Returns whether the disjoint, non-empty `boxes` cover `whole`. Counts the
/// cells of the grid that all their edges span: there are few, elements many.
static bool coverAll(const std::vector<Box> &boxes, const Box &whole) {
  if (isEmpty(whole))
    return true;
  std::vector<std::vector<int64_t>> edges;
  for (size_t dim = 0; dim < whole.size(); ++dim) {
    std::vector<int64_t> cuts = {whole[dim].begin, whole[dim].end};
    for (const Box &box : boxes) {
      cuts.push_back(box[dim].begin);
      cuts.push_back(box[dim].end);
    }
    std::sort(cuts.begin(), cuts.end());
    cuts.erase(std::unique(cuts.begin(), cuts.end()), cuts.end());
    edges.push_back(std::move(cuts));
  }
  // Disjoint boxes have no more cells together than the whole has, so if that
  // number fits, no sum overflows. If not, far too many ranks would be needed.
  auto cells = [&](const Box &box) -> std::optional<uint64_t> {
    uint64_t count = 1;
    for (size_t dim = 0; dim < box.size(); ++dim) {
      auto at = [&](int64_t edge) {
        return std::lower_bound(edges[dim].begin(), edges[dim].end(), edge);
      };
      uint64_t length = at(box[dim].end) - at(box[dim].begin);
      if (__builtin_mul_overflow(count, length, &count))
        return std::nullopt;
    }
    return count;
  };
  std::optional<uint64_t> expected = cells(whole);
  if (!expected)
    return false;
  uint64_t covered = 0;
  for (const Box &box : boxes)
    covered += *cells(box);
  return covered == *expected;
}

/// Returns whether the different boxes in `sorted`, which agree in all dims
/// before `dim`, are disjoint, where one look at neighbours shows it: boxes
/// with the same interval are grouped, and different intervals may not overlap.
/// False says nothing.
static bool clearlyDisjoint(std::span<const std::pair<Box, int64_t>> sorted,
                            size_t dim) {
  int64_t end = INT64_MIN;
  while (!sorted.empty()) {
    if (dim == sorted.front().first.size())
      return sorted.size() == 1;
    Interval interval = sorted.front().first[dim];
    if (interval.begin < end)
      return false;
    end = interval.end;
    size_t same = 1;
    while (same < sorted.size() && sorted[same].first[dim] == interval)
      ++same;
    if (!clearlyDisjoint(sorted.first(same), dim + 1))
      return false;
    sorted = sorted.subspan(same);
  }
  return true;
}

/// Returns whether owned boxes tile the tensor where one look at each table
/// shows it: dims are cut along axes of their own, each in ascending order and
/// without a gap. False says nothing.
static bool clearlyTiles(const Exchange &exchange) {
  std::vector<bool> seen(exchange.meshShape.size());
  for (const DimExchange &dim : exchange.dims) {
    for (int64_t axis : dim.axes) {
      if (seen[axis])
        return false;
      seen[axis] = true;
    }
    int64_t end = 0;
    for (Interval interval : dim.owned) {
      if (interval.empty())
        continue;
      if (interval.begin != end)
        return false;
      end = interval.end;
    }
    if (end != exchange.globalShape[dim.dim])
      return false;
  }
  return true;
}

/// The axes of all dims.
static std::vector<int64_t> allAxes(const Exchange &exchange) {
  std::vector<int64_t> axes;
  for (const DimExchange &dim : exchange.dims)
    axes.insert(axes.end(), dim.axes.begin(), dim.axes.end());
  std::sort(axes.begin(), axes.end());
  axes.erase(std::unique(axes.begin(), axes.end()), axes.end());
  return axes;
}

std::string shardc::verifyExchange(const Exchange &exchange) {
  int64_t ranks = 1;
  for (int64_t size : exchange.meshShape)
    if (size < 1 || __builtin_mul_overflow(ranks, size, &ranks) ||
        ranks > largestIndex)
      return "the mesh has an axis of size " + std::to_string(size);
  for (int64_t size : exchange.globalShape)
    if (size < 0 || size > largestIndex)
      return "the tensor has a dim of " + std::to_string(size) + " elements";

  std::vector<bool> seen(exchange.globalShape.size());
  for (const DimExchange &dim : exchange.dims) {
    if (dim.dim < 0 || dim.dim >= static_cast<int64_t>(seen.size()))
      return "dim " + std::to_string(dim.dim) +
             " is listed, but the tensor has " + std::to_string(seen.size()) +
             " dims";
    if (seen[dim.dim])
      return "dim " + std::to_string(dim.dim) + " is listed twice";
    seen[dim.dim] = true;
    if (std::string error = verifyDim(exchange, dim); !error.empty())
      return error;
  }

  for (size_t number = 0; number < exchange.parts.size(); ++number) {
    const auto &part = exchange.parts[number];
    std::string name = "part " + std::to_string(number);
    if (part.size() != exchange.dims.size())
      return name + " has tables of " + std::to_string(part.size()) +
             " dims, but " + std::to_string(exchange.dims.size()) +
             " are listed";
    for (size_t i = 0; i < part.size(); ++i) {
      const DimExchange &dim = exchange.dims[i];
      if (part[i].size() != dim.needed.size())
        return name + " has " + std::to_string(part[i].size()) +
               " intervals of dim " + std::to_string(dim.dim) + " for " +
               std::to_string(dim.needed.size()) + " coordinates";
      for (size_t at = 0; at < part[i].size(); ++at)
        if (!dim.needed[at].contains(part[i][at]))
          return name + " has interval " + toString({part[i][at]}) +
                 " of dim " + std::to_string(dim.dim) + " outside " +
                 toString({dim.needed[at]}) + ", which is needed";
    }
  }

  if (clearlyTiles(exchange))
    return "";
  // One group speaks for all: tables do not depend on other axes.
  std::vector<std::pair<Box, int64_t>> owned;
  for (int64_t rank : groupAlong(exchange.meshShape, allAxes(exchange), 0))
    if (Box box = ownedBox(exchange, rank); !isEmpty(box))
      owned.emplace_back(std::move(box), rank);
  auto less = [](const auto &a, const auto &b) {
    for (size_t dim = 0; dim < a.first.size(); ++dim)
      if (!(a.first[dim] == b.first[dim]))
        return std::pair(a.first[dim].begin, a.first[dim].end) <
               std::pair(b.first[dim].begin, b.first[dim].end);
    return a.second < b.second;
  };
  std::sort(owned.begin(), owned.end(), less);
  owned.erase(std::unique(owned.begin(), owned.end(),
                          [](const auto &a, const auto &b) {
                            return a.first == b.first;
                          }),
              owned.end());
  std::vector<Box> boxes;
  bool disjoint = clearlyDisjoint(owned, 0);
  for (size_t i = 0; i < owned.size(); ++i) {
    for (size_t j = 0; j < i && !disjoint; ++j)
      if (!isEmpty(intersectBoxes(owned[i].first, owned[j].first)))
        return "ranks " + std::to_string(owned[j].second) + " and " +
               std::to_string(owned[i].second) +
               " own boxes that overlap: " + toString(owned[j].first) +
               " and " + toString(owned[i].first);
    boxes.push_back(owned[i].first);
  }
  if (!coverAll(boxes, wholeBox(exchange)))
    return "the owned boxes do not cover the tensor";
  return "";
}

//===----------------------------------------------------------------------===//
// Transfers
//===----------------------------------------------------------------------===//

/// The axes along which an owned table varies. Ranks that differ only along
/// others own the same, so each finds its peers at its own coordinates.
static std::vector<int64_t> owningAxes(const Exchange &exchange) {
  std::vector<int64_t> result;
  for (const DimExchange &dim : exchange.dims) {
    int64_t stride = 1;
    for (size_t i = dim.axes.size(); i-- > 0;) {
      int64_t size = exchange.meshShape[dim.axes[i]];
      for (size_t at = 0; at < dim.owned.size(); ++at) {
        size_t first = at - at / stride % size * stride;
        if (dim.owned[at] == dim.owned[first])
          continue;
        result.push_back(dim.axes[i]);
        break;
      }
      stride *= size;
    }
  }
  std::sort(result.begin(), result.end());
  result.erase(std::unique(result.begin(), result.end()), result.end());
  return result;
}

std::optional<int64_t> shardc::paddedSource(int64_t position, int64_t size,
                                            Padding padding) {
  if (position >= 0 && position < size)
    return position;
  if (size == 0)
    return std::nullopt;
  auto modulo = [&](int64_t period) {
    int64_t rest = position % period;
    return rest < 0 ? rest + period : rest;
  };
  switch (padding) {
  case Padding::Constant:
    return std::nullopt;
  case Padding::Wrap:
    return modulo(size);
  case Padding::Edge:
    return position < 0 ? 0 : size - 1;
  case Padding::Reflect: {
    if (size == 1)
      return 0;
    int64_t at = modulo(2 * size - 2);
    return at < size ? at : 2 * size - 2 - at;
  }
  case Padding::Symmetric: {
    int64_t at = modulo(2 * size);
    return at < size ? at : 2 * size - 1 - at;
  }
  }
  return std::nullopt;
}

namespace {
/// Positions of one dim that are read one after another.
struct Segment {
  Interval to;
  int64_t from;
};
} // namespace

/// What a dim's `needed` positions are read from, in order.
static std::vector<Segment> segmentsOf(Interval needed, int64_t size,
                                       Padding padding) {
  Interval inside = intersect(needed, {0, size});
  if (padding == Padding::Constant || inside == needed)
    return inside.empty() ? std::vector<Segment>()
                          : std::vector<Segment>{{inside, inside.begin}};
  std::vector<Segment> segments;
  for (int64_t at = needed.begin; at < needed.end; ++at) {
    std::optional<int64_t> from = paddedSource(at, size, padding);
    if (!from)
      continue;
    if (!segments.empty() && segments.back().to.end == at &&
        segments.back().from + segments.back().to.size() == *from) {
      ++segments.back().to.end;
      continue;
    }
    segments.push_back({{at, at + 1}, *from});
    // Inside the domain nothing is out of order: on to its end.
    if (at >= 0 && at < size)
      at = segments.back().to.end = std::min(needed.end, size), --at;
  }
  return segments;
}

/// Calls `visit` for every part of what `to` needs that is in `owned`.
static void forEachPart(const Exchange &exchange, const Box &owned,
                        const Box &to,
                        const std::function<void(Box box, Box source)> &visit) {
  Box common = intersectBoxes(owned, to);
  if (isEmpty(owned))
    return;
  std::vector<std::vector<Segment>> dims;
  for (size_t dim = 0; dim < to.size(); ++dim)
    dims.push_back({{common[dim], common[dim].begin}});
  for (const DimExchange &dim : exchange.dims)
    if (dim.padding != Padding::Constant) {
      std::vector<Segment> &segments = dims[dim.dim];
      segments =
          segmentsOf(to[dim.dim], exchange.globalShape[dim.dim], dim.padding);
      for (Segment &segment : segments) {
        int64_t shift = segment.to.begin - segment.from;
        Interval read = intersect(
            {segment.from, segment.from + segment.to.size()}, owned[dim.dim]);
        segment = {{read.begin + shift, read.end + shift}, read.begin};
      }
    }
  for (std::vector<Segment> &segments : dims) {
    std::erase_if(segments,
                  [](const Segment &segment) { return segment.to.empty(); });
    if (segments.empty())
      return;
  }
  std::vector<size_t> at(dims.size(), 0);
  while (true) {
    Box box, source;
    for (size_t dim = 0; dim < dims.size(); ++dim) {
      const Segment &segment = dims[dim][at[dim]];
      box.push_back(segment.to);
      source.push_back({segment.from, segment.from + segment.to.size()});
    }
    visit(std::move(box), std::move(source));
    size_t dim = dims.size();
    while (dim > 0 && ++at[dim - 1] == dims[dim - 1].size())
      at[--dim] = 0;
    if (dim == 0)
      return;
  }
}

/// The intervals of `dim` that any of `arriving` is read from.
static std::vector<Interval> sourcesOf(const Exchange &exchange,
                                       const DimExchange &dim,
                                       const std::vector<Box> &arriving) {
  std::vector<Interval> sources;
  for (const Box &to : arriving)
    for (const Segment &segment :
         segmentsOf(to[dim.dim], exchange.globalShape[dim.dim], dim.padding))
      sources.push_back({segment.from, segment.from + segment.to.size()});
  std::sort(sources.begin(), sources.end(), [](Interval a, Interval b) {
    return std::pair(a.begin, a.end) < std::pair(b.begin, b.end);
  });
  sources.erase(std::unique(sources.begin(), sources.end()), sources.end());
  return sources;
}

/// The ranks of the group of `rank` that may own some of what arrives,
/// ascending: a table is looked through once for each dim, and boxes are made
/// of those alone that are found in it.
static std::vector<int64_t> possibleSources(const Exchange &exchange,
                                            const std::vector<Box> &arriving,
                                            int64_t rank) {
  const std::vector<int64_t> &shape = exchange.meshShape;
  std::vector<int64_t> owning = owningAxes(exchange);
  std::vector<int64_t> ranks = {firstAlong(shape, owning, rank)};
  std::vector<bool> varies(shape.size());
  for (int64_t axis : owning)
    varies[axis] = true;
  auto multiply = [&](const std::vector<int64_t> &offsets) {
    std::vector<int64_t> next;
    next.reserve(ranks.size() * offsets.size());
    for (int64_t first : ranks)
      for (int64_t offset : offsets)
        next.push_back(first + offset);
    ranks = std::move(next);
  };
  for (const DimExchange &dim : exchange.dims) {
    // An axis that another dim has already chosen along stays as it is; what
    // this dim says along it is seen where boxes overlap.
    bool isFree =
        std::all_of(dim.axes.begin(), dim.axes.end(), [&](int64_t axis) {
          return varies[axis] ||
                 std::find(owning.begin(), owning.end(), axis) == owning.end();
        });
    if (!isFree)
      continue;
    std::vector<Interval> sources = sourcesOf(exchange, dim, arriving);
    std::vector<int64_t> offsets;
    for (size_t at = 0; at < dim.owned.size(); ++at) {
      if (std::none_of(sources.begin(), sources.end(), [&](Interval source) {
            return !intersect(source, dim.owned[at]).empty();
          }))
        continue;
      int64_t rest = static_cast<int64_t>(at), offset = 0;
      bool isOfGroup = true;
      for (size_t i = dim.axes.size(); i-- > 0;) {
        int64_t axis = dim.axes[i], place = rest % shape[axis];
        rest /= shape[axis];
        if (varies[axis])
          offset += place * strideOf(shape, axis);
        else
          isOfGroup &= place == coordinateAlong(shape, {&axis, 1}, rank);
      }
      if (isOfGroup)
        offsets.push_back(offset);
    }
    for (int64_t axis : dim.axes)
      varies[axis] = false;
    multiply(offsets);
  }
  for (int64_t axis : owning)
    if (varies[axis]) {
      std::vector<int64_t> offsets;
      for (int64_t i = 0; i < shape[axis]; ++i)
        offsets.push_back(i * strideOf(shape, axis));
      multiply(offsets);
    }
  std::sort(ranks.begin(), ranks.end());
  return ranks;
}

std::vector<Transfer> shardc::receivesOf(const Exchange &exchange,
                                         int64_t rank) {
  std::vector<Box> arriving = arrivingBoxes(exchange, rank);
  std::vector<Transfer> transfers;
  std::vector<Box> served;
  auto receiveFrom = [&](int64_t peer) {
    // Owned boxes are equal or disjoint: one owner of each serves.
    Box owned = ownedBox(exchange, peer);
    if (std::find(served.begin(), served.end(), owned) != served.end())
      return;
    size_t before = transfers.size();
    for (const Box &to : arriving)
      forEachPart(exchange, owned, to, [&](Box box, Box source) {
        transfers.push_back({peer, std::move(box), std::move(source)});
      });
    if (transfers.size() != before)
      served.push_back(std::move(owned));
  };
  receiveFrom(rank);
  for (int64_t peer : possibleSources(exchange, arriving, rank))
    if (peer != rank)
      receiveFrom(peer);
  return transfers;
}

std::vector<Transfer> shardc::sendsOf(const Exchange &exchange, int64_t rank) {
  Box owned = ownedBox(exchange, rank);
  if (isEmpty(owned))
    return {};
  std::vector<int64_t> group =
      groupAlong(exchange.meshShape, owningAxes(exchange), rank);
  std::vector<Transfer> transfers;
  for (int64_t peer : group) {
    // An owner of the same box serves itself, and the lowest serves the others.
    if (ownedBox(exchange, peer) == owned) {
      if (peer < rank)
        return {};
      continue;
    }
    for (const Box &to : arrivingBoxes(exchange, peer))
      forEachPart(exchange, owned, to, [&](Box box, Box source) {
        transfers.push_back({peer, std::move(box), std::move(source)});
      });
  }
  return transfers;
}

static int64_t saturatingMul(int64_t a, int64_t b) {
  int64_t product;
  return __builtin_mul_overflow(a, b, &product) ? INT64_MAX : product;
}

static int64_t saturatingAdd(int64_t a, int64_t b) {
  int64_t sum;
  return __builtin_add_overflow(a, b, &sum) ? INT64_MAX : sum;
}

int64_t shardc::elementsReceived(const Exchange &exchange, int64_t rank) {
  Box owned = ownedBox(exchange, rank);
  int64_t sum = 0;
  for (const Box &to : arrivingBoxes(exchange, rank)) {
    // The owned boxes cover the tensor, so of `to` all that has a source is
    // read, and what the rank owns it reads at home.
    size_t rest = to.size();
    std::vector<int64_t> read(rest), atHome(rest);
    for (size_t dim = 0; dim < rest; ++dim) {
      read[dim] = intersect(to[dim], {0, exchange.globalShape[dim]}).size();
      atHome[dim] = intersect(to[dim], owned[dim]).size();
    }
    for (const DimExchange &dim : exchange.dims) {
      if (dim.padding == Padding::Constant)
        continue;
      read[dim.dim] = atHome[dim.dim] = 0;
      for (const Segment &segment : segmentsOf(
               to[dim.dim], exchange.globalShape[dim.dim], dim.padding)) {
        Interval source = {segment.from, segment.from + segment.to.size()};
        read[dim.dim] += source.size();
        atHome[dim.dim] += intersect(source, owned[dim.dim]).size();
      }
    }
    // The product of `read` without that of `atHome`, as a sum of what is first
    // away from home in each dim: no difference of numbers that are too large.
    for (size_t first = 0; first < rest; ++first) {
      int64_t elements = read[first] - atHome[first];
      for (size_t dim = 0; dim < rest; ++dim)
        if (dim != first)
          elements =
              saturatingMul(elements, dim < first ? atHome[dim] : read[dim]);
      sum = saturatingAdd(sum, elements);
    }
  }
  return sum;
}

int64_t shardc::elementsMoved(const Exchange &exchange) {
  int64_t sum = 0;
  for (int64_t rank = 0, e = numRanks(exchange); rank < e; ++rank)
    sum = saturatingAdd(sum, elementsReceived(exchange, rank));
  return sum;
}

//===----------------------------------------------------------------------===//
// Names
//===----------------------------------------------------------------------===//

namespace {
/// What one dim does, from the most special to the most general.
enum class DimKind { Local, Gather, Halo, Rebalance, Shift };
} // namespace

/// True if the non-empty `intervals` are pairwise equal or disjoint, and
/// together cover `domain` and no more.
static bool isPartition(std::vector<Interval> intervals, Interval domain) {
  std::erase_if(intervals, [](Interval interval) { return interval.empty(); });
  std::sort(intervals.begin(), intervals.end(), [](Interval a, Interval b) {
    return std::pair(a.begin, a.end) < std::pair(b.begin, b.end);
  });
  int64_t at = domain.begin;
  for (size_t i = 0; i < intervals.size(); ++i) {
    if (i > 0 && intervals[i] == intervals[i - 1])
      continue;
    if (intervals[i].begin != at)
      return false;
    at = intervals[i].end;
  }
  return at == domain.end;
}

static DimKind classifyDim(const DimExchange &dim, Interval domain) {
  bool keeps = true, local = true;
  for (size_t i = 0; i < dim.owned.size(); ++i) {
    keeps &= dim.needed[i].contains(dim.owned[i]);
    local &= dim.owned[i].contains(intersect(dim.needed[i], domain));
  }
  if (local)
    return DimKind::Local;
  bool partition = isPartition(dim.needed, domain);
  if (keeps)
    return partition ? DimKind::Gather : DimKind::Halo;
  return partition ? DimKind::Rebalance : DimKind::Shift;
}

/// True if `dim` is needed in smaller parts than it is owned, along one of
/// `axes`.
static bool isCutAlong(const DimExchange &dim,
                       const std::vector<int64_t> &axes) {
  bool shared =
      std::any_of(dim.axes.begin(), dim.axes.end(), [&](int64_t axis) {
        return std::find(axes.begin(), axes.end(), axis) != axes.end();
      });
  if (!shared)
    return false;
  for (size_t i = 0; i < dim.owned.size(); ++i)
    if (!dim.needed[i].contains(dim.owned[i]))
      return true;
  return false;
}

ExchangeKind shardc::classify(const Exchange &exchange) {
  if (elementsMoved(exchange) == 0)
    return ExchangeKind::Local;
  DimKind kind = DimKind::Local;
  for (const DimExchange &dim : exchange.dims) {
    DimKind dimKind = classifyDim(dim, {0, exchange.globalShape[dim.dim]});
    kind = std::max(kind, dimKind);
    if (dimKind != DimKind::Gather)
      continue;
    for (const DimExchange &other : exchange.dims)
      if (&other != &dim && isCutAlong(other, dim.axes))
        return ExchangeKind::AllToAll;
  }
  switch (kind) {
  case DimKind::Local:
  case DimKind::Shift:
    return ExchangeKind::Shift;
  case DimKind::Gather:
    return ExchangeKind::AllGather;
  case DimKind::Halo:
    return ExchangeKind::HaloExchange;
  case DimKind::Rebalance:
    return ExchangeKind::Rebalance;
  }
  return ExchangeKind::Shift;
}
