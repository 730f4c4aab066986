//===- Schedule.cpp - Choose how a nest is cut ----------------------------===//
//
// Estimates in vector operations decide: which dim runs along the lanes, what
// the register tile is, whether an operand is packed. Unknown sizes count as
// large ones.
//
//===----------------------------------------------------------------------===//
#include "Nest.h"
#include "shardc/Analysis/StructuredOps.h"
#include "shardc/Dialect/Machine/IR/MachineDialect.h"
#include "shardc/Dialect/Spmd/IR/NeutralElement.h"
#include "shardc/Dialect/Spmd/IR/SpmdContracts.h"
#include "shardc/Support/ElementBytes.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/MathExtras.h"
#include <cmath>
#include <map>
#include <numeric>

using namespace mlir;

namespace shardc::cpu {

namespace {
struct Chooser {
  const Nest &nest;
  unsigned bits;
  bool contraction;
  int64_t fullLanes;
  bool exact = false; // sums of floats keep their order
  bool dotBf16 = false;
  bool hasLoads = false;     // in the main body
  bool transposable = false; // tiles may be transposed in registers

  int64_t size(int dim) const { return nest.dims[dim].size.guess(); }

  int64_t reductionCount() const {
    int64_t count = 1;
    for (auto [i, dim] : llvm::enumerate(nest.dims))
      if (dim.reduces)
        count *= size(i);
    return count;
  }

  /// How many iterations of parallel dims read an element of `access`.
  int64_t reuse(const Access &access) const {
    int64_t count = 1;
    for (auto [i, dim] : llvm::enumerate(nest.dims))
      if (!dim.reduces && !access.usesDim(i))
        count *= size(i);
    return count;
  }

  int64_t lanesFor(int dim) const {
    // Loads in the body have no mask: whole vectors only.
    if (int64_t whole = nest.dims[dim].size.multiple(); hasLoads)
      return std::min<int64_t>(fullLanes, whole & -whole);
    return std::min<int64_t>(
        fullLanes, llvm::PowerOf2Ceil(std::max<int64_t>(size(dim), 1)));
  }

  double loadCost(const Access &access, int dim, int64_t lanes) const {
    const Quantity &coef = access.coef[dim];
    if (coef.is(0))
      return 0.25;
    if (coef.is(1))
      return 1;
    if (coef.is(-1))
      return 1.5;
    if (coef.is(2))
      return 2.5;
    return 1.5 * lanes;
  }

  /// Whether a tile of lanes of `dim` and as many rows of `row` transposes
  /// `access`.
  static bool isAcross(const Access &access, int dim, int row) {
    return access.isContiguous(row) && access.usesDim(dim) &&
           !access.isContiguous(dim) && !access.coef[dim].is(-1);
  }

  /// The dim along which most accesses are contiguous that are not along `dim`,
  /// or -1.
  int findTransposedRow(int dim) const {
    int best = -1;
    int64_t most = 0, lanes = lanesFor(dim);
    if (!transposable || lanes < 4 || size(dim) < lanes)
      return -1;
    for (int row : llvm::seq<int>(nest.dims.size())) {
      if (row == dim || size(row) < lanes)
        continue;
      auto across = [&](const Access &access) {
        return isAcross(access, dim, row);
      };
      int64_t count = llvm::count_if(nest.inputs, across) +
                      llvm::count_if(nest.epilogueInputs, across) +
                      llvm::count_if(nest.stores(), across);
      if (count > most) {
        most = count;
        best = row;
      }
    }
    return best;
  }

  /// Rows of an interleaved tile at most.
  static constexpr int64_t kMostInterleaved = 8;

  /// The short dim whose elements lie between those of neighbours along `dim`
  /// in all that is stored, or -1.
  int findInterleavedRow(int dim) const {
    if (contraction || nest.reduces() || hasLoads || lanesFor(dim) < 4)
      return -1;
    for (int row : llvm::seq<int>(nest.dims.size())) {
      const Quantity &count = nest.dims[row].size;
      if (row != dim && count.fixed && *count.fixed >= 2 &&
          *count.fixed <= kMostInterleaved &&
          llvm::all_of(nest.stores(), [&](const Access &store) {
            return store.isInterleaved(dim, row, *count.fixed);
          }))
        return row;
    }
    return -1;
  }

