//===- Rarer.cpp - Random ops in forms that few programs have -------------===//
//
// What the other kinds never reach: complex numbers that are moved and
// contracted, transforms of several dims, tensors without elements, sorts,
// reductions and scatters of several operands, images of no and of three dims,
// shifts past the end, arithmetic on eight bits.
//
//===----------------------------------------------------------------------===//

#include "Generator.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace shardc::fuzz {

static double epsilonOf(const Type &type) {
  return std::ldexp(1.0, -type.precision());
}

static std::vector<int64_t> upTo(int64_t count) {
  std::vector<int64_t> all(count);
  for (auto [i, number] : enumerate(all))
    number = i;
  return all;
}

static std::string region(StringRef op, const Type &type) {
  std::string s = type.scalar().str();
  return "{\n^bb0(%p~: " + s + ", %q~: " + s + "):\n%r~ = stablehlo." +
         op.str() + " %p~, %q~ : " + s + "\nstablehlo.return %r~ : " + s +
         "\n}";
}

//===----------------------------------------------------------------------===//
// Complex numbers
//===----------------------------------------------------------------------===//

/// Numbers of f32 or f64 that are not large; -1 if there are none.
static int anyPart(Generator &g, int64_t minRank, double most) {
  return g.any(
      [&](int v) {
        const std::string &e = g.type(v).element;
        return (e == "f32" || e == "f64") && g.accuracy(v).magnitude <= most;
      },
      minRank);
}

static Type complexOf(const Type &part) {
  return {"complex<" + part.element + ">", part.shape};
}

/// "$R" = the real part minus the imaginary one of `name`, of `type`.
static std::string parts(const std::string &name, const Type &type) {
  std::string c = complexOf(type).str(), t = type.str();
  return "%re~ = stablehlo.real " + name + " : (" + c + ") -> " + t +
         "\n%im~ = stablehlo.imag " + name + " : (" + c + ") -> " + t +
         "\n$R = stablehlo.subtract %re~, %im~ : " + t;
}

/// x + i y, for which y is x, reversed along all dims.
static std::string complexText(const Type &type) {
  std::string t = type.str();
  return "%y~ = stablehlo.reverse $0, dims = [" + list(upTo(type.rank())) +
         "] : " + t +
         "\n%c~ = stablehlo.complex $0, %y~ : " + complexOf(type).str() + "\n";
}

/// FFT, IFFT or IRFFT over up to three dims.
static bool makeTransform(Generator &g) {
  int v = anyPart(g, 1, 100);
  if (v < 0)
    return false;
  static const std::vector<std::string> kinds = {"FFT", "IFFT", "IRFFT",
                                                 "RFFT"};
  std::string kind = g.oneOf(kinds);
  int64_t dims = g.pick(1, std::min<int64_t>(g.type(v).rank(), 3));
  bool odd = g.chance(50);
  int64_t last = g.type(v).shape.back();
  if (kind == "IRFFT" && (last < 2 || dims > 1))
    return false;
  double n = 1;
  for (int64_t size : ArrayRef(g.type(v).shape).take_back(dims))
    n *= 2 * size;
  Accuracy of = g.accuracy(v),
           result{4 * of.magnitude * n, Accuracy::kNoGrid, 0};
  auto error = [&](double error) {
    return 4 * n * error + 64 * n * of.magnitude * epsilonOf(g.type(v));
  };
  result.error = error(of.error), result.apart = error(of.apart);
  return g.addOne(
      "fft_others", {v},
      [=](ArrayRef<Type> types) -> std::optional<Built> {
        const Type &t = types[0];
        if (t.rank() < dims)
          return std::nullopt;
        std::vector<int64_t> lengths(t.shape.end() - dims, t.shape.end());
        Type out = t;
        if (kind == "IRFFT") {
          out.shape.back() = 2 * (t.shape.back() - 1) + odd;
          if (out.shape.back() < 1)
            return std::nullopt;
          lengths.back() = out.shape.back();
        }
        if (kind == "RFFT")
          out.shape.back() = t.shape.back() ? t.shape.back() / 2 + 1 : 0;
        bool fromReal = kind == "RFFT", toReal = kind == "IRFFT";
        std::string text = fromReal ? "" : complexText(t);
        text += (toReal ? "$R" : "%f~") + std::string(" = stablehlo.fft ") +
                (fromReal ? "$0" : "%c~") + ", type = " + kind +
                ", length = [" + list(lengths) + "] : (" +
                (fromReal ? t : complexOf(t)).str() + ") -> " +
                (toReal ? out : complexOf(out)).str();
        if (!toReal)
          text += "\n" + parts("%f~", out);
        return Built{{out}, text};
      },
      result);
}

