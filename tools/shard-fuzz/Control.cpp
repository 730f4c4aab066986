//===- Control.cpp - Random control flow ----------------------------------===//

#include "Generator.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace shardc::fuzz {

/// A loop that counts to `trips` and carries two tensors that change places,
/// one of them shifted along `dim`, or freed of its largest element, on the
/// way.
static bool makeWhile(Generator &g) {
  int a = g.any(
      [&](int v) {
        return g.type(v).isFloat() && g.type(v).element != "bf16" &&
               g.type(v).element != "f16" && g.accuracy(v).magnitude < 100;
      },
      1);
  if (a < 0)
    return false;
  int b =
      g.like(g.type(a), [&](int v) { return g.accuracy(v).magnitude < 100; });
  int64_t trips = g.pick(0, 4), dim = g.pick(0, g.type(a).rank() - 1),
          shift = g.pick(-3, 3), body = g.pick(0, 2);
  Accuracy accuracy = either(g.accuracy(a), g.accuracy(b));
  for (int64_t i = 0; i < trips; ++i)
    accuracy.magnitude *= 2;
  if (accuracy.hasGrid())
    accuracy.grid -= trips;
  if (!isStorable(g.type(a), accuracy) || accuracy.apart > 0) {
    double rounding =
        16 * std::ldexp(accuracy.magnitude, -g.type(a).precision());
    accuracy.error = accuracy.error * std::pow(2.0, trips) + rounding;
    accuracy.apart = accuracy.apart * std::pow(2.0, trips) + rounding;
    accuracy.grid = Accuracy::kNoGrid;
  }
  return !g.add(
               "while", {a, b},
               [=](ArrayRef<Type> types) -> std::optional<Built> {
                 if (types[0] != types[1])
                   return std::nullopt;
                 const Type &type = types[0];
                 std::string t = type.str(), s = type.scalar().str();
                 std::string text =
                     scalarConstant("zero", {"i32", {}}, "0") +
                     scalarConstant("one", {"i32", {}}, "1") +
                     scalarConstant("n", {"i32", {}}, std::to_string(trips)) +
                     scalarConstant("half", type, "0.5") +
                     scalarConstant("z", type.scalar(), "0.25") +
                     scalarConstant("low", type.scalar(), "-100.0");
                 text +=
                     "%w~:3 = stablehlo.while(%i~ = %zero~, %x~ = $0, %y~ = "
                     "$1) : tensor<i32>, " +
                     t + ", " + t + "\n cond {\n" +
                     "%c~ = stablehlo.compare LT, %i~, %n~, SIGNED : "
                     "(tensor<i32>, tensor<i32>) -> "
                     "tensor<i1>\nstablehlo.return %c~ : tensor<i1>\n} do {\n" +
                     "%j~ = stablehlo.add %i~, %one~ : tensor<i32>\n";
                 if (body == 0) {
                   std::vector<int64_t> low(type.rank()), high(type.rank()),
                       interior(type.rank());
                   low[dim] = shift;
                   high[dim] = -shift;
                   if (std::abs(shift) >= type.shape[dim])
                     return std::nullopt;
                   text += "%m~ = stablehlo.pad %x~, %z~, low = [" + list(low) +
                           "], high = [" + list(high) + "], interior = [" +
                           list(interior) + "] : (" + t + ", " + s + ") -> " +
                           t + "\n%h~ = stablehlo.multiply %y~, %half~ : " + t +
                           "\n%v~ = stablehlo.add %h~, %m~ : " + t + "\n";
                 } else if (body == 1) {
                   std::vector<int64_t> shape = type.shape, dims;
                   shape.erase(shape.begin() + dim);
                   for (int64_t i = 0; i < type.rank(); ++i)
                     if (i != dim)
                       dims.push_back(i);
                   std::string r = type.with(shape).str();
                   text += "%r~ = stablehlo.reduce(%x~ init: %low~) applies "
                           "stablehlo.maximum across dimensions = [" +
                           std::to_string(dim) + "] : (" + t + ", " + s +
                           ") -> " + r +
                           "\n%m~ = stablehlo.broadcast_in_dim %r~, dims = [" +
                           list(dims) + "] : (" + r + ") -> " + t +
                           "\n%h~ = stablehlo.multiply %m~, %half~ : " + t +
                           "\n%v~ = stablehlo.subtract %y~, %h~ : " + t + "\n";
                 } else {
                   text += "%m~ = stablehlo.reverse %x~, dims = [" +
                           std::to_string(dim) + "] : " + t +
                           "\n%h~ = stablehlo.multiply %m~, %half~ : " + t +
                           "\n%v~ = stablehlo.add %h~, %y~ : " + t + "\n";
                 }
                 text += "stablehlo.return %j~, %y~, %v~ : tensor<i32>, " + t +
                         ", " + t + "\n}\n";
                 return Built{
                     {type, type},
                     text +
                         "$R = stablehlo.optimization_barrier %w~#1, %w~#2 : " +
                         t + ", " + t};
               },
               {accuracy, accuracy})
              .empty();
}

