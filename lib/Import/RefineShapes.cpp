//===- RefineShapes.cpp - Sizes of arguments reach everything -------------===//
//
// jax.export prints symbolic shapes as `?`, sizes as values, and ops that make
// shapes of them. Once shapes of arguments are known, sizes are numbers: the
// walk knows every small integer tensor that depends on sizes and constants
// alone, puts static forms in the place of dynamic ones, and gives each result
// its shape. Arithmetic that nobody reads then falls away.
//
//===----------------------------------------------------------------------===//
#include "InferShapes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "shardc/Dialect/Spmd/IR/SpmdContracts.h"
#include "shardc/Dialect/Spmd/IR/SpmdGlobal.h"
#include "shardc/Dialect/StableHLO/IR/StableHLO.h"
#include "shardc/Import/Passes.h"
#include "shardc/Layout/Placeholders.h"
#include "shardc/Support/ElementBytes.h"
#include "shardc/Support/ForeignProgram.h"
#include "shardc/Support/Misuse.h"
#include "shardc/Support/Refusal.h"
#include "shardc/Support/UserLocation.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/InterleavedRange.h"
#include <random>
#include <set>

using namespace mlir;
using namespace shardc;
using namespace shardc::stablehlo;

namespace shardc {
#define GEN_PASS_DEF_REFINESHAPESPASS
#include "shardc/Import/Passes.h.inc"
} // namespace shardc

namespace {

/// Elements that a tensor may have for its value to be followed.
constexpr int64_t kMaxKnown = 4096;

/// A number, and the extent that it is: -1 where it is no more than a number.
struct Number {
  APInt value;
  int64_t extent = -1;
  Number(APInt value, int64_t extent = -1)
      : value(std::move(value)), extent(extent) {}
};
using Numbers = SmallVector<Number>;

/// What stands for the extents of arguments.
struct Placeholders {
  /// By argument and dim; those without an entry get the next prime.
  std::map<std::pair<int64_t, int64_t>, int64_t> fixed;
  /// Two of each: the usual one, and another one.
  std::vector<std::array<int64_t, 2>> primes;
  size_t firstPrime = 0;
  /// Take the other ones.
  bool others = false;
};

/// Placeholders are as large as can be, since small ones stand beside numbers
/// that programs have; where several stand in one tensor, smaller, down to the
/// second.
constexpr int64_t kMostPlaceholder = int64_t(1) << 18,
                  kLeastPlaceholder = int64_t(1) << 13;

/// The usual placeholders: primes, of which neither a few times nor a half, a
/// third or a quarter is beside a number with small factors alone, which are
/// what programs have.
constexpr int64_t kPrimes[] = {
    225383, 246713, 169681, 204917, 178349, 208837, 249859, 220399,
    257707, 156679, 186113, 198647, 229717, 234499, 201907, 210659,
    195413, 214541, 176777, 231347, 182617, 187987, 197033, 162229,
    261673, 154799, 152843, 150223, 159169, 236771, 192307, 166487};

bool isPrime(int64_t number) {
  for (int64_t divisor = 2; divisor * divisor <= number; ++divisor)
    if (number % divisor == 0)
      return false;
  return true;
}

/// True if `number` is beside one whose factors are 2, 3 and, from some size
/// on, 5.
bool isBesidePlain(int64_t number) {
  int64_t beside = nearby + 1, largest = number + beside;
  for (int64_t fives = 1; fives <= (number < 2 * 4096 ? 1 : largest);
       fives *= 5)
    for (int64_t threes = fives; threes <= largest; threes *= 3) {
      int64_t plain = threes;
      while (plain < number - beside)
        plain *= 2;
      if (plain <= largest)
        return true;
    }
  return false;
}

/// Where those are too large, since several stand in one tensor: primes up to
/// `most` of the same kind, which are told from a few times one another.
std::vector<std::array<int64_t, 2>> primesUpTo(int64_t most) {
  std::vector<std::array<int64_t, 2>> pairs;
  if (most >= kMostPlaceholder) {
    for (int64_t prime : kPrimes) {
      int64_t other = prime + 200;
      while (!isPrime(other))
        ++other;
      pairs.push_back({prime, other});
    }
    return pairs;
  }
  std::vector<int64_t> found;
  for (int64_t number = most;
       number >= Extents::least && found.size() < 2 * std::size(kPrimes);
       --number) {
    auto isClear = [&](int64_t times) {
      return !isBesidePlain(times * number) && !isBesidePlain(number / times) &&
             llvm::none_of(found, [&](int64_t other) {
               for (int64_t more = 1; more <= timesBeside; ++more)
                 if (std::abs(times * number - more * other) <= 2 * nearby)
                   return true;
               return false;
             });
    };
    if (isPrime(number) && isClear(1) && isClear(2) && isClear(3) && isClear(4))
      found.push_back(number);
  }
  for (size_t i = 0; i + 1 < found.size(); i += 2)
    pairs.push_back({found[i], found[i + 1]});
  return pairs;
}

class Refiner {
public:
  /// With `placeholders`, extents that no shape gives are left open.
  explicit Refiner(func::FuncOp main, Placeholders *placeholders = nullptr)
      : main(main), placeholders(placeholders) {}
  LogicalResult setArguments(StringRef shapes);
  void guardExtents();
  /// Puts slices in the place of gathers that take one slice.
  void putSlices() {
    for (auto &[gather, starts] : slices)
      sliceFor(gather, starts);
  }
  const Extents &getExtents() const { return extents; }
  /// True if placeholders were changed, and the walk is to begin again.
  bool beginsAgain() const { return again; }
  LogicalResult refineBlock(Block &block);
  LogicalResult finish();

private:
  LogicalResult refineOp(Operation *op);
  LogicalResult refineWhile(WhileOp op);
  LogicalResult refineBranches(Operation *op);
  LogicalResult checkAssertion(CustomCallOp op);
  LogicalResult refineCall(CustomCallOp op);
  void sliceFor(GatherOp op, ArrayRef<int64_t> numbers);
  LogicalResult refineReduceWindow(CustomCallOp op);
  /// Puts a static op in place of a dynamic one; true if it was one.
  FailureOr<bool> replaceDynamic(Operation *op);
  void evaluate(Operation *op);
  std::optional<Numbers> evaluateElements(Operation *op);

  LogicalResult openExtents(BlockArgument argument);
  std::optional<int64_t> extentOf(Operation *op, ArrayRef<Number> args);
  int64_t numberOf(const Number &number);
  /// The extent that a number of a shape follows from.
  int64_t idOf(int64_t size);
  void noteResult(Operation *op);
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

  const Numbers *find(Value value);
  /// Elements of a shape, or an error that names `what`.
  FailureOr<SmallVector<int64_t>> read(Operation *op, Value value,
                                       StringRef what);

  func::FuncOp main;
  Placeholders *placeholders;
  size_t nextPrime = 0;
  bool again = false;
  Extents extents;
  SmallVector<std::pair<GatherOp, SmallVector<int64_t>>> slices;
  std::set<int64_t> used; ///< extents that shapes are made of
  DenseMap<Value, Numbers> known;
};

} // namespace

static bool isStatic(Type type) {
  auto tensor = dyn_cast<ShapedType>(type);
  return !tensor || tensor.hasStaticShape();
}

//===----------------------------------------------------------------------===//
// Arguments
//===----------------------------------------------------------------------===//

static std::string nameOf(BlockArgument argument) {
  if (auto name = dyn_cast<NameLoc>(argument.getLoc()))
    return name.getName().str();
  return std::to_string(argument.getArgNumber());
}

