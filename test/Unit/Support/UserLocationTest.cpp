//===- UserLocationTest.cpp -----------------------------------------------===//

#include "shardc/Support/UserLocation.h"
#include "mlir/AsmParser/AsmParser.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/MLIRContext.h"
#include <gtest/gtest.h>

using namespace mlir;
using namespace shardc;

static std::string lineOf(llvm::StringRef text) {
  MLIRContext context;
  auto loc = dyn_cast_or_null<LocationAttr>(parseAttribute(text, &context));
  return loc ? userLocation(loc) : "does not parse";
}

TEST(UserLocation, NamesTheLineThatJaxWraps) {
  EXPECT_EQ(
      lineOf(
          R"(loc("jit(f)/dot_general"(callsite("f"("model.py":12:8 to :20) at "main"("train.py":3:1)))))"),
      "model.py:12");
}

TEST(UserLocation, SkipsInstalledPackages) {
  EXPECT_EQ(
      lineOf(
          R"(loc(callsite("relu"("lib/site-packages/jax/nn.py":5:1) at "f"("model.py":7:1))))"),
      "model.py:7");
  EXPECT_EQ(lineOf(R"(loc("lib/site-packages/jax/nn.py":5:1))"),
            "lib/site-packages/jax/nn.py:5");
}

TEST(UserLocation, LooksIntoFusions) {
  EXPECT_EQ(lineOf(R"(loc(fused<"x">["add", "model.py":4:2]))"), "model.py:4");
}

TEST(UserLocation, FallsBackToOtherFilesNamesAndNothing) {
  EXPECT_EQ(lineOf(R"(loc("step.mlir":9:1))"), "step.mlir:9");
  EXPECT_EQ(lineOf(R"(loc("p[0]['w']"))"), "p[0]['w']");
  EXPECT_EQ(lineOf("loc(unknown)"), "unknown");
}
