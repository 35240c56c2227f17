#include "symbols/clr_name.h"

#include <algorithm>
#include <charconv>

#include "unmanaged/joined.h"

namespace mixwalk {
namespace {

// ELEMENT_TYPE_* (ECMA-335 II.23.1.16).
enum ElementType : std::uint8_t {
  kVoid = 0x01, kString = 0x0E, kPtr = 0x0F, kByRef = 0x10, kValueType = 0x11, kClass = 0x12,
  kVar = 0x13, kArray = 0x14, kGenericInst = 0x15, kTypedByRef = 0x16, kIntPtr = 0x18,
  kUIntPtr = 0x19, kFnPtr = 0x1B, kObject = 0x1C, kSzArray = 0x1D, kMVar = 0x1E, kCModReqd = 0x1F,
  kCModOpt = 0x20, kInternal = 0x21, kSentinel = 0x41, kPinned = 0x45,
};

constexpr std::string_view kPrimitives[] = {
    "",              "System.Void",   "System.Boolean", "System.Char",   "System.SByte",
    "System.Byte",   "System.Int16",  "System.UInt16",  "System.Int32",  "System.UInt32",
    "System.Int64",  "System.UInt64", "System.Single",  "System.Double", "System.String",
};

// If the signature's header (II.23.2.1) has this bit, the method is generic, and the number of its parameters comes
// next.
constexpr std::uint8_t kGeneric = 0x10;
constexpr std::uint8_t kCallingConvention = 0x0F;
constexpr std::uint8_t kVarArg = 0x05;
constexpr std::uint8_t kUnmanaged = 0x09;
// Some signatures share the header's values but are not those of methods: field, locals, property.
constexpr bool is_method(std::uint8_t header) {
  const std::uint8_t kind = header & kCallingConvention;
  return kind <= kVarArg || kind == kUnmanaged;
}

// The limit for types nested in each other; compilers nest a handful.
constexpr int kMaxDepth = 64;
constexpr std::uint32_t kMaxParameters = 4096;
constexpr std::uint32_t kMaxRank = 32;  // the CLR's own limit
// An instantiation can repeat an argument at every level, so the length of the text is limited as well as the depth.
constexpr std::size_t kMaxText = 16 << 10;

class SignatureReader {
 public:
  SignatureReader(std::span<const std::byte> bytes, const TypeNames& names,
                  const GenericArguments& arguments)
      : bytes_(bytes), names_(names), arguments_(arguments) {}

  // MethodDefSig / MethodRefSig: header, [generic count], parameter count, return type, parameters.
  bool method(std::string& parameters, int depth) {
    std::uint8_t header = 0;
    std::uint32_t count = 0;
    if (!byte(header) || !is_method(header)) return false;
    if ((header & kGeneric) != 0 && !number(count)) return false;
    if (!number(count) || count > kMaxParameters) return false;
    std::string returned;
    if (!type(returned, depth + 1)) return false;
    parameters += '(';
    for (std::uint32_t i = 0; i < count; ++i) {
      if (i != 0) parameters += ", ";
      if (peek() == kSentinel) {
        std::uint8_t sentinel = 0;
        byte(sentinel);
      }
      if (!type(parameters, depth + 1)) return false;
    }
    if ((header & kCallingConvention) == kVarArg) parameters += count == 0 ? "..." : ", ...";
    parameters += ')';
    return parameters.size() <= kMaxText;
  }

 private:
  bool byte(std::uint8_t& value) {
    if (at_ == bytes_.size()) return false;
    value = static_cast<std::uint8_t>(bytes_[at_++]);
    return true;
  }
  int peek() const { return at_ == bytes_.size() ? -1 : static_cast<int>(bytes_[at_]); }

  // Reads a compressed unsigned integer (II.23.2).
  bool number(std::uint32_t& value) {
    std::uint8_t first = 0;
    if (!byte(first)) return false;
    int more = 0;
    if ((first & 0x80) == 0) {
      value = first;
    } else if ((first & 0xC0) == 0x80) {
      value = first & 0x3Fu;
      more = 1;
    } else if ((first & 0xE0) == 0xC0) {
      value = first & 0x1Fu;
      more = 3;
    } else {
      return false;
    }
    for (; more != 0; --more) {
      std::uint8_t next = 0;
      if (!byte(next)) return false;
      value = value << 8 | next;
    }
    return true;
  }

  // Reads a TypeDefOrRefOrSpecEncoded (II.23.2.8).
  bool token(std::uint32_t& value) {
    constexpr std::uint32_t kTables[] = {0x02000000, 0x01000000, 0x1B000000};
    std::uint32_t encoded = 0;
    if (!number(encoded) || (encoded & 3) > 2) return false;
    value = kTables[encoded & 3] | encoded >> 2;
    return true;
  }

