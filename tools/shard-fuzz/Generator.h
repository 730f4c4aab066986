//===- Generator.h - Random programs ----------------------------*- C++ -*-===//
//
// A program is made of arguments that come into being when an op wants one, and
// of 3 to 15 ops drawn from a table of kinds. Elements of arguments are
// multiples of 1/64 in [-1, 1), or small integers, so that most sums are exact
// in any order; what each value's elements may be is tracked (Accuracy), and no
// op is made where two right answers could be far apart (a comparison of
// rounded values) or where a NaN or an infinity would hide a difference.
//
//===----------------------------------------------------------------------===//
#ifndef SHARDC_TOOLS_SHARD_FUZZ_GENERATOR_H
#define SHARDC_TOOLS_SHARD_FUZZ_GENERATOR_H

#include "Program.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"
#include <cmath>

namespace shardc::fuzz {

class Generator {
public:
  explicit Generator(uint64_t seed) : state(seed) {
    program.seed = seed % 1000000;
  }
  Program run();

  // Draws.
  uint64_t next();
  /// A number from `low` to `high`, both included.
  int64_t pick(int64_t low, int64_t high) {
    return low + static_cast<int64_t>(next() % uint64_t(high - low + 1));
  }
  bool chance(int percent) { return pick(0, 99) < percent; }
  template <typename T> const T &oneOf(const std::vector<T> &list) {
    return list[pick(0, list.size() - 1)];
  }
  template <typename T> void shuffle(std::vector<T> &list) {
    for (size_t i = list.size(); i > 1; --i)
      std::swap(list[i - 1], list[pick(0, i - 1)]);
  }

  // Values.
  const Type &type(int value) const { return program.values[value].type; }
  const Accuracy &accuracy(int value) const {
    return program.values[value].accuracy;
  }
  /// Is there one right answer, whoever computes it?
  bool isExact(int value) const { return accuracy(value).apart == 0; }
  int newArgument(Type type);
  std::string randomFloat();
  std::vector<int64_t> randomShape(int64_t rank);
  /// As `pick`, of an extent; with largeArrays() up to sixteen times `high`.
  int64_t extent(int64_t low, int64_t high);
  /// A value that `want` takes: usually one that is there, else a new argument
  /// of `rank` dims. -1 if a new argument is not taken either.
  int any(llvm::function_ref<bool(int)> want, int64_t minRank = 0);
  int anyFloat(bool exact = false, int64_t minRank = 0, double most = 1e6);
  int anyInteger(int64_t minRank = 0);
  /// Another value of `type` that `want` takes, or a new argument.
  int like(const Type &type, llvm::function_ref<bool(int)> want = nullptr);

  /// Adds an op; the numbers of its results, empty if it does not fit.
  std::vector<int> add(std::string kind, std::vector<int> operands,
                       Builder build, std::vector<Accuracy> accuracies);
  bool addOne(std::string kind, std::vector<int> operands, Builder build,
              Accuracy accuracy) {
    return !add(std::move(kind), std::move(operands), std::move(build),
                {accuracy})
                .empty();
  }

  Program program;

private:
  void makeMesh();
  /// Puts some ops that are one behind the other in a loop or a branch.
  void makeNests();
  void makeForms();
  Sharding randomSharding(const Type &type);

  uint64_t state;
  bool uneven = false;
};

/// One kind of op: adds one to the program, or says that it could not.
struct Kind {
  std::string name;
  int weight;
  std::function<bool(Generator &)> make;
};
void addElementwiseKinds(std::vector<Kind> &kinds);
void addShapeKinds(std::vector<Kind> &kinds);
void addReductionKinds(std::vector<Kind> &kinds);
void addContractionKinds(std::vector<Kind> &kinds);
void addAddressingKinds(std::vector<Kind> &kinds);
void addControlKinds(std::vector<Kind> &kinds);
void addChainKinds(std::vector<Kind> &kinds);
void addManualKinds(std::vector<Kind> &kinds);
void addGradientKinds(std::vector<Kind> &kinds);
void addLibraryKinds(std::vector<Kind> &kinds);
void addRarerKinds(std::vector<Kind> &kinds);
void addComplexKinds(std::vector<Kind> &kinds);
void addFormKinds(std::vector<Kind> &kinds);
const std::vector<Kind> &allKinds();
/// From now on three of four draws are of the kinds with these names (as they
/// weigh there); none: all kinds as they weigh. Called before programs are
/// made.
void favourKinds(const std::vector<std::string> &names);
/// From now on arrays may have some hundred elements a dim. Called before
/// programs are made.
void largeArrays();
/// From now on programs have up to `most` ops. Called before they are made.
void drawOps(int64_t most);

// Accuracy.

/// Can every multiple of 2^grid up to `magnitude` be stored in `type`?
bool isStorable(const Type &type, const Accuracy &accuracy);
/// Of an op that rounds once and whose slope is at most `slope`.
Accuracy rounded(const Type &type, double magnitude, double slope, Accuracy of,
                 int grid = Accuracy::kNoGrid);
/// Of a sum of `count` elements that are each as `of`, in any order.
Accuracy summed(const Type &type, Accuracy of, int64_t count);
/// Of what is either `a` or `b`.
Accuracy either(Accuracy a, Accuracy b);
/// Of a product.
Accuracy multiplied(const Type &type, Accuracy a, Accuracy b);

// Text.

std::string list(llvm::ArrayRef<int64_t> numbers);   ///< "1, 2"
std::string braced(llvm::ArrayRef<int64_t> numbers); ///< "array<i64: 1, 2>"
std::string scalarConstant(llvm::StringRef name, const Type &type,
                           llvm::StringRef value); ///< a line

} // namespace shardc::fuzz

#endif // SHARDC_TOOLS_SHARD_FUZZ_GENERATOR_H
