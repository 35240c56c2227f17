#pragma once

#include <cstdint>
#include <memory>

#include "walker/target/suspension/suspension_ledger.h"

namespace mixwalk {

// A ledger in which this program records its suspensions of a process, as mixwalk.exe does in the page that it shares
// with its watcher.
class KeptLedger {
 public:
  explicit KeptLedger(std::uint32_t process_id) {
    ledger_->process_id = process_id;
    record_suspensions_in(ledger_.get());
  }
  ~KeptLedger() { record_suspensions_in(nullptr); }
  KeptLedger(const KeptLedger&) = delete;
  KeptLedger& operator=(const KeptLedger&) = delete;

  SuspensionLedger& operator*() const { return *ledger_; }
  SuspensionLedger* operator->() const { return ledger_.get(); }

 private:
  const std::unique_ptr<SuspensionLedger> ledger_ = std::make_unique<SuspensionLedger>();
};

}  // namespace mixwalk