  bool type(std::string& text, int depth) {
    if (depth > kMaxDepth || text.size() > kMaxText) return false;
    std::uint8_t element = 0;
    if (!byte(element)) return false;
    switch (element) {
      case kPtr: return suffixed(text, "*", depth);
      case kSzArray: return suffixed(text, "[]", depth);
      case kByRef: text += "ref "; return type(text, depth + 1);
      case kPinned: return type(text, depth + 1);
      case kCModReqd:
      case kCModOpt: {
        std::uint32_t modifier = 0;
        return token(modifier) && type(text, depth + 1);
      }
      case kValueType:
      case kClass: {
        std::uint32_t named = 0;
        if (!token(named)) return false;
        text += with_arguments(name_of(named), {});
        return true;
      }
      case kVar: return variable(text, arguments_.of_type, "!");
      case kMVar: return variable(text, arguments_.of_method, "!!");
      case kArray: return array(text, depth);
      case kGenericInst: return generic_instance(text, depth);
      case kFnPtr: {
        text += "method";
        return method(text, depth + 1);
      }
      case kTypedByRef: text += "System.TypedReference"; return true;
      case kIntPtr: text += "System.IntPtr"; return true;
      case kUIntPtr: text += "System.UIntPtr"; return true;
      case kObject: text += "System.Object"; return true;
      default:
        if (element < kVoid || element > kString) return false;
        text += kPrimitives[element];
        return true;
    }
  }

  bool suffixed(std::string& text, std::string_view suffix, int depth) {
    if (!type(text, depth + 1)) return false;
    text += suffix;
    return true;
  }

  std::string name_of(std::uint32_t named) const {
    std::string name = names_.type_name(named);
    return name.empty() ? "?" : name;
  }

  bool variable(std::string& text, std::span<const std::string> arguments, std::string_view sigil) {
    std::uint32_t index = 0;
    if (!number(index)) return false;
    if (index < arguments.size()) {
      text += arguments[index];
    } else {
      text += sigil;
      text += std::to_string(index);
    }
    return true;
  }

  // Reads an ArrayShape (II.23.2.13): rank, sizes, lower bounds. Only the rank is written.
  bool array(std::string& text, int depth) {
    std::uint32_t rank = 0;
    if (!type(text, depth + 1) || !number(rank) || rank == 0 || rank > kMaxRank) return false;
    for (int list = 0; list < 2; ++list) {
      std::uint32_t count = 0;
      if (!number(count) || count > rank) return false;
      for (std::uint32_t i = 0; i < count; ++i) {
        std::uint32_t ignored = 0;
        if (!number(ignored)) return false;
      }
    }
    text += '[';
    text.append(rank - 1, ',');
    text += ']';
    return true;
  }

  bool generic_instance(std::string& text, int depth) {
    std::uint8_t kind = 0;
    std::uint32_t named = 0;
    std::uint32_t count = 0;
    if (!byte(kind) || (kind != kClass && kind != kValueType)) return false;
    if (!token(named) || !number(count) || count > kMaxParameters) return false;
    std::vector<std::string> arguments;
    std::size_t bytes = 0;
    for (std::uint32_t i = 0; i < count; ++i) {
      std::string argument;
      if (!type(argument, depth + 1)) return false;
      bytes += argument.size();
      if (bytes > kMaxText) return false;
      arguments.push_back(std::move(argument));
    }
    text += with_arguments(name_of(named), arguments);
    return true;
  }

  std::span<const std::byte> bytes_;
  std::size_t at_ = 0;
  const TypeNames& names_;
  const GenericArguments& arguments_;
};

// "List`1" → "List" and 1. A name without a suffix, or with a suffix that is not a number, is left whole.
std::size_t cut_arity(std::string_view& component) {
  const auto tick = component.rfind('`');
  if (tick == std::string_view::npos) return 0;
  std::size_t arity = 0;
  const char* const last = component.data() + component.size();
  const auto [end, error] = std::from_chars(component.data() + tick + 1, last, arity);
  if (error != std::errc{} || end != last) return 0;
  component = component.substr(0, tick);
  return arity;
}

}  // namespace

std::string with_arguments(std::string_view name, std::span<const std::string> arguments) {
  std::string text;
  while (true) {
    const auto plus = name.find('+');
    std::string_view component = name.substr(0, plus);
    const std::size_t taken = std::min(cut_arity(component), arguments.size());
    text += component;
    if (taken != 0) {
      text += '<' + joined(arguments.first(taken), ", ") + '>';
      arguments = arguments.subspan(taken);
    }
    if (plus == std::string_view::npos) break;
    text += '+';
    name.remove_prefix(plus + 1);
  }
  // Arguments that belong to no component (from a compiler that counts differently) are appended rather than dropped.
  if (!arguments.empty()) text += '<' + joined(arguments, ", ") + '>';
  return text;
}

std::optional<std::string> format_parameters(std::span<const std::byte> signature,
                                             const TypeNames& names,
                                             const GenericArguments& arguments) {
  std::string text;
  if (!SignatureReader(signature, names, arguments).method(text, 0)) return std::nullopt;
  return text;
}

}  // namespace mixwalk
