// A small stack machine over int64, and the same over intervals.
#include "runtime/Artifact/Expressions.h"

#include <algorithm>
#include <array>

namespace weft::runtime {
namespace {

// Form checking keeps the stack below this depth, so evaluation needs no allocation.
constexpr size_t kMaximumDepth = 64;

bool isBinary(ExpressionOpcode opcode) {
  return opcode >= ExpressionOpcode::Add && opcode <= ExpressionOpcode::Maximum;
}

int64_t floorDivide(int64_t value, int64_t divisor) {
  return value >= 0 ? value / divisor : -((-(value + 1)) / divisor) - 1;
}

bool apply(ExpressionOpcode opcode, int64_t left, int64_t right, int64_t &result) {
  switch (opcode) {
  case ExpressionOpcode::Add:
    return !__builtin_add_overflow(left, right, &result);
  case ExpressionOpcode::Subtract:
    return !__builtin_sub_overflow(left, right, &result);
  case ExpressionOpcode::Multiply:
    return !__builtin_mul_overflow(left, right, &result);
  case ExpressionOpcode::FloorDivide:
    if (right < 1)
      return false;
    result = floorDivide(left, right);
    return true;
  case ExpressionOpcode::CeilDivide:
    if (right < 1)
      return false;
    result = floorDivide(left, right);
    if (left % right != 0)
      ++result;
    return true;
  case ExpressionOpcode::Modulo:
    if (right < 1)
      return false;
    result = left % right;
    if (result < 0)
      result += right;
    return true;
  case ExpressionOpcode::Minimum:
    result = std::min(left, right);
    return true;
  case ExpressionOpcode::Maximum:
    result = std::max(left, right);
    return true;
  case ExpressionOpcode::Constant:
  case ExpressionOpcode::Symbol:
    break;
  }
  return false;
}

bool applyBounds(ExpressionOpcode opcode, Bounds left, Bounds right, Bounds &result) {
  switch (opcode) {
  case ExpressionOpcode::Modulo:
    if (right.minimum < 1)
      return false;
    result = left.minimum >= 0 && left.maximum < right.minimum ? left : Bounds{0, right.maximum - 1};
    return true;
  case ExpressionOpcode::Subtract:
    return apply(opcode, left.minimum, right.maximum, result.minimum) &&
           apply(opcode, left.maximum, right.minimum, result.maximum);
  default:
    break;
  }
  // The rest are monotone in each operand on either side of zero, so that the extremes lie at corners.
  std::array<int64_t, 4> corners;
  size_t count = 0;
  for (int64_t a : {left.minimum, left.maximum})
    for (int64_t b : {right.minimum, right.maximum})
      if (!apply(opcode, a, b, corners[count++]))
        return false;
  result.minimum = *std::min_element(corners.begin(), corners.end());
  result.maximum = *std::max_element(corners.begin(), corners.end());
  return true;
}

} // namespace

std::string checkExpressionForm(const Expression &expression, size_t symbolCount) {
  if (expression.steps.empty())
    return "an empty expression";
  if (expression.steps.size() > kMaximumExpressionSteps)
    return "an expression of more than " + std::to_string(kMaximumExpressionSteps) + " steps";
  size_t depth = 0;
  for (const ExpressionStep &step : expression.steps) {
    if (isBinary(step.opcode)) {
      if (depth < 2)
        return "an expression that lacks operands";
      --depth;
      continue;
    }
    if (step.opcode == ExpressionOpcode::Symbol) {
      if (step.value < 0 || static_cast<uint64_t>(step.value) >= symbolCount)
        return "an expression over symbol " + std::to_string(step.value) + " of " + std::to_string(symbolCount);
    } else if (step.opcode != ExpressionOpcode::Constant) {
      return "an expression with unknown opcode " + std::to_string(static_cast<int>(step.opcode));
    }
    if (++depth > kMaximumDepth)
      return "an expression that nests too deeply";
  }
  return depth == 1 ? "" : "an expression with operands left over";
}

bool evaluate(const Expression &expression, const int64_t *symbols, int64_t &value) {
  if (expression.steps.size() == 1) {
    const ExpressionStep &step = expression.steps[0];
    value = step.opcode == ExpressionOpcode::Symbol ? symbols[step.value] : step.value;
    return true;
  }
  std::array<int64_t, kMaximumDepth> stack;
  size_t depth = 0;
  for (const ExpressionStep &step : expression.steps) {
    if (step.opcode == ExpressionOpcode::Constant) {
      stack[depth++] = step.value;
    } else if (step.opcode == ExpressionOpcode::Symbol) {
      stack[depth++] = symbols[step.value];
    } else {
      --depth;
      if (!apply(step.opcode, stack[depth - 1], stack[depth], stack[depth - 1]))
        return false;
    }
  }
  value = stack[0];
  return true;
}

bool evaluateBounds(const Expression &expression, const Bounds *symbols, Bounds &bounds) {
  std::array<Bounds, kMaximumDepth> stack;
  size_t depth = 0;
  for (const ExpressionStep &step : expression.steps) {
    if (step.opcode == ExpressionOpcode::Constant) {
      stack[depth++] = {step.value, step.value};
    } else if (step.opcode == ExpressionOpcode::Symbol) {
      stack[depth++] = symbols[step.value];
    } else {
      --depth;
      Bounds result;
      if (!applyBounds(step.opcode, stack[depth - 1], stack[depth], result))
        return false;
      stack[depth - 1] = result;
    }
  }
  bounds = stack[0];
  return true;
}

std::string toString(const Expression &expression, const std::vector<Symbol> &symbols) {
  // Precedence: 0 sum, 1 product, 2 atom.
  struct Text {
    std::string text;
    int precedence;
  };
  std::vector<Text> stack;
  auto wrap = [](const Text &operand, int least) {
    return operand.precedence < least ? "(" + operand.text + ")" : operand.text;
  };
  for (const ExpressionStep &step : expression.steps) {
    if (step.opcode == ExpressionOpcode::Constant) {
      stack.push_back({std::to_string(step.value), 2});
      continue;
    }
    if (step.opcode == ExpressionOpcode::Symbol) {
      stack.push_back({symbols[static_cast<size_t>(step.value)].name, 2});
      continue;
    }
    Text right = stack.back();
    stack.pop_back();
    Text &left = stack.back();
    switch (step.opcode) {
    case ExpressionOpcode::Add:
      left = {wrap(left, 0) + " + " + wrap(right, 0), 0};
      break;
    case ExpressionOpcode::Subtract:
      left = {wrap(left, 0) + " - " + wrap(right, 1), 0};
      break;
    case ExpressionOpcode::Multiply:
      left = {wrap(left, 1) + "*" + wrap(right, 2), 1};
      break;
    case ExpressionOpcode::FloorDivide:
      left = {"floor(" + left.text + " / " + wrap(right, 2) + ")", 2};
      break;
    case ExpressionOpcode::CeilDivide:
      left = {"ceil(" + left.text + " / " + wrap(right, 2) + ")", 2};
      break;
    case ExpressionOpcode::Modulo:
      left = {wrap(left, 2) + " mod " + wrap(right, 2), 1};
      break;
    case ExpressionOpcode::Minimum:
      left = {"min(" + left.text + ", " + right.text + ")", 2};
      break;
    default:
      left = {"max(" + left.text + ", " + right.text + ")", 2};
      break;
    }
  }
  return stack.back().text;
}

} // namespace weft::runtime