/// The branches read their operand from above; one of them reduces.
static bool makeBranch(Generator &g) {
  int v = g.any(
      [&](int v) {
        return g.type(v).isFloat() && g.accuracy(v).magnitude < 1e3;
      },
      1);
  if (v < 0)
    return false;
  bool cases = g.chance(50);
  int p = g.like({cases ? "i32" : "i1", {}});
  int64_t dim = g.pick(0, g.type(v).rank() - 1);
  Accuracy of = g.accuracy(v), moved = of;
  moved.magnitude *= 2;
  if (!isStorable(g.type(v), moved))
    moved.grid = Accuracy::kNoGrid;
  double rounding = 8 * std::ldexp(moved.magnitude, -g.type(v).precision());
  if (of.error > 0)
    moved.error = 2 * of.error + rounding;
  if (of.apart > 0 || !moved.hasGrid())
    moved.apart = 2 * of.apart + rounding;
  return g.addOne(
      cases ? "case" : "if", {p, v},
      [=](ArrayRef<Type> types) -> std::optional<Built> {
        const Type &type = types[1];
        std::vector<int64_t> shape = type.shape, dims;
        shape.erase(shape.begin() + dim);
        for (int64_t i = 0; i < type.rank(); ++i)
          if (i != dim)
            dims.push_back(i);
        std::string t = type.str(), s = type.scalar().str(),
                    r = type.with(shape).str();
        std::string text =
            scalarConstant("low", type.scalar(), "-1000.0") +
            "$R = \"stablehlo." + (cases ? "case" : "if") + "\"($0) ({\n" +
            "%r~ = stablehlo.reduce($1 init: %low~) applies stablehlo.maximum "
            "across dimensions = [" +
            std::to_string(dim) + "] : (" + t + ", " + s + ") -> " + r +
            "\n%m~ = stablehlo.broadcast_in_dim %r~, dims = [" + list(dims) +
            "] : (" + r + ") -> " + t +
            "\n%h~ = stablehlo.subtract $1, %m~ : " + t +
            "\nstablehlo.return %h~ : " + t + "\n}, {\n";
        if (cases)
          text += "%u~ = stablehlo.reverse $1, dims = [" + std::to_string(dim) +
                  "] : " + t + "\nstablehlo.return %u~ : " + t + "\n}, {\n";
        text += "%k~ = stablehlo.negate $1 : " + t +
                "\nstablehlo.return %k~ : " + t + "\n}) : (" + types[0].str() +
                ") -> " + t;
        return Built{{type}, text};
      },
      moved);
}