LogicalResult Refiner::setArguments(StringRef shapes) {
  SmallVector<StringRef> entries;
  shapes.split(entries, ';', -1, /*KeepEmpty=*/false);
  Block &block = main.getBody().front();
  llvm::SmallDenseSet<Value> given;
  for (StringRef entry : entries) {
    auto [place, text] = entry.rsplit('=');
    place = place.trim();
    // Of what a program is given: shapes of arrays, which say something new
    // about dynamic arguments alone.
    bool ifDynamic = place.consume_front("?");
    BlockArgument found;
    unsigned number;
    if (!place.getAsInteger(10, number)) {
      if (number < block.getNumArguments())
        found = block.getArgument(number);
    } else {
      for (BlockArgument argument : block.getArguments())
        if (nameOf(argument) == place)
          found = argument;
    }
    if (ifDynamic && (!found || isStatic(found.getType())))
      continue;
    if (!found)
      return misuse(main.emitError("shapes option names argument '"))
             << place << "', but @main has no such argument";
    if (!ifDynamic && !given.insert(found).second)
      return misuse(main.emitError("shapes option gives argument "))
             << place << " twice";
    SmallVector<int64_t> sizes;
    SmallVector<StringRef> parts;
    if (text != "scalar")
      text.trim().split(parts, 'x');
    for (StringRef part : parts)
      if (int64_t size; part.getAsInteger(10, size) || size < 0)
        return misuse(main.emitError("shapes option has '"))
               << entry << "', expected an argument and sizes such as 0=8x6";
      else
        sizes.push_back(size);
    auto type = dyn_cast<RankedTensorType>(found.getType());
    auto wanted = type ? RankedTensorType::get(sizes, type.getElementType())
                       : RankedTensorType();
    if (!type || failed(verifyCompatibleShape(type, wanted)))
      return misuse(main.emitError("shapes option gives argument "))
             << place << " the shape " << text << ", but its type is "
             << found.getType();
    found.setType(wanted);
  }
  for (BlockArgument argument : block.getArguments())
    if (placeholders && failed(openExtents(argument)))
      return failure();
  for (BlockArgument argument : block.getArguments())
    if (!isStatic(argument.getType()))
      return emitUnsupported(main, "argument ")
             << argument.getArgNumber() << " of @main has dynamic shape "
             << argument.getType()
             << "; give its shape (--shapes=" << argument.getArgNumber()
             << "=4x8) or inputs, or leave it open (--dynamic=all)";
  return success();
}

//===----------------------------------------------------------------------===//
// Open extents
//===----------------------------------------------------------------------===//

LogicalResult Refiner::openExtents(BlockArgument argument) {
  auto type = dyn_cast<RankedTensorType>(argument.getType());
  if (!type || type.hasStaticShape())
    return success();
  SmallVector<int64_t> shape(type.getShape());
  int64_t number = argument.getArgNumber();
  for (auto [dim, size] : llvm::enumerate(shape)) {
    if (!ShapedType::isDynamic(size))
      continue;
    auto fixed = placeholders->fixed.find({number, dim});
    if (fixed != placeholders->fixed.end()) {
      size = fixed->second;
    } else {
      size_t place = placeholders->firstPrime + nextPrime++;
      if (place >= placeholders->primes.size())
        return emitUnsupported(main, "has more than ")
               << nextPrime - 1
               << " open extents; give shapes of some arguments";
      size = placeholders->primes[place][placeholders->others];
    }
    extents.addDim(number, dim, size);
  }
  argument.setType(type.clone(shape));
  return success();
}

int64_t Refiner::numberOf(const Number &number) {
  return number.extent >= 0 ? number.extent
                            : extents.addConstant(number.value.getSExtValue());
}

/// The extent that an op on numbers makes; none where it makes a number.
std::optional<int64_t> Refiner::extentOf(Operation *op, ArrayRef<Number> args) {
  if (llvm::all_of(args, [](const Number &arg) { return arg.extent < 0; }))
    return std::nullopt;
  SmallVector<int64_t> ids;
  for (const Number &arg : args)
    ids.push_back(numberOf(arg));
  auto make = [&](ExtentKind kind, std::vector<int64_t> operands) {
    return extents.add(kind, std::move(operands));
  };
  using K = ExtentKind;
  std::optional<int64_t> made =
      llvm::TypeSwitch<Operation *, std::optional<int64_t>>(op)
          .Case([&](AddOp) { return make(K::Add, {ids[0], ids[1]}); })
          .Case([&](SubtractOp) { return make(K::Subtract, {ids[0], ids[1]}); })
          .Case([&](MulOp) { return make(K::Multiply, {ids[0], ids[1]}); })
          .Case([&](DivOp) { return make(K::Divide, {ids[0], ids[1]}); })
          .Case([&](RemOp) { return make(K::Remainder, {ids[0], ids[1]}); })
          .Case([&](MaxOp) { return make(K::Max, {ids[0], ids[1]}); })
          .Case([&](MinOp) { return make(K::Min, {ids[0], ids[1]}); })
          .Case([&](AndOp) { return make(K::And, {ids[0], ids[1]}); })
          .Case([&](OrOp) { return make(K::Or, {ids[0], ids[1]}); })
          .Case([&](XorOp) { return make(K::Xor, {ids[0], ids[1]}); })
          .Case([&](NotOp) {
            bool isBit = args[0].value.getBitWidth() == 1;
            return make(K::Xor, {ids[0], extents.addConstant(isBit ? 1 : -1)});
          })
          .Case([&](NegOp) { return make(K::Negate, {ids[0]}); })
          .Case([&](AbsOp) { return make(K::Abs, {ids[0]}); })
          .Case([&](SignOp) { return make(K::Sign, {ids[0]}); })
          .Case([&](SelectOp) {
            return make(K::Select, {ids[0], ids[1], ids[2]});
          })
          .Case([&](ClampOp) -> std::optional<int64_t> {
            std::optional<int64_t> low = make(K::Max, {ids[1], ids[0]});
            return low ? make(K::Min, {*low, ids[2]}) : low;
          })
          .Case([&](CompareOp op) {
            switch (op.getComparisonDirection()) {
            case ComparisonDirection::EQ:
              return make(K::Equal, {ids[0], ids[1]});
            case ComparisonDirection::NE:
              return make(K::NotEqual, {ids[0], ids[1]});
            case ComparisonDirection::LT:
              return make(K::Less, {ids[0], ids[1]});
            case ComparisonDirection::LE:
              return make(K::LessEqual, {ids[0], ids[1]});
            case ComparisonDirection::GT:
              return make(K::Less, {ids[1], ids[0]});
            case ComparisonDirection::GE:
              return make(K::LessEqual, {ids[1], ids[0]});
            }
            llvm_unreachable("all directions are covered");
          })
          .Case([&](ConvertOp op) -> std::optional<int64_t> {
            if (getElementTypeOrSelf(op.getType()).isInteger(1))
              return make(K::NotEqual, {ids[0], extents.addConstant(0)});
            return ids[0];
          })
          .Default(std::optional<int64_t>());
  return made;
}

