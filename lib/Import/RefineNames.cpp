//===- RefineNames.cpp - Extents that would have one number ---------------===//
//
// A placeholder has one remainder. n / 2, (n - 1) / 2 and (n - 2) / 2 are how
// many windows of 2, 3 and 4 there are, 2 apart: of any n two of them are
// equal, and which two its remainder says. No placeholder tells all three
// apart. So extents are renamed, as registers are: the larger ones keep their
// numbers, and each of the others has a smaller one that nothing else has.
//
//     windows of 3, 2 apart, over x of n = 225383: 112691, as of windows of 2
//     x' = the first max(n, -4200) = 221183 of x, which are all of it
//     windows of 3, 2 apart, over x': 110591, which is (n - 1) / 2 alone
//
// What is rounded to a multiple is another extent, too, and equal to one beside
// it now and then: 3 (n / 3) is n, n - 1 or n - 2.
//
// What the program computes of shapes is given the same numbers. What is cut to
// such an extent was no less before, and so is no less now.
//
// Two extents are one if they have the same values in probes: dims that are
// drawn. These do not depend on placeholders, so the program with other
// placeholders is renamed alike.
//
//===----------------------------------------------------------------------===//
#include "Refiner.h"
#include "shardc/Layout/Placeholders.h"
#include <numeric>

using namespace mlir;
using namespace shardc;
using namespace shardc::import;
using namespace shardc::stablehlo;

/// Bindings in which extents are compared, and extents of dims in these.
static constexpr int kProbes = 32;
static constexpr int64_t kLeastProbe = 200, kMostProbe = 4000;

/// By how much an extent may be less than another one that it is now and then,
/// as it is rounded: 3 (n / 3) and n - 1.
static constexpr int64_t kMostRounded = 8;

/// How far an extent is moved that is renamed: what is left of another one
/// beside it is then a number that is told from others, too.
static constexpr int64_t kLeastMove = 2 * nearby + 3, kUsualMove = 2100;

void Refiner::drawProbes(Probes &probes,
                         function_ref<int64_t(uint64_t)> extentOf) {
  if (!probes.empty() &&
      probes.front().size() >= static_cast<size_t>(extents.size()))
    return;
  Extents all = extents;
  all.conditions.clear();
  probes.clear();
  std::mt19937_64 random(1);
  for (int probe = 0; probe < kProbes; ++probe) {
    std::map<int64_t, int64_t> drawn;
    std::map<std::pair<int64_t, int64_t>, int64_t> dims;
    for (int64_t id = 0; id < all.size(); ++id) {
      if (!isDim(id))
        continue;
      int64_t prime = primeIn(all[id].placeholder, *placeholders);
      auto [value, isNew] = drawn.try_emplace(prime, 0);
      if (isNew)
        value->second = extentOf(random());
      dims[{all[id].operands[0], all[id].operands[1]}] =
          value->second * (all[id].placeholder / prime);
    }
    std::string error;
    probes.push_back(all.evaluate(dims, error));
    if (probes.back().empty()) {
      probes.assign(1, std::vector<int64_t>(all.size(), 0));
      return;
    }
  }
}

static std::vector<int64_t>
valuesIn(const std::vector<std::vector<int64_t>> &probes, int64_t extent) {
  std::vector<int64_t> values;
  for (const std::vector<int64_t> &of : probes)
    values.push_back(of[extent]);
  return values;
}

std::vector<int64_t> Refiner::probe(int64_t extent) {
  drawProbes(probes, [](uint64_t random) {
    return kLeastProbe +
           static_cast<int64_t>(random % (kMostProbe - kLeastProbe));
  });
  return valuesIn(probes, extent);
}

std::vector<int64_t> Refiner::smallProbe(int64_t extent) {
  drawProbes(smallProbes, [](uint64_t random) {
    // Of each length as many.
    int64_t most = int64_t(4) << (random % 11);
    return 1 + static_cast<int64_t>((random >> 8) % most);
  });
  return valuesIn(smallProbes, extent);
}

/// What values differ by from the first: the same of extents that differ by a
/// constant.
static std::vector<int64_t> shapeOf(const std::vector<int64_t> &values) {
  std::vector<int64_t> shape;
  for (int64_t value : values)
    shape.push_back(value - values.front());
  return shape;
}

static std::vector<int64_t> negated(std::vector<int64_t> values) {
  for (int64_t &value : values)
    value = -value;
  return values;
}

/// Quotients that an extent is made of.
static void collectQuotients(const Extents &extents, int64_t extent,
                             std::set<int64_t> &quotients) {
  const ExtentExpr &expr = extents[extent];
  if (expr.kind == ExtentKind::Divide)
    quotients.insert(extent);
  else if (expr.kind != ExtentKind::Dim && expr.kind != ExtentKind::Constant)
    // Of a choice what is chosen, not by what.
    for (int64_t operand :
         ArrayRef(expr.operands).drop_front(expr.kind == ExtentKind::Select))
      collectQuotients(extents, operand, quotients);
}