/// jax.lax.scan: slices along `dim` by the counter, a carried value, and what
/// each iteration leaves, written by the counter.
static bool makeScan(Generator &g) {
  int x = g.any(
      [&](int v) {
        return (g.type(v).element == "f32" || g.type(v).element == "f64" ||
                g.type(v).element == "i32") &&
               g.accuracy(v).magnitude < 100;
      },
      2);
  if (x < 0)
    return false;
  const Type type = g.type(x);
  int64_t dim = g.pick(0, type.rank() - 1), tripCount = type.shape[dim],
          body = g.pick(0, 2);
  bool backwards = g.chance(30);
  Type slice = type;
  slice.shape[dim] = 1;
  std::vector<int64_t> shape = type.shape;
  shape.erase(shape.begin() + dim);
  int carry = g.like(type.with(shape),
                     [&](int v) { return g.accuracy(v).magnitude < 100; });
  Accuracy all =
      summed(type, either(g.accuracy(x), g.accuracy(carry)), tripCount + 1);
  if (body == 2 && !(g.isExact(x) && g.isExact(carry)))
    return false;
  return !g.add(
               "scan", {x, carry},
               [=](ArrayRef<Type> types) -> std::optional<Built> {
                 if (types[0] != type || types[1] != type.with(shape))
                   return std::nullopt;
                 std::string t = type.str(), c = types[1].str(),
                             s = slice.str(), zeros, kinds;
                 for (int64_t i = 0; i < type.rank(); ++i) {
                   zeros += std::string(", ") + (i == dim ? "%at~" : "%zero~");
                   kinds += ", tensor<i32>";
                 }
                 std::string text =
                     scalarConstant("zero", {"i32", {}}, "0") +
                     scalarConstant("one", {"i32", {}}, "1") +
                     scalarConstant("last", {"i32", {}},
                                    std::to_string(tripCount - 1)) +
                     scalarConstant("n", {"i32", {}},
                                    std::to_string(tripCount)) +
                     scalarConstant("empty", type, "0");
                 text +=
                     "$R:3 = stablehlo.while(%i~ = %zero~, %c~ = $1, %y~ = "
                     "%empty~) : tensor<i32>, " +
                     c + ", " + t +
                     "\n cond {\n%l~ = stablehlo.compare LT, %i~, %n~, SIGNED "
                     ": "
                     "(tensor<i32>, tensor<i32>) -> "
                     "tensor<i1>\nstablehlo.return %l~ : tensor<i1>\n} do {\n" +
                     (backwards ? "%at~ = stablehlo.subtract %last~, %i~ : "
                                  "tensor<i32>\n"
                                : "%at~ = stablehlo.add %i~, %zero~ : "
                                  "tensor<i32>\n") +
                     "%s~ = stablehlo.dynamic_slice $0" + zeros +
                     ", sizes = [" + list(slice.shape) + "] : (" + t + kinds +
                     ") -> " + s + "\n%x~ = stablehlo.reshape %s~ : (" + s +
                     ") -> " + c + "\n%d~ = stablehlo." +
                     (body == 2 ? "maximum" : "add") + " %c~, %x~ : " + c +
                     "\n%u~ = stablehlo.reshape %d~ : (" + c + ") -> " + s +
                     "\n%z~ = stablehlo.dynamic_update_slice %y~, %u~" + zeros +
                     " : (" + t + ", " + s + kinds + ") -> " + t +
                     "\n%j~ = stablehlo.add %i~, %one~ : tensor<i32>\n" +
                     "stablehlo.return %j~, %d~, %z~ : tensor<i32>, " + c +
                     ", " + t + "\n}\n";
                 // The counter is no result of the op.
                 text.replace(text.find("$R:3"), 4, "%w~:3");
                 return Built{{types[1], type},
                              text +
                                  "$R = stablehlo.optimization_barrier "
                                  "%w~#1, %w~#2 : " +
                                  c + ", " + t};
               },
               {all, all})
              .empty();
}

/// Doubles a tensor until its largest element, on whichever rank it is, is
/// large enough; within the loop a second one that sums what is carried.
static bool makeDataLoop(Generator &g) {
  int v = g.any(
      [&](int v) {
        return g.type(v).element == "f32" && g.isExact(v) &&
               g.accuracy(v).hasGrid() && g.accuracy(v).magnitude < 32 &&
               isStorable(g.type(v), {64, g.accuracy(v).grid, 0});
      },
      1);
  if (v < 0)
    return false;
  bool nested = g.chance(40);
  std::vector<int64_t> dims;
  for (int64_t i = 0; i < g.type(v).rank(); ++i)
    dims.push_back(i);
  Accuracy accuracy = g.accuracy(v);
  accuracy.magnitude = 64;
  return g.addOne(
      nested ? "while_nested" : "while_until", {v},
      [=](ArrayRef<Type> types) -> std::optional<Built> {
        if (static_cast<size_t>(types[0].rank()) != dims.size())
          return std::nullopt;
        std::string t = types[0].str(), i = "tensor<i32>", f = "tensor<f32>";
        std::string text =
            scalarConstant("zero", {"i32", {}}, "0") +
            scalarConstant("one", {"i32", {}}, "1") +
            scalarConstant("most", {"i32", {}}, "5") +
            scalarConstant("two", {"i32", {}}, "2") +
            scalarConstant("low", {"f32", {}}, "-1000.0") +
            scalarConstant("limit", {"f32", {}}, "16.0") +
            "%w~:2 = stablehlo.while(%i~ = %zero~, %x~ = $0) : " + i + ", " +
            t +
            "\n cond {\n%m~ = stablehlo.reduce(%x~ init: %low~) applies "
            "stablehlo.maximum across dimensions = [" +
            list(dims) + "] : (" + t + ", " + f + ") -> " + f +
            "\n%s~ = stablehlo.compare LT, %m~, %limit~, FLOAT : (" + f + ", " +
            f +
            ") -> tensor<i1>\n%l~ = stablehlo.compare LT, %i~, %most~, "
            "SIGNED : (" +
            i + ", " + i +
            ") -> tensor<i1>\n%c~ = stablehlo.and %s~, %l~ : "
            "tensor<i1>\nstablehlo.return %c~ : tensor<i1>\n} do {\n";
        std::string inner = "%x~";
        if (nested) {
          inner = "%v~#1";
          text += "%v~:2 = stablehlo.while(%k~ = %zero~, %y~ = %x~) : " + i +
                  ", " + t +
                  "\n cond {\n%e~ = stablehlo.compare LT, %k~, %two~, SIGNED "
                  ": (" +
                  i + ", " + i +
                  ") -> tensor<i1>\nstablehlo.return %e~ : tensor<i1>\n} do "
                  "{\n%o~ = stablehlo.reverse %y~, dims = [0] : " +
                  t + "\n%q~ = stablehlo.add %k~, %one~ : " + i +
                  "\n%g~ = stablehlo.minimum %o~, %y~ : " + t +
                  "\nstablehlo.return %q~, %g~ : " + i + ", " + t + "\n}\n";
        }
        text += "%d~ = stablehlo.add " + inner + ", " + inner + " : " + t +
                "\n%j~ = stablehlo.add %i~, %one~ : " + i +
                "\nstablehlo.return %j~, %d~ : " + i + ", " + t +
                "\n}\n$R = stablehlo.negate %w~#1 : " + t;
        return Built{{types[0]}, text};
      },
      accuracy);
}

