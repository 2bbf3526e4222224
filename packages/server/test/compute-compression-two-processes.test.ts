import type { JsonObject } from '@tallystick/core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { incident, saidIn, toolTurn } from './compressible.ts';
import { type Routed, startRouted } from './compute.ts';

/** Two services with nothing in common but their PostgreSQL and their keys, as two processes are. */
let one: Routed;
let other: Routed;
beforeAll(async () => {
  one = await startRouted({ database: 'postgres' });
  const { database, keyring } = one.service.config;
  if (database.kind !== 'postgres') throw new Error('The service is on PostgreSQL.');
  other = await startRouted({ env: { TALLY_DATABASE_URL: database.url, TALLY_KEYRING: keyring.path } });
});
afterAll(async () => {
  await other.close();
  await one.close();
});

const svc = (budget: number) => ({ compression: 'extractive', retrieve: true, budget });
const sentBy = ({ upstream }: Routed): string =>
  JSON.stringify(upstream.requests.at(-1)?.body['messages']).slice(0, -1);

describe('a session that goes by two services on one database', () => {
  it('has the same bytes from both, turn after turn', async () => {
    const messages: JsonObject[] = [{ role: 'system', content: 'You watch.' }];
    let before = '';
    for (let turn = 0; turn < 8; turn += 1) {
      messages.push({ role: 'user', content: `What of request ${turn * 7919}?` });
      messages.push(...toolTurn(`call_${turn}`, incident(150 + turn, `S-${turn}`)));
      const [first, second] = turn % 2 === 0 ? [one, other] : [other, one];
      expect((await first.chat({ messages, svc: svc(0.3) })).status).toBe(200);
      expect((await second.chat({ messages, svc: svc(0.3) })).status).toBe(200);
      expect(sentBy(second)).toBe(sentBy(first));
      expect(sentBy(first).startsWith(before)).toBe(true);
      before = sentBy(first);
      messages.push({ role: 'assistant', content: 'So.' });
    }
    expect(before.length).toBeLessThan(JSON.stringify(messages).length * 0.5);
  });

  it('has one form of a block that both cut at once for different questions', async () => {
    const log = incident(300, 'S');
    for (let round = 0; round < 6; round += 1) {
      const opening = [
        { role: 'user', content: `Round ${round}.` },
        ...toolTurn('call_1', log),
        { role: 'user', content: 'x' },
      ];
      const asks = (number: number) => [
        ...opening.slice(0, -1),
        { role: 'user', content: `Request ${number}?` },
      ];
      const replies = await Promise.all([
        one.chat({ messages: asks(7919 * 40), svc: svc(0.2) }),
        other.chat({ messages: asks(7919 * 250), svc: svc(0.2) }),
      ]);
      expect(replies.map(({ status }) => status)).toEqual([200, 200]);
      const blocks = [one, other].map(
        ({ upstream }) =>
          (upstream.requests.at(-1)?.body as { messages: JsonObject[] } | undefined)?.messages[2],
      );
      expect(blocks[0]).toEqual(blocks[1]);
      expect(saidIn(blocks[0])).toContain('[cut ');
    }
  });
});
