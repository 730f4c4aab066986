//===- Nest.h - A loop nest over strided memory -----------------*- C++ -*-===//
//
// The one description that every generated CPU kernel starts from: dims with
// sizes, accesses that are linear in the dims, a body for each iteration, and
// an epilogue for each finished output element. A Schedule says how the nest is
// cut into register tiles; emitNest writes it down.
//
//===----------------------------------------------------------------------===//
#ifndef SHARDC_LIB_KERNELGEN_CPU_NESTS_NEST_H
#define SHARDC_LIB_KERNELGEN_CPU_NESTS_NEST_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/Builders.h"
#include "shardc/Analysis/ShardSizes.h"
#include "shardc/Support/ElementBytes.h"
#include "shardc/Support/Tile.h"
#include <optional>

namespace shardc::cpu {

/// A size or stride: known now, or a value of index type. Neither: nothing is
/// known.
struct Quantity {
  std::optional<int64_t> fixed;
  mlir::Value value;

  static Quantity of(int64_t number) { return {number, {}}; }
  static Quantity of(mlir::Value value);
  static Quantity of(mlir::OpFoldResult size);
  bool is(int64_t number) const { return fixed && *fixed == number; }
  int64_t orElse(int64_t guess) const { return fixed ? *fixed : guess; }
  /// What it is at most where costs are estimated, or is taken to be: large.
  int64_t guess() const;
  /// The same; nullopt where it is not known.
  std::optional<int64_t> estimate() const;
  /// A number that it is a multiple of on every rank.
  int64_t multiple() const;
  /// What it is on each rank; empty where a table does not say it.
  llvm::SmallVector<int64_t> entries() const;
};

/// Arithmetic that folds what is known.
class Arith {
public:
  Arith(mlir::OpBuilder &builder, mlir::Location loc) : b(builder), loc(loc) {}
  mlir::Value index(int64_t number);
  mlir::Value get(const Quantity &quantity);
  Quantity add(const Quantity &x, const Quantity &y);
  Quantity sub(const Quantity &x, const Quantity &y);
  Quantity mul(const Quantity &x, const Quantity &y);
  /// `x`, which is a size, and no more than `most`.
  Quantity upTo(const Quantity &x, int64_t most);
  /// The last multiple of `factor` that is not above `x`, which is a size.
  Quantity roundDown(const Quantity &x, int64_t factor);
  /// The next multiple of `factor`.
  Quantity roundUp(const Quantity &x, int64_t factor);

  mlir::OpBuilder &b;
  mlir::Location loc;
};

/// Memory of elements that are at offset + sum(coef[d] * index of dim d).
/// Offsets and coefs are in elements.
struct Access {
  mlir::Value pointer; // !llvm.ptr, to the element at index 0 of all dims
  mlir::Type element;
  llvm::SmallVector<Quantity> coef;
  /// 0 or 1: the real or imaginary part of complex elements; the access of the
  /// other part is next to this one. -1: elements as they are.
  int64_t part = -1;

