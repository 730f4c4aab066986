//===- EmitNest.h - Write a scheduled nest as loops over vectors *- C++ -*-===//
//
// Loops outside the register tile carry pointers, one an access, so that the
// innermost code holds nothing but loads at fixed distances, arithmetic and
// stores. Accumulators are loop-carried values: they stay in registers.
//
// EmitNest.cpp has the loops, EmitNestMemory.cpp loads and stores of vectors,
// EmitNestTiles.cpp what is done in registers, EmitNestPanels.cpp the copy of
// an operand that is read again and again, EmitNestParts.cpp who does what
// where several threads share a nest, EmitNestStreams.cpp which stores pass the
// caches by.
//
//===----------------------------------------------------------------------===//
#ifndef SHARDC_LIB_KERNELGEN_CPU_NESTS_EMITNEST_H
#define SHARDC_LIB_KERNELGEN_CPU_NESTS_EMITNEST_H

#include "Nest.h"
#include "shardc/Analysis/StructuredOps.h"
#include "shardc/Support/ElementBytes.h"
#include <functional>
#include <map>

namespace shardc::cpu {
using namespace mlir;

/// Writes one nest at the builder's position.
class NestEmitter {
public:
  NestEmitter(OpBuilder &b, Nest &nest, const Schedule &s, int64_t parts)
      : parts(parts), b(b), loc(nest.main.getLoc()), nest(nest), s(s),
        arith(b, loc) {
    for (auto *list : {&nest.inputs, &nest.outputs, &nest.epilogueInputs,
                       &nest.epilogueOutputs})
      for (Access &access : *list)
        all.push_back(&access);
  }

  void emit();

private:
  /// The current position of the emission: a pointer an access, an index a dim.
  struct State {
    SmallVector<Value> pointers;
    SmallVector<Quantity> position;
  };

  /// Part of a register tile that is being written.
  struct Tile {
    int64_t rows = 1, columns = 1, vectors = 1;
    Value mask; // of the last vector, or null
  };
  /// What is written in a loop, from where it begins; tiles also get how
  /// many rows, columns or vectors they have, and the mask of the last vector.
  using Continue = std::function<void(const State &)>;
  using TileContinue = std::function<void(const State &, int64_t, Value)>;

  // The whole.
  State start();
  void emitPart();
  void emitBlocks();
  void emitAll(const State &start);

  // Parts, for as many threads (EmitNestParts.cpp).
  /// The dim that parts share, or -1: the nest is small, or no dim has enough
  /// tiles.
  int chooseShared();
  /// Iterations of `dim` that are together: a register tile's.
  int64_t extentOf(int dim) const;
  /// A loop over the parts around what follows; sets which part of `shared` is
  /// whose.
  void beginParts();
  /// Where the loop over `dim` begins and ends, in this part.
  Quantity fromOf(int dim) {
    return dim == shared ? partFrom : Quantity::of(0);
  }
  Quantity toOf(int dim) {
    return dim == shared ? partTo : nest.dims[dim].size;
  }
  /// The same of `full` iterations, of which a part has whole tiles.
  Quantity fullTo(int dim, const Quantity &full);
  /// Writes `rest`, which is behind all whole tiles of `dim`.
  void inLastPart(int dim, llvm::function_ref<void()> rest);

  // Streams (EmitNestStreams.cpp).
  /// Outputs of `nest.far` whose vectors can be stored past the caches.
  void findStreamed();
  /// The loops twice: with such stores where memory is aligned for them, and
  /// without. Once, if rows begin anywhere.
  void emitStreaming();
  /// As forVectors: whole vectors are where the output's memory is aligned for
  /// them, in each row between two that have a mask.
  void forLedVectors(const State &state, const TileContinue &body);
  /// Has the stores of `last` and what is before it done before anybody is
  /// told of them.
  void orderStores(Operation *last);
  bool isStreamed(const Access &access) const {
    return isStreaming && llvm::is_contained(streamed, &access);
  }
  /// A whole vector, at a multiple of its size if it is streamed.
  void storeVector(const Access &access, Value value, Value pointer);

  // Loops.
  State advance(const State &state, int dim, const Quantity &by);
  void forDims(ArrayRef<int> dims, const State &state, const Continue &body);
  void forSteps(int dim, Quantity from, Quantity to, int64_t step,
                const State &state, const Continue &body);
  void forTiles(int dim, int64_t extent, const State &state,
                const TileContinue &body);
  void forVectors(const State &state, const TileContinue &body);

