import { TallyError } from '@tallystick/core';
import { type AwsSettings, openAwsKmsKey } from './aws-kms.ts';
import { openPkcs11Key, type Pkcs11Settings } from './pkcs11.ts';
import type { OpenRemoteKey, RemoteKey } from './remote-key.ts';

/** How remote keys are reached. */
export interface RemoteKeySettings {
  readonly aws: AwsSettings;
  readonly pkcs11: Pkcs11Settings;
}

/** The names are ARNs of AWS KMS keys and PKCS#11 URIs (RFC 7512). Each key is opened once. */
export function remoteKeys({ aws, pkcs11 }: RemoteKeySettings, send: typeof globalThis.fetch): OpenRemoteKey {
  const opened = new Map<string, RemoteKey>();
  const open = (name: string): RemoteKey => {
    if (name.startsWith('arn:')) return openAwsKmsKey(name, aws, send);
    if (name.startsWith('pkcs11:')) return openPkcs11Key(name, pkcs11);
    throw new TallyError('invalid_field', `${name} is neither the ARN of an AWS KMS key nor a PKCS#11 URI.`, {
      field: 'signer',
    });
  };
  return (name) => {
    const key = opened.get(name) ?? open(name);
    opened.set(name, key);
    return key;
  };
}
