import type { SessionVerification } from '@tallystick/core';
import { ApiProblem, api, apiText, type ListPage } from '../../api.ts';
import type { Call } from '../activity/documents.ts';

/** Most calls of a session that are read, and receipts that its record refers to. */
export const MOST_CALLS = 1_000;
const MOST_REFERENCES = 50;

/** What is known of a session. */
export interface Session {
  /** Newest first. */
  readonly calls: readonly Call[];
  /** Whether there are more calls than were read. */
  readonly isCut: boolean;
  /** The verdict on its signed record; null where there is none. */
  readonly record: SessionVerification | null;
}

/** Reads a session of the caller, and verifies its record here. @throws ApiProblem */
export async function readSession(id: string, signal: AbortSignal): Promise<Session> {
  const [page, text] = await Promise.all([
    api<ListPage<Call>>('/v1/compute/calls', { query: { session: id, limit: MOST_CALLS }, signal }),
    recordOf(id, signal),
  ]);
  return {
    calls: page.data,
    isCut: page.next_cursor !== null,
    record: text === null ? null : await judged(text, signal),
  };
}

/** The signed record, JSON Lines; null where the caller has none of this id. */
async function recordOf(id: string, signal: AbortSignal): Promise<string | null> {
  if (!/^[0-9a-f]{32}$/.test(id)) return null;
  try {
    return await apiText(`/v1/sessions/${id}`, { signal });
  } catch (error) {
    if (error instanceof ApiProblem && [404, 410].includes(error.status ?? 0)) return null;
    throw error;
  }
}

async function judged(record: string, signal: AbortSignal): Promise<SessionVerification> {
  const bundle = await apiText('/.well-known/trust.json', { signal });
  const { judgeSession } = await import('../../judge.ts');
  const alone = await judgeSession(record, bundle, Date.now(), []);
  const ids = alone.entries.flatMap(({ call }) => (call.kind === 'reference' ? [call.receipt_id] : []));
  if (ids.length === 0) return alone;
  const receipts = await Promise.all(ids.slice(0, MOST_REFERENCES).map((id) => receiptOf(id, signal)));
  const given = receipts.filter((receipt) => receipt !== null);
  return judgeSession(record, bundle, Date.now(), given);
}

/** Null where the service does not have it, or not any more. */
async function receiptOf(id: string, signal: AbortSignal): Promise<string | null> {
  try {
    return await apiText(`/v1/receipt/${id}`, { signal });
  } catch (error) {
    if (error instanceof ApiProblem && [404, 410].includes(error.status ?? 0)) return null;
    throw error;
  }
}
