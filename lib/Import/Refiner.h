//===- Refiner.h - Sizes of arguments reach everything ----------*- C++ -*-===//
//
// One walk over @main, once shapes of its arguments are known. Its parts: sizes
// that are values (RefineValues.cpp), extents that stay open
// (RefineExtents.cpp), ops (RefineOps.cpp), and regions that communicate
// (RefineManual.cpp).
//
//===----------------------------------------------------------------------===//
#ifndef SHARDC_LIB_IMPORT_REFINER_H
#define SHARDC_LIB_IMPORT_REFINER_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "shardc/Dialect/Sdy/IR/Sdy.h"
#include "shardc/Dialect/StableHLO/IR/StableHLO.h"
#include "shardc/Import/PlaceholderSet.h"
#include "shardc/Layout/Extents.h"
#include <array>
#include <functional>
#include <map>
#include <optional>
#include <random>
#include <set>

namespace shardc::import {

/// Elements that a tensor may have for its value to be followed.
inline constexpr int64_t kMaxKnown = 4096;

/// A number, and the extent that it is: -1 where it is no more than a number.
struct Number {
  llvm::APInt value;
  int64_t extent = -1;
  Number(llvm::APInt value, int64_t extent = -1)
      : value(std::move(value)), extent(extent) {}
};
using Numbers = llvm::SmallVector<Number>;

/// Extents that are renamed: by what their values in probes differ by from the
/// first, and the most that this one may be, which place they have among all
/// others, from the largest on (RefineNames.cpp).
using Renaming = std::map<std::vector<int64_t>, std::map<int64_t, int64_t>>;

/// By values in probes of small extents, the number of a choice between two: of
/// min(n, 12) or max(n - 12, 0), which have no placeholder that says which of
/// the two they are (RefineChoices.cpp).
using Choices = std::map<std::vector<int64_t>, int64_t>;

/// A number of each PlaceholderSet.
using PlaceholderNumbers = std::array<int64_t, 3>;

/// What stands for the extents of arguments.
struct Placeholders {
  /// By argument and dim; those without an entry get the next prime.
  std::map<std::pair<int64_t, int64_t>, int64_t> fixed;
  std::vector<PlaceholderNumbers> primes;
  size_t firstPrime = 0;
  PlaceholderSet set = PlaceholderSet::Usual;
  /// Padding that is known below is the op's own; else it is put in front, as
  /// an extent that others can be told from.
  bool keepsPadding = false;
  Renaming renamed;
  Choices choices;

