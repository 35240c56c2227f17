#include "symbols/forwarders.h"

#include <algorithm>
#include <charconv>

namespace mixwalk {
namespace {

// Real ones take two or three steps (an API set, kernel32, kernelbase, ntdll). Ends circles too.
constexpr int kMaxSteps = 16;

const PeExport* find_export(const PeImage& image, std::string_view function) {
  std::uint32_t ordinal = 0;
  const bool by_ordinal = function.starts_with('#');
  if (by_ordinal) {
    const char* const last = function.data() + function.size();
    const auto [end, error] = std::from_chars(function.data() + 1, last, ordinal);
    if (error != std::errc{} || end != last) return nullptr;
  }
  const auto found =
      std::find_if(image.exports().begin(), image.exports().end(), [&](const PeExport& candidate) {
        return by_ordinal ? candidate.ordinal == ordinal : candidate.name == function;
      });
  return found == image.exports().end() ? nullptr : &*found;
}

}  // namespace

std::optional<ForwarderTarget> forwarder_target(std::string_view forwarder,
                                                const ImageLookup& images) {
  for (int step = 0; step < kMaxSteps; ++step) {
    // The last dot: a module's name may have one ("other.drv.Function"), a function's has none.
    const auto dot = forwarder.rfind('.');
    if (dot == std::string_view::npos || dot == 0 || dot + 1 == forwarder.size()) {
      return std::nullopt;
    }
    std::string module(forwarder.substr(0, dot));
    if (module.find('.') == std::string::npos) module += ".dll";
    const PeImage* image = images.image(module);
    if (image == nullptr || image->error() != PeError::none) return std::nullopt;
    const PeExport* found = find_export(*image, forwarder.substr(dot + 1));
    if (found == nullptr) return std::nullopt;
    if (found->forwarder.empty()) {
      return ForwarderTarget{std::move(module), std::string(found->name), found->ordinal,
                             found->rva};
    }
    forwarder = found->forwarder;
  }
  return std::nullopt;
}

}  // namespace mixwalk
