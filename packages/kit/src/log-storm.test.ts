import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createLogStorms } from './log-storm.ts';

describe('log storms', () => {
  beforeEach(() => vi.useFakeTimers());
  afterEach(() => vi.useRealTimers());

  const lines: object[] = [];
  const lineOf = (level: string) => (fields: object, msg: string) =>
    void lines.push({ level, ...fields, msg });
  const logger = { info: lineOf('info'), warn: lineOf('warn'), error: lineOf('error') };
  beforeEach(() => void lines.splice(0));

  const FAULT = { level: 'error', burst: 2 } as const;
  const many = <T>(length: number, make: () => T): T[] => Array.from({ length }, make);

  it('lets the first lines of a kind through, and counts the others in one', () => {
    const storms = createLogStorms(logger, 1_000);
    expect(many(5, () => storms.admits('a', FAULT))).toEqual([true, true, false, false, false]);
    expect(storms.admits('b', FAULT)).toBe(true);
    vi.advanceTimersByTime(1_000);
    expect(lines).toEqual([
      expect.objectContaining({
        level: 'error',
        kind: 'a',
        count: 3,
        msg: expect.stringMatching(/left out/),
      }),
    ]);
    expect(storms.admits('a', FAULT)).toBe(true);
  });

  it('holds no more kinds than it may', () => {
    const storms = createLogStorms(logger, 1_000);
    let kind = 0;
    expect(many(3_000, () => storms.admits(`kind ${kind++}`, FAULT)).filter(Boolean)).toHaveLength(2_002);
    vi.advanceTimersByTime(1_000);
    expect(lines).toEqual([expect.objectContaining({ kind: '(others)', count: 998 })]);
  });
});