  size_t setIndex() const { return static_cast<size_t>(set); }
};

/// Placeholders are as large as can be, since small ones are beside numbers
/// that programs have; where several are in one tensor, smaller, down to the
/// second.
inline constexpr int64_t kMostPlaceholder = int64_t(1) << 18,
                         kLeastPlaceholder = 3 << 10;

/// Numbers up to about `most`, which stand for extents: of which neither a few
/// times nor a half, a third or a quarter is beside a number that programs
/// have, or beside a few times another one of the same set.
std::vector<PlaceholderNumbers> primesUpTo(int64_t most);

/// A dim of an op that pads, by numbers that may follow from open extents.
struct PaddedDim {
  int64_t dim = 0, size = 0;
  int64_t dilation = 1; ///< of the base
  int64_t reach = 1;    ///< elements from the first to the last of a window
  int64_t stride = 1;
  /// Windows may be taken of more than there is, where there are as many.
  bool canFill = false;
  /// Windows one apart read it, and of what these give may be cut off.
  bool cutsBehind = false;
  Number low, high;
  /// The scalar that says how much is padded below.
  std::function<mlir::Value(mlir::ImplicitLocOpBuilder &)> lowValue;
};

/// How a dim is padded whose padding has no placeholder.
struct PaddingChoice {
  /// All of it is as long as it says; else as if each element began a window.
  bool isExact = false;
  /// More is padded than there is, and cut off; or of what windows give.
  bool isCut = false, isCutBehind = false;
  /// It can be left to the op, and is.
  bool isKeepable = false, isKept = false;
  /// Bounds of what is padded below, and above.
  int64_t least = INT64_MAX, most = INT64_MIN, high = INT64_MIN;
};

/// A dim along which windows are taken.
struct WindowDim {
  int64_t dim, result; ///< of the operand, and of the result
  int64_t size, dilation, low, high, window, windowDilation, stride;
  int64_t reach() const { return (window - 1) * windowDilation + 1; }
};
llvm::SmallVector<WindowDim> windowDimsOf(mlir::Operation *op);
/// Of the gradient of windows those of its operand; its result has no other
/// size.
llvm::SmallVector<WindowDim> windowDimsOf(stablehlo::SelectAndScatterOp op);

/// Two slices of one tensor, one behind the other; of a sum with their padding.
struct JoinedSlices {
  stablehlo::RealDynamicSliceOp first, second;
  stablehlo::DynamicPadOp padFirst, padSecond;
};

/// Whether a type has no open extent.
inline bool isStatic(mlir::Type type) {
  auto tensor = mlir::dyn_cast<mlir::ShapedType>(type);
  return !tensor || tensor.hasStaticShape();
}

class Refiner {
public:
  /// With `placeholders`, extents that no shape gives are left open.
  explicit Refiner(mlir::func::FuncOp main,
                   Placeholders *placeholders = nullptr)
      : main(main), placeholders(placeholders) {}
  llvm::LogicalResult setArguments(llvm::StringRef shapes);
  void guardExtents();
  /// Puts slices in the place of gathers that take one slice.
  void putSlices() {
    for (auto &[gather, starts] : slices)
      sliceFor(gather, starts);
  }
  const Extents &getExtents() const { return extents; }
  /// How many dims of arguments are open.
  size_t countOpen() const { return nextPrime; }
  /// How many extents have a number that is taken for another one's, which is
  /// not equal in all bindings.
  int64_t getCollisions() const { return collisions; }
  /// How many would have with the placeholders that are `shift` primes further
  /// on; none where these do not fit what the program asks.
  std::optional<int64_t> collisionsAt(size_t shift) const;
  /// Whether a walk that keeps padding is another one.
  bool hasPaddingToKeep() const {
    return llvm::any_of(paddings, [](const auto &choice) {
      return choice && choice->isKeepable;
    });
  }
  /// Extents that have one number for some placeholders, and in some bindings,
  /// but not in all: ways to rename them, the usual one first.
  std::vector<Renaming> findRenamings();
  /// Choices that shapes are made of, and that have the number of one of the
  /// two, with numbers of their own; those that had one before among them.
  Choices findChoices();
  /// How dims were padded, in the order of ops; another walk does the same.
  using Paddings = std::vector<std::optional<PaddingChoice>>;
  const Paddings &getPaddings() const { return paddings; }
  void replay(const Paddings &made) { replayed = &made; }
  /// True if placeholders were changed, and the walk is to begin again.
  bool beginsAgain() const { return again; }
  llvm::LogicalResult refineBlock(mlir::Block &block);
  llvm::LogicalResult finish();

private:
  llvm::LogicalResult refineOp(mlir::Operation *op);
  llvm::LogicalResult refineWhile(stablehlo::WhileOp op);
  llvm::LogicalResult refineBranches(mlir::Operation *op);
  llvm::LogicalResult refineManual(sdy::ManualComputationOp op);
  llvm::LogicalResult refineCollective(mlir::Operation *op);
  std::optional<int64_t> partOf(int64_t size, int64_t parts,
                                const llvm::Twine &what);
  std::optional<int64_t> joinOf(int64_t size, int64_t parts);
  llvm::LogicalResult checkAssertion(stablehlo::CustomCallOp op);
  llvm::LogicalResult refineCall(stablehlo::CustomCallOp op);
  void sliceFor(stablehlo::GatherOp op, llvm::ArrayRef<int64_t> numbers);
  llvm::LogicalResult refineReduceWindow(stablehlo::CustomCallOp op);
  llvm::LogicalResult refineRandomBits(stablehlo::CustomCallOp op);
  /// Whether a slice, or its padding, waits for what may be a roll.
  bool isPartOfRoll(mlir::Operation *op) const;
  std::optional<std::pair<int64_t, int64_t>> rollOf(JoinedSlices joined);
  llvm::FailureOr<bool> refineRoll(mlir::Operation *op);
  llvm::FailureOr<mlir::Value> smallSlice(stablehlo::RealDynamicSliceOp op);
  llvm::FailureOr<mlir::Value> valueSlice(stablehlo::RealDynamicSliceOp op);
  /// Puts a static op in place of a dynamic one; true if it was one.
  llvm::FailureOr<bool> replaceDynamic(mlir::Operation *op);
  void evaluate(mlir::Operation *op);
  std::optional<Numbers> evaluateElements(mlir::Operation *op);

