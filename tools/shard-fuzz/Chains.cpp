//===- Chains.cpp - Random sums on their way ------------------------------===//
//
// What passes that combine late, or send together, look for: sums of sums, sums
// of what was summed along another dim, sums in loops, reads of one tensor with
// several margins.
//
//===----------------------------------------------------------------------===//

#include "Generator.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace shardc::fuzz {

/// f32 or f64, small enough to be summed twice.
static int anyTerms(Generator &g, int64_t minRank) {
  return g.any(
      [&](int v) {
        return (g.type(v).element == "f32" || g.type(v).element == "f64") &&
               g.accuracy(v).magnitude <= 64;
      },
      minRank);
}

static Type without(Type type, int64_t dim) {
  type.shape.erase(type.shape.begin() + dim);
  return type;
}

/// A line that makes `to` of `from` combined along `dim`, from `init`.
static std::string reduced(const std::string &to, const std::string &from,
                           const Type &type, int64_t dim, const std::string &op,
                           const std::string &init) {
  return scalarConstant(to.substr(1) + "i", type.scalar(), init) + to +
         "~ = stablehlo.reduce(" + from + " init: " + to +
         "i~) applies stablehlo." + op + " across dimensions = [" +
         std::to_string(dim) + "] : (" + type.str() + ", " +
         type.scalar().str() + ") -> " + without(type, dim).str() + "\n";
}

/// Both terms are partial: they may be combined once.
static bool makeSumOfSums(Generator &g) {
  int a = anyTerms(g, 1);
  if (a < 0)
    return false;
  int b =
      g.like(g.type(a), [&](int v) { return g.accuracy(v).magnitude <= 64; });
  int64_t dim = g.pick(0, g.type(a).rank() - 1);
  std::string op = g.chance(60) ? "add" : "subtract";
  return g.addOne(
      "sum_of_sums", {a, b},
      [=](ArrayRef<Type> types) -> std::optional<Built> {
        if (types[0] != types[1])
          return std::nullopt;
        Type result = without(types[0], dim);
        return Built{{result},
                     reduced("%a", "$0", types[0], dim, "add", "0.0") +
                         reduced("%b", "$1", types[1], dim, "add", "0.0") +
                         "$R = stablehlo." + op +
                         " %a~, %b~ : " + result.str()};
      },
      summed(g.type(a), either(g.accuracy(a), g.accuracy(b)),
             2 * g.type(a).shape[dim] + 1));
}

/// Sums, or maxima, of one dim, summed along another, sometimes from a start.
static bool makeSumOfReduction(Generator &g) {
  int v = anyTerms(g, 2);
  if (v < 0)
    return false;
  int64_t rank = g.type(v).rank(), first = g.pick(0, rank - 1),
          second = g.pick(0, rank - 2);
  bool isMax = g.chance(40);
  std::string start = g.chance(50) ? "0.0" : "0.5";
  const Type &type = g.type(v);
  Accuracy once = isMax ? either(g.accuracy(v), {100, -2, 0})
                        : summed(type, g.accuracy(v), type.shape[first] + 1);
  return g.addOne(
      isMax ? "sum_of_maxima" : "sum_of_a_sum", {v},
      [=](ArrayRef<Type> types) -> std::optional<Built> {
        Type middle = without(types[0], first),
             result = without(middle, second);
        return Built{{result},
                     reduced("%a", "$0", types[0], first,
                             isMax ? "maximum" : "add",
                             isMax ? "-100.0" : "0.0") +
                         "%n~ = stablehlo.negate %a~ : " + middle.str() + "\n" +
                         reduced("%b", "%n~", middle, second, "add", start) +
                         "$R = stablehlo.negate %b~ : " + result.str()};
      },
      summed(type, either(once, {0.5, -2, 0}),
             without(type, first).shape[second] + 1));
}

/// The sum of 1.5 over sums that are at least one.
static bool makeSumOfQuotients(Generator &g) {
  int v = anyTerms(g, 2);
  if (v < 0)
    return false;
  int64_t rank = g.type(v).rank(), first = g.pick(0, rank - 1),
          second = g.pick(0, rank - 2);
  const Type &type = g.type(v);
  double terms = without(type, first).shape[second];
  Accuracy sum = summed(type, g.accuracy(v), type.shape[first] + 1);
  Accuracy result{1.5 * terms, Accuracy::kNoGrid, 0};
  auto error = [&](double error) {
    return terms *
           (1.5 * error + 64 * terms * std::ldexp(1.0, -type.precision()));
  };
  result.error = error(sum.error), result.apart = error(sum.apart);
  return g.addOne(
      "sum_of_quotients", {v},
      [=](ArrayRef<Type> types) -> std::optional<Built> {
        Type middle = without(types[0], first),
             result = without(middle, second);
        std::string t = types[0].str();
        return Built{{result},
                     "%p~ = stablehlo.abs $0 : " + t + "\n" +
                         scalarConstant("o", types[0], "1.0") +
                         "%q~ = stablehlo.add %p~, %o~ : " + t + "\n" +
                         reduced("%a", "%q~", types[0], first, "add", "0.0") +
                         scalarConstant("c", middle, "1.5") +
                         "%d~ = stablehlo.divide %c~, %a~ : " + middle.str() +
                         "\n" +
                         reduced("%b", "%d~", middle, second, "add", "0.0") +
                         "$R = stablehlo.negate %b~ : " + result.str()};
      },
      result);
}

