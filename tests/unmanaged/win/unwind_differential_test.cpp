// Our own decoder is compared with RtlVirtualUnwind. In real images, at every step of prologues, at calls and at every
// step of epilogues, on a stack of random words, both must find the same caller.
//
// Only places where an instruction begins are used: in the middle of an instruction, Wine 8's RtlVirtualUnwind can take
// a byte for a jump that leads to itself, and never returns.

#include <gtest/gtest.h>
#include <windows.h>

#include <cstring>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "tests/support/win/child_process.h"
#include "unmanaged/step/native_run.h"
#include "unmanaged/step/pdata.h"
#include "unmanaged/step/table_unwind_step.h"
#include "unmanaged/win/context.h"
#include "unmanaged/win/guarded.h"
#include "unmanaged/win/live_memory.h"
#include "unmanaged/win/live_modules.h"
#include "unmanaged/win/rtl_unwind_step.h"
#include "unmanaged/win/utf8.h"

namespace mixwalk {
namespace {

constexpr std::size_t kStackBytes = 1 << 20;
constexpr std::size_t kRsp = kStackBytes / 4;  // frames are above it, free stack is below

// A stack of random addresses in ntdll's code, since a caller must be in code, and two copies of it, one for each
// unwinder.
class Rig {
 public:
  Rig() : stack_(kStackBytes), plain_buffer_(kStackBytes + 64), rewritten_buffer_(kStackBytes + 64),
          plain_(plain_buffer_), rewritten_(rewritten_buffer_) {
    const ModuleTable modules = read_live_modules();
    const auto ntdll = reinterpret_cast<std::uint64_t>(
        GetProcAddress(GetModuleHandleW(L"ntdll.dll"), "RtlVirtualUnwind"));
    const ModuleSpan& module = *modules.view().find(ntdll);
    const CodeRange code = module.code_around(ntdll);
    for (std::size_t i = 0; i + 8 <= kStackBytes; i += 8) {
      const std::uint64_t word =
          module.base + code.begin + 1 + random_() % (code.end - code.begin - 1);
      std::memcpy(stack_.data() + i, &word, 8);
    }
    const auto from = reinterpret_cast<std::uint64_t>(stack_.data());
    plain_.fill(GuardedReader(), from, from + kStackBytes);
    rewritten_.fill(GuardedReader(), from, from + kStackBytes);
    rewritten_.rewrite_pointers();
  }

  Registers registers(std::uint64_t rip) {
    Registers registers;
    for (auto& value : registers.general) value = random_();
    const auto stack = reinterpret_cast<std::uint64_t>(stack_.data());
    registers[Register::rsp] = stack + kRsp + (random_() % 64) * 8;
    // A frame register points to the frame. Which register that is differs, so all candidates do.
    for (const Register frame : {Register::rbp, Register::rbx, Register::rsi, Register::rdi,
                                 Register::r12, Register::r13, Register::r14, Register::r15}) {
      registers[frame] = registers.rsp() + (random_() % 64) * 16;
    }
    registers.rip = rip;
    return registers;
  }

  const StackCopy& plain() const { return plain_; }
  const StackCopy& rewritten() const { return rewritten_; }