  bool differs(int64_t extent);
  bool alwaysHolds(int64_t condition);
  bool isPaddedToNumber(const PaddedDim &dim);
  std::optional<PaddingChoice> choosePadding(mlir::Operation *op,
                                             const PaddedDim &dim);
  llvm::SmallVector<bool> padByValue(mlir::Operation *op,
                                     llvm::SmallVectorImpl<mlir::Value> &inputs,
                                     mlir::ValueRange fills,
                                     llvm::MutableArrayRef<PaddedDim> dims);
  llvm::FailureOr<mlir::Value> refinePad(stablehlo::DynamicPadOp op);
  llvm::LogicalResult checkReshape(mlir::Operation *op);
  void cutBehind(mlir::Operation *op);
  llvm::FailureOr<mlir::Value> refineConvolution(stablehlo::DynamicConvOp op);
  llvm::LogicalResult openExtents(mlir::BlockArgument argument);
  std::optional<int64_t> extentOf(mlir::Operation *op,
                                  llvm::ArrayRef<Number> args);
  int64_t numberOf(const Number &number);
  int64_t countCollisions(const Extents &named) const;
  /// The extents, of which those that no shape is made of have no placeholder:
  /// no number follows from them.
  const Extents &usedExtents();
  /// The same if one more were in use.
  Extents usedExtentsAnd(int64_t extent) const;
  /// The extent that a number of a shape follows from.
  int64_t idOf(int64_t size);
  std::optional<int64_t> dilatedExtent(int64_t size, int64_t dilation);
  std::optional<int64_t> windowsOf(std::optional<int64_t> extent, int64_t reach,
                                   int64_t stride);
  void noteStrides(mlir::Operation *op, llvm::ArrayRef<int64_t> shape,
                   llvm::ArrayRef<int64_t> other);
  void noteResult(mlir::Operation *op);
  void notePadding(stablehlo::PadOp op);
  /// Bindings that are drawn alike whatever the placeholders; all values are 0
  /// where extents have none in one of them.
  using Probes = std::vector<std::vector<int64_t>>;
  void drawProbes(Probes &drawn,
                  llvm::function_ref<int64_t(uint64_t)> extentOf);
  /// Values of an extent in probes.
  std::vector<int64_t> probe(int64_t extent);
  std::vector<int64_t> smallProbe(int64_t extent);
  void collectChoices(int64_t extent, std::set<int64_t> &found);
  std::optional<int64_t> numberOfChoice(int64_t extent,
                                        llvm::ArrayRef<int64_t> taken);
  std::optional<int64_t> newNumberOf(int64_t extent, int64_t number);
  void rename(int64_t extent);
  void renameWindows(mlir::Operation *op);
  void renameBack(mlir::Operation *op);
  std::optional<int64_t> windowsOf(const WindowDim &dim);
  /// Another placeholder with which the extent of an assertion holds.
  bool changePlaceholders(int64_t condition);
  /// The extent that is dim `dim` of argument `argument`, which is open.
  int64_t dimOf(int64_t argument, int64_t dim) const {
    int64_t found = 0;
    for (int64_t i = 0; i < extents.size(); ++i)
      if (isDim(i) && extents[i].operands[0] == argument &&
          extents[i].operands[1] == dim)
        found = i;
    return found;
  }
  bool isDim(int64_t extent) const {
    return extents[extent].kind == ExtentKind::Dim;
  }

