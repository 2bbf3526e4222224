import { Option } from 'commander';
import { UsageError } from './output.ts';

/** `--api-key`, read from TALLY_API_KEY where it is not given. An empty variable counts as none. */
export function apiKeyOption(): Option {
  return new Option('--api-key <key>', 'your API key; setting the variable keeps it out of the process list')
    .env('TALLY_API_KEY')
    .argParser(apiKey);
}

/** @throws UsageError where there is no key */
export function requireKey(apiKey: string | undefined): string {
  if (apiKey !== undefined && apiKey !== '') return apiKey;
  throw new UsageError(
    'Anchoring needs an API key: set TALLY_API_KEY. The operator of the service makes one with: tally apikey create',
  );
}

/** The key is a secret, so that no message repeats it. */
function apiKey(text: string): string {
  if (/^\w{0,128}$/.test(text)) return text;
  throw new UsageError('The API key contains characters other than letters, digits and _. Is it complete?');
}
