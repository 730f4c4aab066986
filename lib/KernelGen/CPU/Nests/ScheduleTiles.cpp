//===- ScheduleTiles.cpp - The tile of registers -------------------------===//
//
// By cycles of loads and multiply-adds, of the whole nest with what is left at
// the ends of its dims. A measurement may say otherwise.
//
//===----------------------------------------------------------------------===//
#include "Schedule.h"
#include "shardc/Dialect/Machine/IR/MachineDialect.h"
#include "shardc/Machine/Core.h"
#include "shardc/Machine/Cost.h"
#include "shardc/Support/ElementBytes.h"
#include "llvm/Support/MathExtras.h"
#include <map>
#include <numeric>

using namespace mlir;
using namespace shardc;
using namespace shardc::cpu;

SmallVector<int> ScheduleChooser::reuseDims(const Access &reader,
                                            const Access &other,
                                            int except) const {
  SmallVector<int> found;
  for (auto [i, dim] : llvm::enumerate(nest.dims))
    if (!dim.reduces && int(i) != except && !dim.size.is(1) &&
        reader.usesDim(i) && !other.usesDim(i))
      found.push_back(i);
  return found;
}

int ScheduleChooser::findReuseDim(const Access &reader, const Access &other,
                                  int except) const {
  int best = -1;
  for (int dim : reuseDims(reader, other, except))
    if (best < 0 || size(dim) > size(best))
      best = dim;
  return best;
}

int64_t ScheduleChooser::rowBytes(const Access &reader, int row) {
  const Quantity &coef = reader.coef[row];
  int64_t elements = coef.fixed ? std::abs(*coef.fixed) : coef.multiple();
  return elements * elementBytes(reader.element);
}

int64_t ScheduleChooser::linesInSet(int64_t rows, int64_t bytes) {
  if (bytes < int64_t(core::kLineBytes) || rows < 2)
    return 1;
  uint64_t places =
      core::kPageBytes /
      std::max(std::gcd(uint64_t(bytes), core::kPageBytes), core::kLineBytes);
  return llvm::divideCeil(uint64_t(rows), places);
}

double ScheduleChooser::tileCost(int64_t a, int64_t b, int dimA, int dimB,
                                 int64_t sizeA, int64_t sizeB, int64_t bytesA,
                                 bool each) const {
  auto one = [&](int64_t x, int64_t y) {
    if (x == 0 || y == 0)
      return 0.0;
    // Lines that push one another out of a set are read from behind it.
    double missed =
        linesInSet(x, bytesA) > core::kLinesOfSet ? core::kPushedOut * x : 0;
    double loads = each ? x * y + y : x + y;
    return std::max({x * y / core::kMultiplyAdds, loads / core::kLoads,
                     core::kMultiplyAddLatency}) +
           core::kIteration + missed;
  };
  return sumOverTiles(a, b, dimA, dimB, sizeA, sizeB, one);
}

double ScheduleChooser::sumOverTiles(
    int64_t a, int64_t b, int dimA, int dimB, int64_t sizeA, int64_t sizeB,
    llvm::function_ref<double(int64_t x, int64_t y)> one) const {
  // How many tiles of which extents.
  using Extents = SmallVector<std::pair<int64_t, int64_t>, 4>;
  auto cut = [&](int dim, int64_t extent, int64_t size) {
    Extents tiles{{size / extent, extent}};
    int64_t rest = size % extent;
    if (dim < 0 || nest.dims[dim].size.fixed) {
      tiles.push_back({1, rest});
    } else {
      for (int64_t smaller : restExtents(extent)) {
        tiles.push_back({rest / smaller, smaller});
        rest %= smaller;
      }
    }
    return tiles;
  };
  double total = 0;
  for (auto [countA, x] : cut(dimA, a, sizeA))
    for (auto [countB, y] : cut(dimB, b, sizeB))
      total += countA * countB * one(x, y);
  return total;
}

