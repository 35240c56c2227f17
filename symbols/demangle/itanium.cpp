#include "symbols/demangle/itanium.h"

#include <cstddef>
#include <cstdlib>
#include <deque>
#include <memory>
#include <new>
#include <type_traits>
#include <vector>

#include "symbols/demangle/limited_output.h"
//
#include "llvm/Demangle/ItaniumDemangle.h"

DEMANGLE_NAMESPACE_BEGIN

// LLVM's header declares this function, and a source that is not built here has it. It returns the end of a
// discriminator, which tells entities of one name in one function apart: "_" and a digit, "__", a number and "_", or,
// at the end of the name, digits.
const char* parse_discriminator(const char* first, const char* last) {
  const auto after_digits = [last](const char* at) {
    return std::find_if(at, last, [](char c) { return c < '0' || c > '9'; });
  };
  const std::string_view text(first, static_cast<std::size_t>(last - first));
  if (text.starts_with("__")) {
    const char* const end = after_digits(first + 2);
    return end != first + 2 && end != last && *end == '_' ? end + 1 : first;
  }
  if (text.starts_with('_')) return after_digits(first + 1) == first + 1 ? first : first + 2;
  return after_digits(first) == last ? last : first;
}

DEMANGLE_NAMESPACE_END

namespace mixwalk {
namespace {

namespace itanium = llvm::itanium_demangle;

// How deep a name may be: types in types, and expressions in expressions. Each level takes some hundred bytes of the
// stack. The deepest name of Boost and LLVM has 60 levels.
constexpr std::uint16_t kMostDepth = 400;

// LLVM's parser makes a tree, and prints it by functions that call themselves. A substitution may stand for a deep
// tree, so the depth of each node is kept before it.
class LimitedNodes {
 public:
  void reset() {
    blocks_.clear();
    at_ = end_ = nullptr;
  }
  template <class T, class... Args>
  T* makeNode(Args&&... args) {
    const std::uint16_t depth = 1 + std::max({std::uint16_t{0}, depth_of(args)...});
    if (depth > kMostDepth) throw TooMuchWork{};
    auto* const place = static_cast<std::byte*>(allocate(sizeof(std::max_align_t) + sizeof(T)));
    new (place) std::uint16_t(depth);
    return new (place + sizeof(std::max_align_t)) T(std::forward<Args>(args)...);
  }
  void* allocateNodeArray(std::size_t count) { return allocate(count * sizeof(itanium::Node*)); }

 private:
  static std::uint16_t depth_of(const itanium::Node* node) {
    if (node == nullptr) return 0;
    return *reinterpret_cast<const std::uint16_t*>(reinterpret_cast<const std::byte*>(node) -
                                                   sizeof(std::max_align_t));
  }
  static std::uint16_t depth_of(const itanium::NodeArray& nodes) {
    std::uint16_t depth = 0;
    for (const itanium::Node* node : nodes) depth = std::max(depth, depth_of(node));
    return depth;
  }
  template <class Other>
    requires(!std::is_convertible_v<Other, const itanium::Node*>)
  static std::uint16_t depth_of(const Other&) {
    return 0;
  }

  void* allocate(std::size_t bytes) {
    constexpr std::size_t kBlock = 16 * 1024, kUnit = alignof(std::max_align_t);
    bytes = (bytes + kUnit - 1) / kUnit * kUnit;
    DemangleWork::add(bytes / kUnit);
    if (static_cast<std::size_t>(end_ - at_) < bytes) {
      const std::size_t size = std::max(bytes, kBlock);
      at_ = blocks_.emplace_back(std::make_unique_for_overwrite<std::byte[]>(size)).get();
      end_ = at_ + size;
    }
    return std::exchange(at_, at_ + bytes);
  }

  std::vector<std::unique_ptr<std::byte[]>> blocks_;
  std::byte *at_ = nullptr, *end_ = nullptr;
};

// The parser calls itself by these functions.
class Parser : public itanium::AbstractManglingParser<Parser, LimitedNodes> {
  using Base = itanium::AbstractManglingParser<Parser, LimitedNodes>;

 public:
  using Base::Base;

  itanium::Node* parseType() {
    // LLVM does not know this type yet; it would be read as _Float16 with a wrong length.
    if (this->consumeIf("DF16b")) return this->make<itanium::NameType>("std::bfloat16_t");
    return deeper([&] { return Base::parseType(); });
  }
  itanium::Node* parseExpr() { return deeper([&] { return Base::parseExpr(); }); }
  itanium::Node* parseTemplateArg() { return deeper([&] { return Base::parseTemplateArg(); }); }
  itanium::Node* parseEncoding(bool parameters = true) {
    return deeper([&] { return Base::parseEncoding(parameters); });
  }
  itanium::Node* parseBracedExpr() { return deeper([&] { return Base::parseBracedExpr(); }); }
  itanium::Node* parseConstraintExpr() { return deeper([&] { return Base::parseConstraintExpr(); }); }

 private:
  template <class Parse>
  itanium::Node* deeper(Parse parse) {
    DemangleWork::add(1);
    if (depth_ == kMostDepth) throw TooMuchWork{};
    ++depth_;
    itanium::Node* const node = parse();
    --depth_;
    return node;
  }

  int depth_ = 0;
};

}  // namespace

std::string demangle_itanium(std::string_view name) {
  itanium::OutputBuffer text;
  const auto parser = std::make_unique<Parser>(name.data(), name.data() + name.size());
  const itanium::Node* const root = parser->parse();
  if (root == nullptr) return {};
  root->print(text);
  const std::unique_ptr<char, void (*)(void*)> owned(text.getBuffer(), std::free);
  return std::string(std::string_view(text));
}

}  // namespace mixwalk
