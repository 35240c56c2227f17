#include "symbols/calls/call_checker.h"

#include <algorithm>
#include <cstring>
#include <set>
#include <utility>

#include "symbols/calls/function_exits.h"
#include "symbols/demangle/demangle.h"
#include "symbols/leaf_extent.h"
#include "unmanaged/ascii_lower.h"
#include "unmanaged/hex.h"
#include "unmanaged/image/debug_directory.h"
#include "unmanaged/image/imports.h"

namespace mixwalk {
namespace {

// The maximum number of functions through which one call is followed: from an import's thunk to a forwarder, to a
// wrapper, to the wrapper's parts.
constexpr std::size_t kMaxFunctions = 64;
constexpr int kMaxForwarders = 8;

using Kind = FlowInstruction::Kind;
using Target = FlowInstruction::Target;

// Returns the name in the form in which the loader looks an image up.
std::string image_key(std::string_view name) {
  std::string key = ascii_lower(std::string(name));
  if (key.find('.') == std::string::npos) key += ".dll";
  return key;
}

bool is_api_set(std::string_view key) { return key.starts_with("api-") || key.starts_with("ext-"); }

}  // namespace

// An image's file with its imports and its exports. If the file cannot be read, there are no imports and no exports.
struct CallChecker::Image {
  // `of` is null if the file cannot be read.
  explicit Image(std::shared_ptr<const ImageFile> of)
      : file(std::move(of)), imports(file != nullptr ? file->image : PeImage()) {
    if (file == nullptr) return;
    for (const PeExport& found : file->image.exports()) {
      if (!found.name.empty()) by_name.try_emplace(found.name, &found);
      by_ordinal.try_emplace(found.ordinal, &found);
    }
  }

  // Returns the RUNTIME_FUNCTION's start, or for leaf code the address itself.
  std::uint32_t part_begin(std::uint32_t rva) const {
    const PeImage::Function* const function = file->image.function_at(rva);
    return function == nullptr ? rva : function->begin;
  }
  std::uint32_t function_begin(std::uint32_t rva) const {
    const PeImage::Function* const function = file->image.function_at(rva);
    if (function == nullptr) return rva;
    return function->primary != 0 ? function->primary : function->begin;
  }
  // Returns the content of a slot in the file, before a loader fills it: an RVA.
  std::optional<std::uint32_t> first_target(std::uint32_t slot) const {
    const auto bytes = file->image.bytes_at(slot, sizeof(std::uint64_t));
    if (!bytes) return std::nullopt;
    std::uint64_t address;
    std::memcpy(&address, bytes->data(), sizeof address);
    address -= file->image.preferred_base();
    if (address >= file->image.size_of_image()) return std::nullopt;
    return static_cast<std::uint32_t>(address);
  }

  std::shared_ptr<const ImageFile> file;
  Imports imports;
  std::unordered_map<std::string_view, const PeExport*> by_name;
  std::unordered_map<std::uint32_t, const PeExport*> by_ordinal;
  std::map<std::uint32_t, FunctionExits> exits;  // by part_begin()
};

// Follows one call; breadth first, so that the shortest way to the callee counts.
struct CallChecker::Search {
  // How a place is reached.
  enum class By : std::uint8_t {
    call,  // by thunks alone: the call leads to this function
    jump,  // the call leads to a function that jumps to it
    load,  // by the code that loads a DLL first
  };
  struct Place {
    std::size_t image;
    std::uint32_t rva;
    By by;
  };

  Search(CallChecker& checker, const Callee& callee)
      : checker(checker),
        callee(callee),
        callee_rva(static_cast<std::uint32_t>(callee.code.lookup() - checker.images_[callee.image].base)),
        callee_image(checker.opened(callee.image)) {}

  void add(std::size_t image, std::uint32_t rva, By by) {
    const Image& in = checker.opened(image);
    if (in.file == nullptr) {
      unknown = true;
      return;
    }
    if (seen.size() >= kMaxFunctions) {
      unknown = true;
    } else if (seen.insert({image, in.part_begin(rva)}).second) {
      places.push_back({image, rva, by});
    }
  }

