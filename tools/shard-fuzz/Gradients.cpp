//===- Gradients.cpp - Small random networks and their gradients ----------===//
//
// One to three layers are applied to a value, and then, last first, what JAX
// writes as the transpose of each: transposed and dilated convolutions, filter
// gradients, products with either side, scatter-adds, sums over what was
// broadcast. The cotangents of weights are results unless another op takes
// them.
//
//===----------------------------------------------------------------------===//

#include "Generator.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace shardc::fuzz {

namespace {
/// A layer that has been applied; -1 where an op did not fit.
struct Layer {
  int output = -1;
  /// The cotangent of the layer's input from that of its output.
  std::function<int(int)> backward;
};
} // namespace

static int one(const std::vector<int> &results) {
  return results.empty() ? -1 : results[0];
}

/// Of `count` products summed, where products may be kept unrounded or not.
static Accuracy contracted(const Type &type, Accuracy a, Accuracy b,
                           int64_t count) {
  Accuracy product = multiplied(type, a, b);
  if (!product.hasGrid() && product.error == 0)
    product.error = std::ldexp(product.magnitude, 1 - type.precision());
  return summed(type, product, count);
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

/// dot_general without batch dims.
static int dot(Generator &g, const std::string &kind, int a, int b,
               std::vector<int64_t> left, std::vector<int64_t> right) {
  if (a < 0 || b < 0)
    return -1;
  int64_t count = 1;
  for (int64_t dim : left)
    count *= g.type(a).shape[dim];
  return one(g.add(
      kind, {a, b},
      [=](ArrayRef<Type> types) -> std::optional<Built> {
        std::vector<int64_t> shape;
        for (auto [l, r] : zip_equal(left, right))
          if (types[0].shape[l] != types[1].shape[r])
            return std::nullopt;
        for (auto [i, size] : enumerate(types[0].shape))
          if (!is_contained(left, i))
            shape.push_back(size);
        for (auto [i, size] : enumerate(types[1].shape))
          if (!is_contained(right, i))
            shape.push_back(size);
        Type result = types[0].with(shape);
        return Built{{result},
                     "$R = stablehlo.dot_general $0, $1, contracting_dims = [" +
                         list(left) + "] x [" + list(right) + "] : (" +
                         types[0].str() + ", " + types[1].str() + ") -> " +
                         result.str()};
      },
      {contracted(g.type(a), g.accuracy(a), g.accuracy(b), count)}));
}

/// x · w on the last dim.
static Layer applyDense(Generator &g, int x) {
  const Type type = g.type(x);
  int64_t last = type.rank() - 1;
  int w = g.newArgument(type.with({type.shape[last], g.extent(1, 8)}));
  Layer layer{dot(g, "dense", x, w, {last}, {0}), nullptr};
  layer.backward = [=, &g](int cotangent) {
    std::vector<int64_t> others;
    for (int64_t i = 0; i < last; ++i)
      others.push_back(i);
    if (g.chance(85))
      dot(g, "dense_weights", x, cotangent, others, others);
    return dot(g, "dense_input", cotangent, w, {last}, {1});
  };
  return layer;
}

//===----------------------------------------------------------------------===//
// Convolutions
//===----------------------------------------------------------------------===//

namespace {
/// [b, 0, 1, f] x [0, 1, i, o]: what all three convolutions of a layer share.
struct Convolution {
  std::string lhs, rhs, out; ///< dim numbers
  std::vector<int64_t> stride, low, high, lhsDilate, rhsDilate;
  bool reverse = false;
};
} // namespace

/// "[b, 0, 1, f]": `first`, which may be empty, the spatial dims, `then`.
static std::string layout(const std::string &first, int64_t dims,
                          const std::string &then) {
  std::string text = first;
  for (int64_t i = 0; i < dims; ++i)
    text += (text.empty() ? "" : ", ") + std::to_string(i);
  return "[" + text + ", " + then + "]";
}

static int convolve(Generator &g, const std::string &kind, int a, int b,
                    const Convolution &c, const Type &result, int64_t count) {
  if (a < 0 || b < 0)
    return -1;
  // Shapes are tied to attributes: others do not fit.
  Type left = g.type(a), right = g.type(b);
  return one(g.add(
      kind, {a, b},
      [=](ArrayRef<Type> types) -> std::optional<Built> {
        if (types[0] != left || types[1] != right)
          return std::nullopt;
        std::string padding, reverse;
        for (auto [i, low] : enumerate(c.low)) {
          padding += (i ? ", [" : "[") + list({low, c.high[i]}) + "]";
          reverse += i ? ", true" : "true";
        }
        return Built{
            {result},
            "$R = stablehlo.convolution($0, $1) dim_numbers = " + c.lhs + "x" +
                c.rhs + "->" + c.out + ", window = {stride = [" +
                list(c.stride) + "], pad = [" + padding + "], lhs_dilate = [" +
                list(c.lhsDilate) + "], rhs_dilate = [" + list(c.rhsDilate) +
                "]" + (c.reverse ? ", reverse = [" + reverse + "]" : "") +
                "} {batch_group_count = 1 : i64, feature_group_count = 1 : "
                "i64} : (" +
                left.str() + ", " + right.str() + ") -> " + result.str()};
      },
      {contracted(left, g.accuracy(a), g.accuracy(b), count)}));
}

static Layer applyConvolution(Generator &g, int x) {
  const Type in = g.type(x);
  int64_t dims = in.rank() - 2;
  bool transposed = g.chance(25);
  Convolution c;
  c.lhs = c.out = layout("b", dims, "f");
  c.rhs = layout("", dims, "i, o");
  Type kernel = in, out = in;
  kernel.shape.clear();
  int64_t window = 1, features = g.extent(1, 4);
  for (int64_t i = 0; i < dims; ++i) {
    int64_t size = in.shape[i + 1], k = g.pick(1, 4);
    c.stride.push_back(transposed || g.chance(55) ? 1 : g.pick(2, 3));
    c.lhsDilate.push_back(transposed ? g.pick(1, 3) : 1);
    c.rhsDilate.push_back(g.chance(80) ? 1 : 2);
    c.low.push_back(g.chance(60) ? g.pick(0, k) : 0);
    c.high.push_back(g.chance(60) ? g.pick(0, k) : 0);
    int64_t padded = (size - 1) * c.lhsDilate[i] + 1 + c.low[i] + c.high[i],
            reach = (k - 1) * c.rhsDilate[i] + 1;
    if (padded < reach)
      return {};
    out.shape[i + 1] = (padded - reach) / c.stride[i] + 1;
    kernel.shape.push_back(k);
    window *= k;
  }
  kernel.shape.push_back(in.shape.back());
  kernel.shape.push_back(features);
  out.shape.back() = features;
  int w = g.newArgument(kernel);
  Layer layer{convolve(g, transposed ? "conv_transposed" : "conv", x, w, c, out,
                       window * in.shape.back()),
              nullptr};
  layer.backward = [=, &g](int cotangent) {
    Convolution data = c, filter = c;
    data.rhs = layout("", dims, "o, i");
    data.reverse = true;
    filter.lhs = layout("f", dims, "b");
    filter.rhs = layout("i", dims, "o");
    filter.out = layout("", dims, "b, f");
    int64_t positions = in.shape[0];
    for (int64_t i = 0; i < dims; ++i) {
      int64_t inSize = (in.shape[i + 1] - 1) * c.lhsDilate[i] + 1,
              outSize = (out.shape[i + 1] - 1) * c.stride[i] + 1,
              reach = (kernel.shape[i] - 1) * c.rhsDilate[i] + 1;
      data.stride[i] = c.lhsDilate[i];
      data.lhsDilate[i] = c.stride[i];
      data.low[i] = reach - 1 - c.low[i];
      data.high[i] = inSize + reach - 1 - outSize - data.low[i];
      filter.stride[i] = c.rhsDilate[i];
      filter.rhsDilate[i] = c.stride[i];
      filter.high[i] = outSize + reach - 1 - inSize - c.low[i];
      positions *= out.shape[i + 1];
    }
    if (g.chance(85))
      convolve(g, "conv_filter_gradient", x, cotangent, filter, kernel,
               positions);
    return convolve(g, "conv_data_gradient", cotangent, w, data, in,
                    window * features);
  };
  return layer;
}

//===----------------------------------------------------------------------===//
// Sums and biases
//===----------------------------------------------------------------------===//

/// The sum over all dims but those of `kept`.
static int sumTo(Generator &g, const std::string &kind, int v,
                 std::vector<int64_t> kept) {
  int64_t count = 1;
  for (auto [i, size] : enumerate(g.type(v).shape))
    count *= is_contained(kept, i) ? 1 : size;
  return one(g.add(kind, {v},
                   [=](ArrayRef<Type> types) -> std::optional<Built> {
                     std::vector<int64_t> shape, dims;
                     for (auto [i, size] : enumerate(types[0].shape)) {
                       if (is_contained(kept, i))
                         shape.push_back(size);
                       else
                         dims.push_back(i);
                     }
                     Type result = types[0].with(shape);
                     return Built{
                         {result},
                         scalarConstant("z", types[0].scalar(), "0") +
                             "$R = stablehlo.reduce($0 init: %z~) applies "
                             "stablehlo.add across dimensions = [" +
                             list(dims) + "] : (" + types[0].str() + ", " +
                             types[0].scalar().str() + ") -> " + result.str()};
                   },
                   {summed(g.type(v), g.accuracy(v), count)}));
}

/// x + b or x * b, b along one or all dims.
static Layer applyBias(Generator &g, int x) {
  const Type type = g.type(x);
  bool scales = g.chance(40);
  std::vector<int64_t> kept;
  for (int64_t i = 0; i < type.rank(); ++i)
    if (i == type.rank() - 1 || g.chance(20))
      kept.push_back(i);
  std::vector<int64_t> shape;
  for (int64_t dim : kept)
    shape.push_back(type.shape[dim]);
  int b = g.newArgument(type.with(shape));
  auto spread = [=](ArrayRef<Type> types, const std::string &op,
                    const std::string &what) -> std::optional<Built> {
    for (auto [i, dim] : enumerate(kept))
      if (types[0].shape[dim] != types[1].shape[i])
        return std::nullopt;
    return Built{{types[0]},
                 "%s~ = stablehlo.broadcast_in_dim $1, dims = [" + list(kept) +
                     "] : (" + types[1].str() + ") -> " + types[0].str() +
                     "\n$R = stablehlo." + op + " " + what +
                     ", %s~ : " + types[0].str()};
  };
  std::string op = scales ? "multiply" : "add";
  Accuracy of = g.accuracy(x), with = g.accuracy(b);
  Layer layer{
      one(g.add(scales ? "scale" : "bias", {x, b},
                [=](ArrayRef<Type> types) { return spread(types, op, "$0"); },
                {scales ? multiplied(type, of, with)
                        : summed(type, either(of, with), 2)})),
      nullptr};
  layer.backward = [=, &g](int cotangent) {
    int of = cotangent, onward = cotangent;
    if (scales) {
      Accuracy by = g.accuracy(cotangent);
      of = one(g.add("scale_product", {cotangent, x},
                     [](ArrayRef<Type> types) -> std::optional<Built> {
                       if (types[0] != types[1])
                         return std::nullopt;
                       return Built{{types[0]},
                                    "$R = stablehlo.multiply $0, $1 : " +
                                        types[0].str()};
                     },
                     {multiplied(type, by, g.accuracy(x))}));
      onward = one(g.add(
          "scale_input", {cotangent, b},
          [=](ArrayRef<Type> types) { return spread(types, "multiply", "$0"); },
          {multiplied(type, by, g.accuracy(b))}));
    }
    if (of >= 0 && kept.size() < type.shape.size())
      sumTo(g, "bias_gradient", of, kept);
    return onward;
  };
  return layer;
}

/// max(x, 0), and the cotangent where x was positive.
static Layer applyRelu(Generator &g, int x) {
  if (!g.isExact(x))
    return {};
  Layer layer{one(g.add("relu", {x},
                        [](ArrayRef<Type> types) -> std::optional<Built> {
                          return Built{{types[0]},
                                       scalarConstant("z", types[0], "0") +
                                           "$R = stablehlo.maximum $0, %z~ : " +
                                           types[0].str()};
                        },
                        {g.accuracy(x)})),
              nullptr};
  layer.backward = [=, &g](int cotangent) {
    return one(g.add(
        "relu_gradient", {cotangent, x},
        [](ArrayRef<Type> types) -> std::optional<Built> {
          if (types[0] != types[1])
            return std::nullopt;
          std::string t = types[0].str();
          Type mask{"i1", types[0].shape};
          return Built{{types[0]},
                       scalarConstant("z", types[0], "0") +
                           "%m~ = stablehlo.compare GT, $1, %z~, FLOAT : (" +
                           t + ", " + t + ") -> " + mask.str() +
                           "\n$R = stablehlo.select %m~, $0, %z~ : " +
                           mask.str() + ", " + t};
        },
        {g.accuracy(cotangent)}));
  };
  return layer;
}

//===----------------------------------------------------------------------===//
// Pooling
//===----------------------------------------------------------------------===//

static std::string region(const std::string &op, const std::string &s) {
  return "{\n^bb0(%p~: " + s + ", %q~: " + s + "):\n%r~ = stablehlo." + op +
         " %p~, %q~ : " + s + "\nstablehlo.return %r~ : " + s + "\n}";
}

/// Largest or summed elements of windows; back by select_and_scatter, or by a
/// window over what was spread apart.
static Layer applyPooling(Generator &g, int x) {
  const Type in = g.type(x);
  bool largest = g.isExact(x) && g.chance(60);
  std::vector<int64_t> size, stride, low, high, ones(in.rank(), 1);
  Type out = in;
  int64_t window = 1;
  for (int64_t i = 0; i < in.rank(); ++i) {
    bool pooled = i > 0 && i + 1 < in.rank() && g.chance(80);
    size.push_back(pooled ? g.pick(2, 3) : 1);
    stride.push_back(pooled ? g.pick(1, 3) : 1);
    low.push_back(pooled ? g.pick(0, size[i] - 1) : 0);
    high.push_back(pooled ? g.pick(0, size[i] - 1) : 0);
    if (in.shape[i] + low[i] + high[i] < size[i])
      return {};
    out.shape[i] = (in.shape[i] + low[i] + high[i] - size[i]) / stride[i] + 1;
    window *= size[i];
  }
  auto padding = [](ArrayRef<int64_t> low, ArrayRef<int64_t> high) {
    std::string text;
    for (auto [i, width] : enumerate(low))
      text += (i ? ", [" : "[") + list({width, high[i]}) + "]";
    return "padding = dense<[" + text + "]> : tensor<" +
           std::to_string(low.size()) + "x2xi64>";
  };
  auto fits = [=](ArrayRef<Type> types, const Type &type) {
    return types[0] == type;
  };
  Accuracy of = g.accuracy(x);
  Accuracy pooled = of;
  pooled.magnitude = std::max(of.magnitude, 100.0);
  Layer layer{
      one(g.add(largest ? "max_pool" : "sum_pool", {x},
                [=](ArrayRef<Type> types) -> std::optional<Built> {
                  if (!fits(types, in))
                    return std::nullopt;
                  std::string s = in.scalar().str();
                  return Built{
                      {out},
                      scalarConstant("z", in.scalar(), largest ? "-100" : "0") +
                          "$R = \"stablehlo.reduce_window\"($0, %z~) "
                          "<{window_dimensions = " +
                          braced(size) + ", window_strides = " +
                          braced(stride) + ", " + padding(low, high) + "}> (" +
                          region(largest ? "maximum" : "add", s) + ") : (" +
                          in.str() + ", " + s + ") -> " + out.str()};
                },
                {largest ? pooled : summed(in, of, window + 1)})),
      nullptr};
  layer.backward = [=, &g](int cotangent) {
    std::string s = in.scalar().str();
    if (largest)
      return one(g.add(
          "max_pool_gradient", {x, cotangent},
          [=](ArrayRef<Type> types) -> std::optional<Built> {
            if (!fits(types, in) || types[1] != out)
              return std::nullopt;
            return Built{
                {in},
                scalarConstant("z", in.scalar(), "0") +
                    "$R = \"stablehlo.select_and_scatter\"($0, $1, %z~) "
                    "<{window_dimensions = " +
                    braced(size) + ", window_strides = " + braced(stride) +
                    ", " + padding(low, high) + "}> ({\n^bb0(%x~: " + s +
                    ", %y~: " + s +
                    "):\n%g~ = stablehlo.compare GE, %x~, %y~, FLOAT : (" + s +
                    ", " + s +
                    ") -> tensor<i1>\nstablehlo.return %g~ : tensor<i1>\n}, " +
                    region("add", s) + ") : (" + in.str() + ", " + out.str() +
                    ", " + s + ") -> " + in.str()};
          },
          {summed(in, g.accuracy(cotangent), window + 1)}));
    std::vector<int64_t> below, above;
    for (int64_t i = 0; i < in.rank(); ++i) {
      below.push_back(size[i] - 1 - low[i]);
      above.push_back(in.shape[i] + size[i] - 1 -
                      ((out.shape[i] - 1) * stride[i] + 1) - below[i]);
    }
    return one(g.add(
        "sum_pool_gradient", {cotangent},
        [=](ArrayRef<Type> types) -> std::optional<Built> {
          if (!fits(types, out))
            return std::nullopt;
          return Built{{in},
                       scalarConstant("z", in.scalar(), "0") +
                           "$R = \"stablehlo.reduce_window\"($0, %z~) "
                           "<{window_dimensions = " +
                           braced(size) + ", window_strides = " + braced(ones) +
                           ", base_dilations = " + braced(stride) + ", " +
                           padding(below, above) + "}> (" + region("add", s) +
                           ") : (" + out.str() + ", " + s + ") -> " + in.str()};
        },
        {summed(in, g.accuracy(cotangent), window + 1)}));
  };
  return layer;
}

//===----------------------------------------------------------------------===//
// Addresses and shapes
//===----------------------------------------------------------------------===//

/// Rows by a list of indices, and scatter-add.
static Layer applyTake(Generator &g, int x) {
  const Type in = g.type(x);
  int64_t rows = g.extent(1, 9);
  int indices = g.like({"i32", {rows, 1}});
  Type out = in;
  out.shape[0] = rows;
  std::vector<int64_t> windows;
  for (int64_t i = 1; i < in.rank(); ++i)
    windows.push_back(i);
  std::string offsets =
      windows.empty() ? "" : "offset_dims = [" + list(windows) + "], ";
  std::string updates =
      windows.empty() ? "" : "update_window_dims = [" + list(windows) + "], ";
  Layer layer{
      one(g.add("take", {x, indices},
                [=](ArrayRef<Type> types) -> std::optional<Built> {
                  if (types[0] != in || types[1].shape[0] != rows ||
                      types[1].shape[1] != 1)
                    return std::nullopt;
                  std::vector<int64_t> sizes = in.shape;
                  sizes[0] = 1;
                  return Built{
                      {out},
                      "$R = \"stablehlo.gather\"($0, $1) <{dimension_numbers = "
                      "#stablehlo.gather<" +
                          offsets +
                          "collapsed_slice_dims = [0], start_index_map = [0], "
                          "index_vector_dim = 1>, slice_sizes = " +
                          braced(sizes) + "}> : (" + in.str() + ", " +
                          types[1].str() + ") -> " + out.str()};
                },
                {g.accuracy(x)})),
      nullptr};
  layer.backward = [=, &g](int cotangent) {
    return one(g.add(
        "take_gradient", {indices, cotangent},
        [=](ArrayRef<Type> types) -> std::optional<Built> {
          if (types[1] != out || types[0].shape[0] != rows ||
              types[0].shape[1] != 1)
            return std::nullopt;
          return Built{
              {in},
              scalarConstant("z", in, "0") +
                  "$R = \"stablehlo.scatter\"(%z~, $0, $1) "
                  "<{scatter_dimension_numbers = #stablehlo.scatter<" +
                  updates +
                  "inserted_window_dims = [0], scatter_dims_to_operand_dims = "
                  "[0], index_vector_dim = 1>}> (" +
                  region("add", in.scalar().str()) + ") : (" + in.str() + ", " +
                  types[0].str() + ", " + out.str() + ") -> " + in.str()};
        },
        {summed(in, g.accuracy(cotangent), rows + 1)}));
  };
  return layer;
}

/// A strided slice, and the pad that puts it back.
static Layer applySlice(Generator &g, int x) {
  const Type in = g.type(x);
  Type out = in;
  std::vector<int64_t> low, high, interior;
  std::string ranges;
  for (auto [i, size] : enumerate(in.shape)) {
    int64_t begin = g.chance(50) ? g.pick(0, size - 1) : 0,
            stride = g.chance(60) ? 1 : g.pick(2, 3),
            end = g.chance(50) ? g.pick(begin + 1, size) : size;
    out.shape[i] = (end - begin + stride - 1) / stride;
    low.push_back(begin);
    interior.push_back(stride - 1);
    high.push_back(size - begin - ((out.shape[i] - 1) * stride + 1));
    ranges += (i ? ", " : "") + std::to_string(begin) + ":" +
              std::to_string(end) + ":" + std::to_string(stride);
  }
  Layer layer{one(g.add("slice", {x},
                        [=](ArrayRef<Type> types) -> std::optional<Built> {
                          if (types[0] != in)
                            return std::nullopt;
                          return Built{{out},
                                       "$R = stablehlo.slice $0 [" + ranges +
                                           "] : (" + in.str() + ") -> " +
                                           out.str()};
                        },
                        {g.accuracy(x)})),
              nullptr};
  layer.backward = [=, &g](int cotangent) {
    return one(g.add("slice_gradient", {cotangent},
                     [=](ArrayRef<Type> types) -> std::optional<Built> {
                       if (types[0] != out)
                         return std::nullopt;
                       return Built{{in},
                                    scalarConstant("z", in.scalar(), "0") +
                                        "$R = stablehlo.pad $0, %z~, low = [" +
                                        list(low) + "], high = [" + list(high) +
                                        "], interior = [" + list(interior) +
                                        "] : (" + out.str() + ", " +
                                        in.scalar().str() + ") -> " + in.str()};
                     },
                     {g.accuracy(cotangent)}));
  };
  return layer;
}

/// A cumulative sum, and one from the other end.
static Layer applyCumulative(Generator &g, int x) {
  const Type in = g.type(x);
  int64_t dim = g.pick(0, in.rank() - 1), count = in.shape[dim];
  auto sum = [=, &g](const std::string &kind, int v, bool fromEnd) {
    return one(g.add(
        kind, {v},
        [=](ArrayRef<Type> types) -> std::optional<Built> {
          if (types[0] != in)
            return std::nullopt;
          std::vector<int64_t> size(in.rank(), 1);
          size[dim] = count;
          std::string padding, s = in.scalar().str();
          for (int64_t i = 0; i < in.rank(); ++i)
            padding += (i ? ", [" : "[") +
                       list({i == dim && !fromEnd ? count - 1 : 0,
                             i == dim && fromEnd ? count - 1 : 0}) +
                       "]";
          return Built{{in},
                       scalarConstant("z", in.scalar(), "0") +
                           "$R = \"stablehlo.reduce_window\"($0, %z~) "
                           "<{window_dimensions = " +
                           braced(size) + ", padding = dense<[" + padding +
                           "]> : tensor<" + std::to_string(in.rank()) +
                           "x2xi64>}> (" + region("add", s) + ") : (" +
                           in.str() + ", " + s + ") -> " + in.str()};
        },
        {summed(in, g.accuracy(v), count)}));
  };
  Layer layer{sum("cumulative", x, false), nullptr};
  layer.backward = [=](int cotangent) {
    return sum("cumulative_gradient", cotangent, true);
  };
  return layer;
}

//===----------------------------------------------------------------------===//
// Networks
//===----------------------------------------------------------------------===//

static bool makeNetwork(Generator &g) {
  int x = g.any(
      [&](int v) {
        return (g.type(v).element == "f32" || g.type(v).element == "f64") &&
               g.type(v).rank() <= 4 && g.accuracy(v).magnitude < 100;
      },
      1);
  if (x < 0)
    return false;
  std::vector<Layer> layers;
  int value = x;
  for (int64_t depth = g.pick(1, 3), i = 0; i < depth; ++i) {
    bool image = g.type(value).rank() >= 3;
    Layer layer;
    switch (g.pick(0, image ? 9 : 5)) {
    case 0:
      layer = applyDense(g, value);
      break;
    case 1:
      layer = applyBias(g, value);
      break;
    case 2:
      layer = applyRelu(g, value);
      break;
    case 3:
      layer = applyTake(g, value);
      break;
    case 4:
      layer = applySlice(g, value);
      break;
    case 5:
      layer = applyCumulative(g, value);
      break;
    case 6:
      layer = applyPooling(g, value);
      break;
    default:
      layer = applyConvolution(g, value);
      break;
    }
    // A constraint behind the layer has a value of its own.
    if (layer.output < 0)
      continue;
    value = layer.output;
    layers.push_back(std::move(layer));
  }
  if (layers.empty())
    return false;
  int cotangent = g.like(g.type(value),
                         [&](int v) { return g.accuracy(v).magnitude < 100; });
  for (const Layer &layer : reverse(layers))
    if (cotangent >= 0)
      cotangent = layer.backward(cotangent);
  return true;
}

void addGradientKinds(std::vector<Kind> &kinds) {
  kinds.push_back({"network", 8, makeNetwork});
}

} // namespace shardc::fuzz
