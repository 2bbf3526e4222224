import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { createSigner, type SessionVerification, verifySession } from '@tallystick/core';
import { expect, onTestFinished, test } from 'vitest';
import { openSessionFile } from '../src/session-file/index.ts';

const RECORDER = fileURLToPath(new URL('session-recorder.ts', import.meta.url));
const key = new Uint8Array(32).fill(1);
const { keyId } = await createSigner(key);

/** Starts a recorder and kills it after so many lines of its output. @returns all that it printed */
async function killed(path: string, name: string, after: number): Promise<string[]> {
  const child = spawn(process.execPath, [RECORDER, path, name], { stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = once(child, 'close');
  const lines: string[] = [];
  for await (const line of createInterface(child.stdout)) {
    lines.push(line);
    if (lines.length === after) child.kill('SIGKILL');
  }
  expect((await ended)[1]).toBe('SIGKILL');
  return lines;
}

const judge = async (path: string): Promise<SessionVerification> =>
  verifySession(readFileSync(path), { now: Date.now(), key: keyId });

test('a recorder that is killed at any point loses no call, and the next one goes on', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'tally-kill-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const path = join(folder, 'session.jsonl');
  await (await openSessionFile(path, { key })).release();
  const begun: string[] = [];
  const kept: string[] = [];
  for (let round = 0; round < 24; round++) {
    const after = round % 4 === 0 ? 1 + ((round / 4) % 3) : 1 + Math.floor(Math.random() * 120);
    const lines = await killed(path, `r${round}`, after);
    for (const line of lines) {
      const [state, tool = ''] = line.split(' ');
      if (state === 'begun') begun.push(tool);
      if (state === 'kept') kept.push(tool);
    }
    expect(await judge(path)).toMatchObject({ integrity: true, faults: [] });
  }
  const session = await openSessionFile(path, { key });
  await session.close();
  const verdict = await judge(path);
  expect(verdict).toMatchObject({ valid: true, trusted: true, state: 'closed', notes: [] });
  const outcomes = new Map<string, string[]>();
  for (const { call } of verdict.entries)
    if (call.kind === 'tool') outcomes.set(call.tool, [...(outcomes.get(call.tool) ?? []), call.outcome]);
  expect(begun.filter((tool) => outcomes.get(tool)?.length !== 1)).toEqual([]);
  expect([...outcomes].filter(([, recorded]) => recorded.length !== 1)).toEqual([]);
  expect(kept.filter((tool) => outcomes.get(tool)?.[0] !== 'completed')).toEqual([]);
  expect(kept.length).toBeGreaterThan(100);
  expect([...outcomes.values()].flat()).toContain('unknown');
});
