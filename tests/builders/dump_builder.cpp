#include "tests/builders/dump_builder.h"

#include <algorithm>

namespace mixwalk::test {
namespace {

// Writes the streams, and the data to which they refer, one after the other. Offsets count from the beginning of the
// file.
class File {
 public:
  explicit File(std::size_t streams) : body_start_(32 + streams * 12) {}

  std::uint32_t place() const { return static_cast<std::uint32_t>(body_start_ + body_.size()); }
  std::uint32_t put(const std::vector<std::byte>& bytes) {
    body_.align(8);
    const std::uint32_t at = place();
    body_.append(bytes);
    return at;
  }
  std::uint32_t text(const std::string& ascii) {
    ByteWriter text;
    text.u32(ascii.size() * 2);
    for (const char c : ascii) text.u16(static_cast<unsigned char>(c));
    return put(text.u16(0).bytes());
  }
  std::uint32_t context(const DumpBuilder::RegisterValues& registers, std::uint32_t flags) {
    ByteWriter context;
    context.zeros(0x30).u32(flags).zeros(0x78 - 0x34);
    for (const std::uint64_t value : registers) context.u64(value);
    return put(context.zeros(1232 - context.size()).bytes());
  }
  void stream(std::uint32_t kind, const ByteWriter& bytes) {
    const std::uint32_t at = put(bytes.bytes());
    directory_.u32(kind).u32(bytes.size()).u32(at);
  }

  std::vector<std::byte> finish(const std::vector<std::byte>& behind) {
    ByteWriter file;
    file.append({'M', 'D', 'M', 'P', 0x93, 0xA7, 0x12, 0x34}).u32(directory_.size() / 12).u32(32).u32(0);
    file.u32(DumpBuilder::kTime).u64(2).append(directory_.bytes()).zeros(body_start_ - 32 - directory_.size());
    return file.append(body_.bytes()).append(behind).bytes();
  }

