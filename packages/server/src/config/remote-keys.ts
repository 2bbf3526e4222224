import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import type { RemoteKeySettings } from '@tallystick/issuers';
import { type EnvReader, hasScheme } from './reader.ts';

/** Where AWS serves the credentials of a container (ECS task roles). */
const CONTAINER_HOST = 'http://169.254.170.2';

/** How keys in AWS KMS and on PKCS#11 tokens are reached. The names of AWS's settings are those of its own tools. */
export function readRemoteKeys(read: EnvReader): RemoteKeySettings {
  const module = read.optional('TALLY_PKCS11_MODULE', { example: '/usr/lib/softhsm/libsofthsm2.so' });
  return {
    aws: {
      endpoint: readEndpoint(read),
      credentials: {
        given: readGiven(read),
        container: readContainer(read),
        file: {
          path: resolve(
            read.optional('AWS_SHARED_CREDENTIALS_FILE', {}) ?? join(homedir(), '.aws', 'credentials'),
          ),
          profile: read.text('AWS_PROFILE', 'default', {}),
        },
      },
    },
    pkcs11: { module: module === null ? null : resolve(module), pin: read.secret('TALLY_PKCS11_PIN') },
  };
}

function readEndpoint(read: EnvReader): string | null {
  const name = 'AWS_ENDPOINT_URL_KMS';
  const text = read.optional(name, {});
  if (text === null || hasScheme('http:', 'https:')(text)) return text;
  read.fault(name, 'is not an http:// or https:// URL', 'https://kms-fips.eu-west-1.amazonaws.com');
  return null;
}

function readGiven(read: EnvReader): RemoteKeySettings['aws']['credentials']['given'] {
  const [accessKeyId, secretAccessKey, sessionToken] = [
    read.secret('AWS_ACCESS_KEY_ID'),
    read.secret('AWS_SECRET_ACCESS_KEY'),
    read.secret('AWS_SESSION_TOKEN'),
  ];
  if ((accessKeyId === null) !== (secretAccessKey === null))
    read.fault('AWS_ACCESS_KEY_ID', 'and AWS_SECRET_ACCESS_KEY must be set together');
  if (accessKeyId === null || secretAccessKey === null) return null;
  return { accessKeyId, secretAccessKey, ...(sessionToken !== null && { sessionToken }) };
}

function readContainer(read: EnvReader): RemoteKeySettings['aws']['credentials']['container'] {
  const full = read.optional('AWS_CONTAINER_CREDENTIALS_FULL_URI', {});
  const relative = read.optional('AWS_CONTAINER_CREDENTIALS_RELATIVE_URI', { pattern: /^\// });
  const tokenFile = read.optional('AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE', {});
  const url = relative === null ? full : `${CONTAINER_HOST}${relative}`;
  return url === null ? null : { url, tokenFile };
}
