//===- Program.cpp - A random program, apart from its text ----------------===//

#include "Program.h"
#include "DynamicForms.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace shardc::fuzz {

int64_t Type::numElements() const {
  int64_t count = 1;
  for (int64_t size : shape)
    count *= size;
  return count;
}

int Type::precision() const {
  if (element == "f32")
    return 24;
  if (element == "f64")
    return 53;
  if (element == "f16")
    return 11;
  return element == "bf16" ? 8 : 0;
}

bool Type::isFloat() const { return precision() != 0; }

int Type::integerBits() const {
  StringRef name = element;
  if (isFloat() || name == "i1")
    return 0;
  name.consume_front("u");
  int bits = 0;
  return name.consume_front("i") && !name.getAsInteger(10, bits) ? bits : 0;
}

std::string Type::str() const {
  std::string text = "tensor<";
  for (int64_t size : shape)
    text += std::to_string(size) + "x";
  return text + element + ">";
}

int64_t Program::numRanks() const {
  int64_t ranks = 1;
  for (int64_t size : axisSizes)
    ranks *= size;
  return ranks;
}

bool Program::isUneven() const {
  auto cuts = [&](const Sharding &sharding, const Type &type) {
    for (auto [dim, size] : zip_equal(sharding, type.shape)) {
      int64_t shards = 1;
      for (int64_t axis : dim.axes)
        shards *= axisSizes[axis];
      if (shards > 1 &&
          (size % shards != 0 || (!dim.sizes.empty() && !all_equal(dim.sizes))))
        return true;
    }
    return false;
  };
  for (const std::vector<Argument> *list : {&arguments, &results})
    for (const Argument &argument : *list)
      if (argument.sharding &&
          cuts(*argument.sharding, values[argument.value].type))
        return true;
  return any_of(ops, [&](const Op &op) {
    return !op.build && cuts(op.constraint, values[op.results[0]].type);
  });
}

/// True if `sharding` still fits a tensor of `type`.
static bool fits(const Sharding &sharding, const Type &type) {
  if (sharding.size() != type.shape.size())
    return false;
  for (auto [dim, size] : zip_equal(sharding, type.shape)) {
    int64_t total = 0;
    for (int64_t part : dim.sizes)
      total += part;
    if (!dim.sizes.empty() && total != size)
      return false;
  }
  return true;
}

bool Program::infer() {
  for (const Argument &argument : arguments)
    if (argument.sharding &&
        !fits(*argument.sharding, values[argument.value].type))
      return false;
  for (Op &op : ops) {
    if (!op.build) {
      values[op.results[0]].type = values[op.operands[0]].type;
      if (!fits(op.constraint, values[op.results[0]].type))
        return false;
      continue;
    }
    SmallVector<Type> types;
    for (int operand : op.operands)
      types.push_back(values[operand].type);
    std::optional<Built> built = op.build(types);
    if (!built || built->results.size() != op.results.size())
      return false;
    for (auto [result, type] : zip_equal(op.results, built->results)) {
      int64_t least = mayBeEmpty ? 0 : 1;
      if (any_of(type.shape, [&](int64_t size) { return size < least; }) ||
          type.numElements() > 1 << 16)
        return false;
      values[result].type = type;
    }
  }
  return all_of(results, [&](const Argument &result) {
    return !result.sharding ||
           fits(*result.sharding, values[result.value].type);
  });
}

void Program::dropUnused() {
  std::vector<bool> needed(values.size());
  for (const Argument &result : results)
    needed[result.value] = true;
  std::vector<Op> kept;
  for (Op &op : reverse(ops))
    if (any_of(op.results, [&](int result) { return needed[result]; })) {
      for (int operand : op.operands)
        needed[operand] = true;
      for (int nest : op.nests)
        needed[nests[nest].control] = true;
      kept.push_back(std::move(op));
    }
  std::reverse(kept.begin(), kept.end());
  ops = std::move(kept);
  erase_if(arguments,
           [&](const Argument &argument) { return !needed[argument.value]; });
}