  // Memory.
  /// The type that memory holds for `element`.
  Type stored(Type element);
  Value pointerAt(const Access &access, Value pointer, Quantity offset);
  Quantity tileOffset(const Access &access, int64_t row, int64_t column,
                      int64_t vector, int64_t lanes);
  Value fromMemory(Value value, Type element);
  Value load(const Access &access, Value pointer, Quantity offset,
             int64_t lanes, Value mask);
  void store(const Access &access, Value pointer, Quantity offset, Value value,
             int64_t lanes, Value mask);
  Value lanePointers(const Access &access, Value pointer, const Quantity &step);
  /// Whether whole vectors of `access` along the rows of the tile are moved.
  bool isAcross(const Access &access, const Tile &tile, Value mask) const {
    return s.transposes && tile.rows == s.lanes && !mask &&
           access.isContiguous(s.row) && access.usesDim(s.vec) &&
           !access.isContiguous(s.vec) && !access.coef[s.vec].is(-1);
  }
  /// The vectors of all rows of a tile, of an access across vectors.
  SmallVector<Value> loadAcross(const Access &access, Value pointer,
                                int64_t column, int64_t vector);
  void storeAcross(const Access &access, Value pointer, int64_t column,
                   int64_t vector, SmallVector<Value> rows);
  /// The same of both parts of complex elements, `access` the real ones'.
  void storeAcross(const Access &access, Value pointer, int64_t column,
                   int64_t vector, SmallVector<Value> re,
                   SmallVector<Value> im);
  /// Whether the rows of the tile are interleaved in memory.
  bool isInterleaved(const Access &access, const Tile &tile) const {
    return s.interleaves && access.isInterleaved(s.vec, s.row, tile.rows);
  }
  /// The vectors of all rows of a tile, or these to memory; `mask` is of lanes.
  SmallVector<Value> loadInterleavedRows(const Access &access, Value pointer,
                                         int64_t rows, int64_t column,
                                         int64_t vector, Value mask);
  void storeInterleavedRows(const Access &access, Value pointer, int64_t column,
                            int64_t vector, SmallVector<Value> rows,
                            Value mask);
  /// Which elements `mask`'s lanes have in the vectors of `rows` rows, each.
  SmallVector<Value> interleavedMasks(Value mask, int64_t rows);
  /// A vector whose lane i is lane places[i] of vectors[which[i]].
  Value gatherLanes(ArrayRef<Value> vectors, ArrayRef<int64_t> which,
                    ArrayRef<int64_t> places);
  /// Whether a tile of sums is transposed before it is stored: its rows are
  /// contiguous in memory, and elements of a vector are not.
  bool storesRows(const Access &access, const Tile &tile, int64_t lanes,
                  Value mask) const {
    unsigned bits = 8 * elementBytes(access.element);
    return !s.transposes && s.row >= 0 && lanes > 1 && !mask &&
           (bits == 32 || bits == 64) && access.part < 0 &&
           tile.rows * 4 >= lanes && access.isContiguous(s.row) &&
           access.usesDim(s.vec) && !access.isContiguous(s.vec) &&
           !access.coef[s.vec].is(-1);
  }
  /// Stores vectors of at most as many rows as they have lanes, from `first`
  /// on.
  void storeRows(const Access &access, Value pointer, int64_t first,
                 int64_t column, int64_t vector, SmallVector<Value> rows);
  /// A vector of every second element, from the first on.
  Value loadEverySecond(const Access &access, Value pointer, int64_t lanes);
  /// A vector of elements a short step apart: of `step` vectors that hold them.
  /// `mask` is of lanes.
  Value loadApart(const Access &access, Value pointer, int64_t lanes,
                  Value mask);
  /// Stores to such elements alone, by as many masked stores.
  void storeApart(const Access &access, Value pointer, Value value,
                  int64_t lanes, Value mask);
  /// Which elements of one of these vectors are elements wanted, of lanes of
  /// `mask`.
  Value maskOfWord(int64_t word, int64_t step, int64_t lanes, Value mask);
  /// Where the vectors begin that hold `lanes` elements `step` apart.
  static Quantity wordAt(int64_t word, int64_t step, int64_t lanes);
  /// Two vectors, in which elements of `re` and `im` are interleaved.
  void storeInterleaved(const Access &access, Value pointer, Value re, Value im,
                        int64_t lanes);
  /// What is stored for `value`.
  Value toMemory(Value value, Type element, int64_t lanes);
  /// One instruction where registers are wide enough to have it.
  static bool hasScatter(Type element, int64_t lanes) {
    unsigned bits = element.getIntOrFloatBitWidth();
    return bits >= 32 && bits * lanes == 512;
  }
  Value allLanes() {
    auto type = VectorType::get({s.lanes}, b.getI1Type());
    return arith::ConstantOp::create(b, loc,
                                     DenseElementsAttr::get(type, true));
  }