  /// True if neighbours along `dim` are neighbours in memory.
  bool isContiguous(int dim) const { return coef[dim].is(part < 0 ? 1 : 2); }
  bool usesDim(int dim) const { return dim >= 0 && !coef[dim].is(0); }
  /// True if the `rows` elements along `row` are neighbours, and what `vec`
  /// steps to lies right behind them.
  bool isInterleaved(int vec, int row, int64_t rows) const {
    return part < 0 && row >= 0 && isContiguous(row) && coef[vec].is(rows);
  }
};

/// Whether `lanes` elements of `access` along `vec` are so close to one another
/// that the vectors that hold them, and a shuffle of each, take less than an
/// instruction for each lane.
inline bool isShortStep(const Access &access, int vec, int64_t lanes) {
  unsigned bits = 8 * elementBytes(access.element);
  const Quantity &step = access.coef[vec];
  return access.part < 0 && (bits == 32 || bits == 64) && lanes >= 4 &&
         step.fixed && *step.fixed >= 2 && 4 * *step.fixed <= 3 * lanes;
}

/// Whether such elements are stored so: where stores have masks in a register
/// of their own.
inline bool storesApart(const Access &access, int vec, int64_t lanes) {
  return isShortStep(access, vec, lanes) &&
         8 * elementBytes(access.element) * lanes == 512;
}

struct Dim {
  Quantity size;
  bool reduces = false;
};

/// Outputs of `main` are the nest's; with an epilogue they stay in registers
/// and the epilogue's outputs are stored.
struct Nest {
  mlir::linalg::GenericOp main;
  mlir::linalg::GenericOp epilogue;    // may be null
  int64_t epilogueOperand = -1;        // its input that is main's output 0
  llvm::SmallVector<int> epilogueDims; // its dim i is our dim epilogueDims[i]
  llvm::SmallVector<Dim> dims;
  llvm::SmallVector<Access> inputs, outputs, epilogueInputs, epilogueOutputs;
  /// Scalar that output i starts from; null: what memory holds.
  llvm::SmallVector<mlir::Value> initial;
  /// By store: whether its memory is too large to be in a cache when it is
  /// wanted, and nothing in the nest reads it. Empty: no.
  llvm::SmallVector<bool> far;

