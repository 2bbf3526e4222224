import { generateKeyPairSync, type KeyObject, verify } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createKeyring, rotateKey, signerFor } from '../src/keyring.ts';
import { readKeyring, writeKeyring } from '../src/keyring-file.ts';
import { openOwnIssuer } from '../src/own-issuer.ts';
import type { AwsCredentialSources } from '../src/remote/aws-credentials.ts';
import { remoteKeys } from '../src/remote/open.ts';
import { keyIdOf, remoteSigner } from '../src/remote/remote-key.ts';
import { CREDENTIALS, type KmsServer, REGION, signatureProblem, startKmsServer } from './kms-server.ts';

const folder = mkdtempSync(join(tmpdir(), 'tally-kms-'));
const arnOf = (id: string): string => `arn:aws:kms:${REGION}:111122223333:key/${id}`;
const [ONE, TWO, OTHER] = [arnOf('one'), arnOf('two'), arnOf('other')];
const message = new Uint8Array([1, 2, 3]);
let kms: KmsServer;

beforeAll(async () => {
  kms = await startKmsServer();
  kms.keys.set(ONE, generateKeyPairSync('ed25519'));
  kms.keys.set(TWO, generateKeyPairSync('ed25519'));
  kms.keys.set(OTHER, generateKeyPairSync('ec', { namedCurve: 'P-256' }));
});
afterAll(() => {
  kms.close();
  rmSync(folder, { recursive: true });
});

const NONE = { path: join(folder, 'none'), profile: 'default' };
function opener(credentials: Partial<AwsCredentialSources> = { given: CREDENTIALS }, endpoint = kms.url) {
  const sources = { given: null, container: null, file: NONE, ...credentials };
  const settings = { aws: { endpoint, credentials: sources }, pkcs11: { module: null, pin: null } };
  return remoteKeys(settings, globalThis.fetch);
}

const publicKeyOf = (arn: string): KeyObject => kms.keys.get(arn)?.publicKey ?? expect.fail(arn);

/** What an operation rejects with. */
async function failureOf(work: Promise<unknown>): Promise<{ code: string; message: string }> {
  const error = await work.then(
    () => new Error('It did not fail.'),
    (thrown: Error) => thrown,
  );
  return { code: (error as { code?: string }).code ?? '', message: error.message };
}

it('the server checks signatures as AWS does: the vector get-vanilla of AWS’s own test suite', () => {
  const signed = (signature: string) => ({
    method: 'GET',
    url: '/',
    headers: {
      host: 'example.amazonaws.com',
      'x-amz-date': '20150830T123600Z',
      authorization: `AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, SignedHeaders=host;x-amz-date, Signature=${signature}`,
    },
  });
  const right = '5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31';
  const check = (signature: string) =>
    signatureProblem(signed(signature), Buffer.alloc(0), 'service', 'us-east-1');
  expect(check(right)).toBeNull();
  expect(check(right.replace('5', '6'))).toBe('InvalidSignatureException');
});

