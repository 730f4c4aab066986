//===- Shapes.cpp - Random ops that move elements -------------------------===//

#include "Generator.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace shardc::fuzz {

static bool anything(int) { return true; }

static bool makeBroadcast(Generator &g) {
  int v = g.any(anything);
  Type from = g.type(v);
  int64_t rank = std::min<int64_t>(from.rank() + g.pick(0, 2), 4);
  if (rank < from.rank())
    return false;
  std::vector<int64_t> dims(rank), fresh = g.randomShape(rank);
  for (int64_t i = 0; i < rank; ++i)
    dims[i] = i;
  g.shuffle(dims);
  dims.resize(from.rank());
  if (g.chance(75))
    sort(dims);
  return g.addOne(
      "broadcast_in_dim", {v},
      [=](ArrayRef<Type> types) -> std::optional<Built> {
        std::vector<int64_t> shape = fresh;
        for (auto [i, dim] : enumerate(dims))
          if (types[0].shape[i] != 1)
            shape[dim] = types[0].shape[i];
        Type result = types[0].with(shape);
        return Built{{result},
                     "$R = stablehlo.broadcast_in_dim $0, dims = [" +
                         list(dims) + "] : (" + types[0].str() + ") -> " +
                         result.str()};
      },
      g.accuracy(v));
}

static bool makeTranspose(Generator &g) {
  int v = g.any(anything, 2);
  std::vector<int64_t> dims(g.type(v).rank());
  for (auto [i, dim] : enumerate(dims))
    dim = i;
  g.shuffle(dims);
  return g.addOne(
      "transpose", {v},
      [=](ArrayRef<Type> types) -> std::optional<Built> {
        std::vector<int64_t> shape;
        for (int64_t dim : dims)
          shape.push_back(types[0].shape[dim]);
        Type result = types[0].with(shape);
        return Built{{result},
                     "$R = stablehlo.transpose $0, dims = [" + list(dims) +
                         "] : (" + types[0].str() + ") -> " + result.str()};
      },
      g.accuracy(v));
}

static std::optional<Built> reshape(const Type &from,
                                    std::vector<int64_t> shape) {
  Type result = from.with(std::move(shape));
  if (result.numElements() != from.numElements())
    return std::nullopt;
  return Built{{result},
               "$R = stablehlo.reshape $0 : (" + from.str() + ") -> " +
                   result.str()};
}

/// One dim becomes two.
static bool makeSplit(Generator &g) {
  int v = g.any(
      [&](int v) {
        return any_of(g.type(v).shape,
                      [](int64_t s) { return s >= 4 && s != 5 && s != 7; });
      },
      1);
  if (v < 0)
    return false;
  int64_t dim = g.pick(0, g.type(v).rank() - 1), size = g.type(v).shape[dim];
  std::vector<int64_t> divisors;
  for (int64_t d = 1; d <= size; ++d)
    if (size % d == 0)
      divisors.push_back(d);
  int64_t inner = g.oneOf(divisors);
  return g.addOne(
      "reshape_split", {v},
      [=](ArrayRef<Type> types) -> std::optional<Built> {
        std::vector<int64_t> shape = types[0].shape;
        if (shape[dim] % inner)
          return std::nullopt;
        shape[dim] /= inner;
        shape.insert(shape.begin() + dim + 1, inner);
        return reshape(types[0], shape);
      },
      g.accuracy(v));
}

static bool makeMerge(Generator &g) {
  int v = g.any(anything, 2);
  if (v < 0)
    return false;
  int64_t dim = g.pick(0, g.type(v).rank() - 2);
  return g.addOne(
      "reshape_merge", {v},
      [=](ArrayRef<Type> types) -> std::optional<Built> {
        std::vector<int64_t> shape = types[0].shape;
        shape[dim] *= shape[dim + 1];
        shape.erase(shape.begin() + dim + 1);
        return reshape(types[0], shape);
      },
      g.accuracy(v));
}

/// Any shape of as many elements.
static bool makeRegroup(Generator &g) {
  int v = g.any(anything, 1);
  std::vector<int64_t> shape;
  int64_t rest = g.type(v).numElements();
  while (shape.size() < 3 && rest > 1) {
    std::vector<int64_t> divisors;
    for (int64_t d = 1; d <= rest; ++d)
      if (rest % d == 0)
        divisors.push_back(d);
    shape.push_back(g.oneOf(divisors));
    rest /= shape.back();
  }
  shape.push_back(rest);
  return g.addOne(
      "reshape_regroup", {v},
      [=](ArrayRef<Type> types) { return reshape(types[0], shape); },
      g.accuracy(v));
}

