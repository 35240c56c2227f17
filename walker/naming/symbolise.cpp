#include "walker/naming/symbolise.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>

namespace mixwalk {
namespace {

// The limits for inlined calls of one frame, and of one stack. Real chains have some 40; only a forged file has more.
constexpr std::size_t kMaxInlined = 64;
constexpr std::size_t kMaxInlinedInStack = 1 << 15;
// The limit in bytes for a name or a path. A template's arguments can make a name of megabytes, a hostile PDB a path of
// 32 KiB, and every frame has its own.
constexpr std::size_t kMaxName = 4096;

std::string bounded(std::string name) {
  if (name.size() <= kMaxName) return name;
  name.resize(kMaxName);
  return name + "...";
}

// The end of a path is kept, because it has the file's name.
std::string bounded_path(std::string path) {
  if (path.size() <= kMaxName) return path;
  return "..." + path.substr(path.size() - kMaxName);
}

// For a Frame or a StackFrame: appends the named frame, preceded by the frames that are inlined into it.
template <class NativeFrame>
void append(NativeFrame frame, const Module& module, Symboliser& symboliser, std::size_t most_inlined,
            std::vector<NativeFrame>& to) {
  auto found = symboliser.name(loaded_image(module), {frame.address, frame.address_kind});
  if (!found) {
    to.push_back(std::move(frame));
    return;
  }
  std::vector<SymbolFrame>& chain = found->symbol.frames;
  const std::size_t inlined = std::min({chain.size() - 1, kMaxInlined, most_inlined});
  frame.symbol = found->symbol.kind;
  // The outermost inlined calls are kept, because they lead to the function.
  for (std::size_t depth = inlined + 1; depth-- != 0;) {
    SymbolFrame& source = chain[chain.size() - 1 - depth];
    NativeFrame& named = to.emplace_back(frame);
    named.inline_depth = static_cast<std::uint8_t>(depth);
    named.displacement = depth == 0 ? found->displacement : 0;
    named.name = bounded(std::move(source.name));
    named.file = bounded_path(std::move(source.file));
    named.line = source.line;
    named.source_url = std::move(source.url);
  }
  to.back().folded = found->symbol.folded;
  if (!found->symbol.managed) return;
  to.back().kind = FrameKind::managed;
  to.back().displacement = 0;
}

// How certain a name of that kind is. Some of the names without a kind (older recordings) were exports.
int certainty(const Frame& frame) noexcept {
  if (frame.name.empty()) return 0;
  switch (frame.symbol) {
    case SymbolKind::function_table: return 1;
    case SymbolKind::import: return 2;
    case SymbolKind::exported: return 3;
    case SymbolKind::none:
    case SymbolKind::coff: return 4;
    case SymbolKind::dwarf:
    case SymbolKind::pdb: return 5;
  }
  return 0;
}

bool says_more(const Frame& found, const Frame& known) noexcept {
  if (certainty(found) != certainty(known)) return certainty(found) > certainty(known);
  return certainty(found) != 0 && known.line == 0 && found.line != 0;
}

}  // namespace

LoadedImage loaded_image(const Module& module) {
  return {module.path, module.base, module.size, module.timestamp, module.code_view};
}

void symbolise(Snapshot& snapshot, Symboliser& symboliser) {
  for (Thread& thread : snapshot.threads) {
    std::vector<StackFrame> frames;
    frames.reserve(thread.stack.frames.size());
    std::size_t real = 0;
    for (StackFrame& frame : thread.stack.frames) {
      const std::size_t inlined = frames.size() - real++;
      if (frame.kind != FrameKind::native || frame.module == Frame::kNone) {
        frames.push_back(std::move(frame));
      } else {
        const Module& module = snapshot.modules[static_cast<std::size_t>(frame.module)];
        append(std::move(frame), module, symboliser, kMaxInlinedInStack - std::min(inlined, kMaxInlinedInStack),
               frames);
      }
    }
    thread.stack.frames = std::move(frames);
  }
}

void add_lines(Snapshot& snapshot, ManagedLines& lines) {
  for (Thread& thread : snapshot.threads) {
    for (Frame& frame : thread.stack.frames) {
      if (frame.il.assembly == Frame::kNone) continue;
      add_line(frame, snapshot.assemblies[static_cast<std::size_t>(frame.il.assembly)], lines);
    }
  }
  for (AsyncTask& task : snapshot.tasks) {
    const auto assembly = static_cast<std::size_t>(task.il.assembly);
    if (assembly >= snapshot.assemblies.size() || task.await_number < 0) continue;
    auto place = lines.find_await(snapshot.assemblies[assembly], task.il.method,
                                  static_cast<std::uint32_t>(task.await_number));
    if (!place) continue;
    task.file = bounded_path(std::move(place->file));
    task.line = place->line;
    task.source_url = std::move(place->url);
  }
}

void add_line(Frame& frame, const Assembly& assembly, ManagedLines& lines) {
  auto place = lines.find(assembly, frame.il.method, frame.il.offset);
  if (!place) return;
  frame.file = bounded_path(std::move(place->file));
  frame.line = place->line;
  frame.source_url = std::move(place->url);
  frame.line_approximate = assembly.optimised;
}

void identify(Module& module, ImageIdentities& identities) {
  if (!module.code_view) module.code_view = identities.find(loaded_image(module));
}

void identify(Assembly& assembly, ManagedLines& lines) {
  if (!assembly.pdb) assembly.pdb = lines.pdb_of(assembly);
}

void identify(Snapshot& snapshot, ImageIdentities& identities, ManagedLines& lines) {
  for (Module& module : snapshot.modules) identify(module, identities);
  for (Assembly& assembly : snapshot.assemblies) identify(assembly, lines);
}

std::vector<Frame> symbolised_further(Frame frame, const Module& module, Symboliser& symboliser) {
  // An inlined call came with the symbols of its function, so it has nothing to gain.
  if (frame.inline_depth != 0 || (certainty(frame) == 5 && frame.line != 0)) return {std::move(frame)};
  std::vector<Frame> found = symbolised(frame, module, symboliser);
  if (!says_more(found.back(), frame)) return {std::move(frame)};
  return found;
}

std::vector<Frame> symbolised(Frame frame, const Module& module, Symboliser& symboliser) {
  std::vector<Frame> frames;
  append(std::move(frame), module, symboliser, kMaxInlined, frames);
  return frames;
}

}  // namespace mixwalk