/// The axes of a dim; parts that are side by side in Shardy's order are one.
static void printAxes(const Program &program, ArrayRef<int64_t> axes,
                      raw_ostream &out) {
  ListSeparator separator;
  for (size_t i = 0; i < axes.size(); ++i) {
    out << separator;
    int64_t axis = axes[i];
    if (program.axisOf.empty()) {
      out << '"' << program.axisNames[axis] << '"';
      continue;
    }
    int64_t whole = program.axisOf[axis], size = program.axisSizes[axis],
            before = 1, all = 1;
    for (auto [other, of] : enumerate(program.axisOf))
      if (of == whole) {
        all *= program.axisSizes[other];
        if (static_cast<int64_t>(other) < axis)
          before *= program.axisSizes[other];
      }
    for (; i + 1 < axes.size() && axes[i + 1] == axes[i] + 1 &&
           program.axisOf[axes[i + 1]] == whole;
         ++i)
      size *= program.axisSizes[axes[i + 1]];
    out << '"' << program.axisNames[whole] << '"';
    if (size != all)
      out << ":(" << before << ')' << size;
  }
}

static std::string printSharding(const Program &program,
                                 const Sharding &sharding) {
  std::string text = "<@mesh, [";
  raw_string_ostream out(text);
  interleaveComma(sharding, out, [&](const DimCut &dim) {
    out << '{';
    printAxes(program, dim.axes, out);
    if (!dim.sizes.empty()) {
      out << " sizes [";
      interleaveComma(dim.sizes, out);
      out << ']';
    }
    if (dim.open)
      out << (dim.axes.empty() ? "?" : ", ?");
    out << '}';
  });
  out << "]>";
  return text;
}

namespace {
/// Writes ops, and the nests that they are in.
class OpWriter {
public:
  OpWriter(const Program &program, bool unsharded, raw_ostream &out)
      : names(program.values.size()), program(program), unsharded(unsharded),
        out(out) {}

  /// Ops from `first` to before `last`, which are all in the same `depth`
  /// outer nests.
  void write(size_t first, size_t last, size_t depth);
  std::vector<std::string> names; ///< by value
  std::string functions;          ///< which ops that it wrote call

private:
  void writeOp(size_t number);
  void writeNest(const Nest &nest, size_t first, size_t last, size_t depth);
  void writeLoop(const Nest &nest, size_t first, size_t last, size_t depth,
                 ArrayRef<int> results);
  void writeBranch(const Nest &nest, size_t first, size_t last, size_t depth,
                   ArrayRef<int> results);
  std::string typesOf(ArrayRef<int> list) const {
    std::string text;
    for (int value : list)
      text += (text.empty() ? "" : ", ") + program.values[value].type.str();
    return text;
  }
  std::string namesOf(ArrayRef<int> list) const {
    std::string text;
    for (int value : list)
      text += (text.empty() ? "" : ", ") + names[value];
    return text;
  }
  /// A constant of zeros of the type of `value`.
  std::string zerosLike(int value, const std::string &name) {
    const Type &type = program.values[value].type;
    out << "  " << name << " = stablehlo.constant dense<"
        << (type.element == "i1" ? "false"
            : type.isFloat()     ? "0.0"
                                 : "0")
        << "> : " << type.str() << "\n";
    return name;
  }

  const Program &program;
  bool unsharded;
  raw_ostream &out;
  int numNests = 0;
};
} // namespace

void OpWriter::write(size_t first, size_t last, size_t depth) {
  while (first < last) {
    const Op &op = program.ops[first];
    if (op.nests.size() <= depth) {
      writeOp(first++);
      continue;
    }
    size_t end = first;
    while (end < last && program.ops[end].nests.size() > depth &&
           program.ops[end].nests[depth] == op.nests[depth])
      ++end;
    writeNest(program.nests[op.nests[depth]], first, end, depth + 1);
    first = end;
  }
}

void OpWriter::writeNest(const Nest &nest, size_t first, size_t last,
                         size_t depth) {
  // What others read of it.
  std::vector<int> results;
  for (size_t i = first; i < last; ++i)
    for (int result : program.ops[i].results) {
      bool isRead = any_of(program.results, [&](const Argument &argument) {
        return argument.value == result;
      });
      for (auto [j, op] : enumerate(program.ops))
        isRead |= (j < first || j >= last) && is_contained(op.operands, result);
      if (isRead)
        results.push_back(result);
    }
  if (nest.kind == Nest::Loop)
    writeLoop(nest, first, last, depth, results);
  else
    writeBranch(nest, first, last, depth, results);
}

