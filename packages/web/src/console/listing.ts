import { useEffect, useState } from 'preact/hooks';
import { type ApiProblem, api, type ListPage, type Query } from './api.ts';
import { problemOf, useLoad } from './load.ts';

/** A list as far as it was read. */
export interface Listing<Row> {
  readonly rows: readonly Row[];
  readonly problem: ApiProblem | null;
  readonly busy: boolean;
  /** Reads the next page; null after the last. */
  readonly more: (() => void) | null;
  readonly reload: () => void;
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
  const [older, setOlder] = useState<readonly ListPage<Row>[]>([]);
  const [reading, setReading] = useState(false);
  const [failed, setFailed] = useState<ApiProblem | null>(null);
  const first = useLoad(key, (signal) => api<ListPage<Row>>(path, { query: { ...query, limit }, signal }));
  useEffect(() => {
    // The same array, where it is empty: another one would be another list to a page that is on its way.
    setOlder((held) => (held.length === 0 ? held : []));
    setFailed(null);
  }, [first.value]);
  const pages = first.value === null ? [] : [first.value, ...older];
  const cursor = pages.at(-1)?.next_cursor ?? null;
  const readMore = async (): Promise<void> => {
    setReading(true);
    try {
      const next = await api<ListPage<Row>>(path, { query: { ...query, limit, cursor } });
      // Unless another list is shown by now.
      setOlder((held) => (held === older ? [...held, next] : held));
    } catch (error) {
      setFailed(problemOf(error));
    } finally {
      setReading(false);
    }
  };
  return {
    rows: pages.flatMap(({ data }) => data),
    problem: first.problem ?? failed,
    busy: first.busy || reading,
    more: cursor === null ? null : () => void readMore(),
    reload: first.reload,
  };
}