 private:
  std::mt19937_64 random_{20261121};
  std::vector<std::byte> stack_, plain_buffer_, rewritten_buffer_;
  StackCopy plain_, rewritten_;
};

// The frames of a walk depend on the nonvolatile registers only; the values of volatile registers do not matter, and
// the two unwinders leave different values in them.
bool same_caller(const Cursor& left, const Cursor& right) {
  for (const Register r : {Register::rbx, Register::rsp, Register::rbp, Register::rsi,
                           Register::rdi, Register::r12, Register::r13, Register::r14,
                           Register::r15}) {
    if (left.registers[r] != right.registers[r]) return false;
  }
  return left.registers.rip == right.registers.rip && left.kind == right.kind;
}

struct Tally {
  std::size_t functions = 0, compared = 0, faults = 0, different = 0;
  std::string first;
  // In epilogues RtlUnwindStep asks our own decoder first, so there RtlVirtualUnwind is also asked separately.
  std::size_t in_returns = 0, returns_different = 0, in_tail_calls = 0, tail_calls_different = 0;
};

// Finds the caller by RtlVirtualUnwind alone, on a copy whose pointers were rewritten.
Cursor caller_by_system(const StackCopy& stack, const Registers& registers) {
  CONTEXT context = {};
  context.ContextFlags = CONTEXT_CONTROL | CONTEXT_INTEGER;
  set_registers(context, stack.to_copy(registers));
  DWORD64 base = 0, establisher = 0;
  RUNTIME_FUNCTION* const entry = RtlLookupFunctionEntry(registers.rip, &base, nullptr);
  void* handler_data = nullptr;
  RtlVirtualUnwind(UNW_FLAG_NHANDLER, base, registers.rip, entry, &context, &handler_data, &establisher,
                   nullptr);
  return {stack.to_target(registers_of(context)), AddressKind::return_address};
}

// Wine 8 lets the interrupted code look as if it had called these functions. Only RtlUnwindStep corrects that.
bool in_interrupting_dispatcher(std::uint64_t ip) {
  static const auto dispatchers = [] {
    const HMODULE ntdll = GetModuleHandleW(L"ntdll.dll");
    return std::array{reinterpret_cast<std::uint64_t>(GetProcAddress(ntdll, "KiUserExceptionDispatcher")),
                      reinterpret_cast<std::uint64_t>(GetProcAddress(ntdll, "KiUserApcDispatcher"))};
  }();
  DWORD64 base = 0;
  const RUNTIME_FUNCTION* entry = RtlLookupFunctionEntry(ip - 1, &base, nullptr);
  return std::ranges::any_of(dispatchers, [&](std::uint64_t dispatcher) {
    return ip == dispatcher || (entry != nullptr && base + entry->BeginAddress == dispatcher);
  });
}

// A place where an instruction of a function certainly begins; no disassembler is needed to find it.
struct Position {
  enum class Part { other, return_epilogue, tail_call_epilogue };
  std::uint32_t rva;
  AddressKind kind;
  Part part = Part::other;
};

void compare_at(Rig& rig, const ModuleView& modules, std::uint64_t image, const Position& position,
                Tally& tally) {
  const std::uint64_t ip = image + position.rva;
  const AddressKind kind = position.kind;
  static const GuardedReader code;
  if (in_interrupting_dispatcher(ip)) return;
  LiveMemory outside;
  TableUnwindStep table(modules, code, rig.plain(), outside);
  RtlUnwindStep rtl(rig.rewritten(), modules);
  const Cursor start{rig.registers(ip), kind};
  Cursor by_table = start, by_rtl = start;
  StepResult table_result = table.step(by_table, LeafRule::allowed);
  // A machine frame of random words may lead anywhere. RtlUnwindStep, whose stack is a copy, refuses a caller outside
  // the copy, while a reader of memory has no such limit.
  if (by_table.registers.rsp() > rig.plain().end()) table_result = {StepFault::unreadable_stack};
  const StepResult rtl_result = rtl.step(by_rtl, LeafRule::allowed);
  ++tally.compared;
  if (position.part != Position::Part::other && table_result.fault == StepFault::none) {
    const bool same = same_caller(by_table, caller_by_system(rig.rewritten(), start.registers));
    const bool tail_call = position.part == Position::Part::tail_call_epilogue;
    ++(tail_call ? tally.in_tail_calls : tally.in_returns);
    if (!same) ++(tail_call ? tally.tail_calls_different : tally.returns_different);
  }
  if (table_result.fault != StepFault::none && rtl_result.fault != StepFault::none) {
    ++tally.faults;
    return;
  }
  if (table_result.fault == rtl_result.fault && same_caller(by_table, by_rtl)) return;
  if (tally.different++ != 0) return;
  char text[512];
  const ModuleSpan* module = modules.find(ip);
  std::snprintf(text, sizeof text,
                "first at rva 0x%llx: fault %d/%d rip %llx/%llx rsp +%llx/+%llx rbp %llx/%llx",
                ip - (module ? module->base : 0), static_cast<int>(table_result.fault),
                static_cast<int>(rtl_result.fault), by_table.registers.rip, by_rtl.registers.rip,
                by_table.registers.rsp() - start.registers.rsp(),
                by_rtl.registers.rsp() - start.registers.rsp(),
                by_table.registers[Register::rbp], by_rtl.registers[Register::rbp]);
  tally.first = text;
  for (std::size_t i = 0; i < kGeneralRegisters; ++i) {
    if (by_table.registers.general[i] != by_rtl.registers.general[i]) {
      tally.first += " r" + std::to_string(i);
    }
  }
  if (by_table.kind != by_rtl.kind) tally.first += " kind";
}

const ModuleSpan* span_of(const ModuleView& modules, HMODULE module) {
  return modules.find(reinterpret_cast<std::uint64_t>(module));
}

class Positions {
 public:
  Positions(const ModuleSpan& module, const std::map<std::uint32_t, FunctionEntry>& functions)
      : module_(module), functions_(functions) {}