  double cost(int dim) const {
    bool reduces = nest.dims[dim].reduces;
    int64_t lanes = lanesFor(dim), count = size(dim);
    double perVector = 0;
    int row = findTransposedRow(dim);
    // A load or store, and a vector's share of the shuffles of a tile.
    double transposed = 1 + std::log2(lanes);
    // The same of as many vectors as there are rows.
    int between = row < 0 ? findInterleavedRow(dim) : -1;
    int64_t rows = between < 0 ? 0 : size(between);
    auto loadCost = [&](const Access &access, int dim, int64_t lanes) {
      if (row >= 0 && isAcross(access, dim, row))
        return transposed;
      return between >= 0 && access.isInterleaved(dim, between, rows)
                 ? double(rows)
                 : this->loadCost(access, dim, lanes);
    };
    for (const Access &input : nest.inputs) {
      double load = loadCost(input, dim, lanes);
      if (contraction && !reduces && load > 2 && reuse(input) >= 8)
        load = std::min(load, 1 + 1.5 * lanes / reuse(input));
      perVector += load;
    }
    int64_t reductions = reductionCount();
    // A store across lanes is some four times as many instructions as lanes.
    double apart = (contraction ? 4.0 : 1.5) * lanes;
    if (reduces) {
      double finish = 2 * std::log2(lanes) + 3;
      perVector += nest.outputs.size() * finish * lanes / reductions;
    } else {
      for (const Access &store : nest.stores())
        perVector += (store.isContiguous(dim)                 ? 1.0
                      : row >= 0 && isAcross(store, dim, row) ? transposed
                      : between >= 0                          ? double(rows)
                                                              : apart) /
                     reductions;
      for (const Access &input : nest.epilogueInputs)
        perVector += loadCost(input, dim, lanes) / reductions;
    }
    // Without unit stride in the result, sums cannot be kept in memory by
    // blocks.
    if (contraction && !reduces && !nest.stores()[0].coef[dim].is(1) &&
        outputCount() <= cacheElements())
      perVector += 1;
    double effective = double(count) / llvm::divideCeil(count, lanes);
    return perVector / effective;
  }

  /// Parallel dims that only `reader` steps through, not `other`.
  SmallVector<int> reuseDims(const Access &reader, const Access &other,
                             int except) const {
    SmallVector<int> found;
    for (auto [i, dim] : llvm::enumerate(nest.dims))
      if (!dim.reduces && int(i) != except && !dim.size.is(1) &&
          reader.usesDim(i) && !other.usesDim(i))
        found.push_back(i);
    return found;
  }

  /// The largest of them, or -1.
  int findReuseDim(const Access &reader, const Access &other,
                   int except) const {
    int best = -1;
    for (int dim : reuseDims(reader, other, except))
      if (best < 0 || size(dim) > size(best))
        best = dim;
    return best;
  }

  /// Bytes from one row to the next, or a number that they are a multiple of.
  static int64_t rowBytes(const Access &reader, int row) {
    const Quantity &coef = reader.coef[row];
    int64_t elements = coef.fixed ? std::abs(*coef.fixed) : coef.multiple();
    return elements * elementBytes(reader.element);
  }

  /// How many of `rows` lines, `bytes` apart, belong to one set of a cache
  /// whose ways are pages: every first-level cache of x86 and ARM.
  static int64_t linesInSet(int64_t rows, int64_t bytes) {
    constexpr uint64_t page = 4096, line = 64;
    if (bytes < int64_t(line) || rows < 2)
      return 1;
    uint64_t places = page / std::max(std::gcd(uint64_t(bytes), page), line);
    return llvm::divideCeil(uint64_t(rows), places);
  }

  /// Elements of all outputs.
  int64_t outputCount() const {
    int64_t count = 1;
    for (int dim : llvm::seq<int>(nest.dims.size()))
      if (!nest.dims[dim].reduces)
        count *= size(dim);
    return count;
  }

  /// Elements that the second-level cache has room for beside what else is in
  /// it.
  int64_t cacheElements() const {
    unsigned width =
        std::max(nest.outputs[0].element.getIntOrFloatBitWidth() / 8, 1u);
    return int64_t(machineOf(nest.main).cacheBytes * 3 / 8 / width);
  }

