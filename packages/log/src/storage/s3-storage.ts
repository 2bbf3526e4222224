import { GetObjectCommand, PutObjectCommand, S3Client } from '@aws-sdk/client-s3';
import { defaultProvider } from '@aws-sdk/credential-provider-node';
import { TallyError } from '@tallystick/core';
import { type ObjectStorage, REPLACE_TRIES } from './object-storage.ts';
import type { S3Location, S3Settings } from './s3-settings.ts';

/**
 * Milliseconds for a connection, for the head of an answer, and for a pause within its body. A leader that waits longer loses its
 * lease, and one that waits for ever never leads again.
 */
const CONNECT_MS = 1_000;
const REQUEST_MS = 2_500;
const TRIES = 2;

/** Bytes of the largest object that is read: above a bundle of 256 entries, and any signed note. */
const MAX_OBJECT = 262_144;

/** Tells a store whose objects can be replaced from one that keeps the condition of a write. It is stored once, and empty. */
const PROBE = '.written-once';

const IMMUTABLE = {
  CacheControl: 'public, max-age=31536000, immutable',
  ContentType: 'application/octet-stream',
};
const CHANGING = { CacheControl: 'no-cache', ContentType: 'text/plain; charset=utf-8' };

/**
 * Objects in a bucket of S3, or of a server with the same interface, which must keep the conditions of writes
 * (`If-None-Match`, `If-Match`). Without an access key in the settings, AWS's client looks for credentials where it
 * always does.
 */
export function s3Storage({ bucket, prefix }: S3Location, settings: S3Settings): ObjectStorage {
  const client = new S3Client({
    credentials: settings.credentials ?? defaultProvider(settings.file),
    maxAttempts: TRIES,
    requestHandler: {
      connectionTimeout: CONNECT_MS,
      requestTimeout: REQUEST_MS,
      socketTimeout: REQUEST_MS,
      throwOnRequestTimeout: true,
    },
    // A server under an address of its own has one region, and no host name for each bucket.
    ...(settings.endpoint !== null && {
      endpoint: settings.endpoint,
      forcePathStyle: true,
      region: 'us-east-1',
    }),
    ...(settings.region !== null && { region: settings.region }),
  });
  const name = `s3://${bucket}/${prefix}`;
  const at = (path: string) => ({ Bucket: bucket, Key: prefix + path });

  /** Runs a request, and words its failure. @param what is done to the files: `read` or `written` */
  async function attempt<T>(what: string, work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      // The error itself is not passed on, since it has the request, and that its signature.
      throw new TallyError('unavailable', `The log’s files in ${name} cannot be ${what} (${nameOf(error)}).`);
    }
  }

  async function read(path: string): Promise<{ bytes: Uint8Array; etag: string | undefined } | null> {
    return attempt('read', async () => {
      try {
        const { Body, ContentLength, ETag } = await client.send(new GetObjectCommand(at(path)));
        if (Body === undefined || ContentLength === undefined || ContentLength > MAX_OBJECT)
          throw new RangeError(`${path} has more than ${MAX_OBJECT} bytes`);
        return { bytes: await Body.transformToByteArray(), etag: ETag };
      } catch (error) {
        if (statusOf(error) === 404 && nameOf(error) !== 'NoSuchBucket') return null;
        throw error;
      }
    });
  }

  /** Whether the object was written: not where what is there does not meet the condition. */
  async function write(
    path: string,
    bytes: Uint8Array,
    more: { IfNoneMatch?: '*'; IfMatch?: string; CacheControl: string; ContentType: string },
  ): Promise<boolean> {
    return attempt('written', async () => {
      try {
        await client.send(new PutObjectCommand({ ...at(path), Body: bytes, ...more }));
        return true;
      } catch (error) {
        // 409: another write of the same object was under way. 404: the object to be replaced is gone.
        if ([404, 409, 412].includes(statusOf(error)) && nameOf(error) !== 'NoSuchBucket') return false;
        throw error;
      }
    });
  }

  const create = (path: string, bytes: Uint8Array): Promise<boolean> =>
    write(path, bytes, { IfNoneMatch: '*', ...IMMUTABLE });

  return {
    name,
    create,
    get: async (path) => (await read(path))?.bytes ?? null,
    async check() {
      const empty = new Uint8Array(0);
      if (!(await create(PROBE, empty)) || !(await create(PROBE, empty))) return;
      throw new TallyError(
        'unavailable',
        `The server of ${name} overwrites an object though the request forbids it (If-None-Match). Use a server or a version that keeps this condition.`,
      );
    },
    async replace(path, bytes, isNewer) {
      for (let tries = 0; tries < REPLACE_TRIES; tries++) {
        const before = await read(path);
        if (!(await isNewer(before?.bytes ?? null))) return;
        const condition = before === null ? ({ IfNoneMatch: '*' } as const) : { IfMatch: before.etag ?? '' };
        if (await write(path, bytes, { ...condition, ...CHANGING })) return;
      }
      throw new TallyError('unavailable', `Others keep replacing ${path} in ${name}.`);
    },
  };
}

const statusOf = (error: unknown): number =>
  (error as { $metadata?: { httpStatusCode?: number } }).$metadata?.httpStatusCode ?? 0;

/** `AccessDenied`, `ECONNREFUSED`, `TimeoutError`: what the storage or the network called it. */
function nameOf(error: unknown): string {
  const { code, name, message } = error as { code?: unknown; name?: unknown; message?: unknown };
  if (typeof code === 'string') return code;
  return name === 'Error' || name === 'RangeError' ? String(message) : String(name);
}
