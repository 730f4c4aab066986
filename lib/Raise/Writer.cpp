//===- Writer.cpp - Ops from expressions ----------------------------------===//
#include "Writer.h"

using namespace mlir;
using namespace shardc;
using namespace shardc::raise;

Type Writer::widen(Type type) {
  auto number = dyn_cast<FloatType>(type);
  return number && number.getWidth() < accumulator.getWidth() ? accumulator
                                                              : type;
}

Value Writer::cast(Value value, Type type) {
  if (getElementTypeOrSelf(value.getType()) == type)
    return value;
  return stablehlo::ConvertOp::create(builder, loc, tensorOf(type), value);
}

Value Writer::number(double value, Type type) {
  Attribute attr =
      isa<FloatType>(type)
          ? Attribute(builder.getFloatAttr(type, value))
          : Attribute(builder.getIntegerAttr(type, int64_t(value)));
  return stablehlo::ConstantOp::create(
      builder, loc,
      ::cast<ElementsAttr>(
          Attribute(DenseElementsAttr::get(tensorOf(type), attr))));
}

Value Writer::writeTerm(TermId id, Type type) {
  if (Value known = terms.lookup(id))
    return cast(known, type);
  const Term &term = algebra.getTerm(id);
  Value value;
  switch (term.kind) {
  case TermKind::Position:
    value = positions.lookup(term.dim);
    break;
  case TermKind::Exp:
    value = write(term.arguments[0], accumulator);
    value = stablehlo::ExpOp::create(builder, loc, value.getType(), value);
    break;
  case TermKind::Log:
    value = write(term.arguments[0], accumulator);
    value = stablehlo::LogOp::create(builder, loc, value.getType(), value);
    break;
  case TermKind::Inverse:
    value = binary<stablehlo::DivOp>(number(1, accumulator),
                                     write(term.arguments[0], accumulator));
    break;
  default: {
    OperationState state(loc, term.name.getValue());
    for (auto [argument, argumentType] :
         llvm::zip(term.arguments, term.argumentTypes))
      state.addOperands(write(argument, widen(argumentType)));
    state.addTypes(tensorOf(widen(term.type)));
    state.addAttributes(term.attributes.getValue());
    value = builder.create(state)->getResult(0);
  }
  }
  terms[id] = value;
  return cast(value, type);
}

bool Writer::isExponential(TermId id) const {
  return algebra.getTerm(id).kind == TermKind::Exp &&
         (rowSum || !terms.contains(id));
}

Value Writer::writeAnd(const Monomial &monomial) {
  Value all;
  for (auto [id, power] : monomial.factors) {
    Value next = writeTerm(id, builder.getI1Type());
    all = all ? binary<stablehlo::AndOp>(all, next) : next;
  }
  return all;
}

Value Writer::writeBool(PolyId poly) {
  Type type = builder.getI1Type();
  if (std::optional<double> constant = algebra.constantOf(poly))
    return number(*constant != 0, type);
  const Poly &p = algebra.get(poly);
  auto isAnd = [&](const Monomial &m, double coefficient) {
    return m.coefficient == coefficient && !m.factors.empty() &&
           llvm::all_of(m.factors, [&](auto &factor) {
             return algebra.getTerm(factor.first).isBool;
           });
  };
  if (p.size() == 1 && isAnd(p[0], 1))
    return writeAnd(p[0]);
  if (p.size() == 2 && p[0].factors.empty() && p[0].coefficient == 1 &&
      isAnd(p[1], -1)) {
    Value all = writeAnd(p[1]);
    return stablehlo::NotOp::create(builder, loc, all.getType(), all);
  }
  Value value = write(poly, accumulator);
  return stablehlo::CompareOp::create(builder, loc, value,
                                      number(0, accumulator),
                                      stablehlo::ComparisonDirection::NE);
}

Value Writer::write(const Monomial &monomial, Type type) {
  // Exponents come together before they are raised: exp(2xy - y²) / exp(x²)
  // would overflow far from the origin.
  bool isQuotient = llvm::count_if(monomial.factors, [&](auto &factor) {
                      return isExponential(factor.first);
                    }) > 1;
  if (!rowSum && !isQuotient)
    return writeProduct(monomial, type);
  PolyId exponent = algebra.number(0);
  Monomial others{monomial.coefficient, {}};
  for (auto [id, power] : monomial.factors) {
    if (rowSum && id == rowSum->sum) {
      exponent = algebra.add(exponent, algebra.ofTerm(rowSum->max), power);
      others = algebra.times(std::move(others), rowSum->part, power);
    } else if (isExponential(id)) {
      exponent = algebra.add(exponent, algebra.getTerm(id).arguments[0], power);
    } else {
      others = algebra.times(std::move(others), id, power);
    }
  }
  if (algebra.constantOf(exponent) == 0.0)
    return writeProduct(others, type);
  Value result = write(exponent, accumulator);
  result = cast(
      stablehlo::ExpOp::create(builder, loc, result.getType(), result), type);
  return others.coefficient == 1 && others.factors.empty()
             ? result
             : binary<stablehlo::MulOp>(result, writeProduct(others, type));
}

Value Writer::writeProduct(const Monomial &monomial, Type type) {
  Value product, condition;
  for (int sign : {1, -1})
    for (auto [id, power] : monomial.factors) {
      if ((power > 0) != (sign > 0))
        continue;
      if (algebra.getTerm(id).isBool && power == 1) {
        Value next = writeTerm(id, builder.getI1Type());
        condition =
            condition ? binary<stablehlo::AndOp>(condition, next) : next;
        continue;
      }
      Value factor = writeTerm(id, type);
      for (int i = 0; i < std::abs(power); ++i) {
        if (sign > 0)
          product =
              product ? binary<stablehlo::MulOp>(product, factor) : factor;
        else
          product = binary<stablehlo::DivOp>(
              product ? product : number(1, type), factor);
      }
    }
  if (!product)
    product = number(monomial.coefficient, type);
  else if (monomial.coefficient != 1)
    product =
        binary<stablehlo::MulOp>(product, number(monomial.coefficient, type));
  if (condition)
    product = stablehlo::SelectOp::create(builder, loc, product.getType(),
                                          condition, product, number(0, type));
  return product;
}

Value Writer::write(PolyId poly, Type type) {
  if (type.isInteger(1))
    return writeBool(poly);
  if (std::optional<double> constant = algebra.constantOf(poly))
    return number(*constant, type);
  Value sum;
  // Positive parts first: what starts with one needs no negation.
  SmallVector<const Monomial *> monomials;
  for (const Monomial &monomial : algebra.get(poly))
    if (llvm::none_of(monomial.factors, [&](auto &factor) {
          return llvm::is_contained(contained, factor.first);
        }))
      monomials.push_back(&monomial);
  llvm::sort(monomials, [](const Monomial *a, const Monomial *b) {
    auto rank = [](const Monomial *m) {
      return (m->coefficient < 0 ? 2 : 0) + (m->factors.empty() ? 1 : 0);
    };
    return std::pair(rank(a), a) < std::pair(rank(b), b);
  });
  for (const Monomial *monomial : monomials) {
    if (!sum) {
      sum = write(*monomial, type);
      continue;
    }
    bool isSubtracted = monomial->coefficient < 0;
    Monomial positive = *monomial;
    positive.coefficient = std::abs(positive.coefficient);
    Value product = write(positive, type);
    sum = isSubtracted ? binary<stablehlo::SubtractOp>(sum, product)
                       : binary<stablehlo::AddOp>(sum, product);
  }
  return sum;
}
