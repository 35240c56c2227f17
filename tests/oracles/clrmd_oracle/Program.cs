// Prints what ClrMD says about the managed stacks in a dump file: the oracle of tests that read the same dump with
// mixwalk.
// usage: clrmd_oracle FILE.dmp MSCORDACCORE.DLL
// Prints one line of JSON for each managed thread, with its frames, leaf first, and the exception that it threw last,
// with the inner ones; and a last line with the times that it took.

using System.Diagnostics;
using System.Text.Json;
using Microsoft.Diagnostics.Runtime;

if (args.Length != 2)
{
    Console.Error.WriteLine("usage: clrmd_oracle FILE.dmp MSCORDACCORE.DLL");
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
foreach (ClrThread thread in runtime.Threads)
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
    peak_bytes = Process.GetCurrentProcess().PeakWorkingSet64,
}));
return 0;
