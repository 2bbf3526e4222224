import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createLogger } from '../observability/observability.ts';
import { createLogStorms } from './log-storm.ts';

describe('log storms', () => {
  beforeEach(() => vi.useFakeTimers());
  afterEach(() => vi.useRealTimers());

  const lines: { level: number; kind?: string; count?: number; msg: string }[] = [];
  const logger = createLogger('info', { write: (line) => lines.push(JSON.parse(line)) });
  beforeEach(() => void lines.splice(0));

  const FAULT = { level: 'error', burst: 2 } as const;
  const many = <T>(length: number, make: () => T): T[] => Array.from({ length }, make);

  it('lets the first lines of a kind through, and counts the others in one', () => {
    const storms = createLogStorms(logger, 1_000);
    expect(many(5, () => storms.admits('a', FAULT))).toEqual([true, true, false, false, false]);
    expect(storms.admits('b', FAULT)).toBe(true);
    vi.advanceTimersByTime(1_000);
    expect(lines).toEqual([
      expect.objectContaining({ level: 50, kind: 'a', count: 3, msg: expect.stringMatching(/left out/) }),
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
