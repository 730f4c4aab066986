//===- Symbols.cpp - Random programs with a symbol for an extent ----------===//
//
// Ops write themselves for operands of any types (Program.h). So a program is
// written for some extents, and what differs between the texts follows from the
// symbol.
//
//===----------------------------------------------------------------------===//

#include "Symbols.h"
#include "DynamicForms.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include <map>

using namespace llvm;

namespace shardc::fuzz {

/// By how much the extents are larger for which a program is written: together
/// they show what goes on from the first two, and what is as long for a while.
static constexpr int64_t kMore[] = {0, 1, 2, 5, 11, 40};

/// `text` as numbers and what is between them, each in turn; what is
/// between comes first. Names with digits in them are no numbers.
static SmallVector<StringRef> tokensOf(StringRef text) {
  SmallVector<StringRef> tokens;
  size_t begin = 0;
  for (size_t at = 0; at < text.size();) {
    bool startsNumber =
        isDigit(text[at]) &&
        (at == 0 || text[at - 1] == 'x' ||
         (!isAlnum(text[at - 1]) && !StringRef("_%.#").contains(text[at - 1])));
    if (!startsNumber) {
      ++at;
      continue;
    }
    size_t end = at;
    while (end < text.size() && isDigit(text[end]))
      ++end;
    tokens.push_back(text.slice(begin, at));
    tokens.push_back(text.slice(at, end));
    begin = at = end;
  }
  tokens.push_back(text.substr(begin));
  return tokens;
}

namespace {
/// The number multiplier * n + addend.
struct Affine {
  int64_t multiplier = 0, addend = 0;
  bool isKnown = true; ///< else it follows from n in another way
};

/// Lines of a symbolic program.
class Writer {
public:
  explicit Writer(int64_t first) : first(first) {}
  /// Takes over a line; false where it cannot be written. `lines`: the same
  /// line for all extents.
  bool take(ArrayRef<StringRef> lines);
  std::string out;

private:
  /// What writes a number, as an i32.
  std::string scalar(Affine number);
  /// What writes a tensor's extents, as operand of a dynamic op.
  std::string shape(ArrayRef<Affine> dims, int64_t columns = 0);
  std::string name() { return "%fresh" + std::to_string(numNames++); }

