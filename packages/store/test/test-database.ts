import { afterEach, beforeEach } from 'vitest';
import type { Store } from '../src/store.ts';

/** One empty database: `open` opens it as another process would, `execute` runs SQL behind the store's back. */
export interface TestDatabase {
  readonly open: () => Promise<Store>;
  readonly execute: (sql: string) => Promise<void>;
}

export type CreateDatabase = () => Promise<TestDatabase>;

/** Gives each test of a suite a database of its own, and closes at its end the stores that it has open. */
export function useDatabase(
  create: CreateDatabase,
): TestDatabase & { readonly close: (store: Store) => Promise<void> } {
  let database: TestDatabase;
  let opened: Store[];

  beforeEach(async () => {
    opened = [];
    database = await create();
  });

  afterEach(async () => {
    await Promise.all(opened.map((store) => store.close()));
  });

  return {
    open: async () => {
      const store = await database.open();
      opened.push(store);
      return store;
    },
    close: async (store) => {
      opened.splice(opened.indexOf(store), 1);
      await store.close();
    },
    execute: (sql) => database.execute(sql),
  };
}

export function times<T>(count: number, make: (index: number) => T): T[] {
  return Array.from({ length: count }, (_, index) => make(index));
}

export async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const collected: T[] = [];
  for await (const item of items) collected.push(item);
  return collected;
}