/// Complex numbers moved by one op, summed or multiplied with one another.
static bool makeComplexMoved(Generator &g) {
  int v = anyPart(g, 1, 30);
  if (v < 0)
    return false;
  int64_t rank = g.type(v).rank(), dim = g.pick(0, rank - 1),
          size = g.type(v).shape[dim], kind = g.pick(0, 7);
  std::vector<int64_t> order = upTo(rank);
  g.shuffle(order);
  int64_t low = g.pick(-1, 3), interior = g.pick(0, 1),
          start = g.pick(0, size - 1), step = g.pick(1, 2);
  Accuracy of = g.accuracy(v), twice = either(of, of);
  twice.magnitude *= 2;
  if (!isStorable(g.type(v), twice))
    twice.grid = Accuracy::kNoGrid;
  Accuracy result = twice;
  result.error *= 2, result.apart *= 2;
  if (!result.hasGrid())
    result.apart += 4 * epsilonOf(g.type(v)) * twice.magnitude;
  if (kind == 0) { // sums
    result = summed(g.type(v), twice, 2 * size + 1);
  } else if (kind == 1) { // products of rows, four products each
    result = multiplied(g.type(v), twice, twice);
    if (!result.hasGrid())
      result.error =
          std::max(result.error, 4 * epsilonOf(g.type(v)) * result.magnitude);
    result = summed(g.type(v), result, 4 * size);
  } else if (kind == 2) { // a product each
    result = multiplied(g.type(v), twice, twice);
    result.magnitude *= 4, result.error *= 4, result.apart *= 4;
    result.grid = Accuracy::kNoGrid;
    result.apart += 16 * epsilonOf(g.type(v)) * result.magnitude;
    result.error = result.apart;
  }
  return g.addOne(
      "complex_moved", {v},
      [=](ArrayRef<Type> types) -> std::optional<Built> {
        const Type &t = types[0];
        if (t.rank() != rank || t.shape[dim] != size)
          return std::nullopt;
        Type out = t;
        std::string c = complexOf(t).str(), s = complexOf(t.scalar()).str(),
                    text = complexText(t),
                    zero = "%z~ = stablehlo.constant dense<(0.0, 0.0)> : " + s +
                           "\n";
        auto made = [&] { return " : (" + c + ") -> " + complexOf(out).str(); };
        switch (kind) {
        case 0:
          out.shape.erase(out.shape.begin() + dim);
          text += zero +
                  "%f~ = stablehlo.reduce(%c~ init: %z~) applies "
                  "stablehlo.add across dimensions = [" +
                  std::to_string(dim) + "] : (" + c + ", " + s + ") -> " +
                  complexOf(out).str();
          break;
        case 1: {
          std::vector<int64_t> free = t.shape;
          free.erase(free.begin() + dim);
          out.shape = free;
          out.shape.insert(out.shape.end(), free.begin(), free.end());
          text += "%f~ = stablehlo.dot_general %c~, %c~, contracting_dims = [" +
                  std::to_string(dim) + "] x [" + std::to_string(dim) +
                  "] : (" + c + ", " + c + ") -> " + complexOf(out).str();
          break;
        }
        case 2:
          text += "%f~ = stablehlo.multiply %c~, %c~ : " + c;
          break;
        case 3:
          for (auto [i, from] : enumerate(order))
            out.shape[i] = t.shape[from];
          text += "%f~ = stablehlo.transpose %c~, dims = [" + list(order) +
                  "]" + made();
          break;
        case 4: {
          std::vector<int64_t> lows(rank), inner(rank);
          lows[dim] = low, inner[dim] = interior;
          out.shape[dim] = 2 * low + (size - 1) * (interior + 1) + 1;
          text += zero + "%f~ = stablehlo.pad %c~, %z~, low = [" + list(lows) +
                  "], high = [" + list(lows) + "], interior = [" + list(inner) +
                  "] : (" + c + ", " + s + ") -> " + complexOf(out).str();
          break;
        }
        case 5: {
          out.shape[dim] = (size - start + step - 1) / step;
          std::string ranges;
          for (int64_t i = 0; i < rank; ++i)
            ranges +=
                (i ? ", " : "") +
                (i == dim ? std::to_string(start) + ":" + std::to_string(size) +
                                ":" + std::to_string(step)
                          : "0:" + std::to_string(t.shape[i]));
          text += "%f~ = stablehlo.slice %c~ [" + ranges + "]" + made();
          break;
        }
        case 6:
          out.shape[dim] = 2 * size;
          text += "%f~ = stablehlo.concatenate %c~, %c~, dim = " +
                  std::to_string(dim) + " : (" + c + ", " + c + ") -> " +
                  complexOf(out).str();
          break;
        default: {
          std::string m = Type{"i1", t.shape}.str();
          text += "%d~ = stablehlo.complex %y~, $0 : " + c +
                  "\n%m~ = stablehlo.compare NE, %c~, %d~, FLOAT : (" + c +
                  ", " + c + ") -> " + m +
                  "\n%n~ = stablehlo.negate %d~ : " + c +
                  "\n%f~ = stablehlo.select %m~, %c~, %n~ : " + m + ", " + c;
          break;
        }
        }
        return Built{{out}, text + "\n" + parts("%f~", out)};
      },
      result);
}

