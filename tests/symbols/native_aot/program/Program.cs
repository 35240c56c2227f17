// A program whose methods have every kind of name. tests/tools/native-aot compiles it; nothing looks at what it prints.

using System;
using System.Collections.Generic;
using System.Linq;
using System.Runtime.InteropServices;
using System.Text.Json;
using System.Text.RegularExpressions;
using System.Threading;
using System.Threading.Tasks;

namespace Shop.Orders
{
    class Store<T>
    {
        public class Shelf<U>
        {
            public string Both(T item, U[] others, ref int at) => typeof(T).Name + others.Length + at++;
        }

        public virtual T First(List<T> items, Dictionary<string, T[]> more)
        {
            try
            {
                return items[0];
            }
            catch (Exception e) when (e.Message.Length > more.Count)
            {
                return default;
            }
            finally
            {
                Console.WriteLine(items.Count);
            }
        }

        public static Store<T> operator +(Store<T> left, Store<T> right) => left ?? right;

        public T this[int at]
        {
            get => default;
            set => Console.WriteLine(at);
        }

        public event Action<T> Changed
        {
            add => Console.WriteLine(value);
            remove => Console.WriteLine(value);
        }

        ~Store() => Console.WriteLine("gone");
    }

    struct Money : IComparable<Money>
    {
        public decimal Amount;

        int IComparable<Money>.CompareTo(Money other) => Amount.CompareTo(other.Amount);

        public override string ToString() => Amount.ToString();

        public static explicit operator checked long(Money money) => checked((long)money.Amount);

        public static explicit operator long(Money money) => (long)money.Amount;
    }

    static class Program
    {
        static readonly object _lock = new();

        static async Task<int> FetchAsync(int count)
        {
            for (int i = 0; i < count; ++i)
            {
                await Task.Delay(1);
            }

            lock (_lock)
            {
                return count;
            }
        }

        static IEnumerable<int> Numbers(int count)
        {
            for (int i = 0; i < count; ++i)
            {
                yield return i;
            }
        }

        static async IAsyncEnumerable<string> Texts()
        {
            await Task.Yield();
            yield return "text";
        }

        static IEnumerable<string> AllTexts()
        {
            IAsyncEnumerator<string> texts = Texts().GetAsyncEnumerator();
            while (texts.MoveNextAsync().AsTask().Result)
            {
                yield return texts.Current;
            }
        }

        static unsafe int Pointers(int* at, void** more, delegate*<int, void> call, int[,] table, int[][] rows,
                                   Span<byte> bytes) =>
            *at + table.Length + rows.Length + bytes.Length + (more == null && call == null ? 1 : 0);

        [UnmanagedCallersOnly(EntryPoint = "exported")]
        static int Exported(int value) => value + 1;

        static unsafe void Main(string[] arguments)
        {
            int Local(int value) => value + arguments.Length;
            Func<int, int> twice = value => Local(value) * 2;
            Console.WriteLine(twice(FetchAsync(3).Result));
            Console.WriteLine(Numbers(4).Where(value => value > 1).Select(value => value.ToString() + arguments.Length)
                                        .Aggregate((left, right) => left + right));
            var texts = new Store<string>();
            var amounts = new Store<Money>();
            texts += texts;
            amounts += amounts;
            texts[0] = "text";
            amounts[1] = default;
            texts.Changed += text => Console.WriteLine(text);
            amounts.Changed += delegate { };
            texts.First([], []);
            amounts.First([default], []);
            int at = 0;
            Console.WriteLine(new Store<string>.Shelf<Money>().Both("text", new Money[2], ref at));
            Console.WriteLine(new Store<Money>.Shelf<string>().Both(default, arguments, ref at));
            Console.WriteLine(checked((long)new Money { Amount = 4 }) + (long)new Money());
            Console.WriteLine(new List<Money> { default, new() { Amount = 2 } }.Order().Count());
            Console.WriteLine(Pointers(&at, null, null, new int[2, 2], new int[2][], stackalloc byte[4]));
            Parallel.For(0, 4, index => Console.WriteLine(index));
            var thread = new Thread(() => Console.WriteLine(AllTexts().Count()));
            thread.Start();
            thread.Join();
            Console.WriteLine(JsonDocument.Parse("[1, 2]").RootElement.ToString());
            Console.WriteLine(new Regex("a(b|c)*d").IsMatch("abcd"));
            Console.WriteLine(typeof(Money).GetMethod("ToString").Invoke(new Money(), []));
        }
    }
}
