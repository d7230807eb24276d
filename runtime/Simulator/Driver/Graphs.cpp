//===- Graphs.cpp - Driver functions: capture, graphs and their instances ------------------------------------===//
#include "runtime/Simulator/Driver/State.h"

#include <algorithm>
#include <cstdio>
#include <cstring>

using namespace weft::simulator;

namespace weft::simulator {
CUresult takeParameters(Driver &driver, CUfunction function, void **parameters, void **extra,
                        std::vector<uint8_t> &bytes);
}

namespace {

CUgraphNode addNode(Driver &driver, CUgraph graph, Work work, std::vector<CUgraphNode> dependencies) {
  auto made = std::make_unique<CUgraphNode_st>();
  made->graph = graph;
  made->work = std::move(work);
  made->dependencies = std::move(dependencies);
  made->index = graph->made++;
  CUgraphNode node = driver.keep(made.get());
  graph->nodes.push_back(std::move(made));
  return node;
}

CUgraphNodeType typeOf(const Work &work) {
  switch (work.kind) {
  case Work::Kind::Kernel:
    return CU_GRAPH_NODE_TYPE_KERNEL;
  case Work::Kind::Copy:
    return CU_GRAPH_NODE_TYPE_MEMCPY;
  case Work::Kind::Set:
    return CU_GRAPH_NODE_TYPE_MEMSET;
  case Work::Kind::Host:
    return CU_GRAPH_NODE_TYPE_HOST;
  case Work::Kind::Allocate:
    return CU_GRAPH_NODE_TYPE_MEM_ALLOC;
  case Work::Kind::Free:
    return CU_GRAPH_NODE_TYPE_MEM_FREE;
  default:
    return CU_GRAPH_NODE_TYPE_EMPTY;
  }
}

/// Nodes in an order that respects their dependencies; false where there is a circle.
bool sorted(CUgraph graph, std::vector<CUgraphNode> &order) {
  std::set<CUgraphNode> done;
  while (order.size() < graph->nodes.size()) {
    size_t before = order.size();
    for (const auto &node : graph->nodes) {
      if (done.count(node.get()))
        continue;
      bool ready = true;
      for (CUgraphNode dependency : node->dependencies)
        ready &= done.count(dependency) != 0;
      if (ready) {
        order.push_back(node.get());
        done.insert(node.get());
      }
    }
    if (order.size() == before)
      return false;
  }
  return true;
}

CUresult badGraph(Driver &driver) {
  return driver.fail(CUDA_ERROR_INVALID_VALUE, "the graph does not exist, or was destroyed");
}
CUresult badNode(Driver &driver) { return driver.fail(CUDA_ERROR_INVALID_VALUE, "the graph node does not exist"); }

void endCapture(Driver &driver, CUcontext context, CUgraph graph) {
  bool left = false;
  for (CUstream stream : context->streams) {
    if (stream->capture == graph) {
      stream->capture = nullptr;
      stream->captureTail.clear();
      stream->captureOrigin = stream->captureBroken = false;
    }
    left |= stream->capture != nullptr;
  }
  driver.anyCapture = left;
}

void destroyGraph(Driver &driver, CUgraph graph) {
  for (const auto &node : graph->nodes)
    driver.handles.erase(node.get());
  driver.handles.erase(graph);
  delete graph;
}

} // namespace

namespace weft::simulator {
CUresult Driver::captureWork(CUstream stream, Work work) {
  if (stream->captureBroken)
    return fail(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, "an earlier call has broken this capture");
  CUgraphNode node = addNode(*this, stream->capture, std::move(work), stream->captureTail);
  stream->captureTail = {node};
  return CUDA_SUCCESS;
}
} // namespace weft::simulator

WEFT_DRIVER_API cuStreamBeginCapture_v2(CUstream stream, CUstreamCaptureMode mode) {
  return enterContext([&](Driver &driver, CUcontext context) -> CUresult {
    CUstream s = driver.resolve(stream, context);
    if (!s)
      return CUDA_ERROR_INVALID_HANDLE;
    if (s == context->legacy.get())
      return driver.fail(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, "the legacy default stream cannot be captured");
    if (s->capture)
      return driver.fail(CUDA_ERROR_ILLEGAL_STATE, "the stream is being captured already");
    s->capture = driver.keep(new CUgraph_st);
    s->capture->context = context;
    s->captureOrigin = true;
    s->captureBroken = false;
    s->captureMode = mode;
    s->captureId = ++driver.captureIds;
    s->captureTail.clear();
    driver.anyCapture = true;
    return CUDA_SUCCESS;
  });
}

