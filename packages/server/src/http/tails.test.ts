import { Context } from 'hono';
import { expect, it } from 'vitest';
import type { Answer } from './answer.ts';
import type { AppContext } from './context.ts';
import { Tails } from './tails.ts';

const context = (signal = new AbortController().signal): AppContext =>
  new Context(new Request('http://service.test/', { signal }));
const tails = () => new Tails(() => 0);
const keyed = (owner: string) => ({ owner, isFree: false });
const free = (owner: string) => ({ owner, isFree: true });
const read = async () => [];
const readerOf = ({ body }: Answer) => (body as ReadableStream).getReader();

it('counts what is open before anything of it is read', () => {
  const all = tails();
  for (let i = 0; i < 10; i++) all.open(context(), keyed('one'), read);
  expect(() => all.open(context(), keyed('one'), read)).toThrow('At most 10 live lists may be open');
  all.open(context(), keyed('another'), read);
});

it('gives free callers a fifth of all places, and the others the rest', () => {
  const all = tails();
  for (let i = 0; i < 100; i++) all.open(context(), free(`did:${i}`), read);
  expect(() => all.open(context(), free('did:100'), read)).toThrow(
    'DIDs with a low balance have 100 live lists open',
  );
  for (let i = 0; i < 400; i++) all.open(context(), keyed(`key_${i}`), read);
  expect(() => all.open(context(), keyed('key_400'), read)).toThrow('The service has 500 live lists open');
});

it('gives a place back, whether its client leaves before the first event, after it, or had left before', async () => {
  const all = tails();
  const left = new AbortController();
  for (let i = 0; i < 10; i++) all.open(context(left.signal), keyed('one'), read);
  left.abort();
  for (let i = 0; i < 10; i++) all.open(context(left.signal), keyed('one'), read);
  const readers = Array.from({ length: 10 }, () => readerOf(all.open(context(), keyed('one'), read)));
  expect(() => all.open(context(), keyed('one'), read)).toThrow('At most 10');
  await readers[0]?.read();
  await readers[0]?.cancel();
  all.open(context(), keyed('one'), read);
});

it('gives the place of a list back that could not be read', async () => {
  const all = tails();
  const refused = async () => {
    throw new Error('away');
  };
  for (let i = 0; i < 10; i++) {
    const reader = readerOf(all.open(context(), keyed('one'), refused));
    await expect(reader.read()).rejects.toThrow('away');
  }
  all.open(context(), keyed('one'), read);
});
