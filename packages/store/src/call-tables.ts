import type { CallRow, NewCall } from '@tallystick/inference';
import { bandOf } from '@tallystick/inference/rows';
import { sql } from 'kysely';
import type { Bulk } from './bulk.ts';
import type { CallCount, CallTag } from './call-rows.ts';
import type { Work } from './database-work.ts';
import type { Dialect } from './dialect.ts';
import { sessionAdder, sessionsOfCalls } from './session-list-tables.ts';
import { table } from './table.ts';

/** The statements about many calls. */
export interface CallTables {
  /** Inserts the calls whose id is new, with all that belongs to them. */
  putCalls(calls: readonly NewCall[]): Work<void>;
  /** Deletes rows whose id says that they are of earlier than `before`, in Unix seconds; how many they were. */
  purgeCalls(values: { readonly before: number; readonly limit: number }): Work<number>;
}

/** Lengths of the spans that calls are counted by: a minute, an hour and a day. */
const SPANS = [60, 3_600, 86_400] as const;

const CALLS = table<CallRow>('calls', ['id'], {
  id: 'text',
  owner: 'text',
  at: 'integer',
  receiptId: 'text',
  model: 'text',
  requestedModel: 'text',
  provider: 'text',
  routeReason: 'text',
  stream: 'integer',
  promptTokens: 'integer',
  completionTokens: 'integer',
  cachedTokens: 'integer',
  cost: 'money',
  saving: 'money',
  firstByteMs: 'integer',
  totalMs: 'integer',
  status: 'integer',
  errorCode: 'text',
  did: 'text',
  key: 'text',
  session: 'text',
  tags: 'text',
  requestHash: 'text',
});

const TAGS = table<CallTag>('call_tags', ['owner', 'tag', 'at', 'id'], {
  owner: 'text',
  tag: 'text',
  at: 'integer',
  id: 'text',
});

const DETAILS = table<{ id: string; body: string }>('call_details', ['id'], { id: 'text', body: 'text' });

const COUNTS = table<CallCount>(
  'call_counts',
  ['owner', 'span', 'at', 'model', 'provider', 'status', 'key', 'band'],
  {
    owner: 'text',
    span: 'integer',
    at: 'integer',
    model: 'text',
    provider: 'text',
    status: 'integer',
    key: 'text',
    band: 'integer',
    calls: 'integer',
    errors: 'integer',
    promptTokens: 'integer',
    completionTokens: 'integer',
    cost: 'money',
    saving: 'money',
  },
);

/** The sums of one owner's calls in one span. */
const SPAN_COUNTS = table<Pick<CallCount, 'owner' | 'span' | 'at'>>('call_counts', ['owner', 'span', 'at'], {
  owner: 'text',
  span: 'integer',
  at: 'integer',
});

/** What comes before the Unix seconds in the ids of calls, with a receipt and without. */
const ID_PREFIXES = ['call_', 'r_env_'] as const;

export function callTables(bulk: Bulk, { skipLocked }: Dialect): CallTables {
  const insertCalls = bulk.insertNew(CALLS);
  const insertTags = bulk.insert(TAGS);
  const insertDetails = bulk.insert(DETAILS);
  const addCounts = bulk.add(COUNTS);
  const addSessions = sessionAdder(bulk);
  // The ids sort by time, so that this needs no index of its own.
  const takeBetween = bulk.take(
    CALLS,
    (v: { from: string; before: string; limit: number }) =>
      sql`
        select id from calls where id >= ${v.from} and id < ${v.before} order by id limit ${v.limit} ${skipLocked}`,
  );
  const removeTags = bulk.removeEqual(TAGS);
  const removeDetails = bulk.remove(DETAILS);
  const removeCounts = bulk.removeEqual(SPAN_COUNTS);
  return {
    *purgeCalls({ before, limit }) {
      let purged = 0;
      for (const prefix of ID_PREFIXES) {
        const ids = { from: prefix, before: `${prefix}${String(before).padStart(10, '0')}` };
        const calls = yield* takeBetween({ ...ids, limit: limit - purged });
        yield* removeTags(calls.flatMap(tagsOf));
        yield* removeDetails(calls.map(({ id }) => id));
        yield* removeCounts(minutesOf(calls));
        purged += calls.length;
      }
      return purged;
    },
    *putCalls(calls) {
      const inserted = yield* insertCalls(calls);
      const added = calls.filter(({ id }) => inserted.has(id));
      yield* insertTags(added.flatMap(tagsOf));
      yield* insertDetails(added.flatMap(({ id, detail }) => (detail === null ? [] : { id, body: detail })));
      yield* addCounts(countsOf(added));
      yield* addSessions(sessionsOfCalls(added));
    },
  };
}

/** The minutes in which calls were counted, each once. Hours and days are counted for good. */
function minutesOf(calls: readonly CallRow[]): Pick<CallCount, 'owner' | 'span' | 'at'>[] {
  const [span] = SPANS;
  const minutes = calls.map(({ owner, at }) => ({ owner, span, at: Math.floor(at / 1_000 / span) * span }));
  return [...new Map(minutes.map((one) => [`${one.owner}\0${one.at}`, one])).values()];
}

function tagsOf({ id, owner, at, tags }: CallRow): CallTag[] {
  if (tags === null) return [];
  return Object.entries(JSON.parse(tags) as Record<string, string>).map(([name, value]) => {
    return { owner, tag: `${name}:${value}`, at, id };
  });
}

/** The sums by each span, each of them once, so that a statement adds to a row only once. */
function countsOf(calls: readonly NewCall[]): CallCount[] {
  const sums = new Map<string, CallCount>();
  for (const call of calls) {
    const { owner, model, provider, status, key, errorCode, promptTokens, completionTokens } = call;
    const place = [owner, model ?? '', provider ?? '', status, key ?? '', bandOf(call.totalMs)] as const;
    for (const span of SPANS) {
      const at = Math.floor(call.at / 1_000 / span) * span;
      const name = JSON.stringify([span, at, ...place]);
      const before = sums.get(name);
      sums.set(name, {
        owner,
        span,
        at,
        model: place[1],
        provider: place[2],
        status,
        key: place[4],
        band: place[5],
        calls: (before?.calls ?? 0) + 1,
        errors: (before?.errors ?? 0) + (errorCode === null ? 0 : 1),
        promptTokens: (before?.promptTokens ?? 0) + (promptTokens ?? 0),
        completionTokens: (before?.completionTokens ?? 0) + (completionTokens ?? 0),
        cost: (before?.cost ?? 0n) + call.cost,
        saving: (before?.saving ?? 0n) + call.saving,
      });
    }
  }
  return [...sums.values()];
}
