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
  if (!isStorable(g.type(a), accuracy) || accuracy.error > 0) {
    accuracy.error =
        accuracy.error * std::pow(2.0, trips) +
        16 * std::ldexp(accuracy.magnitude, -g.type(a).precision());
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
  if (of.error > 0)
    moved.error =
        2 * of.error + 8 * std::ldexp(moved.magnitude, -g.type(v).precision());
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

void addControlKinds(std::vector<Kind> &kinds) {
  kinds.push_back({"while", 3, makeWhile});
  kinds.push_back({"branch", 2, makeBranch});
}

} // namespace shardc::fuzz