  // Tiles of vectors.
  void emitTile(const State &state, const Tile &tile);
  /// A tile whose sums run along the lanes.
  void emitLaneSums(const State &state, const Tile &tile);
  /// Whether the totals of the tile's rows become the lanes of one vector, with
  /// which the epilogue is computed, and which is stored.
  bool sumsTogether(const Tile &tile) const;
  /// A vector of the totals of `rows` of output `i`, each as a vector of terms.
  /// Two rows are added up at a time, half of the terms of each to the other
  /// half: as many terms are added to one another, in the same order, as if
  /// each row were added up by itself.
  Value totalsOfRows(size_t i, ArrayRef<Value> rows);
  SmallVector<Value> emitReductions(size_t level, const State &state,
                                    const Tile &tile,
                                    ArrayRef<Value> accumulators);
  /// The next values of those that are carried, at a position of a dim.
  using Carry = llvm::function_ref<SmallVector<Value>(
      const State &, const Quantity &, ArrayRef<Value>)>;
  /// A loop over `dim`, `step` of its iterations at a time, that carries
  /// `values`; what it leaves. One iteration is no loop.
  SmallVector<Value> carrySteps(int dim, const Quantity &from,
                                const Quantity &to, int64_t step,
                                const State &state, ArrayRef<Value> values,
                                Carry body);
  /// `size` iterations of the dim of a level, and all of those inside it.
  SmallVector<Value> emitReduction(size_t level, const Quantity &size,
                                   const State &state, const Tile &tile,
                                   ArrayRef<Value> accumulators);
  /// The same of all iterations, by partial sums.
  SmallVector<Value> emitPartialSums(size_t level, const Quantity &size,
                                     const State &state, const Tile &tile,
                                     ArrayRef<Value> totals);
  /// Iterations from `from` to `to`, of which only the last may leave lanes
  /// empty.
  SmallVector<Value> emitLaneReduction(const Quantity &from, const Quantity &to,
                                       const State &state, const Tile &tile,
                                       ArrayRef<Value> accumulators);
  /// The last reduction, some steps together (Schedule::together).
  SmallVector<Value> emitTogether(const Quantity &size, const State &state,
                                  const Tile &tile,
                                  ArrayRef<Value> accumulators);
  /// The last reduction, in pairs of numbers of 16 bits.
  SmallVector<Value> emitPairs(const Quantity &size, const State &state,
                               const Tile &tile, ArrayRef<Value> accumulators);
  /// All of the last reduction, where rows slide along it.
  SmallVector<Value> emitSlide(const State &state, const Tile &tile,
                               ArrayRef<Value> accumulators);
  /// What output `i` is of both.
  Value combine(size_t i, Value x, Value y);
  SmallVector<Value> combineEach(ArrayRef<Value> x, ArrayRef<Value> y);
  /// What accumulators begin with that start from nothing.
  SmallVector<Value> neutral(const Tile &tile);
  SmallVector<Value> emitPair(const State &state, const Tile &tile,
                              ArrayRef<Value> accumulators, bool isHalf);
  SmallVector<Value> emitStep(const State &state, const Tile &tile,
                              ArrayRef<Value> accumulators);
  void finish(const State &state, const Tile &tile, int64_t row, int64_t column,
              int64_t vector, SmallVector<Value> values, int64_t lanes,
              Value mask);
  Value indexOf(const State &state, int dim, int64_t row, int64_t column,
                int64_t vector, int64_t lanes);

  // Panels.
  /// Gets scratch for one panel (of each part).
  void allocatePanel();
  State pack(const State &state, int64_t vectors, Value mask);
  /// Iterations of `dim` in a panel.
  Quantity panelSize(int dim);
  bool isPaired(int dim) const { return s.pairs && dim == s.reductions.back(); }
  /// Two elements of input `input` side by side as one integer, 16 bits each;
  /// with `isHalf` one, and zero.
  Value loadPair(size_t input, Value pointer, bool isHalf);
  /// The type of what the panel holds.
  Type panelElement();
  /// What the panel holds of `value`, of the packed operand.
  Value toPanel(Value value);
  /// The sums of `sum` and of products of both, two for each lane.
  Value addPairs(Value sum, Value x, Value y);

  // Places among `all`.
  size_t inputAt(size_t i) const { return i; }
  size_t outputAt(size_t i) const { return nest.inputs.size() + i; }
  size_t epilogueInputAt(size_t i) const {
    return outputAt(nest.outputs.size()) + i;
  }
  size_t epilogueOutputAt(size_t i) const {
    return epilogueInputAt(nest.epilogueInputs.size()) + i;
  }

  int64_t parts;
  int shared = -1; ///< the dim of which each part has some iterations
  scf::ForOp partLoop;
  Quantity partFrom, partTo;

  SmallVector<const Access *> streamed;
  bool isStreaming = false;
  bool leads = false; ///< rows of the streamed output begin anywhere

  OpBuilder &b;
  Location loc;
  Nest &nest;
  const Schedule &s;
  Arith arith;
  SmallVector<Access *> all;
  Value panel; ///< scratch of the packed operand
  /// Rows of one tile that are to be transposed, or have been, by place among
  /// `all`, column and vector.
  std::map<std::tuple<size_t, int64_t, int64_t>, SmallVector<Value>> transposed;
  Value realPart; ///< of the elements whose imaginary part is stored next
  /// The hoisted dim that has steps, and the present step's size.
  int blocked = -1;
  Quantity blockSize;
};

} // namespace shardc::cpu

#endif // SHARDC_LIB_KERNELGEN_CPU_NESTS_EMITNEST_H
