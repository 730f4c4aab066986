//===- Turns.h - Blocks of a launch that wait for one another ---*- C++ -*-===//
//
// What several blocks add to one place would depend on which of them comes
// first. So each has its turn: a counter in device memory says how many have
// had theirs. A block waits for its number, adds, and counts one more. Blocks
// draw numbers when they begin, and wait for lower numbers alone: whoever has
// one of these is running, so that nobody waits for ever, and results do not
// depend on which block is faster. Attention's gradient of queries is such a
// sum; parts of a product's depth, or sums of columns, can be too.
//
//===----------------------------------------------------------------------===//
#ifndef SHARDC_LIB_KERNELGEN_GPU_TURNS_H
#define SHARDC_LIB_KERNELGEN_GPU_TURNS_H

#include "Launch.h"

namespace shardc::gpukernels {

/// Draws the number of the block that runs `launch`, in the order in which its
/// blocks begin, which all threads may load from what is returned: shared
/// memory. `counter` holds 0 before the launch. There is a barrier.
Value drawNumber(OpBuilder &b, Location loc, gpu::LaunchOp launch,
                 Value counter);
/// What was drawn, as an index.
Value loadNumber(OpBuilder &b, Location loc, Value drawn);

/// Waits until `isSet` holds for what is found in `flags`, i32 in device
/// memory. What those wrote before who set them may be read from here on, by
/// the thread that waits, and behind a barrier by its block.
void awaitFlags(OpBuilder &b, Location loc, ArrayRef<Value> flags,
                llvm::function_ref<Value(ArrayRef<Value>)> isSet);

/// Sets `flag`. What the thread wrote before, and behind a barrier what its
/// block did, may be read by whoever finds it set.
void setFlag(OpBuilder &b, Location loc, Value flag, Value value);

/// Turns of the blocks of one launch. A place is what several of them add to.
class Turns {
public:
  /// Makes counters of `places` places (`known`, where that is static) at the
  /// insertion point, outside of launches.
  Turns(OpBuilder &b, Location loc, int64_t known, Value places);

  /// The counters, to be set to 0 before the launch.
  Value counters() const { return memory; }
  /// Draws this block's number.
  void draw(gpu::LaunchOp launch) {
    drawn = drawNumber(b, loc, launch, counter(0));
  }
  /// Loads it: what follows from it need not be kept from barrier to barrier.
  Value number() { return loadNumber(b, loc, drawn); }
  /// Waits until `turn` blocks have had their turn at `place`.
  void await(Value place, Value turn);
  /// Says that the block with this `turn` has had it: one thread does, behind a
  /// barrier.
  void pass(Value place, Value turn);

private:
  Value counter(int64_t behind, Value place = {});

  OpBuilder &b;
  Location loc;
  Value memory; ///< of blocks that have begun; then of each place
  Value drawn;
};

} // namespace shardc::gpukernels

#endif // SHARDC_LIB_KERNELGEN_GPU_TURNS_H