bool Refiner::changePlaceholders(int64_t condition) {
  const ExtentExpr &expr = extents[condition];
  auto change = [&](int64_t dim, int64_t placeholder) {
    int64_t &known =
        placeholders
            ->fixed[{extents[dim].operands[0], extents[dim].operands[1]}];
    if (known == placeholder || placeholder < Extents::least)
      return false;
    known = placeholder;
    return again = true;
  };
  if (expr.kind != ExtentKind::Equal)
    return false;
  int64_t a = expr.operands[0], b = expr.operands[1];
  // The dim that comes later is what it is asserted to be.
  if (isDim(a) && (!isDim(b) || b < a) && !extents.isConstant(b))
    return change(a, extents[b].placeholder);
  if (isDim(b) && !extents.isConstant(a))
    return change(b, extents[a].placeholder);
  // A remainder of none: a multiple of the divisor.
  std::function<bool(int64_t)> divide = [&](int64_t number) {
    const ExtentExpr &part = extents[number];
    if (part.kind == ExtentKind::Remainder &&
        extents.isConstant(part.operands[1])) {
      int64_t divisor = std::abs(extents[part.operands[1]].placeholder);
      std::function<int64_t(int64_t)> dimOf = [&](int64_t of) -> int64_t {
        if (isDim(of))
          return of;
        if (extents[of].kind == ExtentKind::Constant)
          return -1;
        for (int64_t operand : extents[of].operands)
          if (int64_t dim = dimOf(operand); dim >= 0)
            return dim;
        return -1;
      };
      int64_t dim = dimOf(part.operands[0]);
      if (dim >= 0 && divisor > 1 && divisor < 4096 &&
          extents[dim].placeholder % divisor != 0)
        return change(dim, extents[dim].placeholder * divisor);
    }
    if (isDim(number) || part.kind == ExtentKind::Constant)
      return false;
    return llvm::any_of(part.operands, divide);
  };
  return divide(condition);
}

int64_t Refiner::idOf(int64_t size) {
  std::optional<LinearExtent> found = extents.find(size);
  if (!found)
    return extents.addConstant(size);
  int64_t id = found->extent;
  auto with = [&](ExtentKind kind, int64_t number) {
    id = *extents.add(kind, {id, extents.addConstant(number)});
  };
  if (found->coefficient != 1)
    with(ExtentKind::Multiply, found->coefficient);
  if (found->constant != 0)
    with(ExtentKind::Add, found->constant);
  return id;
}

/// Notes what extents of results follow from that no shape operand says.
void Refiner::noteResult(Operation *op) {
  if (extents.empty() || op->getNumResults() == 0)
    return;
  auto shapeOf = [](Value value) {
    return cast<RankedTensorType>(value.getType()).getShape();
  };
  auto result = dyn_cast<RankedTensorType>(op->getResult(0).getType());
  if (!result || !result.hasStaticShape())
    return;
  using K = ExtentKind;
  auto make = [&](K kind, int64_t a, int64_t b) -> std::optional<int64_t> {
    return extents.add(kind, {a, b});
  };
  auto constant = [&](int64_t number) { return extents.addConstant(number); };
  auto note = [&](int64_t dim, std::optional<int64_t> id) {
    if (id && !extents.isConstant(*id) &&
        extents[*id].placeholder == result.getDimSize(dim))
      used.insert(*id);
  };
  // (size - 1) * dilation + 1 and padding, in steps: how many windows fit.
  auto windows = [&](int64_t dim, int64_t size, int64_t dilation, int64_t low,
                     int64_t high, int64_t window, int64_t windowDilation,
                     int64_t stride) {
    if (!extents.isOpen(size) && !extents.isOpen(low) &&
        !extents.isOpen(high) && !extents.isOpen(window))
      return;
    std::optional<int64_t> id = make(K::Subtract, idOf(size), constant(1));
    id = make(K::Multiply, *id, constant(dilation));
    for (int64_t padding : {low, high})
      if (id)
        id = make(K::Add, *id, idOf(padding));
    std::optional<int64_t> reach = make(K::Subtract, idOf(window), constant(1));
    if (reach)
      reach = make(K::Multiply, *reach, constant(windowDilation));
    if (id && reach)
      id = make(K::Subtract, *id, *reach);
    if (id)
      id = make(K::Divide, *id, constant(stride));
    if (id)
      note(dim, make(K::Add, *id, constant(1)));
  };
  llvm::TypeSwitch<Operation *>(op)
      .Case([&](ConcatenateOp op) {
        int64_t dim = op.getDimension();
        std::optional<int64_t> sum = constant(0);
        for (Value input : op.getInputs())
          if (sum)
            sum = make(K::Add, *sum, idOf(shapeOf(input)[dim]));
        note(dim, sum);
      })
      .Case([&](PadOp op) {
        for (auto [dim, size] : llvm::enumerate(shapeOf(op.getOperand())))
          windows(dim, size, op.getInteriorPadding()[dim] + 1,
                  op.getEdgePaddingLow()[dim], op.getEdgePaddingHigh()[dim], 1,
                  1, 1);
      })
      .Case([&](ReduceWindowOp op) {
        for (auto [dim, size] : llvm::enumerate(shapeOf(op.getInputs()[0])))
          windows(dim, size, op.getBaseDilationsOrOnes()[dim],
                  op.getPaddingOrZeros()[dim].first,
                  op.getPaddingOrZeros()[dim].second,
                  op.getWindowDimensions()[dim],
                  op.getWindowDilationsOrOnes()[dim],
                  op.getWindowStridesOrOnes()[dim]);
      })
      .Case([&](ConvolutionOp op) {
        ConvDimensionNumbersAttr dims = op.getDimensionNumbers();
        for (size_t d = 0; d < dims.getInputSpatialDimensions().size(); ++d)
          windows(dims.getOutputSpatialDimensions()[d],
                  shapeOf(op.getLhs())[dims.getInputSpatialDimensions()[d]],
                  op.getLhsDilationOrOnes()[d], op.getPaddingOrZeros()[d].first,
                  op.getPaddingOrZeros()[d].second,
                  shapeOf(op.getRhs())[dims.getKernelSpatialDimensions()[d]],
                  op.getRhsDilationOrOnes()[d], op.getWindowStridesOrOnes()[d]);
      })
      .Default([](Operation *) {});
}

/// A number that is taken for what its placeholder says has to be that: where
/// placeholders do not tell it from another one, the program asks for bindings
/// in which the two are equal.
void Refiner::guardExtents() {
  for (int64_t id : std::set<int64_t>(used)) {
    int64_t taken = idOf(extents[id].placeholder);
    if (taken == id)
      continue;
    std::optional<int64_t> same = extents.add(ExtentKind::Equal, {id, taken});
    if (same && !extents.isConstant(*same))
      extents.conditions.push_back(
          {*same,
           "extents that are {0} and {1} here were compiled as one number; "
           "compile the program for these shapes (--shapes)",
           {id, taken}});
  }
}

/// Extents of arguments that the program allows.
static bool drawExtents(const Extents &extents,
                        const Placeholders &placeholders,
                        std::mt19937_64 &random,
                        std::map<std::pair<int64_t, int64_t>, int64_t> &dims,
                        std::vector<int64_t> &values) {
  for (int draw = 0; draw < 256; ++draw) {
    std::map<int64_t, int64_t> drawn;
    for (int64_t i = 0; i < extents.size(); ++i) {
      if (extents[i].kind != ExtentKind::Dim)
        continue;
      // As the placeholders: equal ones are equal, multiples are multiples.
      int64_t placeholder = extents[i].placeholder, prime = placeholder;
      for (const auto &pair : placeholders.primes)
        for (int64_t known : pair)
          if (placeholder % known == 0)
            prime = known;
      auto [value, isNew] = drawn.try_emplace(prime, 0);
      if (isNew)
        value->second =
            1 + static_cast<int64_t>(random() % (draw % 2 ? 12 : 90));
      dims[{extents[i].operands[0], extents[i].operands[1]}] =
          value->second * (placeholder / prime);
    }
    std::string error;
    values = extents.evaluate(dims, error);
    if (!values.empty())
      return true;
  }
  return false;
}