  /// Cycles for all tiles of `a` by `b` accumulators over dims (-1: none) of
  /// `sizeA` by `sizeB`. With `each`, both operands have an element for each
  /// lane: no element of a row's is used twice.
  double tileCost(int64_t a, int64_t b, int dimA, int dimB, int64_t sizeA,
                  int64_t sizeB, int64_t bytesA = 0, bool each = false) const {
    auto one = [&](int64_t x, int64_t y) {
      if (x == 0 || y == 0)
        return 0.0;
      // Two loads and two multiply-adds a cycle, of four cycles each. Lines
      // that push one another out of a set of eight are read from behind it.
      double missed = linesInSet(x, bytesA) > 6 ? 0.3 * x : 0;
      double loads = each ? x * y + y : x + y;
      return std::max({x * y / 2.0, loads / 2.0, 4.0}) + 1.0 + missed;
    };
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

  /// Operations of the bodies; a function of `math` counts as several.
  unsigned work() const {
    unsigned work = 0;
    for (linalg::GenericOp op : {nest.main, nest.epilogue}) {
      if (!op)
        continue;
      for (Operation &inner : op.getBody()->without_terminator())
        work += inner.getDialect()->getNamespace() == "math" ? 8 : 1;
    }
    return work;
  }

  /// Operations of an interleaved tile at most.
  static constexpr int64_t kMaxTileWork = 512;

  void chooseTile(Schedule &s) const {
    s.row = findTransposedRow(s.vec);
    if (s.row >= 0) {
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
      if (s.vecReduces) // several chains hide the latency of one
        s.vectors =
            std::clamp<int64_t>(llvm::divideCeil(size(s.vec), s.lanes), 1, 4);
      else {
        int64_t most = work() > 8 ? 1 : work() > 3 ? 2 : 4;
        s.vectors = std::clamp<int64_t>(size(s.vec) / s.lanes, 1, most);
      }
      return;
    }
    const Access &a = nest.inputs[0], &b = nest.inputs[1];
    if (s.vecReduces) {
      s.row = findReuseDim(a, b, s.vec);
      s.column = findReuseDim(b, a, s.vec);
    }
    double best = 1e300;
    eachTile(s, /*sets=*/true,
             [&](int row, int64_t rows, int64_t columns, int64_t vectors,
                 double cost) {
               if (cost >= best * (s.vecReduces ? 1 : 0.999))
                 return;
               best = cost;
               s.row = row;
               s.rows = rows;
               s.columns = columns;
               s.vectors = vectors;
             });
  }

  /// Calls `each` for tiles of registers that `s`, of a product, may have, with
  /// an estimate of what all of them take. With `sets`, as much more as lines
  /// cost that push one another out of a cache.
  void eachTile(const Schedule &s, bool sets,
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
      for (int64_t rows = 1; rows <= std::min<int64_t>(rowSize, 8); ++rows)
        for (int64_t columns = 1; columns <= std::min<int64_t>(columnSize, 8);
             ++columns)
          if (fits(rows, columns))
            each(
                s.row, rows, columns,
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
      int64_t bytes = row < 0 || apiece || !sets ? 0 : rowBytes(rowReader, row);
      for (int64_t vectors = 1; vectors <= std::min<int64_t>(vecSize, 4);
           ++vectors)
        for (int64_t rows = 1; rows <= std::min<int64_t>(rowSize, 14); ++rows) {
          if (apiece ? (rows + 1) * vectors >= registers : !fits(rows, vectors))
            continue;
          each(row, rows, 1, vectors,
               tileCost(rows, vectors, row, -1, rowSize, vecSize, bytes,
                        apiece) /
                   rowSize);
        }
    }
  }

  /// How often the loops over tiles read all of `input`.
  int64_t sweeps(const Schedule &s, const Access &input) const {
    int64_t count = 1;
    for (int dim : llvm::seq<int>(nest.dims.size())) {
      if (nest.dims[dim].reduces || input.usesDim(dim))
        continue;
      int64_t extent = dim == s.row      ? s.rows
                       : dim == s.column ? s.columns
                       : dim == s.vec    ? s.vectors * s.lanes
                                         : 1;
      count *= llvm::divideCeil(size(dim), extent);
    }
    return count;
  }

  /// Sums are added up in the order in which inputs are in memory, where they
  /// may be: the last loop over the smallest stride.
  void orderReductions(Schedule &s) const {
    if (!contraction ||
        (exact && !spmd::contract::AnyOrder::has(combinerOf(nest.main, 0))))
      return;
    auto stride = [&](int dim) {
      int64_t total = 0;
      for (const Access &input : nest.inputs)
        total += std::abs(input.coef[dim].guess());
      return total;
    };
    llvm::stable_sort(s.reductions,
                      [&](int x, int y) { return stride(x) > stride(y); });
    // Rows that overlap from one iteration of the last loop to the next are not
    // for that loop: LLVM would carry elements along, and run out of registers.
    size_t count = s.reductions.size();
    if (count < 2 || s.row < 0 || s.vecReduces)
      return;
    const Access &reader = nest.inputs[nest.inputs[0].usesDim(s.row) ? 0 : 1];
    const Quantity &row = reader.coef[s.row],
                   &last = reader.coef[s.reductions[count - 1]];
    if (row.fixed && last.fixed && *last.fixed != 0 &&
        *row.fixed % *last.fixed == 0 &&
        std::abs(*row.fixed / *last.fixed) < size(s.reductions[count - 1]))
      std::swap(s.reductions[count - 1], s.reductions[count - 2]);
  }

  void choosePacking(Schedule &s) const {
    if (!contraction || s.vecReduces)
      return;
    for (auto [i, input] : llvm::enumerate(nest.inputs)) {
      // A panel has what one row of the tile reads, for all of them alike.
      if (!input.usesDim(s.vec) || (s.row >= 0 && input.usesDim(s.row)))
        continue;
      int64_t tiles = reuse(input) / std::max<int64_t>(1, s.rows);
      if (!input.coef[s.vec].is(1)) {
        if (reuse(input) >= 8)
          s.packed = i;
        continue;
      }
      // Laid out well, but rows far apart: pages and cache sets run out.
      int64_t footprint = 1, panel = s.vectors * s.lanes * 4;
      for (auto [d, dim] : llvm::enumerate(nest.dims)) {
        if (!input.usesDim(d))
          continue;
        if (dim.reduces)
          panel *= size(d);
        if (dim.reduces || int(d) == s.vec)
          footprint *= size(d);
      }
      unsigned used = llvm::count_if(
          input.coef, [](const Quantity &q) { return !q.is(0); });
      linalg::GenericOp op = nest.main;
      unsigned memoryDims =
          cast<MemRefType>(op.getDpsInputs()[i].getType()).getRank();
      if (used <= memoryDims && footprint * 4 > (256 << 10) && tiles >= 4 &&
          panel <= (2 << 20))
        s.packed = i;
    }
  }

  /// Elements of the inputs that a tile's loops step over, without `except`;
  /// `count` iterations of `some`.
  int64_t footprint(ArrayRef<int> except, int some = -1,
                    int64_t count = 1) const {
    int64_t total = 0;
    for (const Access &input : nest.inputs)
      total += elementsOf(input, except, some, count);
    return total;
  }
  int64_t elementsOf(const Access &input, ArrayRef<int> except, int some = -1,
                     int64_t count = 1) const {
    int64_t elements = 1;
    // Windows overlap: dims of one stride, or of a small multiple of it.
    SmallVector<std::pair<int64_t, int64_t>> strides;
    for (int dim : llvm::seq<int>(nest.dims.size())) {
      if (!input.usesDim(dim) ||
          (dim != some && llvm::is_contained(except, dim)))
        continue;
      int64_t extent = dim == some ? count : size(dim);
      const Quantity &coef = input.coef[dim];
      if (coef.fixed)
        strides.push_back({std::abs(*coef.fixed), extent});
      else
        elements *= extent;
    }
    llvm::sort(strides);
    int64_t unit = 1, places = 1;
    for (auto [stride, extent] : strides) {
      int64_t apart = stride / unit;
      if (stride % unit == 0 && apart < places) {
        places += (extent - 1) * apart;
        continue;
      }
      elements *= places;
      unit = stride;
      places = extent;
    }
    return elements * places;
  }

  /// What is counted of the dims that loops step over, without some of them but
  /// for `count` iterations of one of these (-1: none).
  using Count = llvm::function_ref<int64_t(ArrayRef<int> except, int some,
                                           int64_t count)>;

  /// Cuts the outermost of `s.reductions` (not the last `kept`) into the
  /// largest blocks of which `elements` counts no more than `most`. False, and
  /// nothing done, if that cannot be.
  bool blockReductions(Schedule &s, size_t kept, int64_t most,
                       Count elements) const {
    SmallVector<int> hoisted;
    for (int dim : ArrayRef(s.reductions).drop_back(kept)) {
      hoisted.push_back(dim);
      if (elements(hoisted, -1, 1) > most)
        continue;
      int64_t fits = 1, tooMany = size(dim) + 1;
      while (tooMany - fits > 1) {
        int64_t middle = fits + (tooMany - fits) / 2;
        (elements(hoisted, dim, middle) > most ? tooMany : fits) = middle;
      }
      s.block = fits;
      s.hoisted = hoisted;
      llvm::erase_if(s.reductions, [&](int dim) {
        return llvm::is_contained(hoisted, dim) &&
               !(s.block > 1 && dim == hoisted.back());
      });
      return true;
    }
    return false;
  }

  /// Long sums over rows of one operand with a large stride (gradients of
  /// weights): the panel of one tile leaves no room in the second-level cache
  /// for the lines of the other operand, or the other is read from memory for
  /// each panel. Blocks of the sum, with all outputs in memory.
  bool blockLongSums(Schedule &s) const {
    if (s.packed < 0 || s.vecReduces || s.reductions.empty())
      return false;
    const Access &panel = nest.inputs[s.packed],
                 &rows = nest.inputs[1 - s.packed];
    if (!panel.coef[s.vec].is(1) || rows.isContiguous(s.reductions.back()))
      return false;
    int64_t half = cacheElements() * 4 / 3, tile = s.vectors * s.lanes;
    auto sums = [&](ArrayRef<int> except, int some = -1, int64_t count = 1) {
      int64_t all = 1;
      for (int dim : s.reductions)
        if (dim == some)
          all *= count;
        else if (panel.usesDim(dim) && !llvm::is_contained(except, dim))
          all *= size(dim);
      return all;
    };
    // All panels of a block at once: each element of the rows is read once.
    int64_t width = size(s.vec);
    bool isRead =
        sweeps(s, rows) > 1 && elementsOf(rows, {}) > 16 * half &&
        llvm::all_of(s.outer, [&](int dim) { return size(dim) == 1; });
    if (isRead && half / width >= 256 &&
        blockReductions(s, 0, half,
                        [&](ArrayRef<int> except, int some, int64_t count) {
                          return sums(except, some, count) * width;
                        })) {
      s.packed = -1;
      return true;
    }
    // A quarter of that room: the lines of the other operand are 64 bytes for
    // the few elements of a tile that are in them.
    return sums({}) * tile > half &&
           blockReductions(s, 0, half / 4,
                           [&](ArrayRef<int> except, int some, int64_t count) {
                             return sums(except, some, count) * tile;
                           });
  }

  /// Small outputs of large inputs (gradients of weights): the inputs are cut
  /// along reduction dims into pieces that stay in the second-level cache while
  /// all outputs are added to.
  void chooseBlocking(Schedule &s) const {
    if (!contraction || nest.epilogue ||
        (!s.vecReduces && !nest.outputs[0].coef[s.vec].is(1)))
      return;
    if (blockLongSums(s))
      return;
    int64_t outputs = outputCount(), cache = cacheElements();
    int64_t tile =
        s.rows * s.columns * (s.vecReduces ? 1 : s.vectors * s.lanes);
    if (outputs > cache || outputs < 2 * tile || footprint({}) < 2 * cache)
      return;
    // What is read once, or stays in the cache, is no reason.
    if (llvm::none_of(nest.inputs, [&](const Access &input) {
          return sweeps(s, input) > 1 && elementsOf(input, {}) > cache;
        }))
      return;
    if (!blockReductions(s, s.vecReduces ? 1 : 0, cache,
                         [&](ArrayRef<int> except, int some, int64_t count) {
                           return footprint(except, some, count);
                         }))
      return;
    if (s.packed >= 0 && nest.inputs[s.packed].coef[s.vec].is(1))
      s.packed = -1;
  }

  /// Sums of products of bf16 in f32, two products at a time.
  void choosePairs(Schedule &s) const {
    if (!dotBf16 || exact || !contraction || s.vecReduces || s.vec < 0 ||
        s.lanes != 16 || !s.hoisted.empty() || s.reductions.empty())
      return;
    int last = s.reductions.back();
    const Quantity &count = nest.dims[last].size;
    bool first = nest.inputs[0].usesDim(s.vec);
    const Access &panel = nest.inputs[first ? 0 : 1],
                 &rows = nest.inputs[first ? 1 : 0];
    if (!llvm::all_of(nest.inputs,
                      [](const Access &input) {
                        return input.element.isBF16() && input.pointer &&
                               input.part < 0;
                      }) ||
        !nest.outputs[0].element.isF32() || rows.usesDim(s.vec) ||
        !rows.isContiguous(last) || !panel.usesDim(last) ||
        !(panel.isContiguous(s.vec) || panel.isContiguous(last)) ||
        !(count.fixed || count.multiple() % 2 == 0) || size(last) < 16 ||
        reuse(panel) < 32)
      return;
    // The body is x * y, each widened, and one sum.
    linalg::GenericOp main = nest.main;
    if (!llvm::all_of(main.getBody()->without_terminator(), [](Operation &op) {
          return isa<arith::ExtFOp, arith::MulFOp, arith::AddFOp>(op);
        }))
      return;
    s.pairs = true;
    s.packed = first ? 0 : 1;
  }

  /// Where the estimate has one vector at most, or a mask is little beside what
  /// is computed, one copy of the body will do.
  bool masksAll(const Schedule &s) const {
    if (s.vec < 0 || s.vecReduces || s.vectors > 1 || s.lanes == 1 ||
        nest.dims[s.vec].size.fixed || hasLoads || s.transposes)
      return false;
    bool hasParts = llvm::any_of(
        nest.stores(), [](const Access &store) { return store.part >= 0; });
    return size(s.vec) <= s.lanes ||
           (!contraction && work() > 16 && !hasParts &&
            !llvm::is_contained(nest.far, true));
  }

  Schedule choose() {
    Schedule s;
    bool scalarOnly = false;
    for (linalg::GenericOp op : {nest.main, nest.epilogue}) {
      if (!op)
        continue;
      // Lanes past the end hold zeros: no loads or divisions by them.
      for (Operation &inner : op.getBody()->without_terminator())
        scalarOnly |=
            isa<arith::DivSIOp, arith::DivUIOp, arith::RemSIOp, arith::RemUIOp,
                arith::CeilDivSIOp, arith::FloorDivSIOp, arith::CeilDivUIOp>(
                inner);
    }
    linalg::GenericOp epilogue = nest.epilogue;
    if (epilogue && !epilogue.getBody()->getOps<memref::LoadOp>().empty())
      scalarOnly = true;
    // Bodies are written once a row.
    transposable = !contraction && !nest.reduces() && !hasLoads && work() <= 24;
    bool canReduceLanes = true;
    for (unsigned i : llvm::seq<unsigned>(nest.outputs.size())) {
      Operation *combiner = combinerOf(nest.main, i);
      canReduceLanes &= combiner && spmd::neutralElement(combiner) != nullptr;
      if (exact && isa_and_nonnull<arith::AddFOp, arith::MulFOp>(combiner) &&
          !spmd::contract::AnyOrder::has(combiner))
        canReduceLanes = false;
    }
    double best = 1e300;
    for (int dim : llvm::seq<int>(nest.dims.size())) {
      bool reduces = nest.dims[dim].reduces;
      if (scalarOnly || (reduces && !canReduceLanes))
        continue;
      if (hasLoads && (reduces || lanesFor(dim) < 4 || !loadsAlong(nest, dim)))
        continue;
      double c = cost(dim);
      if (c >= best)
        continue;
      best = c;
      s.vec = dim;
      s.vecReduces = reduces;
      s.lanes = lanesFor(dim);
    }
    if (s.vec < 0 && !nest.dims.empty())
      for (int dim : llvm::seq<int>(nest.dims.size()))
        if (!nest.dims[dim].reduces)
          s.vec = dim;
    if (s.lanes == 1 && s.vecReduces)
      s.vecReduces = false, s.vec = -1;
    if (s.vec >= 0 && (s.lanes > 1 || !contraction)) {
      if (s.lanes > 1)
        chooseTile(s);
    }
    choosePacking(s);
    for (int dim : llvm::seq<int>(nest.dims.size())) {
      if (dim == s.vec && !s.vecReduces)
        continue;
      if (nest.dims[dim].reduces) {
        if (dim != s.vec)
          s.reductions.push_back(dim);
      } else if (dim != s.row && dim != s.column) {
        s.outer.push_back(dim);
      }
    }
    orderReductions(s);
    if (s.vecReduces)
      s.reductions.push_back(s.vec);
    if (s.lanes > 1)
      chooseBlocking(s);
    choosePairs(s);
    s.masksAll = masksAll(s);
    return s;
  }

  //===--------------------------------------------------------------------===//
  // Tiles that something else than the estimates chooses
  //===--------------------------------------------------------------------===//

  bool hasTile(const Schedule &s) const {
    return contraction && s.vec >= 0 && s.lanes > 1 && !s.transposes;
  }

  /// The reduction dims in the order in which elements are added up.
  static SmallVector<int> sumOrder(const Schedule &s) {
    SmallVector<int> order(s.hoisted);
    for (int dim : s.reductions)
      if (!llvm::is_contained(order, dim))
        order.push_back(dim);
    return order;
  }

  /// The input whose panel all tiles of some rows could read; -1: there is
  /// none.
  int findPanel(const Schedule &s) const {
    for (auto [i, input] : llvm::enumerate(nest.inputs))
      if (input.usesDim(s.vec) && !input.usesDim(s.row))
        return i;
    return -1;
  }

  /// Bytes of the panel of `s`.
  int64_t panelBytes(const Schedule &s) const {
    const Access &input = nest.inputs[s.packed];
    int64_t bytes = s.vectors * s.lanes * elementBytes(input.element);
    for (int dim : s.reductions)
      if (input.usesDim(dim) &&
          llvm::MulOverflow(bytes,
                            !s.hoisted.empty() && dim == s.hoisted.back()
                                ? s.block
                                : size(dim),
                            bytes))
        return INT64_MAX;
    return bytes;
  }

  std::optional<Schedule> obey(const Schedule &chosen, const Tile &tile) const {
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
          (!mayHoist || tile.block > size(order[tile.hoisted - 1])))
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
      constexpr int64_t kMostBytes = 4 << 20;
      if (tile.panel && isOther && (s.pairs || panelBytes(s) > kMostBytes))
        return std::nullopt;
    }
    s.masksAll = masksAll(s);
    return s;
  }

