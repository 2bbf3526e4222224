import { setImmediate } from 'node:timers/promises';
import type { QueryResult } from 'pg';
import { expect, it } from 'vitest';
import { all, run, send, type Work } from './database-work.ts';
import type { RunStatement } from './postgres-pool.ts';
import { perform } from './postgres-work.ts';
import type { Statement } from './statement.ts';

const named = (sql: string): Statement<object, unknown> => ({ sql, parameters: [] });

/** A connection that answers in order, a turn of the event loop after each statement. From the first that fails on it refuses all. */
function connection(failing?: string) {
  const events: string[] = [];
  let last = Promise.resolve();
  let failed = false;
  const answer = async (sql: string): Promise<QueryResult> => {
    events.push(`asked ${sql}`);
    const before = last;
    const { promise, resolve } = Promise.withResolvers<void>();
    last = promise;
    await before;
    await setImmediate();
    resolve();
    events.push(`answered ${sql}`);
    if (failed) throw new Error(`refused ${sql}`);
    failed = sql === failing;
    if (failed) throw new Error(`failed ${sql}`);
    return { rows: [sql], rowCount: 1 } as unknown as QueryResult;
  };
  const runStatement: RunStatement = (sql) => answer(sql);
  return { events, runStatement };
}

function* work(): Work<unknown[]> {
  yield* send(named('a'), {});
  yield* send(named('b'), {});
  const rows = yield* all(named('c'), {});
  const changed = yield* run(named('d'), {});
  yield* send(named('e'), {});
  return [rows, changed];
}

it('waits for what is needed, and at the end for everything', async () => {
  const { events, runStatement } = connection();
  expect(await perform(runStatement, work())).toEqual([['c'], 1]);
  expect(events.join(', ')).toBe(
    'asked a, asked b, asked c, answered a, answered b, answered c, asked d, answered d, asked e, answered e',
  );
});

it.each(['a', 'b', 'c', 'd', 'e'])(
  'says why %s failed, not that what came after was refused',
  async (sql) => {
    const { events, runStatement } = connection(sql);
    await expect(perform(runStatement, work())).rejects.toMatchObject({
      cause: { message: `failed ${sql}` },
    });
    expect(events).toContain(`answered ${sql}`);
  },
);