/// All integers of a type or of attributes, in order.
static void collectNumbers(Operation *op, SmallVectorImpl<int64_t> &numbers) {
  for (Type type : op->getResultTypes())
    if (auto tensor = dyn_cast<RankedTensorType>(type))
      llvm::append_range(numbers, tensor.getShape());
  for (NamedAttribute attr : op->getAttrs()) {
    if (auto list = dyn_cast<DenseI64ArrayAttr>(attr.getValue()))
      llvm::append_range(numbers, list.asArrayRef());
    else if (auto dense = dyn_cast<DenseIntElementsAttr>(attr.getValue());
             dense && (dense.isSplat() || dense.getNumElements() <= 64) &&
             dense.getElementType().getIntOrFloatBitWidth() <= 64)
      for (const APInt &value : dense.getValues<APInt>())
        numbers.push_back(value.getSExtValue());
  }
}

/// Compares `open`, whose numbers have placeholders, with `known`, the program
/// for the extents of one binding.
static LogicalResult compare(func::FuncOp open, func::FuncOp known,
                             const Extents &extents, ArrayRef<int64_t> values) {
  SmallVector<Operation *> ops, others;
  open.walk<WalkOrder::PreOrder>([&](Operation *op) { ops.push_back(op); });
  known.walk<WalkOrder::PreOrder>([&](Operation *op) { others.push_back(op); });
  auto refuse = [&](Operation *op) {
    return emitUnsupported(op, "'")
           << op->getName() << "' at " << userLocation(op->getLoc())
           << " has an extent that follows from those of arguments in a way "
              "that is not known; give shapes of the arguments (--shapes)";
  };
  for (size_t i = 0; i < ops.size(); ++i) {
    if (i >= others.size())
      return refuse(ops[i]);
    if (isa<spmd::ExtentOp>(ops[i]) && isa<ConstantOp>(others[i]))
      continue;
    SmallVector<int64_t> numbers, expected;
    collectNumbers(ops[i], numbers);
    collectNumbers(others[i], expected);
    for (int64_t &number : numbers)
      number = extents.resolve(number, {values.data(), values.size()});
    if (ops[i]->getName() != others[i]->getName() || numbers != expected)
      return refuse(ops[i]);
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Values of sizes
//===----------------------------------------------------------------------===//

const Numbers *Refiner::find(Value value) {
  auto it = known.find(value);
  if (it != known.end())
    return &it->second;
  auto op = value.getDefiningOp<ConstantOp>();
  auto dense = op ? dyn_cast<DenseIntElementsAttr>(op.getValue()) : nullptr;
  if (!dense || dense.getNumElements() > kMaxKnown)
    return nullptr;
  Numbers numbers;
  for (const APInt &value : dense.getValues<APInt>())
    numbers.push_back(Number(value));
  return &known.insert({value, std::move(numbers)}).first->second;
}

FailureOr<SmallVector<int64_t>> Refiner::read(Operation *op, Value value,
                                              StringRef what) {
  const Numbers *numbers = find(value);
  if (!numbers)
    return emitUnsupported(op, "'")
           << op->getName() << "' at " << userLocation(op->getLoc()) << ": its "
           << what << " depends on more than shapes of arguments";
  for (const Number &number : *numbers)
    if (number.extent >= 0)
      used.insert(number.extent);
  return llvm::map_to_vector(*numbers, [&](const Number &x) {
    return x.extent >= 0 ? extents[x.extent].placeholder
                         : x.value.getSExtValue();
  });
}

static bool isUnsignedElement(Value value) {
  Type element = getElementTypeOrSelf(value.getType());
  return element.isUnsignedInteger() || element.isInteger(1);
}

/// One element of an elementwise op on integers; nullopt for ops and operands
/// that sizes are not made with (division by zero).
static std::optional<APInt> evaluateScalar(Operation *op,
                                           ArrayRef<APInt> args) {
  bool isUnsigned = isUnsignedElement(op->getOperand(0));
  const APInt &x = args[0];
  auto flag = [](bool value) { return APInt(1, value); };
  auto less = [&](const APInt &a, const APInt &b) {
    return isUnsigned ? a.ult(b) : a.slt(b);
  };
  return llvm::TypeSwitch<Operation *, std::optional<APInt>>(op)
      .Case([&](AddOp) { return x + args[1]; })
      .Case([&](SubtractOp) { return x - args[1]; })
      .Case([&](MulOp) { return x * args[1]; })
      .Case<DivOp, RemOp>([&](auto op) -> std::optional<APInt> {
        if (args[1].isZero())
          return std::nullopt;
        if constexpr (std::is_same_v<decltype(op), DivOp>)
          return isUnsigned ? x.udiv(args[1]) : x.sdiv(args[1]);
        else
          return isUnsigned ? x.urem(args[1]) : x.srem(args[1]);
      })
      .Case([&](MaxOp) { return less(x, args[1]) ? args[1] : x; })
      .Case([&](MinOp) { return less(x, args[1]) ? x : args[1]; })
      .Case([&](AndOp) { return x & args[1]; })
      .Case([&](OrOp) { return x | args[1]; })
      .Case([&](XorOp) { return x ^ args[1]; })
      .Case([&](NotOp) { return ~x; })
      .Case([&](NegOp) { return -x; })
      .Case([&](AbsOp) { return isUnsigned ? x : x.abs(); })
      .Case([&](SignOp) {
        if (x.isZero())
          return x;
        bool negative = !isUnsigned && x.isNegative();
        return APInt(x.getBitWidth(), negative ? -1 : 1, /*isSigned=*/true);
      })
      .Case([&](SelectOp) { return x.isZero() ? args[2] : args[1]; })
      .Case([&](ClampOp) {
        APInt low = less(args[1], x) ? x : args[1];
        return less(args[2], low) ? args[2] : low;
      })
      .Case([&](CompareOp op) {
        const APInt &y = args[1];
        switch (op.getComparisonDirection()) {
        case ComparisonDirection::EQ:
          return flag(x == y);
        case ComparisonDirection::NE:
          return flag(x != y);
        case ComparisonDirection::LT:
          return flag(less(x, y));
        case ComparisonDirection::LE:
          return flag(!less(y, x));
        case ComparisonDirection::GT:
          return flag(less(y, x));
        case ComparisonDirection::GE:
          return flag(!less(x, y));
        }
        llvm_unreachable("all directions are covered");
      })
      .Case([&](ConvertOp op) -> std::optional<APInt> {
        auto to = dyn_cast<IntegerType>(
            getElementTypeOrSelf(op->getResult(0).getType()));
        if (!to)
          return std::nullopt;
        if (to.getWidth() == 1)
          return flag(!x.isZero());
        return isUnsigned ? x.zextOrTrunc(to.getWidth())
                          : x.sextOrTrunc(to.getWidth());
      })
      .Default(std::optional<APInt>());
}

std::optional<Numbers> Refiner::evaluateElements(Operation *op) {
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  if (isa<ReshapeOp>(op))
    return *find(op->getOperand(0));
  if (auto concatenate = dyn_cast<ConcatenateOp>(op)) {
    // For each row of the dims before, the operands' parts one by one.
    int64_t dim = concatenate.getDimension(), rows = 1;
    for (int64_t size : type.getShape().take_front(dim))
      rows *= size;
    Numbers all;
    for (int64_t row = 0; row < rows; ++row)
      for (Value operand : op->getOperands()) {
        const Numbers &elements = *find(operand);
        size_t part = elements.size() / rows;
        all.append(elements.begin() + row * part,
                   elements.begin() + (row + 1) * part);
      }
    return all;
  }
  if (auto broadcast = dyn_cast<BroadcastInDimOp>(op)) {
    const Numbers &from = *find(op->getOperand(0));
    if (from.size() == 1)
      return Numbers(type.getNumElements(), from.front());
    return static_cast<int64_t>(from.size()) == type.getNumElements() &&
                   type.getRank() == 1
               ? std::optional(from)
               : std::nullopt;
  }
  if (auto slice = dyn_cast<SliceOp>(op)) {
    if (type.getRank() != 1)
      return std::nullopt;
    const Numbers &from = *find(op->getOperand(0));
    Numbers part;
    for (int64_t i = slice.getStartIndices()[0]; i < slice.getLimitIndices()[0];
         i += slice.getStrides()[0])
      part.push_back(from[i]);
    return part;
  }
  if (!op->hasTrait<ElementwiseTrait>() || op->getNumRegions())
    return std::nullopt;
  Numbers result;
  for (int64_t i = 0; i < type.getNumElements(); ++i) {
    Numbers args;
    SmallVector<APInt> values;
    for (Value operand : op->getOperands()) {
      const Numbers &elements = *find(operand);
      args.push_back(elements[elements.size() == 1 ? 0 : i]);
      values.push_back(args.back().value);
    }
    if (llvm::none_of(args,
                      [](const Number &arg) { return arg.extent >= 0; })) {
      std::optional<APInt> element = evaluateScalar(op, values);
      if (!element)
        return std::nullopt;
      result.push_back(Number(*element));
      continue;
    }
    // Placeholders are 64 bits wide, whatever the program computes with.
    std::optional<int64_t> extent = extentOf(op, args);
    if (!extent)
      return std::nullopt;
    result.push_back(
        Number(APInt(type.getElementTypeBitWidth(),
                     extents[*extent].placeholder, /*isSigned=*/true,
                     /*implicitTrunc=*/true),
               extents.isConstant(*extent) ? -1 : *extent));
  }
  return result;
}

void Refiner::evaluate(Operation *op) {
  if (op->getNumResults() != 1 || op->getNumOperands() == 0)
    return;
  auto type = dyn_cast<RankedTensorType>(op->getResult(0).getType());
  if (!type || !type.hasStaticShape() || type.getNumElements() > kMaxKnown ||
      !isa<IntegerType>(type.getElementType()) ||
      llvm::any_of(op->getOperands(),
                   [&](Value operand) { return !find(operand); }))
    return;
  if (std::optional<Numbers> numbers = evaluateElements(op))
    known[op->getResult(0)] = std::move(*numbers);
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

LogicalResult Refiner::checkAssertion(CustomCallOp op) {
  OperandRange operands = op.getInputs();
  const Numbers *holds = operands.empty() ? nullptr : find(operands[0]);
  if (!holds || holds->size() != 1)
    return emitUnsupported(op, "'@shape_assertion' at ")
           << userLocation(op.getLoc())
           << " depends on more than shapes of arguments";
  const Number &condition = holds->front();
  std::string message = "shapes of the arguments do not fit the program";
  if (auto given = op->getAttrOfType<StringAttr>("error_message"))
    message = given.getValue().str();
  bool isMet = condition.extent >= 0
                   ? extents[condition.extent].placeholder != 0
                   : !condition.value.isZero();
  if (isMet) {
    if (condition.extent >= 0) {
      ExtentCondition asked{condition.extent, message, {}};
      for (Value operand : operands.drop_front()) {
        const Numbers *number = find(operand);
        asked.shown.push_back(number && number->size() == 1
                                  ? numberOf(number->front())
                                  : extents.addConstant(-1));
      }
      extents.conditions.push_back(std::move(asked));
    }
    op.erase();
    return success();
  }
  if (condition.extent >= 0) {
    if (changePlaceholders(condition.extent))
      return failure();
    return emitUnsupported(op, "'@shape_assertion' at ")
           << userLocation(op.getLoc())
           << " asks more of open extents than the compiler can meet: "
           << StringRef(message).split('.').first
           << "; give shapes of the arguments (--shapes)";
  }
  std::string text = message;
  if (op->hasAttr("error_message")) {
    for (auto [i, operand] : llvm::enumerate(operands.drop_front())) {
      std::string place = "{" + std::to_string(i) + "}";
      const Numbers *number = find(operand);
      std::string value = number && number->size() == 1
                              ? llvm::toString(number->front().value, 10, true)
                              : "?";
      for (size_t at; (at = text.find(place)) != std::string::npos;)
        text.replace(at, place.size(), value);
    }
  }
  return op.emitError() << text;
}

/// A call whose last operands are the shapes of its results.
LogicalResult Refiner::refineCall(CustomCallOp op) {
  auto places =
      op->getAttrOfType<DenseIntElementsAttr>("indices_of_shape_operands");
  if (!places)
    return success();
  SmallVector<int64_t> operands =
      llvm::map_to_vector(places.getValues<APInt>(),
                          [](const APInt &x) { return x.getSExtValue(); });
  if (operands.size() != op.getNumResults() ||
      llvm::any_of(operands, [&](int64_t i) {
        return i < 0 || i >= static_cast<int64_t>(op->getNumOperands());
      }))
    return op.emitOpError("has indices_of_shape_operands ")
           << places << ", expected an operand for each of its "
           << op.getNumResults() << " results";
  for (auto [result, place] : llvm::zip(op.getResults(), operands)) {
    auto sizes = read(op, op->getOperand(place), "shape");
    auto type = dyn_cast<RankedTensorType>(result.getType());
    if (failed(sizes) || !type)
      return failure();
    auto found = RankedTensorType::get(*sizes, type.getElementType());
    if (failed(verifyCompatibleShape(type, found)))
      return op.emitOpError("has a result of type ")
             << type << ", but its operand " << place << " says " << found;
    result.setType(found);
  }
  llvm::sort(operands);
  for (int64_t place : llvm::reverse(operands))
    op->eraseOperand(place);
  for (StringRef name :
       {"indices_of_shape_operands", "operand_layouts", "result_layouts"})
    op->removeAttr(name);
  return success();
}

/// A box around a region, from a function that says the same.
static LogicalResult copyComputation(CustomCallOp op, Region &to) {
  func::FuncOp function;
  if (op.getCalledComputations().size() == 1)
    function = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(
        op, cast<FlatSymbolRefAttr>(op.getCalledComputations()[0]).getAttr());
  if (!function || !function.getBody().hasOneBlock())
    return op.emitOpError("expects one function in called_computations");
  IRMapping mapping;
  function.getBody().cloneInto(&to, mapping);
  Operation *end = to.front().getTerminator();
  OpBuilder inside(end);
  ReturnOp::create(inside, end->getLoc(), end->getOperands());
  end->erase();
  return success();
}

/// Operands: inputs, initial values, window, strides, base dilations, window
/// dilations, padding.
LogicalResult Refiner::refineReduceWindow(CustomCallOp op) {
  size_t inputs = op.getNumResults();
  if (op->getNumOperands() != 2 * inputs + 5)
    return op.emitOpError("has ") << op->getNumOperands()
                                  << " operands, expected n inputs, n initial "
                                     "values and five shapes";
  SmallVector<SmallVector<int64_t>> lists;
  for (Value operand : op->getOperands().drop_front(2 * inputs)) {
    auto list = read(op, operand, "window");
    if (failed(list))
      return failure();
    lists.push_back(std::move(*list));
  }
  ImplicitLocOpBuilder b(op.getLoc(), op);
  auto padding = RankedTensorType::get(
      {static_cast<int64_t>(lists[4].size() / 2), 2}, b.getI64Type());
  // Of zero elements until it is inferred below.
  SmallVector<Type> types(op.getResultTypes());
  auto window = ReduceWindowOp::create(
      b, types, op->getOperands().take_front(inputs),
      op->getOperands().slice(inputs, inputs), b.getDenseI64ArrayAttr(lists[0]),
      b.getDenseI64ArrayAttr(lists[1]), b.getDenseI64ArrayAttr(lists[2]),
      b.getDenseI64ArrayAttr(lists[3]),
      DenseIntElementsAttr::get(padding, ArrayRef(lists[4])));
  if (failed(copyComputation(op, window.getBody())) ||
      failed(import::inferResultShapes(window)))
    return failure();
  op.replaceAllUsesWith(window.getResults());
  op.erase();
  return success();
}

FailureOr<bool> Refiner::replaceDynamic(Operation *op) {
  ImplicitLocOpBuilder b(op->getLoc(), op);
  Value twin;
  auto typed = [&](ArrayRef<int64_t> shape) {
    return RankedTensorType::get(
        shape, getElementTypeOrSelf(op->getResult(0).getType()));
  };
  auto fits = [&](ArrayRef<int64_t> shape) -> LogicalResult {
    auto stated = cast<RankedTensorType>(op->getResult(0).getType());
    if (llvm::any_of(shape, [](int64_t size) { return size < 0; }) ||
        failed(verifyCompatibleShape(stated.getShape(), shape)))
      return op->emitOpError("has a result of type ")
             << stated << ", but its shape operand is "
             << llvm::interleaved_array(shape);
    return success();
  };
  if (auto size = dyn_cast<GetDimensionSizeOp>(op)) {
    int64_t value = cast<RankedTensorType>(size.getOperand().getType())
                        .getDimSize(size.getDimension());
    auto type = cast<RankedTensorType>(size.getType());
    if (extents.isOpen(value)) {
      // Of an argument its own, whatever has the same placeholder: that the two
      // are equal is what an assertion asks.
      auto argument = dyn_cast<BlockArgument>(size.getOperand());
      bool isInput = argument && argument.getOwner() == &main.getBody().front();
      int64_t extent = isInput
                           ? dimOf(argument.getArgNumber(), size.getDimension())
                           : idOf(value);
      twin = spmd::ExtentOp::create(b, type, value);
      known[twin] = {Number(APInt(type.getElementTypeBitWidth(), value,
                                  /*isSigned=*/true, /*implicitTrunc=*/true),
                            extent)};
    } else if (!llvm::isIntN(type.getElementTypeBitWidth() - 1, value)) {
      return op->emitOpError("has the result type ")
             << type.getElementType() << ", but dim " << size.getDimension()
             << " has " << value << " elements";
    } else {
      twin = ConstantOp::create(
          b, DenseElementsAttr::get(
                 type, b.getIntegerAttr(type.getElementType(), value)));
    }
  } else if (auto set = dyn_cast<SetDimensionSizeOp>(op)) {
    auto size = read(op, set.getSize(), "size");
    if (failed(size))
      return failure();
    auto type = cast<RankedTensorType>(set.getOperand().getType());
    if (size->front() != type.getDimSize(set.getDimension()))
      return emitUnsupported(op, "'")
             << op->getName() << "' at " << userLocation(op->getLoc())
             << " sets a dim of " << type.getDimSize(set.getDimension())
             << " elements to " << size->front()
             << "; only tensors with all their elements are known";
    op->getResult(0).replaceAllUsesWith(set.getOperand());
    op->erase();
    return true;
  } else if (auto broadcast = dyn_cast<DynamicBroadcastInDimOp>(op)) {
    auto shape = read(op, broadcast.getOutputDimensions(), "shape");
    if (failed(shape) || failed(fits(*shape)))
      return failure();
    twin = BroadcastInDimOp::create(b, typed(*shape), broadcast.getOperand(),
                                    broadcast.getBroadcastDimensions());
  } else if (auto iota = dyn_cast<DynamicIotaOp>(op)) {
    auto shape = read(op, iota.getOutputShape(), "shape");
    if (failed(shape) || failed(fits(*shape)))
      return failure();
    twin = IotaOp::create(b, typed(*shape), iota.getIotaDimension());
  } else if (auto reshape = dyn_cast<DynamicReshapeOp>(op)) {
    auto shape = read(op, reshape.getOutputShape(), "shape");
    if (failed(shape) || failed(fits(*shape)))
      return failure();
    twin = ReshapeOp::create(b, typed(*shape), reshape.getOperand());
  } else if (auto slice = dyn_cast<RealDynamicSliceOp>(op)) {
    auto start = read(op, slice.getStartIndices(), "start"),
         limit = read(op, slice.getLimitIndices(), "limit"),
         strides = read(op, slice.getStrides(), "stride");
    if (failed(start) || failed(limit) || failed(strides))
      return failure();
    SmallVector<int64_t> shape;
    for (auto [from, to, step] : llvm::zip(*start, *limit, *strides)) {
      if (from < 0 || to < from || step < 1)
        return op->emitOpError("slices from ")
               << from << " to " << to << " by " << step;
      shape.push_back((to - from + step - 1) / step);
    }
    if (failed(fits(shape)))
      return failure();
    twin = SliceOp::create(b, typed(shape), slice.getOperand(), *start, *limit,
                           *strides);
  } else if (auto pad = dyn_cast<DynamicPadOp>(op)) {
    auto low = read(op, pad.getEdgePaddingLow(), "padding"),
         high = read(op, pad.getEdgePaddingHigh(), "padding"),
         interior = read(op, pad.getInteriorPadding(), "padding");
    if (failed(low) || failed(high) || failed(interior))
      return failure();
    SmallVector<int64_t> shape;
    for (auto [i, size] : llvm::enumerate(
             cast<RankedTensorType>(pad.getOperand().getType()).getShape()))
      shape.push_back((*low)[i] + (*high)[i] + size +
                      std::max<int64_t>(size - 1, 0) * (*interior)[i]);
    if (failed(fits(shape)))
      return failure();
    twin = PadOp::create(b, typed(shape), pad.getOperand(),
                         pad.getPaddingValue(), *low, *high, *interior);
  } else if (auto gather = dyn_cast<DynamicGatherOp>(op)) {
    auto sizes = read(op, gather.getSliceSizes(), "slice sizes");
    if (failed(sizes))
      return failure();
    for (auto [slice, size] : llvm::zip(
             *sizes,
             cast<RankedTensorType>(gather.getOperand().getType()).getShape()))
      if (slice < 0 || slice > size)
        return op->emitOpError("takes slices of ")
               << slice << " of a dim of " << size << " elements";
    auto made = GatherOp::create(
        b, gather.getOperand(), gather.getStartIndices(),
        gather.getDimensionNumbers(), *sizes, gather.getIndicesAreSorted());
    twin = made;
    if (find(made.getStartIndices()))
      slices.push_back({made, *read(op, made.getStartIndices(), "start")});
  } else if (auto conv = dyn_cast<DynamicConvOp>(op)) {
    auto padding = read(op, conv.getPadding(), "padding");
    if (failed(padding))
      return failure();
    auto type = RankedTensorType::get(
        {static_cast<int64_t>(padding->size() / 2), 2}, b.getI64Type());
    auto convolution = ConvolutionOp::create(
        b, conv.getType(), conv.getLhs(), conv.getRhs(),
        conv.getWindowStridesAttr(),
        DenseIntElementsAttr::get(type, ArrayRef(*padding)),
        conv.getLhsDilationAttr(), conv.getRhsDilationAttr(),
        conv.getWindowReversalAttr(), conv.getDimensionNumbersAttr(),
        conv.getFeatureGroupCountAttr(), conv.getBatchGroupCountAttr(),
        conv.getPrecisionConfigAttr());
    if (failed(import::inferResultShapes(convolution)))
      return failure();
    twin = convolution;
  } else {
    return false;
  }
  // Shardings and other remarks stay.
  for (NamedAttribute attr : op->getDiscardableAttrs())
    twin.getDefiningOp()->setAttr(attr.getName(), attr.getValue());
  op->getResult(0).replaceAllUsesWith(twin);
  op->erase();
  return true;
}

/// A slice of symbolic bounds is printed as a gather of one slice, from where
/// the shapes say: puts a slice in its place. Only where it never reaches out
/// of the operand, and so is never moved back into it.
void Refiner::sliceFor(GatherOp op, ArrayRef<int64_t> numbers) {
  GatherDimensionNumbersAttr dims = op.getDimensionNumbers();
  auto indices = cast<RankedTensorType>(op.getStartIndices().getType());
  auto operand = cast<RankedTensorType>(op.getOperand().getType());
  if (indices.getRank() != 1 || dims.getIndexVectorDim() != 0 ||
      !operand.hasStaticShape() || !dims.getOperandBatchingDims().empty())
    return;
  SmallVector<int64_t> starts(operand.getRank(), 0), limits,
      strides(starts.size(), 1);
  for (auto [number, dim] : llvm::zip_equal(numbers, dims.getStartIndexMap()))
    starts[dim] = number;
  SmallVector<int64_t> shape;
  for (auto [dim, start] : llvm::enumerate(starts)) {
    int64_t slice = op.getSliceSizes()[dim], size = operand.getDimSize(dim);
    std::optional<LinearExtent> end = extents.find(start + slice),
                                last = extents.find(size);
    bool isInside =
        start + slice == size ||
        (!extents.isOpen(start) && start >= 0 && start + slice <= size &&
         end.has_value() == last.has_value() &&
         (!end || (end->extent == last->extent &&
                   end->coefficient == last->coefficient)));
    if (!isInside)
      return;
    limits.push_back(start + slice);
    if (!llvm::is_contained(dims.getCollapsedSliceDims(),
                            static_cast<int64_t>(dim)))
      shape.push_back(slice);
  }
  ImplicitLocOpBuilder b(op.getLoc(), op);
  SmallVector<int64_t> sliced;
  for (auto [start, limit] : llvm::zip_equal(starts, limits))
    sliced.push_back(limit - start);
  Value made = SliceOp::create(b, operand.clone(sliced), op.getOperand(),
                               starts, limits, strides);
  if (shape != sliced)
    made = ReshapeOp::create(b, operand.clone(shape), made);
  for (NamedAttribute attr : op->getDiscardableAttrs())
    made.getDefiningOp()->setAttr(attr.getName(), attr.getValue());
  op.replaceAllUsesWith(made);
  op.erase();
}

/// Carried values keep the shapes that they come with.
LogicalResult Refiner::refineWhile(WhileOp op) {
  for (Region *region : {&op.getCond(), &op.getBody()})
    for (auto [argument, operand] :
         llvm::zip(region->getArguments(), op.getOperands()))
      argument.setType(operand.getType());
  if (failed(refineBlock(op.getCond().front())) ||
      failed(refineBlock(op.getBody().front())))
    return failure();
  Operation *end = op.getBody().front().getTerminator();
  for (auto [i, result, operand, next] :
       llvm::enumerate(op.getResults(), op.getOperands(), end->getOperands())) {
    if (next.getType() != operand.getType())
      return op.emitOpError("carries value ")
             << i << " of type " << operand.getType()
             << ", but its body makes it " << next.getType();
    result.setType(operand.getType());
  }
  return success();
}

LogicalResult Refiner::refineBranches(Operation *op) {
  for (Region &region : op->getRegions()) {
    if (failed(refineBlock(region.front())))
      return failure();
    Operation *end = region.front().getTerminator();
    for (auto [result, value] :
         llvm::zip(op->getResults(), end->getOperands())) {
      if (isStatic(result.getType()) && result.getType() != value.getType())
        return op->emitOpError("has branches of types ")
               << result.getType() << " and " << value.getType();
      result.setType(value.getType());
    }
  }
  return success();
}

LogicalResult Refiner::refineOp(Operation *op) {
  if (auto call = dyn_cast<CustomCallOp>(op)) {
    if (call.getCallTargetName() == "shape_assertion")
      return checkAssertion(call);
    if (call.getCallTargetName() == "stablehlo.dynamic_reduce_window")
      return refineReduceWindow(call);
    return refineCall(call);
  }
  if (auto loop = dyn_cast<WhileOp>(op))
    return refineWhile(loop);
  if (isa<CaseOp, IfOp>(op))
    return refineBranches(op);
  if (op->hasTrait<OpTrait::IsTerminator>())
    return success();
  FailureOr<bool> replaced = replaceDynamic(op);
  if (failed(replaced) || *replaced)
    return LogicalResult(replaced);
  if (failed(import::inferResultShapes(op)))
    return failure();
  noteResult(op);
  evaluate(op);
  return success();
}

LogicalResult Refiner::refineBlock(Block &block) {
  for (Operation &op : llvm::make_early_inc_range(block))
    if (failed(refineOp(&op)))
      return failure();
  return success();
}

LogicalResult Refiner::finish() {
  Block &block = main.getBody().front();
  main.setFunctionType(
      FunctionType::get(main.getContext(), block.getArgumentTypes(),
                        block.getTerminator()->getOperandTypes()));
  return success();
}

/// The larger numbers that a program says itself: sizes of static dims, and
/// what attributes have.
static std::set<int64_t> numbersOf(func::FuncOp main) {
  std::set<int64_t> numbers;
  auto add = [&](int64_t number) {
    if (number != INT64_MIN && std::abs(number) >= Extents::least / 2)
      numbers.insert(number);
  };
  auto addType = [&](Type type) {
    if (auto tensor = dyn_cast<RankedTensorType>(type))
      for (int64_t size : tensor.getShape())
        if (!ShapedType::isDynamic(size))
          add(size);
  };
  auto addAttribute = [&](Attribute attr) {
    if (auto list = dyn_cast<DenseI64ArrayAttr>(attr))
      llvm::for_each(list.asArrayRef(), add);
    else if (auto number = dyn_cast<IntegerAttr>(attr);
             number && number.getValue().getSignificantBits() <= 64)
      add(number.getValue().getSExtValue());
    else if (auto dense = dyn_cast<DenseIntElementsAttr>(attr);
             dense && dense.getNumElements() <= 64)
      for (const APInt &value : dense.getValues<APInt>())
        if (value.getSignificantBits() <= 64)
          add(value.getSExtValue());
  };
  llvm::for_each(main.getArgumentTypes(), addType);
  main.walk([&](Operation *op) {
    llvm::for_each(op->getResultTypes(), addType);
    for (NamedAttribute attr : op->getAttrs())
      attr.getValue().walk([&](Attribute inner) { addAttribute(inner); });
  });
  return numbers;
}

/// Types that programs state are within limits; sizes that follow from shapes
/// of arguments need not be.
static LogicalResult checkSizes(func::FuncOp main) {
  auto check = [](Operation *op, Type type) -> LogicalResult {
    auto tensor = dyn_cast<RankedTensorType>(type);
    if (!tensor || !tensor.hasStaticShape() || hasCountableBytes(tensor))
      return success();
    return op->emitOpError("has the type ")
           << tensor << ", whose number of bytes overflows 63 bits";
  };
  for (Type type : main.getArgumentTypes())
    if (failed(check(main, type)))
      return failure();
  return failure(main.walk([&](Operation *op) {
                       for (Type type : op->getResultTypes())
                         if (failed(check(op, type)))
                           return WalkResult::interrupt();
                       return WalkResult::advance();
                     })
                     .wasInterrupted());
}

/// An op with a tensor so large that margins and copies of it could have more
/// bytes than 63 bits count; null where there is none.
static Operation *findUncountable(func::FuncOp main) {
  auto isCountable = [](Type type) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    if (!tensor || !tensor.hasStaticShape())
      return true;
    double bytes = elementBytes(tensor.getElementType());
    for (int64_t size : tensor.getShape())
      bytes *= double(size);
    return bytes < std::ldexp(1.0, 60);
  };
  Operation *found = nullptr;
  if (!llvm::all_of(main.getArgumentTypes(), isCountable))
    return main;
  main.walk([&](Operation *op) {
    if (llvm::all_of(op->getResultTypes(), isCountable))
      return WalkResult::advance();
    found = op;
    return WalkResult::interrupt();
  });
  return found;
}

/// True if a dynamic shape or op stands anywhere.
static bool isDynamic(func::FuncOp main) {
  bool dynamic = !llvm::all_of(main.getArgumentTypes(), isStatic);
  main.walk([&](Operation *op) {
    dynamic |= isa<DynamicBroadcastInDimOp, DynamicIotaOp, DynamicReshapeOp,
                   RealDynamicSliceOp, DynamicPadOp, DynamicGatherOp,
                   DynamicConvOp, GetDimensionSizeOp, SetDimensionSizeOp>(op) ||
               !llvm::all_of(op->getResultTypes(), isStatic);
    if (auto call = dyn_cast<CustomCallOp>(op))
      dynamic |=
          call.getCallTargetName() == "shape_assertion" ||
          call.getCallTargetName() == "stablehlo.dynamic_reduce_window" ||
          call->hasAttr("indices_of_shape_operands");
  });
  return dynamic;
}

namespace {
struct RefineShapesPass final
    : shardc::impl::RefineShapesPassBase<RefineShapesPass> {
  using Base::Base;

  FailureOr<func::FuncOp> refine(func::FuncOp main, Refiner *refiner,
                                 StringRef more = "") {
    Refiner own(main);
    Refiner &used = refiner ? *refiner : own;
    if (failed(used.setArguments(shapes + more.str())) ||
        failed(used.refineBlock(main.getBody().front())) ||
        failed(used.finish()))
      return failure();
    used.guardExtents();
    return main;
  }

  /// For some extents that the program allows, its numbers have to be those of
  /// the program that is refined for these alone.
  LogicalResult check(func::FuncOp main, func::FuncOp open,
                      const Extents &extents,
                      const Placeholders &placeholders) {
    if (extents.empty())
      return success();
    std::mt19937_64 random(1);
    int64_t compared = 0;
    for (int sample = 0; sample < 12 && compared < 4; ++sample) {
      std::map<std::pair<int64_t, int64_t>, int64_t> dims;
      std::vector<int64_t> values;
      if (!drawExtents(extents, placeholders, random, dims, values)) {
        return emitUnsupported(main, "asks more of the extents of its "
                                     "arguments than could be met; give "
                                     "shapes of the arguments (--shapes)");
      }
      std::string known;
      for (BlockArgument argument : main.getArguments()) {
        auto type = dyn_cast<RankedTensorType>(argument.getType());
        if (!type || type.hasStaticShape())
          continue;
        known += ";?" + std::to_string(argument.getArgNumber()) + "=";
        for (auto [dim, size] : llvm::enumerate(type.getShape())) {
          auto found = dims.find({argument.getArgNumber(), dim});
          known += (dim ? "x" : "") +
                   std::to_string(found == dims.end() ? size : found->second);
        }
      }
      OpBuilder builder(main);
      auto copy = cast<func::FuncOp>(builder.clone(*main));
      FailureOr<func::FuncOp> refined = failure();
      {
        // Of some that it asserts nothing about nothing is left of a slice.
        ScopedDiagnosticHandler quiet(&getContext(),
                                      [](Diagnostic &) { return success(); });
        refined = refine(copy, nullptr, known);
      }
      LogicalResult same =
          succeeded(refined) ? compare(open, copy, extents, values) : success();
      compared += succeeded(refined);
      copy.erase();
      if (failed(same))
        return failure();
    }
    if (compared == 0)
      return emitUnsupported(main, "fits none of the shapes that were tried; "
                                   "give shapes of the arguments (--shapes)");
    return success();
  }

  /// Walks copies until placeholders meet all that the program asserts, and
  /// stand for nothing that it says itself.
  FailureOr<func::FuncOp> refineOpen(func::FuncOp main) {
    std::set<int64_t> numbers = numbersOf(main);
    Placeholders placeholders;
    placeholders.others = others;
    int64_t most = kMostPlaceholder;
    placeholders.primes = primesUpTo(most);
    for (int walk = 0; walk < 256; ++walk) {
      OpBuilder builder(main);
      auto copy = cast<func::FuncOp>(builder.clone(*main));
      Refiner refiner(copy, &placeholders);
      FailureOr<func::FuncOp> refined = refine(copy, &refiner);
      if (failed(refined)) {
        copy.erase();
        if (!refiner.beginsAgain())
          return failure();
        continue;
      }
      const Extents &extents = refiner.getExtents();
      if (llvm::any_of(numbers, [&](int64_t number) {
            return extents.isOpen(number);
          })) {
        copy.erase();
        placeholders.fixed.clear();
        ++placeholders.firstPrime;
        continue;
      }
      // Tensors with several open extents have bytes that can be counted.
      if (Operation *op = findUncountable(copy)) {
        if (most == kLeastPlaceholder)
          return emitUnsupported(main)
                 << "'" << op->getName() << "' at "
                 << userLocation(op->getLoc())
                 << " has a tensor with more open extents than can be told "
                    "apart; give shapes of some arguments (--shapes)";
        copy.erase();
        most /= 2;
        placeholders = {{}, primesUpTo(most), 0, others};
        continue;
      }
      // Of other placeholders all numbers are compared with those of the usual
      // ones, which were.
      if (!others && failed(check(main, copy, extents, placeholders)))
        return failure();
      refiner.putSlices();
      main.erase();
      if (!extents.empty())
        spmd::contract::Extents::set(
            getOperation(), spmd::ExtentsAttr::get(&getContext(), extents));
      return copy;
    }
    return emitUnsupported(main, "asks more of the extents of its arguments "
                                 "than could be met; give shapes of the "
                                 "arguments (--shapes)");
  }

  void runOnOperation() override {
    auto main = getOperation().lookupSymbol<func::FuncOp>("main");
    if (main && (!shapes.empty() || isDynamic(main))) {
      FailureOr<func::FuncOp> refined =
          open ? refineOpen(main) : refine(main, nullptr);
      // Placeholders say nothing of how large a tensor is going to be.
      if (failed(refined) || (!open && failed(checkSizes(*refined))))
        return signalPassFailure();
      main = *refined;
    }
    // Those that calls named.
    for (auto function :
         llvm::make_early_inc_range(getOperation().getOps<func::FuncOp>()))
      if (function != main)
        function.erase();
  }
};
} // namespace
