#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "symbols/assembly.h"
#include "unmanaged/step/stack_copy.h"
#include "walker/clr/heap_walk.h"
#include "walker/merge/runtime_call.h"
#include "walker/model/frame.h"

namespace mixwalk {

// Code that the runtime made or compiled ahead of time, as its debugging library (the DAC) describes it.
struct ClrCode {
  std::uint64_t method = 0;  // address of the MethodDesc; 0 if none
  std::uint64_t start = 0;   // where the method's code begins
  std::uint64_t hot_bytes = 0, cold_start = 0, cold_bytes = 0;
  std::uint64_t gc_info = 0;  // address of the method's GC information
  // Whether the code is in a code heap, with a code header before it. Otherwise it is in a ReadyToRun image.
  bool jitted = false;
  // Where that image begins; 0 if it is not known. Only the runtime's data contracts say it.
  std::uint64_t image_base = 0;

  bool operator==(const ClrCode&) const = default;
};

// A method, described for people.
struct ClrMethod {
  // "Namespace.Type<Args>.Method<Args>(Parameter types)", UTF-8, in the form of ClrMetadataSource. For a stub, or a
  // method that the program made while it ran, it is only the bare name. Empty if unknown.
  std::string name;
  bool stub = false;  // the runtime's own code: "IL_STUB_PInvoke"
  // The declaration to which a stub can lead. `import` is the target of a P/Invoke, as in Frame::target
  // ("orders!wait_for_reply"); empty if the method is not a P/Invoke. The other field says whether the method belongs
  // to an imported COM interface.
  std::string import;
  bool com = false;

  bool operator==(const ClrMethod&) const = default;
};

// A thread as the runtime knows it.
struct ClrThread {
  std::uint64_t address = 0;   // of the runtime's Thread
  std::uint32_t os_id = 0;     // 0 if the thread has not started yet, or has ended
  std::uint32_t managed_id = 0;  // also names the owner of a thin lock in an object's header
  std::uint64_t domain = 0;      // of its AppDomain
  // In the runtime's cooperative mode: a pause of all managed code waits for this thread.
  bool cooperative = false;
  bool pauses = false;  // makes such a pause, as for a garbage collection
  std::uint64_t object = 0;  // of its System.Threading.Thread; 0 if it has none, or if it is unknown
  // The runtime's ThreadState, 0 if unknown. These of its bits (threads.h) are the same in .NET Framework and in .NET 8
  // to 10.
  static constexpr std::uint32_t kPoolWorker = 0x0100'0000, kSta = 0x4000, kMta = 0x8000, kBackground = 0x200;
  std::uint32_t state = 0;
  std::uint64_t thrown = 0;  // address of the pointer to the exception that it threw last; 0 if there is none

  bool operator==(const ClrThread&) const = default;
};

// The exceptions that a thread handles: it is in a filter, a catch or a finally, or still on the way there.
struct ClrThreadExceptions {
  // More of them are left out. A handler that throws lets the exception before it stay until the new one is caught.
  static constexpr std::size_t kMost = 16;
  struct Exception {
    std::uint64_t tracker = 0;  // of the runtime's ExceptionInfo, which is in general on the thread's stack
    std::uint64_t object = 0;

    bool operator==(const Exception&) const = default;
  };
  std::uint32_t os_id = 0;
  std::vector<Exception> exceptions;  // innermost first

  bool operator==(const ClrThreadExceptions&) const = default;
};

// The monitor of an object with a sync block, if a thread holds it or waits for it.
struct ClrSyncBlock {
  std::uint64_t address = 0;  // of the SyncBlock, which begins with the lock itself
  std::uint64_t object = 0;
  std::uint64_t owner = 0;      // address of the runtime's Thread; 0 if unknown
  std::uint32_t recursion = 0;  // how often the owner has entered it
  bool held = false;

  bool operator==(const ClrSyncBlock&) const = default;
};

// Some of the sync blocks. They are numbered from 1, without gaps. Sync blocks that no thread holds or waits for are
// left out.
struct ClrSyncBlocks {
  std::vector<ClrSyncBlock> blocks;
  std::uint32_t next = 0;   // the first number that was not read; 0 if all were
  bool unreadable = false;  // some of the sync blocks could not be read