/// A sum of sums over the iterations of a loop, from a start.
static bool makeSumInLoop(Generator &g) {
  int v = anyTerms(g, 1);
  if (v < 0)
    return false;
  const Type &type = g.type(v);
  int64_t dim = g.pick(0, type.rank() - 1), trips = g.pick(1, 3);
  std::string start = g.chance(40) ? "0.0" : "0.75";
  Accuracy of = either(g.accuracy(v), {0.75, -2, 0});
  if (of.hasGrid())
    of.grid -= trips;
  return g.addOne(
      "sum_in_a_loop", {v},
      [=](ArrayRef<Type> types) -> std::optional<Built> {
        Type result = without(types[0], dim);
        std::string t = types[0].str(), r = result.str();
        return Built{
            {result},
            scalarConstant("zero", {"i32", {}}, "0") +
                scalarConstant("one", {"i32", {}}, "1") +
                scalarConstant("n", {"i32", {}}, std::to_string(trips)) +
                scalarConstant("s", result, start) +
                scalarConstant("half", types[0], "0.5") +
                "%w~:3 = stablehlo.while(%k~ = %zero~, %x~ = $0, %y~ = %s~) : "
                "tensor<i32>, " +
                t + ", " + r +
                "\n cond {\n%c~ = stablehlo.compare LT, %k~, %n~, SIGNED : "
                "(tensor<i32>, tensor<i32>) -> tensor<i1>\nstablehlo.return "
                "%c~ : tensor<i1>\n} do {\n%j~ = stablehlo.add %k~, %one~ : "
                "tensor<i32>\n" +
                reduced("%a", "%x~", types[0], dim, "add", "0.0") +
                "%v~ = stablehlo.add %y~, %a~ : " + r +
                "\n%h~ = stablehlo.multiply %x~, %half~ : " + t +
                "\nstablehlo.return %j~, %h~, %v~ : tensor<i32>, " + t + ", " +
                r + "\n}\n$R = stablehlo.negate %w~#2 : " + r};
      },
      summed(type, of, trips * type.shape[dim] + 2));
}

/// One tensor, moved past its edges twice, along one dim or two: the fills are
/// the same or not.
static bool makeTwoShifts(Generator &g) {
  int v = anyTerms(g, 1);
  if (v < 0)
    return false;
  struct Shift {
    int64_t dim, by;
    std::string fill;
  };
  Shift first{g.pick(0, g.type(v).rank() - 1), g.pick(1, 2), g.randomFloat()};
  Shift second{g.pick(0, g.type(v).rank() - 1), -g.pick(1, 2),
               g.chance(50) ? first.fill : g.randomFloat()};
  return g.addOne(
      "two_shifts", {v},
      [=](ArrayRef<Type> types) -> std::optional<Built> {
        const Type &type = types[0];
        std::string t = type.str(), s = type.scalar().str(), text;
        for (auto [name, shift] :
             {std::pair("%a", first), std::pair("%b", second)}) {
          if (type.shape[shift.dim] <= std::abs(shift.by))
            return std::nullopt;
          std::vector<int64_t> low(type.rank()), high(type.rank()),
              interior(type.rank());
          low[shift.dim] = shift.by;
          high[shift.dim] = -shift.by;
          text += scalarConstant(std::string(name).substr(1) + "f",
                                 type.scalar(), shift.fill) +
                  name + "~ = stablehlo.pad $0, " + name + "f~, low = [" +
                  list(low) + "], high = [" + list(high) + "], interior = [" +
                  list(interior) + "] : (" + t + ", " + s + ") -> " + t + "\n";
        }
        return Built{{type}, text + "$R = stablehlo.subtract %a~, %b~ : " + t};
      },
      summed(g.type(v), either(g.accuracy(v), {3, -2, 0}), 2));
}

/// Sums of one tensor along two dims, which do not need one another.
static bool makeTwoSums(Generator &g) {
  int v = anyTerms(g, 2);
  if (v < 0)
    return false;
  const Type &type = g.type(v);
  int64_t first = g.pick(0, type.rank() - 1),
          second = (first + g.pick(1, type.rank() - 1)) % type.rank();
  return !g.add("two_sums", {v},
                [=](ArrayRef<Type> types) -> std::optional<Built> {
                  Type a = without(types[0], first),
                       b = without(types[0], second);
                  return Built{
                      {a, b},
                      reduced("%a", "$0", types[0], first, "add", "0.0") +
                          reduced("%b", "$0", types[0], second, "add", "0.0") +
                          "$R = stablehlo.optimization_barrier %a~, %b~ : " +
                          a.str() + ", " + b.str()};
                },
                {summed(type, g.accuracy(v), type.shape[first] + 1),
                 summed(type, g.accuracy(v), type.shape[second] + 1)})
              .empty();
}

void addChainKinds(std::vector<Kind> &kinds) {
  kinds.push_back({"sum_of_sums", 1, makeSumOfSums});
  kinds.push_back({"sum_of_reduction", 1, makeSumOfReduction});
  kinds.push_back({"sum_of_quotients", 1, makeSumOfQuotients});
  kinds.push_back({"sum_in_a_loop", 1, makeSumInLoop});
  kinds.push_back({"two_shifts", 1, makeTwoShifts});
  kinds.push_back({"two_sums", 1, makeTwoSums});
}

} // namespace shardc::fuzz
