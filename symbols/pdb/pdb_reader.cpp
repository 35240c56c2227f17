#include "symbols/pdb/pdb_reader.h"

#include <algorithm>

#include "symbols/byte_cursor.h"
#include "symbols/leaf_extent.h"
#include "unmanaged/ascii_lower.h"

namespace mixwalk {
namespace {

constexpr std::uint32_t kC13Signature = 4;
// The limit for functions of one module that the linker folded; more of them count as this many.
constexpr std::size_t kMaxFolded = 64;
// The limit for pieces of code in one function, with the calls that are inlined in it. The largest in the wild have
// some 100,000.
constexpr std::size_t kMaxCode = 2'000'000;
// Functions that overlap share their lines, although no compiler makes such functions. A row may be used this often.
constexpr std::size_t kMaxRowUses = 8;
// The streams with this beginning of their name have JSON of Source Link. The linker writes one for each file that it
// is given.
constexpr std::string_view kSourceLink = "sourcelink";
constexpr std::size_t kMaxLinks = 100;

}  // namespace

// Passes the pieces of one function to the builder, as scopes and lines.
class PdbReader::FunctionSink final : public ChainSink {
 public:
  FunctionSink(PdbReader& reader, const PdbFunction& function, const PdbModuleSymbols& symbols,
               const PdbModuleLines& lines, ScopeId scope, IndexBuilder& into)
      : reader_(reader), function_(function), symbols_(symbols), lines_(lines), into_(into) {
    scopes_.resize(function.site_count + 1u);
    scopes_[0].scope = scope;
  }

  void piece(std::uint32_t begin, std::uint32_t end, std::span<const ChainStep> chain) override {
    ScopeId scope = scopes_[0].scope;
    for (std::size_t i = 1; i < chain.size(); ++i) scope = inlined(scope, chain[i - 1], chain[i]);
    into_.add_range(scope, function_.begin + begin, function_.begin + end);
    const ChainStep& last = chain.back();
    into_.add_line(function_.begin + begin, file(last), last.line);
  }

 private:
  // The scope that an inlined call got last, its parent, and the place of the call. The place hardly ever changes.
  struct Known {
    ScopeId scope = kNoScope, parent = kNoScope;
    ChainStep call;
  };

  NameId file(const ChainStep& step) {
    return step.file == ChainStep::kNoFile ? kNoName : reader_.file_name(lines_, step.file, into_);
  }
  ScopeId inlined(ScopeId parent, const ChainStep& call, const ChainStep& step) {
    Known& known = scopes_[step.scope];
    if (known.scope != kNoScope && known.parent == parent && known.call == call) return known.scope;
    const PdbInlineSite& site = symbols_.sites[function_.first_site + step.scope - 1];
    const NameId name = reader_.inlinees_.name(reader_.inlinee(site.inlinee, lines_), into_);
    const ScopeId scope = into_.add_inlined(parent, name, file(call), call.line);
    if (scope == kNoScope) return parent;  // the builder is full, so the code remains its caller's
    known = {scope, parent, call};
    return scope;
  }

