import { type Received, type ReceivedBody, Refusal } from '@tallystick/kit';
import { callerAccount, DEVELOPMENT, X402 } from '@tallystick/ledger';
import { type Agents, carriesSignature } from './agents.ts';
import type { ApiKey, ApiKeys } from './authenticate.ts';

/** Who makes a call of `/v1/compute`, and who pays for it. */
export interface Caller {
  /**
   * The ledger account that pays: of the API key, else of the DID that is proved, else `x402` where payments are on and
   * each call brings its own, else `development`.
   */
  readonly account: string;
  /** The DID of `X-Agent-DID`; calls are attributed to it. */
  readonly did: string | null;
  /** Whether a message signature proved it: only then is it who it says. */
  readonly proved: boolean;
  readonly key: ApiKey | null;
  /** Whether whoever has no balance is served all the same: in development, with payments off. */
  readonly development: boolean;
}

/** A call whose API key was looked up before its body was read, or is looked up now. */
export interface CallerExchange extends ReceivedBody {
  /** What `admitCaller` or `admitPayer` gave; absent where neither was asked. */
  readonly admitted?: ApiKey | null | undefined;
}

export interface Callers {
  /**
   * The API key of a call, by its headers alone: for `admit` of an endpoint. Null where there is none and the caller is named
   * otherwise, which `callerOf` then checks.
   * @throws api_key_missing where nothing names a caller; api_key_invalid, api_key_revoked, api_key_expired; with
   * `WWW-Authenticate`
   */
  readonly admitCaller: (exchange: Received) => Promise<ApiKey | null>;
  /** As `admitCaller`, of a call that an x402 payment may cover. */
  readonly admitPayer: (exchange: Received) => Promise<ApiKey | null>;
  /**
   * Who calls. A message signature that is there is always checked, also beside an API key, and uses up its nonce: ask
   * once a request.
   * @throws api_key_missing, api_key_invalid, api_key_revoked, with `WWW-Authenticate`; signature_invalid;
   * invalid_field for an `X-Agent-DID` that is no DID
   */
  readonly callerOf: (call: CallerExchange) => Promise<Caller>;
  /** As `callerOf`, of a call that an x402 payment may cover, whoever makes it. */
  readonly payerOf: (call: CallerExchange) => Promise<Caller>;
}

/** The codes that `callerOf` throws, for the endpoints that use it. */
export const CALLER_ERRORS = [
  'api_key_missing',
  'api_key_invalid',
  'api_key_revoked',
  'api_key_expired',
  'signature_invalid',
  'invalid_field',
] as const;

export function createCallers(
  { agents, apiKeys }: { readonly agents: Agents; readonly apiKeys: ApiKeys },
  { development, payments }: { readonly development: boolean; readonly payments: boolean },
): Callers {
  const keyOf = (call: Received): Promise<ApiKey | null> =>
    apiKeys.findAny(call, { ignoreStrangers: development });
  const admit = async (call: Received, otherwise: string | null) => {
    const key = await keyOf(call);
    if (key === null && otherwise === null && !carriesSignature(call.incoming)) throw unknownCaller();
    return key;
  };
  const find = async (call: CallerExchange, otherwise: string | null): Promise<Caller> => {
    const key = call.admitted === undefined ? await keyOf(call) : call.admitted;
    const { did, proved } = await agents.agentOf(call);
    const account = accountOf(key, proved ? did : null) ?? otherwise;
    if (account === null) throw unknownCaller();
    return { account, did, proved, key, development: development && !payments };
  };
  const stranger = development ? DEVELOPMENT : null;
  const payer = payments ? X402 : stranger;
  return {
    admitCaller: (call) => admit(call, stranger),
    admitPayer: (call) => admit(call, payer),
    callerOf: (call) => find(call, stranger),
    payerOf: (call) => find(call, payer),
  };
}

function accountOf(key: ApiKey | null, provedDid: string | null): string | null {
  const payer = key?.id ?? provedDid;
  return payer === null ? null : callerAccount(payer);
}

function unknownCaller(): Refusal {
  return new Refusal(
    'api_key_missing',
    'The call needs a payer: send Authorization: Bearer k_…, or X-Agent-DID proved by an HTTP message signature (RFC 9421; see spec/identity.md).',
    { bearer: 'missing' },
  );
}
