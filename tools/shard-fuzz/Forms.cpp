//===- Forms.cpp - Random ops of older programs and of CHLO ---------------===//
//
// Ops that import writes as others: map, einsum, dot, broadcast, dynamic ops
// of known operands, tuples; and functions of CHLO.
//
//===----------------------------------------------------------------------===//

#include "Generator.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace shardc::fuzz {

/// Of `count` products of elements that are as `a` and as `b`.
static Accuracy sumOfProducts(const Type &type, Accuracy a, Accuracy b,
                              int64_t count) {
  if (!type.isFloat())
    return {1e18, 0, 0};
  Accuracy product = multiplied(type, a, b);
  if (!product.hasGrid() && product.error == 0)
    product.error = std::ldexp(product.magnitude, 1 - type.precision());
  return summed(type, product, count);
}

/// Numbers that two of can be multiplied; -1 if there are none.
static int anyFactor(Generator &g, int64_t rank) {
  return g.any(
      [&](int v) {
        return g.type(v).element != "i1" && g.type(v).rank() == rank &&
               g.accuracy(v).magnitude <= 100;
      },
      rank);
}

/// One function of two operands, for all elements.
static bool makeMap(Generator &g) {
  int a = g.any([&](int v) { return g.type(v).element != "i1"; }, 1);
  if (a < 0)
    return false;
  int b = g.like(g.type(a));
  return g.addOne(
      "map", {a, b},
      [=](ArrayRef<Type> types) -> std::optional<Built> {
        if (types[0] != types[1])
          return std::nullopt;
        std::string t = types[0].str(), s = types[0].scalar().str();
        std::vector<int64_t> dims(types[0].rank());
        for (auto [i, dim] : enumerate(dims))
          dim = i;
        return Built{
            {types[0]},
            "$R = \"stablehlo.map\"($0, $1) <{dimensions = " + braced(dims) +
                "}> ({\n^bb0(%p~: " + s + ", %q~: " + s +
                "):\n%a~ = stablehlo.minimum %p~, %q~ : " + s +
                "\n%b~ = stablehlo.maximum %a~, %p~ : " + s +
                "\nstablehlo.return %b~ : " + s + "\n}) : (" + t + ", " + t +
                ") -> " + t};
      },
      either(g.accuracy(a), g.accuracy(b)));
}

/// Products and sums that letters say.
static bool makeEinsum(Generator &g) {
  struct Form {
    const char *left, *right, *out;
  };
  static const std::vector<Form> forms = {
      {"ab", "bc", "ac"}, {"ab", "bc", "ca"}, {"ab", "cb", "ac"},
      {"ab", "ab", "a"},  {"ab", "ab", "ba"}, {"ab", "cd", "ad"},
      {"ab", "", "b"},    {"ab", "", "ba"},   {"ab", "", ""},
      {"ab", "b", "a"},   {"ab", "a", "ba"}};
  Form form = g.oneOf(forms);
  int a = anyFactor(g, 2);
  if (a < 0)
    return false;
  std::string left = form.left, right = form.right, out = form.out;
  // Extents by letter.
  std::vector<int64_t> sizes = g.type(a).shape;
  sizes.push_back(g.pick(1, 7)), sizes.push_back(g.pick(1, 7));
  auto shapeOf = [](StringRef letters, ArrayRef<int64_t> sizes) {
    std::vector<int64_t> shape;
    for (char letter : letters)
      shape.push_back(sizes[letter - 'a']);
    return shape;
  };
  std::vector<int> operands = {a};
  Accuracy of = g.accuracy(a), result = of;
  int64_t count = 1;
  for (auto [i, size] : enumerate(sizes)) {
    char letter = 'a' + i;
    if ((left + right).find(letter) != std::string::npos &&
        out.find(letter) == std::string::npos)
      count *= size;
  }
  const Type &type = g.type(a);
  if (right.empty()) {
    result = type.isFloat() ? summed(type, of, count) : Accuracy{1e18, 0, 0};
  } else {
    operands.push_back(g.like(type.with(shapeOf(right, sizes)), [&](int v) {
      return g.accuracy(v).magnitude <= 100;
    }));
    result = sumOfProducts(g.type(a), of, g.accuracy(operands[1]), count);
  }
  return g.addOne(
      "einsum", operands,
      [=](ArrayRef<Type> types) -> std::optional<Built> {
        std::vector<int64_t> extents(4, -1);
        auto bind = [&](StringRef letters, const Type &type) {
          if (type.rank() != static_cast<int64_t>(letters.size()))
            return false;
          for (auto [letter, size] : zip_equal(letters, type.shape)) {
            int64_t &extent = extents[letter - 'a'];
            if (extent >= 0 && extent != size)
              return false;
            extent = size;
          }
          return true;
        };
        if (!bind(left, types[0]) || (!right.empty() && !bind(right, types[1])))
          return std::nullopt;
        Type made = types[0].with(shapeOf(out, extents));
        if (right.empty())
          return Built{{made},
                       "$R = stablehlo.unary_einsum $0, config = \"" + left +
                           "->" + out + "\" : (" + types[0].str() + ") -> " +
                           made.str()};
        return Built{{made},
                     "$R = stablehlo.einsum $0, $1, config = \"" + left + "," +
                         right + "->" + out + "\" : (" + types[0].str() + ", " +
                         types[1].str() + ") -> " + made.str()};
      },
      result);
}