/// From the largest on, as each is to be less than those before it. Where
/// `isApart`, each of `alike` has a place of its own, with what is less than it
/// by a constant; else all that differ by constants have one.
template <typename Range>
static Renaming renamingOf(const Range &alike, bool isApart) {
  std::map<int64_t, std::vector<int64_t>, std::greater<>> bySum;
  for (const std::vector<int64_t> &values : alike)
    bySum[std::accumulate(values.begin(), values.end(), int64_t(0))] = values;
  Renaming renaming;
  int64_t place = 0;
  for (const auto &[sum, values] : bySum) {
    auto &places = renaming[shapeOf(values)];
    if (isApart || places.empty())
      places.try_emplace(isApart ? values.front() : INT64_MAX, place++);
  }
  return renaming;
}

std::vector<Renaming> Refiner::findRenamings() {
  std::map<std::vector<int64_t>, std::set<int64_t>> quotientsOf;
  for (int64_t id : used)
    if (!extents.isConstant(id))
      collectQuotients(extents, id, quotientsOf[probe(id)]);
  // By quotient the largest extent that differs from it by a constant.
  std::map<std::vector<int64_t>, std::vector<int64_t>> largest;
  for (const auto &[less, ofLess] : quotientsOf)
    for (const auto &[more, ofMore] : quotientsOf) {
      std::set<int64_t> differences;
      for (auto [value, other] : llvm::zip(less, more))
        differences.insert(other - value);
      // What is rounded down is now and then what it was, or less than that by
      // a few.
      if (differences.size() < 2 || *differences.begin() != 0 ||
          *differences.rbegin() > kMostRounded)
        continue;
      for (int64_t quotient : ofLess.empty() ? ofMore : ofLess) {
        std::vector<int64_t> values = probe(quotient);
        // A half rounded up is - (-n / 2).
        if (values.front() < 0)
          values = negated(std::move(values));
        std::vector<int64_t> most = values;
        if (shapeOf(values) == shapeOf(less))
          most = std::max(values, less);
        largest[values] = std::max(largest[values], most);
      }
    }
  if (largest.empty())
    return {};
  // A half rounded up is (n - 1) / 2 and one more, but may have to be more than
  // n / 2, and that more than (n - 1) / 2.
  return {renamingOf(llvm::make_first_range(largest), /*isApart=*/false),
          renamingOf(llvm::make_second_range(largest), /*isApart=*/true)};
}

/// The number of an extent that is renamed, where it would have had `number`.
std::optional<int64_t> Refiner::newNumberOf(int64_t extent, int64_t number) {
  if (!placeholders || placeholders->renamed.empty() ||
      extents.isConstant(extent))
    return std::nullopt;
  std::vector<int64_t> values = probe(extent);
  int64_t sign = values.front() < 0 ? -1 : 1;
  if (sign < 0)
    values = negated(std::move(values));
  number *= sign;
  auto alike = placeholders->renamed.find(shapeOf(values));
  if (alike == placeholders->renamed.end())
    return std::nullopt;
  auto place = alike->second.lower_bound(values.front());
  if (place == alike->second.end())
    return std::nullopt;
  auto [name, isNew] = names.try_emplace(place->second, 0);
  if (!isNew)
    return sign * (name->second + values.front());
  auto isClear = [&](int64_t name) {
    for (int64_t times = 1; times <= timesBeside; ++times)
      for (int64_t beside = -2 * nearby; beside <= 2 * nearby; ++beside)
        if (usedExtents().isOpen(times * name + beside))
          return false;
    return true;
  };
  // Those behind are moved further, whichever comes first.
  int64_t move = std::clamp(number / 8, kLeastMove, kUsualMove) +
                 4 * kLeastMove * place->second;
  for (int64_t most = move + 3 * kLeastMove; move < most; ++move)
    if (isClear(number - move)) {
      name->second = number - move - values.front();
      return sign * (number - move);
    }
  names.erase(name);
  return std::nullopt;
}

void Refiner::rename(int64_t extent) {
  std::optional<int64_t> name;
  if (placeholders && !placeholders->choices.empty() &&
      isChoice(extents[extent].kind)) {
    auto found = placeholders->choices.find(smallProbe(extent));
    if (found != placeholders->choices.end())
      name = found->second;
  }
  if (!name)
    name = newNumberOf(extent, extents[extent].placeholder);
  if (name && *name != extents[extent].placeholder)
    extents = renumbered(extents, [&](int64_t id) {
      return id == extent ? *name : extents[id].placeholder;
    });
}

