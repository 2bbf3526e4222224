import { spawnSync } from 'node:child_process';
import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { generateSecretKey, publicKeyOf, witnessKey } from '@tallystick/core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { MlDsaCosignatureCase } from '../../scripts/vectors/ml-dsa-cosignatures.ts';
import type { WitnessPolicyCase } from '../../scripts/vectors/witness-policies.ts';
import { type LogStatus, statusOf, until } from '../log-client.ts';
import { type Env, serve, tally, temporaryFolder } from '../process.ts';
import { ownGoProgram } from './go-modules.ts';
import { type Litewitness, startLitewitness } from './litewitness.ts';

type Finding = 'met' | 'unmet' | 'refused';
type Judged = Pick<WitnessPolicyCase, 'policy_base64' | 'checkpoint'>;

let program = '';
beforeAll(() => {
  program = ownGoProgram('tlog-policy');
}, 900_000);

/** What torchwood finds about each policy and the checkpoint that is judged by it. */
function torchwood(cases: readonly Judged[]): Finding[] {
  const { status, stdout, stderr } = spawnSync(program, { input: JSON.stringify(cases), encoding: 'utf8' });
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  const verdicts = JSON.parse(stdout) as { refused?: string; unmet?: string }[];
  return verdicts.map(({ refused, unmet }) => {
    if (refused !== undefined) return 'refused';
    return unmet === undefined ? 'met' : 'unmet';
  });
}

const judgedBy = (policy: string, checkpoint: string): Finding | undefined =>
  torchwood([{ policy_base64: Buffer.from(policy).toString('base64'), checkpoint }])[0];

const readVectors = (name: string) =>
  JSON.parse(readFileSync(new URL(`../../spec/vectors/${name}.json`, import.meta.url), 'utf8'));

describe('the vectors', () => {
  const cases: readonly WitnessPolicyCase[] = readVectors('witness-policies');

  function expectedOf({ expected }: WitnessPolicyCase): Finding {
    if ('code' in expected) return 'refused';
    return expected.witnessed.satisfied ? 'met' : 'unmet';
  }

  it('torchwood judges by policies as is expected, but for what spec/anchor.md says', () => {
    const found = torchwood(cases);
    const other = cases.flatMap((one, at) => (found[at] === expectedOf(one) ? [] : [[one.name, found[at]]]));
    expect(Object.fromEntries(other)).toEqual({
      'one of two logs': 'unmet',
      'a number sign inside a line': 'refused',
      'a no-break space in a name': 'refused',
      'a witness key of a type that nothing defines': 'refused',
      'a quorum that only an unknown key can meet': 'refused',
      // Torchwood takes these texts. None of them has a checkpoint that could meet it.
      'a quorum before its witness': 'unmet',
      CRLF: 'unmet',
      'a control character in a comment': 'unmet',
      'a log with too much': 'unmet',
      'a comment after a line': 'unmet',
      'a quorum of two names': 'unmet',
      'a witness key of small order': 'unmet',
      'one log twice': 'unmet',
      'one witness twice': 'unmet',
      'a witness named none': 'unmet',
      'a group named none': 'unmet',
      'a member twice in a group': 'unmet',
      'a member of two groups': 'unmet',
      'a threshold with a sign': 'unmet',
      'a threshold with a leading zero': 'unmet',
    });
  });

  it('torchwood finds the cosignatures by ML-DSA-44, and of those by one key looks only at the first', () => {
    const logLine = cases[0]?.policy?.split('\n')[0];
    const vectors: readonly MlDsaCosignatureCase[] = readVectors('ml-dsa-cosignatures');
    const found = vectors.map(({ name, note, witness, expected }) => ({
      name,
      expected: expected === null ? 'unmet' : 'met',
      found: judgedBy(`${logLine}\nwitness q ${witness}\nquorum q\n`, note),
    }));
    expect(found.filter((one) => one.found === 'met').map(({ name }) => name)).toContain('cosigned');
    const other = found.filter((one) => one.found !== one.expected);
    expect(other).toEqual([{ name: 'a good and a bad one', expected: 'unmet', found: 'met' }]);
  });
});

