import { Option } from 'commander';
import { UsageError } from './output.ts';

/** `--api-key`, read from TALLY_API_KEY where it is not given. An empty variable counts as none. */
export function apiKeyOption(): Option {
  return new Option('--api-key <key>', 'your API key; setting the variable keeps it out of the process list')
    .env('TALLY_API_KEY')
    .argParser(apiKey);
}

/** The header by which a key is shown to the service that is asked, and to no other: redirects are not followed. */
export function authorization(apiKey: string | undefined): Record<string, string> {
  return isGiven(apiKey) ? { authorization: `Bearer ${apiKey}` } : {};
}

/** @throws UsageError where there is no key */
export function requireKey(apiKey: string | undefined): string {
  if (isGiven(apiKey)) return apiKey;
  throw new UsageError(
    'Anchoring needs an API key: set TALLY_API_KEY. The operator of the service makes one with: tally apikey create',
  );
}

/** @throws UsageError where there is no key */
export function requirePartnerKey(apiKey: string | undefined): void {
  if (isGiven(apiKey)) return;
  throw new UsageError(
    'This pilot needs a partner key: set TALLY_API_KEY. The operator of the service makes one with: tally apikey create --scope partner',
  );
}

const isGiven = (apiKey: string | undefined): apiKey is string => apiKey !== undefined && apiKey !== '';

/** The key is a secret, so that no message repeats it. */
function apiKey(text: string): string {
  if (/^\w{0,128}$/.test(text)) return text;
  throw new UsageError('The API key contains characters other than letters, digits and _. Is it complete?');
}
