//===- Problem.h - Propagation as plain data --------------------*- C++ -*-===//
//
// What propagation knows of a program: tensors, how each is cut over the mesh
// so far, and the ops that tie their dims together. No IR: Projection builds a
// Problem from a function and writes the answer back.
//
// Axes are mesh axis numbers; axes of size one do not occur.
//
//===----------------------------------------------------------------------===//
#ifndef SHARDC_PROPAGATION_PROBLEM_H
#define SHARDC_PROPAGATION_PROBLEM_H

#include "shardc/Interfaces/ShardingRule.h"
#include "shardc/Machine/Cost.h"
#include <string>
#include <vector>

namespace shardc::propagation {

/// How much the boundaries of a dim count where an op combines two. Sizes that
/// pass through a window, a slice or a reshape are derived.
enum class SizeStrength : uint8_t {
  Derived,         ///< derived from sizes that nobody asked for
  Default,         ///< balanced, because nobody said otherwise
  DerivedExplicit, ///< derived from sizes that the user gave
  Explicit         ///< the user's own sizes
};

/// How one dim of a tensor is cut.
struct DimState {
  llvm::SmallVector<int64_t, 2> axes; ///< major to minor
  /// For each axis, which of Problem::origins asked for it first.
  llvm::SmallVector<int64_t, 2> origins;
  Boundaries bounds; ///< over all axes; one shard where there is none
  SizeStrength strength = SizeStrength::Derived;
  /// Which of Problem::origins gave the sizes; -1: nobody, they are balanced or
  /// derived from balanced ones.
  int64_t sizeOrigin = -1;
  bool open = true;     ///< more axes may follow
  bool settled = false; ///< a conflict of boundaries was decided here
  bool pinned =
      false; ///< the boundaries stay: an argument arrives as it was said to
  int64_t priority = 0; ///< the round from which on the dim takes part
};

struct TensorState {
  llvm::SmallVector<int64_t, 4> shape;
  int64_t elementBytes = 4;
  llvm::SmallVector<DimState, 4> dims;
  llvm::SmallVector<int64_t, 2> locked; ///< axes that must not cut it

  /// A tensor about which nothing is known.
  static TensorState open(llvm::ArrayRef<int64_t> shape, int64_t elementBytes);
  int64_t bytes() const; ///< saturates
  /// The dim that `axis` cuts, or -1.
  int64_t dimOfAxis(int64_t axis) const;
};

/// Where shardings may spread through an edge.
enum class Flow { Both, Forward, Backward };

/// One op. Numbers of tensors are -1 for operands and results without dims.
struct OpNode {
  ShardingRule rule;
  llvm::SmallVector<int64_t, 4> operands;
  llvm::SmallVector<int64_t, 2> results;
  /// Nothing but a flow of the value: constraints, loop arguments, returns.
  bool isEdge = false;
  Flow flow = Flow::Both;
  bool hasSingleUse = false;
};

/// What an annotation says of a dim.
struct DimAnnotation {
  llvm::ArrayRef<int64_t> axes;
  llvm::ArrayRef<int64_t> sizes = {}; ///< none: balanced
  bool open = false;
  int64_t priority = 0;
  int64_t origin = -1;
  Formula formula = {}; ///< `sizes` are those of one binding of it
};

struct Problem {
  llvm::SmallVector<int64_t, 4> meshSizes;
  /// Axes whose sizes are said when the program is bound.
  llvm::SmallVector<int64_t, 2> symbolicAxes;
  std::vector<TensorState> tensors;
  std::vector<OpNode> ops;
  std::vector<std::string> origins;
  /// Sizes that are placeholders.
  Extents extents = {};
  /// Boundaries that annotations leave open.
  std::vector<Boundaries> openBoundaries;
  /// Prices; knows axes by their numbers.
  Cost cost{*machinePreset(kDefaultMachine)};

  int64_t addTensor(llvm::ArrayRef<int64_t> shape, int64_t elementBytes = 4);
  int64_t addOrigin(llvm::StringRef text);
  /// Ties two tensors of one shape together dim by dim.
  void addEdge(int64_t from, int64_t to, Flow flow = Flow::Both);
  ShardCount shards(llvm::ArrayRef<int64_t> axes) const;
  int64_t numRanks() const { return shards(allAxes()); }
  llvm::SmallVector<int64_t, 4> allAxes() const;
  /// Cuts a dim as an annotation asks. Requires fitting sizes.
  void annotate(int64_t tensor, int64_t dim, const DimAnnotation &annotation);
};

/// The dims of a tensor tied to factors one to one.
ShardingRule identityRule(llvm::ArrayRef<int64_t> shape);

/// How a dim follows its map: the same elements, whole blocks of them, or an
/// interval that reaches out or is shifted.
enum class MapKind { None, Identity, Merge, Window };
MapKind kindOf(const ShardingRule &rule, const IndexMap &map, int64_t dimSize);

/// What a rule allows, worked out once for an op.
struct RuleView {
  /// Shapes are those of the op's operands and results; empty for those without
  /// dims.
  RuleView(const ShardingRule &rule,
           llvm::ArrayRef<llvm::ArrayRef<int64_t>> operandShapes,
           llvm::ArrayRef<llvm::ArrayRef<int64_t>> resultShapes);

