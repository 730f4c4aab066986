//===- Reductions.cpp - Random reductions and windows ---------------------===//

#include "Generator.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace shardc::fuzz {

namespace {
/// One way to combine elements.
struct Combiner {
  std::string op;
  std::string floatInit, integerInit, boolInit;
};
} // namespace

static const std::vector<Combiner> &combiners() {
  static const std::vector<Combiner> all = {
      {"add", "0.0", "0", ""},           {"add", "0.5", "3", ""},
      {"maximum", "-100.0", "-128", ""}, {"minimum", "100.0", "127", ""},
      {"maximum", "0.25", "1", ""},      {"multiply", "1.0", "1", ""},
      {"and", "", "-1", "true"},         {"or", "", "0", "false"},
      {"xor", "", "0", "false"},         {"or", "", "4", "true"}};
  return all;
}

static std::string initOf(const Combiner &c, const Type &type) {
  std::string init = type.isFloat()         ? c.floatInit
                     : type.element == "i1" ? c.boolInit
                                            : c.integerInit;
  // Unsigned constants have no sign.
  if (StringRef(type.element).starts_with("ui") &&
      StringRef(init).starts_with("-"))
    return "0";
  return init;
}

/// Of `count` elements combined, an initial value among them.
static Accuracy combined(const Combiner &c, const Type &type, Accuracy of,
                         int64_t count) {
  if (!type.isFloat())
    return {1e18, 0, 0};
  Accuracy init{std::fabs(std::stod(c.floatInit)), -2, 0};
  if (c.op == "add") {
    Accuracy with = either(of, {init.magnitude, init.grid, 0});
    return summed(type, with, count + 1);
  }
  if (c.op == "multiply") {
    Accuracy result{std::pow(std::max(1.0, of.magnitude), count),
                    Accuracy::kNoGrid, 0};
    auto error = [&](double error) {
      return count * result.magnitude *
             (error / std::max(1.0, of.magnitude) +
              4 * std::ldexp(1.0, -type.precision()));
    };
    if (count > 1 || of.error > 0)
      result.error = error(of.error);
    if (count > 1 || of.apart > 0)
      result.apart = error(of.apart);
    return result;
  }
  return either(of, init);
}

/// Lines of a region that combines scalars of `type` with `op`.
static std::string region(const std::string &op, const Type &type) {
  std::string s = type.scalar().str();
  return "{\n^bb0(%p~: " + s + ", %q~: " + s + "):\n%r~ = stablehlo." + op +
         " %p~, %q~ : " + s + "\nstablehlo.return %r~ : " + s + "\n}";
}

static bool makeReduce(Generator &g) {
  int v = g.any([](int) { return true; }, 1);
  const Combiner &c = g.oneOf(combiners());
  if (initOf(c, g.type(v)).empty())
    return false;
  std::vector<int64_t> dims;
  for (int64_t i = 0; i < g.type(v).rank(); ++i)
    if (g.chance(50))
      dims.push_back(i);
  if (dims.empty())
    dims.push_back(g.pick(0, g.type(v).rank() - 1));
  int64_t count = 1;
  for (int64_t dim : dims)
    count *= g.type(v).shape[dim];
  if (c.op == "multiply" && (g.accuracy(v).magnitude > 2 || count > 20))
    return false;
  return g.addOne(
      "reduce_" + c.op, {v},
      [=](ArrayRef<Type> types) -> std::optional<Built> {
        std::vector<int64_t> shape;
        for (auto [i, size] : enumerate(types[0].shape))
          if (!is_contained(dims, i))
            shape.push_back(size);
        Type result = types[0].with(shape);
        std::string s = types[0].scalar().str();
        return Built{
            {result},
            scalarConstant("z", types[0].scalar(), initOf(c, types[0])) +
                "$R = stablehlo.reduce($0 init: %z~) applies stablehlo." +
                c.op + " across dimensions = [" + list(dims) + "] : (" +
                types[0].str() + ", " + s + ") -> " + result.str()};
      },
      combined(c, g.type(v), g.accuracy(v), count));
}