WEFT_DRIVER_API cuStreamEndCapture(CUstream stream, CUgraph *graph) {
  return enterContext([&](Driver &driver, CUcontext context) -> CUresult {
    CUstream s = driver.resolve(stream, context);
    if (!s)
      return CUDA_ERROR_INVALID_HANDLE;
    if (!graph || !s->capture)
      return driver.fail(CUDA_ERROR_ILLEGAL_STATE, "the stream is not being captured");
    if (!s->captureOrigin)
      return driver.fail(CUDA_ERROR_STREAM_CAPTURE_UNMATCHED, "the capture began in another stream");
    CUgraph made = s->capture;
    bool broken = false;
    // Everything that other streams added must lead to this stream again.
    std::set<CUgraphNode> joined(s->captureTail.begin(), s->captureTail.end());
    std::vector<CUgraphNode> open(s->captureTail.begin(), s->captureTail.end());
    while (!open.empty()) {
      CUgraphNode node = open.back();
      open.pop_back();
      for (CUgraphNode dependency : node->dependencies)
        if (joined.insert(dependency).second)
          open.push_back(dependency);
    }
    bool unjoined = false;
    for (CUstream other : context->streams) {
      if (other->capture != made)
        continue;
      broken |= other->captureBroken;
      if (other != s)
        for (CUgraphNode node : other->captureTail)
          unjoined |= joined.count(node) == 0;
    }
    endCapture(driver, context, made);
    *graph = nullptr;
    if (broken || unjoined) {
      destroyGraph(driver, made);
      return broken ? driver.fail(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, "an earlier call has broken this capture")
                    : driver.fail(CUDA_ERROR_STREAM_CAPTURE_UNJOINED,
                                  "another stream that joined the capture has work that this stream does not wait for");
    }
    *graph = made;
    return CUDA_SUCCESS;
  });
}

WEFT_DRIVER_API cuStreamIsCapturing(CUstream stream, CUstreamCaptureStatus *status) {
  return enterContext([&](Driver &driver, CUcontext context) -> CUresult {
    CUstream s = driver.resolve(stream, context);
    if (!s)
      return CUDA_ERROR_INVALID_HANDLE;
    if (!status)
      return CUDA_ERROR_INVALID_VALUE;
    *status = !s->capture        ? CU_STREAM_CAPTURE_STATUS_NONE
              : s->captureBroken ? CU_STREAM_CAPTURE_STATUS_INVALIDATED
                                 : CU_STREAM_CAPTURE_STATUS_ACTIVE;
    return CUDA_SUCCESS;
  });
}

WEFT_DRIVER_API cuStreamGetCaptureInfo_v3(CUstream stream, CUstreamCaptureStatus *status, cuuint64_t *id,
                                          CUgraph *graph, const CUgraphNode **dependencies,
                                          const CUgraphEdgeData **edges, size_t *count) {
  CUresult result = cuStreamIsCapturing(stream, status);
  if (result != CUDA_SUCCESS)
    return result;
  return enterContext([&](Driver &driver, CUcontext context) -> CUresult {
    CUstream s = driver.resolve(stream, context);
    if (id)
      *id = s->captureId;
    if (graph)
      *graph = s->capture;
    if (dependencies)
      *dependencies = s->captureTail.data();
    if (edges)
      *edges = nullptr;
    if (count)
      *count = s->captureTail.size();
    return CUDA_SUCCESS;
  });
}

WEFT_DRIVER_API cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode *mode) {
  thread_local CUstreamCaptureMode current = CU_STREAM_CAPTURE_MODE_GLOBAL;
  if (!mode)
    return CUDA_ERROR_INVALID_VALUE;
  std::swap(*mode, current);
  return CUDA_SUCCESS;
}

WEFT_DRIVER_API cuGraphCreate(CUgraph *graph, unsigned int flags) {
  return enterContext([&](Driver &driver, CUcontext context) -> CUresult {
    if (!graph || flags)
      return CUDA_ERROR_INVALID_VALUE;
    *graph = driver.keep(new CUgraph_st);
    (*graph)->context = context;
    return CUDA_SUCCESS;
  });
}

