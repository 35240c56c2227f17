#include "tests/builders/hang_builder.h"

#include <algorithm>
#include <stdexcept>

namespace mixwalk::test {
namespace {

constexpr std::uint64_t kImageBytes = 0x100'0000;

std::vector<std::string> with(std::vector<std::string> frames, std::initializer_list<const char*> more) {
  frames.insert(frames.end(), more.begin(), more.end());
  return frames;
}

}  // namespace

HangBuilder::HangBuilder(std::uint64_t unix_time_ms) {
  snapshot_.tool_version = "0.0.0";
  snapshot_.unix_time_ms = unix_time_ms;
  snapshot_.process = {4711, "C:\\orders\\orders.exe", "orders.exe"};
  snapshot_.runtime = {".NET", 10, 0, 12, 0};
  std::uint64_t base = 0x1'8000'0000;
  for (const char* const name :
       {"ntdll", "kernel32", "kernelbase", "win32u", "user32", "ws2_32", "combase", "rpcrt4", "coreclr", "clrjit"}) {
    snapshot_.modules.push_back({base, kImageBytes, 0, "C:\\Windows\\System32\\" + std::string(name) + ".dll"});
    base += kImageBytes;
  }
  snapshot_.modules.push_back({base, kImageBytes, 0, "C:\\orders\\orders_native.dll"});
  for (const char* const name : {"mswsock", "wsock32", "ole32", "shell32", "dnsapi"}) {
    base += kImageBytes;
    snapshot_.modules.push_back({base, kImageBytes, 0, "C:\\Windows\\System32\\" + std::string(name) + ".dll"});
  }
  snapshot_.modules.push_back({base + kImageBytes, kImageBytes, 0, "C:\\Program Files\\Watcher\\watcher.dll"});
}

Frame HangBuilder::frame(std::string_view text, bool leaf) {
  Frame frame;
  frame.address_kind = leaf ? AddressKind::instruction_pointer : AddressKind::return_address;
  // Equal texts get equal addresses.
  std::uint64_t hash = 7;
  for (const char c : text) hash = hash * 31 + static_cast<unsigned char>(c);
  const std::uint64_t place = hash % (kImageBytes - 1) + 1;
  if (text == "gap") {
    frame.kind = FrameKind::gap;
  } else if (text.starts_with("M ")) {
    frame.kind = FrameKind::managed;
    frame.name = text.substr(2);
    frame.address = 0x7'0000'0000 + place;
    frame.function = frame.address & ~std::uint64_t{0xF};
  } else if (text.starts_with("P ") || text.starts_with("C ")) {
    frame.kind = FrameKind::stub;
    frame.name = text[0] == 'P' ? "IL_STUB_PInvoke" : "IL_STUB_CLRtoCOM";
    frame.target = text.substr(2);
    frame.address = 0x6'0000'0000 + place;
  } else if (text == "code") {
    frame.address = 0x5'0000'0000 + place;
  } else {
    const std::size_t at = text.find('!');
    const std::string image(text.substr(0, at));
    const auto module = std::ranges::find_if(snapshot_.modules, [&](const Module& known) {
      return known.path.find("\\" + image + ".dll") != std::string::npos;
    });
    if (module == snapshot_.modules.end()) throw std::invalid_argument("no image of this name: " + image);
    frame.module = static_cast<std::int32_t>(module - snapshot_.modules.begin());
    frame.name = text.substr(at + 1);
    frame.symbol = frame.name.empty()               ? SymbolKind::none
                   : frame.name.starts_with("sub_") ? SymbolKind::function_table
                                                    : SymbolKind::pdb;
    frame.address = module->base + place;
  }
  return frame;
}

HangBuilder& HangBuilder::thread(std::uint32_t os_id, const std::vector<std::string>& frames, std::string name) {
  Thread& thread = snapshot_.threads.emplace_back();
  thread.os_id = os_id;
  thread.name = std::move(name);
  for (const std::string& text : frames) {
    Frame made = frame(text, thread.stack.frames.empty());
    thread.stack.frames.push_back(std::move(made));
    if (text.starts_with("M ")) thread.clr_id = 0x1000 + os_id;
  }
  return *this;
}

HangBuilder& HangBuilder::cpu(std::uint64_t milliseconds) {
  last().cpu = milliseconds * 10'000;
  return *this;
}

HangBuilder& HangBuilder::monitor(std::uint64_t address, std::uint32_t owner,
                                  const std::vector<std::uint32_t>& waiters) {
  Lock lock{.address = address, .type = "System.Object", .owner = owner, .held = owner != 0, .waiters = {}};
  for (const std::uint32_t id : waiters) lock.waiters.push_back({id, false});
  return this->lock(std::move(lock));
}

HangBuilder& HangBuilder::lock(Lock lock) {
  snapshot_.locks.push_back(std::move(lock));
  return *this;
}

HangBuilder& HangBuilder::task(AsyncTask task) {
  snapshot_.tasks.push_back(std::move(task));
  return *this;
}

HangBuilder& HangBuilder::waits_for(std::uint32_t task) {
  last().waits_for_task = task;
  return *this;
}

std::vector<std::string> managed_thread(std::vector<std::string> frames) {
  return with(std::move(frames), {"M System.Threading.Thread.StartCallback()", "coreclr!", "coreclr!",
                                  "kernel32!BaseThreadInitThunk", "ntdll!RtlUserThreadStart"});
}

std::vector<std::string> pool_thread(std::vector<std::string> frames) {
  return managed_thread(
      with(std::move(frames), {"M System.Threading.ThreadPoolWorkQueue.Dispatch()",
                               "M System.Threading.PortableThreadPool+WorkerThread.WorkerThreadStart()"}));
}

std::vector<std::string> main_thread(std::vector<std::string> frames) {
  return with(std::move(frames), {"M Orders.Program.Main(System.String[])", "coreclr!",
                                  "kernel32!BaseThreadInitThunk", "ntdll!RtlUserThreadStart"});
}

std::vector<std::string> native_thread(std::vector<std::string> frames) {
  return with(std::move(frames), {"kernel32!BaseThreadInitThunk", "ntdll!RtlUserThreadStart"});
}

}  // namespace mixwalk::test
