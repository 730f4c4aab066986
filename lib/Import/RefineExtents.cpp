//===- RefineExtents.cpp - Extents of arguments that stay open ------------===//
//
// A placeholder stands for each; what ops make of numbers is noted of extents
// as well, so that sizes say what they follow from.
//
//===----------------------------------------------------------------------===//
#include "InferShapes.h"
#include "Refiner.h"
#include "shardc/Dialect/Spmd/IR/SpmdGlobal.h"
#include "shardc/Support/Refusal.h"
#include "shardc/Support/UserLocation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace shardc;
using namespace shardc::import;
using namespace shardc::stablehlo;

LogicalResult Refiner::openExtents(BlockArgument argument) {
  auto type = dyn_cast<RankedTensorType>(argument.getType());
  if (!type || type.hasStaticShape())
    return success();
  SmallVector<int64_t> shape(type.getShape());
  int64_t number = argument.getArgNumber();
  for (auto [dim, size] : llvm::enumerate(shape)) {
    if (!ShapedType::isDynamic(size))
      continue;
    // Each keeps its prime, in use or not: another one's may be a multiple of
    // what this one had before it was fixed.
    size_t place = placeholders->firstPrime + nextPrime++;
    auto fixed = placeholders->fixed.find({number, dim});
    if (fixed != placeholders->fixed.end()) {
      size = fixed->second;
    } else if (place >= placeholders->primes.size()) {
      return emitUnsupported(main, "has more than ")
             << nextPrime - 1 << " open extents; give shapes of some arguments";
    } else {
      size = placeholders->primes[place][placeholders->setIndex()];
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
  if (made)
    rename(*made);
  return made;
}

std::vector<int64_t> shardc::import::dimsOf(const Extents &extents,
                                            int64_t extent) {
  std::vector<int64_t> dims;
  std::set<int64_t> seen;
  std::function<void(int64_t)> walk = [&](int64_t of) {
    if (!seen.insert(of).second || extents[of].kind == ExtentKind::Constant)
      return;
    if (extents[of].kind == ExtentKind::Dim)
      return dims.push_back(of);
    for (int64_t operand : extents[of].operands)
      walk(operand);
  };
  walk(extent);
  return dims;
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
  if (isOrder(expr.kind)) {
    // The larger of two has the larger placeholder.
    std::vector<int64_t> of = dimsOf(extents, condition);
    Extents asked = extents;
    asked.conditions.clear();
    std::map<std::pair<int64_t, int64_t>, int64_t> dims;
    auto numberOf = [&](int64_t dim) -> int64_t & {
      return dims[{extents[dim].operands[0], extents[dim].operands[1]}];
    };
    for (int64_t id = 0; id < extents.size(); ++id)
      if (isDim(id))
        numberOf(id) = extents[id].placeholder;
    for (size_t i = 0; i < of.size(); ++i)
      for (size_t j = 0; j < i; ++j) {
        std::swap(numberOf(of[i]), numberOf(of[j]));
        std::string error;
        std::vector<int64_t> values = asked.evaluate(dims, error);
        if (!values.empty() && values[condition] != 0) {
          bool isChanged = change(of[i], extents[of[j]].placeholder);
          return change(of[j], extents[of[i]].placeholder) || isChanged;
        }
        std::swap(numberOf(of[i]), numberOf(of[j]));
      }
    return false;
  }
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
      std::vector<int64_t> dims = dimsOf(extents, part.operands[0]);
      int64_t dim = dims.empty() ? -1 : dims.front();
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

Extents
shardc::import::renumbered(const Extents &extents,
                           function_ref<int64_t(int64_t)> placeholderOf) {
  // Count, then for each its kind, placeholder, and number of operands.
  std::vector<int64_t> words = extents.words();
  size_t at = 1;
  for (int64_t id = 0; id < extents.size(); ++id) {
    words[at + 1] = placeholderOf(id);
    at += 3 + extents[id].operands.size();
  }
  Extents made;
  std::span<const int64_t> rest = words;
  [[maybe_unused]] std::string error = made.read(rest);
  assert(error.empty() && "extents are read as they were written");
  return made;
}

/// The extents, of which those that are not in `used` have no placeholder.
static Extents namedAmong(const Extents &extents,
                          const std::set<int64_t> &used) {
  return renumbered(extents, [&](int64_t id) {
    bool isNamed = extents[id].kind == ExtentKind::Dim ||
                   extents.isConstant(id) || used.count(id);
    return isNamed ? extents[id].placeholder : 0;
  });
}

const Extents &Refiner::usedExtents() {
  if (named.size() == extents.size() && namedUsed == used.size())
    return named;
  named = namedAmong(extents, used);
  namedUsed = used.size();
  return named;
}

Extents Refiner::usedExtentsAnd(int64_t extent) const {
  std::set<int64_t> all = used;
  all.insert(extent);
  return namedAmong(extents, all);
}

int64_t Refiner::idOf(int64_t size) {
  std::optional<LinearExtent> found = usedExtents().find(size);
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

/// (size - 1) * dilation + 1, and nothing of nothing.
std::optional<int64_t> Refiner::dilatedExtent(int64_t size, int64_t dilation) {
  std::optional<int64_t> id = idOf(size);
  if (dilation == 1)
    return id;
  id = extents.add(ExtentKind::Subtract, {*id, extents.addConstant(1)});
  for (auto [kind, number] : {std::pair(ExtentKind::Multiply, dilation),
                              {ExtentKind::Add, 1},
                              {ExtentKind::Max, 0}})
    if (id)
      id = extents.add(kind, {*id, extents.addConstant(number)});
  return id;
}

/// How many windows, `stride` apart, are in `extent`: none in less than one.
std::optional<int64_t> Refiner::windowsOf(std::optional<int64_t> extent,
                                          int64_t reach, int64_t stride) {
  for (auto [kind, number] : {std::pair(ExtentKind::Add, stride - reach),
                              {ExtentKind::Max, 0},
                              {ExtentKind::Divide, stride}})
    if (extent)
      extent = extents.add(kind, {*extent, extents.addConstant(number)});
  return extent;
}

SmallVector<WindowDim> shardc::import::windowDimsOf(Operation *op) {
  auto shapeOf = [](Value value) {
    return cast<RankedTensorType>(value.getType()).getShape();
  };
  SmallVector<WindowDim> dims;
  llvm::TypeSwitch<Operation *>(op)
      .Case([&](PadOp op) {
        for (auto [dim, size] : llvm::enumerate(shapeOf(op.getOperand())))
          dims.push_back({int64_t(dim), int64_t(dim), size,
                          op.getInteriorPadding()[dim] + 1,
                          op.getEdgePaddingLow()[dim],
                          op.getEdgePaddingHigh()[dim], 1, 1, 1});
      })
      .Case([&](ReduceWindowOp op) {
        for (auto [dim, size] : llvm::enumerate(shapeOf(op.getInputs()[0])))
          dims.push_back({int64_t(dim), int64_t(dim), size,
                          op.getBaseDilationsOrOnes()[dim],
                          op.getPaddingOrZeros()[dim].first,
                          op.getPaddingOrZeros()[dim].second,
                          op.getWindowDimensions()[dim],
                          op.getWindowDilationsOrOnes()[dim],
                          op.getWindowStridesOrOnes()[dim]});
      })
      .Case([&](ConvolutionOp op) {
        ConvDimensionNumbersAttr numbers = op.getDimensionNumbers();
        ArrayRef<int64_t> spatial = numbers.getInputSpatialDimensions();
        for (auto [d, dim] : llvm::enumerate(spatial))
          dims.push_back(
              {dim, numbers.getOutputSpatialDimensions()[d],
               shapeOf(op.getLhs())[dim], op.getLhsDilationOrOnes()[d],
               op.getPaddingOrZeros()[d].first,
               op.getPaddingOrZeros()[d].second,
               shapeOf(op.getRhs())[numbers.getKernelSpatialDimensions()[d]],
               op.getRhsDilationOrOnes()[d], op.getWindowStridesOrOnes()[d]});
      });
  return dims;
}

/// How many windows there are along a dim.
std::optional<int64_t> Refiner::windowsOf(const WindowDim &dim) {
  auto add = [&](ExtentKind kind, std::optional<int64_t> a, int64_t b) {
    return a ? extents.add(kind, {*a, b}) : a;
  };
  using K = ExtentKind;
  std::optional<int64_t> id = dilatedExtent(dim.size, dim.dilation);
  for (int64_t padding : {dim.low, dim.high})
    id = add(K::Add, id, idOf(padding));
  std::optional<int64_t> before =
      add(K::Subtract, idOf(dim.window), extents.addConstant(1));
  before = add(K::Multiply, before, extents.addConstant(dim.windowDilation));
  return before ? windowsOf(add(K::Subtract, id, *before), 1, dim.stride)
                : before;
}

/// Where a dim is cut that a reshape to or from `other` joins to the dims
/// behind it, boundaries go by how many elements one index of it is: a product
/// of open extents that is no size.
void Refiner::noteStrides(Operation *op, ArrayRef<int64_t> shape,
                          ArrayRef<int64_t> other) {
  std::set<uint64_t> ends;
  uint64_t product = 1;
  for (int64_t size : llvm::reverse(other))
    ends.insert(product *= size);
  product = 1;
  std::optional<int64_t> stride = extents.addConstant(1);
  int64_t open = 0;
  for (size_t dim = shape.size(); dim-- > 1 && stride;) {
    open += extents.isOpen(shape[dim]);
    stride = extents.add(ExtentKind::Multiply, {*stride, idOf(shape[dim])});
    if (ends.count(product *= shape[dim])) {
      stride = extents.addConstant(1);
      open = 0;
    } else if (stride && open > 1) {
      // Of one open extent it is a multiple, which says so itself.
      use(*stride, op, "a stride of", -1);
    }
  }
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
      use(*id, op, "size", dim);
  };
  for (const WindowDim &dim : windowDimsOf(op))
    if (extents.isOpen(dim.size) || extents.isOpen(dim.low) ||
        extents.isOpen(dim.high) || extents.isOpen(dim.window))
      note(dim.result, windowsOf(dim));
  llvm::TypeSwitch<Operation *>(op)
      .Case([&](ConcatenateOp op) {
        int64_t dim = op.getDimension();
        std::optional<int64_t> sum = constant(0);
        for (Value input : op.getInputs()) {
          // Where a piece begins is asked for as well: behind n and m rows.
          if (sum && !extents.isConstant(*sum) &&
              !usedExtents().isOpen(extents[*sum].placeholder))
            use(*sum, op, "begin of a piece", dim);
          if (sum)
            sum = make(K::Add, *sum, idOf(shapeOf(input)[dim]));
        }
        note(dim, sum);
      })
      .Case([&](ReverseOp op) {
        // Element i is the one at n - 1 - i: beside an odd placeholder n - 1
        // would be taken for twice a half.
        for (int64_t dim : op.getDimensions())
          if (extents.isOpen(result.getDimSize(dim)))
            if (auto last = make(K::Subtract, idOf(result.getDimSize(dim)),
                                 constant(1)))
              use(*last, op, "last index", dim);
      })
      .Case([&](ReshapeOp op) {
        noteStrides(op, shapeOf(op.getOperand()), shapeOf(op.getResult()));
        noteStrides(op, shapeOf(op.getResult()), shapeOf(op.getOperand()));
      })
      .Default([](Operation *) {});
}

/// Notes what is padded where its number would be taken for something else: of
/// n + 1 elements, beside an odd placeholder, for twice a half rounded up.
void Refiner::notePadding(PadOp op) {
  if (!placeholders)
    return;
  for (const WindowDim &dim : windowDimsOf(op)) {
    int64_t size = op.getType().getDimSize(dim.result);
    std::optional<int64_t> padded = windowsOf(dim);
    if (padded && !extents.isConstant(*padded) &&
        probe(*padded) != probe(idOf(size)))
      use(*padded, op, "size", dim.result);
  }
}

/// How many of the extents that are in use have a number that is taken for
/// another one's, which is not equal in all bindings that are looked at.
int64_t Refiner::countCollisions(const Extents &named) const {
  return llvm::count_if(used, [&](int64_t id) {
    std::optional<LinearExtent> found = named.find(named[id].placeholder);
    if (found && found->extent == id)
      return false;
    return bindings.empty() ||
           llvm::any_of(bindings, [&](const std::vector<int64_t> &values) {
             return values[id] != named.resolve(named[id].placeholder, values);
           });
  });
}

std::optional<int64_t> Refiner::collisionsAt(size_t shift) const {
  Extents moved;
  const auto &primes = placeholders->primes;
  size_t set = placeholders->setIndex();
  for (int64_t id = 0; id < walked.size(); ++id) {
    const ExtentExpr &expr = walked[id];
    std::optional<int64_t> made;
    if (expr.kind == ExtentKind::Dim) {
      for (size_t i = 0; i + shift < primes.size() && !made; ++i)
        if (int64_t prime = primes[i][set]; expr.placeholder % prime == 0)
          made =
              moved.addDim(expr.operands[0], expr.operands[1],
                           expr.placeholder / prime * primes[i + shift][set]);
    } else if (expr.kind == ExtentKind::Constant) {
      made = moved.addConstant(expr.placeholder);
    } else {
      made = moved.add(expr.kind, expr.operands);
    }
    if (made != id)
      return std::nullopt;
  }
  for (const ExtentCondition &condition : walked.conditions)
    if (moved[condition.extent].placeholder == 0 &&
        walked[condition.extent].placeholder != 0)
      return std::nullopt;
  return countCollisions(namedAmong(moved, used));
}

/// A number that is taken for what its placeholder says has to be that: where
/// placeholders do not tell it from another one, the program asks for bindings
/// in which the two are equal.
void Refiner::guardExtents() {
  for (int64_t id = 0; id < extents.size(); ++id)
    if (isDim(id))
      used.insert(id);
  if (placeholders) {
    walked = extents;
    if (!drawBindings(walked, *placeholders,
                      [&](const std::vector<int64_t> &values) {
                        bindings.push_back(values);
                        return false;
                      }))
      bindings.clear();
    collisions = countCollisions(usedExtents());
  }
  for (int64_t id : std::set<int64_t>(used)) {
    int64_t taken = idOf(extents[id].placeholder);
    if (taken == id)
      continue;
    std::optional<int64_t> same = extents.add(ExtentKind::Equal, {id, taken});
    if (!same || extents.isConstant(*same))
      continue;
    std::string text;
    llvm::raw_string_ostream os(text);
    if (auto found = uses.find(id); found != uses.end()) {
      const Use &use = found->second;
      os << "'" << use.op << "' at " << userLocation(use.loc) << " has "
         << use.what << " {0}";
      if (use.dim >= 0)
        os << " along dim " << use.dim;
      os << ", but was ";
    } else {
      os << "an extent that is {0} here was ";
    }
    os << "compiled as if that were {1}, since the compiled program has one "
          "number for both; compile the program for these shapes (--shapes)";
    extents.conditions.push_back({*same, text, {id, taken}});
  }
  extents = usedExtents();
}

namespace {
/// Numbers from `least` to `most`.
struct Limits {
  int64_t least = 1, most = INT64_MAX;
};
} // namespace

/// An extent that is a multiple of a dim and a number; none if it is not.
static std::optional<LinearExtent> linearIn(const Extents &extents,
                                            int64_t extent) {
  const ExtentExpr &expr = extents[extent];
  if (expr.kind == ExtentKind::Dim)
    return LinearExtent{extent, 1, 0};
  if (expr.kind == ExtentKind::Constant)
    return LinearExtent{-1, 0, expr.operands[0]};
  bool isProduct = expr.kind == ExtentKind::Multiply;
  if (!isProduct && expr.kind != ExtentKind::Add &&
      expr.kind != ExtentKind::Subtract)
    return std::nullopt;
  std::optional<LinearExtent> a = linearIn(extents, expr.operands[0]),
                              b = linearIn(extents, expr.operands[1]);
  constexpr int64_t most = int64_t(1) << 30;
  for (const auto &part : {a, b})
    if (!part || std::abs(part->coefficient) > most ||
        std::abs(part->constant) > most)
      return std::nullopt;
  if (a->extent >= 0 && b->extent >= 0 && (isProduct || a->extent != b->extent))
    return std::nullopt;
  LinearExtent sum{std::max(a->extent, b->extent), 0, 0};
  auto add = [&](const LinearExtent &part, int64_t times) {
    sum.coefficient += times * part.coefficient;
    sum.constant += times * part.constant;
  };
  if (isProduct) {
    add(a->extent < 0 ? *b : *a, a->extent < 0 ? a->constant : b->constant);
  } else {
    add(*a, 1);
    add(*b, expr.kind == ExtentKind::Add ? 1 : -1);
  }
  return sum;
}

/// What conditions say of dims one by one: n >= 128, n <= 1000.
static std::map<int64_t, Limits> rangesOf(const Extents &extents) {
  std::map<int64_t, Limits> ranges;
  for (const ExtentCondition &condition : extents.conditions) {
    const ExtentExpr &expr = extents[condition.extent];
    if (!isOrder(expr.kind))
      continue;
    std::optional<LinearExtent> a = linearIn(extents, expr.operands[0]),
                                b = linearIn(extents, expr.operands[1]);
    if (!a || !b || (a->extent < 0) == (b->extent < 0))
      continue;
    // times * dim + rest >= 0
    int64_t dim = std::max(a->extent, b->extent),
            times = b->coefficient - a->coefficient,
            rest = b->constant - a->constant - (expr.kind == ExtentKind::Less);
    if (times > 0)
      ranges[dim].least =
          std::max(ranges[dim].least, llvm::divideCeilSigned(-rest, times));
    else if (times < 0)
      ranges[dim].most =
          std::min(ranges[dim].most, llvm::divideFloorSigned(rest, -times));
  }
  return ranges;
}

/// Extents of arguments that the program allows.
bool shardc::import::drawExtents(
    const Extents &extents, const Placeholders &placeholders,
    std::mt19937_64 &random,
    std::map<std::pair<int64_t, int64_t>, int64_t> &dims,
    std::vector<int64_t> &values) {
  struct Part {
    int64_t dim, prime, times;
  };
  std::vector<Part> parts;
  // As the placeholders: equal ones are equal, multiples are multiples.
  std::map<int64_t, Limits> ranges = rangesOf(extents), byPrime;
  for (int64_t i = 0; i < extents.size(); ++i) {
    if (extents[i].kind != ExtentKind::Dim)
      continue;
    int64_t prime = primeIn(extents[i].placeholder, placeholders),
            times = extents[i].placeholder / prime;
    parts.push_back({i, prime, times});
    Limits &range = byPrime[prime];
    if (auto said = ranges.find(i); said != ranges.end()) {
      range.least =
          std::max(range.least, (said->second.least + times - 1) / times);
      range.most = std::min(range.most, said->second.most / times);
    }
  }
  for (int draw = 0; draw < 256; ++draw) {
    // Larger ones where the program allows no smaller.
    int64_t most = draw >= 128 ? 5000 : draw % 2 ? 12 : 90;
    std::map<int64_t, int64_t> drawn;
    for (const Part &part : parts) {
      auto [value, isNew] = drawn.try_emplace(part.prime, 0);
      const Limits &range = byPrime[part.prime];
      if (isNew) {
        int64_t count =
            std::clamp<int64_t>(range.most - range.least + 1, 1, most);
        value->second = range.least + static_cast<int64_t>(random() % count);
      }
      dims[{extents[part.dim].operands[0], extents[part.dim].operands[1]}] =
          value->second * part.times;
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
LogicalResult shardc::import::compareNumbers(func::FuncOp open,
                                             func::FuncOp known,
                                             const Extents &extents,
                                             ArrayRef<int64_t> values) {
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