void OpWriter::writeLoop(const Nest &nest, size_t first, size_t last,
                         size_t depth, ArrayRef<int> results) {
  std::string tag = "_n" + std::to_string(numNests++);
  std::vector<int> carried;
  for (size_t i = first; i < last; ++i)
    for (int operand : program.ops[i].operands)
      if (!names[operand].empty() && !is_contained(carried, operand))
        carried.push_back(operand);
  // Two that change places, if there are two of one type.
  std::vector<int> next = carried;
  for (size_t i = 0; nest.swaps && i < carried.size(); ++i)
    for (size_t j = i + 1; next == carried && j < carried.size(); ++j)
      if (program.values[carried[i]].type == program.values[carried[j]].type)
        std::swap(next[i], next[j]);
  auto constant = [&](StringRef name, int64_t value) {
    out << "  %" << name << tag << " = stablehlo.constant dense<" << value
        << "> : tensor<i32>\n";
  };
  constant("zero", 0), constant("one", 1);
  auto compute = [&](StringRef result, StringRef op, const std::string &a,
                     StringRef b) {
    out << "  %" << result << tag << " = stablehlo." << op << " " << a << ", %"
        << b << tag << " : tensor<i32>\n";
  };
  // One iteration or three, which no compiler can know.
  compute("p", "maximum", names[nest.control], "zero");
  compute("q", "minimum", "%p" + tag, "one");
  compute("r", "add", "%q" + tag, "q");
  compute("n", "add", "%r" + tag, "one");
  std::vector<std::string> zeros, outside = names;
  for (auto [i, result] : enumerate(results))
    zeros.push_back(zerosLike(result, "%z" + std::to_string(i) + tag));
  std::string all = "tensor<i32>";
  out << "  %w" << tag << ":" << 1 + carried.size() + results.size()
      << " = stablehlo.while(%i" << tag << " = %zero" << tag;
  for (auto [i, value] : enumerate(carried)) {
    std::string name = "%c" + std::to_string(i) + tag;
    out << ", " << name << " = " << names[value];
    names[value] = name;
    all += ", " + program.values[value].type.str();
  }
  for (auto [i, value] : enumerate(results)) {
    out << ", %o" << i << tag << " = " << zeros[i];
    all += ", " + program.values[value].type.str();
  }
  out << ") : " << all << "\n  cond {\n  %b" << tag
      << " = stablehlo.compare LT, %i" << tag << ", %n" << tag
      << ", SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>\n"
      << "  stablehlo.return %b" << tag << " : tensor<i1>\n  } do {\n";
  write(first, last, depth);
  compute("j", "add", "%i" + tag, "one");
  out << "  stablehlo.return %j" << tag;
  for (int value : next)
    out << ", " << names[value];
  for (int value : results)
    out << ", " << names[value];
  out << " : " << all << "\n  }\n";
  names = std::move(outside);
  for (auto [i, value] : enumerate(results))
    names[value] = "%w" + tag + "#" + std::to_string(1 + carried.size() + i);
}

void OpWriter::writeBranch(const Nest &nest, size_t first, size_t last,
                           size_t depth, ArrayRef<int> results) {
  std::string tag = "_n" + std::to_string(numNests++);
  out << "  %w" << tag << ":" << results.size() << " = \"stablehlo.if\"("
      << names[nest.control] << ") ({\n";
  std::vector<std::string> outside = names;
  auto leave = [&](ArrayRef<std::string> given) {
    out << "  stablehlo.return ";
    interleaveComma(given, out);
    out << " : " << typesOf(results) << "\n";
  };
  auto writeOps = [&] {
    write(first, last, depth);
    std::vector<std::string> given;
    for (int value : results)
      given.push_back(names[value]);
    leave(given);
    names = outside;
  };
  writeOps();
  out << "  }, {\n";
  if (nest.isBoth) {
    writeOps();
  } else {
    std::vector<std::string> zeros;
    for (auto [i, value] : enumerate(results))
      zeros.push_back(zerosLike(value, "%z" + std::to_string(i) + tag));
    leave(zeros);
  }
  out << "  }) : (tensor<i1>) -> (" << typesOf(results) << ")\n";
  for (auto [i, value] : enumerate(results))
    names[value] = "%w" + tag + "#" + std::to_string(i);
}