/// Rows and columns multiplied, of matrices and of vectors.
static bool makeDot(Generator &g) {
  int a = anyFactor(g, g.pick(1, 2));
  if (a < 0)
    return false;
  int64_t size = g.type(a).shape.back();
  std::vector<int64_t> shape = {size};
  if (g.chance(50))
    shape.push_back(g.pick(1, 8));
  int b = g.like(g.type(a).with(shape),
                 [&](int v) { return g.accuracy(v).magnitude <= 100; });
  return g.addOne(
      "dot", {a, b},
      [=](ArrayRef<Type> types) -> std::optional<Built> {
        if (types[0].shape.back() != types[1].shape.front())
          return std::nullopt;
        Type out = types[0];
        out.shape.pop_back();
        append_range(out.shape, ArrayRef(types[1].shape).drop_front());
        return Built{{out},
                     "$R = stablehlo.dot $0, $1 : (" + types[0].str() + ", " +
                         types[1].str() + ") -> " + out.str()};
      },
      sumOfProducts(g.type(a), g.accuracy(a), g.accuracy(b), size));
}

/// Dims in front.
static bool makeBroadcast(Generator &g) {
  int v = g.any([](int) { return true; });
  if (v < 0 || g.type(v).rank() > 2)
    return false;
  std::vector<int64_t> sizes(g.pick(1, 2));
  for (int64_t &size : sizes)
    size = g.pick(1, 5);
  return g.addOne(
      "broadcast", {v},
      [=](ArrayRef<Type> types) -> std::optional<Built> {
        Type out = types[0];
        out.shape.insert(out.shape.begin(), sizes.begin(), sizes.end());
        return Built{{out},
                     "$R = stablehlo.broadcast $0, sizes = [" + list(sizes) +
                         "] : (" + types[0].str() + ") -> " + out.str()};
      },
      g.accuracy(v));
}

/// Rows by index, of which some may be outside and are clamped.
static bool makeIndexSelect(Generator &g) {
  int v = g.any([](int) { return true; }, 1);
  if (v < 0)
    return false;
  int64_t dim = g.pick(0, g.type(v).rank() - 1), count = g.pick(1, 9);
  int at = g.like({g.chance(50) ? "i64" : "i32", {count}});
  return g.addOne(
      "torch_index_select", {v, at},
      [=](ArrayRef<Type> types) -> std::optional<Built> {
        if (types[0].rank() <= dim || types[1].rank() != 1 ||
            types[0].shape[dim] == 0)
          return std::nullopt;
        Type out = types[0];
        out.shape[dim] = types[1].shape[0];
        std::string i = types[1].str();
        return Built{
            {out},
            scalarConstant("zero", types[1].scalar(), "0") +
                scalarConstant("last", types[1].scalar(),
                               std::to_string(types[0].shape[dim] - 1)) +
                "%i~ = stablehlo.clamp %zero~, $1, %last~ : (" +
                types[1].scalar().str() + ", " + i + ", " +
                types[1].scalar().str() + ") -> " + i +
                "\n$R = \"stablehlo.torch_index_select\"($0, %i~) {dim = " +
                std::to_string(dim) + " : i64, batch_dims = 0 : i64} : (" +
                types[0].str() + ", " + i + ") -> " + out.str()};
      },
      g.accuracy(v));
}