  static Tile tile(const Schedule &s) {
    bool isHoisted = !s.hoisted.empty();
    return {s.row,
            s.rows,
            s.columns,
            s.vectors,
            s.packed >= 0,
            int64_t(s.hoisted.size()),
            isHoisted ? s.block : 0};
  }

  SmallVector<Tile> others(const Schedule &chosen, const Schedule &s) const {
    const Tile now = tile(s), estimated = tile(chosen);
    SmallVector<Tile> found;
    auto add = [&](const Tile &other) {
      if (other == now || other == estimated ||
          llvm::is_contained(found, other) || !obey(chosen, other))
        return false;
      found.push_back(other);
      return true;
    };
    // Tiles of registers, of the least estimates: with what sets of the cache
    // are said to cost, and without.
    struct Estimate {
      double cost;
      Tile tile;
    };
    auto addBest = [&](bool sets, int most, int mostAlike) {
      SmallVector<Estimate> estimates;
      eachTile(s, sets,
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
    addBest(/*sets=*/true, /*most=*/6, /*mostAlike=*/2);
    addBest(/*sets=*/false, /*most=*/3, /*mostAlike=*/1);
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
};
} // namespace

/// True if elements of 8 or 16 bits are moved, and enough of them to be worth
/// the code of a large tile.
static bool movesShort(const Nest &nest) {
  linalg::GenericOp main = nest.main;
  auto isShort = [](const Access &access) {
    return access.element.isIntOrFloat() && access.part < 0 &&
           (access.element.getIntOrFloatBitWidth() == 8 ||
            access.element.getIntOrFloatBitWidth() == 16);
  };
  int64_t count = 1;
  for (const Dim &dim : nest.dims)
    count *= dim.size.guess();
  return !nest.epilogue && llvm::hasSingleElement(*main.getBody()) &&
         llvm::all_of(nest.inputs, isShort) &&
         llvm::all_of(nest.outputs, isShort) && count >= (1 << 14);
}

/// What `op` takes a core of AVX-512 for an element, in hundredths of a
/// nanosecond, if it is written as a formula; else 0. By
/// docs/Results/functions.
static int64_t formulaTime(Operation &op) {
  if (op.getDialect()->getNamespace() != "math" ||
      isa<math::AbsFOp, math::AbsIOp, math::SqrtOp, math::FmaOp, math::FloorOp,
          math::CeilOp, math::RoundEvenOp, math::CopySignOp>(op))
    return 0;
  int64_t time = llvm::StringSwitch<int64_t>(op.getName().getStringRef())
                     .Case("math.powf", 150)
                     .Cases({"math.asinh", "math.acosh", "math.atanh"}, 80)
                     .Cases({"math.sinh", "math.cosh", "math.erfc"}, 50)
                     .Cases({"math.tan", "math.cbrt"}, 40)
                     .Case("math.atan2", 30)
                     .Cases({"math.erf", "math.expm1", "math.log1p"}, 24)
                     .Case("math.tanh", 19)
                     .Default(16);
  return getElementTypeOrSelf(op.getResult(0).getType()).isF64() ? 3 * time
                                                                 : time;
}

/// True if a nest writes functions down as formulas, for enough elements to be
/// worth the code of several vectors, and memory is not what it waits for.
static bool waitsForFormulas(const Nest &nest) {
  linalg::GenericOp main = nest.main;
  if (nest.reduces() || nest.epilogue)
    return false;
  int64_t count = 1, time = 0, bytes = 0;
  for (const Dim &dim : nest.dims)
    count *= dim.size.guess();
  // The block of a group of rows is done again for the next rows.
  bool repeats = main->getParentOfType<LoopLikeOpInterface>();
  for (Operation &op : main.getBody()->without_terminator()) {
    time += formulaTime(op);
    // A quotient goes with the exponential of a logistic function.
    if (time && isa<arith::DivFOp>(op))
      time += getElementTypeOrSelf(op.getResult(0).getType()).isF64() ? 9 : 3;
  }
  for (ArrayRef<Access> accesses : {ArrayRef(nest.inputs), nest.stores()})
    for (const Access &access : accesses)
      bytes += elementBytes(access.element);
  // 32 bytes a nanosecond.
  bool isFar = llvm::is_contained(nest.far, true);
  return time > (isFar ? 100 * bytes / 32 : 0) &&
         count >= (repeats ? 1 << 8 : 1 << 11);
}

/// Lanes of a register that elements of `nest` fill, the widest.
static int64_t lanesOf(const Nest &nest, unsigned vectorBits) {
  unsigned width = 32;
  auto widen = [&](const Access &access) {
    width = std::max<unsigned>(width, 8 * elementBytes(access.element));
  };
  llvm::for_each(nest.inputs, widen);
  llvm::for_each(nest.outputs, widen);
  llvm::for_each(nest.epilogueOutputs, widen);
  return vectorBits / width;
}

static Chooser chooserFor(const Nest &nest, const ScheduleTarget &target,
                          int64_t lanes) {
  Chooser chooser{nest,  target.vectorBits, isContraction(nest.main),
                  lanes, target.exact,      target.dotBf16};
  linalg::GenericOp main = nest.main;
  chooser.hasLoads = !main.getBody()->getOps<memref::LoadOp>().empty();
  return chooser;
}

std::optional<Tile> tileOf(const Nest &nest, const Schedule &schedule) {
  bool hasTile = isContraction(nest.main) && schedule.vec >= 0 &&
                 schedule.lanes > 1 && !schedule.transposes;
  return hasTile ? std::optional(Chooser::tile(schedule)) : std::nullopt;
}

std::optional<Schedule> withTile(const Nest &nest, const ScheduleTarget &target,
                                 const Schedule &chosen, const Tile &tile) {
  return chooserFor(nest, target, lanesOf(nest, target.vectorBits))
      .obey(chosen, tile);
}

SmallVector<Tile> otherTiles(const Nest &nest, const ScheduleTarget &target,
                             const Schedule &chosen, const Schedule &schedule) {
  return chooserFor(nest, target, lanesOf(nest, target.vectorBits))
      .others(chosen, schedule);
}

Schedule chooseSchedule(const Nest &nest, const ScheduleTarget &target) {
  unsigned vectorBits = target.vectorBits;
  int64_t whole = lanesOf(nest, vectorBits);
  auto choose = [&](int64_t lanes) {
    return chooserFor(nest, target, lanes).choose();
  };
  Schedule schedule = choose(whole);
  // Tiles that are transposed in 32 registers are whole lines of the cache.
  if (vectorBits == 512 && schedule.transposes && movesShort(nest)) {
    Schedule wide = choose(vectorBits / 16);
    auto isCut = [&](int dim) {
      int64_t size = nest.dims[dim].size.guess();
      return size % wide.lanes < schedule.lanes || size >= 16 * wide.lanes;
    };
    if (wide.transposes && isCut(wide.vec) && isCut(wide.row))
      return wide;
  }
  // A formula waits for itself; vectors side by side do not wait for each
  // other.
  constexpr int64_t kSideBySide = 4;
  if (schedule.lanes == whole && !schedule.transposes &&
      waitsForFormulas(nest)) {
    int64_t size = nest.dims[schedule.vec].size.guess();
    int64_t lanes = kSideBySide * schedule.lanes,
            least = llvm::alignTo(size, schedule.lanes),
            idle = llvm::alignTo(size, lanes) - least;
    if (6 * idle <= least) {
      schedule = choose(lanes);
      schedule.vectors = 1;
    }
  }
  return schedule;
}

} // namespace shardc::cpu
