import type { SessionIssuer } from '@tallystick/sdk';
import { type Command, Option } from 'commander';
import { apiKeyOption } from '../api-key.ts';
import { readSecretKey } from '../key-file.ts';
import { serviceUrl } from '../service.ts';

/** Who signs a session, as it is typed. */
export interface SigningOptions {
  /** Path of a key file; the user's own key if neither this nor `url` is given. */
  readonly key?: string;
  /** The service that signs. */
  readonly url?: string;
  readonly apiKey?: string;
  readonly agent?: string;
}

/** Adds the options that say who signs. TALLY_URL is not read: it would send a session elsewhere than before unasked. */
export function signingOptions(command: Command): Command {
  return command
    .option('--key <file>', 'the key file that signs ($TALLY_HOME/recorder.json, made on first use)')
    .addOption(
      new Option('--url <url>', 'the service that signs, instead of a key; it gets hashes only')
        .argParser(serviceUrl)
        .conflicts('key'),
    )
    .addOption(apiKeyOption())
    .option('--agent <did>', 'DID of the agent, which its receipts then name');
}

/** @throws UsageError, json_*, invalid_secret_key */
export async function issuerOf({ key, url, apiKey, agent }: SigningOptions): Promise<SessionIssuer> {
  if (url === undefined)
    return { key: key === undefined ? undefined : await readSecretKey(key), agentDid: agent };
  const { createClient } = await import('@tallystick/sdk');
  return {
    client: createClient({ baseUrl: url, apiKey: apiKey === '' ? undefined : apiKey, agentDid: agent }),
  };
}
