//===- FusionGraph.h - The kernels of one block while they are being fused --------------------------------===//

#ifndef WEFT_LIB_FUSION_FUSIONGRAPH_H
#define WEFT_LIB_FUSION_FUSIONGRAPH_H

#include "lib/Fusion/KernelAnalysis.h"
#include <set>

namespace weft::fusion {

/// A kernel to be: ops of the block, some of which may be in other kernels too (they are then computed in each).
struct Cluster {
  llvm::SmallVector<unsigned, 4> members;    // numbers of ops, ascending
  llvm::SmallVector<mlir::Value, 1> outputs; // values of members that are needed outside
  unsigned position = 0; // where the kernel runs: after all that it reads from, before all that read from it
  bool live = false;
  KernelAnalysis analysis;
};

/// The ops of a block, numbered in program order, and the clusters made of them. An op that can be part of a kernel
/// starts as a cluster of its own, with the op's number. A reshape is no cluster: it is another name for its operand's
/// bytes, and joins a cluster when the ops on both sides of it do. Rematerialized ops are no clusters either; every
/// cluster has its own copy.
///
/// Each cluster's position is greater than those of all clusters it reads from. Positions are kept when clusters merge,
/// so that no cycle can arise.
class FusionGraph {
public:
  FusionGraph(mlir::Block &block, KernelAnalyzer &analyzer);

  size_t size() const { return clusters.size(); }
  Cluster &operator[](unsigned number) { return clusters[number]; }
  mlir::Operation *getOp(unsigned number) const { return ops[number]; }
  KernelAnalyzer &getAnalyzer() { return analyzer; }
  /// The op whose value names the cluster: its last member.
  mlir::Operation *getRoot(unsigned cluster) const { return ops[clusters[cluster].members.back()]; }

  /// The value that has the same bytes, behind reshapes of this block.
  mlir::Value getStored(mlir::Value value) const;
  /// The live cluster that gives the value, behind reshapes; nothing where it comes from elsewhere.
  std::optional<unsigned> getProducer(mlir::Value value) const;
  /// The live clusters that read a value of this one.
  const std::set<unsigned> &getUsers(unsigned cluster) const { return users[cluster]; }
  /// The live clusters that this one reads from.
  llvm::SmallVector<unsigned> getProducers(unsigned cluster) const;
  /// Whether something that is no cluster reads a value of this one: control flow, a library call, the end of the
  /// block.
  bool hasFixedUser(unsigned cluster) const;
  /// The last position at which an operand of the cluster is made, those that `except` makes aside; -1 where none is
  /// made in this block.
  int64_t getLatestProducer(unsigned cluster, std::optional<unsigned> except) const;
  /// The first and the last position at which anything but `except` reads the value, or any value of the cluster;
  /// nothing where nothing does.
  std::optional<std::pair<unsigned, unsigned>> getReaderRange(mlir::Value stored, std::optional<unsigned> except) const;
  std::optional<std::pair<unsigned, unsigned>> getReaderRange(unsigned cluster, std::optional<unsigned> except) const;
  /// Whether the bytes of the value are the block's own: not a function's argument or a value from around a region.
  bool isAllocatedHere(mlir::Value stored) const {
    return stored.getDefiningOp() && stored.getDefiningOp()->getBlock() == &block;
  }
  /// Whether the value is a result of the function, which has its memory from the start.
  bool isGivenBack(mlir::Value stored) const;
  /// Whether some kernel, or something fixed, runs between the two positions.
  bool hasKernelBetween(unsigned first, unsigned last) const;

  /// The ops of both clusters, and the reshapes between them, ascending.
  llvm::SmallVector<unsigned, 4> unite(unsigned first, unsigned second);
  KernelAnalysis analyze(llvm::ArrayRef<unsigned> members, llvm::ArrayRef<mlir::Value> outputs);

  /// Gives the cluster other members and outputs.
  void replace(unsigned cluster, llvm::SmallVector<unsigned, 4> members, llvm::SmallVector<mlir::Value, 1> outputs,
               KernelAnalysis analysis, unsigned position);
  /// Removes a cluster whose values no other reads any more.
  void remove(unsigned cluster);
  /// Makes `into` the kernel of both: it has the values of the two that others read.
  void merge(unsigned from, unsigned into, llvm::SmallVector<unsigned, 4> members,
             llvm::SmallVector<mlir::Value, 1> outputs, KernelAnalysis analysis, unsigned position);

  /// Turns the clusters into weft.fusion ops and puts everything in the order of the positions.
  void materialize();

private:
  bool reads(unsigned cluster, mlir::Value stored) const;
  /// The number of the last bind_dim of this block that gives a symbol in the types of the op; -1 where there is none.
  int64_t getLatestBinding(mlir::Operation *op) const;
  void addUsers(unsigned cluster);
  void removeUsers(unsigned cluster);

  mlir::Block &block;
  KernelAnalyzer &analyzer;
  std::vector<mlir::Operation *> ops;
  std::vector<Cluster> clusters;
  std::vector<std::set<unsigned>> users;
  llvm::DenseMap<mlir::Operation *, unsigned> numbers;
  llvm::DenseMap<mlir::Value, unsigned> producers;              // of outputs of live clusters
  llvm::DenseMap<mlir::Value, std::set<unsigned>> otherReaders; // clusters that read a value which no cluster gives
  llvm::DenseMap<mlir::Value, std::pair<unsigned, unsigned>> fixedUsers; // first and last position
  llvm::DenseMap<mlir::StringAttr, unsigned> bindings;                   // where data give a symbol its value
  std::vector<bool> isFixed;   // control flow, library calls, the end of the block
  std::vector<unsigned> marks; // of ops, against `mark`
  unsigned mark = 0;
};

} // namespace weft::fusion

#endif
