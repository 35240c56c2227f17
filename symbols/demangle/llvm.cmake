# LLVM's demanglers, of which no package has a build for mingw-w64: those for Microsoft's names and for Rust's.
# itanium.cpp contains the one for Itanium's names, which is a header. (tests/tools/install fetches the source.)
# Target: mixwalk_llvm_demangle.
set(mixwalk_llvm ${MIXWALK_LLVM})
if(NOT EXISTS ${mixwalk_llvm}/lib/Demangle/RustDemangle.cpp)
  message(FATAL_ERROR "missing: the source of LLVM's demanglers (tests/run fetches it)")
endif()

# LLVM reads a part of MSVC's names wrongly, and others not at all. These changes are made to a copy of its source. Each
# must fit: if LLVM's source becomes another one, the configuration fails here.
file(READ ${mixwalk_llvm}/lib/Demangle/MicrosoftDemangle.cpp mixwalk_msvc_source)
function(mixwalk_change_llvm from to)
  string(FIND "${mixwalk_msvc_source}" "${from}" at)
  if(at EQUAL -1)
    message(FATAL_ERROR "LLVM's demangler has changed; this is not in MicrosoftDemangle.cpp: ${from}")
  endif()
  string(REPLACE "${from}" "${to}" changed "${mixwalk_msvc_source}")
  set(mixwalk_msvc_source "${changed}" PARENT_SCOPE)
endfunction()
# An anonymous namespace, as a back reference means it (MSVC), or does not count it (clang).
mixwalk_change_llvm("memorizeString(NamespaceKey)" "if (mixwalk::msvc_counts_namespaces()) memorizeString(Node->Name)")
# Functions of C++/CLI: $$F of managed code, $$H of native code that managed code calls.
mixwalk_change_llvm([[if (consumeFront(MangledName, "$$J0"))]]
                    [[if (!consumeFront(MangledName, "$$F")) consumeFront(MangledName, "$$H");
  if (consumeFront(MangledName, "$$J0"))]])
# The explicit object parameter of C++23, which comes first.
mixwalk_change_llvm([[    size_t OldSize = MangledName.size();

    *Current = Arena.alloc<NodeList>();]]
                    [[    consumeFront(MangledName, "_V");
    size_t OldSize = MangledName.size();

    *Current = Arena.alloc<NodeList>();]])
# Template arguments that are values of classes (C++20): $2, the class and its fields. A field is a type and a scalar,
# or another class, or an array: 3, the type of its elements and the elements, each with "@" behind it.
mixwalk_change_llvm([[    } else if (consumeFront(MangledName, "$0", "0", !IsAutoNTTP)) {]]
                    [[    } else if (consumeFront(MangledName, "$2", "2", !IsAutoNTTP)) {
      const auto Type = [&]() -> std::string {
        if (MangledName.empty()) return Error = true, std::string();
        const bool Qualified = consumeFront(MangledName, "$$C");
        TypeNode *T = demangleType(MangledName, Qualified ? QualifierMangleMode::Mangle : QualifierMangleMode::Drop);
        Error = Error || T == nullptr;
        return Error ? std::string() : T->toString(OF_NoTagSpecifier);
      };
      const auto Value = [&](auto &Self, bool IsElement) -> std::string {
        mixwalk::DemangleWork::add(16);
        const mixwalk::DemangleDepth Depth;
        if (Error) return std::string();
        const bool IsClass = consumeFront(MangledName, '2');
        if (IsClass || consumeFront(MangledName, '3')) {
          const std::string Name = Type();
          std::string Text = (IsClass ? Name : std::string()) + "{";
          for (const char *Separator = ""; !Error && !consumeFront(MangledName, '@'); Separator = ", ") {
            Text += Separator + Self(Self, !IsClass);
            if (!IsClass) Error = Error || !consumeFront(MangledName, '@');
          }
          return Text + "}";
        }
        if (!IsElement) (void)Type();
        if (consumeFront(MangledName, '0')) {
          const auto [Number, IsNegative] = demangleNumber(MangledName);
          return (IsNegative ? "-" : "") + std::to_string(Number);
        }
        if (!Error && (consumeFront(MangledName, '1') || consumeFront(MangledName, 'E'))) {
          const SymbolNode *S = parse(MangledName);
          if (!Error && S != nullptr && S->Name != nullptr) return "&" + S->Name->toString();
        }
        Error = true;
        return {};
      };
      MangledName = {MangledName.data() - 1, MangledName.size() + 1};  // back to the 2
      NamedIdentifierNode *Identifier = Arena.alloc<NamedIdentifierNode>();
      TP.N = Identifier;
      Identifier->Name = copyString(Value(Value, true));
    } else if (consumeFront(MangledName, "$0", "0", !IsAutoNTTP)) {]])
file(WRITE ${CMAKE_BINARY_DIR}/llvm/changed.cpp "${mixwalk_msvc_source}")
set(mixwalk_msvc_source ${CMAKE_BINARY_DIR}/llvm/MicrosoftDemangle.cpp)
configure_file(${CMAKE_BINARY_DIR}/llvm/changed.cpp ${mixwalk_msvc_source} COPYONLY)  # only if it differs

add_library(mixwalk_llvm_demangle STATIC
  ${mixwalk_msvc_source}
  ${mixwalk_llvm}/lib/Demangle/MicrosoftDemangleNodes.cpp
  ${mixwalk_llvm}/lib/Demangle/RustDemangle.cpp)
target_include_directories(mixwalk_llvm_demangle SYSTEM PUBLIC ${mixwalk_llvm}/include)
# Its warnings are not corrected here.
target_compile_options(mixwalk_llvm_demangle PRIVATE -w ${MIXWALK_SMALL_OPTIONS} ${MIXWALK_SHIPPED_OPTIONS}
                       -include ${CMAKE_CURRENT_SOURCE_DIR}/demangle/limited_output.h)
