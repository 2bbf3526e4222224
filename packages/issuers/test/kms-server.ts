import { createHash, createHmac, type KeyObject, sign } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';

/** Credentials that the server accepts. */
export const CREDENTIALS = {
  accessKeyId: 'AKIDEXAMPLE',
  secretAccessKey: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY',
};
export const REGION = 'eu-west-1';

interface KmsFailure {
  readonly status: number;
  readonly type: string;
}

/** A server on loopback that checks Signature Version 4 and speaks the wire format of KMS, for Ed25519 keys. */
export interface KmsServer {
  readonly url: string;
  /** Private keys by ARN. */
  readonly keys: Map<string, { readonly privateKey: KeyObject; readonly publicKey: KeyObject }>;
  /** Operations that came with a good signature, in their order. */
  readonly calls: string[];
  /** Session tokens that came with them. */
  readonly tokens: (string | undefined)[];
  /** The next requests fail so, one each. */
  fail(...failures: KmsFailure[]): void;
  /** Milliseconds until an answer. */
  delayMs: number;
  close(): void;
}

const MAX_MESSAGE = 4_096;

export async function startKmsServer(): Promise<KmsServer> {
  const failures: KmsFailure[] = [];
  const server = createServer((incoming, response) => {
    void answer(incoming).then(({ status, body }) =>
      setTimeout(() => {
        response.writeHead(status, { 'content-type': 'application/x-amz-json-1.1' });
        response.end(JSON.stringify(body));
      }, kms.delayMs),
    );
  });

  const answer = async (incoming: IncomingMessage): Promise<{ status: number; body: object }> => {
    const body = await buffer(incoming);
    const failed = (status: number, type: string) => ({
      status,
      body: { __type: type, message: `not so: ${body.toString()}` },
    });
    const problem = signatureProblem(incoming, body, 'kms');
    if (problem !== null) return failed(400, problem);
    const failure = failures.shift();
    if (failure !== undefined) return failed(failure.status, failure.type);
    const operation = String(incoming.headers['x-amz-target']).replace('TrentService.', '');
    const given = JSON.parse(body.toString()) as Record<string, string>;
    kms.calls.push(operation);
    kms.tokens.push(incoming.headers['x-amz-security-token'] as string | undefined);
    const key = kms.keys.get(given['KeyId'] ?? '');
    if (key === undefined) return failed(400, 'NotFoundException');
    const named = { KeyId: given['KeyId'] };
    if (operation === 'GetPublicKey') {
      const der = key.publicKey.export({ format: 'der', type: 'spki' });
      const ed25519 = key.publicKey.asymmetricKeyType === 'ed25519';
      const about = {
        KeySpec: ed25519 ? 'ECC_NIST_EDWARDS25519' : 'ECC_NIST_P256',
        KeyUsage: 'SIGN_VERIFY',
        SigningAlgorithms: ['ED25519_SHA_512', 'ED25519_PH_SHA_512'],
      };
      return { status: 200, body: { ...named, ...about, PublicKey: der.toString('base64') } };
    }
    const message = Buffer.from(given['Message'] ?? '', 'base64');
    const asked = { algorithm: given['SigningAlgorithm'], type: given['MessageType'] };
    if (operation !== 'Sign' || asked.algorithm !== 'ED25519_SHA_512' || asked.type !== 'RAW')
      return failed(400, 'com.amazonaws.kms#ValidationException');
    if (message.length > MAX_MESSAGE) return failed(400, 'ValidationException');
    const signature = sign(null, message, key.privateKey).toString('base64');
    return { status: 200, body: { ...named, Signature: signature, SigningAlgorithm: asked.algorithm } };
  };

  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const kms: KmsServer = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    keys: new Map(),
    calls: [],
    tokens: [],
    delayMs: 0,
    fail: (...more) => void failures.push(...more),
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
  return kms;
}

interface Signed {
  readonly method?: string | undefined;
  readonly url?: string | undefined;
  readonly headers: IncomingMessage['headers'];
}

/**
 * What is wrong with a request's signature, as the name of AWS's error; null for nothing. Source: AWS General Reference,
 * Signature Version 4, written from the description and not with the library that signs.
 */
export function signatureProblem(
  request: Signed,
  body: Buffer,
  service: string,
  region = REGION,
): string | null {
  const { method = '', url = '', headers } = request;
  const [, keyId, date = '', inRegion, inService, names = '', signature] =
    /^AWS4-HMAC-SHA256 Credential=(\w+)\/(\d{8})\/([\w-]+)\/(\w+)\/aws4_request, ?SignedHeaders=([\w;-]+), ?Signature=([0-9a-f]{64})$/.exec(
      headers.authorization ?? '',
    ) ?? [];
  if (signature === undefined) return 'IncompleteSignatureException';
  if (keyId !== CREDENTIALS.accessKeyId) return 'UnrecognizedClientException';
  const signed = names.split(';');
  const needed = ['host', 'x-amz-date', ...Object.keys(headers).filter((name) => name.startsWith('x-amz-'))];
  if (needed.some((name) => !signed.includes(name)) || inService !== service || inRegion !== region)
    return 'InvalidSignatureException';
  const time = String(headers['x-amz-date']);
  const canonical = [
    method,
    // The path is escaped once more than it was sent.
    url.split('/').map(encodeURIComponent).join('/'),
    '',
    ...signed.map((name) => `${name}:${String(headers[name]).trim()}`),
    '',
    names,
    createHash('sha256').update(body).digest('hex'),
  ].join('\n');
  const scope = `${date}/${region}/${service}/aws4_request`;
  const text = ['AWS4-HMAC-SHA256', time, scope, createHash('sha256').update(canonical).digest('hex')].join(
    '\n',
  );
  const key = [date, region, service, 'aws4_request'].reduce<Buffer>(
    (secret, part) => hmac(secret, part),
    Buffer.from(`AWS4${CREDENTIALS.secretAccessKey}`),
  );
  return hmac(key, text).toString('hex') === signature && time.startsWith(date)
    ? null
    : 'InvalidSignatureException';
}

function hmac(key: Buffer, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest();
}