//===----------------------------------------------------------------------===//
// Tensors without elements
//===----------------------------------------------------------------------===//

/// A slice of no elements, and what becomes of it: sums are their first value,
/// paddings nothing else, and what is joined to it stays what it was.
static bool makeEmpty(Generator &g) {
  int v = g.any([&](int v) { return g.type(v).element != "i1"; }, 1);
  if (v < 0)
    return false;
  int64_t rank = g.type(v).rank(), dim = g.pick(0, rank - 1),
          kind = g.pick(0, 6), low = g.pick(1, 3),
          start = g.pick(0, g.type(v).shape[dim]);
  return g.addOne(
      "empty", {v},
      [=](ArrayRef<Type> types) -> std::optional<Built> {
        const Type &t = types[0];
        if (t.rank() != rank || t.shape[dim] < start)
          return std::nullopt;
        Type none = t, out = t;
        none.shape[dim] = 0;
        std::string n = none.str(), s = t.scalar().str(),
                    d = std::to_string(dim), ranges;
        for (int64_t i = 0; i < rank; ++i)
          ranges +=
              (i ? ", " : "") +
              (i == dim ? std::to_string(start) + ":" + std::to_string(start)
                        : "0:" + std::to_string(t.shape[i]));
        std::string text = "%e~ = stablehlo.slice $0 [" + ranges + "] : (" +
                           t.str() + ") -> " + n + "\n" +
                           scalarConstant("z", t.scalar(), "1");
        switch (kind) {
        case 0:
          out.shape.erase(out.shape.begin() + dim);
          text += "$R = stablehlo.reduce(%e~ init: %z~) applies stablehlo.add "
                  "across dimensions = [" +
                  d + "] : (" + n + ", " + s + ") -> " + out.str();
          break;
        case 1: {
          std::vector<int64_t> lows(rank), zeros(rank);
          lows[dim] = low;
          out.shape[dim] = low;
          text += "$R = stablehlo.pad %e~, %z~, low = [" + list(lows) +
                  "], high = [" + list(zeros) + "], interior = [" +
                  list(zeros) + "] : (" + n + ", " + s + ") -> " + out.str();
          break;
        }
        case 2:
          text += "$R = stablehlo.concatenate %e~, $0, %e~, dim = " + d +
                  " : (" + n + ", " + t.str() + ", " + n + ") -> " + t.str();
          break;
        case 3: { // no products
          std::vector<int64_t> free = t.shape;
          free.erase(free.begin() + dim);
          out.shape = free;
          out.shape.insert(out.shape.end(), free.begin(), free.end());
          text += "$R = stablehlo.dot_general %e~, %e~, contracting_dims = [" +
                  d + "] x [" + d + "] : (" + n + ", " + n + ") -> " +
                  out.str();
          break;
        }
        case 4: { // rows at no places
          Type indices{"i32", {0, 1}};
          Type updates = t;
          updates.shape.erase(updates.shape.begin() + dim);
          updates.shape.insert(updates.shape.begin(), 0);
          std::vector<int64_t> windows = upTo(rank);
          windows.erase(windows.begin());
          std::vector<int64_t> order = {dim};
          for (int64_t i = 0; i < rank; ++i)
            if (i != dim)
              order.push_back(i);
          text += "%u~ = stablehlo.transpose %e~, dims = [" + list(order) +
                  "] : (" + n + ") -> " + updates.str() +
                  "\n%i~ = stablehlo.constant dense<0> : " + indices.str() +
                  "\n$R = \"stablehlo.scatter\"($0, %i~, %u~) "
                  "<{scatter_dimension_numbers = #stablehlo.scatter<" +
                  (windows.empty()
                       ? ""
                       : "update_window_dims = [" + list(windows) + "], ") +
                  "inserted_window_dims = [" + d +
                  "], scatter_dims_to_operand_dims = [" + d +
                  "], index_vector_dim = 1>}> (" + region("add", t) + ") : (" +
                  t.str() + ", " + indices.str() + ", " + updates.str() +
                  ") -> " + t.str();
          break;
        }
        case 5: { // windows over nothing but padding
          std::vector<int64_t> sizes(rank, 1);
          std::string padding;
          for (int64_t i = 0; i < rank; ++i)
            padding += (i ? ", [" : "[") +
                       (i == dim ? std::to_string(low) + ", 1" : "0, 0") + "]";
          sizes[dim] = 2;
          out.shape[dim] = low;
          text += "$R = \"stablehlo.reduce_window\"(%e~, %z~) "
                  "<{window_dimensions = " +
                  braced(sizes) + ", padding = dense<[" + padding +
                  "]> : tensor<" + std::to_string(rank) + "x2xi64>}> (" +
                  region("maximum", t) + ") : (" + n + ", " + s + ") -> " +
                  out.str();
          break;
        }
        default:
          text += "%f~ = stablehlo.reverse %e~, dims = [" + d + "] : " + n +
                  "\n%g~ = stablehlo.multiply %f~, %e~ : " + n +
                  "\n%h~ = stablehlo.broadcast_in_dim %z~, dims = [] : (" + s +
                  ") -> " + t.str() +
                  "\n$R = stablehlo.concatenate %g~, %h~, "
                  "dim = " +
                  d + " : (" + n + ", " + t.str() + ") -> " + t.str();
          break;
        }
        return Built{{out}, text};
      },
      either(g.accuracy(v), {1, 0, 0}));
}

