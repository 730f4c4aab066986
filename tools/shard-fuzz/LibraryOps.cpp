//===- LibraryOps.cpp - Matrices solved, batches normalised, f8 stored ----===//

#include "Generator.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace shardc::fuzz {

static const double kEpsilon = std::ldexp(1.0, -24);
static double epsilonOf(const Type &type) {
  return std::ldexp(1.0, -type.precision());
}

static std::string constantOf(const std::string &name, const Type &type,
                              double value) {
  return "%" + name + "~ = stablehlo.constant dense<" + std::to_string(value) +
         "> : " + type.str() + "\n";
}

//===----------------------------------------------------------------------===//
// Matrices
//===----------------------------------------------------------------------===//

/// Batches of square matrices of f32 or f64, usually new.
static int anyMatrices(Generator &g) {
  std::vector<int64_t> shape;
  for (int64_t rank = g.pick(0, 2); rank > 0; --rank)
    shape.push_back(g.pick(1, 7));
  int64_t n = g.extent(1, 5);
  shape.insert(shape.end(), {n, n});
  return g.like({g.chance(70) ? "f32" : "f64", shape},
                [&](int v) { return g.accuracy(v).magnitude <= 64; });
}

/// "%a~" = $0 + c I, where c = 2 n max(1, magnitude): rows are dominated by
/// their diagonals, so that the inverse's rows sum to at most 1 / (n max(1,
/// magnitude)).
static std::string dominated(const Type &type, double shift) {
  std::string t = type.str(), last = std::to_string(type.rank() - 1),
              before = std::to_string(type.rank() - 2);
  Type index{"i32", type.shape}, mask{"i1", type.shape};
  return "%i~ = stablehlo.iota dim = " + before + " : " + index.str() +
         "\n%j~ = stablehlo.iota dim = " + last + " : " + index.str() +
         "\n%e~ = stablehlo.compare EQ, %i~, %j~, SIGNED : (" + index.str() +
         ", " + index.str() + ") -> " + mask.str() + "\n" +
         constantOf("s", type, shift) + "%d~ = stablehlo.add $0, %s~ : " + t +
         "\n%a~ = stablehlo.select %e~, %d~, $0 : " + mask.str() + ", " + t +
         "\n";
}

static bool makeTriangularSolve(Generator &g) {
  int a = anyMatrices(g);
  if (a < 0)
    return false;
  Type right = g.type(a);
  bool left = g.chance(60), lower = g.chance(50), unit = g.chance(20);
  int64_t n = right.shape.back();
  right.shape[right.rank() - (left ? 1 : 2)] = g.extent(1, 6);
  int b = g.like(right, [&](int v) { return g.accuracy(v).magnitude <= 64; });
  if (b < 0)
    return false;
  const char *transpose = g.chance(50) ? "TRANSPOSE" : "NO_TRANSPOSE";
  // With a unit diagonal the rest must be small by itself.
  double m = std::max(1.0, g.accuracy(a).magnitude),
         shift = unit ? 0 : 2 * n * m;
  double scale = unit ? 1 / (2 * n * m) : 1;
  Accuracy of = g.accuracy(b),
           result{unit ? 2 * of.magnitude : of.magnitude / m, Accuracy::kNoGrid,
                  0};
  auto error = [&](double right, double left) {
    return 4 * (right + n * left * scale * result.magnitude) +
           64 * n * n * epsilonOf(g.type(a)) * std::max(1.0, result.magnitude);
  };
  result.error = error(of.error, g.accuracy(a).error);
  result.apart = error(of.apart, g.accuracy(a).apart);
  return g.addOne(
      "triangular_solve", {a, b},
      [=](ArrayRef<Type> types) -> std::optional<Built> {
        const Type &x = types[0], &y = types[1];
        if (x.shape.back() != x.shape[x.rank() - 2] ||
            x.shape.back() != y.shape[y.rank() - (left ? 2 : 1)] ||
            x.shape.back() > n ||
            !equal(ArrayRef(x.shape).drop_back(2),
                   ArrayRef(y.shape).drop_back(2)))
          return std::nullopt;
        return Built{{y},
                     dominated(x, shift) + constantOf("c", x, scale) +
                         "%m~ = stablehlo.multiply %a~, %c~ : " + x.str() +
                         "\n$R = \"stablehlo.triangular_solve\"(%m~, $1) "
                         "<{left_side = " +
                         (left ? "true" : "false") +
                         ", lower = " + (lower ? "true" : "false") +
                         ", transpose_a = #stablehlo<transpose " + transpose +
                         ">, unit_diagonal = " + (unit ? "true" : "false") +
                         "}> : (" + x.str() + ", " + y.str() + ") -> " +
                         y.str()};
      },
      result);
}