void OpWriter::writeOp(size_t i) {
  const Op &op = program.ops[i];
  std::string name = "%" + std::to_string(i);
  std::vector<std::string> operands;
  SmallVector<Type> types;
  for (int operand : op.operands) {
    operands.push_back(names[operand]);
    types.push_back(program.values[operand].type);
  }
  for (auto [j, result] : enumerate(op.results))
    names[result] =
        op.results.size() == 1 ? name : name + "#" + std::to_string(j);
  if (!op.build) {
    out << "  " << name
        << (program.axisOf.empty() ? " = spmd.constrain "
                                   : " = sdy.sharding_constraint ")
        << operands[0] << ' ' << printSharding(program, op.constraint) << " : "
        << types[0].str() << "\n";
    return;
  }
  Built built = *op.build(types);
  std::string body =
      unsharded && !built.reference.empty() ? built.reference : built.text;
  bool isCalled = op.form != Op::Inline && !unsharded;
  std::string called = name;
  if (isCalled) {
    called = "%r";
    for (auto [j, operand] : enumerate(operands))
      operand = "%a" + std::to_string(j);
  }
  auto withCount = [&](const std::string &of) {
    return op.results.size() == 1
               ? of
               : of + ":" + std::to_string(op.results.size());
  };
  std::string written;
  for (size_t at = 0; at < body.size(); ++at) {
    char c = body[at];
    if (c == '~')
      written += "_" + std::to_string(i);
    else if (c == '$' && body[at + 1] == 'R' && ++at)
      written += withCount(called);
    else if (c == '$' && ++at)
      written += operands[body[at] - '0'];
    else
      written += c;
  }
  SmallVector<StringRef> lines;
  StringRef(written).split(lines, '\n', -1, /*KeepEmpty=*/false);
  std::string text;
  for (auto [number, line] : enumerate(lines)) {
    std::string tag = "_" + std::to_string(i) + "_" + std::to_string(number);
    text += "  " +
            (op.isDynamic && !unsharded ? withConstantOperands(line, tag)
                                        : line.str()) +
            "\n";
  }
  if (!isCalled) {
    out << text;
    return;
  }
  std::string part = "@part_" + std::to_string(i),
              results = typesOf(op.results),
              type = "(" + typesOf(op.operands) + ") -> (" + results + ")";
  out << "  " << withCount(name) << " = "
      << (op.form == Op::Call ? "func.call " + part + "("
                              : "stablehlo.composite \"fuzz.part\" ");
  out << namesOf(op.operands)
      << (op.form == Op::Call ? ")" : " {decomposition = " + part + "}")
      << " : " << type << "\n";
  // Where ops are on both sides of a branch there is one function.
  if (StringRef(functions).contains(part + "("))
    return;
  functions += "func.func private " + part + "(";
  for (auto [j, operand] : enumerate(types))
    functions += (j ? ", %a" : "%a") + std::to_string(j) + ": " + operand.str();
  functions += ") -> (" + results + ") {\n" + text + "  return ";
  for (size_t j = 0; j < op.results.size(); ++j)
    functions += (j ? ", %r" : "%r") +
                 (op.results.size() == 1 ? "" : "#" + std::to_string(j));
  functions += " : " + results + "\n}\n";
}

std::string Program::text(bool unsharded) const {
  std::string mesh, main;
  raw_string_ostream meshOut(mesh), out(main);
  bool shardy = !axisOf.empty();
  std::string dialect = shardy ? "sdy" : "spmd";
  std::vector<int64_t> sizes = axisSizes;
  if (shardy) {
    sizes.assign(axisOf.back() + 1, 1);
    for (auto [part, whole] : enumerate(axisOf))
      sizes[whole] *= axisSizes[part];
  }
  meshOut << dialect << ".mesh @mesh = <[";
  interleaveComma(enumerate(sizes), meshOut, [&](auto axis) {
    meshOut << '"' << axisNames[axis.index()] << "\"=" << axis.value();
  });
  meshOut << "]>\n";

  OpWriter writer(*this, unsharded, out);
  std::vector<std::string> &names = writer.names;
  auto annotated = [&](const Argument &argument) {
    std::string type = values[argument.value].type.str();
    if (argument.sharding)
      type += " {" + dialect + ".sharding = #" + dialect + ".sharding" +
              printSharding(*this, *argument.sharding) + "}";
    return type;
  };
  out << "func.func @main(";
  for (auto [i, argument] : enumerate(arguments)) {
    names[argument.value] = "%arg" + std::to_string(i);
    out << (i ? ",\n                " : "") << names[argument.value] << ": "
        << annotated(argument);
  }
  out << ")\n    -> (";
  interleave(
      results, out, [&](const Argument &result) { out << annotated(result); },
      ",\n        ");
  out << ") {\n";
  writer.write(0, ops.size(), 0);
  out << "  return";
  if (!results.empty())
    out << ' ';
  interleaveComma(results, out,
                  [&](const Argument &result) { out << names[result.value]; });
  out << " : ";
  interleaveComma(results, out, [&](const Argument &result) {
    out << values[result.value].type.str();
  });
  out << "\n}\n";
  return mesh + writer.functions + main;
}

} // namespace shardc::fuzz
