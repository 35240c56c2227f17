// The tasks of a dump's heap, as ClrMD's fields show them.

using Microsoft.Diagnostics.Runtime;

namespace ClrMdOracle;

internal static class TaskGraph
{
    // Bits of Task.m_stateFlags.
    private const int Faulted = 0x200000, Cancelled = 0x400000, RanToCompletion = 0x1000000;
    // Far more than a struct of a program has.
    private const int MaxNesting = 16;

    // One line for each task of the heap.
    public static IEnumerable<object> Lines(ClrRuntime runtime)
    {
        foreach (ClrObject task in runtime.Heap.EnumerateObjects())
        {
            bool isTask = task.IsValid && IsTask(task.Type);
            // The object behind a ValueTask of an async method may be another one than a task.
            if (!isTask && (!task.IsValid || task.Type!.GetFieldByName("StateMachine") == null))
            {
                continue;
            }

            int flags = isTask ? task.ReadField<int>("m_stateFlags") : 0;
            ClrObject behind = isTask ? task.ReadObjectField("m_continuationObject") : default;
            var continuations = new List<object>();
            if (!behind.IsNull && behind.Type!.Name != "System.Object")
            {
                foreach (ClrObject one in Each(behind))
                {
                    continuations.Add(Continuation(one));
                }
            }

            Machine? machine = StateMachine(task);
            ClrObject awaited = machine?.Awaited ?? SourceOf(task);
            yield return new
            {
                task = Hex(task.Address),
                type = task.Type!.Name,
                flags = $"0x{flags:x}",
                status = isTask ? Status(flags) : null,
                machine = machine?.Type,
                state = machine?.State,
                awaits = awaited.IsNull ? null : Hex(awaited.Address),
                awaits_type = awaited.Type?.Name,
                continuations,
            };
        }
    }

    private sealed record Machine(string Type, int State, ClrObject Awaited);

    // The object behind the ValueTask of which this is the task (ValueTask.AsTask).
    private static ClrObject SourceOf(ClrObject task) =>
        task.Type!.Name!.EndsWith("+ValueTaskSourceAsTask", StringComparison.Ordinal)
            ? task.ReadObjectField("_source")
            : default;

    private static string Status(int flags) =>
        (flags & Faulted) != 0 ? "faulted"
        : (flags & Cancelled) != 0 ? "cancelled"
        : (flags & RanToCompletion) != 0 ? "done"
        : "open";

    private static bool IsTask(ClrType? type)
    {
        for (; type != null; type = type.BaseType)
        {
            if (type.Name == "System.Threading.Tasks.Task")
            {
                return true;
            }
        }

        return false;
    }

    // The state machine in the box of an async method, or nothing if the task is no such box.
    private static Machine? StateMachine(ClrObject task)
    {
        ClrInstanceField? field = task.Type!.GetFieldByName("StateMachine");
        if (field == null)
        {
            return null;
        }

        ulong at;
        bool interior;
        ClrType? type;
        if (field.IsObjectReference)  // a Debug build
        {
            ClrObject machine = field.ReadObject(task.Address, interior: false);
            if (machine.IsNull)
            {
                return null;
            }

            (at, interior, type) = (machine.Address, false, machine.Type);
        }
        else
        {
            ClrValueType machine = field.ReadStruct(task.Address, interior: false);
            (at, interior, type) = (machine.Address, true, machine.Type);
        }

        if (type?.GetFieldByName("<>1__state") is not { } state)
        {
            return new Machine(type?.Name ?? "(unknown)", int.MinValue, default);
        }

        int number = state.Read<int>(at, interior);
        ClrObject awaited = default;
        if (number >= 0)
        {
            foreach (ClrInstanceField awaiter in type.Fields)
            {
                if (awaiter.Name?.StartsWith("<>u__", StringComparison.Ordinal) != true)
                {
                    continue;
                }

                awaited = Awaited(awaiter, at, interior, 0);
                if (!awaited.IsNull)
                {
                    break;
                }
            }
        }

        return new Machine(type.Name!, number, awaited);
    }

    // The first object in an awaiter, which is a task or what stands behind a ValueTask.
    private static ClrObject Awaited(ClrInstanceField field, ulong at, bool interior, int depth)
    {
        if (field.IsObjectReference)
        {
            return field.ReadObject(at, interior);
        }

        if (depth == MaxNesting || !field.IsValueType || field.IsPrimitive)
        {
            return default;
        }

        ClrValueType value = field.ReadStruct(at, interior);
        if (value.Type == null)
        {
            return default;
        }

        foreach (ClrInstanceField inner in value.Type.Fields)
        {
            ClrObject found = Awaited(inner, value.Address, interior: true, depth + 1);
            if (!found.IsNull)
            {
                return found;
            }
        }

        return default;
    }

    // One continuation, or those of a list.
    private static IEnumerable<ClrObject> Each(ClrObject behind)
    {
        if (behind.Type!.Name?.StartsWith("System.Collections.Generic.List<", StringComparison.Ordinal) != true)
        {
            yield return behind;
            yield break;
        }

        int size = behind.ReadField<int>("_size");
        ClrArray items = behind.ReadObjectField("_items").AsArray();
        for (int i = 0; i < size && i < items.Length; ++i)
        {
            ClrObject item = items.GetObjectValue(i);
            if (!item.IsNull)
            {
                yield return item;
            }
        }
    }

    // The object, the context or scheduler to which it was posted, and the task that goes on.
    private static object Continuation(ClrObject continuation)
    {
        string? context = null;
        ClrObject runs = continuation;
        foreach (string name in new[] { "m_syncContext", "m_scheduler", "m_taskScheduler" })
        {
            if (!IsTask(continuation.Type) && continuation.Type!.GetFieldByName(name) != null)
            {
                ClrObject target = continuation.ReadObjectField(name);
                context = target.IsNull || IsPool(target.Type!) ? null : Hex(target.Address);
            }
        }

        if (IsTask(continuation.Type))
        {
            // An async method, or a WhenAll.
        }
        else if (continuation.Type!.GetFieldByName("m_action") != null)
        {
            runs = continuation.ReadObjectField("m_action");
        }
        else if (continuation.Type!.GetFieldByName("m_task") != null)
        {
            runs = continuation.ReadObjectField("m_task");
        }

        // A delegate's target is the box, or an object of the runtime that has the delegate in question.
        for (int step = 0; step < 8 && !runs.IsNull && runs.Type!.GetFieldByName("_target") != null; ++step)
        {
            ClrObject target = runs.ReadObjectField("_target");
            if (!target.IsNull && target.Type!.GetFieldByName("_continuation") is { IsObjectReference: true })
            {
                target = target.ReadObjectField("_continuation");
            }

            runs = target;
        }

        return new
        {
            type = continuation.Type!.Name,
            context,
            runs = !runs.IsNull && IsTask(runs.Type) ? Hex(runs.Address) : null,
        };
    }

    private static bool IsPool(ClrType type) => type.Name == "System.Threading.Tasks.ThreadPoolTaskScheduler";

    private static string Hex(ulong value) => $"0x{value:x}";
}
