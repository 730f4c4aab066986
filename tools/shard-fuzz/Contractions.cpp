//===- Contractions.cpp - Random dot products and convolutions ------------===//

#include "Generator.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace shardc::fuzz {

static bool isContracted(Generator &g, int v) {
  const std::string &e = g.type(v).element;
  return (e == "f32" || e == "f64" || e == "i32" || e == "i64" || e == "bf16" ||
          e == "f16" || e == "i8" || e == "ui8" || e == "i4" || e == "ui4" ||
          e == "i2") &&
         g.accuracy(v).magnitude < 1e4;
}

/// Of `count` products summed.
static Accuracy contracted(const Type &type, Accuracy a, Accuracy b,
                           int64_t count) {
  if (!type.isFloat())
    return {1e18, 0, 0};
  // Products may be kept unrounded or not: what is exact is so in both.
  Accuracy product = multiplied(type, a, b);
  if (!product.hasGrid() && product.error == 0)
    product.error = std::ldexp(product.magnitude, 1 - type.precision());
  return summed(type, product, count);
}

static bool makeDot(Generator &g) {
  int a = g.any([&](int v) { return isContracted(g, v); }, 1);
  if (a < 0)
    return false;
  Type left = g.type(a);
  std::vector<int64_t> order(left.rank());
  for (auto [i, dim] : enumerate(order))
    dim = i;
  g.shuffle(order);
  int64_t contracting = g.pick(left.rank() > 1 ? g.chance(90) : 0,
                               std::min<int64_t>(left.rank(), 2));
  int64_t batching = g.chance(40) ? g.pick(0, left.rank() - contracting) : 0;
  std::vector<int64_t> leftContracted(order.begin(),
                                      order.begin() + contracting);
  std::vector<int64_t> leftBatch(order.begin() + contracting,
                                 order.begin() + contracting + batching);
  // The right operand: the same dims and up to two more, in any order.
  int64_t more = g.pick(0, 2), rank = contracting + batching + more;
  std::vector<int64_t> places(rank);
  for (auto [i, place] : enumerate(places))
    place = i;
  g.shuffle(places);
  std::vector<int64_t> rightContracted(places.begin(),
                                       places.begin() + contracting);
  std::vector<int64_t> rightBatch(places.begin() + contracting,
                                  places.begin() + contracting + batching);
  Type right = left.with(std::vector<int64_t>(rank, 0));
  int64_t count = 1;
  for (auto [l, r] : zip_equal(leftContracted, rightContracted))
    right.shape[r] = left.shape[l], count *= left.shape[l];
  for (auto [l, r] : zip_equal(leftBatch, rightBatch))
    right.shape[r] = left.shape[l];
  for (int64_t &size : right.shape)
    if (size == 0)
      size = g.extent(1, 8);
  int b = g.like(right, [&](int v) { return isContracted(g, v); });
  int bits = left.integerBits();
  bool narrow = left.element == "bf16" || (bits && bits <= 8);
  bool widen = narrow && g.chance(60);
  std::string wide = bits == 0                     ? "f32"
                     : left.element.front() == 'u' ? "ui32"
                                                   : "i32";
  Type resultElement{widen ? wide : left.element, {}};
  return g.addOne(
      "dot_general", {a, b},
      [=](ArrayRef<Type> types) -> std::optional<Built> {
        std::vector<int64_t> shape;
        for (auto [l, r] : zip_equal(leftBatch, rightBatch)) {
          if (types[0].shape[l] != types[1].shape[r])
            return std::nullopt;
          shape.push_back(types[0].shape[l]);
        }
        for (auto [l, r] : zip_equal(leftContracted, rightContracted))
          if (types[0].shape[l] != types[1].shape[r])
            return std::nullopt;
        for (auto [i, size] : enumerate(types[0].shape))
          if (!is_contained(leftBatch, i) && !is_contained(leftContracted, i))
            shape.push_back(size);
        for (auto [i, size] : enumerate(types[1].shape))
          if (!is_contained(rightBatch, i) && !is_contained(rightContracted, i))
            shape.push_back(size);
        Type result{resultElement.element, shape};
        return Built{
            {result},
            "$R = stablehlo.dot_general $0, $1, " +
                (leftBatch.empty() ? ""
                                   : "batching_dims = [" + list(leftBatch) +
                                         "] x [" + list(rightBatch) + "], ") +
                "contracting_dims = [" + list(leftContracted) + "] x [" +
                list(rightContracted) + "] : (" + types[0].str() + ", " +
                types[1].str() + ") -> " + result.str()};
      },
      contracted(resultElement, g.accuracy(a), g.accuracy(b), count));
}

/// "[b, 0, f]": the letters of `roles`, where 2, 3, … are spatial dims 0, 1, ….
static std::string layout(ArrayRef<int64_t> roles, char first, char second) {
  std::string text = "[";
  for (auto [i, role] : enumerate(roles)) {
    text += i ? ", " : "";
    text += role == 0   ? std::string(1, first)
            : role == 1 ? std::string(1, second)
                        : std::to_string(role - 2);
  }
  return text + "]";
}