  const Numbers *find(mlir::Value value);
  llvm::FailureOr<Numbers> numbersOf(mlir::Operation *op, mlir::Value value,
                                     llvm::StringRef what);
  int64_t placeholderOf(const Number &number) const {
    return number.extent >= 0 ? extents[number.extent].placeholder
                              : number.value.getSExtValue();
  }
  /// Elements of a shape, or an error that names `what`.
  llvm::FailureOr<llvm::SmallVector<int64_t>>
  read(mlir::Operation *op, mlir::Value value, llvm::StringRef what);

  mlir::func::FuncOp main;
  Placeholders *placeholders;
  size_t nextPrime = 0;
  bool again = false;
  int64_t collisions = 0;
  Extents extents;
  Extents walked; ///< all that the walk noted
  /// Of all extents, for each probe.
  Probes probes, smallProbes;
  /// By place among those that are renamed: how much the number is more than
  /// the value in the first probe.
  std::map<int64_t, int64_t> names;
  /// Their values in the bindings that are looked at.
  std::vector<std::vector<int64_t>> bindings;
  llvm::SmallVector<std::pair<stablehlo::GatherOp, llvm::SmallVector<int64_t>>>
      slices;
  Paddings paddings;
  const Paddings *replayed = nullptr;
  size_t nextChoice = 0;
  /// What is left of windows over padding of which there is too much, by dim.
  llvm::DenseMap<mlir::Operation *, llvm::SmallVector<int64_t>> leftBehind;
  /// What an operand that is renamed has less, by dim.
  llvm::DenseMap<mlir::Operation *, llvm::SmallVector<int64_t>> renamedBack;
  /// Notes that `what` of an op is made of an extent, along `dim` if not -1.
  void use(int64_t extent, mlir::Operation *op, llvm::StringRef what,
           int64_t dim) {
    if (used.insert(extent).second)
      uses.try_emplace(extent,
                       Use{op->getName(), op->getLoc(), what.str(), dim});
  }
  struct Use {
    mlir::OperationName op;
    mlir::Location loc;
    std::string what;
    int64_t dim;
  };
  std::set<int64_t> used;      ///< extents that shapes are made of
  std::map<int64_t, Use> uses; ///< and what was made of them first
  Extents named;               ///< what usedExtents() returned last
  size_t namedUsed = 0;
  llvm::DenseMap<mlir::Value, Numbers> known;
};

/// Element `i` of a tensor of a known number of integers, as a scalar.
mlir::Value elementAt(mlir::ImplicitLocOpBuilder &b, mlir::Value list,
                      int64_t i);

/// True for an order of two extents.
inline bool isOrder(ExtentKind kind) {
  return kind == ExtentKind::Less || kind == ExtentKind::LessEqual;
}
/// True for an extent that is one of two others.
inline bool isChoice(ExtentKind kind) {
  return kind == ExtentKind::Min || kind == ExtentKind::Max;
}
/// The extents with other placeholders.
Extents renumbered(const Extents &extents,
                   llvm::function_ref<int64_t(int64_t extent)> placeholderOf);
/// The prime of which a placeholder is a multiple; itself where there is none.
int64_t primeIn(int64_t placeholder, const Placeholders &placeholders);
/// The dims of arguments that an extent follows from.
std::vector<int64_t> dimsOf(const Extents &extents, int64_t extent);

/// Extents of arguments that the program allows, and values of all extents for
/// these. False if none were found.
bool drawExtents(const Extents &extents, const Placeholders &placeholders,
                 std::mt19937_64 &random,
                 std::map<std::pair<int64_t, int64_t>, int64_t> &dims,
                 std::vector<int64_t> &values);

/// Shows `look` the values of all extents in a few bindings, the same ones each
/// time, until it says that it has seen enough. False where one was not found.
bool drawBindings(const Extents &extents, const Placeholders &placeholders,
                  llvm::function_ref<bool(const std::vector<int64_t> &)> look);

/// Compares numbers of `open`, which has placeholders, with those of `known`,
/// the program for the extents of one binding.
llvm::LogicalResult compareNumbers(mlir::func::FuncOp open,
                                   mlir::func::FuncOp known,
                                   const Extents &extents,
                                   llvm::ArrayRef<int64_t> values);

} // namespace shardc::import

#endif // SHARDC_LIB_IMPORT_REFINER_H
