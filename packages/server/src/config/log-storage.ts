import { fileURLToPath } from 'node:url';
import type { RemoteKeySettings } from '@tallystick/issuers';
import type { S3Location, S3Settings } from '@tallystick/log';
import { type EnvReader, hasScheme, parseUrl } from './reader.ts';

/** Where the files of the log are stored beside the database. */
export type LogStorage =
  | { readonly kind: 'directory'; readonly path: string }
  | ({ readonly kind: 's3' } & S3Location & S3Settings);

type Place = Extract<LogStorage, { kind: 'directory' }> | ({ readonly kind: 's3' } & S3Location);

const EXAMPLE = 's3://acme-log/receipts';
const BUCKET = /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/;
const PREFIX = /^(?:[\w.-]+\/)*$/;

/** Reads where the log's files are stored; null for nowhere. The names of AWS's settings are those of its own tools. */
export function readLogStorage(
  read: EnvReader,
  { given, file }: RemoteKeySettings['aws']['credentials'],
): LogStorage | null {
  const text = read.optional('TALLY_LOG_STORAGE', {
    accepts: (one) => placeOf(one) !== null,
    example: EXAMPLE,
  });
  const region = read.optional('AWS_REGION', { pattern: /^[a-z0-9-]{1,32}$/, example: 'eu-west-1' });
  const endpoint = read.optional('AWS_ENDPOINT_URL_S3', {
    accepts: hasScheme('http:', 'https:'),
    example: 'https://s3.example.com',
  });
  const place = text === null ? null : placeOf(text);
  if (place?.kind !== 's3') return place;
  const { path: filepath, profile } = file;
  return { ...place, region, endpoint, credentials: given, file: { filepath, profile } };
}

function placeOf(text: string): Place | null {
  const url = parseUrl(text);
  if (url === null || url.search !== '' || url.hash !== '' || url.username !== '') return null;
  if (url.protocol === 'file:' && url.host === '' && url.pathname !== '/') {
    return { kind: 'directory', path: fileURLToPath(url) };
  }
  const path = url.pathname.replace(/^\//, '').replace(/(?<=[^/])$/, '/');
  const isS3 = url.protocol === 's3:' && url.port === '' && BUCKET.test(url.host) && PREFIX.test(path);
  return isS3 ? { kind: 's3', bucket: url.host, prefix: path } : null;
}
