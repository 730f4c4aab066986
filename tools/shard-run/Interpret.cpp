//===- Interpret.cpp - The interpreter on arrays of this process ----------===//

#include "Interpret.h"
#include "Compare.h"
#include "Inputs.h"
#include "Report.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace shardc;

Verdict shardc::compareAll(StringRef with, ArrayRef<HostArray> got,
                           ArrayRef<HostArray> expected,
                           const RunOptions &options,
                           ArrayRef<double> rounding) {
  Verdict verdict{with.str(), {}};
  for (auto [i, mine, theirs] : enumerate(got, expected)) {
    Tolerance tolerance = defaultTolerance(mine.type);
    tolerance.relative = options.relative.value_or(tolerance.relative);
    if (tolerance.relative > 0)
      tolerance.relative =
          std::max(tolerance.relative, leastRelative(mine.type));
    if (i < rounding.size() && rounding[i] > 0)
      tolerance.absolute =
          std::max(tolerance.absolute, rounding[i] * rootMeanSquare(theirs));
    tolerance.absolute = options.absolute.value_or(tolerance.absolute);
    verdict.outputs.push_back(compareArrays(mine, theirs, tolerance));
  }
  return verdict;
}

static std::string print(mlir::Type type) {
  std::string text;
  raw_string_ostream(text) << type;
  return text;
}

static std::vector<interpreter::Array>
toArrays(ArrayRef<HostArray> inputs, ArrayRef<mlir::RankedTensorType> types) {
  std::vector<interpreter::Array> arrays;
  for (auto [input, type] : zip(inputs, types))
    arrays.push_back(interpreter::Array::read(
        *interpreter::Format::of(type.getElementType()), input.shape,
        input.bytes()));
  return arrays;
}

static std::string join(ArrayRef<std::string> lines) {
  return llvm::join(lines, "\n");
}

Expected<InterpretedRun> shardc::interpretRun(const RunOptions &options,
                                              const ProgramMetadata &program,
                                              ArrayRef<HostArray> inputs) {
  Expected<InterpretedModel> model = interpretModel(
      options.modelName(), options.modelOptions(),
      [&](ArrayRef<mlir::RankedTensorType> types)
          -> Expected<std::vector<interpreter::Array>> {
        if (types.size() != inputs.size())
          return toolError(ExitCode::Refused,
                           "the model has " + Twine(types.size()) +
                               " arguments, the compiled program " +
                               Twine(inputs.size()));
        return toArrays(inputs, types);
      });
  if (!model)
    return model.takeError();
  InterpretedRun run;
  run.failedChecks = join(model->failedChecks);
  if (model->results.size() != program.results.size())
    return toolError(ExitCode::Differs, "the interpreter gives " +
                                            Twine(model->results.size()) +
                                            " outputs, the ranks " +
                                            Twine(program.results.size()));
  for (auto [i, value] : enumerate(program.results)) {
    const interpreter::Array &result = model->results[i];
    HostArray &output = run.outputs.emplace_back();
    output.type = *shardrt::elementTypeNamed(value.elementType);
    output.shape = value.shape;
    if (result.shape() != ArrayRef<int64_t>(value.shape) ||
        result.format().bytes() != shardrt::elementBytes(output.type))
      return toolError(ExitCode::Differs,
                       nameOf("output", i, value) +
                           ": the interpreter gives another type or shape");
    output.data = result.bytes();
  }
  return run;
}

/// The shape that --inputs, --input or --shapes give to argument `index`, where
/// its type leaves sizes open.
static bool fillShape(std::vector<int64_t> &shape, StringRef given,
                      size_t index) {
  for (StringRef entry : split(given, ';')) {
    entry.consume_front("?");
    auto [number, sizes] = entry.split('=');
    size_t known;
    if (number.trim().getAsInteger(10, known) || known != index)
      continue;
    SmallVector<StringRef> parts;
    sizes.split(parts, 'x');
    if (parts.size() != shape.size())
      return false;
    for (auto [size, part] : zip_equal(shape, parts))
      if (part.trim().getAsInteger(10, size))
        return false;
    return true;
  }
  return false;
}

Error shardc::runInterpreter(const RunOptions &options) {
  ProgramMetadata program;
  Expected<InterpretedModel> model = interpretModel(
      options.modelName(), options.modelOptions(),
      [&](ArrayRef<mlir::RankedTensorType> types)
          -> Expected<std::vector<interpreter::Array>> {
        for (auto [i, type] : enumerate(types)) {
          ValueMetadata &value = program.arguments.emplace_back();
          value.elementType = print(type.getElementType());
          value.shape = type.getShape().vec();
          if (!type.hasStaticShape() &&
              !fillShape(value.shape, options.modelOptions().stages.shapes, i))
            return toolError(ExitCode::Usage,
                             nameOf("input", i, value) +
                                 " has sizes that nobody gave; say them with "
                                 "--shapes, or give arrays");
          if (!shardrt::elementTypeNamed(value.elementType))
            return toolError(ExitCode::Unsupported, nameOf("input", i, value) +
                                                        ": elements of type " +
                                                        value.elementType);
        }
        Expected<std::vector<HostArray>> inputs = makeInputs(program, options);
        if (!inputs)
          return inputs.takeError();
        return toArrays(*inputs, types);
      });
  if (!model)
    return model.takeError();
  std::vector<HostArray> outputs;
  for (auto [result, name] : zip_equal(model->results, model->elementTypes)) {
    ValueMetadata &value = program.results.emplace_back();
    std::optional<ElementType> type = shardrt::elementTypeNamed(name);
    if (!type)
      return toolError(ExitCode::Unsupported,
                       "unsupported: an output of type " + name);
    value.elementType = name;
    value.shape.assign(result.shape().begin(), result.shape().end());
    outputs.push_back({*type, value.shape, result.bytes()});
  }
  if (!options.outputsFile.empty())
    if (Error error = writeOutputs(options.outputsFile, outputs))
      return error;
  std::string difference = join(model->failedChecks);
  if (!options.expectFile.empty()) {
    Expected<std::vector<HostArray>> expected =
        readExpected(program, options.expectFile);
    if (!expected)
      return expected.takeError();
    Verdict verdict = compareAll("expected", outputs, *expected, options);
    for (auto [i, output] : enumerate(verdict.outputs))
      errs() << formatv("output {0}: largest difference {1:e}\n", i,
                        output.largest);
    if (std::string text =
            describeDifference(verdict, program, outputs, *expected);
        !text.empty())
      difference = text;
  } else if (options.outputsFile.empty() && !outputs.empty()) {
    writeOutputValues(outs(), outputs);
  }
  size_t checks = model->checksHeld + model->failedChecks.size();
  errs() << (checks ? formatv("interpreted; {0} of {1} checks hold\n",
                              model->checksHeld, checks)
                          .str()
                    : "interpreted; the model has no checks of its own\n");
  if (!difference.empty())
    return toolError(ExitCode::Differs, difference);
  return Error::success();
}
