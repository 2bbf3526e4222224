import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { canonicalBytes, sha256Hex, utf8 } from '@tallystick/core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { AnswerCase } from '../../../scripts/vectors/answers.ts';
import { callCheck } from './call-hashes.ts';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'tally-call-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

function file(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

const hashed = (bytes: Uint8Array): string => `sha256:${sha256Hex(bytes)}`;
const answered = { id: 'c', choices: [] };
const receiptOf = (request: string, response: string) => ({
  request: { hash: request },
  response: { hash: response },
});

describe('the hashes of an inference call', () => {
  it('are of the request and of the answer without svc, however they are written', async () => {
    const request = file('req.json', '{ "messages": [],\n "model": "m" }');
    const response = file('res.json', '{"svc":{"receipt":{}},"choices":[],"id":"c"}');
    const check = await callCheck({ request, response });
    const right = receiptOf(
      hashed(canonicalBytes({ model: 'm', messages: [] })),
      hashed(canonicalBytes(answered)),
    );
    expect(check?.(right)).toMatchObject({ name: 'call', ok: true });
    expect(check?.({ ...right, request: { hash: null } })).toMatchObject({ ok: false });
    expect(check?.(null)).toMatchObject({ ok: false });
  });

  it.each([
    [
      'a whole stream',
      '{"a":1}\n{"b":\n2}\n',
      'data: {"a":1}\n\ndata: {"b":\ndata: 2}\n\ndata: {"svc":{}}\n\ndata: [DONE]\n\n',
    ],
    ['a stream with CRLF', '{"a":1}\n', 'data: {"a":1}\r\n\r\ndata: {"svc":{}}\r\n\r\n'],
    [
      'a stream in which a provider says svc too',
      '{"a":1}\n{"svc":{"receipt":{}}}\n{"b":1}\n',
      'data: {"a":1}\n\ndata: {"svc":{"receipt":{}}}\n\ndata: {"b":1}\n\ndata: {"svc":{}}\n\ndata: [DONE]\n\ndata: {"svc":0}\n\n',
    ],
    ['a stream that was left', '{"a":1}\n', 'data: {"a":1}\n\n'],
    ['a stream that speaks of svc', '{"a":"\\"svc\\""}\n', 'data: {"a":"\\"svc\\""}\n\ndata: {"svc":{}}\n\n'],
  ])('are of every payload before svc: %s', async (_, covered, text) => {
    const check = await callCheck({ response: file('res.sse', text) });
    expect(check?.(receiptOf('', hashed(utf8(covered))))).toMatchObject({ ok: true });
    expect(check?.(receiptOf('', hashed(utf8(`${covered}x`))))).toMatchObject({ ok: false });
  });

  const vectors = new URL('../../../spec/vectors/answers.json', import.meta.url);
  it.each(JSON.parse(readFileSync(vectors, 'utf8')) as AnswerCase[])(
    'are those of the vectors: $name',
    async ({ answer, hash, valid }) => {
      const check = await callCheck({ response: file('answer', answer) });
      expect(check?.(receiptOf('', hash))).toMatchObject({ ok: valid });
    },
  );

  it('are not looked at where no file is given', async () => {
    expect(await callCheck({})).toBeNull();
  });
});
