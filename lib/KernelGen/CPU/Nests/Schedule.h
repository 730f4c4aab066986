//===- Schedule.h - How a nest is cut, by estimates -------------*- C++ -*-===//
//
// Which dim runs along the lanes is chosen in Schedule.cpp, the tile of
// registers in ScheduleTiles.cpp, what is packed and which blocks of a sum stay
// in a cache in ScheduleBlocks.cpp.
//
//===----------------------------------------------------------------------===//
#ifndef SHARDC_LIB_KERNELGEN_CPU_NESTS_SCHEDULE_H
#define SHARDC_LIB_KERNELGEN_CPU_NESTS_SCHEDULE_H

#include "Nest.h"

namespace shardc::cpu {
using namespace mlir;

/// Chooses the schedule of one nest.
struct ScheduleChooser {
  const Nest &nest;
  unsigned bits;
  bool contraction;
  int64_t fullLanes;
  bool exact = false; // sums of floats keep their order
  bool dotBf16 = false;
  bool hasLoads = false;     // in the main body
  bool transposable = false; // tiles may be transposed in registers

  Schedule choose();
  /// `chosen` but for the tile; none where the nest cannot have that.
  std::optional<Schedule> obey(const Schedule &chosen, const Tile &tile) const;
  /// Tiles beside those of `chosen` and `s` that a measurement may try.
  SmallVector<Tile> others(const Schedule &chosen, const Schedule &s) const;
  bool hasTile(const Schedule &s) const {
    return contraction && s.vec >= 0 && s.lanes > 1 && !s.transposes;
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

private:
  // The nest.

  int64_t size(int dim) const { return nest.dims[dim].size.guess(); }
  int64_t reductionCount() const;
  /// How many iterations of parallel dims read an element of `access`.
  int64_t reuse(const Access &access) const;
  /// Elements of all outputs.
  int64_t outputCount() const;
  /// Elements that the second-level cache has room for beside what else is in
  /// it.
  int64_t cacheElements() const;
  /// Operations of the bodies; a function of `math` counts as several.
  unsigned work() const;
  /// About how many instructions a vector of bodies takes.
  unsigned instructions() const;

  // Lanes.

  /// About as many rows has a tile of sums of a product along the lanes.
  /// [shape]
  static constexpr int64_t kRowsOfSums = 6;
  /// Rows of an interleaved tile at most. [shape]
  static constexpr int64_t kMostInterleaved = 8;
  int64_t lanesFor(int dim) const;
  double loadCost(const Access &access, int dim, int64_t lanes) const;
  /// True if elements of an input lie a few apart along `dim`.
  bool hasShortStep(int dim, int64_t lanes) const {
    return llvm::any_of(nest.inputs, [&](const Access &input) {
      return isShortStep(input, dim, lanes);
    });
  }
  /// Whether a tile of lanes of `dim` and as many rows of `row` transposes
  /// `access`.
  static bool isAcross(const Access &access, int dim, int row);
  /// The dim along which most accesses are contiguous that are not along `dim`,
  /// or -1.
  int findTransposedRow(int dim) const;
  /// True if tiles of `s`, which transposes, go across what is stored and had
  /// better go along it. The loop over them finds new lines to store each time,
  /// which have to be read first; along the result it finds new lines to load,
  /// which wait less. So lines that push one another out of a cache count four
  /// times where they are stored.
  bool goesAcross(const Schedule &s) const;
  /// The short dim whose elements lie between those of neighbours along `dim`
  /// in all that is stored, or -1.
  int findInterleavedRow(int dim) const;
  double cost(int dim) const;
  /// Sums of products of bf16 in f32, or of integers of at most 16 bits in
  /// i32, two products at a time.
  void choosePairs(Schedule &s) const;
  /// Whether types and body are those of such sums; `rows` is the input that is
  /// not along the lanes.
  bool canPair(const Access &rows) const;
  /// Bytes of an element of the panel of `s`.
  int64_t panelElementBytes(const Schedule &s) const;
  /// Where the estimate has one vector at most, or a mask is little beside what
  /// is computed, one copy of the body will do.
  bool masksAll(const Schedule &s) const;

  // The tile of registers.

  /// Operations of an interleaved tile at most. [limit]
  static constexpr int64_t kMaxTileWork = 512;
  /// Instructions at most of as many rows as there are lanes, before they are
  /// added up together: beside functions that is little, and much code. [limit]
  static constexpr int64_t kMaxRowsWork = 512;
  /// Parallel dims that only `reader` steps through, not `other`.
  SmallVector<int> reuseDims(const Access &reader, const Access &other,
                             int except) const;
  /// The largest of them, or -1.
  int findReuseDim(const Access &reader, const Access &other, int except) const;
  /// Bytes from one row to the next, or a number that they are a multiple of.
  static int64_t rowBytes(const Access &reader, int row);
  /// How many of `rows` lines, `bytes` apart, belong to one set of a cache
  /// whose ways are pages: every first-level cache of x86 and ARM.
  static int64_t linesInSet(int64_t rows, int64_t bytes);
  /// Cycles for all tiles of `a` by `b` accumulators over dims (-1: none) of
  /// `sizeA` by `sizeB`. With `each`, both operands have an element for each
  /// lane: no element of a row's is used twice.
  double tileCost(int64_t a, int64_t b, int dimA, int dimB, int64_t sizeA,
                  int64_t sizeB, int64_t bytesA = 0, bool each = false) const;
  /// The dim of which as many short sums along the lanes as there are lanes are
  /// added up together (NestEmitter::sumsTogether), or -1.
  int findRowOfSums(const Schedule &s) const;
  void chooseTile(Schedule &s) const;
  /// The same cycles, where `one` says what a tile of `x` by `y` takes.
  double
  sumOverTiles(int64_t a, int64_t b, int dimA, int dimB, int64_t sizeA,
               int64_t sizeB,
               llvm::function_ref<double(int64_t x, int64_t y)> one) const;
  /// Whether the tile of `s` can slide (Schedule::slides).
  bool canSlide(const Schedule &s) const;
  /// How far a row of `s`, which can, moves its input, in iterations of the
  /// last reduction dim.
  int64_t slideOf(const Schedule &s) const;
  /// Windows of one channel each: has rows of the tile share elements of the
  /// input. Sums keep their order, so it is known before.
  void chooseSlide(Schedule &s) const;
  /// About how many instructions the tiles of a product are: one of each extent
  /// that its dims leave.
  int64_t codeSize(const Schedule &s, int row, int64_t rows,
                   int64_t vectors) const;
  /// Iterations of the dims that `access` steps through.
  int64_t iterations(const Access &access) const;
  /// True if no second-level cache holds what `access` steps over.
  bool isFromMemory(const Access &access) const;
  /// Cycles that all tiles of `s`, of a dim's `rowSize` rows by `vecSize`
  /// vectors, wait for memory, an iteration of the sum.
  double waitCost(const Schedule &s, const Access &rowReader,
                  const Access &vecReader, int64_t rowSize,
                  int64_t vecSize) const;
  /// Calls `each` for tiles of registers that `s`, of a product, may have, with
  /// an estimate of what all of them take. With `memory`, as much more as lines
  /// cost that push one another out of a cache, and those that are in none.
  void eachTile(const Schedule &s, bool memory,
                llvm::function_ref<void(int row, int64_t rows, int64_t columns,
                                        int64_t vectors, double cost)>
                    each) const;
  /// The input whose panel all tiles of some rows could read; -1: there is
  /// none.
  int findPanel(const Schedule &s) const;
  /// Bytes of the panel of `s`.
  int64_t panelBytes(const Schedule &s) const;

  // What is in a cache.

  /// What is counted of the dims that loops step over, without some of them but
  /// for `count` iterations of one of these (-1: none).
  using Count = llvm::function_ref<int64_t(ArrayRef<int> except, int some,
                                           int64_t count)>;
  /// How often the loops over tiles read all of `input`.
  int64_t sweeps(const Schedule &s, const Access &input) const;
  /// Sums are added up in the order in which inputs are in memory, where they
  /// may be: the last loop over the smallest stride.
  void orderReductions(Schedule &s) const;
  void choosePacking(Schedule &s) const;
  /// What many tiles read of floats that are multiplied as wider ones is
  /// packed, so that each is made wider once.
  void chooseWidening(Schedule &s) const;
  /// Elements of the inputs that a tile's loops step over, without `except`;
  /// `count` iterations of `some`.
  int64_t footprint(ArrayRef<int> except, int some = -1,
                    int64_t count = 1) const;
  int64_t elementsOf(const Access &input, ArrayRef<int> except, int some = -1,
                     int64_t count = 1) const;
  /// Cuts the outermost of `s.reductions` (not the last `kept`) into the
  /// largest blocks of which `elements` counts no more than `most`. False, and
  /// nothing done, if that cannot be.
  bool blockReductions(Schedule &s, size_t kept, int64_t most,
                       Count elements) const;
  /// Long sums over rows of one operand with a large stride (gradients of
  /// weights): the panel of one tile leaves no room in the second-level cache
  /// for the lines of the other operand, or the other is read from memory for
  /// each panel. Blocks of the sum, with all outputs in memory.
  bool blockLongSums(Schedule &s) const;
  /// Small outputs of large inputs (gradients of weights): the inputs are cut
  /// along reduction dims into pieces that stay in the second-level cache while
  /// all outputs are added to.
  void chooseBlocking(Schedule &s) const;
  /// Partial sums of long ones, within what blocks let stay in registers.
  void choosePartialSums(Schedule &s) const;
  /// What takes so many cycles to combine that few accumulators would wait for
  /// themselves, and may be combined in any order: several steps together.
  void chooseTogether(Schedule &s) const;
  /// Whether all of a partial sum of `s` is added up before a loop over blocks,
  /// the `hoisted` first dims of `order` with the last in steps of `block`,
  /// goes on: only totals are kept in memory.
  static bool keepsPartialSums(const Schedule &s, ArrayRef<int> order,
                               int64_t hoisted, int64_t block);
  /// The reduction dims in the order in which elements are added up.
  static SmallVector<int> sumOrder(const Schedule &s) {
    SmallVector<int> order(s.hoisted);
    for (int dim : s.reductions)
      if (!llvm::is_contained(order, dim))
        order.push_back(dim);
    return order;
  }
};

} // namespace shardc::cpu

#endif // SHARDC_LIB_KERNELGEN_CPU_NESTS_SCHEDULE_H
