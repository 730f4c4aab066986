//===- RulesTest.cpp - Every rule against what its op means ---------------===//
//
// Each case is an op on small tensors. It runs whole, and then cut along each
// factor that its rule lets be cut: evenly and unevenly, with empty shards,
// alone and together with others. A rank gets exactly what the rule says it
// needs, so a rule that forgets an element fails here.
//
//===----------------------------------------------------------------------===//
#include "Cases.h"
#include "Simulation.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"
#include "shardc/Dialect/Chlo/IR/Chlo.h"
#include "shardc/Dialect/Kernel/IR/Kernel.h"
#include "shardc/Dialect/Local/IR/Local.h"
#include "shardc/Dialect/Pairs/IR/Pairs.h"
#include "shardc/Dialect/Solver/IR/Solver.h"
#include "shardc/Dialect/Spmd/IR/Spmd.h"
#include "shardc/Dialect/StableHLO/IR/StableHLO.h"
#include "shardc/Rules/Register.h"
#include "gtest/gtest.h"
#include <random>

using namespace mlir;
using namespace shardc;
using namespace shardc::test;

/// Ways to cut `factor`: two and three shards, some of them empty.
static std::vector<Boundaries> cutsOf(const Factor &factor) {
  int64_t n = factor.size;
  std::vector<Boundaries> cuts;
  if (factor.evenOnly) {
    for (int64_t shards = 2; shards <= n; ++shards)
      if (n % shards == 0)
        cuts.push_back(Boundaries::balanced(n, shards));
    return cuts;
  }
  for (int64_t shards : {2, 3})
    cuts.push_back(Boundaries::balanced(n, shards));
  for (std::vector<int64_t> bounds : {std::vector<int64_t>{0, 1, n},
                                      {0, 0, n},
                                      {0, n - 1, n},
                                      {0, n, n},
                                      {0, 1, 1, n},
                                      {0, n / 2 + 1, n}})
    if (std::optional<Boundaries> cut = Boundaries::fromBounds(bounds))
      cuts.push_back(*cut);
  return cuts;
}

class RuleTest : public testing::TestWithParam<Case> {
protected:
  RuleTest() {
    DialectRegistry registry;
    registry
        .insert<func::FuncDialect, stablehlo::StablehloDialect,
                chlo::ChloDialect, solver::SolverDialect, spmd::SpmdDialect,
                spmd::LocalDialect, spmd::PairsDialect, spmd::KernelDialect>();
    registerShardingRules(registry);
    context.appendDialectRegistry(registry);
    context.loadAllAvailableDialects();
  }

