import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { inspect } from 'node:util';
import type { TallyError } from '@tallystick/core';
import { expect, onTestFinished, test } from 'vitest';
import { freePort } from '../../../server/test/free-port.ts';
import { bucketStorage } from '../../test/bucket.ts';
import type { ObjectStorage } from './object-storage.ts';

// How the storage works is tested with a real server, in e2e/system/log-storage.test.ts: here are those that no such server is like.

/** A bucket of a server that answers every request alike. */
async function bucketOf(answer: (response: ServerResponse) => void): Promise<ObjectStorage> {
  const server = createServer((request, response) => {
    request.resume().on('end', () => answer(response));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return bucketStorage({ endpoint, accessKeyId: 'the-id', secretAccessKey: 'hunter2' }, 'log').storage;
}

const failureOf = (work: Promise<unknown>): Promise<TallyError> =>
  work.then(
    () => Promise.reject(new Error('It did not fail.')),
    (error: TallyError) => error,
  );

test('a server that overwrites what is there is refused', async () => {
  const storage = await bucketOf((response) => response.writeHead(200, { etag: '"1"' }).end());
  expect(await failureOf(storage.check())).toMatchObject({
    code: 'unavailable',
    message: expect.stringMatching(
      /^The server of s3:\/\/log\/\S+ overwrites an object though .*If-None-Match/,
    ),
  });
});

test('a file that is larger than any of a log is not read', async () => {
  const storage = await bucketOf((response) => response.end(Buffer.alloc(262_145)));
  const { code, message } = await failureOf(storage.get('tile/0/000'));
  expect([code, message]).toEqual([
    'unavailable',
    expect.stringContaining('tile/0/000 has more than 262144 bytes'),
  ]);
});

test('a server that stops in the middle of a file is not waited for', async () => {
  const storage = await bucketOf((response) => {
    response.writeHead(200, { 'content-length': 64 }).write(Buffer.alloc(32));
  });
  expect((await failureOf(storage.get('tile/0/000'))).message).toMatch(/ cannot be read \(\w+\)\.$/);
});

test('a refusal names what the server called it, and holds neither the request nor a key', async () => {
  const storage = await bucketOf((response) => {
    response.writeHead(403, { 'content-type': 'application/xml' });
    response.end('<Error><Code>AccessDenied</Code><Message>for the-id</Message></Error>');
  });
  for (const work of [
    storage.get('checkpoint'),
    storage.create('tile/0/000', new Uint8Array(1)),
    storage.check(),
  ]) {
    const error = await failureOf(work);
    expect(error).toMatchObject({
      code: 'unavailable',
      message: expect.stringMatching(/ \(AccessDenied\)\.$/),
    });
    expect(inspect(error, { depth: 9, showHidden: true })).not.toMatch(/the-id|hunter2|Signature/);
  }
});

test('a server that is not there is named by what the network says', async () => {
  const storage = bucketStorage(
    { endpoint: `http://127.0.0.1:${await freePort()}`, accessKeyId: 'the-id', secretAccessKey: 'hunter2' },
    'log',
  ).storage;
  expect((await failureOf(storage.get('checkpoint'))).message).toMatch(
    /^The log’s files in s3:\/\/log\/\S+ cannot be read \(ECONNREFUSED\)\.$/,
  );
});
