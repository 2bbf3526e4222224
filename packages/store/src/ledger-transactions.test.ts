import {
  DummyDriver,
  Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  sql,
} from 'kysely';
import { expect, test } from 'vitest';
import { ledgerQueries } from './ledger-queries.ts';
import { registerMember } from './ledger-transactions.ts';
import type { Schema } from './schema.ts';

const db = new Kysely<Schema>({
  dialect: {
    createAdapter: () => new PostgresAdapter(),
    createDriver: () => new DummyDriver(),
    createIntrospector: (one) => new PostgresIntrospector(one),
    createQueryCompiler: () => new PostgresQueryCompiler(),
  },
});
const queries = ledgerQueries(db, { forUpdate: sql`` });

test.each([
  ['the same member', 'did:web:a', { did: 'did:web:a', handle: 'h', registeredAt: 1, jobs: 0 }],
  ['another one', 'did:web:b', 'handle_taken'],
])('a registration that is committed between the two look-ups: of %s', (_, did, expected) => {
  const work = registerMember(queries, { did, handle: 'h', at: 2 });
  expect(work.next().value).toMatchObject({ values: [did] });
  expect(work.next({ rows: [], changed: 0 }).value).toMatchObject({ values: ['h'] });
  const between = { did: 'did:web:a', handle: 'h', registeredAt: 1, jobs: 0 };
  expect(work.next({ rows: [between], changed: 0 })).toEqual({ done: true, value: expected });
});