//===----------------------------------------------------------------------===//
// Several operands
//===----------------------------------------------------------------------===//

/// Two keys and a position, ordered by one after the other: no two rows are
/// alike, so that it need not be stable.
static bool makeSortSeveral(Generator &g) {
  int v = g.any(
      [&](int v) { return g.type(v).element != "i1" && g.isExact(v); }, 1);
  if (v < 0)
    return false;
  int64_t dim = g.pick(0, g.type(v).rank() - 1);
  Type second{g.chance(50) ? "i32" : "f32", g.type(v).shape};
  int w = g.like(second, [&](int v) { return g.isExact(v); });
  bool stable = g.chance(30), descends = g.chance(50);
  // Where zeros of both signs are one, no order is total over bits.
  auto modeOf = [](const Type &type) -> std::string {
    return type.isFloat()                ? "FLOAT"
           : type.element.front() == 'u' ? "UNSIGNED"
                                         : "SIGNED";
  };
  return !g.add("sort_several", {v, w},
                [=](ArrayRef<Type> types) -> std::optional<Built> {
                  if (types[0].shape != types[1].shape)
                    return std::nullopt;
                  Type places{"i32", types[0].shape};
                  std::string a = types[0].scalar().str(),
                              b = types[1].scalar().str(), i = "tensor<i32>",
                              d = std::to_string(dim);
                  auto compare = [&](const std::string &name, StringRef how,
                                     const std::string &x, const std::string &y,
                                     const Type &of) {
                    std::string s = of.scalar().str();
                    return "%" + name + "~ = stablehlo.compare " + how.str() +
                           ", %" + x + "~, %" + y + "~, " + modeOf(of) +
                           " : (" + s + ", " + s + ") -> tensor<i1>\n";
                  };
                  std::string kinds = types[0].str() + ", " + types[1].str() +
                                      ", " + places.str();
                  std::string text =
                      "%at~ = stablehlo.iota dim = " + d + " : " +
                      places.str() +
                      "\n$R = \"stablehlo.sort\"($1, $0, %at~) <{dimension = " +
                      d + " : i64, is_stable = " + (stable ? "true" : "false") +
                      "}> ({\n^bb0(%c~: " + b + ", %d~: " + b + ", %a~: " + a +
                      ", %b~: " + a + ", %i~: " + i + ", %j~: " + i + "):\n" +
                      compare("l", descends ? "GT" : "LT", "c", "d", types[1]) +
                      compare("e", "EQ", "c", "d", types[1]) +
                      compare("m", "LT", "a", "b", types[0]) +
                      compare("f", "EQ", "a", "b", types[0]) +
                      compare("n", "LT", "i", "j", places) +
                      "%s~ = stablehlo.and %f~, %n~ : tensor<i1>\n"
                      "%t~ = stablehlo.or %m~, %s~ : tensor<i1>\n"
                      "%u~ = stablehlo.and %e~, %t~ : tensor<i1>\n"
                      "%v~ = stablehlo.or %l~, %u~ : tensor<i1>\n"
                      "stablehlo.return %v~ : tensor<i1>\n}) : (" +
                      types[1].str() + ", " + types[0].str() + ", " +
                      places.str() + ") -> (" + types[1].str() + ", " +
                      types[0].str() + ", " + places.str() + ")";
                  return Built{{types[1], types[0], places}, text};
                },
                {g.accuracy(w), g.accuracy(v), {16, 0, 0}})
              .empty();
}

