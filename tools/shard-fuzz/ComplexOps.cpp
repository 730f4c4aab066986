//===- ComplexOps.cpp - Complex numbers at places that are data -----------===//
//
// Gathers, scatters, slices, windows and loops of complex numbers. Those of
// Rarer.cpp are at places that the program says.
//
//===----------------------------------------------------------------------===//

#include "Generator.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace shardc::fuzz {

namespace {
/// Complex numbers made of an operand, and what is done to them.
struct ComplexText {
  Type part;        ///< of their real parts
  std::string text; ///< so far

  static std::string typeOf(const Type &part) {
    return Type{"complex<" + part.element + ">", part.shape}.str();
  }
  /// "%`name`~" = `operand` - i times itself, reversed along dim 0.
  ComplexText(const Type &part, const std::string &name,
              const std::string &operand)
      : part(part) {
    std::string t = part.str();
    text = "%" + name + "y~ = stablehlo.reverse " + operand +
           ", dims = [0] : " + t + "\n%" + name + "n~ = stablehlo.negate %" +
           name + "y~ : " + t + "\n%" + name + "~ = stablehlo.complex " +
           operand + ", %" + name + "n~ : " + typeOf(part) + "\n";
  }
  /// The text with "$R" = real plus imaginary parts of "%f~", of `type` parts.
  Built built(const Type &type) const {
    std::string c = typeOf(type), t = type.str();
    return {{type},
            text + "\n%re~ = stablehlo.real %f~ : (" + c + ") -> " + t +
                "\n%im~ = stablehlo.imag %f~ : (" + c + ") -> " + t +
                "\n$R = stablehlo.add %re~, %im~ : " + t};
  }
};
} // namespace

static bool isPart(Generator &g, int v) {
  const std::string &e = g.type(v).element;
  return (e == "f32" || e == "f64") && g.accuracy(v).magnitude <= 64;
}

static int anyPart(Generator &g) {
  return g.any([&](int v) { return isPart(g, v); }, 1);
}

/// Of the sum of the parts of `count` numbers added up.
static Accuracy summedParts(const Type &type, Accuracy of, int64_t count) {
  return summed(type, of, 2 * count);
}

static std::string regionOfSum(const Type &part) {
  std::string c = ComplexText::typeOf(part.scalar());
  return "{\n^bb0(%p~: " + c + ", %q~: " + c +
         "):\n%r~ = stablehlo.add %p~, "
         "%q~ : " +
         c + "\nstablehlo.return %r~ : " + c + "\n}";
}

/// Rows gathered from dim `dim`, or added to rows of it.
static bool makeComplexRows(Generator &g) {
  int v = anyPart(g);
  if (v < 0)
    return false;
  const Type in = g.type(v);
  int64_t rank = in.rank(), dim = g.pick(0, rank - 1), count = g.pick(1, 6);
  Type indices{"i32", {count, 1}}, rows = in;
  rows.shape.erase(rows.shape.begin() + dim);
  rows.shape.insert(rows.shape.begin(), count);
  std::vector<int64_t> windows, sizes = in.shape;
  sizes[dim] = 1;
  for (int64_t i = 1; i < rank; ++i)
    windows.push_back(i);
  bool scatters = g.chance(60);
  int at = g.like(indices);
  std::vector<int> operands = {v, at};
  if (scatters)
    operands.push_back(g.like(rows, [&](int u) { return isPart(g, u); }));
  std::string dims =
      (windows.empty()
           ? ""
           : (scatters ? "update_window_dims = [" : "offset_dims = [") +
                 list(windows) + "], ") +
      (scatters ? "inserted_window_dims = [" : "collapsed_slice_dims = [") +
      std::to_string(dim) +
      (scatters ? "], scatter_dims_to_operand_dims = ["
                : "], start_index_map = [") +
      std::to_string(dim) + "], index_vector_dim = 1>";
  Accuracy of = g.accuracy(v);
  if (scatters)
    of = either(of, g.accuracy(operands[2]));
  return g.addOne(
      scatters ? "complex_scatter" : "complex_gather", operands,
      [=](ArrayRef<Type> types) -> std::optional<Built> {
        if (types[0] != in || types[1] != indices ||
            (scatters && types[2] != rows))
          return std::nullopt;
        ComplexText c(in, "c", "$0");
        std::string t = ComplexText::typeOf(in), r = ComplexText::typeOf(rows);
        if (!scatters) {
          c.text += "%f~ = \"stablehlo.gather\"(%c~, $1) <{dimension_numbers = "
                    "#stablehlo.gather<" +
                    dims + ", slice_sizes = " + braced(sizes) + "}> : (" + t +
                    ", " + indices.str() + ") -> " + r;
          return c.built(rows);
        }
        c.text += ComplexText(rows, "u", "$2").text +
                  "%f~ = \"stablehlo.scatter\"(%c~, $1, %u~) "
                  "<{scatter_dimension_numbers = #stablehlo.scatter<" +
                  dims + "}> (" + regionOfSum(in) + ") : (" + t + ", " +
                  indices.str() + ", " + r + ") -> " + t;
        return c.built(in);
      },
      summedParts(in, of, scatters ? count + 1 : 1));
}

