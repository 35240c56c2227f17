// Prints what ClrMD says about the managed stacks in a dump file: the oracle of tests that read the same dump with
// mixwalk.
// usage: clrmd_oracle FILE.dmp MSCORDACCORE.DLL [--tasks]
// Prints one line of JSON for each managed thread, with its frames, leaf first, and the exception that it threw last,
// with the inner ones; and a last line with the times that it took. --tasks: instead of threads, the tasks of the heap.

using System.Diagnostics;
using System.Text.Json;
using ClrMdOracle;
using Microsoft.Diagnostics.Runtime;

if (args is not ([_, _] or [_, _, "--tasks"]))
{
    Console.Error.WriteLine("usage: clrmd_oracle FILE.dmp MSCORDACCORE.DLL [--tasks]");
    return 2;
}
// Far more frames than a thread has. A walk that loops ends here, and the test sees that the stack is too long.
const int MaxFrames = 200_000;

var watch = Stopwatch.StartNew();
using DataTarget target = DataTarget.LoadDump(args[0]);
target.FileLocator = null;  // no symbol server is asked
ClrInfo[] versions = target.ClrVersions.ToArray();
if (versions.Length != 1)
{
    Console.Error.WriteLine($"{versions.Length} runtimes in the dump");
    return 1;
}
using ClrRuntime runtime = versions[0].CreateRuntime(args[1]);
long opened = watch.ElapsedMilliseconds;
var lines = new List<string>();
bool tasks = args.Length == 3;
if (tasks) lines.AddRange(TaskGraph.Lines(runtime).Select(task => JsonSerializer.Serialize(task)));
foreach (ClrThread thread in tasks ? [] : runtime.Threads)
{
    if (!thread.IsAlive) continue;
    var frames = thread.EnumerateStackTrace(includeContext: false, MaxFrames)
        .Where(frame => frame.Kind == ClrStackFrameKind.ManagedMethod)
        .Select(frame => new
        {
            ip = $"0x{frame.InstructionPointer:x}",
            sp = $"0x{frame.StackPointer:x}",
            signature = frame.Method?.Signature,
        });
    var exceptions = new List<object>();
    for (ClrException? error = thread.CurrentException; error != null && exceptions.Count < 100; error = error.Inner)
    {
        exceptions.Add(new
        {
            type = error.Type.Name,
            message = error.Message,
            hresult = error.HResult,
            trace = error.StackTrace.Select(frame => frame.Method?.Signature),
        });
    }
    lines.Add(JsonSerializer.Serialize(new { thread = thread.OSThreadId, frames, exceptions }));
}
long walked = watch.ElapsedMilliseconds;
lines.ForEach(Console.WriteLine);
Console.WriteLine(JsonSerializer.Serialize(new
{
    opened_ms = opened,
    walked_ms = walked - opened,
    heap_can_be_walked = runtime.Heap.CanWalkHeap,
    peak_bytes = Process.GetCurrentProcess().PeakWorkingSet64,
}));
return 0;
