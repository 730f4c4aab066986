//===- DynamicForms.cpp - Ops whose attributes are operands ---------------===//
//
// What JAX writes where a shape is not known is written for any program: a line
// of text is split and written again as the op's dynamic form. A number is
// whatever stands in a number's place, so that a symbol may.
//
//===----------------------------------------------------------------------===//

#include "DynamicForms.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace shardc::fuzz {

static std::vector<std::string> listOf(StringRef text, char separator = ',') {
  std::vector<std::string> items;
  for (StringRef item : split(text, separator))
    if (!item.trim().empty())
      items.push_back(item.trim().str());
  return items;
}

/// Cuts what is between `open` and `close` out of `text`, with both; none where
/// they are not there.
static std::optional<std::string> cutOut(std::string &text, StringRef open,
                                         StringRef close) {
  size_t begin = text.find(open);
  size_t end = begin == std::string::npos
                   ? begin
                   : text.find(close, begin + open.size());
  if (end == std::string::npos)
    return std::nullopt;
  std::string inner =
      text.substr(begin + open.size(), end - begin - open.size());
  text.erase(begin, end + close.size() - begin);
  return inner;
}

/// Extents of "tensor<4x3xf32>".
static std::optional<std::vector<std::string>> extentsOf(StringRef type) {
  if (!type.consume_front("tensor<") || !type.consume_back(">") ||
      type.contains('<'))
    return std::nullopt;
  std::vector<std::string> extents = listOf(type, 'x');
  extents.pop_back();
  return extents;
}

namespace {
/// "%1 = stablehlo.pad %x, %z, low = … : (A, B) -> C".
struct Line {
  std::string result, name, rest, operandTypes, type;
};
} // namespace

static std::optional<Line> parse(StringRef text) {
  Line line;
  auto [result, op] = text.split(" = ");
  auto [head, types] = op.rsplit(" : ");
  op = op.trim();
  bool isGeneric = op.consume_front("\"");
  if (!result.trim().starts_with("%") || types.empty() ||
      !op.consume_front("stablehlo."))
    return std::nullopt;
  line.result = result.str();
  line.name = op.take_while([](char c) { return isAlnum(c) || c == '_'; });
  line.rest = op.drop_front(line.name.size())
                  .drop_front(isGeneric)
                  .rsplit(" : ")
                  .first.trim()
                  .str();
  auto [from, to] = types.rsplit(" -> ");
  if (to.empty())
    to = from, from = "";
  else if (!from.consume_front("(") || !from.consume_back(")"))
    return std::nullopt;
  line.operandTypes = from.str(), line.type = to.trim().str();
  return line;
}

/// `head` with operands @0 to @count - 1 behind `operands`, then `attributes`.
static DynamicForm formOf(const Line &line, std::string name,
                          std::string operands, std::string attributes,
                          std::vector<std::vector<std::string>> numbers) {
  std::string types = line.operandTypes;
  for (size_t i = 0; i < numbers.size(); ++i) {
    operands += (operands.empty() ? "@" : ", @") + std::to_string(i);
    types += types.empty() ? "^" : ", ^";
  }
  DynamicForm form{name, std::move(numbers), 0, {}};
  form.line = line.result + " = stablehlo." + name + " " + operands +
              attributes + " : (" + types + ") -> " + line.type;
  return form;
}

static std::optional<DynamicForm> shapedForm(const Line &line) {
  auto extents = extentsOf(line.type);
  if (!extents)
    return std::nullopt;
  auto [operand, attributes] = StringRef(line.rest).split(", ");
  if (line.name == "iota")
    return formOf(line, "dynamic_iota", "", ", " + line.rest, {*extents});
  return formOf(line, "dynamic_" + line.name, operand.str(),
                attributes.empty() ? "" : ", " + attributes.str(), {*extents});
}

static std::optional<DynamicForm> sliceForm(Line line) {
  std::optional<std::string> ranges = cutOut(line.rest, " [", "]");
  if (!ranges)
    return std::nullopt;
  std::vector<std::vector<std::string>> numbers(3);
  for (const std::string &range : listOf(*ranges)) {
    std::vector<std::string> parts = listOf(range, ':');
    if (parts.size() < 2)
      return std::nullopt;
    parts.resize(3, "1");
    for (auto [list, part] : zip_equal(numbers, parts))
      list.push_back(part);
  }
  return formOf(line, "real_dynamic_slice", line.rest, "", numbers);
}

static std::optional<DynamicForm> padForm(Line line) {
  std::vector<std::vector<std::string>> numbers;
  for (StringRef name : {"low", "high", "interior"}) {
    std::optional<std::string> list =
        cutOut(line.rest, (", " + name + " = [").str(), "]");
    if (!list)
      return std::nullopt;
    numbers.push_back(listOf(*list));
  }
  return formOf(line, "dynamic_pad", line.rest, "", numbers);
}

