import { UsageError } from '@tallystick/cli/toolkit';

/** @throws UsageError where there is no key */
export function requirePartnerKey(apiKey: string | undefined): void {
  if (apiKey !== undefined && apiKey !== '') return;
  throw new UsageError(
    'This pilot needs a partner key: set TALLY_API_KEY. The operator of the service makes one with: tally apikey create --scope partner',
  );
}