bool ScheduleChooser::canSlide(const Schedule &s) const {
  if (!contraction || s.vec < 0 || s.vecReduces || s.lanes == 1 || s.row < 0 ||
      s.rows < 2 || s.columns > 1 || s.packed >= 0 || s.pairs ||
      !s.hoisted.empty() || s.partial >= 0 || s.reductions.empty())
    return false;
  bool isFirst = nest.inputs[0].usesDim(s.row);
  const Access &moved = nest.inputs[isFirst ? 0 : 1],
               &other = nest.inputs[isFirst ? 1 : 0];
  int last = s.reductions.back();
  const std::optional<int64_t> &terms = nest.dims[last].size.fixed,
                               &row = moved.coef[s.row].fixed,
                               &term = moved.coef[last].fixed;
  if (!moved.pointer || !other.pointer || other.usesDim(s.row) ||
      !moved.usesDim(s.vec) || !other.usesDim(s.vec) || !terms || !row ||
      !term || *term == 0 || *row % *term != 0 || *row / *term < 1 ||
      *row / *term >= *terms)
    return false;
  // Accumulators, what all rows multiply by, an element and one to spare.
  int64_t registers = bits == 512 ? 32 : 16;
  return (s.rows + *terms) * s.vectors + 2 <= registers;
}

int64_t ScheduleChooser::slideOf(const Schedule &s) const {
  const Access &moved = nest.inputs[nest.inputs[0].usesDim(s.row) ? 0 : 1];
  return *moved.coef[s.row].fixed / *moved.coef[s.reductions.back()].fixed;
}

void ScheduleChooser::chooseSlide(Schedule &s) const {
  if (!contraction || s.vec < 0 || s.vecReduces || s.reductions.empty())
    return;
  constexpr int64_t kMostRows = 8; // of a tile [shape]
  int64_t vecSize = llvm::divideCeil(size(s.vec), s.lanes);
  int64_t rowSize = s.row < 0 ? 1 : size(s.row);
  // To slide has to gain what any way has to that is not the plain one.
  double best = (2 - Cost::kMargin) / rowSize *
                tileCost(s.rows, s.vectors, s.row, -1, rowSize, vecSize,
                         /*bytesA=*/0, /*each=*/true);
  Schedule chosen = s;
  for (int row : llvm::seq<int>(nest.dims.size())) {
    if (nest.dims[row].reduces || row == s.vec)
      continue;
    Schedule tile = s;
    tile.row = row;
    tile.column = row == s.row ? -1 : s.row;
    tile.columns = 1;
    tile.slides = true;
    for (tile.vectors = 1; tile.vectors <= std::min<int64_t>(vecSize, 2);
         ++tile.vectors)
      for (tile.rows = 2; tile.rows <= std::min(size(row), kMostRows);
           ++tile.rows) {
        if (!canSlide(tile))
          continue;
        const Access &moved = nest.inputs[nest.inputs[0].usesDim(row) ? 0 : 1];
        int64_t terms = size(s.reductions.back()), slide = slideOf(tile),
                bytes = rowBytes(moved, row) / slide;
        auto one = [&](int64_t x, int64_t y) {
          if (x == 0 || y == 0)
            return 0.0;
          int64_t elements = (x - 1) * slide + terms;
          double missed = linesInSet(elements, bytes) > core::kLinesOfSet
                              ? core::kPushedOut * elements * y
                              : 0;
          return std::max({x * y * terms / core::kMultiplyAdds,
                           (elements + terms) * y / core::kLoads,
                           core::kMultiplyAddLatency * terms}) +
                 core::kIteration + missed;
        };
        double cost = sumOverTiles(tile.rows, tile.vectors, row, -1, size(row),
                                   vecSize, one) /
                      (size(row) * terms);
        if (cost < best) {
          best = cost;
          chosen = tile;
        }
      }
  }
  if (!chosen.slides)
    return;
  s = chosen;
  llvm::erase_if(s.outer, [&](int dim) { return dim == s.row; });
}

int64_t ScheduleChooser::iterations(const Access &access) const {
  int64_t count = 1;
  for (int dim : llvm::seq<int>(nest.dims.size()))
    if (access.usesDim(dim))
      count *= size(dim);
  return count;
}

bool ScheduleChooser::isFromMemory(const Access &access) const {
  return double(elementsOf(access, {})) * elementBytes(access.element) >
         machineOf(nest.main).cacheBytes;
}