/// jnp.argmax: values and indices reduced together.
static bool makeArgmax(Generator &g) {
  int v = g.any(
      [&](int v) {
        return (g.type(v).element == "f32" || g.type(v).element == "i32") &&
               g.isExact(v);
      },
      1);
  if (v < 0)
    return false;
  int64_t dim = g.pick(0, g.type(v).rank() - 1);
  bool least = g.chance(40);
  return !g.add(least ? "argmin" : "argmax", {v},
                [=](ArrayRef<Type> types) -> std::optional<Built> {
                  const Type &t = types[0];
                  std::vector<int64_t> shape = t.shape;
                  shape.erase(shape.begin() + dim);
                  Type values = t.with(shape), indices{"i32", shape},
                       iota{"i32", t.shape};
                  std::string s = t.scalar().str(),
                              mode = t.isFloat() ? "FLOAT" : "SIGNED";
                  std::string worst =
                      t.isFloat() ? (least ? "0x7F800000" : "0xFF800000")
                      : least     ? "2147483647"
                                  : "-2147483648";
                  auto compare = [&](const std::string &name,
                                     const std::string &how) {
                    return "%" + name + "~ = stablehlo.compare " + how +
                           ", %a~, %c~, " + mode + " : (" + s + ", " + s +
                           ") -> tensor<i1>\n";
                  };
                  std::string text =
                      "%i~ = stablehlo.iota dim = " + std::to_string(dim) +
                      " : " + iota.str() + "\n" +
                      scalarConstant("z", t.scalar(), worst) +
                      scalarConstant("k", {"i32", {}}, "0") +
                      "$R = stablehlo.reduce($0 init: %z~), (%i~ init: %k~) "
                      "across dimensions = [" +
                      std::to_string(dim) + "] : (" + t.str() + ", " +
                      iota.str() + ", " + s + ", tensor<i32>) -> (" +
                      values.str() + ", " + indices.str() + ")\n" +
                      " reducer(%a~: " + s + ", %c~: " + s +
                      ") (%b~: tensor<i32>, %d~: tensor<i32>) {\n" +
                      compare("g", least ? "LT" : "GT") + compare("e", "EQ") +
                      "%f~ = stablehlo.compare LT, %b~, %d~, SIGNED : "
                      "(tensor<i32>, tensor<i32>) -> tensor<i1>\n"
                      "%h~ = stablehlo.and %e~, %f~ : tensor<i1>\n%j~ = "
                      "stablehlo.or %g~, %h~ : tensor<i1>\n"
                      "%l~ = stablehlo.select %g~, %a~, %c~ : tensor<i1>, " +
                      s +
                      "\n"
                      "%m~ = stablehlo.select %j~, %b~, %d~ : tensor<i1>, "
                      "tensor<i32>\n"
                      "stablehlo.return %l~, %m~ : " +
                      s + ", tensor<i32>\n}";
                  return Built{{values, indices}, text};
                },
                {g.accuracy(v), {16, 0, 0}})
              .empty();
}

/// x - max, exp, / sum.
static bool makeSoftmax(Generator &g) {
  int v = g.any(
      [&](int v) {
        return g.type(v).element == "f32" && g.accuracy(v).magnitude <= 8;
      },
      1);
  if (v < 0)
    return false;
  int64_t dim = g.pick(0, g.type(v).rank() - 1), count = g.type(v).shape[dim];
  Accuracy of = g.accuracy(v), result{1, Accuracy::kNoGrid, 0};
  double rounding = 16 * (count + 2) * std::ldexp(1.0, -24);
  result.error = 8 * of.error + rounding;
  result.apart = 8 * of.apart + rounding;
  return g.addOne(
      "softmax", {v},
      [=](ArrayRef<Type> types) -> std::optional<Built> {
        std::vector<int64_t> shape = types[0].shape, dims;
        shape.erase(shape.begin() + dim);
        for (int64_t i = 0; i < types[0].rank(); ++i)
          if (i != dim)
            dims.push_back(i);
        std::string t = types[0].str(), r = types[0].with(shape).str();
        auto reduce = [&](const std::string &name, const std::string &of,
                          const std::string &init, const std::string &op) {
          return scalarConstant(name + "z", {"f32", {}}, init) + "%" + name +
                 "r~ = stablehlo.reduce(" + of + " init: %" + name +
                 "z~) applies stablehlo." + op + " across dimensions = [" +
                 std::to_string(dim) + "] : (" + t + ", tensor<f32>) -> " + r +
                 "\n%" + name + "b~ = stablehlo.broadcast_in_dim %" + name +
                 "r~, dims = [" + list(dims) + "] : (" + r + ") -> " + t + "\n";
        };
        return Built{{types[0]},
                     reduce("m", "$0", "0xFF800000", "maximum") +
                         "%d~ = stablehlo.subtract $0, %mb~ : " + t +
                         "\n%e~ = stablehlo.exponential %d~ : " + t + "\n" +
                         reduce("s", "%e~", "0.0", "add") +
                         "$R = stablehlo.divide %e~, %sb~ : " + t};
      },
      result);
}

