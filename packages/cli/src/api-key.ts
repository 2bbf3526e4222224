import { Option } from 'commander';
import { UsageError } from './output.ts';

/** The option `--api-key`, read from TALLY_API_KEY if it is not given. An empty variable counts as absent. */
export function apiKeyOption(): Option {
  return new Option('--api-key <key>', 'your API key; setting the variable keeps it out of the process list')
    .env('TALLY_API_KEY')
    .argParser(apiKey);
}

/** Returns the key. @param what needs it, at the beginning of a sentence @throws UsageError if there is none */
export function requireKey(apiKey: string | undefined, what = 'Anchoring'): string {
  if (apiKey !== undefined && apiKey !== '') return apiKey;
  throw new UsageError(
    `${what} needs an API key: set TALLY_API_KEY. The operator of the service makes one with: tally apikey create`,
  );
}

/** Checks the key's form. It is a secret, so no message repeats it. */
function apiKey(text: string): string {
  if (/^\w{0,128}$/.test(text)) return text;
  throw new UsageError('The API key contains characters other than letters, digits and _. Is it complete?');
}
