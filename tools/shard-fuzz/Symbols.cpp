//===- Symbols.cpp - Random programs with a symbol for an extent ----------===//
//
// Ops write themselves for operands of any types (Program.h). So a program is
// written for some extents, and what differs between the texts follows from the
// symbol.
//
//===----------------------------------------------------------------------===//

#include "Symbols.h"
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
  /// What writes a tensor's extents, as operand of a dynamic op.
  std::string shape(ArrayRef<Affine> dims);
  std::string name() { return "%fresh" + std::to_string(numNames++); }

  int64_t first;
  int64_t numNames = 0;
};
} // namespace

std::string Writer::shape(ArrayRef<Affine> dims) {
  SmallVector<std::string> parts;
  auto scalar = [&](int64_t value) {
    std::string made = name();
    out += formatv("  {0} = stablehlo.constant dense<{1}> : tensor<i32>\n",
                   made, value);
    return made;
  };
  for (Affine dim : dims) {
    std::string value = "%n";
    if (dim.multiplier == 0) {
      value = scalar(dim.addend);
    } else {
      auto apply = [&](StringRef op, int64_t number) {
        std::string by = scalar(number), made = name();
        out += formatv("  {0} = stablehlo.{1} {2}, {3} : tensor<i32>\n", made,
                       op, value, by);
        value = made;
      };
      if (dim.multiplier != 1)
        apply("multiply", dim.multiplier);
      if (dim.addend != 0)
        apply("add", dim.addend);
    }
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
  return all;
}

bool Writer::take(ArrayRef<StringRef> lines) {
  SmallVector<SmallVector<StringRef>> tokens(
      map_range(lines, [](StringRef line) { return tokensOf(line); }));
  if (!all_equal(map_range(tokens, [](auto &list) { return list.size(); })))
    return false;
  std::string line;
  /// Extents of the tensor type that ends the line.
  SmallVector<Affine> last;
  bool isInType = false, differs = false;
  for (size_t i = 0; i < tokens[0].size(); ++i) {
    StringRef token = tokens[0][i];
    if (i % 2 == 0) {
      if (!all_equal(map_range(tokens, [&](auto &list) { return list[i]; })))
        return false;
      line += token;
      size_t open = token.rfind("tensor<"), close = token.rfind('>');
      if (open != StringRef::npos &&
          (close == StringRef::npos || close < open)) {
        isInType = true;
        last.clear();
      } else if (close != StringRef::npos) {
        isInType = false;
      }
      if (open != StringRef::npos && close != StringRef::npos && open < close)
        last.clear(); // a scalar
      continue;
    }
    SmallVector<int64_t> values;
    for (auto &list : tokens)
      if (list[i].getAsInteger(10, values.emplace_back()))
        return false;
    bool isOpen = !all_equal(values);
    if (isOpen && !isInType)
      return false;
    int64_t step = values[1] - values[0];
    // What becomes smaller says how large the symbol may be at most.
    if (values.back() < values.front())
      return false;
    Affine number{step, values[0] - step * first,
                  all_of(zip(values, kMore), [&](auto pair) {
                    auto [value, more] = pair;
                    return value == values[0] + step * more;
                  })};
    if (isInType)
      last.push_back(number);
    line += isOpen ? std::string("?") : token.str();
    differs |= isOpen;
  }
  bool hasOpenResult =
      any_of(last, [](Affine dim) { return dim.multiplier || !dim.isKnown; });
  auto rewrite = [&](StringRef op) -> std::optional<StringRef> {
    size_t at = line.find(" = stablehlo." + op.str() + " ");
    if (!differs || !hasOpenResult || at == std::string::npos)
      return std::nullopt;
    return StringRef(line).substr(at + 14 + op.size());
  };
  auto target = [&] { return StringRef(line).split(" = ").first.str(); };
  auto type = [&] {
    return StringRef(line).substr(line.rfind("tensor<")).str();
  };
  bool isKnown = all_of(last, [](Affine dim) { return dim.isKnown; });
  std::string rank = "tensor<" + std::to_string(last.size()) + "xi32>";
  // What follows is the op's operand and attributes.
  for (StringRef op : {"broadcast_in_dim", "reshape"})
    if (std::optional<StringRef> rest = rewrite(op)) {
      if (!isKnown)
        return false;
      auto [head, types] = rest->rsplit(" : (");
      size_t comma = head.find(',');
      std::string operand = head.substr(0, comma).str(),
                  more =
                      comma == StringRef::npos ? "" : head.substr(comma).str();
      std::string from = types.split(") -> ").first.str(), to = type(),
                  result = target(), extents = shape(last);
      out += formatv("{0} = stablehlo.dynamic_{1} {2}, {3}{4} : ({5}, {6}) -> "
                     "{7}\n",
                     result, op, operand, extents, more, from, rank, to);
      return true;
    }
  if (std::optional<StringRef> rest = rewrite("iota")) {
    if (!isKnown)
      return false;
    std::string head = rest->split(" : ").first.str(), to = type(),
                result = target(), extents = shape(last);
    out += formatv("{0} = stablehlo.dynamic_iota {1}, {2} : ({3}) -> {4}\n",
                   result, extents, head, rank, to);
    return true;
  }
  if (std::optional<StringRef> rest = rewrite("constant")) {
    StringRef value = rest->split(" : ").first;
    if (!isKnown || value.contains('['))
      return false;
    std::string to = type(), result = target(),
                element = StringRef(to).rsplit('x').second.str(),
                splat = value.str(), extents = shape(last), made = name();
    out += formatv("  {0} = stablehlo.constant {1} : tensor<{2}\n", made, splat,
                   element);
    out += formatv("{0} = stablehlo.dynamic_broadcast_in_dim {1}, {2}, dims = "
                   "[] : (tensor<{3}, {4}) -> {5}\n",
                   result, made, extents, element, rank, to);
    return true;
  }
  out += line + "\n";
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
  for (Op &op : program.ops)
    leaveOpen(op.constraint);
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