  std::vector<Position> of(const FunctionEntry& entry) {
    found_.clear();
    bytes_.resize(entry.end - entry.begin);
    if (!code_.read(module_.base + entry.begin, bytes_.data(), bytes_.size())) return {};
    add_prologue(entry);
    add_calls(entry);
    add_return(entry);
    add_tail_calls(entry);
    return found_;
  }

 private:
  // Each unwind code gives the end of the instruction that it describes.
  void add_prologue(const FunctionEntry& entry) {
    found_.push_back({entry.begin, AddressKind::instruction_pointer});
    pushes_ = 0;
    const auto header = code_.read_value<std::uint32_t>(module_.base + entry.unwind);
    if (!header || (*header & 7) > 2) return;
    const unsigned count = *header >> 16 & 0xFF;
    const unsigned version = *header & 7;
    for (unsigned slot = 0; slot < count; ++slot) {
      const auto code = code_.read_value<std::uint16_t>(module_.base + entry.unwind + 4 + slot * 2);
      if (!code) return;
      const unsigned op = *code >> 8 & 15, info = *code >> 12;
      if (op == 6 && version == 2) {
        ++slot;
        continue;
      }
      found_.push_back({entry.begin + (*code & 0xFFu), AddressKind::instruction_pointer});
      pushes_ += op == 0;
      if (op == 1) slot += info == 0 ? 1 : 2;
      if (op == 4 || op == 8) slot += 1;
      if (op == 5 || op == 9) slot += 2;
    }
  }

  // Bytes that look like a call to the start of a function are a call.
  void add_calls(const FunctionEntry& entry) {
    for (std::size_t i = 0; i + 5 <= bytes_.size(); ++i) {
      if (bytes_[i] != 0xE8) continue;
      std::int32_t offset = 0;
      std::memcpy(&offset, &bytes_[i + 1], 4);
      const std::uint32_t after = entry.begin + static_cast<std::uint32_t>(i) + 5;
      if (!functions_.contains(after + static_cast<std::uint32_t>(offset))) continue;
      // An epilogue may begin directly behind the last call. RtlVirtualUnwind executes the epilogue; our decoder undoes
      // the prologue. The results are the same on a real stack, where the slots still contain what was restored from
      // them and the frame register agrees with Rsp, but not on a stack of random words.
      if (begins_epilogue(i + 5)) continue;
      found_.push_back({after, AddressKind::return_address});
    }
  }

  bool begins_epilogue(std::size_t at) const {
    const auto byte = [&](std::size_t i) { return i < bytes_.size() ? bytes_[i] : 0; };
    const bool add_rsp = byte(at) == 0x48 && (byte(at + 1) == 0x83 || byte(at + 1) == 0x81) &&
                         byte(at + 2) == 0xC4;
    const bool lea_rsp = (byte(at) & 0xFE) == 0x48 && byte(at + 1) == 0x8D &&
                         (byte(at + 2) >> 3 & 7) == 4;
    return add_rsp || lea_rsp || (byte(at) & 0xF8) == 0x58 || byte(at) == 0x41 || byte(at) == 0xC3;
  }