/// A block read or written at places that are scalars.
static bool makeComplexBlock(Generator &g) {
  int v = anyPart(g);
  if (v < 0)
    return false;
  const Type in = g.type(v);
  Type block = in;
  for (int64_t &size : block.shape)
    size = g.chance(40) ? size : g.pick(1, size);
  bool writes = g.chance(50);
  std::vector<int> operands = {v};
  if (writes)
    operands.push_back(g.like(block, [&](int u) { return isPart(g, u); }));
  for (int64_t i = 0; i < in.rank(); ++i)
    operands.push_back(g.like({"i32", {}}));
  Accuracy of = g.accuracy(v);
  if (writes)
    of = either(of, g.accuracy(operands[1]));
  return g.addOne(
      writes ? "complex_update" : "complex_slice", operands,
      [=](ArrayRef<Type> types) -> std::optional<Built> {
        if (types[0] != in || (writes && types[1] != block))
          return std::nullopt;
        std::string starts, kinds;
        for (size_t i = 1 + writes; i < types.size(); ++i) {
          starts += ", $" + std::to_string(i);
          kinds += ", tensor<i32>";
        }
        ComplexText c(in, "c", "$0");
        std::string t = ComplexText::typeOf(in), b = ComplexText::typeOf(block);
        if (!writes) {
          c.text += "%f~ = stablehlo.dynamic_slice %c~" + starts +
                    ", sizes = [" + list(block.shape) + "] : (" + t + kinds +
                    ") -> " + b;
          return c.built(block);
        }
        c.text += ComplexText(block, "u", "$1").text +
                  "%f~ = stablehlo.dynamic_update_slice %c~, %u~" + starts +
                  " : (" + t + ", " + b + kinds + ") -> " + t;
        return c.built(in);
      },
      summedParts(in, of, 1));
}

/// Sums of windows of two or three along one dim, with zeros beyond the ends.
static bool makeComplexWindow(Generator &g) {
  int v = anyPart(g);
  if (v < 0)
    return false;
  int64_t rank = g.type(v).rank(), dim = g.pick(0, rank - 1),
          width = g.pick(2, 3), stride = g.pick(1, 2), low = g.pick(0, 2),
          high = g.pick(0, 2);
  return g.addOne(
      "complex_window", {v},
      [=](ArrayRef<Type> types) -> std::optional<Built> {
        const Type &in = types[0];
        if (in.rank() != rank || in.shape[dim] < width)
          return std::nullopt;
        Type out = in;
        out.shape[dim] = (in.shape[dim] + low + high - width) / stride + 1;
        std::vector<int64_t> sizes(rank, 1), strides(rank, 1);
        sizes[dim] = width, strides[dim] = stride;
        std::string padding, s = ComplexText::typeOf(in.scalar());
        for (int64_t i = 0; i < rank; ++i)
          padding +=
              (i ? ", [" : "[") + (i == dim ? list({low, high}) : "0, 0") + "]";
        ComplexText c(in, "c", "$0");
        c.text += "%z~ = stablehlo.constant dense<(0.0, 0.0)> : " + s +
                  "\n%f~ = \"stablehlo.reduce_window\"(%c~, %z~) "
                  "<{window_dimensions = " +
                  braced(sizes) + ", window_strides = " + braced(strides) +
                  ", padding = dense<[" + padding + "]> : tensor<" +
                  std::to_string(rank) + "x2xi64>}> (" + regionOfSum(in) +
                  ") : (" + ComplexText::typeOf(in) + ", " + s + ") -> " +
                  ComplexText::typeOf(out);
        return c.built(out);
      },
      summedParts(g.type(v), g.accuracy(v), width + 1));
}

/// Numbers that a loop turns by a right angle and reverses, some times: exact.
static bool makeComplexLoop(Generator &g) {
  int v = anyPart(g);
  if (v < 0)
    return false;
  int64_t rank = g.type(v).rank(), dim = g.pick(0, rank - 1),
          trips = g.pick(1, 5);
  return g.addOne(
      "complex_loop", {v},
      [=](ArrayRef<Type> types) -> std::optional<Built> {
        const Type &in = types[0];
        if (in.rank() != rank)
          return std::nullopt;
        std::string c = ComplexText::typeOf(in), t = in.str();
        ComplexText text(in, "c", "$0");
        text.text +=
            scalarConstant("zero", {"i32", {}}, "0") +
            scalarConstant("one", {"i32", {}}, "1") +
            scalarConstant("n", {"i32", {}}, std::to_string(trips)) +
            "%w~:2 = stablehlo.while(%k~ = %zero~, %x~ = %c~) : tensor<i32>, " +
            c +
            "\n cond {\n%d~ = stablehlo.compare LT, %k~, %n~, SIGNED : "
            "(tensor<i32>, tensor<i32>) -> tensor<i1>\nstablehlo.return %d~ : "
            "tensor<i1>\n} do {\n%j~ = stablehlo.add %k~, %one~ : "
            "tensor<i32>\n%a~ = stablehlo.real %x~ : (" +
            c + ") -> " + t + "\n%b~ = stablehlo.imag %x~ : (" + c + ") -> " +
            t + "\n%m~ = stablehlo.negate %b~ : " + t +
            "\n%h~ = stablehlo.complex %m~, %a~ : " + c +
            "\n%v~ = stablehlo.reverse %h~, dims = [" + std::to_string(dim) +
            "] : " + c + "\nstablehlo.return %j~, %v~ : tensor<i32>, " + c +
            "\n}\n%f~ = stablehlo.negate %w~#1 : " + c;
        return text.built(in);
      },
      summedParts(g.type(v), g.accuracy(v), 1));
}

void addComplexKinds(std::vector<Kind> &kinds) {
  kinds.push_back({"complex_rows", 2, makeComplexRows});
  kinds.push_back({"complex_block", 1, makeComplexBlock});
  kinds.push_back({"complex_window", 1, makeComplexWindow});
  kinds.push_back({"complex_loop", 1, makeComplexLoop});
}

} // namespace shardc::fuzz