/// Sums of one operand beside the largest of another, over dims or windows.
static bool makeReduceSeveral(Generator &g) {
  int v = g.any(
      [&](int v) {
        return g.type(v).element == "f32" || g.type(v).element == "i32";
      },
      1);
  if (v < 0)
    return false;
  Type second{g.type(v).element == "f32" ? "i32" : "f32", g.type(v).shape};
  int w = g.like(second);
  int64_t rank = g.type(v).rank(), dim = g.pick(0, rank - 1),
          size = g.type(v).shape[dim];
  bool windowed = g.chance(50);
  int64_t window = g.pick(1, 4), stride = g.pick(1, 2), low = g.pick(0, 2),
          high = g.pick(0, 2), dilation = g.chance(30) ? 2 : 1;
  Accuracy sums = summed(g.type(v), either(g.accuracy(v), {1, 0, 0}),
                         (windowed ? window : size) + 1);
  Accuracy most = either(g.accuracy(w), {8, 0, 0});
  return !g.add(windowed ? "reduce_window_several" : "reduce_several", {v, w},
                [=](ArrayRef<Type> types) -> std::optional<Built> {
                  if (types[0].shape != types[1].shape ||
                      types[0].rank() != rank || types[0].shape[dim] > size)
                    return std::nullopt;
                  std::vector<int64_t> shape = types[0].shape;
                  if (windowed) {
                    int64_t padded = shape[dim] + low + high,
                            reach = (window - 1) * dilation + 1;
                    shape[dim] =
                        padded < reach ? 0 : (padded - reach) / stride + 1;
                  } else {
                    shape.erase(shape.begin() + dim);
                  }
                  Type a = types[0].with(shape), b = types[1].with(shape);
                  std::string s = types[0].scalar().str(),
                              t = types[1].scalar().str();
                  std::string text =
                      scalarConstant("y", types[0].scalar(), "1") +
                      scalarConstant("z", types[1].scalar(), "-8") +
                      "$R = \"stablehlo.reduce" + (windowed ? "_window" : "") +
                      "\"($0, $1, %y~, %z~) <{";
                  if (windowed) {
                    std::vector<int64_t> sizes(rank, 1), strides(rank, 1),
                        dilations(rank, 1);
                    sizes[dim] = window, strides[dim] = stride;
                    dilations[dim] = dilation;
                    std::string padding;
                    for (int64_t i = 0; i < rank; ++i)
                      padding +=
                          (i ? ", [" : "[") +
                          list({i == dim ? low : 0, i == dim ? high : 0}) + "]";
                    text += "window_dimensions = " + braced(sizes) +
                            ", window_strides = " + braced(strides) +
                            ", window_dilations = " + braced(dilations) +
                            ", padding = dense<[" + padding + "]> : tensor<" +
                            std::to_string(rank) + "x2xi64>";
                  } else {
                    text += "dimensions = " + braced({dim});
                  }
                  text += "}> ({\n^bb0(%a~: " + s + ", %b~: " + t +
                          ", %c~: " + s + ", %d~: " + t +
                          "):\n%e~ = stablehlo.add %a~, %c~ : " + s +
                          "\n%f~ = stablehlo.maximum %b~, %d~ : " + t +
                          "\nstablehlo.return %e~, %f~ : " + s + ", " + t +
                          "\n}) : (" + types[0].str() + ", " + types[1].str() +
                          ", " + s + ", " + t + ") -> (" + a.str() + ", " +
                          b.str() + ")";
                  return Built{{a, b}, text};
                },
                {sums, most})
              .empty();
}

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

/// Between two tensors of bounds.
static bool makeClampTensors(Generator &g) {
  int v = g.any([&](int v) { return g.type(v).element != "i1"; }, 1);
  if (v < 0)
    return false;
  int a = g.like(g.type(v)), b = g.like(g.type(v));
  return g.addOne(
      "clamp_tensors", {v, a, b},
      [](ArrayRef<Type> types) -> std::optional<Built> {
        if (!all_equal(types))
          return std::nullopt;
        std::string t = types[0].str();
        return Built{{types[0]},
                     "%l~ = stablehlo.minimum $1, $2 : " + t +
                         "\n%h~ = stablehlo.maximum $1, $2 : " + t +
                         "\n$R = stablehlo.clamp %l~, $0, %h~ : " + t};
      },
      either(g.accuracy(v), either(g.accuracy(a), g.accuracy(b))));
}