  void add_return(const FunctionEntry& entry) {
    if (!bytes_.empty() && bytes_.back() == 0xC3) {
      add_epilogue(entry, bytes_.size() - 1, Position::Part::return_epilogue);
    }
  }

  // Instructions that restore the caller's stack come before a tail call. If they are missing, the bytes may be part of
  // another instruction.
  void add_tail_calls(const FunctionEntry& entry) {
    for (std::size_t i = 4; i < bytes_.size(); ++i) {
      const bool adds = bytes_[i - 4] == 0x48 && bytes_[i - 3] == 0x83 && bytes_[i - 2] == 0xC4;
      const bool restores = pushes_ == 0 ? adds : (bytes_[i - 1] & 0xF8) == 0x58;
      if (!restores) continue;
      if (is_jump_through_register(i) || is_jump_to_function(entry, i) || is_jump_through_slot(i)) {
        add_epilogue(entry, i, Position::Part::tail_call_epilogue);
      }
    }
  }

  std::uint8_t byte(std::size_t at) const { return at < bytes_.size() ? bytes_[at] : 0; }

  // Recognises rex.w jmp [reg].
  bool is_jump_through_register(std::size_t at) const {
    return (byte(at) & 0xFE) == 0x48 && byte(at + 1) == 0xFF && (byte(at + 2) & 0xF8) == 0x20 &&
           (byte(at + 2) & 7) < 4;
  }
  // Recognises jmp [rip + disp32], usually with rex.w.
  bool is_jump_through_slot(std::size_t at) const {
    if (byte(at) == 0x48) ++at;
    return byte(at) == 0xFF && byte(at + 1) == 0x25;
  }
  // Recognises jmp rel32 to the start of another function.
  bool is_jump_to_function(const FunctionEntry& entry, std::size_t at) const {
    if (byte(at) != 0xE9 || at + 5 > bytes_.size()) return false;
    std::int32_t offset = 0;
    std::memcpy(&offset, &bytes_[at + 1], 4);
    const std::uint32_t target =
        entry.begin + static_cast<std::uint32_t>(at) + 5 + static_cast<std::uint32_t>(offset);
    return target != entry.begin && functions_.contains(target);
  }

  // Adds an epilogue whose last instruction is at `at`. It pops the registers that the prologue pushed; before that it
  // moves Rsp.
  void add_epilogue(const FunctionEntry& entry, std::size_t at, Position::Part part) {
    const auto add = [&] {
      found_.push_back({entry.begin + static_cast<std::uint32_t>(at),
                        AddressKind::instruction_pointer, part});
    };
    add();
    for (unsigned pop = 0; pop < pushes_ && at != 0 && (bytes_[at - 1] & 0xF8) == 0x58; ++pop) {
      at -= at >= 2 && bytes_[at - 2] == 0x41 ? 2 : 1;
      add();
    }
    const auto is_add_rsp = [&](std::size_t length, std::uint8_t opcode) {
      return at >= length && bytes_[at - length] == 0x48 && bytes_[at - length + 1] == opcode &&
             bytes_[at - length + 2] == 0xC4;
    };
    if (is_add_rsp(4, 0x83)) {
      at -= 4;
      add();
    } else if (is_add_rsp(7, 0x81)) {
      at -= 7;
      add();
    }
  }

