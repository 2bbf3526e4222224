import { setTimeout as sleep } from 'node:timers/promises';
import { isObject, type JsonObject, parseJson, TallyError } from '@tallystick/core';
import { AwsV4Signer } from 'aws4fetch';
import { type AwsCredentialSources, awsCredentials } from './aws-credentials.ts';
import type { RemoteKey } from './remote-key.ts';
import { ed25519OfSpki } from './spki.ts';

export interface AwsSettings {
  readonly credentials: AwsCredentialSources;
  /** Instead of the public address of KMS in the key's region; null for that. */
  readonly endpoint: string | null;
}

/** AWS KMS signs messages of at most so many bytes itself (KMS API reference, Sign). */
const MAX_MESSAGE = 4_096;
const TIMEOUT_MS = 5_000;
/** Milliseconds before each further try of what may pass by itself. */
const WAITS_MS = [50, 200, 800];

/**
 * A key of AWS KMS with the key spec ECC_NIST_EDWARDS25519, over KMS's JSON 1.1 protocol and Signature Version 4. It takes
 * `kms:GetPublicKey` and `kms:Sign`.
 * @param arn of the key, which says its region
 */
export function openAwsKmsKey(
  arn: string,
  { credentials, endpoint }: AwsSettings,
  send: typeof globalThis.fetch,
): RemoteKey {
  const [, region = ''] = /^arn:aws[\w-]*:kms:([a-z0-9-]+):\d{12}:(?:key|alias)\/[\w/-]+$/.exec(arn) ?? [];
  if (region === '')
    throw new TallyError('invalid_field', `${arn} is not the ARN of an AWS KMS key.`, { field: 'signer' });
  const url = endpoint ?? `https://kms.${region}.amazonaws.com${arn.startsWith('arn:aws-cn:') ? '.cn' : ''}/`;
  const current = awsCredentials(credentials, send);
  // Deriving the key of a day costs four HMACs.
  const cache = new Map<string, ArrayBuffer>();

  const ask = async (operation: string, body: string): Promise<JsonObject> => {
    const signed = await new AwsV4Signer({
      ...(await current()),
      method: 'POST',
      url,
      region,
      service: 'kms',
      cache,
      headers: { 'content-type': 'application/x-amz-json-1.1', 'x-amz-target': `TrentService.${operation}` },
      body,
    }).sign();
    const signal = AbortSignal.timeout(TIMEOUT_MS);
    const { method, headers } = signed;
    const response = await send(url, { method, headers, body, signal, redirect: 'error' });
    const json = parseJson(new Uint8Array(await response.arrayBuffer()));
    if (response.ok && isObject(json)) return json;
    const type = isObject(json) && typeof json['__type'] === 'string' ? json['__type'] : '';
    throw new KmsError(type.split('#').at(-1) ?? '', response.status);
  };

  const call = async (operation: string, given: JsonObject): Promise<JsonObject> => {
    const body = JSON.stringify({ KeyId: arn, ...given });
    for (let tries = 0; ; tries++) {
      try {
        return await ask(operation, body);
      } catch (error) {
        const wait = WAITS_MS[tries];
        if (error instanceof TallyError && !error.code.startsWith('json')) throw error;
        if (wait === undefined || (error instanceof KmsError && !error.mayPass))
          throw unavailable(arn, error);
        await sleep(wait);
      }
    }
  };

  return {
    maxMessageBytes: MAX_MESSAGE,
    async publicKey() {
      const { PublicKey: der, KeySpec: spec } = await call('GetPublicKey', {});
      if (typeof der !== 'string' || spec !== 'ECC_NIST_EDWARDS25519')
        throw new TallyError('unavailable', `${arn} is not a key of the spec ECC_NIST_EDWARDS25519.`);
      return ed25519OfSpki(Buffer.from(der, 'base64'), arn);
    },
    async sign(message) {
      if (message.length > MAX_MESSAGE) {
        throw new TallyError(
          'body_too_large',
          `What is to be signed has ${message.length} bytes, and AWS KMS signs at most ${MAX_MESSAGE}. Shorten it, or use a key that is not in KMS.`,
        );
      }
      const { Signature: signature } = await call('Sign', {
        Message: Buffer.from(message).toString('base64'),
        MessageType: 'RAW',
        SigningAlgorithm: 'ED25519_SHA_512',
      });
      return Uint8Array.from(Buffer.from(typeof signature === 'string' ? signature : '', 'base64'));
    },
  };
}

/** An error of KMS: its name, without its message, which may quote the request. */
class KmsError extends Error {
  readonly mayPass: boolean;

  constructor(type: string, status: number) {
    super(type === '' ? `HTTP ${status}` : type);
    this.mayPass = status >= 500 || /Throttling|LimitExceeded|TooManyRequests|KeyUnavailable/.test(type);
  }
}

function unavailable(arn: string, error: unknown): TallyError {
  const { message, cause } = error as Error;
  const { code = message } = (cause ?? {}) as NodeJS.ErrnoException;
  return new TallyError('unavailable', `AWS KMS does not serve the key ${arn} at the moment (${code}).`);
}