double ScheduleChooser::waitCost(const Schedule &s, const Access &rowReader,
                                 const Access &vecReader, int64_t rowSize,
                                 int64_t vecSize) const {
  double waits = 0;
  // The first rows of each outer iteration find the vectors of the sum in no
  // cache. Lines that are asked for at the same time are those of as many
  // operations as a core holds: the larger a tile, the fewer of them. A panel
  // is copied without tiles.
  auto isOuter = [&](int dim) {
    return !nest.dims[dim].reduces && dim != s.vec && dim != s.row;
  };
  bool isFresh = llvm::any_of(llvm::seq<int>(nest.dims.size()), [&](int dim) {
    return isOuter(dim) && size(dim) > 1 && vecReader.usesDim(dim);
  });
  auto isPacked = [&] {
    Schedule packed = s;
    choosePacking(packed);
    return packed.packed >= 0;
  };
  if (isFresh && isFromMemory(vecReader) && !isPacked()) {
    double share =
        double(elementsOf(vecReader, {})) / double(iterations(vecReader));
    for (int dim : llvm::seq<int>(nest.dims.size()))
      if (isOuter(dim) && !vecReader.usesDim(dim))
        share /= size(dim);
    auto wait = [&](int64_t y) {
      double products = s.rows * y, loads = s.rows + y;
      return y == 0 ? 0.0
                    : std::max(0.0, (products + loads) * core::kMemoryLatency /
                                            core::kWindow -
                                        products / core::kMultiplyAdds);
    };
    waits += share * (vecSize / s.vectors * wait(s.vectors) +
                      wait(vecSize % s.vectors));
  }
  // A core prefetches some rows, and the lines of a result that is written to
  // through the caches; those of others come late, once a tile: beside a sum
  // that multiplies for several times as long that is little. [maths]
  constexpr int64_t kLong = 128;
  if (s.rows > core::kStreams && reductionCount() <= kLong &&
      isFromMemory(rowReader) && isFromMemory(nest.stores()[0]) &&
      !llvm::is_contained(nest.far, true))
    waits += core::kLateLine * (s.rows - core::kStreams) / reductionCount() *
             (rowSize / s.rows) * llvm::divideCeil(vecSize, s.vectors);
  return waits;
}

int ScheduleChooser::findRowOfSums(const Schedule &s) const {
  const Quantity &terms = nest.dims[s.vec].size;
  // Truth values of a row are in a register of masks.
  auto isMask = [](const Access &output) {
    return output.element.isInteger(1);
  };
  if (!terms.fixed || *terms.fixed > s.vectors * s.lanes ||
      s.lanes * s.vectors * instructions() > kMaxRowsWork ||
      llvm::any_of(nest.outputs, isMask))
    return -1;
  auto isRow = [&](int row) {
    return !nest.dims[row].reduces && size(row) >= s.lanes &&
           llvm::all_of(nest.stores(), [&](const Access &store) {
             return store.isContiguous(row);
           });
  };
  int found = -1;
  for (int dim : llvm::seq<int>(nest.dims.size())) {
    // A loop over another sum would carry all vectors of the tile.
    if (nest.dims[dim].reduces && dim != s.vec)
      return -1;
    if (isRow(dim))
      found = dim;
  }
  return found;
}

bool ScheduleChooser::goesAcross(const Schedule &s) const {
  auto alongRow = [&](const Access &store) {
    return store.isContiguous(s.row);
  };
  if (lanesFor(s.row) != s.lanes || findTransposedRow(s.row) != s.vec ||
      !llvm::all_of(nest.stores(), alongRow))
    return false;
  // Lines of a tile that one set of a cache would hold.
  auto most = [&](ArrayRef<Access> accesses, int along, int across) {
    int64_t lines = 1;
    for (const Access &access : accesses)
      if (isAcross(access, across, along))
        lines = std::max(lines, linesInSet(s.lanes, rowBytes(access, across)));
    return lines;
  };
  int64_t stored = most(nest.stores(), s.row, s.vec),
          loaded = std::max(most(nest.inputs, s.vec, s.row),
                            most(nest.epilogueInputs, s.vec, s.row));
  return stored > 1 && 4 * stored > loaded;
}

