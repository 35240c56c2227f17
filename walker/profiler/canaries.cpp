#include "walker/profiler/canaries.h"

#include "unmanaged/step/system_call.h"
#include "unmanaged/win/plain_memory.h"

namespace mixwalk {
namespace {

constexpr std::size_t kWanted = 2;
// Each candidate costs two short freezes and a walk. Usually most of a hundred threads are parked.
constexpr std::size_t kMaxTried = 32;
// How long to wait for names, because a program that was just started has not named its threads yet.
constexpr DWORD kNameMs = 200;

}  // namespace

void Canaries::choose(std::uint32_t wanted, const std::string& prefix) {
  chosen_.clear();
  if (wanted == 0 && !prefix.empty()) wanted = registry_.wait_for_name(prefix, kNameMs).value_or(0);
  if (wanted != 0 && try_out(wanted)) chosen_.push_back(wanted);
  std::size_t tried = 0;
  for (const std::uint32_t os_id : registry_.os_ids()) {
    if (chosen_.size() == kWanted || ++tried > kMaxTried) return;
    if (!chosen_.empty() && chosen_.front() == os_id) continue;
    if (try_out(os_id)) chosen_.push_back(os_id);
  }
}

bool Canaries::try_out(std::uint32_t os_id) {
  ThreadClaim claim(registry_, os_id);
  if (!claim.entry() || !probe_.set_canary(claim.entry()->clr_id, os_id)) return false;
  const auto before = registers_in_system_call(os_id);
  if (!before) return false;
  bool passed = false;
  {
    const FreezeGate::Pass pass(gate_);
    passed = pass && probe_.passes();
    if (!probe_.wait_until_idle()) claim.keep();
  }
  return passed && registers_in_system_call(os_id) == before;
}

// Returns nothing if the thread is in no system call, is suspended by others, or cannot be read.
std::optional<Registers> Canaries::registers_in_system_call(std::uint32_t os_id) {
  const FreezeGate::Pass pass(gate_);
  Supervisor unwatched(probe_.ledger());  // never started, because reading registers does not block
  WindowsThread thread(unwatched);
  Registers registers;
  if (!pass || !thread.open(os_id)) return std::nullopt;
  {
    const ScopedSuspension suspension(thread);
    if (!suspension || thread.suspended_by_others() || !thread.read_registers(registers)) {
      return std::nullopt;
    }
  }
  if (!at_system_call(registers.rip, PlainMemory())) return std::nullopt;
  return registers;
}

Canaries::Claimed::Claimed(Canaries& canaries, std::uint32_t target) : canaries_(canaries) {
  canaries_.probe_.clear_canary();
  for (const std::uint32_t os_id : canaries_.chosen_) {
    if (os_id == target) continue;
    claim_.emplace(canaries_.registry_, os_id);
    if (claim_->entry() && canaries_.probe_.set_canary(claim_->entry()->clr_id, os_id)) return;
    claim_.reset();
  }
}

Canaries::Claimed::~Claimed() {
  // The claim must stay, because a worker that returns later must not use a thread that the CLR has freed meanwhile.
  if (!canaries_.probe_.wait_until_idle() && claim_) claim_->keep();
}

}  // namespace mixwalk
