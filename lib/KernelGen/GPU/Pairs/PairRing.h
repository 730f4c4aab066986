//===- PairRing.h - What TMA copies load, and how --------------*- C++ -*-===//
//
// The plan of a kernel: how a block's work is cut, and how lines of tensors
// are in the ring of stages in shared memory.
//
//===----------------------------------------------------------------------===//
#ifndef SHARDC_LIB_KERNELGEN_GPU_PAIRS_PAIRRING_H
#define SHARDC_LIB_KERNELGEN_GPU_PAIRS_PAIRRING_H

#include "../Warpgroups.h"
#include "PairBlock.h"
#include "PairKernels.h"
#include "llvm/Support/MathExtras.h"

namespace shardc::gpukernels::pairs {

/// Elements of a row of 128 bytes, and of a piece of 16. [shape]
inline constexpr int64_t kPerRowBytes = kRow / 2, kPiece = 8;
/// Terms of a float that is split; products of later ones are nothing. [maths]
inline constexpr int64_t kTerms = 3;
/// Registers of a thread that loads, and of one that works on scores. [shape]
inline constexpr int64_t kFewRegisters = 40, kManyRegisters = 232;

/// A tensor as TMA copies know it, fastest dim first: the memref's dims that
/// each dim runs over, slowest first, and the step's.
struct BoxDims {
  SmallVector<SmallVector<int64_t>> dims;
  SmallVector<SmallVector<unsigned>> loops;
};

/// Lines of a tensor as they are in shared memory: one behind the other as
/// often as its numbers have terms.
struct Panels : Lines {
  int64_t terms = 1;
  BoxDims box; ///< of one term
  Value map;   ///< what describes it to TMA copies

  bool isSplit() const { return terms > 1; }
  int64_t panels() const { return llvm::divideCeil(length, kPerRowBytes); }
  int64_t panelBytes() const { return lines * kRow; }
  int64_t termBytes() const { return panels() * panelBytes(); }
  int64_t bytes() const { return terms * termBytes(); }
};

/// What the block's rows are, for each product of scores; behind it stages of
/// what tiles of columns are, two mbarriers a stage, and one of the rows.
struct Ring {
  SmallVector<Panels> lefts, tiles;
  /// The one of `tiles` that weights are multiplied with: it is of scores as
  /// well, or the last.
  size_t factor = 0;
  size_t beside = 1; ///< the same of the pass beside
  int64_t stages = 0;
  /// Whether a stage has a panel of what scores are of and one of the factor,
  /// whatever tiles these are of, in place of whole tiles.
  bool byPanels = false;

  static int64_t bytesOf(ArrayRef<Panels> all) {
    int64_t bytes = 0;
    for (const Panels &panels : all)
      bytes += panels.bytes();
    return bytes;
  }
  /// Of these, what TMA copies load.
  static int64_t boxBytesOf(ArrayRef<Panels> all) {
    int64_t bytes = 0;
    for (const Panels &panels : all)
      bytes += panels.isSplit() ? 0 : panels.bytes();
    return bytes;
  }
  static bool areSplit(ArrayRef<Panels> all) {
    return llvm::any_of(all, [](const Panels &one) { return one.isSplit(); });
  }
  /// Arrivals at an mbarrier when all of these are there.
  static int64_t fillsOf(ArrayRef<Panels> all) {
    return (boxBytesOf(all) > 0 ? 1 : 0) + (areSplit(all) ? kGroup : 0);
  }
  int64_t leftBytes() const { return bytesOf(lefts); }
  int64_t stageBytes() const {
    return byPanels ? 2 * tiles.front().panelBytes() : bytesOf(tiles);
  }
  int64_t areaBytes() const { return leftBytes() + stages * stageBytes(); }
  bool splits() const { return areSplit(lefts) || areSplit(tiles); }
};

/// How a block's work is cut, and what it reads.
struct RingPlan {
  TileShape shape;
  Ring ring;
};

/// The ring of stages in a block's shared memory. Each stage has two mbarriers
/// for each of its `parts`, which arrive, and are free again, by themselves.
class SharedRing {
public:
  /// Takes shared memory of `launch`, in which the builder inserts, and
  /// `ownBytes` more behind the mbarriers.
  SharedRing(PairBlock &block, const Ring &ring, gpu::LaunchOp launch,
             int64_t parts = 1, int64_t ownBytes = 0)
      : block(block), ring(ring), parts(parts),
        base(block.shared(launch, ring.areaBytes() + barrierBytes() + ownBytes,
                          block.b.getI8Type())) {}

  Value at(Value bytes) { return block.sharedByte(base, bytes); }
  /// Panels number `which` of `all`, which begin at `area`.
  Value panelsAt(Value area, ArrayRef<Panels> all, size_t which) {
    return block.sharedByte(area,
                            block.index(Ring::bytesOf(all.take_front(which))));
  }
  /// Where the tile of `stage` begins, from the ring's begin.
  Value stageOffset(Value stage) {
    return block.add(block.mul(stage, ring.stageBytes()),
                     block.index(ring.leftBytes()));
  }
  /// The mbarriers of part `part` of `stage`: that it is there, and that it was
  /// read.
  Value full(Value stage, int64_t part = 0) {
    return barrier(stage, 16 * part);
  }
  Value empty(Value stage, int64_t part = 0) {
    return barrier(stage, 16 * part + 8);
  }
  /// The mbarrier of the block's rows.
  Value rows() { return full(block.index(ring.stages)); }
  /// Byte `byte` of those behind the mbarriers.
  Value own(int64_t byte) {
    return at(block.index(ring.areaBytes() + barrierBytes() + byte));
  }

  PairBlock &block;
  const Ring &ring;
  int64_t parts;
  Value base;

private:
  int64_t barrierBytes() const { return 16 * (ring.stages * parts + 1); }
  Value barrier(Value stage, int64_t more) {
    return at(block.add(block.mul(stage, 16 * parts),
                        block.index(ring.areaBytes() + more)));
  }
};

/// Describes to TMA copies what they load of `ring`.
void describeBoxes(OpBuilder &b, Location loc, Ring &ring);

/// Lets TMA copies load the lines from `firstLine` on to `area`; their bytes
/// count at `full`.
void loadBoxes(PairBlock &block, const Panels &panels, Value firstLine,
               Value area, Value full);
/// The same of panel number `panel`.
void loadPanel(PairBlock &block, const Panels &panels, int64_t panel,
               Value firstLine, Value area, Value full);

/// The plan of a kernel for sm_100a, a thread a row: two tiles of rows, and
/// stages of tiles of two tensors; of more features one, and stages of panels.
std::optional<RingPlan> planTensorMemory(const Step &step,
                                         const PairPass &pass);

/// The plan of a kernel for `pass`, whose features become those of one group.
std::optional<RingPlan> planRing(const Step &step, PairPass &pass,
                                 GroupsDivide groups);

} // namespace shardc::gpukernels::pairs

#endif // SHARDC_LIB_KERNELGEN_GPU_PAIRS_PAIRRING_H