static bool makeReverse(Generator &g) {
  int v = g.any(anything, 1);
  std::vector<int64_t> dims;
  for (int64_t i = 0; i < g.type(v).rank(); ++i)
    if (g.chance(60))
      dims.push_back(i);
  return g.addOne(
      "reverse", {v},
      [=](ArrayRef<Type> types) -> std::optional<Built> {
        return Built{{types[0]},
                     "$R = stablehlo.reverse $0, dims = [" + list(dims) +
                         "] : " + types[0].str()};
      },
      g.accuracy(v));
}

static bool makePad(Generator &g) {
  int v = g.any(anything, 1);
  std::vector<int64_t> low, high, interior;
  for (int64_t i = 0; i < g.type(v).rank(); ++i) {
    low.push_back(g.chance(60) ? g.pick(-3, 4) : 0);
    high.push_back(g.chance(60) ? g.pick(-3, 4) : 0);
    interior.push_back(g.chance(25) ? g.pick(1, 2) : 0);
  }
  const Type &type = g.type(v);
  std::string fill = type.element == "i1" ? "true"
                     : type.isFloat()     ? g.randomFloat()
                                          : "5";
  Accuracy result = either(g.accuracy(v), {5, -2, 0});
  return g.addOne(
      "pad", {v},
      [=](ArrayRef<Type> types) -> std::optional<Built> {
        std::vector<int64_t> shape = types[0].shape;
        for (auto [i, size] : enumerate(shape))
          size = low[i] + high[i] +
                 (size ? (size - 1) * (interior[i] + 1) + 1 : 0);
        Type result = types[0].with(shape);
        return Built{{result},
                     scalarConstant("z", types[0].scalar(), fill) +
                         "$R = stablehlo.pad $0, %z~, low = [" + list(low) +
                         "], high = [" + list(high) + "], interior = [" +
                         list(interior) + "] : (" + types[0].str() + ", " +
                         types[0].scalar().str() + ") -> " + result.str()};
      },
      result);
}

/// "[0:4, 1:9:2]".
static std::string ranges(ArrayRef<int64_t> starts, ArrayRef<int64_t> limits,
                          ArrayRef<int64_t> strides) {
  std::string text = "[";
  for (size_t i = 0; i < starts.size(); ++i)
    text += (i ? ", " : "") + std::to_string(starts[i]) + ":" +
            std::to_string(limits[i]) +
            (strides[i] != 1 ? ":" + std::to_string(strides[i]) : "");
  return text + "]";
}

static bool makeSlice(Generator &g) {
  int v = g.any(anything, 1);
  std::vector<int64_t> starts, ends, strides;
  for (int64_t size : g.type(v).shape) {
    starts.push_back(g.chance(60) ? g.pick(0, size - 1) : 0);
    ends.push_back(g.chance(50) ? g.pick(0, size - 1 - starts.back()) : 0);
    strides.push_back(g.chance(30) ? g.pick(2, 4) : 1);
  }
  return g.addOne(
      "slice", {v},
      [=](ArrayRef<Type> types) -> std::optional<Built> {
        std::vector<int64_t> limits, shape;
        for (auto [i, size] : enumerate(types[0].shape)) {
          limits.push_back(size - ends[i]);
          if (limits.back() <= starts[i])
            return std::nullopt;
          shape.push_back((limits.back() - starts[i] + strides[i] - 1) /
                          strides[i]);
        }
        Type result = types[0].with(shape);
        return Built{{result},
                     "$R = stablehlo.slice $0 " +
                         ranges(starts, limits, strides) + " : (" +
                         types[0].str() + ") -> " + result.str()};
      },
      g.accuracy(v));
}

static bool makeConcatenate(Generator &g) {
  int v = g.any(anything, 1);
  int64_t dim = g.pick(0, g.type(v).rank() - 1);
  std::vector<int> operands{v};
  Accuracy accuracy = g.accuracy(v);
  for (int64_t i = g.pick(1, 2); i > 0; --i) {
    Type type = g.type(v);
    if (g.chance(60))
      type.shape[dim] = g.pick(1, 9);
    operands.push_back(g.like(type));
    accuracy = either(accuracy, g.accuracy(operands.back()));
  }
  g.shuffle(operands);
  return g.addOne(
      "concatenate", operands,
      [=](ArrayRef<Type> types) -> std::optional<Built> {
        Type result = types[0];
        result.shape[dim] = 0;
        std::string names, kinds;
        for (auto [i, type] : enumerate(types)) {
          result.shape[dim] += type.shape[dim];
          names += (i ? ", $" : "$") + std::to_string(i);
          kinds += (i ? ", " : "") + type.str();
          Type same = type;
          same.shape[dim] = types[0].shape[dim];
          if (same != types[0])
            return std::nullopt;
        }
        return Built{{result},
                     "$R = stablehlo.concatenate " + names +
                         ", dim = " + std::to_string(dim) + " : (" + kinds +
                         ") -> " + result.str()};
      },
      accuracy);
}

