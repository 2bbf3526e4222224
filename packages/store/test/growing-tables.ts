import { readFileSync } from 'node:fs';

const PAGE = new URL('../../../docs/operating/tables.md', import.meta.url);
const ROW = /^\| `(\w+)` +\| (yes|no) +\|/;

/** Every table that the page on tables describes, and whether it grows as long as the service is used. */
export const documentedTables: ReadonlyMap<string, boolean> = new Map(
  readFileSync(PAGE, 'utf8')
    .split('\n')
    .flatMap((line): [string, boolean][] => {
      const [, name, grows] = ROW.exec(line) ?? [];
      return name === undefined ? [] : [[name, grows === 'yes']];
    }),
);

export const grows = (table: string): boolean => documentedTables.get(table) === true;

/** What the suites of one file have had a database run. */
export class SeenStatements {
  readonly #seen = new Set<string>();
  #migrating: ReadonlySet<string> = new Set();

  /** Notes what each call of a driver's method is given to run: text, or an object with `text`. */
  watch(prototype: object, method: string): void {
    const seen = this.#seen;
    const original = Reflect.get(prototype, method) as (...given: unknown[]) => unknown;
    Reflect.set(prototype, method, function (this: unknown, ...given: unknown[]) {
      const [first] = given;
      const text = typeof first === 'object' && first !== null && 'text' in first ? first.text : first;
      if (typeof text === 'string') seen.add(text);
      return Reflect.apply(original, this, given);
    });
  }

  /** What was seen until now belongs to migrations, which run once. */
  endMigrations(): void {
    this.#migrating = new Set(this.#seen);
  }

  /** Every statement that a service repeats. The audit of the ledger is none: it reads the books from end to end. */
  all(): readonly string[] {
    return [...this.#seen].filter(
      (sql) =>
        /^\s*(select|insert|update|delete|with)\b/i.test(sql) &&
        !this.#migrating.has(sql) &&
        !/^\s*with\s+summed as/.test(sql),
    );
  }
}
