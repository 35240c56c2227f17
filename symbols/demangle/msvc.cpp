#include <algorithm>
#include <array>
#include <cstdlib>
#include <memory>

#include "symbols/demangle/demangle.h"
#include "symbols/demangle/limited_output.h"
//
#include "llvm/Demangle/MicrosoftDemangle.h"

namespace mixwalk {
namespace {

// Microsoft's compiler writes no longer names: it puts a checksum in their place.
constexpr std::size_t kMaxMsvc = 4096;
// LLVM's demangler calls itself for each template in a template, and takes some 2 KB of the stack for that.
constexpr std::size_t kMaxTemplates = 200;

std::size_t count(std::string_view text, std::string_view part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != text.npos; at = text.find(part, at + part.size())) ++found;
  return found;
}

// Where the name of a function begins that contains something ("`private: int __cdecl Foo::g(int)'::..."): behind its
// return type and its calling convention. `text` begins behind the '`'.
std::size_t name_of_scope(std::string_view text) {
  constexpr std::string_view kConvention = " __cdecl ";
  constexpr std::string_view kOthers = "`'(<", kAuto = "<auto>";  // the type that a lambda returns
  std::size_t end = text.find_first_of(kOthers);
  if (end != text.npos && text.substr(end).starts_with(kAuto)) end = text.find_first_of(kOthers, end + kAuto.size());
  const std::size_t at = text.substr(0, end).find(kConvention);
  return at == text.npos ? 0 : at + kConvention.size();
}

// Leaves out what UnDecorateSymbolName writes only if it is asked for more than the name and its parameters.
std::string name_only(std::string_view text) {
  constexpr std::array<std::string_view, 4> kKinds = {"class ", "struct ", "union ", "enum "};
  std::string brief;
  for (bool begins_word = true; !text.empty();) {
    const auto kind = std::ranges::find_if(kKinds, [&](std::string_view word) { return text.starts_with(word); });
    if (begins_word && kind != kKinds.end()) {
      text.remove_prefix(kind->size());
      continue;
    }
    if (text.starts_with("(void)")) {
      brief += "()";
      text.remove_prefix(6);
      continue;
    }
    const char c = text.front();
    begins_word = std::string_view(" <(,`").find(c) != std::string_view::npos;
    brief += c;
    text.remove_prefix(1);
    if (c == '`') text.remove_prefix(name_of_scope(text));
  }
  return brief;
}

namespace msvc = llvm::ms_demangle;

// Returns null if the text is not such a name. The result is valid as long as `demangler`.
const msvc::SymbolNode* parse(msvc::Demangler& demangler, std::string_view name) {
  // A string literal has no name.
  if (name.size() > kMaxMsvc || count(name, "?$") > kMaxTemplates || name.starts_with("??_C")) return nullptr;
  const msvc::SymbolNode* const symbol = demangler.parse(name);
  const bool whole = name.empty() || name == "@";  // behind some tables of virtual bases
  return demangler.Error || symbol == nullptr || symbol->Name == nullptr || !whole ? nullptr : symbol;
}

// The text of a name; empty if it cannot be read.
std::string read(std::string_view name) {
  msvc::Demangler demangler;
  const msvc::SymbolNode* const symbol = parse(demangler, name);
  if (symbol == nullptr) return {};
  llvm::itanium_demangle::OutputBuffer text;
  symbol->Name->output(text, msvc::OF_Default);
  if (symbol->kind() == msvc::NodeKind::FunctionSymbol) {
    msvc::FunctionSignatureNode* const signature = static_cast<const msvc::FunctionSymbolNode*>(symbol)->Signature;
    signature->ReturnType = nullptr;  // its right part would be written behind the parameters
    signature->outputPost(text, msvc::OF_Default);
  }
  const std::unique_ptr<char, void (*)(void*)> owner(text.getBuffer(), std::free);
  return name_only(text);
}

// Whether a type has the name of an anonymous namespace: a back reference was taken for another one.
bool names_type_after_namespace(std::string_view text) {
  constexpr std::string_view kName = "`anonymous namespace'";
  for (std::size_t at = text.find(kName); at != text.npos; at = text.find(kName, at + 1)) {
    if (!text.substr(at + kName.size()).starts_with("::")) return true;
  }
  return false;
}

}  // namespace

bool is_msvc_function(std::string_view name) {
  msvc::Demangler demangler;
  const msvc::SymbolNode* const symbol = parse(demangler, name);
  return symbol != nullptr && symbol->kind() == msvc::NodeKind::FunctionSymbol;
}

std::string demangle_msvc(std::string_view name) {
  // clang writes an anonymous namespace again where MSVC refers back to it.
  constexpr std::string_view kNamespace = "?A0x";
  bool& counts = msvc_counts_namespaces();
  counts = count(name, kNamespace) < 2;
  std::string text = read(name);
  if (counts && names_type_after_namespace(text)) {
    counts = false;
    text = read(name);
  }
  counts = true;
  return names_type_after_namespace(text) ? std::string() : text;
}

}  // namespace mixwalk