/// jnp.roll: two slices and a concatenate.
static bool makeRoll(Generator &g) {
  int v = g.any(
      [&](int v) {
        return any_of(g.type(v).shape, [](int64_t s) { return s > 1; });
      },
      1);
  if (v < 0)
    return false;
  int64_t dim = g.pick(0, g.type(v).rank() - 1),
          shift = g.pick(1, std::max<int64_t>(1, g.type(v).shape[dim] - 1));
  return g.addOne(
      "roll", {v},
      [=](ArrayRef<Type> types) -> std::optional<Built> {
        const Type &t = types[0];
        if (t.shape[dim] <= shift)
          return std::nullopt;
        std::vector<int64_t> zeros(t.rank()), ones(t.rank(), 1),
            starts = zeros, limits = t.shape;
        starts[dim] = limits[dim] = shift;
        Type head = t, tail = t;
        head.shape[dim] = shift;
        tail.shape[dim] -= shift;
        return Built{{t},
                     "%t~ = stablehlo.slice $0 " +
                         ranges(starts, t.shape, ones) + " : (" + t.str() +
                         ") -> " + tail.str() + "\n%h~ = stablehlo.slice $0 " +
                         ranges(zeros, limits, ones) + " : (" + t.str() +
                         ") -> " + head.str() +
                         "\n$R = stablehlo.concatenate %t~, %h~, dim = " +
                         std::to_string(dim) + " : (" + tail.str() + ", " +
                         head.str() + ") -> " + t.str()};
      },
      g.accuracy(v));
}

static bool makeIota(Generator &g) {
  static const std::vector<std::string> elements = {"f32",  "i32", "i64", "f64",
                                                    "ui32", "i8",  "i16"};
  Type type{g.oneOf(elements), g.randomShape(g.pick(1, 3))};
  int64_t dim = g.pick(0, type.rank() - 1);
  return g.addOne("iota", {},
                  [=](ArrayRef<Type>) -> std::optional<Built> {
                    return Built{{type},
                                 "$R = stablehlo.iota dim = " +
                                     std::to_string(dim) + " : " + type.str()};
                  },
                  {16, 0, 0});
}

static std::string denseText(Generator &g, ArrayRef<int64_t> shape,
                             bool floats) {
  if (shape.empty()) {
    std::string number = std::to_string(g.pick(-8, 8));
    return floats ? number + (g.chance(50) ? ".5" : ".0") : number;
  }
  std::string text = "[";
  for (int64_t i = 0; i < shape[0]; ++i)
    text += (i ? ", " : "") + denseText(g, shape.drop_front(), floats);
  return text + "]";
}

static bool makeConstant(Generator &g) {
  Type type{g.chance(70) ? "f32" : "i32", g.randomShape(g.pick(1, 2))};
  std::string text = g.chance(30) ? denseText(g, {}, type.isFloat())
                                  : denseText(g, type.shape, type.isFloat());
  return g.addOne("constant", {},
                  [=](ArrayRef<Type>) -> std::optional<Built> {
                    return Built{{type},
                                 "$R = stablehlo.constant dense<" + text +
                                     "> : " + type.str()};
                  },
                  {9, -1, 0});
}

void addShapeKinds(std::vector<Kind> &kinds) {
  kinds.push_back({"broadcast_in_dim", 4, makeBroadcast});
  kinds.push_back({"transpose", 4, makeTranspose});
  kinds.push_back({"reshape_split", 3, makeSplit});
  kinds.push_back({"reshape_merge", 3, makeMerge});
  kinds.push_back({"reshape_regroup", 2, makeRegroup});
  kinds.push_back({"reverse", 3, makeReverse});
  kinds.push_back({"pad", 5, makePad});
  kinds.push_back({"slice", 5, makeSlice});
  kinds.push_back({"concatenate", 4, makeConcatenate});
  kinds.push_back({"roll", 3, makeRoll});
  kinds.push_back({"iota", 2, makeIota});
  kinds.push_back({"constant", 2, makeConstant});
}

} // namespace shardc::fuzz