WEFT_DRIVER_API cuGraphDestroy(CUgraph graph) {
  return enter([&](Driver &driver) -> CUresult {
    if (!driver.valid(graph))
      return badGraph(driver);
    for (const auto &context : driver.contexts)
      endCapture(driver, context.get(), graph);
    destroyGraph(driver, graph);
    return CUDA_SUCCESS;
  });
}

namespace {
CUresult addTo(CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies, size_t count,
               const std::function<CUresult(Driver &, Work &)> &fill) {
  return enterContext([&](Driver &driver, CUcontext) -> CUresult {
    if (!driver.valid(graph) || !node)
      return badGraph(driver);
    std::vector<CUgraphNode> list;
    for (size_t i = 0; i < count; ++i) {
      if (!dependencies || !driver.valid(dependencies[i]) || dependencies[i]->graph != graph)
        return badNode(driver);
      list.push_back(dependencies[i]);
    }
    Work work;
    CUresult result = fill(driver, work);
    if (result == CUDA_SUCCESS)
      *node = addNode(driver, graph, std::move(work), std::move(list));
    return result;
  });
}

CUresult fillKernel(Driver &driver, const CUDA_KERNEL_NODE_PARAMS *p, Work &work) {
  if (!p || !driver.valid(p->func))
    return driver.fail(CUDA_ERROR_INVALID_VALUE, "the kernel node has no function");
  work.kind = Work::Kind::Kernel;
  work.kernel.function = p->func;
  work.kernel.configuration.grid = {p->gridDimX, p->gridDimY, p->gridDimZ};
  work.kernel.configuration.block = {p->blockDimX, p->blockDimY, p->blockDimZ};
  work.kernel.configuration.dynamicShared = p->sharedMemBytes;
  work.label = "kernel '" + p->func->kernel->name + "'";
  CUresult result = driver.checkKernel(p->func, work.kernel.configuration, false);
  return result == CUDA_SUCCESS
             ? takeParameters(driver, p->func, p->kernelParams, p->extra, work.kernel.configuration.parameters)
             : result;
}

CUresult fillSet(Driver &driver, const CUDA_MEMSET_NODE_PARAMS *p, Work &work) {
  if (!p || (p->elementSize != 1 && p->elementSize != 2 && p->elementSize != 4))
    return driver.fail(CUDA_ERROR_INVALID_VALUE, "a memset node has elements of 1, 2 or 4 bytes");
  work.kind = Work::Kind::Set;
  work.set = {p->dst, p->width, p->height, p->pitch, p->value, p->elementSize};
  work.label = "memset node";
  return CUDA_SUCCESS;
}
} // namespace

WEFT_DRIVER_API cuGraphAddKernelNode_v2(CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies, size_t count,
                                        const CUDA_KERNEL_NODE_PARAMS *parameters) {
  return addTo(node, graph, dependencies, count,
               [&](Driver &driver, Work &work) { return fillKernel(driver, parameters, work); });
}

WEFT_DRIVER_API cuGraphAddMemsetNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies, size_t count,
                                     const CUDA_MEMSET_NODE_PARAMS *parameters, CUcontext) {
  return addTo(node, graph, dependencies, count,
               [&](Driver &driver, Work &work) { return fillSet(driver, parameters, work); });
}

WEFT_DRIVER_API cuGraphAddHostNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies, size_t count,
                                   const CUDA_HOST_NODE_PARAMS *parameters) {
  return addTo(node, graph, dependencies, count, [&](Driver &, Work &work) {
    if (!parameters || !parameters->fn)
      return CUDA_ERROR_INVALID_VALUE;
    work.kind = Work::Kind::Host;
    work.host = parameters->fn;
    work.userData = parameters->userData;
    work.label = "host node";
    return CUDA_SUCCESS;
  });
}

WEFT_DRIVER_API cuGraphAddEmptyNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies, size_t count) {
  return addTo(node, graph, dependencies, count, [](Driver &, Work &work) {
    work.label = "empty node";
    return CUDA_SUCCESS;
  });
}