/// `rest` is "(%a, %b) <{…}>"; attributes that stay are `attributes`.
static DynamicForm genericForm(const Line &line, std::string name,
                               const std::string &operands,
                               const std::string &attributes,
                               std::vector<std::string> numbers) {
  DynamicForm form{name, {std::move(numbers)}, 0, {}};
  form.line = line.result + " = \"stablehlo." + name + "\"(" + operands +
              ", @0) <{" + attributes + "}> : (" + line.operandTypes +
              ", ^) -> " + line.type;
  return form;
}

static std::optional<DynamicForm> gatherForm(Line line) {
  std::optional<std::string> sizes =
      cutOut(line.rest, ", slice_sizes = array<i64: ", ">");
  std::optional<std::string> operands = cutOut(line.rest, "(", ")"),
                             attributes = cutOut(line.rest, "<{", "}>");
  if (!sizes || !operands || !attributes)
    return std::nullopt;
  return genericForm(line, "dynamic_gather", *operands, *attributes,
                     listOf(*sizes));
}

static std::optional<DynamicForm> convolutionForm(Line line) {
  std::optional<std::string> operands = cutOut(line.rest, "(", ")"),
                             numbers = cutOut(
                                 line.rest, " dim_numbers = ", ", window = {"),
                             padding = cutOut(line.rest, "pad = [[", "]]"),
                             groups = cutOut(line.rest, "} {", "}");
  if (!operands || !numbers || !padding || !groups)
    return std::nullopt;
  std::string attributes =
      *groups + ", dimension_numbers = #stablehlo.conv<" + *numbers + ">";
  for (auto [old, name, type] :
       {std::tuple("stride", "window_strides", "i64"),
        std::tuple("lhs_dilate", "lhs_dilation", "i64"),
        std::tuple("rhs_dilate", "rhs_dilation", "i64"),
        std::tuple("reverse", "window_reversal", "i1")})
    if (auto list = cutOut(line.rest, (Twine(old) + " = [").str(), "]"))
      attributes +=
          (", " + Twine(name) + " = array<" + type + ": " + *list + ">").str();
  std::string flat;
  for (char c : *padding)
    if (c != '[' && c != ']')
      flat += c;
  DynamicForm form =
      genericForm(line, "dynamic_conv", *operands, attributes, listOf(flat));
  form.columns = 2;
  return form;
}

std::optional<DynamicForm> dynamicForm(StringRef text) {
  std::optional<Line> line = parse(text);
  if (!line)
    return std::nullopt;
  if (line->name == "broadcast_in_dim" || line->name == "reshape" ||
      line->name == "iota")
    return shapedForm(*line);
  if (line->name == "slice")
    return sliceForm(*line);
  if (line->name == "pad")
    return padForm(*line);
  if (line->name == "gather")
    return gatherForm(*line);
  if (line->name == "convolution")
    return convolutionForm(*line);
  return std::nullopt;
}

std::string DynamicForm::text(ArrayRef<std::string> operands,
                              const std::string &element) const {
  int64_t count = numbers.front().size();
  std::string type =
      "tensor<" +
      (columns ? std::to_string(count / columns) + "x" + std::to_string(columns)
               : std::to_string(count)) +
      "x" + element + ">";
  std::string made;
  for (size_t at = 0; at < line.size(); ++at) {
    if (line[at] == '^')
      made += type;
    else if (line[at] == '@' && at + 1 < line.size() && isDigit(line[at + 1]))
      made += operands[line[++at] - '0'];
    else
      made += line[at];
  }
  return made;
}

std::string withConstantOperands(StringRef line, const std::string &tag) {
  std::optional<DynamicForm> form = dynamicForm(line);
  if (!form || form->numbers.front().empty())
    return line.str();
  std::string text, rank = std::to_string(form->numbers.front().size());
  std::vector<std::string> operands;
  for (auto [i, list] : enumerate(form->numbers)) {
    operands.push_back("%dynamic" + std::to_string(i) + tag);
    std::string elements;
    for (size_t j = 0; j < list.size(); ++j) {
      bool opens = form->columns && j % form->columns == 0;
      bool closes =
          form->columns && j % form->columns == size_t(form->columns) - 1;
      elements += std::string(j ? ", " : "") + (opens ? "[" : "") + list[j] +
                  (closes ? "]" : "");
    }
    std::string type = form->columns
                           ? std::to_string(list.size() / form->columns) + "x" +
                                 std::to_string(form->columns)
                           : rank;
    text += operands.back() + " = stablehlo.constant dense<[" + elements +
            "]> : tensor<" + type + "xi64>\n";
  }
  return text + form->text(operands, "i64");
}

} // namespace shardc::fuzz