static bool makeCholesky(Generator &g) {
  int a = anyMatrices(g);
  if (a < 0)
    return false;
  bool lower = g.chance(60);
  int64_t n = g.type(a).shape.back();
  double m = std::max(1.0, g.accuracy(a).magnitude);
  Accuracy result{2 * std::sqrt(n * m), Accuracy::kNoGrid, 0};
  auto error = [&](double error) {
    return (8 * n * error + 64 * n * n * epsilonOf(g.type(a)) * n * m) /
           std::sqrt(n * m);
  };
  result.error = error(g.accuracy(a).error);
  result.apart = error(g.accuracy(a).apart);
  return g.addOne(
      "cholesky", {a},
      [=](ArrayRef<Type> types) -> std::optional<Built> {
        const Type &x = types[0];
        if (x.shape.back() != x.shape[x.rank() - 2] || x.shape.back() > n)
          return std::nullopt;
        std::vector<int64_t> swapped;
        for (int64_t i = 0; i < x.rank(); ++i)
          swapped.push_back(i);
        std::swap(swapped[x.rank() - 1], swapped[x.rank() - 2]);
        std::string t = x.str();
        // Symmetric, the half of both sums; the other triangle is not defined.
        return Built{{x},
                     dominated(x, 2 * n * m) +
                         "%t~ = stablehlo.transpose %a~, dims = [" +
                         list(swapped) + "] : (" + t + ") -> " + t +
                         "\n%u~ = stablehlo.add %a~, %t~ : " + t + "\n" +
                         constantOf("h", x, 0.5) +
                         "%m~ = stablehlo.multiply %u~, %h~ : " + t +
                         "\n%l~ = stablehlo.cholesky %m~, lower = " +
                         (lower ? "true" : "false") + " : " + t +
                         "\n%k~ = stablehlo.compare " + (lower ? "LE" : "GE") +
                         ", %j~, %i~, SIGNED : (" + Type{"i32", x.shape}.str() +
                         ", " + Type{"i32", x.shape}.str() + ") -> " +
                         Type{"i1", x.shape}.str() + "\n" +
                         constantOf("z", x, 0) +
                         "$R = stablehlo.select %k~, %l~, %z~ : " +
                         Type{"i1", x.shape}.str() + ", " + t};
      },
      result);
}

//===----------------------------------------------------------------------===//
// Normalised batches
//===----------------------------------------------------------------------===//

/// What a normalisation reads: a value to normalise, `vectors` vectors with an
/// element for each of its features (dim `feature`), and another value like the
/// first where `hasCotangent`. None if there is nothing to normalise.
static std::vector<int> anyBatch(Generator &g, int vectors, bool hasCotangent,
                                 int64_t &feature) {
  auto isSmall = [&](int v) {
    return g.isExact(v) && g.accuracy(v).magnitude <= 16;
  };
  int v =
      g.any([&](int v) { return g.type(v).element == "f32" && isSmall(v); }, 2);
  if (v < 0)
    return {};
  feature = g.pick(0, g.type(v).rank() - 1);
  std::vector<int> operands = {v};
  for (int i = 0; i < vectors; ++i)
    operands.push_back(g.like({"f32", {g.type(v).shape[feature]}}, isSmall));
  if (hasCotangent)
    operands.push_back(g.like(g.type(v), isSmall));
  return operands;
}

/// How many elements of `v` share a feature.
static double meanedElements(Generator &g, int v, int64_t feature) {
  return double(g.type(v).numElements()) / g.type(v).shape[feature];
}

static std::string ofFeature(int64_t feature) {
  return "<{epsilon = 2.5e-01 : f32, feature_index = " +
         std::to_string(feature) + " : i64}>";
}

/// Do `types` end in vectors as long as dim `feature` of the first is?
static bool haveFeatures(ArrayRef<Type> types, int64_t feature,
                         ArrayRef<int> vectors) {
  return feature < types[0].rank() &&
         all_of(
             vectors,
             [&](int i) {
               return types[i].shape == std::vector{types[0].shape[feature]};
             });
}

static bool makeBatchNormInference(Generator &g) {
  int64_t feature = 0;
  std::vector<int> operands = anyBatch(g, 4, /*hasCotangent=*/false, feature);
  if (operands.empty())
    return false;
  auto most = [&](int i) { return g.accuracy(operands[i]).magnitude; };
  Accuracy result{2 * (most(0) + most(3)) * most(1) + most(2),
                  Accuracy::kNoGrid, 0};
  result.error = 32 * kEpsilon * std::max(1.0, result.magnitude);
  return g.addOne(
      "batch_norm_inference", operands,
      [=](ArrayRef<Type> types) -> std::optional<Built> {
        if (!haveFeatures(types, feature, {1, 2, 3, 4}))
          return std::nullopt;
        std::string t = types[0].str(), f = types[1].str();
        return Built{{types[0]},
                     "%v~ = stablehlo.multiply $4, $4 : " + f +
                         "\n$R = \"stablehlo.batch_norm_inference\"($0, $1, "
                         "$2, $3, %v~) " +
                         ofFeature(feature) + " : (" + t + ", " + f + ", " + f +
                         ", " + f + ", " + f + ") -> " + t};
      },
      result);
}