/// Quotients and remainders by negative numbers: both go toward zero.
static bool makeNegativeDivisor(Generator &g) {
  int a = g.any([&](int v) {
    int bits = g.type(v).integerBits();
    return bits >= 4 && g.type(v).element.front() == 'i';
  });
  if (a < 0)
    return false;
  std::string name = g.chance(50) ? "divide" : "remainder";
  return g.addOne("negative_" + name, {a},
                  [=](ArrayRef<Type> types) -> std::optional<Built> {
                    std::string t = types[0].str();
                    // -7, -5, -3, no overflow.
                    return Built{{types[0]},
                                 scalarConstant("k", types[0], "4") +
                                     scalarConstant("m", types[0], "-7") +
                                     "%a~ = stablehlo.and $0, %k~ : " + t +
                                     "\n%d~ = stablehlo.add %a~, %m~ : " + t +
                                     "\n$R = stablehlo." + name +
                                     " $0, %d~ : " + t};
                  },
                  {1e18, 0, 0});
}

//===----------------------------------------------------------------------===//
// Convolutions
//===----------------------------------------------------------------------===//

/// Of no or of three spatial dims, in halves too; batch and features may stand
/// anywhere.
static bool makeConvolutionOthers(Generator &g) {
  bool none = g.chance(30);
  static const std::vector<std::string> elements = {"f32",  "f32", "f16",
                                                    "bf16", "i32", "f64"};
  Type left{g.oneOf(elements), {g.pick(1, 5), g.pick(1, 4)}};
  for (int64_t i = 0; i < (none ? 0 : 3); ++i)
    left.shape.push_back(g.pick(2, 5));
  std::vector<int64_t> in = upTo(left.rank()), kernel = in, out = in;
  g.shuffle(in), g.shuffle(kernel), g.shuffle(out);
  // Roles: batch (or outputs), features (or inputs), spatial dims.
  std::vector<int64_t> sizes = left.shape, right(left.rank()),
                       result(left.rank());
  int64_t spatial = left.rank() - 2, outputs = g.pick(1, 4), count = sizes[1];
  std::vector<int64_t> stride, low, dilate, base, kernels = {outputs, sizes[1]},
                                                  results = {sizes[0], outputs};
  std::string padding;
  for (int64_t i = 0; i < spatial; ++i) {
    kernels.push_back(g.pick(1, 3));
    stride.push_back(g.pick(1, 2));
    dilate.push_back(g.chance(70) ? 1 : 2);
    base.push_back(g.chance(80) ? 1 : 2);
    low.push_back(g.pick(0, 2));
    count *= kernels.back();
    int64_t padded = (sizes[i + 2] - 1) * base[i] + 1 + 2 * low[i],
            reach = (kernels.back() - 1) * dilate[i] + 1;
    if (padded < reach)
      return false;
    results.push_back((padded - reach) / stride[i] + 1);
    padding += (i ? ", [" : "[") + list({low[i], low[i]}) + "]";
  }
  Type x = left, k = left, y = left;
  for (int64_t i = 0; i < left.rank(); ++i) {
    x.shape[i] = sizes[in[i]];
    k.shape[i] = kernels[kernel[i]];
    y.shape[i] = results[out[i]];
  }
  auto small = [&](int v) { return g.accuracy(v).magnitude <= 4; };
  int a = g.like(x, small), b = g.like(k, small);
  auto layout = [](ArrayRef<int64_t> roles, const char *first) {
    std::string text = "[";
    for (auto [i, role] : enumerate(roles))
      text += (i ? ", " : "") + (role < 2 ? std::string(1, first[role])
                                          : std::to_string(role - 2));
    return text + "]";
  };
  Accuracy product = multiplied(x, g.accuracy(a), g.accuracy(b));
  if (!product.hasGrid() && product.error == 0 && x.isFloat())
    product.error = std::ldexp(product.magnitude, 1 - x.precision());
  return g.addOne(
      none ? "convolution_of_points" : "convolution_of_volumes", {a, b},
      [=](ArrayRef<Type> types) -> std::optional<Built> {
        if (types[0] != x || types[1] != k)
          return std::nullopt;
        return Built{
            {y},
            "$R = stablehlo.convolution($0, $1) dim_numbers = " +
                layout(in, "bf") + "x" + layout(kernel, "oi") + "->" +
                layout(out, "bf") + ", window = {" +
                (spatial ? "stride = [" + list(stride) + "], pad = [" +
                               padding + "], lhs_dilate = [" + list(base) +
                               "], rhs_dilate = [" + list(dilate) + "]"
                         : "") +
                "} {batch_group_count = 1 : i64, feature_group_count = 1 : "
                "i64} : (" +
                x.str() + ", " + k.str() + ") -> " + y.str()};
      },
      x.isFloat() ? summed(x, product, count) : Accuracy{1e18, 0, 0});
}