  bool operator==(const ClrSyncBlocks&) const = default;
};

// A System.Threading.Lock (.NET 9 and later), a ReaderWriterLockSlim or a SemaphoreSlim, by its fields.
struct ClrLock {
  // The owner's thread id. For a Lock of .NET 9 and 10 it is the system's id; in later sources (not released yet), and
  // for a ReaderWriterLockSlim, it is ClrThread::managed_id. 0 if there is no owner, if the owner has not been written
  // yet, or if threads that read hold the lock.
  std::uint32_t owner = 0;
  std::uint32_t recursion = 0;   // how often the owner has entered it; 0 if not held, or if the owner is unknown
  bool held = false;
  // What a thread that waits for the lock keeps in its registers or on its stack beside the lock's address: the event
  // (an object) of a Lock, one of the addresses of the counters of a ReaderWriterLockSlim, or the object of a
  // SemaphoreSlim in whose monitor the thread is. 0 for the others, and for a Lock for which no thread has waited yet.
  std::array<std::uint64_t, 4> kept{};
  bool reader_writer = false;
  // A SemaphoreSlim, which does not record who has entered it: `held` says that its count is 0.
  bool semaphore = false;

  bool operator==(const ClrLock&) const = default;
};

// An instance field of objects of one type.
struct ClrField {
  std::string name;           // as in the metadata: "<>1__state"
  std::uint32_t offset = 0;   // bytes from the object's address; in a value type, from where the value begins
  std::uint8_t element = 0;   // its ELEMENT_TYPE (ECMA-335 II.23.1.16): 0x12 for a reference to an object, 0x11 a value
  // The MethodTable of a value type; 0 if it is none, or if it is unknown. Of a generic value type it may be that of
  // the definition, whose fields lie as if all type arguments were references.
  std::uint64_t type = 0;

  bool operator==(const ClrField&) const = default;
};

// A type of objects, or a value type.
struct ClrType {
  std::string name;                // in the form for people; empty if there is none; "Free" for room between objects
  std::uint64_t parent = 0;        // the MethodTable of its base type; 0 if none
  std::vector<ClrField> fields;    // those of its base types as well, base types first
  // The size of its objects as the collector uses it, and of each element of an array or a string (ObjectBytes). An
  // array's elements begin 16 bytes after the object's address, behind their number, which is a 32-bit value at 8.
  std::uint32_t base_bytes = 0, component_bytes = 0;

  bool operator==(const ClrType&) const = default;
};

// The places of instructions in the IL of their methods.
struct ClrIlPlaces {
  struct Place {
    IlPlace il;                // its assembly: index into `assemblies`; -1 if nothing is known
    std::uint64_t method = 0;  // address of the MethodDesc to which the code belongs

    bool operator==(const Place&) const = default;
  };
  std::vector<Assembly> assemblies;
  std::vector<Place> places;

  bool operator==(const ClrIlPlaces&) const = default;
};

// A part of a method's code in IL: an instruction that calls, branches, or loads or stores one thing. All other
// instructions have the kind `other`.
struct ClrIlStep {
  enum class Kind : std::uint8_t {
    other,
    call,           // of the method `name`, also of a constructor: "System.Threading.SemaphoreSlim.Wait"
    load_argument,  // number `number`; 0 is `this`, if there is one
    load_local,     // number `number`
    store_local,
    load_static,    // the field `name`: "Orders.Client.Gate"
    load_field,     // the field `name` of the object or value that was loaded before
    // The same; `number` is 1 if only constructors may set the field, otherwise 0.
    store_field,
    store_static,
    constant,  // the number `number`
    branch,    // to the offset `number`. A switch is one step for each of its targets
    handler,   // of exceptions: from the first instruction that it protects to the offset `number`. These come last
    store_argument,  // number `number`, or takes its address
  };
  Kind kind = Kind::other;
  std::uint32_t begin = 0, end = 0;  // offsets in the method's IL, of the instruction and behind it
  std::int64_t number = 0;           // of a call: how many arguments it has, `this` not counted
  std::string name;
  bool instance = false;  // of a call: the method has a `this`

  bool operator==(const ClrIlStep&) const = default;
};

// The answers of a runtime's debugging library about a process that does not run, or about a dump. Every answer may be
// missing, because the library may not exist, may not answer in time, or may find the memory damaged. Not frozen-safe;
// one thread at a time.
class ClrQuestions {
 public:
  virtual ~ClrQuestions() = default;