/// Slices and pads whose numbers are operands, which are constants.
static bool makeDynamicForm(Generator &g) {
  int v = g.any([&](int v) { return g.type(v).element != "i1"; }, 1);
  if (v < 0)
    return false;
  bool pads = g.chance(50);
  int64_t rank = g.type(v).rank();
  std::vector<int64_t> low, high, inner;
  for (int64_t size : g.type(v).shape) {
    low.push_back(pads ? g.pick(0, 3) : g.pick(0, size - 1));
    high.push_back(pads ? g.pick(-1, 2) : g.pick(0, size - 1 - low.back()));
    inner.push_back(pads ? g.pick(0, 1) : g.pick(1, 2));
  }
  return g.addOne(
      pads ? "dynamic_pad" : "real_dynamic_slice", {v},
      [=](ArrayRef<Type> types) -> std::optional<Built> {
        Type out = types[0];
        if (out.rank() != rank)
          return std::nullopt;
        std::vector<int64_t> limits(rank);
        for (int64_t i = 0; i < rank; ++i) {
          int64_t size = types[0].shape[i];
          limits[i] = size - high[i];
          if (!pads && limits[i] < low[i])
            return std::nullopt;
          out.shape[i] = pads ? low[i] + high[i] + size +
                                    std::max<int64_t>(size - 1, 0) * inner[i]
                              : (limits[i] - low[i] + inner[i] - 1) / inner[i];
          if (out.shape[i] < 0)
            return std::nullopt;
        }
        std::string n = "tensor<" + std::to_string(rank) + "xi64>";
        auto numbers = [&](const char *name, ArrayRef<int64_t> values) {
          return "%" + std::string(name) + "~ = stablehlo.constant dense<[" +
                 list(values) + "]> : " + n + "\n";
        };
        std::string ns = ", " + n + ", " + n + ", " + n,
                    text = numbers("low", low) +
                           numbers("high", pads ? high : limits) +
                           numbers("inner", inner);
        if (!pads)
          return Built{{out},
                       text +
                           "$R = stablehlo.real_dynamic_slice $0, %low~, "
                           "%high~, %inner~ : (" +
                           types[0].str() + ns + ") -> " + out.str()};
        return Built{{out},
                     scalarConstant("z", types[0].scalar(), "1") + text +
                         "$R = stablehlo.dynamic_pad $0, %z~, %low~, %high~, "
                         "%inner~ : (" +
                         types[0].str() + ", " + types[0].scalar().str() + ns +
                         ") -> " + out.str()};
      },
      pads ? either(g.accuracy(v), {1, 0, 0}) : g.accuracy(v));
}

/// Two values in a tuple, and out of it again.
static bool makeTuple(Generator &g) {
  int a = g.any([](int) { return true; }), b = g.any([](int) { return true; });
  if (a < 0 || b < 0)
    return false;
  return !g.add("tuple", {a, b},
                [=](ArrayRef<Type> types) -> std::optional<Built> {
                  std::string both =
                      "tuple<" + types[0].str() + ", " + types[1].str() + ">";
                  return Built{
                      {types[1], types[0]},
                      "%t~ = stablehlo.tuple $0, $1 : " + both +
                          "\n%a~ = stablehlo.get_tuple_element %t~[1] : (" +
                          both + ") -> " + types[1].str() +
                          "\n%b~ = stablehlo.get_tuple_element %t~[0] : (" +
                          both + ") -> " + types[0].str() +
                          "\n$R = stablehlo.optimization_barrier %a~, %b~ : " +
                          types[1].str() + ", " + types[0].str()};
                },
                {g.accuracy(b), g.accuracy(a)})
              .empty();
}

namespace {
/// A function of |x| * scale + offset, or of x * scale where `offset` is 0.
struct Function {
  const char *name;
  double most; ///< |x| at most
  const char *scale, *offset;
  double slope, magnitude;
};
} // namespace