describe('a log with two witnesses of litewitness', () => {
  const folder = temporaryFolder();
  const at = (name: string): string => join(folder, name);
  let witnesses: Litewitness[] = [];
  let env: Env;
  let log: LogStatus;

  /** Starts the log, does the work, and ends it. */
  async function withLog(work: (url: string) => Promise<void>): Promise<void> {
    const service = await serve(env);
    try {
      await work(service.url);
    } finally {
      await service.kill('SIGTERM');
    }
  }

  async function run(args: readonly string[], more: Env): Promise<string> {
    const { code, stdout, stderr } = await tally(args, { ...env, TALLY_HOME: at('home'), ...more });
    expect({ args, code, stderr }).toMatchObject({ code: 0 });
    return stdout;
  }

  let key: Env;
  /** Makes a receipt of this name, and waits for its posting. Returns the checkpoint that was posted. */
  async function anchor(url: string, name: string): Promise<string> {
    const client = { ...key, TALLY_URL: url };
    await run(['mint', '--text', name, '--out', at(`${name}.json`)], client);
    await run(['anchor', at(`${name}.json`), '--wait', '--out', at(`${name}.anchor.json`)], client);
    return JSON.parse(readFileSync(at(`${name}.anchor.json`), 'utf8')).checkpoint;
  }

  const signersOf = (note: string): Set<string | undefined> =>
    new Set([...note.matchAll(/^— (\S+) /gm)].map(([, name]) => name));

  let checkpoint: string;
  beforeAll(async () => {
    witnesses = await Promise.all(
      ['one.example', 'two.example'].map((name) => startLitewitness(name, folder)),
    );
    env = {
      TALLY_DATA_DIR: at('data'),
      TALLY_ANCHOR_PERIOD_SECONDS: '1',
      TALLY_WITNESSES: witnesses.map(({ verifierKey, url }) => `${verifierKey} ${url}`).join(', '),
    };
    await withLog(async (url) => {
      log = await statusOf(url);
      for (const witness of witnesses) witness.follow(log.origin, log.verifier_key);
      await run(['trust', 'fetch', '--out', at('bundle.json')], { TALLY_URL: url });
      key = { TALLY_API_KEY: (await run(['apikey', 'create', '--tier', 'pro'], {})).trim() };
      // The second tree must be proved to extend the first.
      await anchor(url, 'first');
      checkpoint = await anchor(url, 'second');
    });
  }, 900_000);
  afterAll(() => Promise.all(witnesses.map((witness) => witness.stop())));

  it('gets the cosignatures of both', () => {
    expect(checkpoint).toMatch(/^\S+\n2\n/);
    expect(signersOf(checkpoint)).toEqual(new Set([log.origin, 'one.example', 'two.example']));
  });

  it('gets them again after all three were started again, and not with an older copy of its data', async () => {
    cpSync(at('data'), at('copy'), { recursive: true });
    await Promise.all(witnesses.map((witness) => witness.restart()));
    // The log no longer knows what they cosigned, so their first answer is a 409 with that size.
    await withLog(async (url) => {
      const third = await anchor(url, 'third');
      expect(third).toMatch(/^\S+\n3\n/);
      expect(signersOf(third)).toEqual(new Set([log.origin, 'one.example', 'two.example']));
    });
    await expect(serve({ ...env, TALLY_DATA_DIR: at('copy') })).rejects.toThrow(
      /The witness \w+\.example has cosigned 3 leaves of this log, but only 2 are here/,
    );
  });

  const stranger = (name: string): string =>
    `witness ${name} ${witnessKey(name, publicKeyOf(generateSecretKey()))}`;

  /** The text that names the log, both witnesses, and strangers `x` and `y`, and goes on with these lines. */
  const policyOf = (...rest: readonly string[]): string =>
    [
      `log ${log.verifier_key}`,
      ...witnesses.map(({ verifierKey }, index) => `witness ${'ab'[index]} ${verifierKey}`),
      stranger('x'),
      stranger('y'),
      ...rest,
      '',
    ].join('\n');

  it.each<[string, Finding, string[]]>([
    ['none', 'met', ['quorum none']],
    ['a witness', 'met', ['quorum a']],
    ['a stranger', 'unmet', ['quorum x']],
    ['2 of 3', 'met', ['group g 2 a x b', 'quorum g']],
    ['3 of 3', 'unmet', ['group g 3 a x b', 'quorum g']],
    ['any', 'met', ['group g any x y b', 'quorum g']],
    ['any of strangers', 'unmet', ['group g any x y', 'quorum g']],
    ['all', 'met', ['group g all a b', 'quorum g']],
    ['a group and a witness', 'met', ['group s any x a', 'group g all s b', 'quorum g']],
    ['three levels', 'met', ['group s any x a', 'group t 1 s y', 'group g 2 t b', 'quorum g']],
    ['a group that is not met', 'unmet', ['group s all x a', 'group g all s b', 'quorum g']],
    ['one of two groups', 'met', ['group s all x a', 'group t all b', 'group g any s t', 'quorum g']],
    ['no quorum line', 'refused', []],
    ['two quorums', 'refused', ['quorum a', 'quorum b']],
    ['an unknown quorum', 'refused', ['quorum z']],
    ['an unknown member', 'refused', ['group g any a z', 'quorum g']],
    ['a name twice', 'refused', ['group a any x', 'quorum a']],
    ['a threshold too high', 'refused', ['group g 3 a b', 'quorum g']],
    ['a threshold of 0', 'refused', ['group g 0 a b', 'quorum g']],
    ['an empty group', 'refused', ['group g any', 'quorum g']],
    ['an unknown keyword', 'refused', ['require a', 'quorum a']],
  ])('%s: tally verify and torchwood say “%s”', async (_, finding, rest) => {
    const policy = policyOf(...rest);
    writeFileSync(at('policy.txt'), policy);
    const files = ['--anchor', at('second.anchor.json'), '--witness-policy', at('policy.txt')];
    const trust = ['--trust', at('bundle.json'), '--json'];
    const { code, stdout } = await tally(['verify', at('second.json'), ...files, ...trust], {
      TALLY_HOME: at('home'),
    });
    expect(code, stdout).toBe({ met: 0, unmet: 3, refused: 2 }[finding]);
    expect(judgedBy(policy, checkpoint)).toBe(finding);
  });
});

describe('a development log', () => {
  it('torchwood finds its witnesses enough by the policy that it writes, and each of them needed', async () => {
    const dataDir = temporaryFolder();
    const service = await serve({ TALLY_DATA_DIR: dataDir, TALLY_DEVNET: 'off' });
    const checkpoint = await until(
      async () => (await fetch(`${service.url}/checkpoint`)).text(),
      (note) => note.split('\n— local-witness-').length === 3,
    );
    await service.kill('SIGTERM');
    const policy = readFileSync(join(dataDir, 'witness-policy.txt'), 'utf8');
    expect(judgedBy(policy, checkpoint)).toBe('met');
    for (const name of ['local-witness-1', 'local-witness-2']) {
      const without = checkpoint.replace(new RegExp(`^— ${name} .*\n`, 'm'), '');
      expect(judgedBy(policy, without)).toBe('unmet');
    }
  });
});