void ScheduleChooser::chooseTile(Schedule &s) const {
  s.row = findTransposedRow(s.vec);
  if (s.row >= 0) {
    if (goesAcross(s))
      std::swap(s.vec, s.row);
    s.transposes = true;
    s.rows = s.lanes;
    return;
  }
  s.row = findInterleavedRow(s.vec);
  if (s.row >= 0) {
    s.interleaves = true;
    s.rows = size(s.row);
    // What is the same along another short dim is loaded, and computed, once.
    for (int dim : llvm::seq<int>(nest.dims.size())) {
      const Quantity &count = nest.dims[dim].size;
      if (dim != s.vec && dim != s.row && count.fixed &&
          *count.fixed <= kMostInterleaved && *count.fixed > s.columns &&
          s.rows * *count.fixed * work() <= kMaxTileWork &&
          llvm::none_of(nest.inputs, [&](const Access &input) {
            return input.usesDim(dim);
          })) {
        s.column = dim;
        s.columns = *count.fixed;
      }
    }
    if (s.rows * s.columns * work() <= 16)
      s.vectors = std::clamp<int64_t>(size(s.vec) / s.lanes, 1, 2);
    return;
  }
  if (!contraction) {
    if (s.vecReduces) { // several chains hide the latency of one
      s.vectors =
          std::clamp<int64_t>(llvm::divideCeil(size(s.vec), s.lanes), 1, 4);
      s.row = findRowOfSums(s);
      s.rows = s.row < 0 ? 1 : s.lanes;
    } else {
      int64_t most = work() > 8 ? 1 : work() > 3 ? 2 : 4;
      // What accumulates waits for itself, and of each row that it goes through
      // a tile reads as many lines as it has vectors. Shuffles need registers,
      // too.
      auto isShort = [&](const Access &input) {
        return isShortStep(input, s.vec, s.lanes);
      };
      if (nest.reduces() && instructions() <= 12 && nest.outputs.size() <= 2 &&
          llvm::none_of(nest.inputs, isShort))
        most = 4;
      s.vectors = std::clamp<int64_t>(size(s.vec) / s.lanes, 1, most);
    }
    return;
  }
  const Access &a = nest.inputs[0], &b = nest.inputs[1];
  if (s.vecReduces) {
    s.row = findReuseDim(a, b, s.vec);
    s.column = findReuseDim(b, a, s.vec);
  }
  struct Choice {
    int row;
    int64_t rows, columns, vectors;
    double cost;
  };
  SmallVector<Choice> choices;
  const Choice *best = nullptr;
  eachTile(s, /*memory=*/true,
           [&](int row, int64_t rows, int64_t columns, int64_t vectors,
               double cost) {
             choices.push_back({row, rows, columns, vectors, cost});
           });
  for (const Choice &choice : choices)
    if (!best || choice.cost < best->cost * (s.vecReduces ? 1 : 0.999))
      best = &choice;
  if (!best) // an empty shard
    return;
  // A product that is over soon is waited for while it is compiled: of what
  // takes about as long, the least code. Where lanes are summed up, the tile
  // says who is added to whom; sizes that differ by rank leave other tiles at
  // the ends than the estimate is of. How much longer it may take [limit]:
  constexpr double kAlike = 1.06;
  double fastest = best->cost, products = 1;
  for (int dim : llvm::seq<int>(nest.dims.size()))
    products *= size(dim);
  Cost cost(machineOf(nest.main));
  bool isSoonOver = cost.isSoonOver(cost.compute(2 * products));
  bool isFixed = llvm::all_of(
      nest.dims, [](const Dim &dim) { return dim.size.fixed.has_value(); });
  if (!s.vecReduces && isFixed && isSoonOver) {
    int64_t least = INT64_MAX;
    for (const Choice &choice : choices) {
      int64_t size = codeSize(s, choice.row, choice.rows, choice.vectors);
      if (choice.cost <= fastest * kAlike && size < least) {
        least = size;
        best = &choice;
      }
    }
  }
  s.row = best->row;
  s.rows = best->rows;
  s.columns = best->columns;
  s.vectors = best->vectors;
}

int64_t ScheduleChooser::codeSize(const Schedule &s, int row, int64_t rows,
                                  int64_t vectors) const {
  // Of tiles along `dim`, in units of `unit` elements.
  auto extents = [&](int dim, int64_t extent, int64_t unit) {
    SmallVector<int64_t, 4> found;
    if (dim < 0 || size(dim) >= extent * unit)
      found.push_back(extent);
    if (dim >= 0 && size(dim) % (extent * unit) != 0)
      found.push_back(llvm::divideCeil(size(dim) % (extent * unit), unit));
    return found;
  };
  int64_t total = 0;
  for (int64_t x : extents(row, rows, 1))
    for (int64_t y : extents(s.vec, vectors, s.lanes))
      // A sum is started, added to and stored, each operand loaded.
      total += 3 * x * y + x + y;
  return total;
}

