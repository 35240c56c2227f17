#include "walker/export/dump_format.h"

#include <vector>

#include "walker/model/series.h"

namespace mixwalk {
namespace {

// How much memory a snapshot of the recording would take. Counting stops at kMaxDumpBytes, so no sum overflows.
std::uint64_t snapshot_bytes(const Recording& recording) {
  std::vector<std::uint64_t> stacks;  // for each node, the number of frames from it to the root
  stacks.reserve(recording.nodes.size());
  for (const Recording::Node& node : recording.nodes) {
    const std::uint64_t callers = node.parent == Recording::kNone ? 0 : stacks[node.parent];
    const Frame& frame = recording.frames[node.frame];
    stacks.push_back(callers + sizeof(StackFrame) + frame.name.size() + frame.file.size() + frame.target.size() +
                     frame.source_url.size());
  }
  std::uint64_t bytes = 0;
  for (const Recording::Sample& sample : recording.samples) {
    bytes += sizeof(Thread) + recording.threads[sample.thread].name.size();
    if (sample.stack != Recording::kNone) bytes += stacks[sample.stack];
    if (sample.detail != Recording::kNone) bytes += recording.details[sample.detail].size();
    if (bytes > kMaxDumpBytes) break;
  }
  return bytes;
}

}  // namespace

std::string dump_refusal(const Recording& recording) {
  if (recording.event != SampleEvent::dump) {
    return "it shows one moment, and the recording is of samples over time, which html and speedscope show";
  }
  if (snapshot_bytes(recording) > kMaxDumpBytes) return "the stacks are too many and too deep";
  return {};
}

std::string series_refusal(const Recording& recording) {
  constexpr std::size_t kMaxDumps = 1000;
  if (std::string why = dump_refusal(recording); !why.empty()) return why;
  std::uint64_t bytes = 0;
  for (const Module& module : recording.modules) bytes += sizeof(Module) + module.path.size();
  for (const Assembly& assembly : recording.assemblies) bytes += sizeof(Assembly) + assembly.path.size();
  const std::size_t dumps = dumps_of(recording);
  if (dumps > kMaxDumps || bytes * dumps > kMaxDumpBytes) return "it has too many dumps";
  return {};
}

std::string one_dump_refusal(const Recording& recording) {
  if (std::string why = dump_refusal(recording); !why.empty()) return why;
  const std::size_t dumps = dumps_of(recording);
  if (dumps == 1) return {};
  return "it has room for one dump, and there are " + std::to_string(dumps) +
         "; text and html show all of them, and mixwalk compare explains them, also as json";
}

}  // namespace mixwalk