  void add_slot(std::size_t image, std::uint32_t slot, By by) {
    const Image& in = checker.opened(image);
    const Import* const import = in.imports.at(slot);
    if (import == nullptr) {
      unknown = true;  // a function pointer, which the program may change
      return;
    }
    if (import->delayed) {
      if (const auto loader = in.first_target(slot)) {
        add(image, *loader, By::load);
      } else {
        unknown = true;
      }
    }
    resolve(import->image, import->name, import->ordinal, by, kMaxForwarders);
  }

  // If `name` is empty, the import is by ordinal.
  void resolve(std::string_view image_name, std::string_view name, std::uint32_t ordinal, By by,
               int forwarders) {
    const std::string key = image_key(image_name);
    std::size_t image = checker.image_named(key, callee.image);
    if (image == kNoImage) {
      unknown = true;
      if (!is_api_set(key)) return;
      image = callee.image;
    }
    const Image& in = checker.opened(image);
    const PeExport* found = nullptr;
    if (in.file == nullptr) {
      unknown = true;
      return;
    }
    if (!name.empty()) {
      const auto at = in.by_name.find(name);
      if (at != in.by_name.end()) found = at->second;
    } else {
      const auto at = in.by_ordinal.find(ordinal);
      if (at != in.by_ordinal.end()) found = at->second;
    }
    if (found == nullptr || forwarders == 0) {
      unknown = true;
    } else if (found->forwarder.empty()) {
      add(image, found->rva, by);
    } else {
      forward(found->forwarder, by, forwarders - 1);
    }
  }

  // `to` is "OTHER.Function" or "OTHER.#7".
  void forward(std::string_view to, By by, int forwarders) {
    const std::size_t dot = to.rfind('.');
    if (dot == std::string_view::npos) {
      unknown = true;
      return;
    }
    const std::string_view function = to.substr(dot + 1);
    std::uint32_t ordinal = 0;
    if (function.starts_with('#')) {
      const auto* const end = function.data() + function.size();
      if (std::from_chars(function.data() + 1, end, ordinal).ptr != end) {
        unknown = true;
        return;
      }
    }
    resolve(to.substr(0, dot), ordinal != 0 ? std::string_view() : function, ordinal, by, forwarders);
  }

  // Returns the place at which the callee is reached, or null if it is not reached.
  const Place* run() {
    for (std::size_t next = 0; next < places.size(); ++next) {
      const Place place = places[next];
      if (place.image == callee.image && is_callee(place.rva)) {
        met = place;
        return &met;
      }
      Image& in = checker.opened(place.image);
      const std::uint32_t part = in.part_begin(place.rva);
      auto at = in.exits.find(part);
      if (at == in.exits.end()) {
        at = in.exits.emplace(part, exits_of(in.file->image, place.rva, checker.disassembler_)).first;
      }
      const bool leaves = place.by == By::call && !is_thunk(in.file->image, place.rva);
      const By by = leaves ? By::jump : place.by;
      unknown = unknown || at->second.unknown;
      for (const std::uint32_t rva : at->second.code) add(place.image, rva, by);
      for (const std::uint32_t slot : at->second.slots) add_slot(place.image, slot, by);
    }
    return nullptr;
  }

  // Whether every function that the call can reach was seen and is in the callee's image, so that hooks do not matter.
  bool all_in_callees_image() const {
    return std::ranges::all_of(places, [this](const Place& place) { return place.image == callee.image; });
  }

 private:
  bool is_callee(std::uint32_t rva) {
    const PeImage& image = callee_image.file->image;
    const PeImage::Function* const called = image.function_at(rva);
    const PeImage::Function* const above = image.function_at(callee_rva);
    if (called != nullptr && above != nullptr) {
      return called == above || callee_image.function_begin(rva) == callee_image.function_begin(callee_rva);
    }
    if (called != nullptr || above != nullptr) return false;
    if (image.function_after(rva) != image.function_after(callee_rva)) return false;
    // Leaf code of the same gap in .pdata belongs to the callee, as far as leaf_bytes() is certain.
    if (rva <= callee_rva && callee_rva - rva < leaf_bytes(image, rva, callee_rva - rva + 1)) return true;
    unknown = true;
    return false;
  }