static int64_t sizeOf(const Type &type, ArrayRef<int64_t> roles, int64_t role) {
  return type.shape[find(roles, role) - roles.begin()];
}

static bool makeConvolution(Generator &g) {
  int a = g.any(
      [&](int v) {
        return isContracted(g, v) && g.type(v).rank() <= 4 &&
               g.type(v).element != "bf16" && g.type(v).element != "f16";
      },
      3);
  if (a < 0)
    return false;
  Type left = g.type(a);
  int64_t spatial = left.rank() - 2;
  std::vector<int64_t> roles(left.rank());
  for (auto [i, role] : enumerate(roles))
    role = i;
  std::vector<int64_t> in = roles, kernel = roles, out = roles;
  if (g.chance(60)) {
    g.shuffle(in);
    g.shuffle(kernel);
    g.shuffle(out);
  }
  int64_t features = sizeOf(left, in, 1), batch = sizeOf(left, in, 0);
  std::vector<int64_t> groups = {1};
  bool byBatch = g.chance(20), byFeature = !byBatch && g.chance(30);
  for (int64_t d = 2; d <= (byBatch ? batch : features) && d <= 6; ++d)
    if ((byBatch || byFeature) && (byBatch ? batch : features) % d == 0)
      groups.push_back(d);
  int64_t group = g.oneOf(groups);
  int64_t featureGroups = byFeature ? group : 1,
          batchGroups = byBatch ? group : 1;
  // Roles of the kernel: 0 is o, 1 is i.
  std::vector<int64_t> sizes(left.rank());
  sizes[0] = group * g.extent(1, 4);
  sizes[1] = features / featureGroups;
  std::vector<int64_t> stride, low, high, lhsDilate, rhsDilate;
  std::string reverse, padding;
  int64_t count = sizes[1];
  bool reverses = g.chance(15), gradient = g.chance(20);
  for (int64_t i = 0; i < spatial; ++i) {
    int64_t size = sizeOf(left, in, i + 2);
    sizes[i + 2] =
        gradient ? std::max<int64_t>(1, size - g.pick(-1, 2)) : g.pick(1, 5);
    stride.push_back(g.chance(60) ? 1 : g.pick(2, 3));
    rhsDilate.push_back(g.chance(80) ? 1 : g.pick(2, 3));
    lhsDilate.push_back(g.chance(80) ? 1 : g.pick(2, 3));
    low.push_back(g.chance(60)   ? g.pick(0, 3)
                  : g.chance(20) ? g.pick(-2, 4)
                                 : 0);
    high.push_back(g.chance(60)   ? g.pick(0, 3)
                   : g.chance(20) ? g.pick(-2, 4)
                                  : 0);
    reverse += (i ? ", " : "") +
               std::string(reverses && g.chance(70) ? "true" : "false");
    padding += (i ? ", [" : "[") + list({low[i], high[i]}) + "]";
    count *= sizes[i + 2];
  }
  Type right = left;
  for (auto [i, role] : enumerate(kernel))
    right.shape[i] = sizes[role];
  int b = g.like(right, [&](int v) { return isContracted(g, v); });
  std::string window = "window = {stride = [" + list(stride) + "], pad = [" +
                       padding + "], lhs_dilate = [" + list(lhsDilate) +
                       "], rhs_dilate = [" + list(rhsDilate) + "]" +
                       (reverses ? ", reverse = [" + reverse + "]" : "") + "}";
  return g.addOne(
      gradient    ? "convolution_wide"
      : group > 1 ? "convolution_grouped"
                  : "convolution",
      {a, b},
      [=](ArrayRef<Type> types) -> std::optional<Built> {
        const Type &x = types[0], &k = types[1];
        if (sizeOf(x, in, 1) != sizeOf(k, kernel, 1) * featureGroups ||
            sizeOf(k, kernel, 0) % (featureGroups * batchGroups) ||
            sizeOf(x, in, 0) % batchGroups)
          return std::nullopt;
        std::vector<int64_t> shape(x.rank());
        for (auto [i, role] : enumerate(out)) {
          if (role == 0) {
            shape[i] = sizeOf(x, in, 0) / batchGroups;
          } else if (role == 1) {
            shape[i] = sizeOf(k, kernel, 0);
          } else {
            int64_t d = role - 2, size = sizeOf(x, in, role),
                    padded = (size ? (size - 1) * lhsDilate[d] + 1 : 0) +
                             low[d] + high[d];
            int64_t reach = (sizeOf(k, kernel, role) - 1) * rhsDilate[d] + 1;
            shape[i] = padded < reach ? 0 : (padded - reach) / stride[d] + 1;
          }
        }
        Type result = x.with(shape);
        return Built{
            {result},
            "$R = stablehlo.convolution($0, $1) dim_numbers = " +
                layout(in, 'b', 'f') + "x" + layout(kernel, 'o', 'i') + "->" +
                layout(out, 'b', 'f') + ", " + window +
                " {batch_group_count = " + std::to_string(batchGroups) +
                " : i64, feature_group_count = " +
                std::to_string(featureGroups) + " : i64} : (" + x.str() + ", " +
                k.str() + ") -> " + result.str()};
      },
      contracted(left, g.accuracy(a), g.accuracy(b), count));
}