//===----------------------------------------------------------------------===//
// Scatters of two operands, shifts past the end, arithmetic on eight bits
//===----------------------------------------------------------------------===//

/// Updates of two tensors at once. Apart: a sum and a maximum. Together: where
/// the first element is larger it takes the second with it, and of equal first
/// ones the larger second stays, so that no order matters.
static bool makeScatterPair(Generator &g) {
  bool together = g.chance(50);
  int v = g.any(
      [&](int v) {
        return g.type(v).element != "i1" && (!together || g.isExact(v));
      },
      1);
  if (v < 0)
    return false;
  const Type in = g.type(v);
  int64_t dim = g.pick(0, in.rank() - 1), count = g.pick(1, 9);
  auto exact = [&](int v) { return g.isExact(v); };
  Type second{g.chance(50) ? "i32" : "f32", in.shape};
  auto rowsOf = [dim, count](Type type) {
    type.shape.erase(type.shape.begin() + dim);
    type.shape.insert(type.shape.begin(), count);
    return type;
  };
  Type updates = rowsOf(in), others = rowsOf(second);
  int w = g.like(second, exact), at = g.like({"i32", {count}}),
      u = g.like(updates, exact), x = g.like(others, exact);
  Accuracy first = either(g.accuracy(v), g.accuracy(u));
  if (!together)
    first = summed(in, first, count + 1);
  std::vector<int64_t> windows;
  for (int64_t i = 1; i < in.rank(); ++i)
    windows.push_back(i);
  return !g.add("scatter_pair", {v, w, at, u, x},
                [=](ArrayRef<Type> types) -> std::optional<Built> {
                  if (types[0] != in || types[1] != second ||
                      types[2] != Type{"i32", {count}} || types[3] != updates ||
                      types[4] != others)
                    return std::nullopt;
                  std::string s = in.scalar().str(), t = second.scalar().str(),
                              d = std::to_string(dim);
                  std::string body =
                      together
                          ? "%g~ = stablehlo.compare GT, %p~, %q~ : (" + s +
                                ", " + s +
                                ") -> tensor<i1>\n%e~ = stablehlo.compare EQ, "
                                "%p~, %q~ : (" +
                                s + ", " + s +
                                ") -> tensor<i1>\n%y~ = stablehlo.maximum %m~, "
                                "%n~ : " +
                                t +
                                "\n%z~ = stablehlo.select %g~, %m~, %n~ : " +
                                "tensor<i1>, " + t +
                                "\n%a~ = stablehlo.maximum %p~, %q~ : " + s +
                                "\n%b~ = stablehlo.select %e~, %y~, %z~ : "
                                "tensor<i1>, " +
                                t
                          : "%a~ = stablehlo.add %p~, %q~ : " + s +
                                "\n%b~ = stablehlo.maximum %m~, %n~ : " + t;
                  return Built{
                      {in, second},
                      "$R = \"stablehlo.scatter\"($0, $1, $2, $3, $4) "
                      "<{scatter_dimension_numbers = #stablehlo.scatter<" +
                          (windows.empty() ? ""
                                           : "update_window_dims = [" +
                                                 list(windows) + "], ") +
                          "inserted_window_dims = [" + d +
                          "], scatter_dims_to_operand_dims = [" + d +
                          "], index_vector_dim = 1>}> ({\n^bb0(%p~: " + s +
                          ", %m~: " + t + ", %q~: " + s + ", %n~: " + t +
                          "):\n" + body + "\nstablehlo.return %a~, %b~ : " + s +
                          ", " + t + "\n}) : (" + in.str() + ", " +
                          second.str() + ", " + types[2].str() + ", " +
                          updates.str() + ", " + others.str() + ") -> (" +
                          in.str() + ", " + second.str() + ")"};
                },
                {first, either(g.accuracy(w), g.accuracy(x))})
              .empty();
}

