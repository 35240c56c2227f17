#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "symbols/assembly.h"
#include "walker/model/frame.h"

namespace mixwalk {

// Code that the runtime made or compiled ahead of time, as its debugging library (the DAC) describes it.
struct ClrCode {
  std::uint64_t method = 0;  // address of the MethodDesc; 0: none
  std::uint64_t start = 0;   // where the method's code begins
  std::uint64_t hot_bytes = 0, cold_start = 0, cold_bytes = 0;
  std::uint64_t gc_info = 0;  // address of the method's GC information
  // Whether the code lies in a code heap, with a code header before it; otherwise it is that of a ReadyToRun image.
  bool jitted = false;

  bool operator==(const ClrCode&) const = default;
};

// A method as people read it.
struct ClrMethod {
  // "Namespace.Type<Args>.Method<Args>(Parameter types)", UTF-8, as ClrMetadataSource names it. For a stub or a method
  // that the program made while it ran, only the bare name. Empty: unknown.
  std::string name;
  bool stub = false;  // the runtime's own code: "IL_STUB_PInvoke"
  // What the program declares and a stub can lead to: the target of a P/Invoke, as in Frame::target
  // ("orders!wait_for_reply"; empty: the method is no P/Invoke), and whether the method belongs to an imported COM
  // interface.
  std::string import;
  bool com = false;

  bool operator==(const ClrMethod&) const = default;
};

// A thread as the runtime knows it.
struct ClrThread {
  std::uint64_t address = 0;   // of the runtime's Thread
  std::uint32_t os_id = 0;     // 0: not started yet, or ended
  std::uint32_t managed_id = 0;  // also what a thin lock in an object's header names its owner by
  std::uint64_t domain = 0;      // of its AppDomain

  bool operator==(const ClrThread&) const = default;
};

// The monitor of an object with a sync block, where a thread holds it or waits for it.
struct ClrSyncBlock {
  std::uint64_t address = 0;  // of the SyncBlock, which begins with the lock itself
  std::uint64_t object = 0;
  std::uint64_t owner = 0;      // address of the runtime's Thread; 0: unknown
  std::uint32_t recursion = 0;  // how often the owner has entered it
  bool held = false;

  bool operator==(const ClrSyncBlock&) const = default;
};

// Some of the sync blocks. They are numbered from 1, without gaps; those that no thread holds or waits for are left
// out.
struct ClrSyncBlocks {
  std::vector<ClrSyncBlock> blocks;
  std::uint32_t next = 0;   // the first number that was not looked at; 0: all were
  bool unreadable = false;  // some of those that were looked at could not be read

  bool operator==(const ClrSyncBlocks&) const = default;
};

// A System.Threading.Lock (.NET 9 and later), by its fields.
struct ClrLock {
  // The owner's thread id: in .NET 9 and 10 the system's id, in later sources (not released yet) ClrThread::managed_id.
  // 0: there is no owner, or the owner has not been written yet.
  std::uint32_t owner = 0;
  std::uint32_t recursion = 0;   // how often the owner has entered it; 0: not held, or the owner is unknown
  bool held = false;
  std::uint64_t wait_event = 0;  // the event (an object) by which threads wait for it; 0: none has waited yet

  bool operator==(const ClrLock&) const = default;
};

// Where instructions stand in the IL of their methods.
struct ClrIlPlaces {
  struct Place {
    IlPlace il;                // its assembly: index into `assemblies`; -1: nothing is known
    std::uint64_t method = 0;  // address of the MethodDesc whose code it is

    bool operator==(const Place&) const = default;
  };
  std::vector<Assembly> assemblies;
  std::vector<Place> places;

  bool operator==(const ClrIlPlaces&) const = default;
};

// What a runtime's debugging library says about a process that stands still, or about a dump. Every answer may be
// missing: the library may not be there, may not answer in time, or may find the memory damaged. Not frozen-safe; one
// thread at a time.
class ClrQuestions {
 public:
  virtual ~ClrQuestions() = default;

  // Nothing: no managed code is at that address. `ip`: an address inside the instruction (CodeAddress::lookup()).
  virtual std::optional<ClrCode> code_at(std::uint64_t ip) = 0;
  virtual ClrMethod method(std::uint64_t method) = 0;
  // The runtime's name for code without a MethodDesc: thunks, precode, helpers. Empty: unknown.
  virtual std::string code_name(std::uint64_t address) = 0;
  virtual std::vector<ClrThread> threads() = 0;
  // Sync blocks from this number on, as many as can be read in a short time. Nothing: no answer.
  virtual std::optional<ClrSyncBlocks> sync_blocks(std::uint32_t first) = 0;
  // The types of objects in the form that people read: "System.Collections.Generic.List<System.Int32>". In the order of
  // `objects`; empty: there is no object at that address.
  virtual std::vector<std::string> object_types(std::span<const std::uint64_t> objects) = 0;

  // The same for arbitrary addresses: also empty where no object of the heap begins at the address.
  virtual std::vector<std::string> heap_object_types(std::span<const std::uint64_t> addresses) = 0;
  // The locks at these addresses, in the order of `objects`; nothing: no System.Threading.Lock lies there, or its
  // fields are not the known ones.
  virtual std::vector<std::optional<ClrLock>> lock_objects(std::span<const std::uint64_t> objects) = 0;

  // In the order of `ips`, which are addresses inside instructions (CodeAddress::lookup()).
  virtual ClrIlPlaces il_places(std::span<const std::uint64_t> ips) = 0;

  // A hint: what will be asked one by one afterwards. Where each question goes to another process, all of them together
  // then cost little more than one.
  virtual void expect_methods(std::span<const std::uint64_t> /*methods*/) {}

  // The target has run since: forgets what was learnt about it.
  virtual void target_ran() {}

  // Why answers are missing, one line; empty: none is missing. "the DAC did not answer within 10 s".
  virtual std::string obstacle() const = 0;
};

}  // namespace mixwalk
