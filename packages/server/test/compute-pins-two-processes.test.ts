import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Routed, startRouted } from './compute.ts';
import { DATABASES } from './service.ts';

const SESSIONS = 10;
const EASY = 'Say hello.';
const HARD =
  'Prove that there are infinitely many primes p with p = 3 (mod 4), then compute the integral of x^2 e^x.';

/** Services with nothing in common but their database and their keys, as processes are. */
describe.each(DATABASES)('a session at two services on one database, %s', (database) => {
  let one: Routed;
  let other: Routed;
  beforeAll(async () => {
    one = await startRouted({ database });
    const { database: shared, keyring, dataDir } = one.service.config;
    other = await startRouted({
      env: {
        TALLY_DATA_DIR: dataDir,
        TALLY_KEYRING: keyring.path,
        ...(shared.kind === 'postgres' && { TALLY_DATABASE_URL: shared.url }),
      },
    });
  });
  afterAll(async () => {
    await other.close();
    await one.close();
  });

  const modelOf = async (routed: Routed, content: string, session?: string): Promise<unknown> => {
    const { json } = await routed.chat({
      model: 'auto',
      messages: [{ role: 'user', content }],
      cost_quality: 5,
      ...(session !== undefined && { svc: { session } }),
    });
    return json['model'];
  };

  it('stays with the model of its first call', async () => {
    const [easy, hard] = [await modelOf(one, EASY), await modelOf(other, HARD)];
    expect(easy).not.toBe(hard);
    const models = [];
    for (const [routed, content] of [
      [one, EASY],
      [other, HARD],
      [other, EASY],
      [one, HARD],
    ] as const)
      models.push(await modelOf(routed, content, 'after-each-other'));
    expect(models).toEqual([easy, easy, easy, easy]);
  });

  it('has one model when its first calls come at once', async () => {
    for (let n = 0; n < SESSIONS; n++) {
      const session = `at-once-${n}`;
      const models = await Promise.all([modelOf(one, EASY, session), modelOf(other, HARD, session)]);
      expect(new Set(models).size).toBe(1);
    }
  });
});