namespace {
/// The window of one dim, as StableHLO has it.
struct Window {
  int64_t size = 1, stride = 1, dilation = 1, base = 1, low = 0, high = 0;
  /// Elements of the result; below 1 where the window does not fit.
  int64_t count(int64_t of) const {
    int64_t padded = (of ? (of - 1) * base + 1 : 0) + low + high,
            reach = (size - 1) * dilation + 1;
    return padded < reach ? 0 : (padded - reach) / stride + 1;
  }
};
} // namespace

static std::string windowAttributes(ArrayRef<Window> windows, bool dilations) {
  std::vector<int64_t> sizes, strides, bases, dilated;
  std::string padding;
  for (const Window &w : windows) {
    sizes.push_back(w.size);
    strides.push_back(w.stride);
    bases.push_back(w.base);
    dilated.push_back(w.dilation);
    padding += (padding.empty() ? "[" : ", [") + std::to_string(w.low) + ", " +
               std::to_string(w.high) + "]";
  }
  return "window_dimensions = " + braced(sizes) +
         ", window_strides = " + braced(strides) +
         (dilations ? ", base_dilations = " + braced(bases) +
                          ", window_dilations = " + braced(dilated)
                    : "") +
         ", padding = dense<[" + padding + "]> : tensor<" +
         std::to_string(windows.size()) + "x2xi64>";
}

static bool makeWindow(Generator &g) {
  int v = g.any([](int) { return true; }, 1);
  const Combiner &c = g.oneOf(combiners());
  if (initOf(c, g.type(v)).empty() || c.op == "multiply")
    return false;
  std::vector<Window> windows;
  int64_t count = 1;
  bool cumulative = g.chance(20);
  int64_t whole = g.pick(0, g.type(v).rank() - 1);
  for (auto [dim, size] : enumerate(g.type(v).shape)) {
    Window w;
    if (cumulative) {
      if (static_cast<int64_t>(dim) == whole) {
        w.size = size;
        (g.chance(70) ? w.low : w.high) = size - 1;
      }
    } else if (g.chance(65)) {
      w.size = g.pick(1, 4);
      w.stride = g.chance(50) ? 1 : g.pick(1, 3);
      w.dilation = g.chance(25) ? 2 : 1;
      w.base = g.chance(20) ? g.pick(2, 3) : 1;
      w.low = g.chance(50) ? g.pick(-2, 3) : 0;
      w.high = g.chance(50) ? g.pick(-2, 3) : 0;
    }
    count *= w.size;
    windows.push_back(w);
  }
  return g.addOne(
      cumulative ? "cumulative_" + c.op : "reduce_window_" + c.op, {v},
      [=](ArrayRef<Type> types) -> std::optional<Built> {
        std::vector<int64_t> shape;
        for (auto [w, size] : zip_equal(windows, types[0].shape))
          shape.push_back(w.count(size));
        Type result = types[0].with(shape);
        return Built{
            {result},
            scalarConstant("z", types[0].scalar(), initOf(c, types[0])) +
                "$R = \"stablehlo.reduce_window\"($0, %z~) <{" +
                windowAttributes(windows, true) + "}> (" +
                region(c.op, types[0]) + ") : (" + types[0].str() + ", " +
                types[0].scalar().str() + ") -> " + result.str()};
      },
      combined(c, g.type(v), g.accuracy(v), count));
}

