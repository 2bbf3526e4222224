import { useState } from 'preact/hooks';
import { type ApiProblem, api, type ListPage, type Query } from './api.ts';
import { problemOf, useLoad } from './load.ts';

/** A list as far as it was read. */
export interface Listing<Row> {
  readonly rows: readonly Row[];
  /** Why there is no list. */
  readonly problem: ApiProblem | null;
  /** Why the next page could not be read; the rows before it stay. */
  readonly olderProblem: ApiProblem | null;
  readonly busy: boolean;
  /** Reads the next page; null after the last. */
  readonly more: (() => void) | null;
  readonly reload: () => void;
}

/** The pages after the first, and the list that they belong to. */
interface Older<Row> {
  readonly first: ListPage<Row> | null;
  readonly pages: readonly ListPage<Row>[];
  readonly busy: boolean;
  readonly problem: ApiProblem | null;
}

const PER_PAGE = 50;

/**
 * Reads a list page by page, from the start whenever `key` changes.
 * @param key everything that it depends on, as text
 * @param limit rows of a page
 */
export function useListing<Row>(
  key: string,
  path: `/${string}`,
  query: Query,
  limit: number = PER_PAGE,
): Listing<Row> {
  const first = useLoad(key, (signal) => api<ListPage<Row>>(path, { query: { ...query, limit }, signal }));
  const none: Older<Row> = { first: first.value, pages: [], busy: false, problem: null };
  const [held, setHeld] = useState(none);
  // What belongs to another list, such as that of whoever was signed in before, is never shown in this one.
  const older = held.first === first.value ? held : none;
  const pages = first.value === null ? [] : [first.value, ...older.pages];
  const cursor = pages.at(-1)?.next_cursor ?? null;
  const readMore = async (): Promise<void> => {
    const change = (to: Partial<Older<Row>>): void =>
      setHeld((now) => (now.first === older.first ? { ...now, ...to } : now));
    setHeld({ ...older, busy: true, problem: null });
    try {
      const next = await api<ListPage<Row>>(path, { query: { ...query, limit, cursor } });
      change({ pages: [...older.pages, next], busy: false });
    } catch (error) {
      change({ problem: problemOf(error), busy: false });
    }
  };
  return {
    rows: pages.flatMap(({ data }) => data),
    problem: first.problem,
    olderProblem: older.problem,
    busy: first.busy || older.busy,
    more: cursor === null ? null : () => void readMore(),
    reload: first.reload,
  };
}