  const ModuleSpan& module_;
  const std::map<std::uint32_t, FunctionEntry>& functions_;
  const GuardedReader code_;
  std::vector<std::uint8_t> bytes_;
  std::vector<Position> found_;
  unsigned pushes_ = 0;
};

Tally compare_image(Rig& rig, const ModuleView& modules, const ModuleSpan& module) {
  const GuardedReader code;
  std::map<std::uint32_t, FunctionEntry> functions;
  for (std::uint32_t i = 0; i < module.pdata_count; ++i) {
    const auto entry = code.read_value<FunctionEntry>(module.base + module.pdata_rva + i * 12ull);
    if (entry && entry->begin < entry->end) functions[entry->begin] = *entry;
  }
  Tally tally;
  Positions positions(module, functions);
  for (const auto& [begin, entry] : functions) {
    ++tally.functions;
    for (const Position& position : positions.of(entry)) {
      compare_at(rig, modules, module.base, position, tally);
    }
  }
  return tally;
}

class UnwindDifferential : public testing::TestWithParam<const char*> {};

TEST_P(UnwindDifferential, SameCallerEverywhere) {
  std::string name = GetParam();
  if (name.starts_with("fixture:")) name = fixture(name.substr(8));
  // The image is loaded only to read its code, so DllMain is not run.
  const HMODULE module = GetModuleHandleW(to_utf16(name).c_str()) != nullptr
                             ? GetModuleHandleW(to_utf16(name).c_str())
                             : LoadLibraryExW(to_utf16(name).c_str(), nullptr,
                                              DONT_RESOLVE_DLL_REFERENCES);
  ASSERT_NE(module, nullptr) << name;
  const ModuleTable table = read_live_modules();
  const ModuleView modules = table.view();
  const ModuleSpan* span = span_of(modules, module);
  ASSERT_NE(span, nullptr);
  Rig rig;
  const Tally tally = compare_image(rig, modules, *span);
  std::printf("%s: %zu functions, %zu positions, %zu faults in both, %zu different\n", GetParam(),
              tally.functions, tally.compared, tally.faults, tally.different);
  EXPECT_GT(tally.compared, 200u);
  EXPECT_LT(tally.faults * 10, tally.compared) << "then too little was compared";
  EXPECT_EQ(tally.different, 0u) << tally.first;
  // Wine 8's RtlVirtualUnwind does not recognise tail calls, so its answers there are only printed.
  std::printf("  RtlVirtualUnwind: %zu of %zu different in epilogues of returns, %zu of %zu in those of tail calls\n",
              tally.returns_different, tally.in_returns, tally.tail_calls_different, tally.in_tail_calls);
  EXPECT_EQ(tally.returns_different, 0u);
}

INSTANTIATE_TEST_SUITE_P(Images, UnwindDifferential,
                         testing::Values("ntdll.dll", "kernelbase.dll", "ole32.dll", "rpcrt4.dll",
                                         "fixture:coreclr.dll", "fixture:clrjit.dll",
                                         "fixture:e_sqlite3.dll", "fixture:ladder_native.dll",
                                         "fixture:System.Private.CoreLib.dll"));

// An image made by the test, of functions that take this many bytes of stack and do nothing else.
class MadeImage {
 public:
  static constexpr std::uint32_t kBytes = 0x3000, kPdata = 0x1000, kUnwind = 0x2000;

  explicit MadeImage(std::uint32_t entries)
      : bytes_(static_cast<std::uint8_t*>(
            VirtualAlloc(nullptr, kBytes, MEM_COMMIT | MEM_RESERVE, PAGE_EXECUTE_READWRITE))),
        span_{.base = reinterpret_cast<std::uint64_t>(bytes_),
              .size = kBytes,
              .pdata_rva = kPdata,
              .pdata_count = entries} {
    std::memset(bytes_, 0x90, kPdata);
  }
  ~MadeImage() { VirtualFree(bytes_, 0, MEM_RELEASE); }

  void put_function(std::uint32_t place, std::uint32_t begin, std::uint32_t end,
                    unsigned frame_bytes) {
    const std::uint32_t unwind = kUnwind + place * 8;
    const std::uint32_t entry[] = {begin, end, unwind};
    std::memcpy(bytes_ + kPdata + place * sizeof entry, entry, sizeof entry);
    // The prologue is sub rsp, frame_bytes: alloc_small.
    const std::uint8_t info[] = {1, 4, 1, 0, 4,
                                 static_cast<std::uint8_t>((frame_bytes / 8 - 1) << 4 | 2)};
    std::memcpy(bytes_ + unwind, info, sizeof info);
  }
  void close() {
    DWORD before = 0;
    VirtualProtect(bytes_ + kUnwind, kBytes - kUnwind, PAGE_NOACCESS, &before);
  }
  void put_code(std::uint32_t at, std::initializer_list<std::uint8_t> code) {
    std::copy(code.begin(), code.end(), bytes_ + at);
  }
  bool register_function(std::uint32_t place) {
    return RtlAddFunctionTable(entry(place), 1, span_.base);
  }
  void unregister_function(std::uint32_t place) { RtlDeleteFunctionTable(entry(place)); }
  void start_threads() { span_.starts_threads = true; }
  const ModuleSpan& span() const { return span_; }