static bool makeChloFunction(Generator &g) {
  static const std::vector<Function> functions = {
      {"asinh", 100, "1.0", "0.0", 1, 6},  {"atan", 100, "1.0", "0.0", 1, 2},
      {"sinh", 4, "0.5", "0.0", 2, 4},     {"cosh", 4, "0.5", "0.0", 2, 4},
      {"acosh", 100, "1.0", "1.5", 1, 6},  {"asin", 1, "0.5", "0.0", 1, 1},
      {"acos", 1, "0.5", "0.0", 1, 3},     {"atanh", 1, "0.5", "0.0", 1, 1},
      {"lgamma", 20, "1.0", "0.5", 4, 50}, {"digamma", 20, "1.0", "0.5", 5, 4},
      {"erf_inv", 1, "0.5", "0.0", 1, 1},  {"erfc", 20, "1.0", "0.0", 1.2, 2}};
  const Function &f = g.oneOf(functions);
  int v = g.any([&](int v) {
    const std::string &e = g.type(v).element;
    return (e == "f32" || e == "f64") && g.accuracy(v).magnitude <= f.most;
  });
  if (v < 0)
    return false;
  std::string name = f.name, scale = f.scale, offset = f.offset;
  Accuracy result = rounded(g.type(v), f.magnitude, f.slope, g.accuracy(v));
  // Scaled and moved, each of which rounds.
  double rounding =
      4 * f.slope * (f.most + 2) * std::ldexp(1.0, -g.type(v).precision());
  result.apart += rounding;
  if (result.error > 0)
    result.error += rounding;
  return g.addOne(
      "chlo_" + name, {v},
      [=](ArrayRef<Type> types) -> std::optional<Built> {
        std::string t = types[0].str(), x = "$0", text;
        if (offset != "0.0") {
          text = "%m~ = stablehlo.abs $0 : " + t + "\n";
          x = "%m~";
        }
        text += scalarConstant("k", types[0], scale) +
                scalarConstant("o", types[0], offset) +
                "%s~ = stablehlo.multiply " + x + ", %k~ : " + t +
                "\n%x~ = stablehlo.add %s~, %o~ : " + t + "\n$R = chlo." +
                name + " %x~ : " + t + " -> " + t;
        return Built{{types[0]}, text};
      },
      result);
}

/// The number beside another, and the upper half of products.
static bool makeChloBits(Generator &g) {
  bool isProduct = g.chance(50);
  int a = g.any([&](int v) {
    const std::string &e = g.type(v).element;
    return isProduct ? g.type(v).integerBits() >= 8
                     : (e == "f32" || e == "f64") && g.isExact(v);
  });
  if (a < 0)
    return false;
  int b = g.like(g.type(a), [&](int v) { return g.isExact(v); });
  std::string name = isProduct ? "mulhi" : "next_after";
  return g.addOne(
      "chlo_" + name, {a, b},
      [=](ArrayRef<Type> types) -> std::optional<Built> {
        if (types[0] != types[1])
          return std::nullopt;
        std::string t = types[0].str();
        return Built{{types[0]},
                     "$R = chlo." + name + " $0, $1 : " + t + ", " + t +
                         " -> " + t};
      },
      isProduct ? Accuracy{1e18, 0, 0}
                : Accuracy{g.accuracy(a).magnitude * 1.01 + 1e-30,
                           Accuracy::kNoGrid, 0});
}