  PdbReader& reader_;
  const PdbFunction& function_;
  const PdbModuleSymbols& symbols_;
  const PdbModuleLines& lines_;
  IndexBuilder& into_;
  std::vector<Known> scopes_;
};

PdbReader::PdbReader(std::shared_ptr<const PdbBytes> bytes, std::shared_ptr<const ImageFile> image,
                     MsfFile msf, const PdbInfo& info, PdbDbi dbi)
    : bytes_(std::move(bytes)),
      image_(std::move(image)),
      msf_(std::move(msf)),
      strings_(msf_, info),
      dbi_(std::move(dbi)),
      publics_(msf_, dbi_, image_ == nullptr ? nullptr : &image_->image),
      inlinees_(msf_),
      server_stream_(info.stream("srcsrv")) {
  for (auto link = info.named_streams.lower_bound(kSourceLink);
       link != info.named_streams.end() && link->first.starts_with(kSourceLink) && link_streams_.size() < kMaxLinks;
       ++link) {
    if (std::ranges::find(link_streams_, link->second) == link_streams_.end()) link_streams_.push_back(link->second);
  }
  std::stable_sort(dbi_.contributions.begin(), dbi_.contributions.end(),
                   [](const PdbContribution& left, const PdbContribution& right) {
                     return left.begin < right.begin;
                   });
  by_module_ = dbi_.contributions;
  std::stable_sort(by_module_.begin(), by_module_.end(),
                   [](const PdbContribution& left, const PdbContribution& right) {
                     return left.module < right.module;
                   });
}

std::vector<UnitRange> PdbReader::units() const {
  std::vector<UnitRange> units;
  for (const PdbContribution& one : dbi_.contributions) {
    if (one.module < dbi_.modules.size()) units.push_back({one.begin, one.end, one.module});
  }
  std::uint32_t covered = 0;  // the end of the code that is covered by contributions, and later also by public symbols
  auto next = dbi_.contributions.begin();
  for (const PdbPublics::Public& one : publics_.all()) {
    for (; next != dbi_.contributions.end() && next->begin <= one.rva; ++next) {
      covered = std::max(covered, next->end);
    }
    if (one.rva < covered) continue;
    const std::uint32_t room = next == dbi_.contributions.end() ? UINT32_MAX : next->begin;
    units.push_back({one.rva, end_of_public(one.rva, room), public_unit()});
    covered = one.rva + 1;  // skips more names of the same code
  }
  return units;
}

void PdbReader::read_unit(std::uint32_t unit, IndexBuilder& into) {
  own_.clear();
  covered_.clear();
  entries_.clear();
  files_.clear();
  if (unit < dbi_.modules.size()) {
    const auto [first, last] = std::equal_range(
        by_module_.begin(), by_module_.end(), PdbContribution{0, 0, static_cast<std::uint16_t>(unit)},
        [](const PdbContribution& left, const PdbContribution& right) {
          return left.module < right.module;
        });
    std::uint32_t end = 0;
    for (auto one = first; one != last; ++one) {
      if (one->end > end) own_.push_back({std::max(one->begin, end), one->end});
      end = std::max(end, one->end);
    }
    read_module(dbi_.modules[unit], into);
    add_folded(into);
  } else {
    own_.push_back({0, UINT32_MAX});
  }
  add_publics(into);
}

std::string_view PdbReader::linkage_name(std::uint32_t entry, std::string_view name) const {
  const auto [at, fresh] = linked_.try_emplace(entry);
  Linked& known = at->second;
  if (!fresh && known.name == name) return known.linked;
  found_bytes_ += (fresh ? kFoundBytes : 0) + name.size() - known.name.size();
  known = {std::string(name), {}};
  std::size_t tried = 0;
  for (const PdbPublics::Public& one : publics_.in(entry, entry + 1)) {
    if (is_function_named(demangle(one.name, demangle_budget_), name)) {
      known.linked = one.name;
      break;
    }
    if (++tried == kMaxFolded) break;
  }
  return known.linked;
}

std::string PdbReader::source_url(std::string_view file) const {
  if (file.empty()) return {};
  if (const auto known = known_urls_.find(file); known != known_urls_.end()) return known->second;
  if (!urls_) {
    urls_ = Urls{.text = msf_.read(server_stream_), .server = {}, .links = {}};
    const auto text = urls_->text.get();
    urls_->server = SourceServer({reinterpret_cast<const char*>(text.data()), text.size()});
    for (const std::uint32_t stream : link_streams_) {
      found_bytes_ += urls_->links.emplace_back(msf_.read(stream).get()).bytes();
    }
  }
  std::string url;
  for (const SourceLink& link : urls_->links) {
    if (url.empty()) url = link.url_of(file);
  }
  if (url.empty()) url = urls_->server.url_of(file);
  found_bytes_ += kFoundBytes + file.size() + url.size();
  return known_urls_.emplace(file, std::move(url)).first->second;
}

std::size_t PdbReader::bytes() const noexcept {
  return bytes_->get().size() + dbi_.contributions.capacity() * 2 * sizeof(PdbContribution) +
         publics_.all().size() * sizeof(PdbPublics::Public) + found_bytes_ +
         (urls_ ? urls_->text.get().size() + urls_->server.bytes() : 0);
}

bool PdbReader::owns(std::uint32_t rva) const {
  const auto after = std::upper_bound(
      own_.begin(), own_.end(), rva, [](std::uint32_t value, const Range& one) { return value < one.begin; });
  return after != own_.begin() && rva < (after - 1)->end;
}

std::uint32_t PdbReader::inlinee(std::uint32_t id, const PdbModuleLines& lines) {
  if (!is_import(id)) return id;
  const auto function = find_import(id, lines.imports);
  if (!function) return 0;
  if (module_numbers_.empty()) {
    for (std::uint32_t i = 0; i < dbi_.modules.size(); ++i) {
      module_numbers_.try_emplace(ascii_lower(dbi_.modules[i].name), i);
    }
  }
  const auto number = module_numbers_.find(ascii_lower(strings_.at(function->module)));
  if (number == module_numbers_.end()) return 0;
  const auto [exports, fresh] = exports_.try_emplace(number->second);
  if (fresh) {
    const PdbModule& module = dbi_.modules[number->second];
    const std::uint64_t begin = std::uint64_t{module.symbol_bytes} + module.c11_bytes;
    if (begin <= UINT32_MAX) {
      exports->second = read_all_exports(
          msf_.read(module.stream, static_cast<std::uint32_t>(begin), module.c13_bytes).get());
    }
  }
  const auto found = exports->second.find(function->number);
  return found == exports->second.end() ? 0 : found->second;
}

NameId PdbReader::file_name(const PdbModuleLines& lines, std::uint32_t file, IndexBuilder& into) {
  const auto [at, fresh] = files_.try_emplace(file, kNoName);
  if (fresh) {
    if (const auto path = lines.path_of(file)) at->second = into.name(strings_.at(*path));
  }
  return at->second;
}

void PdbReader::read_module(const PdbModule& module, IndexBuilder& into) {
  const MsfBytes stream = msf_.read(module.stream);
  ByteCursor cursor(stream.get());
  ByteCursor symbol_bytes(cursor.take(module.symbol_bytes));
  cursor.skip(module.c11_bytes);
  const auto c13 = cursor.take(module.c13_bytes);
  if (symbol_bytes.u32() != kC13Signature) return;
  const PdbModuleSymbols symbols =
      read_module_symbols(symbol_bytes.rest(), sizeof kC13Signature, dbi_.sections);
  const PdbModuleLines lines = read_module_lines(c13, dbi_.sections);
  lines_left_ = kMaxRowUses * (lines.lines.size() + symbols.functions.size());
  for (const PdbFunction& function : symbols.functions) {
    if (owns(function.begin)) add_function(function, symbols, lines, into);
  }
  add_separated(symbols, lines, into);
  std::sort(covered_.begin(), covered_.end(),
            [](const Range& left, const Range& right) { return left.begin < right.begin; });
}

// Adds the lines of [begin, end) as code of scope 0, with offsets from `begin`.
void PdbReader::add_lines(const PdbModuleLines& lines, std::uint32_t begin, std::uint32_t end,
                          std::vector<ScopedCode>& code) {
  const auto after = std::upper_bound(
      lines.sequences.begin(), lines.sequences.end(), begin,
      [](std::uint32_t value, const PdbLineSequence& sequence) { return value < sequence.begin; });
  auto at = after == lines.sequences.begin() ? after : after - 1;
  // If functions were folded into one, the code and its lines belong to the first.
  while (at != lines.sequences.begin() && (at - 1)->begin == begin) --at;
  std::uint32_t covered = begin;
  for (; at != lines.sequences.end() && at->begin < end; ++at) {
    const std::span rows = std::span(lines.lines).subspan(at->first, at->count);
    const std::uint32_t last = std::min(at->end, end);
    auto row = std::upper_bound(rows.begin(), rows.end(), covered,
                                [](std::uint32_t value, const PdbLine& one) { return value < one.rva; });
    if (row != rows.begin()) --row;
    for (; row != rows.end() && row->rva < last; ++row) {
      if (lines_left_ == 0) return;
      --lines_left_;
      const std::uint32_t from = std::max(row->rva, covered);
      const std::uint32_t to = row + 1 != rows.end() ? std::min((row + 1)->rva, last) : last;
      if (from < to) code.push_back({{from - begin, to - begin, row->file, row->line}, 0});
    }
    covered = std::max(covered, last);
  }
}

void PdbReader::add_function(const PdbFunction& function, const PdbModuleSymbols& symbols,
                             const PdbModuleLines& lines, IndexBuilder& into) {
  const NameId name = into.name(function.name);
  Entry& entry = entries_[function.begin];
  if (entry.names.size() < kMaxFolded &&
      std::find(entry.names.begin(), entry.names.end(), name) == entry.names.end()) {
    entry.names.push_back(name);
  }
  if (entry.scope != kNoScope) return;  // the code belongs to the first function, see IndexBuilder
  entry.scope = into.add_function(name, function.begin);
  entry.end = function.end;
  if (entry.scope == kNoScope) return;
  covered_.push_back({function.begin, function.end});

  std::vector<std::uint32_t> parents(1);
  std::vector<ScopedCode> code;
  add_lines(lines, function.begin, function.end, code);
  std::vector<PlacedCode> placed;
  for (std::uint32_t i = 0; i < function.site_count; ++i) {
    const PdbInlineSite& site = symbols.sites[function.first_site + i];
    parents.push_back(site.parent);
    const auto start = lines.inlinees.find(site.inlinee);
    if (start == lines.inlinees.end() || code.size() > kMaxCode) continue;
    placed.clear();
    read_annotations(site.annotations, start->second.file, start->second.line, placed);
    for (const PlacedCode& one : placed) code.push_back({one, i + 1});
  }
  FunctionSink sink(*this, function, symbols, lines, entry.scope, into);
  cut_into_chains(function.end - function.begin, parents, std::move(code), sink);
  into.end_sequence(function.end);
}

// Adds parts of functions that lie elsewhere. The calls that are inlined in such parts are not distinguished.
void PdbReader::add_separated(const PdbModuleSymbols& symbols, const PdbModuleLines& lines,
                              IndexBuilder& into) {
  for (const PdbSeparatedCode& part : symbols.separated) {
    const auto function = entries_.find(part.function);
    if (function == entries_.end() || function->second.scope == kNoScope || !owns(part.begin)) continue;
    into.add_range(function->second.scope, part.begin, part.end);
    covered_.push_back({part.begin, part.end});
    std::vector<ScopedCode> code;
    add_lines(lines, part.begin, part.end, code);
    for (const ScopedCode& one : code) {
      into.add_line(part.begin + one.code.begin, file_name(lines, one.code.file, into), one.code.line);
    }
    into.end_sequence(part.end);
  }
}

// Functions with the same entry that this module does not contain belong to other modules: the public symbols say how
// many there are.
void PdbReader::add_folded(IndexBuilder& into) {
  for (const auto& [begin, entry] : entries_) {
    const std::size_t count = std::max<std::size_t>(publics_.functions_at(begin), entry.names.size());
    for (std::size_t i = 1; i < count; ++i) {
      into.add_range(into.add_function(kNoName, begin), begin, entry.end);
    }
  }
}

void PdbReader::add_publics(IndexBuilder& into) {
  for (const Range& own : own_) {
    std::uint32_t last = UINT32_MAX;
    for (const PdbPublics::Public& one : publics_.in(own.begin, own.end)) {
      const auto after =
          std::upper_bound(covered_.begin(), covered_.end(), one.rva,
                           [](std::uint32_t value, const Range& range) { return value < range.begin; });
      if (after != covered_.begin() && one.rva < (after - 1)->end) continue;
      const std::uint32_t room = after == covered_.end() ? own.end : std::min(own.end, after->begin);
      if (one.rva == last) continue;  // skips more names of the same code
      last = one.rva;
      const std::uint32_t end = end_of_public(one.rva, room);
      const std::uint32_t count = publics_.functions_at(one.rva);
      into.add_range(into.add_function(into.name(one.name), one.rva), one.rva, end);
      for (std::uint32_t i = 1; i < count; ++i) {
        into.add_range(into.add_function(kNoName, one.rva), one.rva, end);
      }
    }
  }
}

std::uint32_t PdbReader::end_of_public(std::uint32_t rva, std::uint32_t room) const {
  const auto all = publics_.all();
  const auto next = std::upper_bound(
      all.begin(), all.end(), rva,
      [](std::uint32_t value, const PdbPublics::Public& one) { return value < one.rva; });
  if (next != all.end()) room = std::min(room, next->rva);
  const auto whole = std::lower_bound(
      dbi_.contributions.begin(), dbi_.contributions.end(), rva,
      [](const PdbContribution& one, std::uint32_t value) { return one.begin < value; });
  const bool is_comdat = whole != dbi_.contributions.end() && whole->begin == rva && whole->comdat;
  // If there is no image, nothing else says how long a function is.
  if (image_ == nullptr) return is_comdat ? std::min(room, whole->end) : rva;
  const PeImage& image = image_->image;
  if (const PeImage::Function* const function = image.function_at(rva)) {
    return function->begin == rva && function->primary == rva ? std::min(room, function->end) : rva;
  }
  const PeSection* const section = image.section_at(rva);
  if (section == nullptr || !section->executable || rva - section->rva >= section->file_bytes) return rva;
  if (const PeImage::Function* const behind = image.function_after(rva)) {
    room = std::min(room, behind->begin);
  }
  if (is_comdat) return std::min(room, whole->end);
  return rva + leaf_bytes(image, rva, room - rva);
}

}  // namespace mixwalk