/// One of three branches, chosen by data that may be out of range (the last one
/// then): sums, another order, and what a sum along a dim leaves.
static bool makeCase(Generator &g) {
  auto isTerm = [&](int v) {
    return (g.type(v).element == "f32" || g.type(v).element == "f64") &&
           g.accuracy(v).magnitude <= 64;
  };
  int a = g.any(isTerm, 1);
  if (a < 0)
    return false;
  int b = g.like(g.type(a), isTerm), index = g.like({"i32", {}});
  int64_t rank = g.type(a).rank(), dim = g.pick(0, rank - 1),
          other = g.pick(0, rank - 1), count = g.type(a).shape[dim];
  Accuracy accuracy =
      summed(g.type(a), either(g.accuracy(a), g.accuracy(b)), count + 2);
  return !g.add("case", {a, b, index},
                [=](ArrayRef<Type> types) -> std::optional<Built> {
                  const Type &type = types[0];
                  if (types[1] != type || type.rank() != rank ||
                      type.shape[dim] > count)
                    return std::nullopt;
                  Type without = type;
                  without.shape.erase(without.shape.begin() + dim);
                  std::vector<int64_t> dims;
                  for (int64_t i = 0; i < rank; ++i)
                    if (i != dim)
                      dims.push_back(i);
                  std::string t = type.str(), w = without.str(),
                              back = "stablehlo.return ",
                              both = " : " + t + ", " + t + "\n}";
                  std::string text =
                      scalarConstant("four", {"i32", {}}, "4") +
                      scalarConstant("z", type.scalar(), "0") +
                      "%m~ = stablehlo.remainder $2, %four~ : tensor<i32>\n"
                      "$R:2 = \"stablehlo.case\"(%m~) ({\n%a~ = stablehlo.add "
                      "$0, $1 : " +
                      t + "\n" + back + "%a~, $1" + both +
                      ", {\n%b~ = stablehlo.reverse $1, dims = [" +
                      std::to_string(other) + "] : " + t + "\n" + back +
                      "$0, %b~" + both +
                      ", {\n%s~ = stablehlo.reduce($0 init: %z~) applies "
                      "stablehlo.add across dimensions = [" +
                      std::to_string(dim) + "] : (" + t + ", " +
                      type.scalar().str() + ") -> " + w +
                      "\n%d~ = stablehlo.broadcast_in_dim %s~, dims = [" +
                      list(dims) + "] : (" + w + ") -> " + t +
                      "\n%e~ = stablehlo.subtract $1, %d~ : " + t + "\n" +
                      back + "%e~, $0" + both + ") : (tensor<i32>) -> (" + t +
                      ", " + t + ")";
                  // Results have names of their own.
                  text.replace(text.find("$R:2"), 4, "%r~:2");
                  return Built{{type, type},
                               text +
                                   "\n$R = stablehlo.optimization_barrier "
                                   "%r~#0, %r~#1 : " +
                                   t + ", " + t};
                },
                {accuracy, accuracy})
              .empty();
}

void addControlKinds(std::vector<Kind> &kinds) {
  kinds.push_back({"while", 3, makeWhile});
  kinds.push_back({"branch", 2, makeBranch});
  kinds.push_back({"case", 2, makeCase});
  kinds.push_back({"scan", 3, makeScan});
  kinds.push_back({"while_until", 1, makeDataLoop});
}

} // namespace shardc::fuzz