 private:
  RUNTIME_FUNCTION* entry(std::uint32_t place) {
    return reinterpret_cast<RUNTIME_FUNCTION*>(bytes_ + kPdata) + place;
  }

  std::uint8_t* bytes_;
  ModuleSpan span_;
};

class MadeImageTest : public testing::Test {
 protected:
  MadeImageTest() {
    for (std::size_t i = 0; i < words_.size(); ++i) words_[i] = image_.span().base + 0x100 + i;
  }

  // Makes one step from the middle of the image, on a stack of return addresses into the image.
  StepResult step() {
    const auto from = reinterpret_cast<std::uint64_t>(words_.data());
    std::vector<std::byte> buffer(1024);
    StackCopy stack(buffer);
    stack.fill(GuardedReader(), from, from + words_.size() * 8);
    stack.rewrite_pointers();
    RtlUnwindStep rtl(stack, modules_, {&hints_});
    Cursor frame;
    frame.registers[Register::rsp] = from;
    frame.registers.rip = image_.span().base + 0x280;
    const StepResult result = rtl.step(frame, LeafRule::allowed);
    moved_ = frame.registers.rsp() - from;
    return result;
  }

  MadeImage image_{2};
  ModuleView modules_{{&image_.span(), 1}};
  EntryHints hints_;
  std::vector<std::uint64_t> words_ = std::vector<std::uint64_t>(64);  // the stack
  std::uint64_t moved_ = 0;
};

// Situation: images take turns at one base while threads are walked with the hints of earlier walks.
TEST_F(MadeImageTest, AnotherOneTakesItsPlace) {
  image_.put_function(0, 0x100, 0x200, 0x10);
  image_.put_function(1, 0x200, 0x300, 0x20);
  ASSERT_EQ(step().fault, StepFault::none);
  EXPECT_EQ(moved_, 0x28u);
  image_.put_function(0, 0x200, 0x300, 0x40);
  image_.put_function(1, 0x300, 0x400, 0x10);
  ASSERT_EQ(step().fault, StepFault::none);
  EXPECT_EQ(moved_, 0x48u);
}

TEST_F(MadeImageTest, SameFunctionWithOtherUnwindData) {
  image_.put_function(0, 0x100, 0x200, 0x10);
  image_.put_function(1, 0x200, 0x300, 0x20);
  ASSERT_EQ(step().fault, StepFault::none);
  image_.put_function(1, 0x200, 0x300, 0x30);
  ASSERT_EQ(step().fault, StepFault::none);
  EXPECT_EQ(moved_, 0x38u);
}

TEST_F(MadeImageTest, UnwindDataThatIsNoLongerThere) {
  image_.put_function(0, 0x100, 0x200, 0x10);
  image_.put_function(1, 0x200, 0x300, 0x20);
  ASSERT_EQ(step().fault, StepFault::none);
  image_.close();
  EXPECT_EQ(step().fault, StepFault::unreadable_unwind);
}

// Situation: at a stack's base, a word of the program's own is zero, and a wrong step takes this word for the return
// address. Real case: a stack of one managed frame that was called whole.
TEST_F(MadeImageTest, OnlyAFrameInALibraryOfTheSystemIsARoot) {
  image_.put_function(0, 0x100, 0x200, 0x10);
  image_.put_function(1, 0x200, 0x300, 0x20);
  words_.assign(64, 0);
  EXPECT_EQ(step().fault, StepFault::ended_early);
  image_.start_threads();
  EXPECT_EQ(step().fault, StepFault::none);
}

// Jitted code also makes tail calls.
TEST_F(MadeImageTest, TailCallOutsideTheImages) {
  image_.put_function(0, 0x100, 0x300, 0x10);
  image_.put_code(0x280, {0x48, 0xFF, 0xE0});  // rex.w jmp rax
  modules_ = {};
  // A caller outside the images is behind a call.
  words_.assign(64, image_.span().base + 0x150);
  image_.put_code(0x14E, {0xFF, 0xD0});  // call rax
  ASSERT_TRUE(image_.register_function(0));
  const StepResult result = step();
  image_.unregister_function(0);
  EXPECT_EQ(result.fault, StepFault::none);
  EXPECT_EQ(moved_, 8u);
}

// A real stack that both unwinders walk from the same registers.
struct Walked {
  std::vector<RunFrame> table, rtl;
};
Walked g_walked;

void walk_here() {
  CONTEXT context;
  RtlCaptureContext(&context);
  const auto* tib = reinterpret_cast<const NT_TIB*>(NtCurrentTeb());
  static std::vector<std::byte> plain_buffer(1 << 20), rewritten_buffer(1 << 20);
  StackCopy plain(plain_buffer), rewritten(rewritten_buffer);
  const Cursor start{registers_of(context)};
  const auto base = reinterpret_cast<std::uint64_t>(tib->StackBase);
  plain.fill(GuardedReader(), start.registers.rsp(), base);
  rewritten.fill(GuardedReader(), start.registers.rsp(), base);
  rewritten.rewrite_pointers();
  const ModuleTable modules = read_live_modules();
  const ModuleView view = modules.view();
  const GuardedReader code;
  LiveMemory outside;
  TableUnwindStep table(view, code, plain, outside);
  RtlUnwindStep rtl(rewritten, view);
  const auto walk = [&](UnwindStep& step, std::vector<RunFrame>& frames) {
    frames.resize(4096);
    const RunResult run = walk_native_run(start, Trust::context, {}, step, frames);
    frames.resize(run.frames);
    EXPECT_EQ(run.end, RunEnd::root) << static_cast<int>(run.why);
  };
  walk(table, g_walked.table);
  walk(rtl, g_walked.rtl);
}

void expect_same_walk(std::size_t at_least) {
  ASSERT_GE(g_walked.rtl.size(), at_least);
  ASSERT_EQ(g_walked.table.size(), g_walked.rtl.size());
  for (std::size_t i = 0; i < g_walked.rtl.size(); ++i) {
    EXPECT_EQ(g_walked.table[i].address, g_walked.rtl[i].address) << i;
    EXPECT_EQ(g_walked.table[i].stack_pointer, g_walked.rtl[i].stack_pointer) << i;
    if (i != 0 && in_interrupting_dispatcher(g_walked.rtl[i - 1].address)) continue;
    EXPECT_EQ(g_walked.table[i].kind, g_walked.rtl[i].kind) << i;
  }
}

[[gnu::noinline]] int recurse(int depth) {
  volatile char memory[100];
  memory[0] = static_cast<char>(depth);
  if (depth == 0) {
    walk_here();
    return memory[0];
  }
  return recurse(depth - 1) + memory[0];
}

TEST(RealStack, DeepRecursion) {
  recurse(300);
  expect_same_walk(300);
}

int walk_while_comparing(const void*, const void*) {
  walk_here();
  return 0;
}

TEST(RealStack, CalledBackBySystemCode) {
  int values[] = {2, 1};
  qsort(values, 2, sizeof values[0], &walk_while_comparing);
  expect_same_walk(4);
}

// This function has a frame of 0x5008 bytes and nothing else. In its unwind data, the size looks like a machine frame.
extern "C" void with_large_frame(void (*function)());
asm(R"(
    .seh_proc with_large_frame
    .globl with_large_frame
with_large_frame:
    subq $0x5008, %rsp
    .seh_stackalloc 0x5008
    .seh_endprologue
    callq *%rcx
    addq $0x5008, %rsp
    retq
    .seh_endproc
)");

[[gnu::noinline]] void commit_stack() {
  volatile char room[0x10000];
  for (std::size_t at = sizeof room; at >= 0x1000; at -= 0x1000) room[at - 1] = 0;
}

TEST(RealStack, SizeOfAFrameThatLooksLikeAMachineFrame) {
  commit_stack();  // with_large_frame does not probe the stack
  with_large_frame(&walk_here);
  expect_same_walk(4);
}

// Like coreclr's OnHijackTripThread: it pushes its caller's Rsp behind the return address, and its unwind data
// describes neither word.
extern "C" void with_saved_rsp(void (*function)());
asm(R"(
    .seh_proc with_saved_rsp
    .globl with_saved_rsp
with_saved_rsp:
    popq %rax
    movq %rsp, %rdx
    pushq %rax
    pushq %rdx
    pushq %rbx
    .seh_pushreg %rbx
    subq $0x28, %rsp
    .seh_stackalloc 0x28
    .seh_endprologue
    callq *%rcx
    addq $0x28, %rsp
    popq %rbx
    popq %rdx
    retq
    .seh_endproc
)");

TEST(RealStack, SavedRspBehindTheReturnAddress) {
  with_saved_rsp(&walk_here);
  expect_same_walk(4);
}

LONG CALLBACK walk_while_dispatching(EXCEPTION_POINTERS* exception) {
  if (exception->ExceptionRecord->ExceptionCode != EXCEPTION_ILLEGAL_INSTRUCTION) {
    return EXCEPTION_CONTINUE_SEARCH;
  }
  walk_here();
  exception->ContextRecord->Rip += 2;  // ud2
  return EXCEPTION_CONTINUE_EXECUTION;
}

TEST(RealStack, ThroughTheMachineFrameOfAnException) {
  void* handler = AddVectoredExceptionHandler(1, &walk_while_dispatching);
  asm volatile("ud2" ::: "memory");
  RemoveVectoredExceptionHandler(handler);
  expect_same_walk(5);
}

// Makes a step from the first instruction of the dispatcher, where the system has put `context` at Rsp.
StepResult step_from_dispatcher(const CONTEXT& context, Cursor& frame) {
  const auto* tib = reinterpret_cast<const NT_TIB*>(NtCurrentTeb());
  static std::vector<std::byte> buffer(1 << 20);
  StackCopy stack(buffer);
  frame.registers[Register::rsp] = reinterpret_cast<std::uint64_t>(&context);
  frame.registers.rip = reinterpret_cast<std::uint64_t>(
      GetProcAddress(GetModuleHandleW(L"ntdll.dll"), "KiUserExceptionDispatcher"));
  stack.fill(GuardedReader(), frame.registers.rsp(), reinterpret_cast<std::uint64_t>(tib->StackBase));
  stack.rewrite_pointers();
  const ModuleTable modules = read_live_modules();
  const ModuleView view = modules.view();
  return RtlUnwindStep(stack, view).step(frame, LeafRule::allowed);
}

struct Interrupted {
  CONTEXT context;
  Cursor caller;
  StepFault fault;
};
Interrupted g_interrupted;

LONG CALLBACK step_while_dispatching(EXCEPTION_POINTERS* exception) {
  if (exception->ExceptionRecord->ExceptionCode != EXCEPTION_ILLEGAL_INSTRUCTION) {
    return EXCEPTION_CONTINUE_SEARCH;
  }
  CONTEXT& context = *exception->ContextRecord;
  g_interrupted.context = context;
  g_interrupted.fault = step_from_dispatcher(context, g_interrupted.caller).fault;
  context.Rip += 2;  // ud2
  return EXCEPTION_CONTINUE_EXECUTION;
}

TEST(RealStack, InterruptedByAnExceptionThatIsNotDispatchedYet) {
  void* handler = AddVectoredExceptionHandler(1, &step_while_dispatching);
  asm volatile("ud2" ::: "memory");
  RemoveVectoredExceptionHandler(handler);
  EXPECT_EQ(g_interrupted.fault, StepFault::none);
  EXPECT_EQ(g_interrupted.caller.registers, registers_of(g_interrupted.context));
  EXPECT_EQ(g_interrupted.caller.kind, AddressKind::instruction_pointer);
}

}  // namespace
}  // namespace mixwalk