  /// Parses the case, runs it whole, and sets `op` to its last op.
  void prepare() {
    module = parseSourceString<ModuleOp>(GetParam().text, &context);
    ASSERT_TRUE(module) << GetParam().text;
    auto function = *module->getOps<func::FuncOp>().begin();
    Block &block = function.getBody().front();
    op = &*std::prev(block.end(), 2);
    std::mt19937 random(1);
    std::vector<Environment> ranks(1);
    for (BlockArgument argument : block.getArguments()) {
      auto type = cast<RankedTensorType>(argument.getType());
      Tensor tensor(type.getShape());
      bool isIndex = type.getElementType().isInteger(32);
      for (int64_t &element : tensor.data)
        element = type.getElementType().isInteger(1) ? random() % 2
                  : isIndex ? static_cast<int64_t>(random() % 9) - 2
                            : static_cast<int64_t>(random() % 19) - 9;
      ranks[0][argument] = tensor;
    }
    ASSERT_EQ(run(block, ranks, TestMesh()), "");
    environment = ranks[0];
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
  Operation *op = nullptr;
  Environment environment;
};

/// True if one axis may cut both factors: one of them travels, and no tensor
/// has both (docs/Rationale/Architecture.md, Rules).
static bool mayShareAxis(const ShardingRule &rule, int64_t a, int64_t b) {
  if (!rule.factors[a].travels && !rule.factors[b].travels)
    return false;
  auto hasBoth = [&](const TensorRule &tensor) {
    auto has = [&](int64_t factor) {
      return llvm::any_of(tensor.dims, [&](const IndexMap &map) {
        return llvm::any_of(map.terms, [&](const IndexTerm &term) {
          return term.factor == factor;
        });
      });
    };
    return has(a) && has(b);
  };
  return llvm::none_of(rule.operands, hasBoth) &&
         llvm::none_of(rule.results, hasBoth);
}

TEST(Cases, AreThere) { EXPECT_GE(allCases().size(), 120u); }

TEST_P(RuleTest, CutEqualsWhole) {
  prepare();
  if (HasFatalFailure())
    return;
  ASSERT_TRUE(isa<ShardingRuleOpInterface>(op) && isa<LocalizeOpInterface>(op))
      << op->getName().getStringRef().str();
  FailureOr<ShardingRule> rule =
      cast<ShardingRuleOpInterface>(op).getShardingRule();
  ASSERT_TRUE(succeeded(rule));
  EXPECT_EQ(rule->str(), GetParam().rule);
  ASSERT_EQ(checkRule(op, *rule), "") << rule->str();

  std::vector<Boundaries> whole;
  std::vector<size_t> cuttable;
  for (auto [i, factor] : llvm::enumerate(rule->factors)) {
    whole.push_back(Boundaries::whole(factor.size));
    if (factor.kind != FactorKind::NeedReplication)
      cuttable.push_back(i);
  }
  int64_t tried = 0;
  auto expectEqual = [&](const std::vector<Boundaries> &cuts,
                         SharedAxis shared = std::nullopt) {
    ++tried;
    std::string problem = checkCut(op, cuts, environment, shared);
    if (problem.empty())
      return true;
    std::string text;
    for (const Boundaries &cut : cuts) {
      text += " [";
      for (int64_t bound : cut.indices())
        text += " " + std::to_string(bound);
      text += " ]";
    }
    if (shared)
      text += ", one axis on factors " + std::to_string(shared->first) +
              " and " + std::to_string(shared->second);
    ADD_FAILURE() << rule->str() << "\ncut at" << text << "\n" << problem;
    return false;
  };
  if (!expectEqual(whole))
    return;
  for (size_t i : cuttable) {
    for (const Boundaries &cut : cutsOf(rule->factors[i])) {
      std::vector<Boundaries> cuts = whole;
      cuts[i] = cut;
      if (!expectEqual(cuts))
        return;
    }
  }
  // Two at a time, in a few of the ways.
  for (size_t i : cuttable) {
    for (size_t j : cuttable) {
      if (j <= i)
        continue;
      std::vector<Boundaries> first = cutsOf(rule->factors[i]),
                              second = cutsOf(rule->factors[j]);
      for (size_t way = 0; way < 4 && !first.empty() && !second.empty();
           ++way) {
        std::vector<Boundaries> cuts = whole;
        cuts[i] = first[(way * 2) % first.size()];
        cuts[j] = second[(way * 3 + 1) % second.size()];
        if (!expectEqual(cuts))
          return;
      }
    }
  }
  // One axis on two factors, where blocks of one of them travel.
  for (size_t i : cuttable)
    for (size_t j : cuttable) {
      if (j <= i || !mayShareAxis(*rule, i, j))
        continue;
      for (const Boundaries &first : cutsOf(rule->factors[i]))
        for (const Boundaries &second : cutsOf(rule->factors[j])) {
          std::vector<Boundaries> cuts = whole;
          cuts[i] = first;
          cuts[j] = second;
          if (first.numShards() == second.numShards() &&
              !expectEqual(cuts, std::pair(int64_t(i), int64_t(j))))
            return;
        }
    }
  RecordProperty("cuts", std::to_string(tried));
}

INSTANTIATE_TEST_SUITE_P(All, RuleTest, testing::ValuesIn(allCases()),
                         [](const testing::TestParamInfo<Case> &info) {
                           return info.param.name;
                         });
