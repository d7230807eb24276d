// Operators of one's own in C++: what operators.h says, with values and attributes as C++ has them. Header only.
//
//   extern "C" WEFT_OPERATORS_EXPORT int weft_register_operators(const WeftOperatorRegistry *registry) {
//     weft::addOperator(*registry, "com.example", "ScaledRelu", 1, [](weft::Lowering &node) {
//       node.output(0, node.build("Relu", {node.build("Mul", {node.input(0), node.scalar(node.real("scale", 1))})}));
//     });
//     return 0;
//   }
#ifndef WEFT_OPERATORS_HPP
#define WEFT_OPERATORS_HPP

#include "operators.h"

#include <exception>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

namespace weft {

// An attribute of an operator that is built: {"axis", -1}, {"perm", {1, 0}}, {"mode", "linear"}.
class Attribute {
public:
  Attribute(std::string name, int value) : Attribute(std::move(name), static_cast<int64_t>(value)) {}
  Attribute(std::string name, int64_t value) : name_(std::move(name)), kind_(WEFT_ATTRIBUTE_INT), integer_(value) {}
  Attribute(std::string name, double value) : name_(std::move(name)), kind_(WEFT_ATTRIBUTE_FLOAT), real_(value) {}
  Attribute(std::string name, const char *value)
      : name_(std::move(name)), kind_(WEFT_ATTRIBUTE_STRING), string_(value) {}
  Attribute(std::string name, std::vector<int64_t> values)
      : name_(std::move(name)), kind_(WEFT_ATTRIBUTE_INTS), integers_(std::move(values)) {}
  Attribute(std::string name, std::vector<double> values)
      : name_(std::move(name)), kind_(WEFT_ATTRIBUTE_FLOATS), reals_(std::move(values)) {}

  // Valid as long as this.
  WeftAttribute get() const {
    return {name_.c_str(),   kind_,
            integer_,        real_,
            string_.c_str(), integers_.data(),
            reals_.data(),   kind_ == WEFT_ATTRIBUTE_INTS ? integers_.size() : reals_.size()};
  }

private:
  std::string name_;
  WeftAttributeKind kind_;
  int64_t integer_ = 0;
  double real_ = 0;
  std::string string_;
  std::vector<int64_t> integers_;
  std::vector<double> reals_;
};

// The node being lowered. Functions take and give NULL after an error, so that a lowering need not look at every value.
class Lowering {
public:
  Lowering(const WeftLoweringApi &api, WeftLowering *node) : api_(api), node_(node) {}

  int64_t opset() const { return api_.opset(node_); }
  size_t inputCount() const { return api_.input_count(node_); }
  WeftValue input(size_t index) const { return api_.input(node_, index); }
  size_t outputCount() const { return api_.output_count(node_); }
  void output(size_t index, WeftValue value) { api_.set_output(node_, index, value); }

  int32_t elementType(WeftValue value) const { return api_.element_type(node_, value); }
  size_t rank(WeftValue value) const { return api_.rank(node_, value); }
  // -1 where it is known when run only.
  int64_t dimension(WeftValue value, size_t index) const { return api_.dimension(node_, value, index); }

  bool has(const std::string &attribute) const { return api_.has_attribute(node_, attribute.c_str()) != 0; }
  int64_t integer(const std::string &attribute, int64_t fallback) const {
    return api_.attribute_int(node_, attribute.c_str(), fallback);
  }
  double real(const std::string &attribute, double fallback) const {
    return api_.attribute_float(node_, attribute.c_str(), fallback);
  }
  std::string string(const std::string &attribute, const std::string &fallback) const {
    return api_.attribute_string(node_, attribute.c_str(), fallback.c_str());
  }
  std::vector<int64_t> integers(const std::string &attribute) const {
    size_t count = 0;
    const int64_t *values = api_.attribute_ints(node_, attribute.c_str(), &count);
    return std::vector<int64_t>(values, values + count);
  }
  std::vector<double> reals(const std::string &attribute) const {
    size_t count = 0;
    const double *values = api_.attribute_floats(node_, attribute.c_str(), &count);
    return std::vector<double>(values, values + count);
  }

  // A float32 tensor.
  WeftValue floats(const std::vector<float> &values, const std::vector<int64_t> &dims) {
    return api_.constant(node_, 1, dims.data(), dims.size(), values.data());
  }
  // A vector of int64.
  WeftValue integers(const std::vector<int64_t> &values) {
    int64_t size = static_cast<int64_t>(values.size());
    return api_.constant(node_, 7, &size, 1, values.data());
  }
  // A float32 without dimensions.
  WeftValue scalar(double value) {
    float element = static_cast<float>(value);
    return api_.constant(node_, 1, nullptr, 0, &element);
  }

  // ONNX's operator with one output.
  WeftValue build(const std::string &opType, const std::vector<WeftValue> &inputs,
                  const std::vector<Attribute> &attributes = {}) {
    return build("", opType, inputs, attributes, 1)[0];
  }
  std::vector<WeftValue> build(const std::string &domain, const std::string &opType,
                               const std::vector<WeftValue> &inputs, const std::vector<Attribute> &attributes,
                               size_t outputs) {
    std::vector<WeftAttribute> given;
    for (const Attribute &attribute : attributes)
      given.push_back(attribute.get());
    std::vector<WeftValue> results(outputs, nullptr);
    api_.build(node_, domain.c_str(), opType.c_str(), inputs.data(), inputs.size(), given.data(), given.size(),
               results.data(), outputs);
    return results;
  }

  void error(const std::string &message) { api_.error(node_, message.c_str()); }

private:
  const WeftLoweringApi &api_;
  WeftLowering *node_;
};

using LowerFunction = void (*)(Lowering &);

// `lower` is a function, or a lambda that captures nothing.
inline void addOperator(const WeftOperatorRegistry &registry, const std::string &domain, const std::string &opType,
                        int64_t since, LowerFunction lower) {
  auto call = [](const WeftLoweringApi *api, WeftLowering *node, void *user) -> int {
    Lowering lowering(*api, node);
    try {
      reinterpret_cast<LowerFunction>(user)(lowering);
      return 0;
    } catch (const std::exception &error) {
      lowering.error(error.what());
    } catch (...) {
      lowering.error("the lowering threw an exception");
    }
    return 1;
  };
  registry.add(registry.context, domain.c_str(), opType.c_str(), since, call, reinterpret_cast<void *>(lower));
}

} // namespace weft

#endif // WEFT_OPERATORS_HPP
