//===- UseOrderTest.cpp - Programs do not depend on the order of uses -----===//
//
// MLIR lists the uses of a value in the order in which passes made them. What
// is compiled follows from the program alone: the same comes out where every
// list is reversed after every pass.
//
//===----------------------------------------------------------------------===//
#include "mlir/IR/MLIRContext.h"
#include "mlir/Pass/PassInstrumentation.h"
#include "mlir/Pass/PassManager.h"
#include "shardc/Pipelines/Compile.h"
#include "llvm/ADT/Sequence.h"
#include <gtest/gtest.h>

using namespace mlir;
using namespace shardc;

namespace {
/// Reverses the uses of all values after each pass.
class ReverseUses final : public PassInstrumentation {
public:
  explicit ReverseUses(unsigned &reversed) : reversed(reversed) {}

  void runAfterPass(Pass *pass, Operation *op) override {
    // Those that nest others have no name: their parts were done by then.
    if (pass->getArgument().empty())
      return;
    op->walk([&](Operation *inner) {
      for (Value result : inner->getResults())
        reverse(result);
      for (Region &region : inner->getRegions())
        for (Block &block : region)
          for (Value argument : block.getArguments())
            reverse(argument);
    });
  }

private:
  void reverse(Value value) {
    auto count = static_cast<unsigned>(
        std::distance(value.use_begin(), value.use_end()));
    if (count < 2)
      return;
    value.shuffleUseList(
        llvm::to_vector(llvm::reverse(llvm::seq<unsigned>(0, count))));
    ++reversed;
  }

  unsigned &reversed;
};
} // namespace

/// The program of the corpus called `name` in the LLVM dialect.
static std::string compile(StringRef name, Target target, bool reverses) {
  std::unique_ptr<MLIRContext> context = createCompilerContext();
  context->disableMultithreading();
  std::string path = (SHARDC_CORPUS "/" + name + ".mlir").str();
  OwningOpRef<ModuleOp> module = parseModel(*context, path);
  if (!module)
    return "not read";
  StageOptions options;
  options.target = target;
  unsigned reversed = 0;
  if (reverses)
    options.instrument = [&](PassManager &pm) {
      pm.addInstrumentation(std::make_unique<ReverseUses>(reversed));
    };
  if (failed(compileToLocal(*module, options)) ||
      failed(lowerToLLVM(*module, options)))
    return "refused";
  EXPECT_EQ(reversed > 0, reverses);
  std::string text;
  llvm::raw_string_ostream stream(text);
  module->print(stream);
  return text;
}

static void compare(StringRef name, Target target) {
  std::string plain = compile(name, target, /*reverses=*/false);
  EXPECT_GT(plain.size(), 10000u) << plain;
  // Not the texts themselves, which are long.
  EXPECT_TRUE(plain == compile(name, target, /*reverses=*/true)) << name.str();
}

// Constants that several ops share get copies of their own.
TEST(UseOrder, OfSharedConstants) {
  compare("sorting", Target::Cpu);
  compare("gru_train", Target::Cuda);
}

// Tensors that several ops begin with get copies of their own.
TEST(UseOrder, OfSharedDestinations) {
  compare("attn_causal_vjp", Target::Cpu);
  compare("transformer_remat_bf16_train", Target::Cuda);
}