WEFT_DRIVER_API cuGraphGetNodes(CUgraph graph, CUgraphNode *nodes, size_t *count) {
  return enter([&](Driver &driver) -> CUresult {
    if (!driver.valid(graph) || !count)
      return badGraph(driver);
    if (nodes)
      for (size_t i = 0; i < *count; ++i)
        nodes[i] = i < graph->nodes.size() ? graph->nodes[i].get() : nullptr;
    *count = nodes ? std::min(*count, graph->nodes.size()) : graph->nodes.size();
    return CUDA_SUCCESS;
  });
}

WEFT_DRIVER_API cuGraphGetRootNodes(CUgraph graph, CUgraphNode *nodes, size_t *count) {
  return enter([&](Driver &driver) -> CUresult {
    if (!driver.valid(graph) || !count)
      return badGraph(driver);
    std::vector<CUgraphNode> roots;
    for (const auto &node : graph->nodes)
      if (node->dependencies.empty())
        roots.push_back(node.get());
    if (nodes)
      for (size_t i = 0; i < *count; ++i)
        nodes[i] = i < roots.size() ? roots[i] : nullptr;
    *count = nodes ? std::min(*count, roots.size()) : roots.size();
    return CUDA_SUCCESS;
  });
}

WEFT_DRIVER_API cuGraphNodeGetType(CUgraphNode node, CUgraphNodeType *type) {
  return enter([&](Driver &driver) -> CUresult {
    if (!driver.valid(node) || !type)
      return badNode(driver);
    *type = typeOf(node->work);
    return CUDA_SUCCESS;
  });
}

WEFT_DRIVER_API cuGraphNodeGetDependencies_v2(CUgraphNode node, CUgraphNode *dependencies, CUgraphEdgeData *edges,
                                              size_t *count) {
  return enter([&](Driver &driver) -> CUresult {
    if (!driver.valid(node) || !count)
      return badNode(driver);
    size_t all = node->dependencies.size();
    for (size_t i = 0; dependencies && i < *count; ++i) {
      dependencies[i] = i < all ? node->dependencies[i] : nullptr;
      if (edges)
        std::memset(&edges[i], 0, sizeof edges[i]);
    }
    *count = dependencies ? std::min(*count, all) : all;
    return CUDA_SUCCESS;
  });
}

WEFT_DRIVER_API cuGraphAddDependencies_v2(CUgraph graph, const CUgraphNode *from, const CUgraphNode *to,
                                          const CUgraphEdgeData *, size_t count) {
  return enter([&](Driver &driver) -> CUresult {
    if (!driver.valid(graph) || (count && (!from || !to)))
      return badGraph(driver);
    for (size_t i = 0; i < count; ++i)
      if (!driver.valid(from[i]) || !driver.valid(to[i]) || from[i]->graph != graph || to[i]->graph != graph ||
          from[i] == to[i])
        return badNode(driver);
    for (size_t i = 0; i < count; ++i)
      to[i]->dependencies.push_back(from[i]);
    return CUDA_SUCCESS;
  });
}

WEFT_DRIVER_API cuGraphKernelNodeGetParams_v2(CUgraphNode node, CUDA_KERNEL_NODE_PARAMS *parameters) {
  return enter([&](Driver &driver) -> CUresult {
    if (!driver.valid(node) || !parameters || node->work.kind != Work::Kind::Kernel)
      return badNode(driver);
    const KernelRequest &kernel = node->work.kernel;
    const LaunchConfiguration &c = kernel.configuration;
    std::memset(parameters, 0, sizeof *parameters);
    parameters->func = kernel.function;
    parameters->gridDimX = c.grid.x;
    parameters->gridDimY = c.grid.y;
    parameters->gridDimZ = c.grid.z;
    parameters->blockDimX = c.block.x;
    parameters->blockDimY = c.block.y;
    parameters->blockDimZ = c.block.z;
    parameters->sharedMemBytes = c.dynamicShared;
    return CUDA_SUCCESS;
  });
}

WEFT_DRIVER_API cuGraphKernelNodeSetParams_v2(CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS *parameters) {
  return enter([&](Driver &driver) -> CUresult {
    if (!driver.valid(node) || node->work.kind != Work::Kind::Kernel)
      return badNode(driver);
    Work work;
    CUresult result = fillKernel(driver, parameters, work);
    if (result == CUDA_SUCCESS)
      node->work = std::move(work);
    return result;
  });
}

