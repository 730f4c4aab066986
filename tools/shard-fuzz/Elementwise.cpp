//===- Elementwise.cpp - Random element-wise ops --------------------------===//

#include "Generator.h"

using namespace llvm;

namespace shardc::fuzz {

/// `stablehlo.NAME $0, … : TYPE`, all operands and the result of one type.
static Builder sameType(std::string name, int operands) {
  return [=](ArrayRef<Type> types) -> std::optional<Built> {
    if (!llvm::all_equal(types))
      return std::nullopt;
    std::string text = "$R = " + name + " $0";
    for (int i = 1; i < operands; ++i)
      text += ", $" + std::to_string(i);
    std::string suffix = " : " + types[0].str();
    if (name.starts_with("chlo."))
      suffix += " -> " + types[0].str();
    return Built{{types[0]}, text + suffix};
  };
}

namespace {
struct UnaryFunction {
  const char *name;
  double maxInput;  ///< no larger operand is taken
  double slope;     ///< on these inputs
  double maxOutput; ///< 0: as the input
  bool exactOnly;   ///< jumps: only where all ways to compute the operand give
                    ///< the same bits
};
} // namespace

/// max(x, LEAST) or |x| + PLUS before the op keeps it inside its domain.
static bool makeGuarded(Generator &g, const std::string &name, StringRef plus,
                        double slope, bool exactOnly) {
  int v = g.anyFloat(exactOnly, 0, 1e4);
  if (v < 0)
    return false;
  std::string added = plus.str();
  Builder build = [=](ArrayRef<Type> types) -> std::optional<Built> {
    std::string t = types[0].str();
    std::string text = "%a~ = stablehlo.abs $0 : " + t + "\n";
    std::string operand = "%a~";
    if (!added.empty()) {
      text += scalarConstant("k", types[0], added) +
              "%s~ = stablehlo.add %a~, %k~ : " + t + "\n";
      operand = "%s~";
    }
    return Built{{types[0]},
                 text + "$R = stablehlo." + name + " " + operand + " : " + t};
  };
  double magnitude = name == "log" || name == "log_plus_one"
                         ? 10
                         : g.accuracy(v).magnitude + 2;
  return g.addOne(name, {v}, build,
                  rounded(g.type(v), magnitude, slope, g.accuracy(v)));
}

static bool makeUnary(Generator &g, const UnaryFunction &f) {
  int v = g.anyFloat(f.exactOnly, 0, f.maxInput);
  if (v < 0)
    return false;
  Accuracy of = g.accuracy(v);
  std::string name = f.name;
  bool keepsGrid = name == "abs" || name == "negate";
  bool toInteger = f.exactOnly && name != "cbrt";
  Accuracy accuracy = rounded(
      g.type(v), f.maxOutput ? f.maxOutput : of.magnitude + (toInteger ? 1 : 0),
      f.slope, of,
      keepsGrid   ? of.grid
      : toInteger ? 0
                  : Accuracy::kNoGrid);
  if (keepsGrid)
    accuracy.error = of.error, accuracy.apart = of.apart;
  std::string full = (name == "erf" ? "chlo." : "stablehlo.") + name;
  return g.addOne(name, {v}, sameType(full, 1), accuracy);
}

static bool makeArithmetic(Generator &g, const std::string &name) {
  bool integers = g.chance(25);
  int a = integers ? g.anyInteger() : g.anyFloat();
  if (a < 0)
    return false;
  int b = g.like(g.type(a));
  Accuracy x = g.accuracy(a), y = g.accuracy(b), result;
  const Type &type = g.type(a);
  if (integers) {
    result = {1e18, 0, 0};
  } else if (name == "multiply") {
    result = multiplied(type, x, y);
  } else if (name == "add" || name == "subtract") {
    result = either(x, y);
    result.magnitude = x.magnitude + y.magnitude;
    bool exact = x.error == 0 && y.error == 0;
    if (!isStorable(type, result))
      result.grid = Accuracy::kNoGrid;
    double rounding = 4 * std::ldexp(result.magnitude, -type.precision());
    result.error = exact ? 0 : x.error + y.error + rounding;
    bool isExact = result.hasGrid() && x.apart == 0 && y.apart == 0;
    result.apart = isExact ? 0 : x.apart + y.apart + rounding;
  } else {
    result = either(x, y);
  }
  return g.addOne(name, {a, b}, sameType("stablehlo." + name, 2), result);
}

/// a / (|b| + 1), remainder, power and atan2 likewise: never a zero below.
static bool makeQuotient(Generator &g, const std::string &name) {
  bool jumps = name == "remainder";
  int a = g.anyFloat(jumps, 0, 100);
  if (a < 0)
    return false;
  int b = g.like(g.type(a), [&](int v) {
    return (!jumps || g.isExact(v)) && g.accuracy(v).magnitude <= 100;
  });
  bool power = name == "power";
  if (power && (g.accuracy(a).magnitude > 4 || g.accuracy(b).magnitude > 3))
    return false;
  Builder build = [=](ArrayRef<Type> types) -> std::optional<Built> {
    if (types[0] != types[1])
      return std::nullopt;
    std::string t = types[0].str();
    std::string text = std::string("%a~ = stablehlo.abs ") +
                       (power ? "$0" : "$1") + " : " + t + "\n" +
                       scalarConstant("k", types[0], "1.0") +
                       "%s~ = stablehlo.add %a~, %k~ : " + t + "\n";
    return Built{{types[0]},
                 text + "$R = stablehlo." + name +
                     (power ? " %s~, $1" : " $0, %s~") + " : " + t};
  };
  Accuracy of = either(g.accuracy(a), g.accuracy(b));
  of.error *= 2;
  of.apart *= 2;
  double x = g.accuracy(a).magnitude + 1, y = g.accuracy(b).magnitude;
  double slope = power ? (y + 3) * std::pow(x, y + 1) : x + 1;
  double magnitude = power                 ? std::pow(x, y)
                     : name == "atan2"     ? 2
                     : name == "remainder" ? y + 1
                                           : x;
  return g.addOne(name, {a, b}, build,
                  rounded(g.type(a), magnitude, slope, of));
}

static bool makeInteger(Generator &g, const std::string &name, int operands) {
  bool logic = name == "and" || name == "or" || name == "xor" || name == "not";
  int a = logic && g.chance(50)
              ? g.any([&](int v) { return g.type(v).element == "i1"; })
              : g.anyInteger();
  if (a < 0)
    return false;
  bool isUnsigned = StringRef(g.type(a).element).starts_with("ui");
  if (isUnsigned && (name == "negate" || name == "abs" || name == "sign"))
    return false;
  bool shift = StringRef(name).starts_with("shift"),
       divides = name == "divide" || name == "remainder";
  if (!shift && !divides) {
    std::vector<int> all{a};
    if (operands == 2)
      all.push_back(g.like(g.type(a)));
    return g.addOne(name + "_integer", all,
                    sameType("stablehlo." + name, operands), {1e18, 0, 0});
  }
  int b = g.like(g.type(a));
  Builder build = [=](ArrayRef<Type> types) -> std::optional<Built> {
    if (types[0] != types[1])
      return std::nullopt;
    std::string t = types[0].str();
    // Shifts of 0 to 7, divisors that are positive and odd.
    std::string text = scalarConstant("k", types[0], "7") +
                       "%s~ = stablehlo.and $1, %k~ : " + t + "\n";
    std::string operand = "%s~";
    if (divides) {
      text += scalarConstant("o", types[0], "1") +
              "%d~ = stablehlo.or %s~, %o~ : " + t + "\n";
      operand = "%d~";
    }
    return Built{{types[0]},
                 text + "$R = stablehlo." + name + " $0, " + operand + " : " +
                     t};
  };
  return g.addOne(name + "_integer", {a, b}, build, {1e18, 0, 0});
}

static bool makeCompare(Generator &g) {
  int a = g.chance(70) ? g.anyFloat(/*exact=*/true) : g.anyInteger();
  if (a < 0)
    return false;
  int b = g.like(g.type(a), [&](int v) { return g.isExact(v); });
  static const std::vector<std::string> directions = {"LT", "LE", "GT",
                                                      "GE", "EQ", "NE"};
  std::string direction = g.oneOf(directions);
  return g.addOne(
      "compare", {a, b},
      [=](ArrayRef<Type> types) -> std::optional<Built> {
        if (types[0] != types[1])
          return std::nullopt;
        Type result{"i1", types[0].shape};
        std::string kind = types[0].isFloat() ? "FLOAT"
                           : StringRef(types[0].element).starts_with("ui")
                               ? "UNSIGNED"
                               : "SIGNED";
        std::string t = types[0].str();
        return Built{{result},
                     "$R = stablehlo.compare " + direction + ", $0, $1, " +
                         kind + " : (" + t + ", " + t + ") -> " + result.str()};
      },
      {1, 0, 0});
}

static bool makeSelect(Generator &g) {
  int a = g.any([](int) { return true; });
  int b = g.like(g.type(a));
  int p = g.like(
      Type{"i1", g.chance(20) ? std::vector<int64_t>() : g.type(a).shape});
  return g.addOne(
      "select", {p, a, b},
      [](ArrayRef<Type> types) -> std::optional<Built> {
        if (types[1] != types[2] ||
            (types[0].rank() && types[0].shape != types[1].shape))
          return std::nullopt;
        return Built{{types[1]},
                     "$R = stablehlo.select $0, $1, $2 : " + types[0].str() +
                         ", " + types[1].str()};
      },
      either(g.accuracy(a), g.accuracy(b)));
}

static bool makeClamp(Generator &g) {
  int v = g.chance(70) ? g.anyFloat() : g.anyInteger();
  if (v < 0)
    return false;
  bool isUnsigned = StringRef(g.type(v).element).starts_with("ui");
  std::string low = isUnsigned            ? "2"
                    : g.type(v).isFloat() ? "-0.5"
                                          : "-3",
              high = isUnsigned            ? "9"
                     : g.type(v).isFloat() ? "0.75"
                                           : "5";
  Accuracy result = g.accuracy(v);
  result.magnitude = g.type(v).isFloat() ? 0.75 : 9;
  if (result.hasGrid())
    result.grid = std::min(result.grid, -2);
  return g.addOne(
      "clamp", {v},
      [=](ArrayRef<Type> types) -> std::optional<Built> {
        std::string s = types[0].scalar().str(), t = types[0].str();
        return Built{{types[0]},
                     scalarConstant("l", types[0].scalar(), low) +
                         scalarConstant("h", types[0].scalar(), high) +
                         "$R = stablehlo.clamp %l~, $0, %h~ : (" + s + ", " +
                         t + ", " + s + ") -> " + t};
      },
      result);
}

static bool makeConvert(Generator &g) {
  static const std::vector<std::string> targets = {
      "f32", "f32", "f64", "bf16", "f16", "i32", "i64", "i8",
      "i1",  "i4",  "ui4", "i2",   "ui8", "i16", "ui64"};
  std::string to = g.oneOf(targets);
  bool toFloat = Type{to, {}}.isFloat(), toUnsigned = to.front() == 'u';
  int bits = Type{to, {}}.integerBits();
  // What does not fit is for the implementation to say: not for us.
  int v = g.any([&](int v) {
    bool jumps = !toFloat && g.type(v).isFloat();
    double most = jumps && bits ? std::min(100.0, std::ldexp(1.0, bits - 1) - 1)
                  : to == "f16" ? 1000
                                : 1e18;
    return g.type(v).element != to &&
           (!jumps || (g.isExact(v) && !toUnsigned)) &&
           g.accuracy(v).magnitude <= most;
  });
  if (v < 0)
    return false;
  Accuracy of = g.accuracy(v);
  Accuracy result{toFloat ? of.magnitude : 1e18, 0, 0};
  if (toFloat)
    result = rounded({to, {}}, of.magnitude, 1, of, of.grid);
  return g.addOne(
      "convert", {v},
      [=](ArrayRef<Type> types) -> std::optional<Built> {
        Type result{to, types[0].shape};
        return Built{{result},
                     "$R = stablehlo.convert $0 : (" + types[0].str() +
                         ") -> " + result.str()};
      },
      result);
}

static bool makeComplex(Generator &g) {
  int a = g.any([&](int v) {
    return g.type(v).element == "f32" && g.accuracy(v).magnitude < 100;
  });
  if (a < 0)
    return false;
  int b =
      g.like(g.type(a), [&](int v) { return g.accuracy(v).magnitude < 100; });
  std::string part = g.chance(50) ? "real" : "imag";
  Accuracy product = multiplied(g.type(a), g.accuracy(a), g.accuracy(b));
  product.magnitude =
      2 * (product.magnitude + std::pow(g.accuracy(a).magnitude, 2) +
           std::pow(g.accuracy(b).magnitude, 2));
  product.grid = Accuracy::kNoGrid;
  product.error *= 8;
  product.apart = 8 * product.apart + std::ldexp(product.magnitude, -20);
  return g.addOne(
      "complex_" + part, {a, b},
      [=](ArrayRef<Type> types) -> std::optional<Built> {
        if (types[0] != types[1])
          return std::nullopt;
        std::string t = types[0].str(),
                    c = Type{"complex<f32>", types[0].shape}.str();
        return Built{{types[0]},
                     "%c~ = stablehlo.complex $0, $1 : " + c +
                         "\n%d~ = stablehlo.complex $1, $0 : " + c +
                         "\n%m~ = stablehlo.multiply %c~, %d~ : " + c +
                         "\n%n~ = stablehlo.add %m~, %c~ : " + c +
                         "\n$R = stablehlo." + part + " %n~ : (" + c + ") -> " +
                         t};
      },
      product);
}

static bool makeReducePrecision(Generator &g) {
  int v =
      g.any([&](int v) { return g.type(v).element == "f32" && g.isExact(v); });
  if (v < 0)
    return false;
  return g.addOne("reduce_precision", {v},
                  [](ArrayRef<Type> types) -> std::optional<Built> {
                    return Built{
                        {types[0]},
                        "$R = stablehlo.reduce_precision $0, format = e8m7 : " +
                            types[0].str()};
                  },
                  {g.accuracy(v).magnitude * 1.01, Accuracy::kNoGrid, 0});
}

/// Bits of one element, of those whose bits may be looked at.
static int bitsOf(const Type &type) {
  return type.element == "f64"                             ? 64
         : type.element == "f32"                           ? 32
         : type.element == "f16" || type.element == "bf16" ? 16
                                                           : type.integerBits();
}

/// To integers of any width: a dim is split off the end, or goes. A zero of
/// either sign is one with none first, since either may come of a sum.
static bool makeBitcast(Generator &g) {
  static const std::vector<std::string> targets = {
      "i32", "ui32", "i8", "ui8", "i4", "ui4", "i2", "i16", "ui16", "i64"};
  std::string to = g.oneOf(targets);
  int bits = bitsOf({to, {}});
  Builder build = [=](ArrayRef<Type> types) -> std::optional<Built> {
    Type result{to, types[0].shape};
    int from = bitsOf(types[0]);
    if (from > bits) {
      result.shape.push_back(from / bits);
    } else if (from < bits) {
      if (result.shape.empty() || result.shape.back() != bits / from)
        return std::nullopt;
      result.shape.pop_back();
    }
    std::string t = types[0].str(), text, operand = "$0";
    if (types[0].isFloat()) {
      text = scalarConstant("z", types[0], "0.0") +
             "%p~ = stablehlo.add $0, %z~ : " + t + "\n";
      operand = "%p~";
    }
    return Built{{result},
                 text + "$R = stablehlo.bitcast_convert " + operand + " : (" +
                     t + ") -> " + result.str()};
  };
  int v = g.any([&](int v) {
    return bitsOf(g.type(v)) && g.isExact(v) && g.type(v).element != to &&
           build({g.type(v)});
  });
  return v >= 0 && g.addOne("bitcast_convert", {v}, build, {1e18, 0, 0});
}

static bool makeIsFinite(Generator &g) {
  int v = g.anyFloat();
  if (v < 0)
    return false;
  return g.addOne("is_finite", {v},
                  [](ArrayRef<Type> types) -> std::optional<Built> {
                    Type result{"i1", types[0].shape};
                    return Built{{result},
                                 "$R = stablehlo.is_finite $0 : (" +
                                     types[0].str() + ") -> " + result.str()};
                  },
                  {1, 0, 0});
}

static bool makeBarrier(Generator &g) {
  int a = g.any([](int) { return true; }), b = g.any([](int) { return true; });
  return !g.add("optimization_barrier", {a, b},
                [](ArrayRef<Type> types) -> std::optional<Built> {
                  return Built{{types[0], types[1]},
                               "$R = stablehlo.optimization_barrier $0, $1 : " +
                                   types[0].str() + ", " + types[1].str()};
                },
                {g.accuracy(a), g.accuracy(b)})
              .empty();
}

void addElementwiseKinds(std::vector<Kind> &kinds) {
  static const UnaryFunction functions[] = {
      {"abs", 1e9, 1, 0, false},
      {"negate", 1e9, 1, 0, false},
      {"exponential", 3, 21, 21, false},
      {"exponential_minus_one", 3, 21, 21, false},
      {"tanh", 1e6, 1, 1, false},
      {"logistic", 1e6, 1, 1, false},
      {"sine", 1e3, 1, 1, false},
      {"cosine", 1e3, 1, 1, false},
      {"tan", 1, 4, 2, false},
      {"erf", 1e3, 1.2, 1, false},
      {"floor", 1e3, 1, 0, true},
      {"ceil", 1e3, 1, 0, true},
      {"round_nearest_even", 1e3, 1, 0, true},
      {"round_nearest_afz", 1e3, 1, 0, true},
      {"sign", 1e9, 1, 1, true},
      {"cbrt", 1e3, 1, 0, true}};
  for (const UnaryFunction &f : functions)
    kinds.push_back({f.name, 1, [f](Generator &g) { return makeUnary(g, f); }});
  for (auto [name, plus, slope, exact] :
       {std::tuple("sqrt", "", 1.0, true),
        std::tuple("rsqrt", "1.0", 1.0, false),
        std::tuple("log", "1.0", 1.0, false),
        std::tuple("log_plus_one", "", 1.0, false)})
    kinds.push_back({name, 1, [=](Generator &g) {
                       return makeGuarded(g, name, plus, slope, exact);
                     }});
  for (const char *name : {"add", "subtract", "multiply", "maximum", "minimum"})
    kinds.push_back(
        {name, 3, [=](Generator &g) { return makeArithmetic(g, name); }});
  for (const char *name : {"divide", "remainder", "power", "atan2"})
    kinds.push_back(
        {name, 1, [=](Generator &g) { return makeQuotient(g, name); }});
  for (const char *name :
       {"and", "or", "xor", "shift_left", "shift_right_arithmetic",
        "shift_right_logical", "divide", "remainder"})
    kinds.push_back({std::string(name) + "_integer", 1,
                     [=](Generator &g) { return makeInteger(g, name, 2); }});
  for (const char *name :
       {"not", "popcnt", "count_leading_zeros", "negate", "abs", "sign"})
    kinds.push_back({std::string(name) + "_integer", 1,
                     [=](Generator &g) { return makeInteger(g, name, 1); }});
  kinds.push_back({"compare", 3, makeCompare});
  kinds.push_back({"select", 3, makeSelect});
  kinds.push_back({"clamp", 2, makeClamp});
  kinds.push_back({"convert", 4, makeConvert});
  kinds.push_back({"complex", 1, makeComplex});
  kinds.push_back({"reduce_precision", 1, makeReducePrecision});
  kinds.push_back({"bitcast_convert", 1, makeBitcast});
  kinds.push_back({"is_finite", 1, makeIsFinite});
  kinds.push_back({"optimization_barrier", 1, makeBarrier});
}

} // namespace shardc::fuzz