SmallVector<WindowDim> shardc::import::windowDimsOf(SelectAndScatterOp op) {
  SmallVector<WindowDim> dims;
  auto type = cast<RankedTensorType>(op.getOperand().getType());
  for (auto [dim, size] : llvm::enumerate(type.getShape()))
    dims.push_back({int64_t(dim), int64_t(dim), size, 1,
                    op.getPaddingOrZeros()[dim].first,
                    op.getPaddingOrZeros()[dim].second,
                    op.getWindowDimensionsOrOnes()[dim], 1,
                    op.getWindowStridesOrOnes()[dim]});
  return dims;
}

/// Takes windows of an operand under another name where their number is
/// renamed.
void Refiner::renameWindows(Operation *op) {
  if (!placeholders && !replayed)
    return;
  SmallVector<WindowDim> dims = windowDimsOf(op);
  auto gradient = dyn_cast<SelectAndScatterOp>(op);
  if (gradient)
    dims = windowDimsOf(gradient);
  auto operand = cast<RankedTensorType>(op->getOperand(0).getType());
  SmallVector<int64_t> sizes(operand.getShape());
  bool isRenamed = false;
  for (const WindowDim &dim : dims) {
    if (replayed) {
      isRenamed |= nextChoice < replayed->size() &&
                   (*replayed)[nextChoice++].has_value();
      continue;
    }
    paddings.emplace_back();
    if (!extents.isOpen(dim.size) || dim.dilation != 1)
      continue;
    int64_t room = dim.size + dim.low + dim.high - dim.reach();
    std::optional<int64_t> windows = windowsOf(dim);
    std::optional<int64_t> name =
        windows && room >= 0 ? newNumberOf(*windows, room / dim.stride + 1)
                             : std::nullopt;
    if (!name)
      continue;
    // Of the sizes in which there are as many windows one that is not taken:
    // the least is of an operand that is cut to its windows.
    std::optional<int64_t> all;
    int64_t less = 0;
    for (int64_t rest = dim.stride; rest-- > 0 && !all;) {
      int64_t size =
          (*name - 1) * dim.stride + dim.reach() + rest - dim.low - dim.high;
      less = dim.size - size;
      if (less <= 0 || size < Extents::least ||
          (gradient && less < Extents::least))
        continue;
      all = extents.add(ExtentKind::Max,
                        {idOf(dim.size), extents.addConstant(-less)});
      std::optional<LinearExtent> taken = usedExtents().find(size);
      if (all && taken && taken->coefficient == 1 && taken->constant == 0 &&
          taken->extent != *all)
        all.reset();
    }
    if (!all)
      continue;
    sizes[dim.dim] -= less;
    extents = renumbered(extents, [&](int64_t id) {
      return id == *all ? sizes[dim.dim] : extents[id].placeholder;
    });
    use(*all, op, "operand's size", dim.dim);
    paddings.back() = PaddingChoice();
    isRenamed = true;
  }
  if (!isRenamed)
    return;
  ImplicitLocOpBuilder b(op->getLoc(), op);
  SmallVector<int64_t> zeros(sizes.size(), 0), ones(sizes.size(), 1);
  auto windows = dyn_cast<ReduceWindowOp>(op);
  // The gradient has as many elements as its operand: it is given that name
  // again when its shape is known.
  if (gradient) {
    SmallVector<int64_t> left;
    for (auto [dim, size, whole] : llvm::enumerate(sizes, operand.getShape())) {
      left.push_back(whole - size);
      if (size == whole || replayed)
        continue;
      if (auto id =
              extents.add(ExtentKind::Subtract, {idOf(whole), idOf(size)}))
        use(*id, op, "padding", dim);
    }
    renamedBack[op] = std::move(left);
  }
  for (size_t i = 0; i < (windows ? windows.getInputs().size() : 1); ++i)
    op->setOperand(
        i, SliceOp::create(
               b, operand.clone(sizes, getElementTypeOrSelf(op->getOperand(i))),
               op->getOperand(i), zeros, sizes, ones));
}

/// Gives the gradient of windows whose operand is renamed as many elements as
/// that had before.
void Refiner::renameBack(Operation *op) {
  auto found = renamedBack.find(op);
  if (found == renamedBack.end())
    return;
  ImplicitLocOpBuilder b(op->getLoc(), op->getContext());
  b.setInsertionPointAfter(op);
  Value result = op->getResult(0);
  auto type = cast<RankedTensorType>(result.getType());
  SmallVector<int64_t> sizes(type.getShape()), zeros(sizes.size(), 0);
  for (auto [size, more] : llvm::zip_equal(sizes, found->second))
    size += more;
  auto whole = PadOp::create(b, type.clone(sizes), result,
                             cast<SelectAndScatterOp>(op).getInitValue(), zeros,
                             found->second, zeros);
  result.replaceAllUsesExcept(whole, whole);
  renamedBack.erase(op);
}