namespace {
CUresult instantiate(Driver &driver, CUgraph graph, CUgraphExec *exec) {
  if (!driver.valid(graph) || !exec)
    return badGraph(driver);
  std::vector<CUgraphNode> order;
  if (!sorted(graph, order))
    return driver.fail(CUDA_ERROR_INVALID_VALUE, "the graph's dependencies form a circle");
  auto made = std::make_unique<CUgraphExec_st>();
  made->context = graph->context;
  std::map<CUgraphNode, size_t> positions;
  for (CUgraphNode node : order) {
    CUgraphExec_st::Node entry;
    entry.work = node->work;
    entry.source = node->index;
    for (CUgraphNode dependency : node->dependencies)
      entry.dependencies.push_back(positions.at(dependency));
    positions[node] = made->nodes.size();
    made->nodes.push_back(std::move(entry));
  }
  made->graph = graph;
  *exec = driver.keep(made.release());
  return CUDA_SUCCESS;
}
CUresult badExec(Driver &driver) {
  return driver.fail(CUDA_ERROR_INVALID_VALUE, "the instance of a graph does not exist, or was destroyed");
}
} // namespace

WEFT_DRIVER_API cuGraphInstantiateWithFlags(CUgraphExec *exec, CUgraph graph, unsigned long long) {
  return enterContext([&](Driver &driver, CUcontext) { return instantiate(driver, graph, exec); });
}

#if defined(WEFT_SIMULATOR_HAS_CUDA_H)
WEFT_DRIVER_API cuGraphInstantiateWithParams(CUgraphExec *exec, CUgraph graph,
                                             CUDA_GRAPH_INSTANTIATE_PARAMS *parameters) {
  return enterContext([&](Driver &driver, CUcontext) -> CUresult {
    CUresult result = instantiate(driver, graph, exec);
    if (parameters) {
      parameters->hErrNode_out = nullptr;
      parameters->result_out = result == CUDA_SUCCESS ? CUDA_GRAPH_INSTANTIATE_SUCCESS : CUDA_GRAPH_INSTANTIATE_ERROR;
    }
    return result;
  });
}
#endif

WEFT_DRIVER_API cuGraphExecDestroy(CUgraphExec exec) {
  return enter([&](Driver &driver) -> CUresult {
    if (!driver.valid(exec))
      return badExec(driver);
    driver.handles.erase(exec);
    delete exec;
    return CUDA_SUCCESS;
  });
}

WEFT_DRIVER_API cuGraphUpload(CUgraphExec exec, CUstream) {
  return enterContext(
      [&](Driver &driver, CUcontext) -> CUresult { return driver.valid(exec) ? CUDA_SUCCESS : badExec(driver); });
}

WEFT_DRIVER_API cuGraphLaunch(CUgraphExec exec, CUstream stream) {
  return enterContext([&](Driver &driver, CUcontext context) -> CUresult {
    CUstream s = driver.resolve(stream, context);
    if (!s)
      return CUDA_ERROR_INVALID_HANDLE;
    if (!driver.valid(exec))
      return badExec(driver);
    if (s->capture)
      return driver.fail(CUDA_ERROR_NOT_SUPPORTED, "launching a graph into a captured stream is not simulated");
    Work begin;
    begin.label = "graph start";
    CUresult result = driver.enqueue(s, std::move(begin));
    if (result != CUDA_SUCCESS)
      return result;
    uint64_t start = s->lastOperation;
    // A node goes on in the timeline of a node before it where that one's is still free; else in a new one.
    std::vector<uint64_t> ids(exec->nodes.size());
    std::vector<uint32_t> timelines(exec->nodes.size());
    std::vector<uint64_t> indices(exec->nodes.size());
    std::vector<bool> continued(exec->nodes.size(), false);
    std::vector<uint64_t> all{start};
    for (size_t i = 0; i < exec->nodes.size(); ++i) {
      const CUgraphExec_st::Node &node = exec->nodes[i];
      std::vector<uint64_t> waits{start};
      uint32_t timeline = 0;
      uint64_t index = 1;
      for (size_t dependency : node.dependencies) {
        waits.push_back(ids[dependency]);
        if (!timeline && !continued[dependency]) {
          continued[dependency] = true;
          timeline = timelines[dependency];
          index = indices[dependency] + 1;
        }
      }
      timelines[i] = timeline ? timeline : driver.newTimeline();
      indices[i] = index;
      Work work = node.work;
      work.label += " in a graph";
      ids[i] = driver.makeOperation(s->context, std::move(work), std::move(waits), timelines[i], index, Clock())->id;
      all.push_back(ids[i]);
    }
    Work end;
    end.label = "graph end";
    return driver.enqueue(s, std::move(end), std::move(all));
  });
}