  struct Dim {
    int64_t factor = -1; ///< the factor it is cut along, -1 for none
    MapKind kind = MapKind::None;
  };
  const ShardingRule *rule;
  llvm::SmallVector<int64_t, 8> sizes; ///< of factors
  /// A factor may be cut if every dim that uses it is cut along it, it may be
  /// sharded, and there is something to cut. A factor of size one may be "cut"
  /// so that its one element is on one rank.
  llvm::SmallVector<bool, 8> canCut;
  llvm::SmallVector<llvm::SmallVector<Dim, 4>, 4> operands;
  llvm::SmallVector<llvm::SmallVector<Dim, 4>, 2> results;
  /// True if one axis may cut both factors: one of them travels, and no tensor
  /// has both.
  bool mayShareAxis(int64_t factor, int64_t other) const;
  const Extents *extents = nullptr;
  llvm::ArrayRef<Boundaries> openBoundaries; ///< of the problem
  bool isPassThrough = false; ///< nothing is reduced, repeated or shifted
  bool isBroadcast = false;   ///< a result has a factor that no operand has
};

RuleView viewOf(const Problem &problem, const OpNode &op);

/// Balanced shards of a dim of `size` elements, whatever a placeholder stands
/// for.
Boundaries balancedOver(const Extents *extents, int64_t size,
                        const ShardCount &shards);

/// Boundaries for a factor from those of a dim, and back. Balanced where
/// following the dim would leave the work on few ranks. Open ones that went
/// down by a stride and come up again are those that they were before: rows
/// lost to the rounding are read past the border like others.
Boundaries factorFromDim(const RuleView &view, const IndexMap &map,
                         MapKind kind, int64_t factor, const Boundaries &dim);
Boundaries dimFromFactor(const RuleView &view, const IndexMap &map,
                         MapKind kind, int64_t factor, const Boundaries &bounds,
                         int64_t dimSize);

/// Spreads shardings over all tensors until nothing changes: user priorities,
/// then op priorities, then basic and aggressive rounds. Returns the number of
/// visits of ops.
int64_t propagate(Problem &problem);

/// Gives results of broadcasts the layout in which they are needed, where their
/// operands are moved to it in less time than they are.
void settleBroadcasts(Problem &problem);

/// How an op's factor is cut.
struct FactorState {
  llvm::SmallVector<int64_t, 2> axes;
  Boundaries bounds;
};

/// Decides how `op` runs: an axis at most once, the least time, summed over
/// ranks, where tensors disagree.
llvm::SmallVector<FactorState, 8> decideFactors(const Problem &problem,
                                                const OpNode &op);

/// Bytes that arrive at all ranks together where `op`, cut as `factors` says,
/// asks for rows along `factor`, which is cut.
double bytesAsked(const Problem &problem, const OpNode &op,
                  llvm::ArrayRef<FactorState> factors, int64_t factor);

/// What `factors` asks of a tensor of `op`. Dims of operands that are read
/// through windows keep the boundaries of `current` where the axes agree.
TensorState impliedOperand(const Problem &problem, const RuleView &view,
                           llvm::ArrayRef<FactorState> factors, int64_t operand,
                           const TensorState &current);
TensorState impliedResult(const Problem &problem, const RuleView &view,
                          llvm::ArrayRef<FactorState> factors, int64_t result,
                          const TensorState &current);

/// True if both cut every dim along the same axes at the same places.
bool sameLayout(const TensorState &a, const TensorState &b);
/// Bytes that arrive at ranks, summed, when a tensor goes from one layout to
/// another; an estimate on meshes of more than 64 ranks where different axes
/// cut the same dim.
double bytesMoved(const Problem &problem, const TensorState &from,
                  const TensorState &to);
/// By how many elements boundaries of an open dim may lie beside others, or
/// beside even ones, as something was rounded. In another binding these are
/// others, so no decision follows from how many they are. [guess]
constexpr int64_t mostRounded = 8;
/// The axes of those dims that the layouts cut in different ways.
llvm::SmallVector<int64_t, 4> axesCrossed(const TensorState &from,
                                          const TensorState &to);
/// Seconds that the bytes take, summed over ranks, along these axes.
double secondsMoved(const Problem &problem, const TensorState &from,
                    const TensorState &to);

/// How one value gets into several layouts: layout i comes from layout from[i],
/// or from the source where that is -1.
struct ReshardPlan {
  /// Those that were asked for first, in order; then one that nobody asked for
  /// but on the way to them, or none.
  std::vector<TensorState> layouts;
  llvm::SmallVector<int64_t> from;
};

/// The tree of steps that moves the fewest bytes, those along slower links
/// counted as more; of such the one with the fewest steps. Requires targets
/// that differ from one another and from `source`.
ReshardPlan planReshards(const Problem &problem, const TensorState &source,
                         llvm::ArrayRef<TensorState> targets);

} // namespace shardc::propagation

#endif // SHARDC_PROPAGATION_PROBLEM_H