/// A window over two dims that two axes cut: corners travel too.
static bool makeStencil(Generator &g) {
  if (g.program.axisSizes.size() < 2)
    return false;
  Type type{"f32", {g.pick(4, 13), g.pick(4, 13)}};
  int v = g.newArgument(type);
  Sharding sharding(2);
  bool swapped = g.chance(50);
  sharding[0].axes = {swapped};
  sharding[1].axes = {!swapped};
  g.program.arguments.back().sharding = sharding;
  int64_t reach = g.pick(1, 2), stride = g.chance(80) ? 1 : 2;
  return g.addOne(
      "stencil", {v},
      [=](ArrayRef<Type> types) -> std::optional<Built> {
        std::vector<Window> windows(
            2, Window{2 * reach + 1, stride, 1, 1, reach, reach});
        Type result = types[0].with({windows[0].count(types[0].shape[0]),
                                     windows[1].count(types[0].shape[1])});
        return Built{{result},
                     scalarConstant("z", types[0].scalar(), "0") +
                         "$R = \"stablehlo.reduce_window\"($0, %z~) <{" +
                         windowAttributes(windows, true) + "}> (" +
                         region("add", types[0]) + ") : (" + types[0].str() +
                         ", " + types[0].scalar().str() + ") -> " +
                         result.str()};
      },
      summed(type, g.accuracy(v), (2 * reach + 1) * (2 * reach + 1)));
}

static bool makeSelectAndScatter(Generator &g) {
  int v = g.any(
      [&](int v) {
        static const std::vector<std::string> elements = {
            "f32", "i32", "f64", "f16", "bf16", "i64", "ui8"};
        return is_contained(elements, g.type(v).element) && g.isExact(v);
      },
      1);
  if (v < 0)
    return false;
  std::vector<Window> windows;
  Type source = g.type(v);
  int64_t most = 1;
  for (int64_t &size : source.shape) {
    Window w;
    if (g.chance(60) && size > 1) {
      w.size = g.pick(1, std::min<int64_t>(size, 3));
      w.stride = g.chance(60) ? w.size : g.pick(1, 3);
      if (w.size > 1 && g.chance(40))
        w.low = g.pick(0, 1), w.high = g.pick(0, 1);
    }
    most *= (w.size + w.stride - 1) / w.stride;
    windows.push_back(w);
    size = w.count(size);
    if (size < 1)
      return false;
  }
  int s = g.like(source);
  std::string direction = g.chance(60) ? "GE" : g.chance(50) ? "LE" : "GT";
  return g.addOne(
      "select_and_scatter", {v, s},
      [=](ArrayRef<Type> types) -> std::optional<Built> {
        for (auto [i, w] : enumerate(windows))
          if (types[1].shape[i] != w.count(types[0].shape[i]))
            return std::nullopt;
        std::string e = types[0].scalar().str(),
                    mode = types[0].isFloat()                ? "FLOAT"
                           : types[0].element.front() == 'u' ? "UNSIGNED"
                                                             : "SIGNED";
        return Built{
            {types[0]},
            scalarConstant("z", types[0].scalar(), "0") +
                "$R = \"stablehlo.select_and_scatter\"($0, $1, %z~) <{" +
                windowAttributes(windows, false) + "}> ({\n^bb0(%x~: " + e +
                ", %y~: " + e + "):\n%g~ = stablehlo.compare " + direction +
                ", %x~, %y~, " + mode + " : (" + e + ", " + e +
                ") -> tensor<i1>\nstablehlo.return %g~ : tensor<i1>\n}, " +
                region("add", types[0]) + ") : (" + types[0].str() + ", " +
                types[1].str() + ", " + e + ") -> " + types[0].str()};
      },
      summed(g.type(v), g.accuracy(s), most + 1));
}

void addReductionKinds(std::vector<Kind> &kinds) {
  kinds.push_back({"reduce", 10, makeReduce});
  kinds.push_back({"argmax", 2, makeArgmax});
  kinds.push_back({"softmax", 1, makeSoftmax});
  kinds.push_back({"reduce_window", 6, makeWindow});
  kinds.push_back({"stencil", 2, makeStencil});
  kinds.push_back({"select_and_scatter", 2, makeSelectAndScatter});
}

} // namespace shardc::fuzz