void ScheduleChooser::eachTile(
    const Schedule &s, bool memory,
    llvm::function_ref<void(int row, int64_t rows, int64_t columns,
                            int64_t vectors, double cost)>
        each) const {
  // Accumulators, the shorter side of the tile, and one value of the longer.
  int64_t registers = bits == 512 ? 32 : 16;
  auto fits = [&](int64_t x, int64_t y) {
    return x * y + std::min(x, y) + 1 <= registers;
  };
  const Access &a = nest.inputs[0], &b = nest.inputs[1];
  if (s.vecReduces) {
    int64_t rowSize = s.row < 0 ? 1 : size(s.row);
    int64_t columnSize = s.column < 0 ? 1 : size(s.column);
    for (int64_t rows = 1; rows <= std::min<int64_t>(rowSize, 8); rows *= 2)
      for (int64_t columns = 1; columns <= std::min<int64_t>(columnSize, 8);
           ++columns)
        if (fits(rows, columns))
          each(s.row, rows, columns,
               std::clamp<int64_t>(size(s.vec) / s.lanes, 1,
                                   std::max<int64_t>(1, 8 / (rows * columns))),
               tileCost(rows, columns, s.row, s.column, rowSize, columnSize));
    return;
  }
  // Who is read once for a vector, the rows', and who for each element.
  const Access &rowReader = a.usesDim(s.vec) ? b : a;
  const Access &vecReader = a.usesDim(s.vec) ? a : b;
  bool apiece = rowReader.usesDim(s.vec); // channels by themselves
  SmallVector<int> candidates = reuseDims(rowReader, vecReader, s.vec);
  if (apiece)
    candidates.append(reuseDims(vecReader, rowReader, s.vec));
  auto apart = [&](int row) {
    return rowBytes(rowReader.usesDim(row) ? rowReader : vecReader, row);
  };
  llvm::stable_sort(candidates,
                    [&](int x, int y) { return apart(x) < apart(y); });
  if (candidates.empty())
    candidates.push_back(-1);
  int64_t vecSize = llvm::divideCeil(size(s.vec), s.lanes);
  for (int row : candidates) {
    int64_t rowSize = row < 0 ? 1 : size(row);
    int64_t bytes = row < 0 || apiece || !memory ? 0 : rowBytes(rowReader, row);
    for (int64_t vectors = 1; vectors <= std::min<int64_t>(vecSize, 4);
         ++vectors)
      for (int64_t rows = 1; rows <= std::min<int64_t>(rowSize, 14); ++rows) {
        if (apiece ? (rows + 1) * vectors >= registers : !fits(rows, vectors))
          continue;
        double cost =
            tileCost(rows, vectors, row, -1, rowSize, vecSize, bytes, apiece);
        if (memory && !apiece) {
          Schedule tile = s;
          tile.row = row;
          tile.rows = rows;
          tile.vectors = vectors;
          cost += waitCost(tile, rowReader, vecReader, rowSize, vecSize);
        }
        each(row, rows, 1, vectors, cost / rowSize);
      }
  }
}

int ScheduleChooser::findPanel(const Schedule &s) const {
  for (auto [i, input] : llvm::enumerate(nest.inputs))
    if (input.usesDim(s.vec) && !input.usesDim(s.row))
      return i;
  return -1;
}

int64_t ScheduleChooser::panelBytes(const Schedule &s) const {
  const Access &input = nest.inputs[s.packed];
  int64_t bytes = s.vectors * s.lanes * panelElementBytes(s);
  for (int dim : s.reductions)
    if (input.usesDim(dim) &&
        llvm::MulOverflow(
            bytes,
            !s.hoisted.empty() && dim == s.hoisted.back() ? s.block : size(dim),
            bytes))
      return INT64_MAX;
  return bytes;
}