describe('a key in KMS', () => {
  it('signs as RFC 8032 says', async () => {
    const key = opener()(ONE);
    const signer = remoteSigner(await keyIdOf(key), key);
    const signature = await signer.sign(message);
    expect(verify(null, message, publicKeyOf(ONE), signature)).toBe(true);
  });

  it('becomes the receipt key by a rotation, and signs the next rotation', async () => {
    const path = join(folder, 'keyring.json');
    const openRemoteKey = opener();
    const local = { ...(await createKeyring('acme', Date.now())), openRemoteKey };
    const inKms = await rotateKey(local, 'receipt', Date.now(), { remote: ONE });
    writeKeyring(path, inKms, null);
    const read = await readKeyring(path, null, openRemoteKey);
    expect(signerFor(read, 'receipt').keyId).toBe(await keyIdOf(openRemoteKey(ONE)));
    expect(signerFor(read, 'log').keyId).toBe(signerFor(local, 'log').keyId);
    const again = await rotateKey(read, 'receipt', Date.now() + 1_000, { remote: TWO });
    expect(signerFor(again, 'receipt').keyId).toBe(await keyIdOf(openRemoteKey(TWO)));
    await signerFor(again, 'receipt').sign(message);
  });

  it('can be there from the beginning, the log’s key too', async () => {
    const keyring = await createKeyring('acme', Date.now(), {
      names: new Map([
        ['receipt', ONE],
        ['log', TWO],
      ] as const),
      openRemoteKey: opener(),
    });
    const signer = signerFor(keyring, 'log');
    expect(verify(null, message, publicKeyOf(TWO), await signer.sign(message))).toBe(true);
  });

  it.each(['status', 'benchmark', 'bundle'] as const)(
    'is refused as the %s key, whose documents may be longer than KMS signs',
    async (purpose) => {
      const refused = { code: 'invalid_field', message: expect.stringMatching(/longer than the 4096 bytes/) };
      const openRemoteKey = opener();
      const local = { ...(await createKeyring('acme', Date.now())), openRemoteKey };
      const names = new Map([[purpose, ONE]] as const);
      expect(await failureOf(rotateKey(local, purpose, Date.now(), { remote: ONE }))).toMatchObject(refused);
      expect(await failureOf(createKeyring('acme', Date.now(), { names, openRemoteKey }))).toMatchObject(
        refused,
      );
    },
  );

  it('is looked at when the keyring is opened: another key under its name is refused', async () => {
    const path = join(folder, 'swapped.json');
    const keyring = await createKeyring('acme', Date.now(), {
      names: new Map([['receipt', ONE]] as const),
      openRemoteKey: opener(),
    });
    writeKeyring(
      path,
      { ...keyring, keys: keyring.keys.map((key) => ('remote' in key ? { ...key, remote: TWO } : key)) },
      null,
    );
    expect((await failureOf(openOwnIssuer(path, null, null, { openRemoteKey: opener() }))).message).toMatch(
      /key\/two is did:key:\w+, not/,
    );
    const plain = await openOwnIssuer(path, null, null).catch((error: Error) => error);
    expect(plain).toMatchObject({
      code: 'unavailable',
      message: expect.stringMatching(/no way to remote keys/),
    });
  });

  it('whose signature is wrong is not used', async () => {
    const signer = remoteSigner(await keyIdOf(opener()(ONE)), opener()(TWO));
    expect(await failureOf(signer.sign(message))).toMatchObject({
      code: 'unavailable',
      message: expect.stringMatching(/can't be used: it is did:key/),
    });
  });
});

describe('errors', () => {
  const sign = (arn = ONE, credentials?: Partial<AwsCredentialSources>): Promise<Uint8Array> =>
    opener(credentials)(arn).sign(message);

  it.each([
    [{ status: 400, type: 'ThrottlingException' }],
    [{ status: 500, type: 'KMSInternalException' }],
    [{ status: 500, type: 'com.amazonaws.kms#KeyUnavailableException' }],
  ])('%j passes: it is tried again', async (failure) => {
    kms.fail(failure, failure);
    expect(await sign()).toHaveLength(64);
  });

  it.each([
    'DisabledException',
    'KMSInvalidStateException',
    'AccessDeniedException',
    'ExpiredTokenException',
  ])('%s does not pass: it is said at once', async (type) => {
    kms.fail({ status: 400, type });
    expect(await failureOf(sign())).toEqual({
      code: 'unavailable',
      message: `AWS KMS does not serve the key ${ONE} at the moment (${type}).`,
    });
    expect(await sign()).toHaveLength(64);
  });

  it('that do not pass in time are said in the end', async () => {
    kms.fail(...Array.from({ length: 4 }, () => ({ status: 503, type: '' })));
    expect((await failureOf(sign())).message).toMatch(/\(HTTP 503\)/);
  });

  it('name neither the message nor a secret', async () => {
    const wrong = { ...CREDENTIALS, secretAccessKey: 'hunter2' };
    const failures = await Promise.all([
      failureOf(sign(ONE, { given: wrong })),
      failureOf(sign(ONE, { given: { ...CREDENTIALS, accessKeyId: 'AKIDOTHER' } })),
      failureOf(sign(arnOf('nowhere'))),
      failureOf(sign(ONE, {})),
      failureOf(opener(undefined, 'http://127.0.0.1:9/')(ONE).sign(message)),
      failureOf(opener()(OTHER).publicKey()),
    ]);
    expect(failures.map(({ message }) => message)).toEqual([
      expect.stringMatching(/\(InvalidSignatureException\)/),
      expect.stringMatching(/\(UnrecognizedClientException\)/),
      expect.stringMatching(/\(NotFoundException\)/),
      expect.stringMatching(/AWS_ACCESS_KEY_ID is not set, and .* can't be read \(ENOENT\)/),
      expect.stringMatching(/does not serve the key/),
      expect.stringMatching(/not a key of the spec ECC_NIST_EDWARDS25519/),
    ]);
    expect(new Set(failures.map(({ code }) => code))).toEqual(new Set(['unavailable']));
    expect(JSON.stringify(failures)).not.toMatch(/hunter2|wJalr|AQID/);
  });

  it('tell a caller of the service neither the key nor where its credentials are', async () => {
    const path = join(folder, 'told.json');
    const openRemoteKey = opener();
    const local = { ...(await createKeyring('acme', Date.now())), openRemoteKey };
    writeKeyring(path, await rotateKey(local, 'receipt', Date.now(), { remote: ONE }), null);
    const issuer = await openOwnIssuer(path, null, null, { openRemoteKey });
    kms.fail({ status: 400, type: 'AccessDeniedException' });
    const error: unknown = await issuer
      .signer('receipt')
      .sign(message)
      .catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({
      code: 'unavailable',
      message: 'The service’s receipt key can’t sign at the moment. Try again later.',
      cause: { message: `AWS KMS does not serve the key ${ONE} at the moment (AccessDeniedException).` },
    });
  });

  it('say how much KMS signs', async () => {
    expect(await opener()(ONE).sign(new Uint8Array(4_096))).toHaveLength(64);
    expect(await failureOf(opener()(ONE).sign(new Uint8Array(4_097)))).toMatchObject({
      code: 'body_too_large',
      message: expect.stringMatching(/4097 bytes, and AWS KMS signs at most 4096/),
    });
  });

  it.each([
    'arn:aws:s3:::bucket',
    'arn:aws:kms:eu-west-1:1:key/x',
    'key/one',
    'pkcs11:object=x',
    'pkcs11:token=a;object=b;pin-value=1',
  ])('refuse the name %s', async (name) => {
    expect(() => opener()(name)).toThrow(expect.objectContaining({ code: 'invalid_field' }));
  });
});

describe('credentials', () => {
  const servers: Server[] = [];
  afterAll(() => servers.map((server) => server.close()));
  const used = async (credentials: Partial<AwsCredentialSources>): Promise<string | undefined> => {
    await opener(credentials)(ONE).sign(message);
    return kms.tokens.at(-1);
  };

  it('may be of a session', async () => {
    expect(await used({ given: { ...CREDENTIALS, sessionToken: 'of-a-session' } })).toBe('of-a-session');
  });

  it('come from a profile of the shared file', async () => {
    const path = join(folder, 'credentials');
    writeFileSync(
      path,
      `[default]\naws_access_key_id = AKIDOTHER\naws_secret_access_key = x\n\n[tally]\n# of the service\naws_access_key_id=${CREDENTIALS.accessKeyId}\naws_secret_access_key = ${CREDENTIALS.secretAccessKey}\naws_session_token = of-a-file\n`,
    );
    expect(await used({ file: { path, profile: 'tally' } })).toBe('of-a-file');
    const missing = await failureOf(used({ file: { path, profile: 'none' } }));
    expect(missing.message).toMatch(/no access key for the profile none/);
  });

  /** The URL of a container's role whose credentials hold for so many milliseconds; then `fails` says whether it answers. */
  async function roleFor(
    milliseconds: number,
    asked: (string | undefined)[],
    fails = false,
  ): Promise<string> {
    const server = createServer(({ headers }, response) => {
      asked.push(headers.authorization);
      if (fails && asked.length > 1) return response.writeHead(500).end('{}');
      const { accessKeyId, secretAccessKey } = CREDENTIALS;
      return response.end(
        JSON.stringify({
          AccessKeyId: accessKeyId,
          SecretAccessKey: secretAccessKey,
          Token: 'of-a-role',
          Expiration: new Date(Date.now() + milliseconds).toISOString(),
        }),
      );
    });
    servers.push(server);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}/role`;
  }

  it('come from the role of a container, with its token, and are asked for once', async () => {
    const asked: (string | undefined)[] = [];
    const tokenFile = join(folder, 'token');
    writeFileSync(tokenFile, 'shown-there\n');
    const url = await roleFor(3_600_000, asked);
    const key = opener({ container: { url, tokenFile } })(ONE);
    await key.sign(message);
    await key.sign(message);
    expect(kms.tokens.at(-1)).toBe('of-a-role');
    expect(asked).toEqual(['shown-there']);
  });

  it('of a container are used until they expire where it gives no new ones', async () => {
    const asked: (string | undefined)[] = [];
    const key = opener({ container: { url: await roleFor(60_000, asked, true), tokenFile: null } })(ONE);
    await key.sign(message);
    expect(await key.sign(message)).toHaveLength(64);
    expect(asked).toHaveLength(2);
    const late = [] as (string | undefined)[];
    const expired = opener({ container: { url: await roleFor(-1, late, true), tokenFile: null } })(ONE);
    await expired.sign(message);
    expect((await failureOf(expired.sign(message))).message).toMatch(/can't be had from/);
  });
});