/// Sums or largest elements along a dim, by a region that carries them.
static bool makeChloScan(Generator &g) {
  int v = g.any([&](int v) { return g.type(v).element != "i1"; }, 1);
  if (v < 0)
    return false;
  int64_t dim = g.pick(0, g.type(v).rank() - 1);
  Type slice = g.type(v);
  slice.shape.erase(slice.shape.begin() + dim);
  int carried = g.like(slice);
  bool reverse = g.chance(40), sums = g.chance(60), before = g.chance(50);
  Accuracy of = either(g.accuracy(v), g.accuracy(carried));
  if (sums)
    of = summed(g.type(v), of, g.type(v).shape[dim] + 1);
  return !g.add("chlo_scan", {v, carried},
                [=](ArrayRef<Type> types) -> std::optional<Built> {
                  Type slice = types[0];
                  if (slice.rank() <= dim)
                    return std::nullopt;
                  slice.shape.erase(slice.shape.begin() + dim);
                  if (slice != types[1])
                    return std::nullopt;
                  std::string s = slice.str(), t = types[0].str(),
                              both = "(" + t + ", " + s + ")";
                  return Built{
                      {types[0], slice},
                      "$R = chlo.scan($0) inits($1) dimension=" +
                          std::to_string(dim) +
                          (reverse ? " attributes {is_reverse = true}" : "") +
                          " {\n^bb0(%e~: " + s + ", %k~: " + s +
                          "):\n%s~ = stablehlo." + (sums ? "add" : "maximum") +
                          " %e~, %k~ : " + s + "\nstablehlo.return " +
                          (before ? "%k~" : "%s~") + ", %s~ : " + s + ", " + s +
                          "\n} : " + both + " -> " + both};
                },
                {of, of})
              .empty();
}

/// Groups of rows, each with its matrix; or of what is summed over, each with
/// its sum. Their sizes are values, and need not be all rows.
static bool makeRaggedDot(Generator &g) {
  int a = anyFactor(g, 2);
  if (a < 0)
    return false;
  bool isContracted = g.chance(35);
  int64_t groups = g.pick(1, 4), columns = g.pick(1, 6);
  Type left = g.type(a), right = left.with({left.shape[1], columns});
  if (!isContracted)
    right.shape.insert(right.shape.begin(), groups);
  int b = g.like(right, [&](int v) { return g.accuracy(v).magnitude <= 100; }),
      sizes = g.like({"i32", {groups}});
  return g.addOne(
      "chlo_ragged_dot", {a, b, sizes},
      [=](ArrayRef<Type> types) -> std::optional<Built> {
        const Type &x = types[0], &y = types[1], &n = types[2];
        if (x.shape[1] != y.shape[isContracted ? 0 : 1] ||
            (!isContracted && y.shape[0] != n.shape[0]) || n.shape[0] == 0)
          return std::nullopt;
        int64_t ragged = isContracted ? 1 : 0;
        Type out = x.with({x.shape[0], y.shape.back()});
        if (isContracted)
          out.shape.insert(out.shape.begin(), n.shape[0]);
        std::string i = n.str(), scalar = n.scalar().str();
        return Built{
            {out},
            scalarConstant("zero", n.scalar(), "0") +
                scalarConstant("most", n.scalar(),
                               std::to_string(x.shape[ragged] / n.shape[0])) +
                "%n~ = stablehlo.clamp %zero~, $2, %most~ : (" + scalar + ", " +
                i + ", " + scalar + ") -> " + i +
                "\n$R = \"chlo.ragged_dot\"($0, $1, %n~) "
                "<{ragged_dot_dimension_numbers = #chlo.ragged_dot<"
                "lhs_contracting_dimensions = [1], "
                "rhs_contracting_dimensions = [" +
                std::to_string(isContracted ? 0 : 1) +
                "], lhs_ragged_dimensions = [" + std::to_string(ragged) + "]" +
                (isContracted ? "" : ", rhs_group_dimensions = [0]") +
                ">}> : (" + x.str() + ", " + y.str() + ", " + i + ") -> " +
                out.str()};
      },
      sumOfProducts(left, g.accuracy(a), g.accuracy(b), left.shape[1]));
}

void addFormKinds(std::vector<Kind> &kinds) {
  kinds.push_back({"map", 1, makeMap});
  kinds.push_back({"einsum", 2, makeEinsum});
  kinds.push_back({"dot", 1, makeDot});
  kinds.push_back({"broadcast", 1, makeBroadcast});
  kinds.push_back({"torch_index_select", 1, makeIndexSelect});
  kinds.push_back({"dynamic_form", 1, makeDynamicForm});
  kinds.push_back({"tuple", 1, makeTuple});
  kinds.push_back({"chlo_function", 2, makeChloFunction});
  kinds.push_back({"chlo_bits", 1, makeChloBits});
  kinds.push_back({"chlo_scan", 1, makeChloScan});
  kinds.push_back({"chlo_ragged_dot", 1, makeRaggedDot});
}

} // namespace shardc::fuzz