  bool reduces() const {
    return llvm::any_of(dims, [](const Dim &dim) { return dim.reduces; });
  }
  llvm::ArrayRef<Access> stores() const {
    return epilogue ? llvm::ArrayRef(epilogueOutputs) : llvm::ArrayRef(outputs);
  }
};

/// Rows of smaller tiles for what whole ones of `extent` rows leave of a dim of
/// which nobody knows how many that are, largest first.
inline llvm::SmallVector<int64_t, 2> restExtents(int64_t extent) {
  if (extent > 4)
    return {4, 1};
  return {1};
}

/// How a nest is cut: lanes of `vec` make a vector, `vectors` of them and
/// `rows` x `columns` of two more dims make a tile held in registers.
struct Schedule {
  int64_t lanes = 1;
  int vec = -1;
  bool vecReduces = false;
  int64_t vectors = 1;
  /// Every vector has a mask, so that one loop is written instead of one of
  /// whole vectors and what is left.
  bool masksAll = false;
  int row = -1, column = -1;
  int64_t rows = 1, columns = 1;
  /// As many rows as lanes: what is along the rows is moved in whole vectors,
  /// and transposed in registers.
  bool transposes = false;
  /// All of the short dim `row`: memory has the rows' elements of the first
  /// lane, then those of the second one (see Access::isInterleaved). They are
  /// moved in whole vectors, and interleaved in registers.
  bool interleaves = false;
  /// The last reduction dim, short, moves one input by a row or less: its
  /// iterations are written out, and each element of that input is loaded once
  /// for all rows that it is added to.
  bool slides = false;
  llvm::SmallVector<int> outer;      // parallel dims outside the tile
  llvm::SmallVector<int> reductions; // outermost first; vec last if it reduces
  int packed = -1;                   // input copied into a panel, or none
  /// The panel holds what the body makes of a narrower number before it
  /// multiplies it.
  bool widens = false;
  /// The last reduction dim goes in pairs of bf16, or of integers of 16 bits: a
  /// row's are side by side, and in the panel those of each lane do.
  bool pairs = false;
  /// Reduction dims looped over outside everything else, with sums kept in
  /// memory; the last of them in steps of `block`, which `reductions` walks.
  llvm::SmallVector<int> hoisted;
  int64_t block = 1;
  /// Long sums are sums of partial sums, each of `partialSteps` iterations of
  /// this reduction dim and of all iterations of those inside it: a rounding is
  /// as large as what is added up, and there are fewer large ones. -1: terms
  /// are added to the total one after the other.
  int partial = -1;
  int64_t partialSteps = 1;
  /// So many iterations of the last reduction dim, a power of two, are combined
  /// with one another before what they are goes into the accumulators.
  int64_t together = 1;
};

/// A buffer that is read as a part of complex elements; see splitComplex.
struct PartOfComplex {
  mlir::Value memref; ///< of complex elements
  int64_t part;       ///< 0: real, 1: imaginary; -1: both, as one integer
};
std::optional<PartOfComplex> partOfComplex(mlir::Value memref);
/// The buffer of complex elements that `value` is a part of; others unchanged.
mlir::Value wholeOf(mlir::Value value);

/// How many iterations of `dim` `op` has, read off an operand that is indexed
/// by it alone; a number that a table says, if there is one. `ranges` are those
/// that types say.
Quantity sizeOf(Arith &arith, mlir::linalg::GenericOp op, unsigned dim,
                llvm::ArrayRef<int64_t> ranges, ShardSizes &sizes);
/// The op of the body of `op`, a product, that makes a wider number of its
/// input `input`; null if there is none, or others read that as well.
mlir::Operation *widening(mlir::linalg::GenericOp op, unsigned input);
/// `value` as numbers of `element`, as `extension` makes them wider.
mlir::Value widened(mlir::OpBuilder &builder, mlir::Operation *extension,
                    mlir::Value value, mlir::Type element);
/// How often an element of a product's factor is read at least, where it pays
/// to have it once as it is multiplied: by two tiles of a vector of 16 lanes.
/// Made wider by each tile, it is an instruction in each; made wider before, it
/// is one, and stored and loaded once more. [maths]
inline constexpr int64_t kReadOften = 32;
/// Gives products whose factors are narrow one that is not along their lanes as
/// it is multiplied: f32 of f16, and what goes in pairs side by side.
void widenFactors(mlir::func::FuncOp function, ShardSizes &sizes,
                  const struct ScheduleTarget &target);

/// Turns ops on complex buffers below `root` into ops on casts of them to
/// parts, where `describe` can take those. Casts without users go afterwards.
void splitComplex(mlir::Operation *root);
void eraseUnusedParts(mlir::Operation *root);

/// A pointer to the element of `memref` that is `offset` behind its first one.
mlir::Value pointerOf(Arith &arith, mlir::Value memref, Quantity offset,
                      mlir::Type element);

/// The access of `memref`, strided, through `map`, which is linear and whose
/// dim i is dim `dims[i]` of `count`. With `sizes`, strides that follow from
/// sizes are what these say.
Access accessOf(Arith &arith, mlir::Value memref, mlir::AffineMap map,
                llvm::ArrayRef<int> dims, size_t count,
                ShardSizes *sizes = nullptr);

/// Describes `main` (and `epilogue`, which reads main's only output
/// elementwise) on memrefs. Fails where an index is not linear, an element type
/// has no vector, or the body holds what is not elementwise. Emits strides and
/// sizes.
mlir::FailureOr<Nest> describe(mlir::OpBuilder &builder,
                               mlir::linalg::GenericOp main,
                               mlir::linalg::GenericOp epilogue,
                               llvm::ArrayRef<mlir::Value> initial,
                               ShardSizes &sizes);

/// True if `describe` can express `op`.
bool canDescribe(mlir::linalg::GenericOp op);

/// Merges dims that all accesses step through as one.
void collapseDims(mlir::OpBuilder &builder, Nest &nest, ShardSizes &sizes);

/// What schedules are chosen for: registers of `vectorBits`. If `exact`, floats
/// are added in the order of their elements, but for sums that say that they
/// have none. With `dotBf16`, sums of products of bf16 may take two at a time.
struct ScheduleTarget {
  unsigned vectorBits;
  bool exact = false;
  bool dotBf16 = false;
};

/// The schedule that the estimates choose.
Schedule chooseSchedule(const Nest &nest, const ScheduleTarget &target);

/// True if the epilogue is better done in a loop of its own: sums run along the
/// lanes, so that each of its results is a scalar, and functions of scalars
/// take as long as those of whole vectors.
bool finishesApart(const Nest &nest, const ScheduleTarget &target);

/// The tile of a product's schedule; nullopt of others, which have none.
std::optional<Tile> tileOf(const Nest &nest, const Schedule &schedule);
/// `chosen`, which the estimates chose, cut as `tile` says: with the same
/// vectors, and sums in the same order. nullopt where that cannot be.
std::optional<Schedule> withTile(const Nest &nest, const ScheduleTarget &target,
                                 const Schedule &chosen, const Tile &tile);
/// Other tiles than those of `chosen` and of `schedule`, which differs from it
/// in its tile alone, that may be worth measuring: the likeliest first, one
/// decision away from `schedule` each.
llvm::SmallVector<Tile> otherTiles(const Nest &nest,
                                   const ScheduleTarget &target,
                                   const Schedule &chosen,
                                   const Schedule &schedule);

/// The digest of all that a schedule follows from but for the machine: sizes,
/// strides, types and bodies, the target, and how many `parts` it is cut in.
std::string digestOf(const Nest &nest, const ScheduleTarget &target,
                     int64_t parts);

/// Writes the nest at the builder's position; a large one in `parts` parts that
/// may run at the same time (spmd::contract::Parts). Each element is computed
/// as in one.
void emitNest(mlir::OpBuilder &builder, Nest &nest, const Schedule &schedule,
              int64_t parts = 1);

/// Evaluates a linalg body on values that are scalars or vectors of `lanes`.
/// `index(d)` gives `linalg.index d`; loads are of the lanes of `mask`, if
/// there is one, side by side where `isSideBySide` says so, else anywhere.
/// Returns what the body yields.
llvm::SmallVector<mlir::Value>
evaluateBody(mlir::OpBuilder &builder, mlir::Block &body,
             llvm::ArrayRef<mlir::Value> arguments, int64_t lanes,
             llvm::function_ref<mlir::Value(int64_t)> index,
             mlir::Value mask = {},
             llvm::function_ref<bool(mlir::memref::LoadOp)> isSideBySide = {});

/// True if `load`, in the main op's body, reads side by side for neighbours
/// along `dim`: rows that an index chooses.
bool loadsAlong(const Nest &nest, mlir::memref::LoadOp load, int dim);
/// True if every load of the main op's body reads side by side, or all the
/// same, for neighbours along `dim`; with `gathers`, or anywhere in memory of
/// which an instruction collects elements.
bool canLoad(const Nest &nest, int dim, bool gathers);

/// `value` as a vector of `lanes`, or itself if it is one already or lanes
/// is 1.
mlir::Value splat(mlir::OpBuilder &builder, mlir::Location loc,
                  mlir::Value value, int64_t lanes);
/// Element i of vector j becomes element j of vector i; there are as many
/// vectors as elements, a power of two.
void transpose(mlir::OpBuilder &builder, mlir::Location loc,
               llvm::MutableArrayRef<mlir::Value> vectors);

/// The memory that `memref` shows a part of, or all of it, under another type.
mlir::Value rootOf(mlir::Value memref);
/// False where the views `a` and `b` surely have no element in common.
/// Arguments of functions are buffers of the caller that do not overlap, but
/// for those that are written in place.
bool mayAlias(mlir::Value a, mlir::Value b);
/// The first `shape` of an element of `memref`'s first dim, as a view of one
/// dim less.
mlir::Value elementOf(mlir::OpBuilder &b, mlir::Location loc,
                      mlir::Value memref, mlir::Value index,
                      llvm::ArrayRef<int64_t> shape);
/// The scalar that `op` writes to every element of its only output, or null.
mlir::Value filledWith(mlir::linalg::GenericOp op);
/// The fill that `op`'s output `index` starts from, if nothing but that output
/// sees it.
mlir::linalg::GenericOp findFill(mlir::linalg::GenericOp op, unsigned index);
/// The elementwise op that alone reads `op`'s result, if it can run where the
/// result is made.
mlir::linalg::GenericOp findEpilogue(mlir::linalg::GenericOp op);

} // namespace shardc::cpu

#endif // SHARDC_LIB_KERNELGEN_CPU_NESTS_NEST_H