  bool is_thunk(const PeImage& image, std::uint32_t rva) {
    const PeSection* const section = image.section_at(rva);
    if (section == nullptr || rva - section->rva >= section->file_bytes) return false;
    const auto code =
        image.bytes_at(rva, std::min(kLongestInstruction, section->file_bytes - (rva - section->rva)));
    const auto first = code ? checker.disassembler_.decode(*code, rva) : std::nullopt;
    return first && first->kind == Kind::jump;
  }

 public:
  CallChecker& checker;
  const Callee& callee;
  const std::uint32_t callee_rva;
  const Image& callee_image;
  bool unknown = false;  // the call can also lead to unknown places
  std::vector<Place> places;
  std::set<Function> seen;
  Place met{};
};

CallChecker::CallChecker(Symboliser& symboliser, std::vector<LoadedImage> images)
    : symboliser_(symboliser), images_(std::move(images)) {
  for (std::size_t i = 0; i < images_.size(); ++i) {
    by_name_.emplace(ascii_lower(std::string(file_name(images_[i].path))), i);
  }
}

CallChecker::~CallChecker() = default;

CallChecker::Image& CallChecker::opened(std::size_t image) {
  std::unique_ptr<Image>& known = opened_[image];
  if (known == nullptr) known = std::make_unique<Image>(symboliser_.file_of(images_[image]));
  return *known;
}

// If several images have the name, the callee's own image is preferred.
std::size_t CallChecker::image_named(std::string_view name, std::size_t rather) const {
  const auto [first, last] = by_name_.equal_range(std::string(name));
  if (first == last) return kNoImage;
  if (std::next(first) == last) return first->second;
  const bool is_there = std::any_of(first, last, [&](const auto& entry) { return entry.second == rather; });
  return is_there ? rather : kNoImage;
}

CallChecker::Answer CallChecker::check(std::size_t image, std::uint64_t return_address,
                                       const Callee* callee) {
  const Image& in = opened(image);
  const std::uint64_t rva = return_address - images_[image].base;
  if (in.file == nullptr || rva == 0 || rva > images_[image].size) return {};
  const auto return_rva = static_cast<std::uint32_t>(rva);
  const Callee above = callee != nullptr ? *callee : Callee{};
  Question question{{image, return_rva}, {above.image, 0}};
  if (above.image != kNoImage) {
    const Image& target = opened(above.image);
    const auto at = static_cast<std::uint32_t>(above.code.lookup() - images_[above.image].base);
    question.callee.begin = target.file != nullptr ? target.part_begin(at) : 0;
  }
  auto at = known_.find(question);
  if (at == known_.end()) at = known_.emplace(question, ask(image, return_rva, above)).first;
  const Known& known = at->second;
  Answer answer{known.check, known.import, known.tail_call, {}};
  if (known.import_start) {
    const std::uint64_t start = images_[above.image].base + *known.import_start;
    // A further part of the function may lie before its start.
    if (above.code.address >= start) answer.import_displacement = above.code.address - start;
  }
  return answer;
}

CallChecker::Known CallChecker::ask(std::size_t image, std::uint32_t return_rva, const Callee& callee) {
  const PeImage& bytes = opened(image).file->image;
  if (!bytes.is_code(return_rva - 1) || !bytes.bytes_at(return_rva - 1, 1)) return {};
  const std::vector<CallBefore> calls = calls_before(bytes, return_rva, disassembler_);
  if (calls.empty()) return {.check = CallCheck::no_call};
  std::vector<Known> results;
  for (const CallBefore& call : calls) {
    results.push_back(follow(image, call.instruction, callee));
    if (results.back().check == CallCheck::verified) return results.back();
  }
  // No call is proven, so it matters which of the calls is really there.
  const SweepResult sweep = sweep_to(bytes, return_rva, disassembler_);
  if (sweep.found == Sweep::no_call) return {.check = CallCheck::no_call};
  for (std::size_t i = 0; i < calls.size(); ++i) {
    if (sweep.found == Sweep::call ? calls[i].rva == sweep.rva : results[i].check == CallCheck::possible) {
      return results[i];
    }
  }
  return results.front();
}

CallChecker::Known CallChecker::follow(std::size_t image, const FlowInstruction& call, const Callee& callee) {
  Known known{.check = CallCheck::possible};
  const bool followed =
      call.kind == Kind::call && (call.target == Target::direct || call.target == Target::slot);
  if (callee.image == kNoImage || !followed || call.address >= images_[image].size) return known;
  const auto address = static_cast<std::uint32_t>(call.address);
  const Import* const import = call.target == Target::slot ? opened(image).imports.at(address) : nullptr;
  if (opened(callee.image).file == nullptr) {
    const std::string name = ascii_lower(std::string(file_name(images_[callee.image].path)));
    if (import != nullptr && image_key(import->image) == name) known.import = demangle(import->name);
    return known;
  }
  Search search(*this, callee);
  if (call.target == Target::direct) {
    search.add(image, address, Search::By::call);
  } else {
    search.add_slot(image, address, Search::By::call);
  }
  if (const Search::Place* const met = search.run()) {
    known.check = CallCheck::verified;
    if (import != nullptr && met->by != Search::By::load && !import->name.empty()) {
      known.import = demangle(import->name);
      known.tail_call = met->by == Search::By::jump;
      if (!known.tail_call) known.import_start = met->rva;
    }
  } else if (!search.unknown && search.all_in_callees_image()) {
    known.check = CallCheck::elsewhere;
  }
  return known;
}

std::string CallChecker::place(std::size_t image, std::uint64_t rva) {
  const LoadedImage& of = images_[image];
  std::string text(file_name(of.path));
  const auto named = symboliser_.name(of, {of.base + rva, AddressKind::instruction_pointer});
  if (!named) return text + "!" + hex(rva);
  text += "!" + named->symbol.name();
  return named->displacement == 0 ? text : text + "+" + hex(named->displacement);
}

std::string CallChecker::call_text(std::size_t image, std::uint64_t return_address) {
  const std::uint64_t rva = return_address - images_[image].base;
  if (opened(image).file == nullptr || rva == 0 || rva > images_[image].size) return {};
  const Function place{image, static_cast<std::uint32_t>(rva)};
  auto at = texts_.find(place);
  if (at == texts_.end()) at = texts_.emplace(place, make_text(image, place.begin)).first;
  return at->second;
}

std::string CallChecker::make_text(std::size_t image, std::uint32_t return_rva) {
  const Image& in = opened(image);
  const std::vector<CallBefore> calls = calls_before(in.file->image, return_rva, disassembler_);
  if (calls.empty()) return {};
  const CallBefore* call = calls.size() == 1 ? &calls.front() : nullptr;
  const SweepResult sweep = sweep_to(in.file->image, return_rva, disassembler_);
  if (sweep.found == Sweep::no_call) return {};
  if (sweep.found == Sweep::call) {
    const auto at = std::ranges::find(calls, sweep.rva, &CallBefore::rva);
    call = at == calls.end() ? nullptr : &*at;
  }
  if (call == nullptr) return {};
  const std::uint64_t address = images_[image].base + call->rva;
  const auto code = *in.file->image.bytes_at(call->rva, return_rva - call->rva);
  std::string text = hex(address) + ": " + disassembler_.text(code, address);
  const FlowInstruction& instruction = call->instruction;
  if (instruction.address >= images_[image].size) return text;
  if (instruction.target == Target::direct) return text + "  ; " + place(image, instruction.address);
  const Import* const import = instruction.target == Target::slot
                                   ? in.imports.at(static_cast<std::uint32_t>(instruction.address))
                                   : nullptr;
  if (import == nullptr) return text;
  const std::string name =
      import->name.empty() ? "#" + std::to_string(import->ordinal) : demangle(import->name);
  return text + "  ; " + std::string(import->image) + "!" + name;
}

}  // namespace mixwalk