  // Returns nothing if no managed code is at that address. `ip`: an address inside the instruction
  // (CodeAddress::lookup()).
  virtual std::optional<ClrCode> code_at(std::uint64_t ip) = 0;
  virtual ClrMethod method(std::uint64_t method) = 0;
  // The runtime's name for code without a MethodDesc (thunks, precode, helpers). Returns an empty text if unknown.
  virtual std::string code_name(std::uint64_t address) = 0;
  virtual std::vector<ClrThread> threads() = 0;
  // The threads that handle exceptions. Empty if this is not known: only the runtime's data contracts say it (the
  // debugging library does not give the innermost exception).
  virtual std::vector<ClrThreadExceptions> handled_exceptions() { return {}; }
  // Sync blocks from this number on, as many as can be read in a short time. Returns nothing if no answer came.
  virtual std::optional<ClrSyncBlocks> sync_blocks(std::uint32_t first) = 0;
  // The types of objects in the form for people: "System.Collections.Generic.List<System.Int32>". The result is in the
  // order of `objects`. An entry is empty if there is no object at its address.
  virtual std::vector<std::string> object_types(std::span<const std::uint64_t> objects) = 0;

  // The types at these addresses of MethodTables, in their order. Nothing of the result may be trusted to be sound.
  virtual std::vector<ClrType> types(std::span<const std::uint64_t> method_tables) {
    return std::vector<ClrType>(method_tables.size());
  }

  // The managed heap, without the sizes of types (HeapTypes::bytes_of), which types() gives. It has no parts if it
  // cannot be read, or if it is being collected.
  virtual ManagedHeap heap() { return {}; }

  // The same as object_types() for arbitrary addresses. An entry is also empty if no object of the heap begins at its
  // address.
  virtual std::vector<std::string> heap_object_types(std::span<const std::uint64_t> addresses) = 0;
  // The locks at these addresses, in the order of `objects`. An entry has no value if no such lock is at its address,
  // or if its fields are not the known ones.
  virtual std::vector<std::optional<ClrLock>> lock_objects(std::span<const std::uint64_t> objects) = 0;

  // The result is in the order of `ips`, which are addresses inside instructions (CodeAddress::lookup()).
  virtual ClrIlPlaces il_places(std::span<const std::uint64_t> ips) = 0;

  // For the types of state machines (MethodTables): the code of the async methods, without an offset. Place::method is
  // the MethodTable.
  virtual ClrIlPlaces machine_places(std::span<const std::uint64_t> method_tables) {
    return {.assemblies = {}, .places = std::vector<ClrIlPlaces::Place>(method_tables.size())};
  }

  // The IL of a method, in its order, by the address of its MethodDesc; that of a type's only method with a name, by
  // the address of the type's MethodTable, or of the MethodDesc of another method of the type. Empty if it is not
  // known.
  virtual std::vector<ClrIlStep> il_of(std::uint64_t /*method*/) { return {}; }
  virtual std::vector<ClrIlStep> il_of(std::uint64_t /*type*/, std::string_view /*name*/) { return {}; }

  // The calls from managed to native code that a thread is in, leaf first, as the runtime has noted them for itself.
  // `stack`: the thread's stack. Returns nothing if the runtime's own list cannot be read.
  virtual std::vector<RuntimeCall> calls_of(std::uint32_t /*os_id*/, const StackCopy& /*stack*/) { return {}; }
  // To be called right before all threads are copied at once: calls_of() then begins at the calls of this moment, also
  // after target_ran(). Otherwise it begins at those of the moment when it is first called.
  virtual void note_calls() {}

  // Announces the questions that will be asked one by one afterwards. If each question is sent to another process, all
  // of them together then cost little more than one.
  virtual void expect_methods(std::span<const std::uint64_t> /*methods*/) {}

  // To be called when the target has run: forgets what was learnt about it.
  virtual void target_ran() {}

  // The files of assemblies whose methods have no names, because their metadata was not found. Only those that were
  // asked for.
  virtual std::vector<std::string> missing_assemblies() const { return {}; }

  // Why answers are missing, in one line: "the DAC did not answer within 30 s". Empty if none is missing.
  virtual std::string obstacle() const = 0;
};

}  // namespace mixwalk
