import { createHash } from 'node:crypto';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import {
  createSigner,
  parseCheckpointText,
  parseNote,
  type Signer,
  signCheckpoint,
  verifierKey,
} from '@tallystick/core';
import { beforeAll, describe, expect, it } from 'vitest';
import { signerFor } from '../packages/issuers/src/keyring.ts';
import { readKeyring } from '../packages/issuers/src/keyring-file.ts';
import { buildGoClient, type GoReport, type GoRequest, runGoClient } from './go-client.ts';
import { createKey, type Key, type LogStatus, place, statusOf, untilSigned } from './log-client.ts';
import { serve, temporaryFolder } from './process.ts';

const client = buildGoClient(temporaryFolder());

/** The log at `upstream`, but for one bit in one of its files. A negative place is the checkpoint's second line. */
async function flipping(
  upstream: string,
  path: string,
  at: number,
): Promise<{ url: string; close: () => unknown }> {
  const answer = async (asked: string, response: ServerResponse): Promise<void> => {
    const given = await fetch(upstream + asked);
    const body = Buffer.from(await given.arrayBuffer());
    const place = at < 0 ? body.indexOf('\n') + 1 : at;
    if (asked === `/${path}`) body.writeUInt8(body.readUInt8(place) ^ 1, place);
    response.writeHead(given.status).end(body);
  };
  const server = createServer((request, response) => void answer(request.url ?? '', response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, close: () => server.close() };
}

describe.skipIf(client.missing !== null)(
  `Go's own log client (${client.missing ?? 'golang.org/x/mod/sumdb'})`,
  () => {
    const FIRST = 300;
    const ALL = 700;
    const entries = Array.from({ length: ALL }, (_, index) =>
      createHash('sha256').update(`${index}`).digest(),
    );
    let url: string;
    let log: LogStatus;
    let key: Signer;
    let early: GoReport;
    const read = (changes: Partial<GoRequest> = {}): Promise<GoReport> =>
      runGoClient(client.path, { log: url, verifier_key: log.verifier_key, entries: [], ...changes });

    beforeAll(async () => {
      const dataDir = temporaryFolder();
      ({ url } = await serve({ TALLY_DATA_DIR: dataDir }));
      const apiKey = await createKey('pro', { TALLY_DATA_DIR: dataDir });
      key = signerFor(await readKeyring(join(dataDir, 'keyring.json'), null), 'log');
      log = await anchor(apiKey, 0, FIRST);
      early = await read();
      await anchor(apiKey, FIRST, ALL);
    });

    /** Hands in the hashes [from, to) and waits until a checkpoint covers them. */
    async function anchor(apiKey: Key, from: number, to: number): Promise<LogStatus> {
      const hashes = entries.slice(from, to).map((entry) => entry.toString('base64url'));
      await place(url, apiKey, hashes);
      await untilSigned(url, to);
      return statusOf(url);
    }

    const placed = (from: number, to: number): GoRequest['entries'] =>
      entries.slice(from, to).map((entry, at) => ({ index: from + at, entry: entry.toString('hex') }));

    it('opens the checkpoint, and tiles and entries give its root', async () => {
      expect(early).toEqual({
        origin: log.origin,
        size: FIRST,
        root: Buffer.from(parseCheckpointText(parseNote(early.checkpoint).text).root).toString('base64'),
        included: 0,
        consistent_from: 0,
        tiles: 3,
        bundles: 2,
        checkpoint: early.checkpoint,
      });
    });

    it('proves every entry at its place, and that the older tree is a prefix', async () => {
      const found = await read({ entries: placed(0, ALL), old_checkpoint: early.checkpoint });
      expect(found).toMatchObject({ size: ALL, included: ALL, consistent_from: FIRST, tiles: 4, bundles: 3 });
      // Witnesses may have added their signatures meanwhile.
      expect((await (await fetch(`${url}/checkpoint`)).text()).startsWith(found.checkpoint)).toBe(true);
    });

    it.each([
      ['another entry', { index: 5, entry: '00'.repeat(32) }, /^entry 5: .*invalid/],
      [
        'an entry at another place',
        { ...placed(5, 6)[0], index: 6 } as GoRequest['entries'][number],
        /^entry 6: /,
      ],
      [
        'a place past the end',
        { ...placed(5, 6)[0], index: ALL } as GoRequest['entries'][number],
        /^entry 700: not/,
      ],
    ])('refuses %s', async (_, entry, message) => {
      await expect(read({ entries: [entry] })).rejects.toThrow(message);
    });

    it('refuses another key of the same name', async () => {
      const { publicKey } = await createSigner(new Uint8Array(32).fill(7));
      const verifier_key = verifierKey(log.origin, publicKey);
      await expect(read({ verifier_key })).rejects.toThrow(/^checkpoint: .*no verifiable signatures/);
    });

    it('refuses an older checkpoint of a fork, though the log signed it', async () => {
      const { origin, size } = parseCheckpointText(parseNote(early.checkpoint).text);
      const fork = await signCheckpoint({ origin, size, root: new Uint8Array(32).fill(7) }, key);
      await expect(read({ old_checkpoint: fork })).rejects.toThrow(/^from 300 to 700: /);
      const longer = await signCheckpoint({ origin, size: ALL + 1, root: new Uint8Array(32) }, key);
      await expect(read({ old_checkpoint: longer })).rejects.toThrow(/^from 701 to 700: /);
    });

    it.each([
      ['a hash tile', 'tile/0/001', 40, /inconsistent tile/],
      ['the tile above', 'tile/1/000.p/2', 40, /inconsistent tile/],
      ['an entry', 'tile/entries/001', 40, /^entry 257 does not have the hash of its leaf$/],
      ['an entry’s length', 'tile/entries/001', 1, /^entry 256/],
      ['the checkpoint’s size', 'checkpoint', -1, /^checkpoint: /],
    ])('finds one flipped bit in %s', async (_, path, at, message) => {
      const relay = await flipping(url, path, at);
      await expect(read({ log: relay.url })).rejects.toThrow(message);
      relay.close();
    });
  },
);
