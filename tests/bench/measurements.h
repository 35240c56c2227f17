#pragma once

namespace mixwalk::bench {

// The parameters of mixwalk_bench.dll, in the environment of the program that loads it: the file to which it writes its
// rows, and how often each way of freezing is tried on each thread.
inline constexpr char kFileVariable[] = "MIXWALK_BENCH_FILE";
inline constexpr char kRoundsVariable[] = "MIXWALK_BENCH_ROUNDS";

// The rows are words with a space between them:
//   freeze WAY KIND NS FRAMES      one freeze; KIND: the first word of the thread's name
//   part PART KIND NS              a part of one freeze by snapshot, timed in samples of their own
//   merge KIND NS REWRITE_NS FRAMES UNMANAGED     one merge of one sample, and what it found
//   step UNMANAGED_NS STEPS MANAGED_NS STEPS ASK_NS ASKED     the same merge again, its parts
//   phase PHASE CALLS NS           of a whole recording
inline constexpr char kFloor[] = "floor";
inline constexpr char kSeeded[] = "managed-only";
inline constexpr char kSeededCanary[] = "managed-only+canary";
inline constexpr char kSnapshotNever[] = "snapshot-never";
inline constexpr char kSnapshotRisk[] = "snapshot-risk";
inline constexpr char kSnapshotAlways[] = "snapshot-always";
inline constexpr char kCopy[] = "copy";
inline constexpr char kAuto[] = "auto";

}  // namespace mixwalk::bench