  int64_t first;
  int64_t numNames = 0;
};
} // namespace

std::string Writer::scalar(Affine number) {
  auto constant = [&](int64_t value) {
    std::string made = name();
    out += formatv("  {0} = stablehlo.constant dense<{1}> : tensor<i32>\n",
                   made, value);
    return made;
  };
  if (number.multiplier == 0)
    return constant(number.addend);
  std::string value = "%n";
  auto apply = [&](StringRef op, int64_t by) {
    std::string operand = constant(by), made = name();
    out += formatv("  {0} = stablehlo.{1} {2}, {3} : tensor<i32>\n", made, op,
                   value, operand);
    value = made;
  };
  if (number.multiplier != 1)
    apply("multiply", number.multiplier);
  if (number.addend != 0)
    apply("add", number.addend);
  return value;
}

std::string Writer::shape(ArrayRef<Affine> dims, int64_t columns) {
  SmallVector<std::string> parts;
  for (Affine dim : dims) {
    std::string value = scalar(dim);
    parts.push_back(name());
    out += formatv(
        "  {0} = stablehlo.reshape {1} : (tensor<i32>) -> tensor<1xi32>\n",
        parts.back(), value);
  }
  std::string all = name();
  std::string types =
      join(SmallVector<std::string>(dims.size(), "tensor<1xi32>"), ", ");
  out += formatv("  {0} = stablehlo.concatenate {1}, dim = 0 : ({2}) -> "
                 "tensor<{3}xi32>\n",
                 all, join(parts, ", "), types, dims.size());
  if (!columns)
    return all;
  std::string table = name();
  out += formatv("  {0} = stablehlo.reshape {1} : (tensor<{2}xi32>) -> "
                 "tensor<{3}x{4}xi32>\n",
                 table, all, dims.size(), dims.size() / columns, columns);
  return table;
}

bool Writer::take(ArrayRef<StringRef> lines) {
  SmallVector<SmallVector<StringRef>> tokens(
      map_range(lines, [](StringRef line) { return tokensOf(line); }));
  if (!all_equal(map_range(tokens, [](auto &list) { return list.size(); })))
    return false;
  // A number that follows from the symbol stands as "\1K\2", number K of these.
  SmallVector<Affine> open;
  std::string line;
  bool isInType = false, isOpenOutside = false;
  for (size_t i = 0; i < tokens[0].size(); ++i) {
    StringRef token = tokens[0][i];
    if (i % 2 == 0) {
      if (!all_equal(map_range(tokens, [&](auto &list) { return list[i]; })))
        return false;
      line += token;
      size_t opens = token.rfind("tensor<"), closes = token.rfind('>');
      if (opens != StringRef::npos &&
          (closes == StringRef::npos || closes < opens))
        isInType = true;
      else if (closes != StringRef::npos)
        isInType = false;
      continue;
    }
    SmallVector<int64_t> values;
    for (auto &list : tokens)
      if (list[i].getAsInteger(10, values.emplace_back()))
        return false;
    if (all_equal(values)) {
      line += token;
      continue;
    }
    // What becomes smaller says how large the symbol may be at most.
    if (values.back() < values.front())
      return false;
    int64_t step = values[1] - values[0];
    line += "\1" + std::to_string(open.size()) + "\2";
    open.push_back({step, values[0] - step * first,
                    all_of(zip(values, kMore), [&](auto pair) {
                      auto [value, more] = pair;
                      return value == values[0] + step * more;
                    })});
    isOpenOutside |= !isInType;
  }
  // Numbers as they stand in the line, if they are known.
  auto numbersOf =
      [&](ArrayRef<std::string> list) -> std::optional<SmallVector<Affine>> {
    SmallVector<Affine> numbers;
    for (StringRef text : list) {
      Affine &number = numbers.emplace_back();
      size_t place = 0;
      if (text.consume_front("\1") && text.consume_back("\2")) {
        if (text.getAsInteger(10, place) || !open[place].isKnown)
          return std::nullopt;
        number = open[place];
      } else if (text.getAsInteger(10, number.addend)) {
        return std::nullopt;
      }
    }
    return numbers;
  };
  auto put = [&](StringRef text) {
    bool isNumber = false;
    for (char c : text)
      if (c == '\1' || c == '\2') {
        isNumber = c == '\1';
        out += isNumber ? "?" : "";
      } else if (!isNumber) {
        out += c;
      }
    out += '\n';
  };
  auto [result, made] = StringRef(line).split(" = ");
  StringRef type = StringRef(line).substr(line.rfind("tensor<"));
  if (made.starts_with("stablehlo.constant ") && !open.empty()) {
    StringRef value = made.split(" : ").first.drop_front(19), number = value;
    if (isOpenOutside) {
      // A scalar that is as large as something is long.
      number.consume_front("dense<"), number.consume_back(">");
      auto [whole, fraction] = number.split('.');
      auto known = numbersOf(whole.str());
      if (!known || type.contains('x') ||
          fraction.find_first_not_of('0') != StringRef::npos)
        return false;
      std::string integer = scalar(known->front());
      out += formatv("{0} = stablehlo.convert {1} : (tensor<i32>) -> {2}\n",
                     result, integer, type);
      return true;
    }
    StringRef extents = type.drop_front(7).drop_back(1),
              element = extents.rsplit('x').second;
    SmallVector<StringRef> dims;
    extents.split(dims, 'x');
    auto known = numbersOf(SmallVector<std::string>(
        map_range(drop_end(dims), [](StringRef dim) { return dim.str(); })));
    if (!known || value.contains('['))
      return false;
    std::string shaped = shape(*known), splat = name();
    out += formatv("  {0} = stablehlo.constant {1} : tensor<{2}>\n", splat,
                   value, element);
    put(formatv("{0} = stablehlo.dynamic_broadcast_in_dim {1}, {2}, dims = [] "
                ": (tensor<{3}>, tensor<{4}xi32>) -> {5}",
                result, splat, shaped, element, known->size(), type)
            .str());
    return true;
  }
  std::optional<DynamicForm> form;
  if (!open.empty())
    form = dynamicForm(line);
  if (form && any_of(form->numbers, [](const std::vector<std::string> &list) {
        return any_of(
            list, [](StringRef number) { return number.starts_with("\1"); });
      })) {
    std::vector<std::string> operands;
    for (const std::vector<std::string> &list : form->numbers) {
      auto known = numbersOf(list);
      if (!known)
        return false;
      operands.push_back(shape(*known, form->columns));
    }
    put(form->text(operands, "i32"));
    return true;
  }
  if (isOpenOutside)
    return false;
  put(line);
  return true;
}

std::optional<Program> SymbolicProgram::with(int64_t extent) const {
  Program other = program;
  for (const Argument &argument : other.arguments)
    for (int64_t &size : other.values[argument.value].type.shape)
      if (size == drawn)
        size = extent;
  if (!other.infer())
    return std::nullopt;
  return other;
}

std::optional<Program> SymbolicProgram::at(int64_t extent) const {
  // Of one element some ops are others: what is as long as 1 is broadcast. And
  // what follows from the extent in the texts that the symbolic one was made of
  // may stop to do so further down.
  std::optional<Program> other = with(extent);
  if (!other)
    return std::nullopt;
  std::string texts[] = {with(drawn)->text(), with(drawn + 1)->text(),
                         other->text()};
  SmallVector<StringRef> first = tokensOf(texts[0]), next = tokensOf(texts[1]),
                         there = tokensOf(texts[2]);
  if (first.size() != there.size() || first.size() != next.size())
    return std::nullopt;
  for (auto [a, b, c] : zip_equal(first, next, there)) {
    int64_t x = 0, y = 0, z = 0;
    bool isNumber = !a.getAsInteger(10, x) && !b.getAsInteger(10, y) &&
                    !c.getAsInteger(10, z);
    if (isNumber ? z != x + (y - x) * (extent - drawn) : a != c)
      return std::nullopt;
  }
  return other;
}

bool SymbolicProgram::write() {
  SmallVector<std::string> texts;
  for (int64_t more : kMore) {
    std::optional<Program> other = with(drawn + more);
    if (!other)
      return false;
    texts.push_back(other->text());
  }
  SmallVector<SmallVector<StringRef>> lines(texts.size());
  for (auto [list, text] : zip(lines, texts))
    StringRef(text).split(list, '\n', -1, /*KeepEmpty=*/false);
  if (!all_equal(map_range(lines, [](auto &list) { return list.size(); })))
    return false;
  Writer writer(drawn);
  for (size_t i = 0; i < lines[0].size(); ++i) {
    if (!writer.take(SmallVector<StringRef>(
            map_range(lines, [&](auto &list) { return list[i]; }))))
      return false;
    if (!lines[0][i].ends_with(") {") || StringRef(writer.out).contains("%n ="))
      continue;
    // The function begins: the symbol, and what else is as long.
    bool isFirst = true;
    int64_t number = 0;
    for (auto [place, argument] : enumerate(program.arguments)) {
      Type type = program.values[argument.value].type;
      std::string written = "tensor<";
      for (int64_t size : type.shape)
        written += (size == drawn ? "?" : std::to_string(size)) + "x";
      written += type.element + ">";
      for (auto [dim, size] : enumerate(type.shape)) {
        if (size != drawn)
          continue;
        std::string name = isFirst ? "%n" : "%n" + std::to_string(++number);
        writer.out += formatv("  {0} = stablehlo.get_dimension_size %arg{1}, "
                              "dim = {2} : ({3}) -> tensor<i32>\n",
                              name, place, dim, written);
        if (!isFirst)
          writer.out += formatv(
              "  %same{0} = stablehlo.compare EQ, {1}, %n, SIGNED : "
              "(tensor<i32>, tensor<i32>) -> tensor<i1>\n"
              "  stablehlo.custom_call @shape_assertion(%same{0}, {1}, %n) "
              "{{api_version = 2 : i32, error_message = \"dims of {{0} and "
              "{{1} "
              "elements\", has_side_effect = true} : (tensor<i1>, tensor<i32>, "
              "tensor<i32>) -> ()\n",
              number, name);
        isFirst = false;
      }
    }
  }
  symbolic = writer.out;
  return StringRef(symbolic).contains("%n =");
}

std::optional<SymbolicProgram> SymbolicProgram::of(const Program &drawn) {
  if (any_of(drawn.ops, [](const Op &op) { return op.fixesMesh; }))
    return std::nullopt;
  Program program = drawn;
  auto leaveOpen = [](Sharding &sharding) {
    for (DimCut &cut : sharding)
      cut.sizes.clear();
  };
  for (std::vector<Argument> *list : {&program.arguments, &program.results})
    for (Argument &value : *list)
      if (value.sharding)
        leaveOpen(*value.sharding);
  for (Op &op : program.ops) {
    leaveOpen(op.constraint);
    // The symbol is a value of @main, and what is dynamic follows from it.
    op.form = Op::Inline;
    op.isDynamic = false;
  }
  std::map<int64_t, int64_t> counts;
  for (const Argument &argument : program.arguments)
    for (int64_t size : program.values[argument.value].type.shape)
      if (size > 1)
        counts[size] += 1;
  SmallVector<std::pair<int64_t, int64_t>> order;
  for (auto [size, count] : counts)
    order.push_back({-count, -size});
  sort(order);
  for (auto [count, size] : order) {
    SymbolicProgram symbolic(program, -size);
    if (symbolic.write())
      return symbolic;
  }
  return std::nullopt;
}

} // namespace shardc::fuzz
