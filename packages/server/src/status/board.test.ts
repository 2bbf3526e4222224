import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { Board } from './board.ts';
import { ENDPOINTS } from './endpoints.ts';
import type { Finding } from './probe.ts';

const NOW = Date.UTC(2027, 2, 1, 12);
const [endpoint] = ENDPOINTS;
if (endpoint === undefined) throw new Error('There is no endpoint.');

const answered = (milliseconds: number): Finding => ({ well: true, code: 'ok', milliseconds });
const lost: Finding = { well: false, code: 'timeout', milliseconds: null };

/** What is told after each of these, a minute apart. */
function told(board: Board, ...findings: readonly Finding[]) {
  return findings.map((finding, minute) =>
    board.note(endpoint as (typeof ENDPOINTS)[number], finding, null, NOW + minute * 60_000),
  );
}

it('docs/status.md lists the endpoints as they are', () => {
  const page = readFileSync(new URL('../../../../docs/status.md', import.meta.url), 'utf8');
  const listed = [...page.matchAll(/^\| `(\w+)` +\| `(\w+) (\S+)` +\| (\w+) +\| (\w+) +\|$/gm)];
  expect(listed.map(([, ...cells]) => cells)).toEqual(
    ENDPOINTS.map(({ name, method, path, availability, probe }) => [name, method, path, availability, probe]),
  );
  expect(listed).toHaveLength(17);
});

describe('the board', () => {
  it('tells the median of the newest fifteen answers', () => {
    const board = new Board();
    expect(
      told(board, answered(3), answered(1), answered(2.004)).map(({ latency_ms }) => latency_ms),
    ).toEqual([3, 1, 2]);
    const later = told(board, ...Array.from({ length: 15 }, () => answered(7)));
    expect(later.at(-1)).toMatchObject({ latency_ms: 7, samples: 15 });
  });

  it('does not count what was not answered', () => {
    expect(
      told(new Board(), lost, answered(5)).map(({ latency_ms, samples }) => [latency_ms, samples]),
    ).toEqual([
      [null, 0],
      [5, 1],
    ]);
  });

  it('calls slow what is mostly slow, and not what is once', () => {
    const states = told(
      new Board(),
      answered(5),
      answered(2_000),
      answered(5),
      answered(2_000),
      answered(2_000),
    );
    expect(states.map(({ state, code }) => `${state} ${code}`)).toEqual([
      'up ok',
      'up ok',
      'up ok',
      'up ok',
      'degraded slow',
    ]);
  });

  it('says since when it is so: also of what an earlier process found', () => {
    const board = new Board();
    const [first] = told(board, answered(1));
    const heir = new Board();
    heir.resume({ endpoints: first === undefined ? [] : [{ ...first }], providers: [], models: [] });
    const [same, down, again] = told(heir, answered(1), lost, answered(1));
    expect([same?.since, same?.samples]).toEqual([first?.since, 1]);
    expect([down?.since, again?.since]).toEqual(['2027-03-01T12:01:00Z', '2027-03-01T12:02:00Z']);
  });

  it('lets trouble behind a gate count, and a wrong answer more', () => {
    const board = new Board();
    const trouble = { state: 'degraded', code: 'postings_overdue' } as const;
    expect(board.note(endpoint, answered(1), trouble, NOW)).toMatchObject(trouble);
    expect(board.note(endpoint, lost, trouble, NOW)).toMatchObject({ state: 'down', code: 'timeout' });
  });
});
