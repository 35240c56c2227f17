// Code with every kind of sequence point: hidden ones, two documents, lines that go back.
using System.Collections;

namespace Orders;

public static class Client
{
    public static async Task<int> FetchAsync(int count)
    {
        int sum = 0;
        for (int i = 0; i < count; ++i)
        {
            await Task.Delay(i);
            sum += await FetchAsync(i - 1);
        }
        return sum;
    }

    public static IEnumerable<string> Names(IEnumerable<int> ids)
    {
        foreach (int id in ids)
        {
            if (id % 2 == 0) yield return $"even {id}";
            try
            {
                yield return id switch { 1 => "one", 3 => "three", _ => id.ToString() };
            }
            finally
            {
                Console.Out.Flush();
            }
        }
    }

    public static int Local(int value)
    {
        int Square(int x) => x * x;
        Func<int, int> twice = x =>
        {
            lock (typeof(Client)) return x + x;
        };
        using IDisposable? nothing = null;
        return Square(twice(value));
    }
#line 5000 "Generated.g.cs"
    public static int Generated(int value)
    {
        return value + 1;
#line 7 "Other.g.cs"
    }
#line default
    public static string Name { get; set; } = new('x', 3);

    public static void Back()
    {
#line 900 "Back.cs"
        Console.WriteLine(1);
#line 20 "Back.cs"
        Console.WriteLine(2);
#line hidden
        Console.WriteLine(3);
#line 70000 "Back.cs"
        Console.WriteLine(4);
#line default
    }
}

public sealed class Tree<T> : IEnumerable<T> where T : IComparable<T>
{
    private readonly List<T> items = [];

    public T this[int index] => items[index];

    public IEnumerator<T> GetEnumerator() => items.GetEnumerator();

    IEnumerator IEnumerable.GetEnumerator() => GetEnumerator();
}