static bool makeBatchNormTraining(Generator &g) {
  int64_t feature = 0;
  std::vector<int> operands = anyBatch(g, 2, /*hasCotangent=*/false, feature);
  if (operands.empty())
    return false;
  double count = meanedElements(g, operands[0], feature),
         m = g.accuracy(operands[0]).magnitude;
  Accuracy mean{m, Accuracy::kNoGrid, 4 * (count + 2) * kEpsilon * m};
  Accuracy variance{4 * m * m, Accuracy::kNoGrid,
                    32 * (count + 4) * kEpsilon * std::max(1.0, m * m)};
  double s = g.accuracy(operands[1]).magnitude;
  Accuracy result{4 * m * s + g.accuracy(operands[2]).magnitude,
                  Accuracy::kNoGrid, 0};
  // (x - mean) / sqrt(variance + 1/4): slopes 2 and 4 |x - mean|.
  result.error = s * (2 * mean.error + 8 * m * variance.error) +
                 64 * kEpsilon * std::max(1.0, result.magnitude);
  return !g.add("batch_norm_training", operands,
                [=](ArrayRef<Type> types) -> std::optional<Built> {
                  if (!haveFeatures(types, feature, {1, 2}) ||
                      types[0].numElements() == 0)
                    return std::nullopt;
                  std::string t = types[0].str(), f = types[1].str();
                  return Built{
                      {types[0], types[1], types[1]},
                      "$R = \"stablehlo.batch_norm_training\"($0, $1, $2) " +
                          ofFeature(feature) + " : (" + t + ", " + f + ", " +
                          f + ") -> (" + t + ", " + f + ", " + f + ")"};
                },
                {result, mean, variance})
              .empty();
}

static bool makeBatchNormGrad(Generator &g) {
  int64_t feature = 0;
  std::vector<int> operands = anyBatch(g, 3, /*hasCotangent=*/true, feature);
  if (operands.empty())
    return false;
  double count = meanedElements(g, operands[0], feature);
  auto most = [&](int i) {
    return std::max(1.0, g.accuracy(operands[i]).magnitude);
  };
  double normal = 2 * (most(0) + most(2)), go = most(4);
  Accuracy offset{count * go, Accuracy::kNoGrid, 0},
      scale{count * go * normal, Accuracy::kNoGrid, 0};
  Accuracy result{2 * most(1) * (2 * go + normal * normal * go),
                  Accuracy::kNoGrid, 0};
  for (Accuracy *of : {&offset, &scale, &result})
    of->error = 64 * (count + 4) * kEpsilon * of->magnitude;
  return !g.add("batch_norm_grad", operands,
                [=](ArrayRef<Type> types) -> std::optional<Built> {
                  if (!haveFeatures(types, feature, {1, 2, 3}) ||
                      types[4] != types[0] || types[0].numElements() == 0)
                    return std::nullopt;
                  std::string t = types[0].str(), f = types[1].str();
                  return Built{{types[0], types[1], types[1]},
                               "%v~ = stablehlo.multiply $3, $3 : " + f +
                                   "\n$R = \"stablehlo.batch_norm_grad\"($0, "
                                   "$1, $2, %v~, $4) " +
                                   ofFeature(feature) + " : (" + t + ", " + f +
                                   ", " + f + ", " + f + ", " + t + ") -> (" +
                                   t + ", " + f + ", " + f + ")"};
                },
                {result, scale, offset})
              .empty();
}

//===----------------------------------------------------------------------===//
// Storage
//===----------------------------------------------------------------------===//

/// Rounded to eight bits and back. Each format by its name and the exponent of
/// its least positive number.
static bool makeEightBits(Generator &g) {
  static const std::vector<std::pair<std::string, int>> formats = {
      {"f8E4M3FN", -9},
      {"f8E5M2", -16},
      {"f8E4M3B11FNUZ", -13},
      {"f8E4M3FNUZ", -10},
      {"f8E5M2FNUZ", -17}};
  int v = g.any([&](int v) {
    return g.type(v).element == "f32" && g.isExact(v) &&
           g.accuracy(v).magnitude <= 16;
  });
  if (v < 0)
    return false;
  auto [format, least] = g.oneOf(formats);
  return g.addOne("eight_bits", {v},
                  [format](ArrayRef<Type> types) -> std::optional<Built> {
                    std::string narrow = Type{format, types[0].shape}.str();
                    return Built{{types[0]},
                                 "%n~ = stablehlo.convert $0 : (" +
                                     types[0].str() + ") -> " + narrow +
                                     "\n$R = stablehlo.convert %n~ : (" +
                                     narrow + ") -> " + types[0].str()};
                  },
                  {g.accuracy(v).magnitude * 1.125, least, 0});
}

void addLibraryKinds(std::vector<Kind> &kinds) {
  kinds.push_back({"triangular_solve", 2, makeTriangularSolve});
  kinds.push_back({"cholesky", 2, makeCholesky});
  kinds.push_back({"batch_norm_inference", 1, makeBatchNormInference});
  kinds.push_back({"batch_norm_training", 1, makeBatchNormTraining});
  kinds.push_back({"batch_norm_grad", 1, makeBatchNormGrad});
  kinds.push_back({"eight_bits", 1, makeEightBits});
}

} // namespace shardc::fuzz
