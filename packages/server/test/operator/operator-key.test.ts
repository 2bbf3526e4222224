import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Ran, type Service, serve, workspace } from '../../../cli/test/tally.ts';

const { at, tally, remove } = workspace();
let service: Service;

beforeAll(async () => {
  service = await serve(at('data'));
});
afterAll(async () => {
  await service.stop();
  remove();
});

const here = (args: readonly string[]): Promise<Ran> => tally(args, { env: service.env });
const ask = async (key: string): Promise<number> => {
  const headers = { authorization: `Bearer ${key}` };
  return (await fetch(`${service.url}/v1/operator/overview`, { headers })).status;
};

test('a key is shown once, counts at once until it is revoked', async () => {
  const made = JSON.parse((await here(['operator-key', 'create', '--label', 'on call', '--json'])).stdout);
  expect(made).toEqual({
    key: expect.stringMatching(/^k_op_[0-9A-Za-z]{32}$/) as string,
    id: expect.stringMatching(/^opk_[0-9a-z]{16}$/) as string,
    label: 'on call',
  });
  expect(await ask(made.key)).toBe(200);
  const listed = await here(['operator-key', 'list']);
  expect(listed.stdout).toContain(made.id);
  expect(listed.stdout).toContain('on call');
  expect(listed.stdout).not.toContain(made.key);
  expect(await here(['operator-key', 'revoke', made.id])).toMatchObject({ code: 0 });
  expect(await ask(made.key)).toBe(401);
});

test('a link needs an address that is known', async () => {
  const args = ['operator-key', 'create', '--link'];
  const refused = await tally(args, { env: { ...service.env, PORT: '0' } });
  expect(refused).toMatchObject({ code: 2, stdout: '' });
  expect(refused.stderr).toContain('TALLY_SITE_URL');
  const link = await tally(args, {
    env: { ...service.env, PORT: '0', TALLY_SITE_URL: 'https://acme.example' },
  });
  expect(link.stdout).toMatch(/^https:\/\/acme\.example\/operator#k_op_/);
});

test('what is no id of a key is refused, and not repeated', async () => {
  const refused = await here(['operator-key', 'revoke', 'k_op_secret']);
  expect(refused.code).toBe(2);
  expect(refused.stderr).toContain('is not the id of an operator key');
  expect(refused.stderr).not.toContain('k_op_secret');
  const unknown = await here(['operator-key', 'revoke', `opk_${'0'.repeat(16)}`]);
  expect(unknown.code).toBe(1);
});