/// Shifts by anything, also by more bits than there are, which leaves zero or
/// the sign.
static bool makeShiftOut(Generator &g) {
  int a = g.anyInteger();
  if (a < 0)
    return false;
  static const std::vector<std::string> names = {
      "shift_left", "shift_right_arithmetic", "shift_right_logical"};
  std::string name = g.oneOf(names);
  int b = g.like(g.type(a));
  return g.addOne("shift_out", {a, b},
                  [=](ArrayRef<Type> types) -> std::optional<Built> {
                    if (types[0] != types[1])
                      return std::nullopt;
                    return Built{{types[0]},
                                 "$R = stablehlo." + name +
                                     " $0, $1 : " + types[0].str()};
                  },
                  {1e18, 0, 0});
}

/// Sums, products and extrema of floats of eight bits, element by element and
/// over a dim.
static bool makeEightBitsArithmetic(Generator &g) {
  int v = g.any(
      [&](int v) {
        return g.type(v).element == "f32" && g.isExact(v) &&
               g.accuracy(v).magnitude <= 2;
      },
      1);
  if (v < 0)
    return false;
  static const std::vector<std::string> formats = {"f8E4M3FN", "f8E5M2",
                                                   "f8E4M3"},
                                        names = {"add", "multiply", "maximum",
                                                 "minimum"};
  std::string format = g.oneOf(formats), name = g.oneOf(names);
  bool reduces = g.chance(50) && name != "multiply";
  const Type in = g.type(v);
  int64_t dim = g.pick(0, in.rank() - 1), size = in.shape[dim];
  int w = reduces ? v : g.like(in, [&](int w) {
    return g.isExact(w) && g.accuracy(w).magnitude <= 2;
  });
  // Numbers are multiples of 2^-16, of products of 2^-18; an element rounds
  // twice, a sum once more for each element.
  double most = 2.5 * 2.5;
  Accuracy accuracy{most, -18, 0, 0};
  if (reduces && name == "add") {
    most = 2.5 * (size + 1);
    double apart = (size + 1) * most * 0.125;
    accuracy = {most * 1.5, Accuracy::kNoGrid, apart, apart};
  }
  return g.addOne(
      reduces ? "eight_bits_reduced" : "eight_bits_arithmetic",
      reduces ? std::vector<int>{v} : std::vector<int>{v, w},
      [=](ArrayRef<Type> types) -> std::optional<Built> {
        if (types[0].rank() <= dim || types[0].shape[dim] > size ||
            (!reduces && types[1] != types[0]))
          return std::nullopt;
        Type narrow{format, types[0].shape}, out = types[0];
        std::string n = narrow.str(), s = narrow.scalar().str();
        std::string text = "%a~ = stablehlo.convert $0 : (" + types[0].str() +
                           ") -> " + n + "\n";
        if (reduces) {
          out.shape.erase(out.shape.begin() + dim);
          Type result{format, out.shape};
          text += scalarConstant("z", narrow.scalar(),
                                 name == "add"       ? "0.0"
                                 : name == "maximum" ? "-2.0"
                                                     : "2.0") +
                  "%r~ = stablehlo.reduce(%a~ init: %z~) applies stablehlo." +
                  name + " across dimensions = [" + std::to_string(dim) +
                  "] : (" + n + ", " + s + ") -> " + result.str() +
                  "\n$R = stablehlo.convert %r~ : (" + result.str() + ") -> " +
                  out.str();
        } else {
          text += "%b~ = stablehlo.convert $1 : (" + types[1].str() + ") -> " +
                  n + "\n%r~ = stablehlo." + name + " %a~, %b~ : " + n +
                  "\n$R = stablehlo.convert %r~ : (" + n + ") -> " + out.str();
        }
        return Built{{out}, text};
      },
      accuracy);
}

void addRarerKinds(std::vector<Kind> &kinds) {
  kinds.push_back({"fft_others", 1, makeTransform});
  kinds.push_back({"complex_moved", 2, makeComplexMoved});
  kinds.push_back({"empty", 2, makeEmpty});
  kinds.push_back({"sort_several", 1, makeSortSeveral});
  kinds.push_back({"reduce_several", 2, makeReduceSeveral});
  kinds.push_back({"clamp_tensors", 1, makeClampTensors});
  kinds.push_back({"negative_divisor", 1, makeNegativeDivisor});
  kinds.push_back({"convolution_others", 2, makeConvolutionOthers});
  kinds.push_back({"scatter_pair", 2, makeScatterPair});
  kinds.push_back({"shift_out", 1, makeShiftOut});
  kinds.push_back({"eight_bits_arithmetic", 2, makeEightBitsArithmetic});
}

} // namespace shardc::fuzz
