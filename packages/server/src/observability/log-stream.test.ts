import { execFileSync } from 'node:child_process';
import {
  closeSync,
  constants,
  existsSync,
  mkdtempSync,
  openSync,
  readFileSync,
  readSync,
  rmSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { LogStream } from './log-stream.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'tally-log-stream-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

/** A stream on a path, and how many lines it has dropped. */
function streamOn(path: string, flags: number): { stream: LogStream; dropped: () => number; fd: number } {
  const fd = openSync(path, flags);
  let count = 0;
  const stream = new LogStream(fd, (lines) => {
    count += lines;
  });
  return { stream, dropped: () => count, fd };
}

const line = (number: number): string => `${JSON.stringify({ number, text: 'x'.repeat(1_000) })}\n`;

it('writes lines in their order, at the latest after a second', async () => {
  const path = join(folder, 'log');
  const { stream, dropped, fd } = streamOn(path, constants.O_CREAT | constants.O_WRONLY);
  const lines = Array.from({ length: 50 }, (_, number) => line(number));
  for (const one of lines) stream.write(one);
  await vi.waitFor(() => expect(readFileSync(path, 'utf8')).toBe(lines.join('')), 60_000);
  expect(dropped()).toBe(0);
  closeSync(fd);
});

it.skipIf(!existsSync('/dev/full'))('drops and counts lines that find no space', async () => {
  const { stream, dropped, fd } = streamOn('/dev/full', constants.O_WRONLY);
  for (let number = 0; number < 10; number++) stream.write(line(number));
  await vi.waitFor(() => expect(dropped()).toBe(10), 60_000);
  closeSync(fd);
});

it('goes on with the next line, on a line of its own, once there is space again', async () => {
  // A pipe that nobody reads takes 64 KiB and then refuses; reading from it makes space.
  const path = join(folder, 'pipe');
  execFileSync('mkfifo', [path]);
  const { stream, dropped, fd } = streamOn(path, constants.O_RDWR | constants.O_NONBLOCK);
  const count = 300;
  for (let number = 0; number < count; number++) stream.write(line(number));
  await vi.waitFor(() => expect(dropped()).toBeGreaterThan(0), 60_000);
  await vi.waitFor(() => {
    stream.write(line(count));
    expect(readAll(fd)).not.toBe('');
  }, 60_000);
  const before = dropped();
  stream.write(line(count + 1));
  let last = '';
  await vi.waitFor(() => {
    last += readAll(fd);
    expect(last.split('\n').at(-2)).toBe(line(count + 1).trimEnd());
  }, 60_000);
  expect(dropped()).toBe(before);
  closeSync(fd);
});

it('holds no more than a megabyte for a reader that has stopped', async () => {
  const path = join(folder, 'log');
  const { stream, dropped, fd } = streamOn(path, constants.O_CREAT | constants.O_WRONLY);
  const big = `${'x'.repeat(300_000)}\n`;
  // The first goes to the disk at once; of the others three fit while it is under way.
  for (let number = 0; number < 6; number++) stream.write(big);
  expect(dropped()).toBe(2);
  await vi.waitFor(() => expect(readFileSync(path).length).toBe(4 * big.length), 60_000);
  closeSync(fd);
});

function readAll(fd: number): string {
  const parts: Buffer[] = [];
  for (;;) {
    const part = Buffer.alloc(65_536);
    try {
      const length = readSync(fd, part);
      if (length === 0) break;
      parts.push(part.subarray(0, length));
    } catch {
      break;
    }
  }
  return Buffer.concat(parts).toString();
}
