#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "symbols/calls/call_check.h"
#include "symbols/calls/call_sites.h"
#include "symbols/calls/disassembler.h"
#include "symbols/symboliser.h"

namespace mixwalk {

// Checks the calls of native frames in the files of their images: whether the instruction before a frame's return
// address is a call, and whether that call leads to the frame above. Not frozen-safe; one thread at a time.
//
// A call is followed to its code by its displacement, or by the import in its slot: to the export that has the import's
// name, and on through forwarders; for slots of delayed loads also to the code that loads the DLL. From there it is
// followed through jumps only: thunks, tail calls, a function's further parts.
//
// No true frame may be marked. So a call leads `elsewhere` only if every function that it can lead to is known, and all
// of these functions and the frame above are in one image. If the program or the system has patched something (hooks of
// functions, replaced imports), the call leads to another image. Only the system knows which DLL an API set stands for,
// so a function of an API set is looked for in the image of the frame above, and proves nothing if it is not there.
class CallChecker {
 public:
  static constexpr std::size_t kNoImage = SIZE_MAX;

  // `images` are those of the process. A frame's image is an index into them.
  CallChecker(Symboliser& symboliser, std::vector<LoadedImage> images);
  ~CallChecker();

  // The frame above the frame that is checked.
  struct Callee {
    std::size_t image = kNoImage;
    CodeAddress code;
  };
  struct Answer {
    CallCheck check = CallCheck::unchecked;
    // The demangled name of the import through which the call goes, if the call leads to the callee. Also given if the
    // callee's file cannot be read and the name of the callee's image is that in the import; then it is not known
    // whether a jump lies between. Empty if there is no such import, or if the import is an ordinal.
    std::string import;
    bool tail_call = false;  // the import's function is not the callee itself, but jumps on to it
    std::optional<std::uint64_t>
        import_displacement;  // of the callee's address; nothing if its start is unknown or lies behind it
  };
  // `callee` is null if it is not known.
  Answer check(std::size_t image, std::uint64_t return_address, const Callee* callee);

  // Returns the call before a return address: "0x6ff: call qword ptr [rip + 0x20]  ; KERNEL32.dll!Sleep". The result is
  // empty if there is no call, or if several instructions are possible and it is not certain which one it is.
  std::string call_text(std::size_t image, std::uint64_t return_address);

 private:
  struct Image;   // an image that was opened
  struct Search;  // the search from one call to the callee
  struct Function {
    std::size_t image;
    std::uint32_t begin;
    auto operator<=>(const Function&) const = default;
  };
  struct Question {
    Function caller, callee;  // the RVA of the caller is the return address
    auto operator<=>(const Question&) const = default;
  };
  struct Known {
    CallCheck check = CallCheck::unchecked;
    std::string import;
    bool tail_call = false;
    std::optional<std::uint32_t> import_start;  // RVA
  };

  Image& opened(std::size_t image);
  std::size_t image_named(std::string_view name, std::size_t rather) const;
  Known ask(std::size_t image, std::uint32_t return_rva, const Callee& callee);
  Known follow(std::size_t image, const FlowInstruction& call, const Callee& callee);
  std::string place(std::size_t image, std::uint64_t rva);
  std::string make_text(std::size_t image, std::uint32_t return_rva);

  Symboliser& symboliser_;
  std::vector<LoadedImage> images_;
  std::unordered_multimap<std::string, std::size_t> by_name_;  // file name in lower case
  std::map<std::size_t, std::unique_ptr<Image>> opened_;
  std::map<Question, Known> known_;
  std::map<Function, std::string> texts_;  // by return address, `begin`
  Disassembler disassembler_;
};

}  // namespace mixwalk
