//===- Learning.h - What the importers of ai.onnx.ml share ---------------------------------------------===//

#ifndef WEFT_LIB_IMPORTER_ONNX_LEARNING_H
#define WEFT_LIB_IMPORTER_ONNX_LEARNING_H

#include "lib/Importer/Onnx/Handlers.h"
#include "lib/Importer/Onnx/Node.h"

namespace weft::importer {

/// The domain of ONNX's operators of classical machine learning.
inline constexpr llvm::StringLiteral kLearningDomain = "ai.onnx.ml";

void addLearningHandlers(HandlerTable &table);
void addTreeEnsembleHandlers(HandlerTable &table);

/// Why an operator of the domain cannot be imported at all; empty where it is a matter of its form.
llvm::StringRef whyNotLearning(llvm::StringRef opType);

/// `scores` [rows, columns] after attribute `post_transform`; null, with an error, for an unknown one.
mlir::Value postTransformed(Node &node, mlir::Value scores, llvm::StringRef transform);

/// What stands in the place of a single score where there are two classes.
enum class SecondScore { None, OneMinus, Negated };
/// Two columns from one, the score being that of the second class.
mlir::Value withFirstScore(Node &node, mlir::Value score, SecondScore kind, llvm::StringRef transform);

/// The labels of the classes at `classes` [rows], from attribute `name`; null, with an error, where they are texts.
mlir::Value labelsOf(Node &node, mlir::Value classes, llvm::StringRef integersName, llvm::StringRef stringsName);
/// How many classes the labels name.
int64_t countLabels(Node &node, llvm::StringRef integersName, llvm::StringRef stringsName);

/// Samples as [rows, features]: one sample may come as a vector.
mlir::Value asRows(Builder &b, mlir::Value x);

} // namespace weft::importer

#endif