 private:
  std::size_t body_start_;
  ByteWriter directory_, body_;
};

constexpr std::size_t kMaxStreams = 32;

}  // namespace

DumpBuilder::RegisterValues DumpBuilder::at(std::uint64_t rip, std::uint64_t rsp, std::uint64_t rbp) {
  RegisterValues values{};
  values[4] = rsp;
  values[5] = rbp;
  values[16] = rip;
  return values;
}

DumpBuilder& DumpBuilder::machine(std::uint16_t architecture) {
  machine_ = architecture;
  return *this;
}
DumpBuilder& DumpBuilder::thread(const ThreadOf& thread) {
  threads_.push_back(thread);
  return *this;
}
DumpBuilder& DumpBuilder::module(std::uint64_t base, std::uint32_t size, std::uint32_t timestamp,
                                 const std::string& path, const std::vector<std::byte>& code_view,
                                 std::uint64_t file_version) {
  modules_.push_back({base, size, timestamp, path, code_view, file_version});
  return *this;
}
DumpBuilder& DumpBuilder::unloaded(std::uint64_t base, std::uint32_t size, std::uint32_t timestamp,
                                   const std::string& path) {
  unloaded_.push_back({base, size, timestamp, path, {}, 0});
  return *this;
}
DumpBuilder& DumpBuilder::memory(std::uint64_t address, std::vector<std::byte> bytes) {
  const std::uint64_t size = bytes.size();
  memory_.push_back({address, std::move(bytes), size});
  return *this;
}
DumpBuilder& DumpBuilder::memory32(std::uint64_t address, std::vector<std::byte> bytes) {
  const std::uint64_t size = bytes.size();
  memory32_.push_back({address, std::move(bytes), size});
  return *this;
}
DumpBuilder& DumpBuilder::promised(std::uint64_t address, std::uint64_t bytes) {
  memory_.push_back({address, {}, bytes});
  return *this;
}
DumpBuilder& DumpBuilder::region(std::uint64_t address, std::uint64_t bytes, std::uint32_t state,
                                 std::uint32_t protection, std::uint32_t type) {
  regions_.push_back({address, bytes, state, protection, type});
  return *this;
}
DumpBuilder& DumpBuilder::exception(std::uint32_t thread, std::uint32_t code, std::uint64_t address,
                                    const RegisterValues& registers,
                                    const std::vector<std::uint64_t>& parameters) {
  exception_ = Raised{thread, code, address, registers, parameters};
  return *this;
}
DumpBuilder& DumpBuilder::misc(std::uint32_t process_id, std::uint32_t start) {
  misc_ = {process_id, start};
  return *this;
}
DumpBuilder& DumpBuilder::stream(std::uint32_t kind, std::vector<std::byte> bytes) {
  more_.emplace_back(kind, std::move(bytes));
  return *this;
}
DumpBuilder& DumpBuilder::padded_lists() {
  padded_ = true;
  return *this;
}
DumpBuilder& DumpBuilder::without_names() {
  with_names_ = false;
  return *this;
}

std::vector<std::byte> DumpBuilder::rsds(std::uint8_t guid, std::uint32_t age, const std::string& path) {
  ByteWriter record;
  record.append({'R', 'S', 'D', 'S'});
  for (int i = 0; i < 16; ++i) record.u8(guid);
  return record.u32(age).text(path).bytes();
}

std::vector<std::byte> DumpBuilder::build() const {
  File file(kMaxStreams);
  ByteWriter system;
  system.u16(machine_).u16(6).u16(0x5E03).u8(8).u8(1).u32(10).u32(0).u32(19045).u32(2);
  file.stream(7, system.u32(file.text("")).u16(0x100).u16(0).zeros(24));

  const auto list = [&](std::size_t count) {
    ByteWriter records;
    records.u32(count);
    if (padded_) records.u32(0);
    return records;
  };
  ByteWriter threads = list(threads_.size()), names = list(threads_.size());
  for (const ThreadOf& thread : threads_) {
    threads.u32(thread.id).u32(0).u32(0x20).u32(0).u64(thread.teb).u64(thread.stack).u32(thread.stack_bytes).u32(0);
    if (thread.registers) {
      threads.u32(1232).u32(file.context(*thread.registers, thread.context_flags));
    } else {
      threads.u32(0).u32(0);
    }
    names.u32(thread.id).u64(file.text(thread.name));
  }
  file.stream(3, threads);
  if (with_names_) file.stream(24, names);

  ByteWriter modules = list(modules_.size());
  for (const Module& module : modules_) {
    modules.u64(module.base).u32(module.size).u32(0).u32(module.timestamp).u32(file.text(module.path));
    if (module.file_version != 0) {
      modules.u32(0xFEEF04BD).u32(0x10000).u32(module.file_version >> 32).u32(module.file_version).zeros(36);
    } else {
      modules.zeros(52);
    }
    modules.u32(module.code_view.size()).u32(module.code_view.empty() ? 0 : file.put(module.code_view));
    modules.zeros(8 + 16);
  }
  file.stream(4, modules);

  if (!unloaded_.empty()) {
    ByteWriter unloaded;
    unloaded.u32(12).u32(24).u32(unloaded_.size());
    for (const Module& module : unloaded_) {
      unloaded.u64(module.base).u32(module.size).u32(0).u32(module.timestamp).u32(file.text(module.path));
    }
    file.stream(14, unloaded);
  }
  if (!memory32_.empty()) {
    ByteWriter ranges = list(memory32_.size());
    for (const Piece& piece : memory32_) ranges.u64(piece.address).u32(piece.promised).u32(file.put(piece.bytes));
    file.stream(5, ranges);
  }
  if (!regions_.empty()) {
    ByteWriter regions;
    regions.u32(16).u32(48).u64(regions_.size());
    for (const Region& region : regions_) {
      regions.u64(region.address).u64(region.address).u32(region.protection).u32(0).u64(region.bytes);
      regions.u32(region.state).u32(region.protection).u32(region.type).u32(0);
    }
    file.stream(16, regions);
  }
  if (exception_) {
    ByteWriter raised;
    raised.u32(exception_->thread).u32(0).u32(exception_->code).u32(0).u64(0).u64(exception_->address);
    raised.u32(exception_->parameters.size()).u32(0);
    for (const std::uint64_t parameter : exception_->parameters) raised.u64(parameter);
    raised.zeros(8 * (15 - exception_->parameters.size()));
    raised.u32(1232).u32(file.context(exception_->registers, 0x10000B));
    file.stream(6, raised);
  }
  if (misc_) {
    ByteWriter misc;
    misc.u32(24).u32(3).u32(misc_->first).u32(misc_->second).u32(0).u32(0);
    file.stream(15, misc);
  }
  ByteWriter behind;
  if (!memory_.empty()) {
    // The memory itself comes behind everything else, also behind this list.
    ByteWriter ranges;
    ranges.u64(memory_.size()).u64(0);
    for (const Piece& piece : memory_) {
      ranges.u64(piece.address).u64(piece.promised);
      behind.append(piece.bytes);
    }
    std::size_t more = 0;
    for (const auto& [kind, bytes] : more_) more += (bytes.size() + 7) / 8 * 8;
    const std::size_t base = (file.place() + 7) / 8 * 8 + (ranges.size() + 7) / 8 * 8 + more;
    ranges.set32(8, static_cast<std::uint32_t>(base));
    file.stream(9, ranges);
  }
  for (const auto& [kind, bytes] : more_) file.stream(kind, ByteWriter().append(bytes));
  ByteWriter aligned;
  aligned.zeros((8 - file.place() % 8) % 8);
  return file.finish(aligned.append(behind.bytes()).bytes());
}

}  // namespace mixwalk::test