/// softmax(q·kᵀ) · v, with heads or without, causal or not.
static bool makeAttention(Generator &g) {
  bool heads = g.chance(50), causal = g.chance(50), shared = g.chance(50);
  std::vector<int64_t> shape = {g.extent(1, 16), g.extent(1, 8)};
  if (heads)
    shape.insert(shape.begin(), g.pick(1, 4));
  Type query{g.chance(75) ? "f32" : "f64", shape};
  auto small = [&](int v) {
    return g.isExact(v) && g.accuracy(v).magnitude <= 2;
  };
  int q = g.like(query, small);
  Type key = query;
  if (!shared)
    key.shape[heads] = g.extent(1, 16);
  int k = g.like(key, small), v = g.like(key, small);
  int64_t depth = shape.back(), length = key.shape[heads];
  double epsilon = std::ldexp(1.0, -query.precision());
  double logits = depth * g.accuracy(q).magnitude * g.accuracy(k).magnitude;
  Accuracy result{g.accuracy(v).magnitude, Accuracy::kNoGrid, 0};
  result.error = 8 * result.magnitude * epsilon *
                 (logits * (depth + 4) + 4 * (length + 4));
  return g.addOne(
      causal ? "attention_causal" : "attention", {q, k, v},
      [=](ArrayRef<Type> types) -> std::optional<Built> {
        const Type &q = types[0], &k = types[1];
        if (types[2] != k || q.shape.back() != k.shape.back() ||
            (heads && q.shape[0] != k.shape[0]))
          return std::nullopt;
        std::vector<int64_t> scores = q.shape, rows = q.shape, dims;
        scores.back() = k.shape[heads];
        rows.pop_back();
        for (size_t i = 0; i < rows.size(); ++i)
          dims.push_back(i);
        std::string t = q.with(scores).str(), r = q.with(rows).str(),
                    e = q.scalar().str(), last = std::to_string(dims.size()),
                    batch = heads ? "batching_dims = [0] x [0], " : "",
                    from = "%s~", text;
        text = "%s~ = stablehlo.dot_general $0, $1, " + batch +
               "contracting_dims = [" + last + "] x [" + last + "] : (" +
               q.str() + ", " + k.str() + ") -> " + t + "\n";
        if (causal) {
          Type index{"i32", scores}, mask{"i1", scores};
          text += "%i~ = stablehlo.iota dim = " + std::to_string(heads) +
                  " : " + index.str() +
                  "\n%j~ = stablehlo.iota dim = " + std::to_string(heads + 1) +
                  " : " + index.str() +
                  "\n%m~ = stablehlo.compare GE, %i~, %j~, SIGNED : (" +
                  index.str() + ", " + index.str() + ") -> " + mask.str() +
                  "\n" + scalarConstant("n", q.with(scores), "-1.0e9") +
                  "%x~ = stablehlo.select %m~, %s~, %n~ : " + mask.str() +
                  ", " + t + "\n";
          from = "%x~";
        }
        auto reduce = [&](const std::string &name, const std::string &of,
                          const std::string &init, const std::string &op) {
          return scalarConstant(name + "z", q.scalar(), init) + "%" + name +
                 "r~ = stablehlo.reduce(" + of + " init: %" + name +
                 "z~) applies stablehlo." + op + " across dimensions = [" +
                 last + "] : (" + t + ", " + e + ") -> " + r + "\n%" + name +
                 "b~ = stablehlo.broadcast_in_dim %" + name + "r~, dims = [" +
                 list(dims) + "] : (" + r + ") -> " + t + "\n";
        };
        text += reduce("h", from, "-1.0e30", "maximum") +
                "%d~ = stablehlo.subtract " + from + ", %hb~ : " + t +
                "\n%e~ = stablehlo.exponential %d~ : " + t + "\n" +
                reduce("l", "%e~", "0.0", "add") +
                "%p~ = stablehlo.divide %e~, %lb~ : " + t +
                "\n$R = stablehlo.dot_general %p~, $2, " + batch +
                "contracting_dims = [" + last + "] x [" +
                std::to_string(heads) + "] : (" + t + ", " + k.str() + ") -> " +
                q.str();
        return Built{{q}, text};
      },
      result);
}

void addContractionKinds(std::vector<Kind> &kinds) {
  kinds.push_back({"dot_general", 7, makeDot});
  kinds.push_back({"convolution", 8, makeConvolution});
  kinds.push_back({"attention", 2, makeAttention});
}

} // namespace shardc::fuzz