std::optional<Schedule> ScheduleChooser::obey(const Schedule &chosen,
                                              const Tile &tile) const {
  if (!hasTile(chosen))
    return std::nullopt;
  Schedule s = chosen;
  // Lanes along the sum: who is added to whom follows from the vectors and
  // the block.
  if (s.vecReduces &&
      (tile.row != s.row || tile.vectors != s.vectors || tile.panel ||
       tile.hoisted != int64_t(s.hoisted.size()) ||
       (tile.hoisted > 0 && tile.block != s.block)))
    return std::nullopt;
  auto isRow = [&](int dim) {
    return dim < int(nest.dims.size()) && !nest.dims[dim].reduces &&
           dim != s.vec &&
           (nest.inputs[0].usesDim(dim) != nest.inputs[1].usesDim(dim));
  };
  if (tile.row >= 0 && tile.row != s.row && !isRow(tile.row))
    return std::nullopt;
  s.row = tile.row;
  auto fits = [&](int dim, int64_t extent) {
    return extent <= (dim < 0 ? 1 : size(dim));
  };
  int64_t widest = llvm::divideCeil(size(s.vec), s.lanes);
  if (!fits(s.row, tile.rows) || !fits(s.column, tile.columns) ||
      (!s.vecReduces && tile.vectors > widest))
    return std::nullopt;
  s.rows = tile.rows;
  s.columns = tile.columns;
  s.vectors = tile.vectors;
  if (s.column == s.row)
    s.column = -1;
  s.outer.clear();
  for (int dim : llvm::seq<int>(nest.dims.size()))
    if (!nest.dims[dim].reduces && dim != s.row && dim != s.column &&
        dim != s.vec)
      s.outer.push_back(dim);

  if (!s.vecReduces) {
    SmallVector<int> order = sumOrder(chosen);
    bool mayHoist = !nest.epilogue && !s.pairs &&
                    nest.outputs[0].coef[s.vec].is(1) &&
                    tile.hoisted <= int64_t(order.size());
    if (tile.hoisted > 0 &&
        (!mayHoist || tile.block > size(order[tile.hoisted - 1]) ||
         !keepsPartialSums(s, order, tile.hoisted, tile.block)))
      return std::nullopt;
    s.hoisted.assign(order.begin(), order.begin() + tile.hoisted);
    s.block = std::max<int64_t>(tile.block, 1);
    s.reductions.assign(order.begin() + tile.hoisted -
                            (tile.hoisted > 0 && s.block > 1),
                        order.end());
    if (s.pairs && !tile.panel)
      return std::nullopt;
    int panel = findPanel(s);
    if (tile.panel && panel < 0)
      return std::nullopt;
    bool isOther = chosen.packed < 0 || panel != chosen.packed;
    s.packed = tile.panel ? panel : -1;
    s.widens = chosen.widens && s.packed == chosen.packed;
    double mostBytes = machineOf(nest.main).sharedCacheBytes;
    if (tile.panel && isOther && (s.pairs || panelBytes(s) > mostBytes))
      return std::nullopt;
  }
  s.slides = canSlide(s);
  s.masksAll = masksAll(s);
  return s;
}

SmallVector<Tile> ScheduleChooser::others(const Schedule &chosen,
                                          const Schedule &s) const {
  const Tile now = tile(s), estimated = tile(chosen);
  SmallVector<Tile> found;
  auto add = [&](const Tile &other) {
    if (other == now || other == estimated ||
        llvm::is_contained(found, other) || !obey(chosen, other))
      return false;
    found.push_back(other);
    return true;
  };
  // Tiles of registers, of the least estimates: with what memory is said to
  // cost, and without.
  struct Estimate {
    double cost;
    Tile tile;
  };
  auto addBest = [&](bool memory, int most, int mostAlike) {
    SmallVector<Estimate> estimates;
    eachTile(s, memory,
             [&](int row, int64_t rows, int64_t columns, int64_t vectors,
                 double cost) {
               Tile other = now;
               other.row = row;
               other.rows = rows;
               other.columns = columns;
               if (!s.vecReduces)
                 other.vectors = vectors;
               estimates.push_back({cost, other});
             });
    llvm::stable_sort(estimates, [](const Estimate &x, const Estimate &y) {
      return x.cost < y.cost;
    });
    // Of one shape but for the rows, only some.
    std::map<std::tuple<int64_t, int64_t, int64_t>, int> alike;
    for (const Estimate &estimate : estimates) {
      const Tile &other = estimate.tile;
      int &count = alike[{other.row, other.columns, other.vectors}];
      if (most > 0 && count < mostAlike && add(other)) {
        ++count;
        --most;
      }
    }
  };
  addBest(/*memory=*/true, /*most=*/6, /*mostAlike=*/2);
  addBest(/*memory=*/false, /*most=*/3, /*mostAlike=*/1);
  Tile other = now;
  other.panel = !now.panel;
  add(other);
  // Blocks of the sum: none, half and double; or of the first long dims.
  if (now.hoisted > 0) {
    other = now;
    other.hoisted = other.block = 0;
    add(other);
    for (int64_t block : {now.block / 2, 2 * now.block}) {
      other = now;
      other.block = block;
      if (block >= 1)
        add(other);
    }
    return found;
  }
  SmallVector<int> order = sumOrder(s);
  int64_t terms = reductionCount();
  for (auto [i, dim] : llvm::enumerate(order)) {
    if (terms < 256)
      break;
    for (int64_t block : {size(dim) / 2, size(dim) / 8}) {
      other = now;
      other.hoisted = i + 1;
      other.block = block;
      if (block >= 1 && block < size(dim))
        add(other);
    }
    if (size(dim) > 8)
      break;
  }
  return found;
}