WEFT_DRIVER_API cuGraphExecUpdate_v2(CUgraphExec exec, CUgraph graph, CUgraphExecUpdateResultInfo *info) {
  return enterContext([&](Driver &driver, CUcontext) -> CUresult {
    if (!driver.valid(exec))
      return badExec(driver);
    if (!driver.valid(graph))
      return badGraph(driver);
    auto refuse = [&](CUgraphExecUpdateResult why, CUgraphNode node, const std::string &reason) {
      if (info) {
        info->result = why;
        info->errorNode = node;
        info->errorFromNode = nullptr;
      }
      return driver.fail(CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE, reason);
    };
    std::vector<CUgraphNode> order;
    if (!sorted(graph, order) || order.size() != exec->nodes.size())
      return refuse(CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED, nullptr,
                    "the graph has " + std::to_string(graph->nodes.size()) + " nodes, its instance " +
                        std::to_string(exec->nodes.size()));
    std::map<CUgraphNode, size_t> positions;
    for (size_t i = 0; i < order.size(); ++i) {
      std::vector<size_t> dependencies;
      for (CUgraphNode dependency : order[i]->dependencies)
        dependencies.push_back(positions.at(dependency));
      positions[order[i]] = i;
      if (dependencies != exec->nodes[i].dependencies)
        return refuse(CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED, order[i],
                      "a node has other dependencies than in the instance");
      if (order[i]->work.kind != exec->nodes[i].work.kind)
        return refuse(CU_GRAPH_EXEC_UPDATE_ERROR_NODE_TYPE_CHANGED, order[i],
                      "a node is of another type than in the instance");
    }
    for (size_t i = 0; i < order.size(); ++i) {
      exec->nodes[i].work = order[i]->work;
      exec->nodes[i].source = order[i]->index;
    }
    exec->graph = graph;
    if (info) {
      info->result = CU_GRAPH_EXEC_UPDATE_SUCCESS;
      info->errorNode = info->errorFromNode = nullptr;
    }
    return CUDA_SUCCESS;
  });
}

WEFT_DRIVER_API cuGraphExecKernelNodeSetParams_v2(CUgraphExec exec, CUgraphNode node,
                                                  const CUDA_KERNEL_NODE_PARAMS *parameters) {
  return enterContext([&](Driver &driver, CUcontext) -> CUresult {
    if (!driver.valid(exec))
      return badExec(driver);
    if (!driver.valid(node) || node->graph != exec->graph)
      return badNode(driver);
    for (CUgraphExec_st::Node &entry : exec->nodes) {
      if (entry.source != node->index || entry.work.kind != Work::Kind::Kernel)
        continue;
      Work work;
      CUresult result = fillKernel(driver, parameters, work);
      if (result == CUDA_SUCCESS)
        entry.work = std::move(work);
      return result;
    }
    return badNode(driver);
  });
}

WEFT_DRIVER_API cuGraphDebugDotPrint(CUgraph graph, const char *path, unsigned int) {
  return enter([&](Driver &driver) -> CUresult {
    if (!driver.valid(graph) || !path)
      return badGraph(driver);
    std::FILE *file = std::fopen(path, "w");
    if (!file)
      return driver.fail(CUDA_ERROR_FILE_NOT_FOUND, std::string("cannot write '") + path + "'");
    std::fprintf(file, "digraph graph_1 {\n");
    for (const auto &node : graph->nodes) {
      std::fprintf(file, "  node_%zu [label=\"%s\"];\n", node->index, node->work.label.c_str());
      for (CUgraphNode dependency : node->dependencies)
        std::fprintf(file, "  node_%zu -> node_%zu;\n", dependency->index, node->index);
    }
    std::fprintf(file, "}\n");
    std::fclose(file);
    return CUDA_SUCCESS;
  });
}
